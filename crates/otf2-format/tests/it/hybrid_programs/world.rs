//! Who takes part in a program: processes with their threads and streams, and the
//! communicators, windows and groups that they use.

use retime_otf2::{CommRef, GroupRef, Paradigm, RmaWinRef};

use super::random::Random;

/// How the threads of a process come to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Threading {
    OpenMp,
    Pthreads,
}

impl Threading {
    pub(super) const fn paradigm(self) -> Paradigm {
        match self {
            Self::OpenMp => Paradigm::OPENMP,
            Self::Pthreads => Paradigm::PTHREAD,
        }
    }
}

/// A stream, with the device that it is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub(super) location: usize,
    pub(super) device: usize,
}

/// A process of MPI; its rank is its place.
pub(super) struct Process {
    pub(super) threading: Threading,
    /// Locations of its threads; the first is the one that begins.
    pub(super) threads: Vec<usize>,
    pub(super) streams: Vec<Stream>,
    pub(super) node: usize,
}

/// What a location is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Thread,
    Stream { device: usize },
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Location {
    pub(super) process: usize,
    pub(super) kind: Kind,
}

/// Whom a communicator joins: processes, or threads of one.
#[derive(Clone, Debug)]
pub(super) enum Comm {
    Ranks(Vec<usize>),
    Own,
    Inter(Vec<usize>, Vec<usize>),
    Threads(Paradigm, Vec<usize>),
}

impl Comm {
    /// All processes, with the side on which they are.
    pub(super) fn processes(&self, all: usize) -> Vec<(usize, usize)> {
        let side = |of: &[usize], side| of.iter().map(move |&it| (it, side)).collect::<Vec<_>>();
        match self {
            Self::Ranks(ranks) => side(ranks, 0),
            Self::Own => side(&(0..all).collect::<Vec<_>>(), 0),
            Self::Inter(a, b) => [side(a, 0), side(b, 1)].concat(),
            Self::Threads(..) => Vec::new(),
        }
    }

    /// By which number a process speaks of another.
    pub(super) fn rank(&self, process: usize) -> u32 {
        let place = |of: &[usize]| of.iter().position(|&it| it == process);
        let place = match self {
            Self::Ranks(ranks) | Self::Threads(_, ranks) => place(ranks),
            Self::Own => Some(0),
            Self::Inter(a, b) => place(a).or(place(b)),
        };
        place.unwrap() as u32
    }
}

pub(super) struct World {
    pub(super) processes: Vec<Process>,
    pub(super) locations: Vec<Location>,
    pub(super) comms: Vec<Comm>,
    /// Communicators of windows.
    pub(super) windows: Vec<CommRef>,
    /// Processes.
    pub(super) groups: Vec<Vec<usize>>,
    pub(super) nodes: usize,
    /// Whether all threads call MPI, and not only the first of each process.
    pub(super) multiple: bool,
    /// Whether ranks are processes, and not locations.
    pub(super) names_processes: bool,
    /// Whether streams lie in contexts of their own.
    pub(super) has_contexts: bool,
}

/// Each process alone; all, for messages that any receive takes. All is also the first.
pub(super) const OWN: CommRef = CommRef(1);
pub(super) const ANY: CommRef = CommRef(2);

impl World {
    pub(super) fn new(ranks: usize, random: &mut Random) -> Self {
        let nodes = 1 + random.below(ranks);
        let mut world = Self {
            processes: Vec::new(),
            locations: Vec::new(),
            comms: Vec::new(),
            windows: Vec::new(),
            groups: Vec::new(),
            nodes,
            multiple: random.percent(40),
            names_processes: random.percent(40),
            has_contexts: random.percent(70),
        };
        for process in 0..ranks {
            let threads = 1 + if random.percent(30) {
                0
            } else {
                random.below(4)
            };
            let threads = (0..threads).map(|_| world.locate(process, Kind::Thread));
            let threads = threads.collect();
            let streams = (0..random.below(3)).map(|_| {
                let device = random.below(2);
                let location = world.locate(process, Kind::Stream { device });
                Stream { location, device }
            });
            let streams = streams.collect();
            world.processes.push(Process {
                threading: *random.pick(&[Threading::OpenMp, Threading::Pthreads]),
                threads,
                streams,
                node: random.below(nodes),
            });
        }
        world.communicate(random);
        world
    }

    fn locate(&mut self, process: usize, kind: Kind) -> usize {
        self.locations.push(Location { process, kind });
        self.locations.len() - 1
    }

    fn communicate(&mut self, random: &mut Random) {
        let all: Vec<usize> = (0..self.processes.len()).collect();
        self.comms.push(Comm::Ranks(all.clone()));
        self.comms.push(Comm::Own);
        self.comms.push(Comm::Ranks(all.clone()));
        for _ in 0..random.below(3) {
            self.comms.push(Comm::Ranks(random.some(&all, 1)));
        }
        if all.len() > 1 && random.percent(50) {
            let both = random.some(&all, 2);
            let (a, b) = both.split_at(1 + random.below(both.len() - 1));
            self.comms.push(Comm::Inter(a.to_vec(), b.to_vec()));
        }
        let intra = |it: &usize| matches!(self.comms[*it], Comm::Ranks(_));
        let intra: Vec<usize> = (0..self.comms.len()).filter(intra).collect();
        for _ in 0..random.below(3) {
            self.windows.push(CommRef(*random.pick(&intra) as u32));
        }
    }

    /// The number of a new communicator.
    pub(super) fn comm(&mut self, comm: Comm) -> CommRef {
        self.comms.push(comm);
        CommRef(self.comms.len() as u32 - 1)
    }

    /// The number of a group of processes.
    pub(super) fn group(&mut self, processes: &[usize]) -> GroupRef {
        let known = self.groups.iter().position(|it| it == processes);
        let place = known.unwrap_or_else(|| {
            self.groups.push(processes.to_vec());
            self.groups.len() - 1
        });
        GroupRef(place as u32)
    }

    pub(super) fn window_members(&self, window: RmaWinRef) -> Vec<usize> {
        let comm = &self.comms[self.windows[window.0 as usize].0 as usize];
        comm.processes(0).into_iter().map(|(it, _)| it).collect()
    }

    pub(super) fn of(&self, comm: CommRef) -> &Comm {
        &self.comms[comm.0 as usize]
    }

    /// The locations of a process that stand in its group.
    pub(super) fn is_alone(&self, process: usize) -> bool {
        let it = &self.processes[process];
        it.threads.len() == 1 && (self.has_contexts || it.streams.is_empty())
    }
}
