//! The parts of a trace, whatever its file format: locations, the processes
//! and nodes they belong to, and communicators.
//!
//! A format crate fills a [`TraceInfo`] when it opens a trace; everything else
//! in this library speaks of locations by [`LocationIndex`], their position in
//! that description, never by file names or ids of the format.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::packed_fields;
use crate::printable::printable;
use crate::time::{TickRate, Timestamp};

/// Position of a location in [`TraceInfo::locations`].
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct LocationIndex(pub u32);

packed_fields!(LocationIndex { 0: u32 });

impl LocationIndex {
    /// The position as an index into slices.
    pub const fn as_usize(self) -> usize {
        self.0 as usize
    }
}

/// One ordered stream of events: a thread of a rank, a GPU stream, a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The id the trace format gives it.
    pub id: u64,
    /// Its name, as the trace says it.
    pub name: String,
    /// Position in [`TraceInfo::processes`].
    pub process: usize,
    /// The location that holds the rank under which this one communicates:
    /// itself, or for a further thread of a rank the thread that the
    /// communicators name.
    pub endpoint: LocationIndex,
}

/// A name without the ids of locations that exports have put behind it (`Master thread (location
/// 2)`): read again, the location has another id, and only that one means something here.
pub fn without_exported_ids(name: &str) -> &str {
    let mut name = name;
    while let Some(shorter) = name.strip_suffix(')')
        && let Some((before, id)) = shorter.rsplit_once(" (location ")
        && !before.is_empty()
        && !id.is_empty()
        && id.bytes().all(|it| it.is_ascii_digit())
    {
        name = before;
    }
    name
}

/// A process (OTF2: location group): the locations that share its memory, or that of
/// an accelerator's context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its name, as the trace says it (`"MPI Rank 3"`).
    pub name: String,
    /// Position in [`TraceInfo::nodes`], if the trace says on which node it ran.
    pub node: Option<usize>,
    /// Position in [`TraceInfo::processes`] of the one that made it, as a program
    /// makes the context of an accelerator, if the trace says so. Nothing keeps a
    /// damaged trace from naming a process that it made itself.
    pub creator: Option<usize>,
}

/// Who the ranks of a communicator are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Members {
    /// Rank `r` is the `r`-th location.
    Ranks(Arc<[LocationIndex]>),
    /// The threads of a team: each location speaks for itself, whatever the rank of its process.
    Threads(Arc<[LocationIndex]>),
    /// `MPI_COMM_SELF`: rank 0 is whoever speaks.
    Own,
    /// An inter-communicator: a rank names a location of the other side.
    Inter {
        /// One side.
        a: Arc<[LocationIndex]>,
        /// The other.
        b: Arc<[LocationIndex]>,
    },
}

/// A communicator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Communicator {
    /// Its name, possibly empty.
    pub name: String,
    /// Its ranks.
    pub members: Members,
}

impl Communicator {
    /// The two groups; the second is empty but for an inter-communicator.
    pub fn groups(&self) -> [&[LocationIndex]; 2] {
        match &self.members {
            Members::Own => [&[], &[]],
            Members::Ranks(it) | Members::Threads(it) => [it, &[]],
            Members::Inter { a, b } => [a, b],
        }
    }

    /// The members, those of the first group before those of the second.
    pub fn locations(&self) -> impl Iterator<Item = LocationIndex> {
        self.groups().into_iter().flatten().copied()
    }

    /// The location that `rank` names when `own` (an endpoint) speaks of it.
    pub fn resolve(&self, own: LocationIndex, rank: u32) -> Option<LocationIndex> {
        match &self.members {
            Members::Ranks(ranks) | Members::Threads(ranks) => ranks.get(rank as usize).copied(),
            Members::Own => (rank == 0).then_some(own),
            Members::Inter { a, b } => {
                let remote = if a.contains(&own) { b } else { a };
                remote.get(rank as usize).copied()
            }
        }
    }
}

/// Description of a trace: who recorded it, and how fast its ticks run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceInfo {
    /// Ticks per second of every time stamp.
    pub rate: TickRate,
    /// All locations; their order decides every tie, so that results do not
    /// depend on how the trace was read.
    pub locations: Vec<Location>,
    /// The processes that locations belong to.
    pub processes: Vec<Process>,
    /// Names of the nodes that processes ran on.
    pub nodes: Vec<String>,
    /// The communicators, by the handle that recorded operations use.
    pub communicators: Vec<Communicator>,
    /// Locations that are streams of accelerators whose kernels communicate, by rising number, as far
    /// as the format says so. Nothing is woken when such a kernel may go on, so those of
    /// one operation that waits for all end nearly together.
    pub streams: Vec<LocationIndex>,
    /// Clocks that are known to have been set back while the trace was recorded, as far as the format can
    /// tell.
    pub set_back: Vec<ClockSetBack>,
}

/// The clock of a process was set back: it showed stamps between two again, by how much later nobody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockSetBack {
    /// The process, by its position in [`TraceInfo::processes`].
    pub process: usize,
    /// The first stamp that it may have shown twice,
    pub from: Timestamp,
    /// and the last.
    pub to: Timestamp,
}

impl TraceInfo {
    /// The process that has made one, or that one itself: a device works for its host.
    pub fn family(&self, process: usize) -> usize {
        let creator = self.processes.get(process).and_then(|it| it.creator);
        creator
            .filter(|it| *it < self.processes.len())
            .unwrap_or(process)
    }

    /// The location's name with that of its process, as they are.
    pub fn full_name(&self, location: LocationIndex) -> String {
        let Some(it) = self.locations.get(location.as_usize()) else {
            return String::new();
        };
        match self.processes.get(it.process) {
            Some(process) if !process.name.is_empty() => format!("{} / {}", process.name, it.name),
            _ => it.name.clone(),
        }
    }

    /// The location's name with that of its process, for messages to people.
    pub fn describe(&self, location: LocationIndex) -> String {
        let Some(it) = self.locations.get(location.as_usize()) else {
            return format!("location #{}", location.0);
        };
        let name = printable(without_exported_ids(&it.name));
        match self.processes.get(it.process) {
            Some(process) if !process.name.is_empty() => {
                let process = printable(without_exported_ids(&process.name));
                format!("{process} / {name} (location {})", it.id)
            }
            _ => format!("{name} (location {})", it.id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_exports_put_behind_names_are_left_out() {
        for (name, plain) in [
            ("Master thread (location 2)", "Master thread"),
            ("Master thread (location 2) (location 16)", "Master thread"),
            ("Master thread", "Master thread"),
            ("pool (location )", "pool (location )"),
            ("pool (location 2b)", "pool (location 2b)"),
            (" (location 2)", " (location 2)"),
            ("", ""),
        ] {
            assert_eq!(without_exported_ids(name), plain);
        }
    }
}
