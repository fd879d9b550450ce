//! Writes random programs.
//!
//! A program is a row of interactions: messages from one process to another, a collective
//! operation, a team that begins. Each adds steps to all who take part, so everybody has
//! them in one order, and nobody waits for ever, almost: threads that take each other's
//! messages still can, and then the program is dropped.

use retime_otf2::EventData;

use super::network::{Receive, Send};
use super::program::{LockKind, Program, Proof, Step, Token};
use super::random::Random;
use super::regions::{enter, leave};
use super::streams::Accelerators;
use super::threads::Threads;
use super::windows::Windows;
use super::world::{Threading, World};

/// Something that a thread has begun and has to complete.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    /// What is waited for, and then what is recorded.
    pub(super) wait: Step,
    pub(super) record: Step,
}

pub(super) struct Script<'r> {
    pub(super) random: &'r mut Random,
    pub(super) world: World,
    pub(super) steps: Vec<Vec<Step>>,
    pub(super) pending: Vec<Vec<Pending>>,
    /// By process, the threads that are there now.
    pub(super) active: Vec<Vec<usize>>,
    recording: Vec<bool>,
    /// Whether recording stops now and then.
    has_gaps: bool,
    pub(super) tokens: usize,
    pub(super) numbers: u64,
    pub(super) sends: Vec<Send>,
    pub(super) receives: Vec<Receive>,
    pub(super) channels: super::messages::Channels,
    pub(super) windows: Windows,
    pub(super) threads: Threads,
    /// Whether threads complete what others have begun.
    pub(super) hands_over: bool,
    pub(super) accelerators: Accelerators,
    locks: Vec<LockKind>,
}

/// A random program of so many ranks and interactions.
pub(super) fn write(ranks: usize, interactions: usize, random: &mut Random) -> Program {
    let mut world = World::new(ranks, random);
    let threads = Threads::new(&mut world, random);
    let locks = world.processes.iter().flat_map(|it| {
        [0, 1].map(|number| LockKind {
            paradigm: it.threading.paradigm(),
            number,
            counts_again: it.threads.len() % 2 == 0,
        })
    });
    let locations = world.locations.len();
    let mut script = Script {
        steps: vec![Vec::new(); locations],
        pending: vec![Vec::new(); locations],
        active: world
            .processes
            .iter()
            .map(|it| vec![it.threads[0]])
            .collect(),
        recording: vec![true; ranks],
        has_gaps: random.percent(25),
        tokens: 0,
        numbers: 1,
        sends: Vec::new(),
        receives: Vec::new(),
        channels: super::messages::Channels::new(random),
        windows: Windows::new(&world),
        threads,
        hands_over: random.percent(30),
        accelerators: Accelerators::new(&world, random),
        locks: locks.collect(),
        random,
        world,
    };
    for _ in 0..interactions {
        script.interact();
    }
    script.end()
}

