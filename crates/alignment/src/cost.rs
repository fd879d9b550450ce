//! The costs that the [centre](super::centre) weighs against each other.

use super::barrier::Barrier;

/// The cost of dependencies, and of changes of rates.
#[derive(Clone, Copy)]
pub(super) struct Cost<'a> {
    /// The latency that counts for no slack: the minimal delay.
    pub(super) least: f64,
    /// The cost of little slack.
    pub(super) barrier: Barrier,
    /// And how much of that counts, by link.
    pub(super) weights: &'a [f64],
    /// How many tight dependencies a link has.
    pub(super) tight: usize,
    /// The amount by which rates change from one piece to the next, as a fraction.
    pub(super) sigma: f64,
    /// The amount by which rates of clocks differ, as a fraction,
    pub(super) drift: f64,
    /// and hardly by more than this.
    pub(super) most_drift: f64,
}
