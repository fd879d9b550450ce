//! Between which stamps a clock can have been set, as far as bounds tell.
//!
//! An alignment says between which two stamps a clock was set where the least is reversed. That is the
//! likeliest place, and no proof: events of the clock next to it may be on the other side of the step, as
//! long as no dependency of theirs contradicts it. A clock that was set back by 16 ms while it computed can
//! enter a barrier, 16 ms too early as it seems, without anybody leaving it before:
//!
//! ```text
//! other clock     enters                              leaves
//! set by -16 ms            | computes |  enters  sends       receives
//!                          ^ was set here                 ^ least is reversed here
//! ```
//!
//! The premises of bounds must be true. So a step is taken to be anywhere up to the first dependency on either
//! side that *does* contradict it. Let `o` be the ticks that an estimate adds to the clock behind the step, `C` an
//! earlier stamp of it, and `S` that of a cause, to which the estimate adds `p`. Bounds leave the one open
//! over `w`, carried on from behind the step, and the other over `v`. Then the clock was not yet set at `C`
//! where
//!
//! ```text
//! (C + o) - (S + p) < -(w + v)
//! ```
//!
//! and mirrored for an effect, and for stamps behind the step. Bounds themselves would say more, but for what is
//! on the wrong side of the step, which makes them too narrow to one end.
//!
//! Steps no larger than what bounds leave open next to them contradict hardly anything anywhere: they stay
//! where the alignment put them. So do those that nothing contradicts on one side, and those of clocks that
//! show one stamp time and again, since they stand still there: that is where they were set.

use crate::offset_bounds::{ClockBounds, OffsetBounds};
use rayon::prelude::*;
use retime_causality::edges::{Edge, Source};
use retime_clocks::estimate::{Estimate, Offset};
use retime_model::{Cancelled, ClockId, Monitor};

/// The steps of an estimate, each between the nearest stamps on either side that prove on which side of it
/// they are, by these bounds, which are those of the estimate. Fails only if `monitor` says to give up.
pub fn with_step_places(
    source: &dyn Source,
    known: &Estimate,
    bounds: &OffsetBounds,
    monitor: &dyn Monitor,
) -> Result<Estimate, Cancelled> {
    let mut steps: Vec<OpenStep<'_>> = (0..)
        .map(ClockId)
        .zip(&known.offsets)
        .filter_map(|(clock, offset)| Some((clock, offset.as_ref()?)))
        .flat_map(|(clock, offset)| OpenStep::all(clock, offset, source, bounds))
        .collect();
    if steps.is_empty() {
        return Ok(known.clone());
    }
    let look = |mut found: Vec<Proven>, part: usize| {
        monitor.check()?;
        source.walk(part, &mut |edge| {
            for (step, proven) in steps.iter().zip(&mut found) {
                step.look(&edge, known, bounds, proven);
            }
        });
        Ok(found)
    };
    let nothing = || steps.iter().map(|it| it.open).collect::<Vec<_>>();
    // Least and greatest come to the same in any order.
    let both = |mut all: Vec<Proven>, more: Vec<Proven>| {
        for (all, more) in all.iter_mut().zip(more) {
            all.after = all.after.max(more.after);
            all.until = all.until.min(more.until);
            all.is_heard_within |= more.is_heard_within;
        }
        Ok(all)
    };
    let parts = (0..source.parts()).into_par_iter();
    let found = parts.try_fold(nothing, look).try_reduce(nothing, both)?;
    let as_known: Vec<(i64, i64)> = steps.iter().map(|it| it.cut).collect();
    for (step, proven) in steps.iter_mut().zip(found) {
        step.take(proven);
    }
    keep_apart(&mut steps, &as_known);
    let mut all = known.clone();
    for (clock, offset) in (0..).map(ClockId).zip(&mut all.offsets) {
        let own = steps.iter().filter(|it| it.clock == clock);
        let cuts: Vec<(i64, i64)> = own.map(|it| it.cut).collect();
        if let Some(offset) = offset.as_mut().filter(|_| !cuts.is_empty()) {
            *offset = std::mem::take(offset).with_steps(&cuts);
        }
    }
    Ok(all)
}

/// Leaves two steps of a clock next to each other where they are known, if both can have been in between.
fn keep_apart(steps: &mut [OpenStep<'_>], as_known: &[(i64, i64)]) {
    for next in 1..steps.len() {
        let (before, behind) = steps.split_at_mut(next);
        if let (Some(one), Some(other)) = (before.last_mut(), behind.first_mut())
            && one.clock == other.clock
            && one.cut.1 >= other.cut.0
        {
            one.cut.1 = as_known[next - 1].1;
            other.cut.0 = as_known[next].0;
        }
    }
}

/// The last stamp that was before a step for certain, and the first behind it.
#[derive(Clone, Copy)]
struct Proven {
    after: i64,
    until: i64,
    /// Dependencies of the clock are in between: it stands still there since it was set back, or they are
    /// left to both sides already.
    is_heard_within: bool,
}

/// A step that may have been elsewhere.
struct OpenStep<'a> {
    clock: ClockId,
    bounds: &'a ClockBounds,
    /// Between these stamps, as it is known.
    cut: (i64, i64),
    /// The stamps between which it is if no dependency tells: from the step before to the next one.
    open: Proven,
}

