//! Beginnings and ends under a name, and the check that what has ended is what had begun.
//!
//! | begins | ends | name |
//! |---|---|---|
//! | put, get, atomic | completion, here | window, matching id |
//! | the same | completion at the other side | the same |
//! | lock of a window is acquired | released | window, rank, lock |
//! | lock of a window is asked for | released | the same |
//! | the same | acquired | the same, and its type |
//! | window is created | destroyed | window |
//! | lock is acquired | released | model, lock, number of the acquisition |
//! | task is made | complete | team, maker, generation |
//! | team begins | ends | team |
//! | fork | join | model |
//! | thread begins | ends | contingent, number |
//! | operation on a file begins | is complete or cancelled | handle, matching id |
//! | lock of a file is acquired | released | handle, type |
//!
//! Not all that begins has to end in the recording, and not every recorder writes both: who
//! completes operations by a fence need not complete each. But where a process has as many
//! ends as begins they are the same, one by one. As in [`twice`](super::twice) sums are kept
//! and not names, here of a hash of each name; a name that is wrong always changes its sum:
//!
//! ```text
//! acquire 3   acquire 4   release 4   release 3       h(3) + h(4) - h(4) - h(3)  = 0
//! acquire 3   acquire 5   release 4   release 3       h(3) + h(5) - h(4) - h(3) != 0
//! ```
//!
//! What one thread has begun another one of its process may end, so it is processes that are
//! balanced. Where recording was off for some time begins and ends may be missing, and
//! nothing is concluded.
//!
//! Source: OTF2's descriptions of the records.

use retime_otf2::schema::{Class, event_code as code};
use retime_otf2::{
    CommRef, EventData, IoHandleRef, LocalDefinitions, MappingTable, Paradigm, RmaWinRef,
};

use super::partners::Partners;

/// A pair of begins and ends.
#[derive(Clone, Copy)]
enum Cycle {
    Operation,
    OperationThere,
    WindowLock,
    WindowLockRequest,
    WindowLockGranted,
    Window,
    Lock,
    Task,
    Team,
    Fork,
    Thread,
    FileOperation,
    FileLock,
}

use Cycle::{
    FileLock, FileOperation, Fork, Lock, Operation, OperationThere, Task, Team, Thread, Window,
    WindowLock, WindowLockGranted, WindowLockRequest,
};

/// How many there are.
const CYCLES: usize = FileLock as usize + 1;

/// The damage that a process shows, in words, if one of these cycles is broken.
const BROKEN: [(&[Cycle], &str); 9] = [
    (
        &[Operation, OperationThere],
        "in which other one-sided operations are complete than were started",
    ),
    (
        &[WindowLock, WindowLockRequest, WindowLockGranted],
        "in which other locks of windows are released than were acquired",
    ),
    (
        &[Window],
        "in which other windows are destroyed than were created",
    ),
    (
        &[Lock],
        "in which other locks are released than were acquired",
    ),
    (&[Task], "in which other tasks are complete than were made"),
    (
        &[Team, Fork],
        "in which other teams of threads end than began",
    ),
    (&[Thread], "in which other threads end than began"),
    (
        &[FileOperation],
        "in which other operations on files are complete than were started",
    ),
    (
        &[FileLock],
        "in which other locks of files are released than were acquired",
    ),
];

/// The codes of events that are looked at.
pub(super) const CODES: [u8; 31] = [
    code::MeasurementOnOff,
    code::OmpAcquireLock,
    code::OmpReleaseLock,
    code::OmpTaskCreate,
    code::OmpTaskComplete,
    code::RmaWinCreate,
    code::RmaWinDestroy,
    code::RmaRequestLock,
    code::RmaAcquireLock,
    code::RmaReleaseLock,
    code::RmaPut,
    code::RmaGet,
    code::RmaAtomic,
    code::RmaOpCompleteBlocking,
    code::RmaOpCompleteNonBlocking,
    code::RmaOpCompleteRemote,
    code::ThreadFork,
    code::ThreadJoin,
    code::ThreadTeamBegin,
    code::ThreadTeamEnd,
    code::ThreadAcquireLock,
    code::ThreadReleaseLock,
    code::ThreadTaskCreate,
    code::ThreadTaskComplete,
    code::ThreadBegin,
    code::ThreadEnd,
    code::IoOperationBegin,
    code::IoOperationComplete,
    code::IoOperationCancelled,
    code::IoAcquireLock,
    code::IoReleaseLock,
];

