//! Stretches in which recording was off.
//!
//! A location says when; what its endpoint did is not known as soon as one of its
//! threads did not record. Of several gaps only the hull counts: from the first time
//! recording was switched off to the last time it was switched on.

use rustc_hash::{FxHashMap, FxHashSet};

use retime_model::{LocationIndex, LogColumns, Timestamp, TraceInfo};

use crate::endpoints::endpoint;

/// From when to when, at most, an endpoint did not record all.
pub(super) type Gap = (Timestamp, Timestamp);

/// Between when and when endpoints did not record all.
pub(super) struct Gaps {
    of_endpoints: FxHashMap<LocationIndex, Gap>,
    /// When each endpoint posted the last receive that is not recorded to be complete.
    never_completed: FxHashMap<LocationIndex, Timestamp>,
    /// The gaps of endpoints, as far as calls of collectives are missing.
    of_calls: FxHashMap<LocationIndex, Gap>,
    /// Locations of processes with a gap.
    of_processes: FxHashSet<LocationIndex>,
}

impl Gaps {
    pub(super) fn new(info: &TraceInfo, logs: &[LogColumns]) -> Self {
        let mut gaps: FxHashMap<LocationIndex, Gap> = FxHashMap::default();
        let mut never_completed: FxHashMap<LocationIndex, Timestamp> = FxHashMap::default();
        let mut never_ended: FxHashMap<LocationIndex, Gap> = FxHashMap::default();
        for log in logs {
            if let Some(ends) = log.never_ended {
                extend(&mut never_ended, endpoint(info, log.location), ends);
            }
            if let Some(posted) = log.never_completed {
                let last = never_completed.entry(endpoint(info, log.location));
                let last = last.or_insert(posted);
                *last = posted.max(*last);
            }
            if let Some((from, to)) = log.gap {
                extend(&mut gaps, endpoint(info, log.location), (from, to));
            }
        }
        let mut of_calls = gaps.clone();
        never_ended.retain(|endpoint, _| gaps.contains_key(endpoint));
        for (endpoint, (first, last)) in never_ended {
            let after = Timestamp(last.0.saturating_add(1));
            extend(&mut of_calls, endpoint, (first, after));
        }
        Self {
            of_endpoints: gaps,
            never_completed,
            of_calls,
            of_processes: beside_gaps(info, logs),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.of_endpoints.is_empty()
    }

    pub(super) fn of(&self, endpoint: LocationIndex) -> Option<Gap> {
        self.of_endpoints.get(&endpoint).copied()
    }

    /// From when to when, at most, calls of collectives are missing: those that began
    /// before recording stopped and ended meanwhile are, too.
    pub(super) fn of_calls(&self, endpoint: LocationIndex) -> Option<Gap> {
        self.of_calls.get(&endpoint).copied()
    }

    /// When an endpoint posted the last receive that is not recorded to be complete.
    pub(super) fn never_completed(&self, endpoint: LocationIndex) -> Option<Timestamp> {
        self.never_completed.get(&endpoint).copied()
    }

    /// True if recording was off for a thread of the process of a location. One thread
    /// may tell that for all of them.
    pub(super) fn touch_process(&self, location: LocationIndex) -> bool {
        self.of_processes.contains(&location)
    }
}

fn extend(gaps: &mut FxHashMap<LocationIndex, Gap>, endpoint: LocationIndex, by: Gap) {
    let gap = gaps.entry(endpoint).or_insert(by);
    *gap = (gap.0.min(by.0), gap.1.max(by.1));
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
