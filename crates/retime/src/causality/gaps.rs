//! Stretches in which recording was off.
//!
//! A location says when; what its endpoint did is not known as soon as one of its
//! threads did not record. Of several gaps only the hull counts: from the first time
//! recording was switched off to the last time it was switched on.

use rustc_hash::{FxHashMap, FxHashSet};

use retime_model::{LocationIndex, LogColumns, Timestamp, TraceInfo};

use super::point_to_point::endpoint;

/// From when to when, at most, an endpoint did not record all.
pub(super) type Gap = (Timestamp, Timestamp);

/// Between when and when endpoints did not record all.
pub(super) struct Gaps {
    of_endpoints: FxHashMap<LocationIndex, Gap>,
    /// Locations of processes with a gap.
    of_processes: FxHashSet<LocationIndex>,
}

impl Gaps {
    pub(super) fn new(info: &TraceInfo, logs: &[LogColumns]) -> Self {
        let mut gaps: FxHashMap<LocationIndex, Gap> = FxHashMap::default();
        for log in logs {
            if let Some((from, to)) = log.gap {
                let gap = gaps.entry(endpoint(info, log.location));
                let gap = gap.or_insert((from, to));
                *gap = (gap.0.min(from), gap.1.max(to));
            }
        }
        Self {
            of_endpoints: gaps,
            of_processes: beside_gaps(info, logs),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.of_endpoints.is_empty()
    }

    pub(super) fn of(&self, endpoint: LocationIndex) -> Option<Gap> {
        self.of_endpoints.get(&endpoint).copied()
    }

    /// Whether recording was off for a thread of the process of a location. One thread
    /// may tell that for all of them.
    pub(super) fn touch_process(&self, location: LocationIndex) -> bool {
        self.of_processes.contains(&location)
    }
}

/// The locations of processes with a gap.
fn beside_gaps(info: &TraceInfo, logs: &[LogColumns]) -> FxHashSet<LocationIndex> {
    let known = |location: LocationIndex| info.locations.get(location.as_usize());
    let process = |location| known(location).map(|it| it.process);
    let with_gap = logs.iter().filter(|log| log.gap.is_some());
    let processes: FxHashSet<usize> = with_gap.filter_map(|it| process(it.location)).collect();
    let all = (0..).map(LocationIndex).zip(&info.locations);
    all.filter(|(_, it)| processes.contains(&it.process))
        .map(|(location, _)| location)
        .collect()
}