impl<'a> OpenStep<'a> {
    /// The steps of a clock that bounds know.
    fn all(
        clock: ClockId,
        offset: &Offset,
        source: &dyn Source,
        bounds: &'a OffsetBounds,
    ) -> Vec<Self> {
        let own = bounds.clocks.get(clock.as_usize()).and_then(Option::as_ref);
        let (Some(own), Some((first, last))) = (own, source.extent(clock)) else {
            return Vec::new();
        };
        let cuts = offset.steps();
        let step = |(number, &cut): (usize, &(i64, i64))| {
            let (after, until) = cut;
            let before = number.checked_sub(1).map_or(first, |it| cuts[it].1);
            let next = cuts.get(number + 1).map_or(last, |it| it.0);
            let by = (offset.at(after) - offset.at(until)).abs();
            let shows = |at: i64| {
                let (low, high) = own.at(at);
                by > high - low
            };
            // Where bounds behind it are wider, earlier stamps may be on either side.
            let after_is_open = shows(until) && before < after;
            let until_is_open = shows(after) && until < next;
            Self {
                clock,
                bounds: own,
                cut,
                open: Proven {
                    after: if after_is_open { before } else { after },
                    until: if until_is_open { next } else { until },
                    is_heard_within: false,
                },
            }
        };
        cuts.iter().enumerate().map(step).collect()
    }

    /// Takes what dependencies prove together. Where nothing contradicts the step on one side, however far from
    /// where it is known, they prove nothing there.
    fn take(&mut self, proven: Proven) {
        if proven.is_heard_within {
            return;
        }
        if proven.after > self.open.after {
            self.cut.0 = proven.after;
        }
        if proven.until < self.open.until {
            self.cut.1 = proven.until;
        }
    }

    /// Takes what a dependency proves.
    fn look(&self, edge: &Edge, known: &Estimate, bounds: &OffsetBounds, proven: &mut Proven) {
        let cause = (edge.from, edge.sent);
        let effect = (edge.to, edge.received);
        for (own, other, sign) in [(effect, cause, 1.0), (cause, effect, -1.0)] {
            let (clock, stamp) = own;
            let (after, until) = self.cut;
            proven.is_heard_within |= clock == self.clock && after < stamp && stamp < until;
            let is_before = stamp <= after && stamp > proven.after;
            let is_behind = stamp >= until && stamp < proven.until;
            if clock != self.clock || !(is_before || is_behind) {
                continue;
            }
            let across = if is_before { until } else { after };
            let Some((later, open)) = self.later(across, stamp, other, known, bounds) else {
                continue;
            };
            if sign * later < -open {
                if is_before {
                    proven.after = stamp;
                } else {
                    proven.until = stamp;
                }
            }
        }
    }

    /// The ticks by which a stamp of the clock is later than that of another one if it was on the side of
    /// the step that `across` is on, and how far that is open; `None` where nothing bounds it.
    fn later(
        &self,
        across: i64,
        stamp: i64,
        (other, others): (ClockId, i64),
        known: &Estimate,
        bounds: &OffsetBounds,
    ) -> Option<(f64, f64)> {
        let (low, high) = self.bounds.carried(across, stamp);
        let of_other = bounds.clocks.get(other.as_usize())?.as_ref()?;
        let (least, most) = of_other.at(others);
        let own = known.at(self.clock, across) + self.bounds.drifts(across, stamp);
        let later = stamp.saturating_sub(others) as f64 + own - known.at(other, others);
        let open = (high - low) + (most - least);
        open.is_finite().then_some((later, open))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BoundOptions, offset_bounds};
    use retime_causality::edges::Edges;

    const STEP: i64 = 16_000;

    /// Messages of 60 ticks both ways between two clocks, of which the second is set back by 16,000 at 500,000
    /// and sends nothing and receives nothing for 100,000 before; for 50,000 afterwards it only sends.
    fn edges() -> Edges {
        let (a, b) = (ClockId(0), ClockId(1));
        let shown = |time: i64| if time < 500_000 { time } else { time - STEP };
        let mut all = Vec::new();
        for time in (0..1_000_000).step_by(5_000) {
            let is_still = (400_000..500_000).contains(&time);
            if !is_still {
                all.push(Edge::message(b, shown(time), a, time + 60));
            }
            if !is_still && !(500_000..550_000).contains(&time) {
                all.push(Edge::message(a, time + 1_000, b, shown(time + 1_060)));
            }
        }
        Edges::new(all, vec![Some((0, 1_000_000)), Some((0, shown(1_000_000)))])
    }