/// Begins less ends, of one location or of all of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LifeCycles {
    /// How many more have begun than ended.
    open: [u64; CYCLES],
    /// Sum of the hashes of their names.
    names: [u64; CYCLES],
    /// How often recording was turned off or on.
    gaps: u64,
}

impl LifeCycles {
    /// The life cycles as numbers, for whoever does not know this type.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u64> {
        let sums = self.open.into_iter().chain(self.names);
        sums.chain([self.gaps])
    }

    /// From [`numbers`](Self::numbers); none if there are not as many.
    pub(crate) fn from_numbers(numbers: &[u64]) -> Option<Self> {
        let (open, rest) = numbers.split_first_chunk()?;
        let (names, rest) = rest.split_first_chunk()?;
        let &[gaps] = rest else { return None };
        Some(Self {
            open: *open,
            names: *names,
            gaps,
        })
    }

    /// Both together.
    pub(crate) fn add(mut self, other: &Self) -> Self {
        for (sum, more) in self.open.iter_mut().zip(other.open) {
            *sum = sum.wrapping_add(more);
        }
        for (sum, more) in self.names.iter_mut().zip(other.names) {
            *sum = sum.wrapping_add(more);
        }
        self.gaps += other.gaps;
        self
    }

    /// Counts the processes that show each kind of damage, which is told in words.
    pub(crate) fn broken<'a>(
        processes: impl Iterator<Item = &'a Self> + Clone,
    ) -> impl Iterator<Item = (u64, &'static str)> {
        BROKEN.iter().filter_map(move |(cycles, what)| {
            let broken = |it: &&Self| cycles.iter().any(|&cycle| it.is_broken(cycle));
            let count = processes.clone().filter(broken).count() as u64;
            (count > 0).then_some((count, *what))
        })
    }

    /// True if as many have ended as have begun, but others.
    fn is_broken(&self, cycle: Cycle) -> bool {
        self.gaps == 0 && self.open[cycle as usize] == 0 && self.names[cycle as usize] != 0
    }

    fn begins(&mut self, cycle: Cycle, name: u64) {
        self.note(cycle, 1, name);
    }

    fn ends(&mut self, cycle: Cycle, name: u64) {
        self.note(cycle, u64::MAX, name.wrapping_neg());
    }

    fn note(&mut self, cycle: Cycle, one: u64, name: u64) {
        let (open, names) = (
            &mut self.open[cycle as usize],
            &mut self.names[cycle as usize],
        );
        *open = open.wrapping_add(one);
        *names = names.wrapping_add(name);
    }
}

/// The life cycles of one location while its events are read.
pub(super) struct Watched<'a> {
    handles: Option<&'a MappingTable>,
    pub(super) found: LifeCycles,
}

impl<'a> Watched<'a> {
    pub(super) fn new(local: &'a LocalDefinitions) -> Self {
        Self {
            handles: local.mappings.table(Class::IoHandle),
            found: LifeCycles::default(),
        }
    }

    /// An event with one of the [`CODES`].
    pub(super) fn heed(&mut self, data: &EventData, partners: &mut Partners<'_>) {
        match data {
            EventData::MeasurementOnOff { .. } => self.found.gaps += 1,
            _ if self.of_window(data, partners) => {}
            _ if self.of_locks(data) => {}
            _ if self.of_threads(data, partners) => {}
            _ => self.of_file(data),
        }
    }

