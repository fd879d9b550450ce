//! A program that is written down event by event, in true time.

use retime_otf2::writer::Message;
use retime_sim::{Event, Layout, Scenario, Sink, Statistics, WORLD, region};

/// The deeds of processes and their moments, in nanoseconds of true time since the start.
///
/// The messages of a pair of processes are received in the order in which they are sent.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    /// The events of each process.
    processes: Vec<Vec<(u64, Event)>>,
}

impl Script {
    /// Processes that have done nothing yet.
    pub(crate) fn new(processes: u32) -> Self {
        Self {
            processes: vec![Vec::new(); processes as usize],
        }
    }

    /// An event that has nothing to do with other processes.
    pub(crate) fn local(&mut self, process: u32, time: u64) {
        self.add(process, time, Event::Enter(region::COMPUTE));
    }

    /// A message between two processes, with the true times at which it is sent and received.
    pub(crate) fn message(&mut self, from: u32, sent: u64, to: u32, received: u64, bytes: u64) {
        let of = |peer: u32| Message {
            peer,
            comm: WORLD,
            tag: 0,
            length: bytes,
        };
        self.add(from, sent, Event::Send(of(to)));
        self.add(to, received, Event::Recv(of(from)));
    }

    fn add(&mut self, process: u32, time: u64, event: Event) {
        if let Some(events) = self.processes.get_mut(process as usize) {
            events.push((time, event));
        }
    }
}

impl Scenario for Script {
    fn layout(&self) -> Layout {
        Layout::node_per_rank(self.processes.len() as u32)
    }

    fn seed(&self) -> u64 {
        0
    }

    fn run(&self, sink: &mut dyn Sink) -> retime_sim::Result<Statistics> {
        for (process, events) in self.processes.iter().enumerate() {
            let mut events = events.clone();
            // Events of one time stay in the order in which they were written down.
            events.sort_by_key(|it| it.0);
            for (time, event) in events {
                sink.event(process, time, event)?;
            }
        }
        Ok(Statistics::default())
    }
}
