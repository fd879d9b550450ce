//! The messages that an estimate leaves reversed.

use retime::estimate::Estimate;
use retime::{ClockId, Edge, Edges};

/// Messages that arrive before they are sent, under an estimate.
pub fn violated<'a>(
    edges: &'a Edges,
    estimate: &'a Estimate,
) -> impl Iterator<Item = &'a Edge> + use<'a> {
    let corrected = |clock: ClockId, stamp: i64| {
        // Rounding as corrections do, such that a delay of 0 is not negative.
        stamp + estimate.at(clock, stamp).round() as i64
    };
    let backwards =
        move |edge: &&Edge| corrected(edge.to, edge.received) < corrected(edge.from, edge.sent);
    edges.all().iter().filter(backwards)
}
