//! Streams of accelerators, and the threads that give them something to do.

use std::collections::BTreeMap;

use retime_otf2::{EventData, ParameterRef, RmaWinRef};

use super::program::{Item, Step};
use super::random::Random;
use super::regions::{enter, leave};
use super::script::Script;
use super::world::World;

pub(super) struct Accelerators {
    /// Whether launches and kernels tell their call sites.
    has_sites: bool,
    /// Whether a thread may launch what does not show.
    is_careless: bool,
    /// The device that a thread has chosen.
    device: BTreeMap<usize, usize>,
    window: RmaWinRef,
}

impl Accelerators {
    pub(super) fn new(world: &World, random: &mut Random) -> Self {
        Self {
            has_sites: random.percent(50),
            is_careless: random.percent(30),
            device: BTreeMap::new(),
            // After those of MPI.
            window: RmaWinRef(world.windows.len() as u32),
        }
    }
}

fn site(value: u64) -> EventData {
    EventData::ParameterUnsignedInt {
        parameter: ParameterRef(0),
        value,
    }
}

fn kernel(at: Option<u64>) -> Item {
    let mut begin = vec![enter("kernel")];
    begin.extend(at.map(site));
    let end = vec![leave("kernel")];
    Item { begin, end }
}

impl Script<'_> {
    pub(super) fn of_streams(&mut self) {
        let process = self.any_process();
        let it = &self.world.processes[process];
        if it.streams.is_empty() {
            return;
        }
        // Mostly one thread does this.
        let thread = if self.random.percent(80) {
            it.threads[0]
        } else {
            *self.random.pick(&self.active[process])
        };
        for _ in 0..=self.random.below(4) {
            self.use_stream(process, thread);
        }
    }

    fn use_stream(&mut self, process: usize, thread: usize) {
        let stream = *self.random.pick(&self.world.processes[process].streams);
        let chosen = self.accelerators.device.entry(thread).or_default();
        let differs = *chosen != stream.device;
        *chosen = stream.device;
        if differs {
            self.call(thread, "cudaSetDevice", Vec::new());
        }
        let careless = self.accelerators.is_careless && self.random.percent(20);
        match self.random.below(10) {
            0..4 => self.launch(thread, stream.location, careless),
            4 | 5 => self.copy(thread, stream.location, careless),
            6 | 7 => {
                let streams = self.world.processes[process].streams.iter();
                let own = streams.filter(|it| it.device == stream.device);
                let own = own.map(|it| it.location).collect();
                let wait = Step::Synchronise(own);
                self.call(thread, "cudaDeviceSynchronize", vec![wait]);
            }
            8 => {
                let wait = Step::Synchronise(vec![stream.location]);
                self.call(thread, "cudaStreamSynchronize", vec![wait]);
            }
            _ if careless => {
                let items = [kernel(None), kernel(None)];
                let launch = |it| Step::Launch(stream.location, it);
                let steps = items.map(launch).to_vec();
                self.call(thread, "cudaGraphLaunch", steps);
            }
            _ => {}
        }
    }

    fn launch(&mut self, thread: usize, stream: usize, careless: bool) {
        let site_of = 100 * thread as u64 * u64::from(!careless) + self.random.below(3) as u64;
        let at = self.accelerators.has_sites.then_some(site_of);
        let mut steps: Vec<Step> = at.map(|it| Step::Record(site(it))).into_iter().collect();
        let launch = Step::Launch(stream, kernel(at));
        let fails = careless && self.random.percent(50);
        if self.random.percent(30) {
            steps.push(Step::Record(enter("cuLaunchKernel")));
            steps.extend((!fails).then_some(launch));
            steps.push(Step::Record(leave("cuLaunchKernel")));
        } else {
            steps.extend((!fails).then_some(launch));
        }
        self.call(thread, "cudaLaunchKernel", steps);
    }

    fn copy(&mut self, thread: usize, stream: usize, careless: bool) {
        let (win, remote, bytes, matching_id) = (self.accelerators.window, 0, 8, self.number());
        let begin = EventData::RmaGet {
            win,
            remote,
            bytes,
            matching_id,
        };
        let end = EventData::RmaOpCompleteBlocking { win, matching_id };
        let (begin, end) = (vec![begin], vec![end]);
        let mut item = Item { begin, end };
        if careless {
            // Within the device.
            item.begin.clear();
            item.end.clear();
        }
        let launch = Step::Launch(stream, item);
        if self.random.percent(60) {
            self.call(thread, "cudaMemcpyAsync", vec![launch]);
        } else {
            let wait = Step::Synchronise(vec![stream]);
            self.call(thread, "cudaMemcpy", vec![launch, wait]);
        }
    }
}