    /// The clock as known, with the step between these stamps.
    fn known(after: i64, until: i64) -> Estimate {
        let step = Offset::through(vec![(after, 0.0), (until, STEP as f64)]);
        Estimate {
            offsets: vec![
                Some(Offset::constant(0.0)),
                Some(step.with_steps(&[(after, until)])),
            ],
            reference: ClockId(0),
        }
    }

    /// The first message that is received behind the step proves that it was before, and the last one that
    /// is sent before it that it was not yet.
    #[test]
    fn a_step_is_anywhere_up_to_what_contradicts_it() {
        let edges = edges();
        // As if it had been while the clock only sent, and before.
        for (after, until) in [(520_000 - STEP, 525_000 - STEP), (396_060, 500_000 - STEP)] {
            let known = known(after, until);
            let options = BoundOptions::default();
            let bounds = offset_bounds(&edges, |_| 0, &known, &options, &()).unwrap();
            let found = with_step_places(&edges, &known, &bounds, &()).unwrap();
            let steps = found.offsets[1].as_ref().unwrap().steps();
            assert_eq!(steps, [(395_000, 551_060 - STEP)]);
        }
    }

    /// Between two steps back a clock sends at first and receives later: the one can have been until it receives,
    /// and the other since it sent last.
    #[test]
    fn two_steps_that_can_change_places_stay_apart() {
        let (a, b) = (ClockId(0), ClockId(1));
        let shown = |time: i64| match time {
            ..500_000 => time,
            500_000..600_000 => time - STEP,
            _ => time - 2 * STEP,
        };
        let mut all = Vec::new();
        for time in (0..1_000_000).step_by(5_000) {
            if !(550_000..600_000).contains(&time) {
                all.push(Edge::message(b, shown(time), a, time + 60));
            }
            if !(500_000..550_000).contains(&time) {
                all.push(Edge::message(a, time - 60, b, shown(time)));
            }
        }
        let extents = vec![Some((-60, 1_000_000)), Some((0, shown(1_000_000)))];
        let edges = Edges::new(all, extents);
        let cuts = [500_000, 600_000].map(|it| (shown(it - 5_000), shown(it)));
        let added = [0.0, STEP as f64, STEP as f64, 2.0 * STEP as f64];
        let knots = cuts.iter().flat_map(|it| [it.0, it.1]).zip(added);
        let set = Offset::through(knots.collect()).with_steps(&cuts);
        let known = Estimate {
            offsets: vec![Some(Offset::constant(0.0)), Some(set)],
            reference: a,
        };
        let bounds = offset_bounds(&edges, |_| 0, &known, &BoundOptions::default(), &()).unwrap();
        let found = with_step_places(&edges, &known, &bounds, &()).unwrap();
        let steps = found.offsets[1].as_ref().unwrap().steps();
        assert_eq!((steps[0].1, steps[1].0), (cuts[0].1, cuts[1].0));
    }

    /// Nothing is sent or received any more that says that the clock was not set later, and nothing would be
    /// bounded if it was.
    #[test]
    fn a_step_that_nothing_contradicts_on_one_side_stays_there() {
        let edges = edges();
        let quiet = 540_000 - STEP;
        let (b, known) = (ClockId(1), known(520_000 - STEP, 525_000 - STEP));
        let early = |edge: &&Edge| edge.to != b || edge.received < quiet;
        let all = edges.all().iter().filter(early).copied().collect();
        let extents = (0..2).map(|it| edges.extent(ClockId(it))).collect();
        let edges = Edges::new(all, extents);
        let bounds = offset_bounds(&edges, |_| 0, &known, &BoundOptions::default(), &()).unwrap();
        let found = with_step_places(&edges, &known, &bounds, &()).unwrap();
        assert_eq!(found, known);
    }

    /// A step of 50 ticks is as likely at any other of these messages.
    #[test]
    fn a_small_step_stays_where_it_is() {
        let (a, b) = (ClockId(0), ClockId(1));
        let both = |time: i64| {
            [
                Edge::message(a, time, b, time + 60),
                Edge::message(b, time + 100, a, time + 160),
            ]
        };
        let all = (0..100).flat_map(|round| both(1_000 * round)).collect();
        let edges = Edges::new(all, vec![Some((0, 100_000)); 2]);
        let step = Offset::through(vec![(50_060, 0.0), (50_100, 50.0)]);
        let known = Estimate {
            offsets: vec![
                Some(Offset::constant(0.0)),
                Some(step.with_steps(&[(50_060, 50_100)])),
            ],
            reference: a,
        };
        let bounds = offset_bounds(&edges, |_| 0, &known, &BoundOptions::default(), &()).unwrap();
        let found = with_step_places(&edges, &known, &bounds, &()).unwrap();
        assert_eq!(found, known);
    }
}
