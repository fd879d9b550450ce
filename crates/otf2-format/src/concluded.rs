//! The conclusions of a scan about a location besides its log, as numbers and back.

use crate::scan::{LifeCycles, Twice, UnrecordedCalls};

/// The conclusions of a scan about a location, besides its log.
pub(crate) struct Concluded {
    /// The number of activities of a stream whose launch could be told.
    pub(crate) launched: u64,
    /// The number of synchronisations of groups of a window that were looked at.
    pub(crate) group_syncs: u64,
    pub(crate) unrecorded: UnrecordedCalls,
    pub(crate) twice: Twice,
    pub(crate) cycles: LifeCycles,
}

impl Concluded {
    pub(crate) fn of(numbers: &[u64]) -> Self {
        let (launched, rest) = numbers.split_first().unwrap_or((&0, &[]));
        let (group_syncs, rest) = rest.split_first().unwrap_or((&0, &[]));
        let (unrecorded, rest) = rest
            .split_at_checked(UnrecordedCalls::NUMBERS)
            .unwrap_or_default();
        let (twice, cycles) = rest.split_at_checked(Twice::NUMBERS).unwrap_or_default();
        Self {
            launched: *launched,
            group_syncs: *group_syncs,
            unrecorded: UnrecordedCalls::from_numbers(unrecorded).unwrap_or_default(),
            twice: Twice::from_numbers(twice).unwrap_or_default(),
            cycles: LifeCycles::from_numbers(cycles).unwrap_or_default(),
        }
    }
}
