//! The result of an alignment: what to add to clocks, and where they were set.

use serde::{Deserialize, Serialize};

use crate::estimate::Estimate;
use retime_causality::edges::Edge;
use retime_model::ClockId;

/// How a clock is tied to the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Relation {
    /// Dependencies go both ways, directly or over other clocks.
    BothWays,
    /// They go one way only: what its offset and what the delay of messages is
    /// cannot be told apart. The fastest are taken to be as fast as any.
    OneWay,
    /// None at all. Several such clocks may be tied to each other.
    Unrelated,
}

/// A clock was set. Stamps are ticks since
/// [`Nodes::base`](retime_causality::Nodes::base).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockStep {
    /// The clock.
    pub clock: ClockId,
    /// It showed this before
    pub after: i64,
    /// and this afterwards.
    pub until: i64,
    /// The ticks that it gained; negative where it was set back.
    pub by: f64,
    /// Other clocks, in order: if one of them had been set at that time instead, dependencies would
    /// be explained as well. Empty where the trace tells which clock it was.
    pub alternatives: Vec<ClockId>,
}

/// Aligned clocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Alignment {
    /// The offsets to be added to each clock to show the time of the reference, or where
    /// that was set the time it would show if it had not been. Clocks
    /// unrelated to it that are tied to each other show one time, which is to that of the reference
    /// as recorded stamps are; for those tied to none there is nothing.
    pub estimate: Estimate,
    /// Per clock: how it is tied to the reference.
    pub relations: Vec<Relation>,
    /// Per clock: the first of those that dependencies tie to it, in either direction and over
    /// whatever others; itself where there are none.
    pub part: Vec<ClockId>,
    /// Dependencies left out because they contradict the clocks that all others show.
    pub outliers: Vec<Edge>,
    /// Where clocks were set during the run.
    pub steps: Vec<ClockStep>,
    /// True if many dependencies both ways do not join all clocks that are tied both ways: between
    /// some there are few, or few back, and what lies between these is wide.
    pub is_loose: bool,
    /// How many straight pieces each offset has.
    pub pieces: usize,
    /// The minimal delay that the aligned trace shows, in ticks; `None` where too
    /// little is known. See [`shortest_latency`](super::shortest_latency).
    pub shortest: Option<f64>,
}
