//! The locations of a process, with what they have given and got.

use std::collections::BTreeMap;

use retime_model::{LocationIndex, LogNode, TraceInfo};

use super::given::Handovers;
use crate::scan::scanned::Scanned;

/// An event of a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    pub(super) location: LocationIndex,
    pub(super) node: LogNode,
}

/// A location with what it has given and got.
pub(super) struct Thread<'a> {
    pub(super) location: LocationIndex,
    pub(super) handovers: &'a Handovers,
    /// True if recording was off for some time.
    pub(super) gap: bool,
}

/// The locations of each process.
pub(super) fn by_process<'a>(
    scanned: &'a [Scanned],
    info: &TraceInfo,
) -> BTreeMap<usize, Vec<Thread<'a>>> {
    let mut processes: BTreeMap<usize, Vec<Thread<'a>>> = BTreeMap::new();
    for it in scanned {
        let location = it.log.location();
        if let Some(described) = info.locations.get(location.as_usize()) {
            let process = processes.entry(described.process).or_default();
            process.push(Thread {
                location,
                handovers: &it.handovers,
                gap: it.log.columns().gap.is_some(),
            });
        }
    }
    processes
}
