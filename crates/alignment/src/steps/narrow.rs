//! When exactly a clock was set that is known before and afterwards.
//!
//! A clock is set in an instant, and does nothing unusual until then. So of the dependencies
//! between two stamps between which it was set, all up to some stamp go by the offset from before,
//! and all others by the one from afterwards; both hold beyond their ends for as short a time as it
//! takes. The instant is where the least is reversed:
//!
//! ```text
//! min over k of  sum over stamps up to k of what the earlier offset reverses
//!              + sum over the others of what the later offset reverses
//! ```
//!
//! Where several are as good, it is somewhere between them. A clock that was set back stands
//! still, so that what has one stamp may be on either side; one that was set forward shows no stamp
//! between what it showed before and afterwards, so that its time never runs backwards.
//!
//! No such instant exists for a clock that gained by itself, in a long time, what is taken for a step
//! of it: any choice reverses dependencies.

use super::parts::{Cuts, Parts};
use retime_causality::edges::{Edge, ListedEdges};
use retime_clocks::estimate::Estimate;
use retime_model::ClockId;

/// An end of a dependency while its clock may have been set.
#[derive(Clone, Copy)]
struct OpenEnd {
    clock: ClockId,
    /// Which step of the clock,
    number: usize,
    stamp: i64,
    /// and by how much the offsets before and after it reverse the dependency.
    reversed: [f64; 2],
}

/// Between which stamps clocks were set, within the steps of `parts`; `estimate` is that of parts
/// of the same numbers.
pub(super) fn narrowed(parts: &Parts, estimate: &Estimate, list: &ListedEdges) -> Cuts {
    let edges = list.edges.all().iter();
    let ends =
        edges.flat_map(|edge| [true, false].map(|is_cause| end(parts, estimate, edge, is_cause)));
    let mut ends: Vec<OpenEnd> = ends.flatten().collect();
    ends.sort_by_key(|it| (it.clock, it.number, it.stamp));
    let mut cuts: Cuts = parts.cuts().to_vec();
    for ends in ends.chunk_by(|a, b| (a.clock, a.number) == (b.clock, b.number)) {
        let OpenEnd {
            clock,
            number,
            stamp,
            ..
        } = ends[0];
        let Some((_, sides)) = parts.around(clock, stamp) else {
            continue;
        };
        let common = |part: ClockId, stamp: i64| {
            let offset = estimate.offsets.get(part.as_usize())?.as_ref()?;
            Some(stamp as f64 + offset.at(stamp))
        };
        let advances = |(after, until): (i64, i64)| {
            let ends = common(sides[0], after).zip(common(sides[1], until));
            ends.is_none_or(|(after, until)| after <= until)
        };
        let cut = &mut cuts[clock.as_usize()][number];
        *cut = instant(*cut, ends, advances);
    }
    cuts
}

/// Where the least is reversed, of ends in order of their stamps within `cut`, and time advances; all
/// of `cut` where it does nowhere.
fn instant(cut: (i64, i64), ends: &[OpenEnd], advances: impl Fn((i64, i64)) -> bool) -> (i64, i64) {
    let stamps: Vec<Stamp> = ends
        .chunk_by(|a, b| a.stamp == b.stamp)
        .map(Stamp::of)
        .collect();
    let mut sum: f64 = stamps.iter().map(|it| it.reversed[1]).sum();
    let before = |place: usize| place.checked_sub(1).map_or(cut.0, |it| stamps[it].at);
    let behind = |place: usize| stamps.get(place).map_or(cut.1, |it| it.at);
    let first = (cut.0, behind(0));
    let mut best = if advances(first) {
        (sum, first)
    } else {
        (f64::INFINITY, cut)
    };
    for (place, stamp) in stamps.iter().enumerate() {
        let [earlier, later] = stamp.reversed;
        let divided = sum - later + stamp.either;
        let around = (
            stamp.at.saturating_sub(1).max(cut.0),
            stamp.at.saturating_add(1).min(cut.1),
        );
        if stamp.either < earlier.min(later) && divided < best.0 && advances(around) {
            best = (divided, around);
        }
        sum += earlier - later;
        let between = (before(place + 1), behind(place + 1));
        if sum <= best.0 && advances(between) {
            best = if sum < best.0 {
                (sum, between)
            } else {
                (sum, (best.1.0, between.1))
            };
        }
    }
    best.1
}

/// All ends that have one stamp.
struct Stamp {
    at: i64,
    reversed: [f64; 2],
    /// If each is on the side that suits it.
    either: f64,
}

impl Stamp {
    fn of(ends: &[OpenEnd]) -> Self {
        let sum = |of: fn(&OpenEnd) -> f64| ends.iter().map(of).sum();
        Self {
            at: ends[0].stamp,
            reversed: [sum(|it| it.reversed[0]), sum(|it| it.reversed[1])],
            either: sum(|it| it.reversed[0].min(it.reversed[1])),
        }
    }
}

/// One end of a dependency, if it lies in a step.
fn end(parts: &Parts, estimate: &Estimate, edge: &Edge, is_cause: bool) -> Option<OpenEnd> {
    let ends = [(edge.from, edge.sent), (edge.to, edge.received)];
    let [own, other] = if is_cause { ends } else { [ends[1], ends[0]] };
    let (number, sides) = parts.around(own.0, own.1)?;
    let part = parts.part(other.0, other.1)?;
    let known = |part: ClockId, stamp: i64| {
        Some(estimate.offsets.get(part.as_usize())?.as_ref()?.at(stamp))
    };
    let theirs = known(part, other.1)?;
    let [before, after] = sides.map(|part| known(part, own.1));
    let sign = if is_cause { -1.0 } else { 1.0 };
    let reversed = |own: f64| (-(edge.latency() as f64 + sign * (own - theirs))).max(0.0);
    Some(OpenEnd {
        clock: own.0,
        number,
        stamp: own.1,
        reversed: [reversed(before?), reversed(after?)],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(stamp: i64, earlier: f64, later: f64) -> OpenEnd {
        OpenEnd {
            clock: ClockId(0),
            number: 0,
            stamp,
            reversed: [earlier, later],
        }
    }

    #[test]
    fn a_clock_was_set_where_the_least_is_reversed() {
        let ends = [
            end(10, 0.0, 5.0),
            end(20, 0.0, 0.0),
            end(30, 0.0, 3.0),
            end(40, 0.0, 0.0),
            end(50, 7.0, 0.0),
        ];
        // The message of 40 may be on either side.
        let anywhere = |_| true;
        assert_eq!(instant((0, 60), &ends, anywhere), (30, 50));
        // It was set forward by 11: not between two stamps that are 10 apart.
        let forward = |(after, until): (i64, i64)| until - after >= 11;
        assert_eq!(instant((0, 60), &ends[..3], forward), (30, 60));
        assert_eq!(instant((0, 60), &ends[2..], forward), (0, 30));
        // Whoever stands still shows one stamp before and afterwards.
        let stands = [
            end(10, 0.0, 5.0),
            end(20, 0.0, 5.0),
            end(20, 5.0, 0.0),
            end(30, 5.0, 0.0),
        ];
        assert_eq!(instant((0, 60), &stands, anywhere), (19, 21));
        assert_eq!(instant((0, 60), &[], anywhere), (0, 60));
    }
}
