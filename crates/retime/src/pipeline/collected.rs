//! The maps of all clocks in the first part of a trace.

use super::unsolved::Unsolved;
use retime_causality::merge::All;
use retime_causality::{NeedsWhole, Nodes};
use retime_model::{Cancelled, ClockId};
use retime_model::{ClockMap, Correction, Knot, Step};

/// A map as it is sent.
type SentMap = (ClockId, Vec<Knot>, Vec<Step>);

/// The correction with the maps of all clocks, for the first part of a trace, where it is
/// written down. The others keep what they have, and know the maps of their own clocks.
pub(super) fn collected(correction: Correction, nodes: &Nodes) -> Result<Correction, Unsolved> {
    let whole = nodes.whole();
    let Some(rest) = whole.rest() else {
        return Ok(correction);
    };
    let clocks = correction.clocks().clone();
    let sent = |clock: ClockId| -> SentMap {
        let map = correction.map(clock);
        (clock, map.knots().to_vec(), map.steps().to_vec())
    };
    let own = clocks.iter().filter(|it| nodes.has_clock(&clocks, *it));
    let own = if rest.is_first() {
        Vec::new()
    } else {
        postcard::to_allocvec(&own.map(sent).collect::<Vec<_>>()).map_err(|_| Cancelled)?
    };
    let mut maps: Vec<ClockMap> = clocks.iter().map(|it| correction.map(it).clone()).collect();
    let mut fit = true;
    for sent in rest.gather(own) {
        let sent: Result<Vec<SentMap>, _> = postcard::from_bytes(&sent);
        fit &= sent.is_ok();
        for (clock, knots, steps) in sent.into_iter().flatten() {
            match (maps.get_mut(clock.as_usize()), ClockMap::new(knots, steps)) {
                (Some(map), Ok(sent)) => *map = sent,
                _ => fit = false,
            }
        }
    }
    if !whole.all_reduce(All(fit)).0 {
        whole.give_up(NeedsWhole::TooFar);
    }
    Ok(Correction::new(clocks, maps).keeping(correction.distance().clone()))
}
