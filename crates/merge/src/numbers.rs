//! Numbers in the place of those that a file of packets gives, which no other file has.
//!
//! ```text
//! track 7, process 4711, sequence 2, arrow 12      of the third file
//!   (3 << 32) + .., 9,   2^31 + 40, (3 << 32) + 12
//! ```
//!
//! Machines have numbers of their own in a file, and so each number is told by its machine too,
//! but for those of arrows and of stages of GPUs, which lead from one machine to another.

use rustc_hash::FxHashMap;

/// Numbers below it are kept below that of their document.
const SMALL: u64 = 1 << 31;

/// Tracks that files describe, below the number of their document.
const TRACK: u64 = 3 << 28;

/// The numbers that are free in the file that is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Free {
    pub(crate) pid: u64,
    pub(crate) sequence: u64,
    pub(crate) machine: u32,
}

impl Free {
    /// The next number of a sequence.
    pub(crate) fn sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence - 1
    }

    /// The next number of a process.
    pub(crate) fn pid(&mut self) -> u64 {
        self.pid += 1;
        self.pid - 1
    }
}

/// Numbers that stand alone: small ones stay what they are below that of the document, others
/// get the next that is free.
#[derive(Debug)]
struct Alone {
    first: u64,
    given: FxHashMap<u64, u64>,
}

impl Alone {
    fn of(document: u32) -> Self {
        Self {
            first: (u64::from(document) + 1) << 32,
            given: FxHashMap::default(),
        }
    }

    fn number(&mut self, number: u64) -> u64 {
        if number < SMALL {
            return self.first + number;
        }
        let next = self.first + SMALL + self.given.len() as u64;
        *self.given.entry(number).or_insert(next)
    }
}

/// The numbers of one file.
#[derive(Debug)]
pub(crate) struct Numbers {
    first: u64,
    sequences: FxHashMap<(u32, u32), u64>,
    machines: FxHashMap<u32, u32>,
    tracks: FxHashMap<(u32, u64), u64>,
    specifications: FxHashMap<(u32, u32, u64), u64>,
    flows: Alone,
    ids: Alone,
    stages: Alone,
}

impl Numbers {
    pub(crate) fn of(document: u32) -> Self {
        Self {
            first: (u64::from(document) + 1) << 32,
            sequences: FxHashMap::default(),
            machines: FxHashMap::default(),
            tracks: FxHashMap::default(),
            specifications: FxHashMap::default(),
            flows: Alone::of(document),
            ids: Alone::of(document),
            stages: Alone::of(document),
        }
    }

    pub(crate) fn sequence(&mut self, free: &mut Free, machine: u32, sequence: u32) -> u64 {
        let known = self.sequences.entry((machine, sequence));
        *known.or_insert_with(|| free.sequence())
    }

    /// The machine that holds what a file says of clocks.
    pub(crate) fn machine(&mut self, free: &mut Free, machine: u32) -> u32 {
        *self.machines.entry(machine).or_insert_with(|| {
            free.machine += 1;
            free.machine - 1
        })
    }

    /// A track; 0 is that of everything.
    pub(crate) fn track(&mut self, machine: u32, uuid: u64) -> u64 {
        if uuid == 0 {
            return 0;
        }
        let next = self.first + TRACK + self.tracks.len() as u64;
        *self.tracks.entry((machine, uuid)).or_insert(next)
    }

    /// A queue or a stage of a GPU, as a sequence has said it. Readers tell queues of all
    /// sequences apart by these numbers.
    pub(crate) fn specification(&mut self, machine: u32, sequence: u32, iid: u64) -> u64 {
        let next = self.first + self.specifications.len() as u64;
        let key = (machine, sequence, iid);
        *self.specifications.entry(key).or_insert(next)
    }

    /// An arrow.
    pub(crate) fn flow(&mut self, id: u64) -> u64 {
        self.flows.number(id)
    }

    /// The id of something that was converted from Chrome's format.
    pub(crate) fn id(&mut self, id: u64) -> u64 {
        self.ids.number(id)
    }

    /// A stage of a GPU.
    pub(crate) fn stage(&mut self, id: u64) -> u64 {
        self.stages.number(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_files_have_one_number() {
        let mut free = Free {
            pid: 1,
            sequence: 10,
            machine: 1,
        };
        let mut all = Vec::new();
        for document in 0..3 {
            let mut numbers = Numbers::of(document);
            let large = [0, 7, 1 << 40, u64::MAX, 1 << 40];
            let found = large.map(|it| numbers.flow(it));
            assert_eq!(found[2], found[4]);
            all.extend(&found[..4]);
            assert_eq!(numbers.track(0, 0), 0);
            let tracks = [(0, 5), (1, 5), (0, u64::MAX)].map(|it| numbers.track(it.0, it.1));
            assert_eq!(tracks[0], numbers.track(0, 5));
            all.extend(tracks);
            let first = numbers.sequence(&mut free, 0, 3);
            assert_eq!(first, numbers.sequence(&mut free, 0, 3));
            all.extend([first, numbers.sequence(&mut free, 1, 3)]);
        }
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 3 * (4 + 3 + 2));
    }
}
