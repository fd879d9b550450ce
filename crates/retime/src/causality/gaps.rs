//! Stretches in which recording was off.
//!
//! A location says when; what its endpoint did is not known as soon as one of its
//! threads did not record. Of several gaps only the hull counts: from the first time
//! recording was switched off to the last time it was switched on.

use rustc_hash::FxHashMap;

use retime_model::{LocationIndex, LogColumns, Timestamp, TraceInfo};

use super::point_to_point::endpoint;

/// From when to when, at most, an endpoint did not record all.
pub(super) type Gap = (Timestamp, Timestamp);

/// Between when and when endpoints did not record all.
pub(super) struct Gaps(FxHashMap<LocationIndex, Gap>);

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
        Self(gaps)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn of(&self, endpoint: LocationIndex) -> Option<Gap> {
        self.0.get(&endpoint).copied()
    }
}