    /// Counts an event of one-sided communication; false if the event is none.
    fn of_window(&mut self, data: &EventData, partners: &Partners<'_>) -> bool {
        let of = |win: RmaWinRef, words: [u64; 2]| {
            let window = partners.windows.global(win);
            name([u64::from(window.0), words[0], words[1]])
        };
        let found = &mut self.found;
        match *data {
            EventData::RmaWinCreate { win } => found.begins(Window, of(win, [0; 2])),
            EventData::RmaWinDestroy { win } => found.ends(Window, of(win, [0; 2])),
            EventData::RmaPut {
                win, matching_id, ..
            }
            | EventData::RmaGet {
                win, matching_id, ..
            }
            | EventData::RmaAtomic {
                win, matching_id, ..
            } => {
                let name = of(win, [matching_id, 0]);
                found.begins(Operation, name);
                found.begins(OperationThere, name);
            }
            EventData::RmaOpCompleteBlocking { win, matching_id }
            | EventData::RmaOpCompleteNonBlocking { win, matching_id } => {
                found.ends(Operation, of(win, [matching_id, 0]));
            }
            EventData::RmaOpCompleteRemote { win, matching_id } => {
                found.ends(OperationThere, of(win, [matching_id, 0]));
            }
            EventData::RmaRequestLock {
                win,
                remote,
                lock,
                lock_type,
            } => {
                let name = of(win, [remote.into(), lock]);
                found.begins(WindowLockRequest, name);
                found.begins(WindowLockGranted, name ^ u64::from(lock_type.0));
            }
            EventData::RmaAcquireLock {
                win,
                remote,
                lock,
                lock_type,
            } => {
                let name = of(win, [remote.into(), lock]);
                found.begins(WindowLock, name);
                found.ends(WindowLockGranted, name ^ u64::from(lock_type.0));
            }
            EventData::RmaReleaseLock { win, remote, lock } => {
                let name = of(win, [remote.into(), lock]);
                found.ends(WindowLock, name);
                found.ends(WindowLockRequest, name);
            }
            _ => return false,
        }
        true
    }

    /// Counts an event of locks of threads; false if the event is none.
    fn of_locks(&mut self, data: &EventData) -> bool {
        let of =
            |model: Paradigm, lock: u32, order: u32| of_model(model, [lock.into(), order.into()]);
        let found = &mut self.found;
        match *data {
            EventData::ThreadAcquireLock {
                model,
                lock,
                acquisition_order,
            } => found.begins(Lock, of(model, lock, acquisition_order)),
            EventData::ThreadReleaseLock {
                model,
                lock,
                acquisition_order,
            } => found.ends(Lock, of(model, lock, acquisition_order)),
            EventData::OmpAcquireLock {
                lock,
                acquisition_order,
            } => found.begins(Lock, of(Paradigm::OPENMP, lock, acquisition_order)),
            EventData::OmpReleaseLock {
                lock,
                acquisition_order,
            } => found.ends(Lock, of(Paradigm::OPENMP, lock, acquisition_order)),
            _ => return false,
        }
        true
    }