impl Script<'_> {
    fn interact(&mut self) {
        match self.random.below(100) {
            0..35 => self.messages(),
            35..52 => self.collective(),
            52..62 => self.one_sided(),
            62..80 => self.of_threads(),
            80..90 => self.of_streams(),
            90..94 if self.has_gaps => self.switch_recording(),
            _ => {
                let process = self.any_process();
                let thread = *self.random.pick(&self.active[process]);
                self.complete_some(thread);
            }
        }
    }

    fn end(mut self) -> Program {
        for process in 0..self.world.processes.len() {
            self.end_threads(process);
            let first = self.world.processes[process].threads[0];
            self.complete_all(first);
            if !self.recording[process] {
                self.add(first, Step::Recording(true));
            }
            self.call(first, "MPI_Finalize", Vec::new());
        }
        if self.hands_over && self.world.multiple {
            let channels = self.channels.all.iter_mut();
            channels.for_each(|it| it.is_exact = false);
        }
        Program {
            channels: self.channels.all,
            world: self.world,
            steps: self.steps,
            tokens: self.tokens,
            sends: self.sends,
            receives: self.receives,
            locks: self.locks,
            pools: self.threads.pools,
        }
    }

    pub(super) fn any_process(&mut self) -> usize {
        self.random.below(self.world.processes.len())
    }

    /// A thread of a process that may call MPI.
    pub(super) fn caller(&mut self, process: usize) -> usize {
        if self.world.multiple {
            *self.random.pick(&self.active[process])
        } else {
            self.world.processes[process].threads[0]
        }
    }

    pub(super) fn add(&mut self, location: usize, step: Step) {
        self.steps[location].push(step);
    }

    pub(super) fn record(&mut self, location: usize, data: EventData) {
        self.add(location, Step::Record(data));
    }

    /// Steps within a region.
    pub(super) fn call(&mut self, location: usize, region: &str, steps: Vec<Step>) {
        self.record(location, enter(region));
        self.steps[location].extend(steps);
        self.record(location, leave(region));
    }

    pub(super) fn token(&mut self) -> Token {
        self.tokens += 1;
        self.tokens - 1
    }

    /// A number that no request, message or task has.
    pub(super) fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// Waits for some of what a thread has begun, or, now and then, of what another of its
    /// process has.
    pub(super) fn complete_some(&mut self, thread: usize) {
        let process = self.world.locations[thread].process;
        let hands_over = self.world.multiple && self.hands_over;
        let whose = if hands_over && self.random.percent(30) {
            *self.random.pick(&self.active[process])
        } else {
            thread
        };
        let mut all = std::mem::take(&mut self.pending[whose]);
        self.random.shuffle(&mut all);
        let some = self.random.below(all.len() + 1);
        self.pending[whose] = all.split_off(some);
        self.complete(thread, all);
    }

    pub(super) fn complete_all(&mut self, thread: usize) {
        while !self.pending[thread].is_empty() {
            let mut all = std::mem::take(&mut self.pending[thread]);
            self.random.shuffle(&mut all);
            self.complete(thread, all);
        }
    }

    /// All in one call, which returns when all are complete; or one after the other.
    fn complete(&mut self, thread: usize, all: Vec<Pending>) {
        if self.random.percent(50) {
            for it in all {
                self.call(thread, "MPI_Wait", vec![it.wait, it.record]);
            }
        } else if !all.is_empty() {
            let collective = |it: &Pending| matches!(it.wait, Step::Await(..) | Step::Accepted(..));
            let mut steps: Vec<Step> = Vec::new();
            let plain = all.iter().filter(|it| !collective(it));
            steps.extend(plain.map(|it| it.wait.clone()));
            for it in all {
                if collective(&it) {
                    steps.push(it.wait);
                }
                steps.push(it.record);
            }
            self.call(thread, "MPI_Waitall", steps);
        }
    }

    /// Recording stops or goes on, where a process has one thread.
    fn switch_recording(&mut self) {
        let process = self.any_process();
        let first = self.world.processes[process].threads[0];
        if self.active[process] != [first] || !self.recording[process] && self.random.percent(30) {
            return;
        }
        let on = !self.recording[process];
        self.recording[process] = on;
        self.add(first, Step::Recording(on));
    }

    pub(super) fn lock(&mut self) {
        let process = self.any_process();
        let thread = *self.random.pick(&self.active[process]);
        let lock = 2 * process + self.random.below(2);
        self.add(thread, Step::Acquire(lock));
        if self.random.percent(30) {
            self.add(thread, Step::Acquire(lock));
            self.call(thread, "work", Vec::new());
            self.add(thread, Step::Release(lock));
        }
        self.add(thread, Step::Release(lock));
    }

    fn of_threads(&mut self) {
        if self.random.percent(25) {
            return self.lock();
        }
        let process = self.any_process();
        match self.world.processes[process].threading {
            Threading::OpenMp => self.of_teams(process),
            Threading::Pthreads => self.of_created(process),
        }
    }

    fn end_threads(&mut self, process: usize) {
        match self.world.processes[process].threading {
            Threading::OpenMp => self.close_teams(process),
            Threading::Pthreads => self.end_created(process),
        }
    }

    /// All of `tokens`, of which something is promised.
    pub(super) fn wait_for(&mut self, location: usize, tokens: Vec<Token>, proof: Proof) {
        self.add(location, Step::Await(tokens, proof));
    }
}
