//! Where a clock that was set back stood still, around the instant at which it seems to have been set.
//!
//! Events of a [standstill](Standstill) are on neither side of a step. By the offset from before they
//! are too early, and the more the later they are; by the one from afterwards they are too late:
//!
//! ```text
//!               instant
//!  wrong by        |          left: by the offset from before
//!               /| |\         right: by the one from afterwards
//!             /  | |  \       both at the instant: by what the clock lost
//!  ---------/----|-|----\---------
//!           |  core  |        wrong by more than noise is
//!           | standstill |
//! ```
//!
//! So wherever the instant is taken to be within, some are wrong by a good part of what the clock lost. These
//! are the core, and what follows them as closely belongs to them.

use super::parts::{Cuts, Parts};
use retime_causality::edges::ListedEdges;
use retime_clocks::Standstill;
use retime_clocks::estimate::Estimate;
use retime_model::ClockId;
use std::collections::BTreeMap;

/// The share of what a clock lost from which on an event is wrong by more than noise.
const SHOWS: f64 = 0.125;

/// Steps between these stamps, each widened to both sides of the stamps at which its clock stood still;
/// `estimate` is that of their parts.
pub(super) fn with_standstills(cuts: Cuts, estimate: &Estimate, list: &ListedEdges) -> Cuts {
    let Some(parts) = Parts::new(cuts.clone()) else {
        return cuts;
    };
    let mut steps = SetBack::all(&parts, estimate);
    if steps.is_empty() {
        return cuts;
    }
    for edge in list.edges.all() {
        let ends = [(edge.to, edge.received), (edge.from, edge.sent)];
        let later = |part, stamp: i64, side: i32| {
            let add = estimate.offsets.get(ClockId::as_usize(part))?.as_ref()?;
            Some(f64::from(side) * (add.at(stamp) + stamp as f64 - edge.sent as f64))
        };
        for (own, other, side) in [(ends[0], ends[1], 1), (ends[1], ends[0], -1)] {
            let near = steps.iter_mut().filter(|it| it.is_near(own.0, own.1));
            for step in near {
                let others = parts.part(other.0, other.1);
                let others = others.and_then(|part| later(part, other.1, -side));
                let [before, behind] = step.sides.map(|part| later(part, own.1, side));
                if let (Some(others), Some(before), Some(behind)) = (others, before, behind) {
                    step.add(own.1, [before, behind].map(|own| (-own - others).max(0.0)));
                }
            }
        }
    }
    let mut widened = cuts.clone();
    for step in &steps {
        if let Some((first, last)) = step.standstill() {
            let (after, until) = step.within;
            let cut = &mut widened[step.clock.as_usize()][step.number];
            *cut = (
                first.saturating_sub(1).max(after).min(cut.0),
                last.saturating_add(1).min(until).max(cut.1),
            );
        }
    }
    let is_apart = |cuts: &Vec<(i64, i64)>| cuts.windows(2).all(|it| it[0].1 <= it[1].0);
    let each = widened.into_iter().zip(cuts);
    each.map(|(wide, cuts)| if is_apart(&wide) { wide } else { cuts })
        .collect()
}

/// The most ticks by which a dependency of a stamp is reversed more before a step than behind it, and the
/// other way round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Misfit {
    before: f64,
    behind: f64,
}

/// A step of a clock that was set back.
struct SetBack {
    clock: ClockId,
    /// Its number among the steps of the clock.
    number: usize,
    cut: (i64, i64),
    /// From the step before to the next one.
    within: (i64, i64),
    /// The parts of the clock before and behind it.
    sides: [ClockId; 2],
    /// The ticks that the clock lost.
    lost: f64,
    /// The misfit of each stamp, of those at which the clock can have stood still.
    misfits: BTreeMap<i64, Misfit>,
}

impl SetBack {
    /// All steps back of parts that are known.
    fn all(parts: &Parts, estimate: &Estimate) -> Vec<Self> {
        let clocks = (0..).map(ClockId).zip(parts.cuts());
        let steps = clocks.flat_map(|(clock, cuts)| {
            cuts.iter().enumerate().filter_map(move |(number, &cut)| {
                let before = number.checked_sub(1).map_or(i64::MIN, |it| cuts[it].1);
                let next = cuts.get(number + 1).map_or(i64::MAX, |it| it.0);
                let (_, sides) = parts.around(clock, cut.0.max(before.saturating_add(1)))?;
                let add = |part: ClockId| {
                    let offset = estimate.offsets.get(part.as_usize())?.as_ref()?;
                    Some(offset.at(cut.1))
                };
                let lost = add(sides[1])? - add(sides[0])?;
                (lost > 0.0).then_some(Self {
                    clock,
                    number,
                    cut,
                    within: (before, next),
                    sides,
                    lost,
                    misfits: BTreeMap::new(),
                })
            })
        });
        steps.collect()
    }

    /// True if a stamp can be one of the standstill.
    fn is_near(&self, clock: ClockId, stamp: i64) -> bool {
        let still = Standstill::of_core(self.lost, &[]);
        let (after, until) = self.within;
        let near = if stamp <= self.cut.0 {
            self.cut.0
        } else {
            self.cut.1.min(stamp)
        };
        clock == self.clock
            && after < stamp
            && stamp < until
            && still.can_show(stamp.abs_diff(near))
    }

