//! Proofs of exposure: memory was exposed before an access epoch fetched something from it.
//!
//! `MPI_Win_start` and `MPI_Win_complete` may or may not wait for the post of their targets:
//! what is put can be buffered. But what is fetched comes from the target, and has come when
//! `MPI_Win_complete` returns. So
//!
//! ```text
//!  target   Enter(MPI_Win_post)
//!                 \____________________________________
//!                                                      \
//!  origin   start   get of some bytes   MPI_Win_complete, Leave
//! ```
//!
//! The k-th post of a target for an origin belongs to the k-th access epoch of that origin
//! towards it. Most posts have an epoch without gets, so their names count only where others
//! wait for them, which shows when all locations are read: see
//! [`join`](retime_model::format::join).
//!
//! Source: MPI 4.1, section 12.5.2: "RMA accesses to each target window will be delayed, if
//! necessary, until the target MPI process executed the matching call to `MPI_WIN_POST`", and
//! "all RMA communication calls issued on win during this epoch will have completed at the
//! origin when the call returns".

use std::collections::{HashMap, HashSet};

use retime_model::{LocationIndex, Members, NamedMessage};
use retime_otf2::schema::Class;
use retime_otf2::{EventData, LocalDefinitions, MappingTable, RmaAtomicType, RmaWinRef};

use crate::describe::Description;

/// From whom an origin has fetched something since it started to access a group.
pub(super) struct Fetches<'a> {
    description: &'a Description,
    table: Option<&'a MappingTable>,
    /// The targets from which something was fetched, by the location's own ids of windows.
    from: HashMap<RmaWinRef, HashSet<LocationIndex>>,
}

impl<'a> Fetches<'a> {
    pub(super) fn new(description: &'a Description, local: &'a LocalDefinitions) -> Self {
        Self {
            description,
            table: local.mappings.table(Class::RmaWin),
            from: HashMap::new(),
        }
    }

    /// An access epoch begins.
    pub(super) fn start(&mut self, window: RmaWinRef) {
        self.from.insert(window, HashSet::new());
    }

    /// It ends; from whom something has come.
    pub(super) fn complete(&mut self, window: RmaWinRef) -> HashSet<LocationIndex> {
        self.from.remove(&window).unwrap_or_default()
    }

    /// Memory is accessed.
    pub(super) fn access(&mut self, data: &EventData) {
        let (window, remote) = match *data {
            EventData::RmaGet {
                win, remote, bytes, ..
            } if bytes > 0 => (win, remote),
            EventData::RmaAtomic {
                win,
                remote,
                operation,
                bytes_received,
                ..
            } if bytes_received > 0 && fetches(operation) => (win, remote),
            _ => return,
        };
        let target = self.target(window, remote);
        if let (Some(from), Some(target)) = (self.from.get_mut(&window), target) {
            from.insert(target);
        }
    }

    fn target(&self, local: RmaWinRef, rank: u32) -> Option<LocationIndex> {
        let window = match self.table {
            Some(table) => RmaWinRef(table.get(local.into()) as u32),
            None => local,
        };
        let handle = self.description.windows.get(&window)?.handle;
        let communicator = self.description.info.communicators.get(handle as usize)?;
        match &communicator.members {
            Members::Ranks(ranks) => ranks.get(rank as usize).copied(),
            _ => None,
        }
    }
}

/// True if an atomic operation returns what was there.
const fn fetches(operation: RmaAtomicType) -> bool {
    matches!(
        operation,
        RmaAtomicType::TEST_AND_SET
            | RmaAtomicType::COMPARE_AND_SWAP
            | RmaAtomicType::SWAP
            | RmaAtomicType::FETCH_AND_ADD
            | RmaAtomicType::FETCH_AND_INCREMENT
            | RmaAtomicType::FETCH_AND_ACCUMULATE
    )
}

/// The epochs of a location, each with its names.
#[derive(Default)]
pub(crate) struct Epochs {
    /// Entries of calls that expose memory.
    pub(crate) posted: Vec<NamedMessage>,
    /// Exits of calls that complete accesses, by what they have fetched.
    pub(crate) fetched: Vec<NamedMessage>,
    /// The number of synchronisations of groups that were looked at, whatever they prove.
    pub(crate) looked_at: u64,
}
