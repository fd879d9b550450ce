//! When exactly a clock was set that is known before and afterwards.
//!
//! Offsets on both sides of a step hold beyond their ends, for as short a time as it takes. So
//! a dependency that is impossible by the offset from before happened
//! after the step, and the other way round:
//!
//! ```text
//!  after    the last stamp with a dependency that the later offset reverses
//!  until    the first with one that the earlier offset reverses
//! ```
//!
//! By a quarter of the step at least: offsets are not exact. A clock that was set back stands
//! still, so one stamp can be both.

use super::Cuts;
use super::parts::Parts;
use crate::edges::{Edge, Listed};
use crate::estimate::Estimate;
use retime_model::ClockId;

/// How far a dependency is reversed that says on which side it is, as a share of the step.
const CLEARLY: f64 = 0.25;

/// Between which stamps clocks were set; `estimate` is that of the parts.
pub(super) fn narrowed(parts: &Parts, estimate: &Estimate, list: &Listed) -> Cuts {
    let none: Cuts = parts
        .cuts()
        .iter()
        .map(|cuts| vec![(i64::MIN, i64::MAX); cuts.len()])
        .collect();
    let mut found = none;
    for edge in list.edges.all() {
        for is_cause in [true, false] {
            if let Some((clock, number, stamp, [before, after])) =
                told(parts, estimate, edge, is_cause)
            {
                let bounds = &mut found[clock.as_usize()][number];
                match (before, after) {
                    (true, false) => bounds.1 = bounds.1.min(stamp),
                    (false, true) => bounds.0 = bounds.0.max(stamp),
                    _ => {}
                }
            }
        }
    }
    let both = parts.cuts().iter().zip(found);
    both.map(|(cuts, found)| cuts.iter().zip(found).map(within).collect())
        .collect()
}

fn within((cut, found): (&(i64, i64), (i64, i64))) -> (i64, i64) {
    let (after, until) = (found.0.max(cut.0), found.1.min(cut.1));
    if after < until {
        return (after, until);
    }
    // All that has one of these stamps may be on either side.
    (
        until.saturating_sub(1).max(cut.0),
        after.saturating_add(1).min(cut.1),
    )
}

/// Where one end of a dependency lies in a step: of which clock, which step of it, at which stamp,
/// and whether the offsets before and after it reverse the dependency.
fn told(
    parts: &Parts,
    estimate: &Estimate,
    edge: &Edge,
    is_cause: bool,
) -> Option<(ClockId, usize, i64, [bool; 2])> {
    let ends = [(edge.from, edge.sent), (edge.to, edge.received)];
    let [own, other] = if is_cause { ends } else { [ends[1], ends[0]] };
    let (number, sides) = parts.around(own.0, own.1)?;
    let part = parts.part(other.0, other.1)?;
    let known = |part: ClockId, stamp: i64| {
        Some(estimate.offsets.get(part.as_usize())?.as_ref()?.at(stamp))
    };
    let theirs = known(part, other.1)?;
    let [before, after] = sides.map(|part| known(part, own.1));
    let (before, after) = (before?, after?);
    let sign = if is_cause { -1.0 } else { 1.0 };
    let clearly = -CLEARLY * (after - before).abs();
    let is_reversed = |own: f64| edge.latency() as f64 + sign * (own - theirs) < clearly;
    Some((
        own.0,
        number,
        own.1,
        [is_reversed(before), is_reversed(after)],
    ))
}
