//! Clocks numbered by their owners.

use std::hash::Hash;

use retime_model::Clocks;

/// The clocks of locations, which share one if they have the same owner; `refuted` counts
/// the groups that should have shared a clock and were split.
pub(super) fn numbered<O: Copy + Eq + Hash>(owners: &[O], refuted: usize) -> Clocks {
    Clocks::from_owners(owners).0.with_refuted(refuted)
}