    /// Counts an event of teams, tasks and threads; false if the event is none.
    fn of_threads(&mut self, data: &EventData, partners: &mut Partners<'_>) -> bool {
        let mut of = |comm: CommRef, words: [u64; 2]| {
            // Those that are not defined have numbers beyond those that are.
            let undefined = u64::from(comm.0) << u32::BITS;
            let handle = partners.comm(comm).map(|it| it.handle);
            name([handle.map_or(undefined, u64::from), words[0], words[1]])
        };
        let found = &mut self.found;
        match *data {
            EventData::ThreadTaskCreate {
                thread_team,
                creating_thread,
                generation_number,
            } => {
                let words = [creating_thread.into(), generation_number.into()];
                found.begins(Task, of(thread_team, words));
            }
            EventData::ThreadTaskComplete {
                thread_team,
                creating_thread,
                generation_number,
            } => {
                let words = [creating_thread.into(), generation_number.into()];
                found.ends(Task, of(thread_team, words));
            }
            EventData::OmpTaskCreate { task } => found.begins(Task, name([task, 0, 0])),
            EventData::OmpTaskComplete { task } => found.ends(Task, name([task, 0, 0])),
            EventData::ThreadTeamBegin { thread_team } => {
                found.begins(Team, of(thread_team, [0; 2]));
            }
            EventData::ThreadTeamEnd { thread_team } => found.ends(Team, of(thread_team, [0; 2])),
            EventData::ThreadFork { model, .. } => found.begins(Fork, of_model(model, [0; 2])),
            EventData::ThreadJoin { model } => found.ends(Fork, of_model(model, [0; 2])),
            // Who gives no contingent numbers threads as it likes: `EZTrace` 2.0 never twice alike.
            EventData::ThreadBegin {
                thread_contingent,
                sequence_count,
            } if thread_contingent.is_defined() => {
                found.begins(Thread, of(thread_contingent, [sequence_count, 0]));
            }
            EventData::ThreadEnd {
                thread_contingent,
                sequence_count,
            } if thread_contingent.is_defined() => {
                found.ends(Thread, of(thread_contingent, [sequence_count, 0]));
            }
            _ => return false,
        }
        true
    }

    fn of_file(&mut self, data: &EventData) {
        let of = |handle: IoHandleRef, word: u64| {
            let handle = self
                .handles
                .map_or(handle.into(), |it| it.get(handle.into()));
            name([handle, word, 0])
        };
        let found = &mut self.found;
        match *data {
            EventData::IoOperationBegin {
                handle,
                matching_id,
                ..
            } => {
                found.begins(FileOperation, of(handle, matching_id));
            }
            EventData::IoOperationComplete {
                handle,
                matching_id,
                ..
            }
            | EventData::IoOperationCancelled {
                handle,
                matching_id,
            } => {
                found.ends(FileOperation, of(handle, matching_id));
            }
            EventData::IoAcquireLock { handle, lock_type } => {
                found.begins(FileLock, of(handle, lock_type.0.into()));
            }
            EventData::IoReleaseLock { handle, lock_type } => {
                found.ends(FileLock, of(handle, lock_type.0.into()));
            }
            _ => {}
        }
    }
}

fn of_model(model: Paradigm, words: [u64; 2]) -> u64 {
    name([model.0.into(), words[0], words[1]])
}

/// A hash that changes with each of the words: every step can be undone. It is not linear, so
/// that names that are swapped show.
fn name(words: [u64; 3]) -> u64 {
    // The odd constant and the shift are those of the finalizer of MurmurHash3.
    let mix = |hash: u64, word: u64| {
        let hash = (hash ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash ^ hash >> 33
    };
    words.into_iter().fold(1, mix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(u64, bool)]) -> LifeCycles {
        let mut cycles = LifeCycles::default();
        for &(number, begins) in pairs {
            let name = name([number, 0, 0]);
            if begins {
                cycles.begins(Lock, name);
            } else {
                cycles.ends(Lock, name);
            }
        }
        cycles
    }

    #[test]
    fn as_many_have_to_be_the_same() {
        for (pairs, broken) in [
            (&[(3, true), (4, true), (4, false), (3, false)][..], false),
            (&[(3, true), (5, true), (4, false), (3, false)], true),
            // Sums of numbers would be the same.
            (&[(3, true), (6, true), (4, false), (5, false)], true),
            (&[(3, true), (5, true), (4, false)], false),
        ] {
            let cycles = of(pairs);
            assert_eq!(cycles.is_broken(Lock), broken, "{pairs:?}");
            let off = LifeCycles { gaps: 2, ..cycles };
            assert!(!off.is_broken(Lock));
            let numbers: Vec<u64> = cycles.numbers().collect();
            assert_eq!(LifeCycles::from_numbers(&numbers), Some(cycles));
        }
    }

    #[test]
    fn who_ends_may_be_another_than_who_begins() {
        let (begun, ended) = (of(&[(3, true), (4, true)]), of(&[(4, false), (3, false)]));
        assert_eq!(begun.add(&ended), LifeCycles::default());
    }
}
