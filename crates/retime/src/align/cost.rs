//! The costs that the [centre](super::centre) weighs against each other.

use super::barrier::Barrier;

/// How the latencies of a link count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LinkCost {
    /// The latency that counts for no slack.
    pub(super) least: f64,
    /// The share of the cost of little slack that counts.
    pub(super) weight: f64,
}

/// The cost of dependencies, and of changes of rates.
#[derive(Clone, Copy)]
pub(super) struct Cost<'a> {
    /// The cost of little slack.
    pub(super) barrier: Barrier,
    /// The slack of each link, and how much of its cost counts.
    pub(super) links: &'a [LinkCost],
    /// How many tight dependencies a link has.
    pub(super) tight: usize,
    /// The amount by which rates change from one piece to the next, as a fraction.
    pub(super) sigma: f64,
    /// The amount by which rates of clocks differ, as a fraction.
    pub(super) drift: f64,
}