    /// Adds a dependency of a stamp, by the ticks by which it is reversed before the step and behind it.
    fn add(&mut self, stamp: i64, [before, behind]: [f64; 2]) {
        let misfit = self.misfits.entry(stamp).or_default();
        misfit.before = misfit.before.max(before - behind);
        misfit.behind = misfit.behind.max(behind - before);
    }

    /// The first and the last stamp at which the clock stood still; `None` if it did not, or at one alone.
    fn standstill(&self) -> Option<(i64, i64)> {
        let (after, until) = self.cut;
        let wrong = self.misfits.iter().map(|(&at, it)| {
            let before = if at < until { it.before } else { 0.0 };
            let behind = if at > after { it.behind } else { 0.0 };
            before.max(behind)
        });
        let wrong: Vec<f64> = wrong.collect();
        let most = wrong.iter().copied().fold(0.0, f64::max);
        let is_clear = most >= SHOWS * self.lost;
        let least = if is_clear {
            SHOWS * self.lost
        } else {
            // Stamps that follow each other by ticks tell by themselves.
            most
        };
        let shows = |it: &f64| *it > 0.0 && *it >= least;
        let first = wrong.iter().position(shows)?;
        let last = wrong.iter().rposition(shows).filter(|_| is_clear);
        let last = last.unwrap_or(first);
        let stamps: Vec<i64> = self.misfits.keys().copied().collect();
        let still = Standstill::of_core(self.lost, &stamps[first..=last]);
        if !still.can_show(stamps[last].abs_diff(stamps[first])) {
            return None;
        }
        let (first, last) = still.grown(&stamps, first..=last).into_inner();
        (first < last).then(|| (stamps[first], stamps[last]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime_causality::edges::{Edge, Edges};
    use retime_clocks::estimate::Offset;

    const LOST: i64 = 10_000;
    const B: ClockId = ClockId(1);

    /// Messages of so many ticks each way in turn, one every 200, of a clock that is set back by 10,000 at
    /// 50,000, and shows `creep` ticks more at each event at least; the step is taken to be between two stamps.
    fn widened(takes: i64, creep: i64, cut: impl Fn(&[i64]) -> (i64, i64)) -> (i64, i64) {
        let a = ClockId(0);
        let (mut shown, mut stamps) = (0, Vec::new());
        let edges = (0..400).map(|event| {
            let time = 200 * event;
            let is_set = time > 50_000;
            shown = (time - if is_set { LOST } else { 0 }).max(shown + creep);
            stamps.push(shown);
            match event % 2 {
                0 => Edge::message(a, time - takes, B, shown),
                _ => Edge::message(B, shown, a, time + takes),
            }
        });
        let edges = edges.collect();
        let extents = vec![Some((-takes, 80_000 + takes)), Some((0, shown))];
        let list = ListedEdges {
            edges: Edges::new(edges, extents),
            granularities: vec![1; 2],
        };
        let add = |by: i64| Some(Offset::constant(by as f64));
        let estimate = Estimate {
            offsets: vec![add(0), add(0), add(LOST)],
            reference: a,
        };
        let cuts = vec![vec![], vec![cut(&stamps)]];
        with_standstills(cuts, &estimate, &list)[1][0]
    }

    /// The last stamp before is the 250th; by 160 less each event catches up in 62.
    #[test]
    fn a_clock_stood_still_wherever_the_instant_is_taken_to_be_meanwhile() {
        for place in [252, 270, 305] {
            let found = widened(200, 40, |stamps| (stamps[place], stamps[place + 1]));
            assert_eq!(found, (49_999, 52_481), "{place}");
        }
    }

    /// Messages that take long contradict little of it.
    #[test]
    fn stamps_that_follow_each_other_by_a_tick_tell_by_themselves() {
        let near_the_end = |stamps: &[i64]| (stamps[299], stamps[300]);
        assert_eq!(widened(9_000, 1, near_the_end), (49_999, 50_051));
        let cut = widened(9_000, 40, near_the_end);
        assert_eq!(cut, (51_960, 52_000));
    }

    #[test]
    fn a_clock_that_does_not_creep_is_left_as_it_is() {
        let found = widened(200, 0, |stamps| (stamps[250] - 1, stamps[251] + 1));
        assert_eq!(found, (49_999, 50_001));
    }

    /// As far as noise, a clock that shows half of what it lost, and one that was set forward.
    #[test]
    fn what_is_no_standstill_is_left_as_it_is() {
        let fits = Misfit::default();
        let wrong = |before, behind| Misfit { before, behind };
        let step = |lost: f64, misfits: &[(i64, Misfit)]| SetBack {
            clock: B,
            number: 0,
            cut: (3_000, 4_000),
            within: (i64::MIN, i64::MAX),
            sides: [B, ClockId(2)],
            lost,
            misfits: misfits.iter().copied().collect(),
        };
        let noise = [
            (100, wrong(300.0, 0.0)),
            (2_000, fits),
            (4_100, wrong(0.0, 4_000.0)),
        ];
        assert_eq!(step(10_000.0, &noise).standstill(), None);
        let far = [(100, wrong(6_000.0, 0.0)), (5_200, wrong(0.0, 6_000.0))];
        assert_eq!(step(10_000.0, &far).standstill(), None);
        assert_eq!(step(12_000.0, &far).standstill(), Some((100, 5_200)));
        // Each on the side on which it fits.
        let apart = [(100, wrong(0.0, 9_000.0)), (5_200, wrong(9_000.0, 0.0))];
        assert_eq!(step(12_000.0, &apart).standstill(), None);
    }
}
