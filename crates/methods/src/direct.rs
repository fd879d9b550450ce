//! Every clock against the reference, by the messages between the two.

use rayon::prelude::*;

use crate::clock_line::PairLine;
use crate::clouds::Neighbour;
use crate::line::{clocks, towards};
use retime::edges::{Edges, PairEdges};
use retime::estimate::{Estimate, NoEstimate};
use retime::{ClockId, Monitor};

/// Corrects each clock by the line of its pair with the reference.
pub(crate) fn against_reference(
    edges: &Edges,
    reference: ClockId,
    line: impl Fn(Neighbour<'_>) -> Result<PairLine, NoEstimate> + Sync,
    monitor: &dyn Monitor,
) -> Result<Estimate, NoEstimate> {
    let pairs = edges.pairs(monitor)?;
    let mut with_reference: Vec<Option<&PairEdges>> = vec![None; edges.clocks()];
    for pair in &pairs {
        let clock = Neighbour::of(pair, reference).map(|it| it.clock);
        if let Some(place) = clock.and_then(|it| with_reference.get_mut(it.as_usize())) {
            *place = Some(pair);
        }
    }
    let needed = |&clock: &ClockId| clock != reference && edges.extent(clock).is_some();
    let needed: Vec<ClockId> = clocks(edges).filter(needed).collect();
    let pair = |clock: &ClockId| with_reference[clock.as_usize()];
    let apart = needed.iter().filter(|clock| pair(clock).is_none());
    let apart: Vec<ClockId> = apart.copied().collect();
    if !apart.is_empty() {
        return Err(NoEstimate::NotDirect(apart, reference));
    }
    let found = needed.par_iter().filter_map(|clock| {
        let of = Neighbour::of(pair(clock)?, reference)?;
        Some(line(of).map(|it| (*clock, it.line)))
    });
    let mut lines = vec![None; edges.clocks()];
    // Not into a `Result` at once: which of several errors that gives depends on threads.
    for found in found.collect::<Vec<_>>() {
        let (clock, line) = found?;
        lines[clock.as_usize()] = Some(line);
    }
    Ok(towards(reference, edges, lines))
}
