//! Where parts of a trace are put that no dependency joins.
//!
//! Nothing tells how the clocks of such a part differ from those of another, so that whatever is added
//! to all clocks of a part fits its dependencies as well. There are the recorded times: each clock is
//! off by an error of its own, and what clocks of a part have in common is the less, the more of them it
//! is taken from. So parts stay to each other where they were recorded, in the median of their clocks,
//! and a clock that is far off all others drags nobody along.
//!
//! With `z_p(t)` what a clock `p` shows at the common time `t` less that time, in the middle `m` of a
//! part and on average from its first to its last event, the time as recorded of part `P` is
//!
//! ```text
//! R_P(t) = t + median z_p(m) + (t - m) median z'_p        over the p of P that were not set
//! ```
//!
//! and a time `t` of a part `P` becomes `R_Q^-1(R_P(t) + s)` with the part `Q` of the reference, whose
//! own times stay. Lines do, since a median moment by moment would bend where it goes from clock to
//! clock. A clock without dependencies on others is left alone.
//!
//! **Two clocks** far apart have no median that means anything. But the processes of a program begin
//! together and end together, to within a skew `d` that clocks of one part show among themselves, and
//! both ends of two parts to each other. If recorded times are known to within `V`, the median
//! distances of clocks from those of their part, and ends would be together with the shift `e`,
//!
//! ```text
//! s = e V^2 / (V^2 + d^2)        but no more than V
//! ```
//!
//! the mean of both, each weighted as if it were off by a normal error. Where clocks of a part agree by
//! more than they begin together, which is the rule for three and more, that is next to nothing; and
//! parts that ran one after the other are shifted no further than their clocks are off.

use super::Alignment;
use super::components::components;
use retime_clocks::estimate::Offset;
use retime_model::ClockId;
use retime_numerics::median::median;

/// The first and the last stamp of a clock.
type Extent = Option<(i64, i64)>;

impl Alignment {
    /// This alignment with parts that nothing joins to the reference where they were recorded.
    pub(super) fn with_parts_as_recorded(mut self, extent: impl Fn(ClockId) -> Extent) -> Self {
        let Some(&own) = self.part.get(self.estimate.reference.as_usize()) else {
            return self;
        };
        let mut parts = self.part.clone();
        parts.sort_unstable();
        parts.dedup();
        let common = self.recorded_time(own, &extent);
        let Some((common, from_recorded)) = common.and_then(|it| Some((it, it.ahead().inverse()?)))
        else {
            return self;
        };
        for part in parts.into_iter().filter(|it| *it != own) {
            if let Some(recorded) = self.recorded_time(part, &extent) {
                let shift = recorded.shift_to(&common);
                self.move_part(part, &recorded.shifted(shift).ahead(), &from_recorded);
            }
        }
        self
    }

    /// The clocks of a part that is more than a clock, and their offsets.
    fn related(&self, part: ClockId) -> impl Iterator<Item = (ClockId, &Offset)> {
        let clocks = (0..).map(ClockId).zip(&self.part);
        let clocks = clocks.zip(&self.estimate.offsets);
        clocks.filter_map(move |((clock, own), offset)| {
            (*own == part).then_some((clock, offset.as_ref()?))
        })
    }

    /// The time as recorded of a part; `None` where no clock of it shows any.
    fn recorded_time(
        &self,
        part: ClockId,
        extent: &impl Fn(ClockId) -> Extent,
    ) -> Option<RecordedTime> {
        let is_steady = |clock: ClockId| self.steps.iter().all(|step| step.clock != clock);
        let with_events = self.related(part);
        let with_events: Vec<(ClockId, &Offset, (i64, i64))> = with_events
            .filter_map(|(clock, offset)| Some((clock, offset, extent(clock)?)))
            .collect();
        let any_is_steady = with_events.iter().any(|it| is_steady(it.0));
        let counted = with_events.iter();
        let counted = counted.filter(|it| is_steady(it.0) || !any_is_steady);
        RecordedTime::of(counted.map(|&(_, offset, extent)| (offset, extent)))
    }

    /// Changes the common time of all clocks of a part, by one function after the other.
    fn move_part(&mut self, part: ClockId, first: &Offset, second: &Offset) {
        let moved = self.related(part).map(|(clock, offset)| {
            let moved = offset.onto(first)?;
            Some((clock, moved.onto(second)?))
        });
        // All or none: the clocks of a part agree with each other.
        let moved: Option<Vec<(ClockId, Offset)>> = moved.collect();
        for (clock, offset) in moved.into_iter().flatten() {
            self.estimate.offsets[clock.as_usize()] = Some(offset);
        }
    }
}

/// The time of a part as its clocks recorded it, as a line over its common time.
#[derive(Clone, Copy)]
struct RecordedTime {
    /// The common time of its first event
    first: i64,
    /// and of its last.
    last: i64,
    /// The ticks by which it is ahead of the common time in the middle between both,
    ahead: f64,
    /// and those that it gains from the first to the last.
    gain: f64,
    /// The median distance of a clock from it.
    within: f64,
    /// The ticks from the first event to where clocks begin on average, and from there to the last
    /// to end.
    begin: f64,
    end: f64,
    /// The largest difference of two clocks in when they begin or end.
    skew: f64,
}

impl RecordedTime {
    /// The recorded time of clocks with these offsets to the common time, and these extents.
    fn of<'a>(clocks: impl Iterator<Item = (&'a Offset, (i64, i64))> + Clone) -> Option<Self> {
        let ends = clocks
            .clone()
            .map(|(offset, (first, last))| (offset.common_time(first), offset.common_time(last)));
        let (begins, ends): (Vec<i64>, Vec<i64>) = ends.unzip();
        let (first, last) = (*begins.iter().min()?, *ends.iter().max()?);
        let ahead = clocks.filter_map(|(offset, _)| {
            let ahead = offset.inverse()?;
            Some((ahead.at(first), ahead.at(last)))
        });
        let (mut middles, mut gains): (Vec<f64>, Vec<f64>) = ahead
            .map(|(first, last)| (f64::midpoint(first, last), last - first))
            .unzip();
        let ahead = median(&mut middles)?;
        let mut distances: Vec<f64> = middles.iter().map(|it| (it - ahead).abs()).collect();
        let late: Vec<f64> = begins
            .iter()
            .map(|it| it.saturating_sub(first) as f64)
            .collect();
        let early: Vec<f64> = ends
            .iter()
            .map(|it| last.saturating_sub(*it) as f64)
            .collect();
        let most = |of: &[f64]| of.iter().copied().fold(0.0, f64::max);
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        Some(Self {
            first,
            last,
            ahead,
            gain: median(&mut gains)?,
            within: median(&mut distances)?,
            begin: mean(&late),
            end: mean(&early),
            skew: most(&late).max(most(&early)),
        })
    }

    /// The ticks by which it is ahead of the common time.
    fn ahead(&self) -> Offset {
        let at = |part: f64| self.ahead + part * self.gain;
        Offset::line((self.first, at(-0.5)), (self.last, at(0.5)))
    }

    fn shifted(self, by: f64) -> Self {
        let ahead = self.ahead + by;
        Self { ahead, ..self }
    }

    /// The ticks by which a part has to be shifted against where it was recorded beside another.
    fn shift_to(&self, other: &Self) -> f64 {
        let between = |own: i64, others: i64| others.saturating_sub(own) as f64;
        let recorded = other.ahead - self.ahead;
        let begins = between(self.first, other.first) + (other.begin - self.begin) + recorded;
        let ends = between(self.last, other.last) - (other.end - self.end) + recorded;
        let skew = self.skew.max(other.skew).max((begins - ends).abs());
        let within = self.within + other.within;
        let weights = within.powi(2) + skew.powi(2);
        if weights <= 0.0 {
            return 0.0;
        }
        let shift = f64::midpoint(begins, ends) * within.powi(2) / weights;
        shift.clamp(-within, within)
    }
}

/// Per clock the first of those that are tied to it, over whatever others, by pairs of clocks.
pub(super) fn joined(clocks: usize, pairs: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
    let mut both: Vec<(usize, usize)> = pairs.flat_map(|(a, b)| [(a, b), (b, a)]).collect();
    both.sort_unstable();
    both.dedup();
    components(clocks, &both)
}

#[cfg(test)]
mod tests {
    use crate::{Alignment, Relation, align_edges};
    use retime_causality::edges::{Edge, Edges};
    use retime_model::{ClockId, TickRate};

    const RUN: i64 = 1_000_000_000;

    /// Clocks of which those that stand in one group exchange messages for a second; each is ahead
    /// by a constant and by a rate. The first shows the common time. The clocks of a group begin and
    /// end by so much one after the other.
    fn aligned(groups: &[&[usize]], ahead: &[(i64, f64)], skew: i64) -> Alignment {
        let shown = |clock: usize, time: i64| {
            let (offset, rate) = ahead[clock];
            time + offset + (rate * time as f64) as i64
        };
        let mut edges = Vec::new();
        for group in groups {
            for (from, to) in group
                .iter()
                .flat_map(|a| group.iter().map(move |b| (*a, *b)))
            {
                let turns = (0..400).filter(|_| from != to);
                edges.extend(turns.map(|turn| {
                    let sent = RUN / 400 * turn + 1_000 * from as i64;
                    let delay = 2_000 + 7_919 * (turn + from as i64) % 500;
                    let received = shown(to, sent + delay);
                    Edge::message(
                        ClockId(from as u32),
                        shown(from, sent),
                        ClockId(to as u32),
                        received,
                    )
                }));
            }
        }
        let ends = |clock: usize| [clock % 3, (clock + 1) % 3].map(|it| it as i64 * skew);
        let extent = |clock| {
            let [early, late] = ends(clock);
            Some((shown(clock, -early), shown(clock, RUN + late)))
        };
        let edges = Edges::new(edges, (0..ahead.len()).map(extent).collect());
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        align_edges(&edges, rate, ClockId(0), &()).unwrap()
    }

    /// The times that clocks get early and late in the run less the true ones, in microseconds.
    fn errors(found: &Alignment, ahead: &[(i64, f64)]) -> Vec<[f64; 2]> {
        let error = |clock: usize, time: i64| {
            let (offset, rate) = ahead[clock];
            let shown = offset + (rate * time as f64) as i64;
            let offset = found.estimate.offsets[clock].as_ref();
            (shown as f64 + offset.map_or(0.0, |it| it.at(time + shown))) / 1_000.0
        };
        (0..ahead.len())
            .map(|clock| [error(clock, 0), error(clock, RUN)])
            .collect()
    }

    #[test]
    fn parts_stay_to_each_other_where_most_of_their_clocks_were_recorded() {
        // In each part one clock is off by 30 ms, and by 40 ppm; in one of them the first.
        let far = (30_000_000, 4e-5);
        let ahead = [
            (0, 0.0),
            (90_000, 3e-6),
            far,
            far,
            (60_000, 1e-6),
            (120_000, 5e-6),
        ];
        let found = aligned(&[&[0, 1, 2], &[3, 4, 5]], &ahead, 20_000_000);
        assert_eq!(
            found.relations[2..4],
            [Relation::BothWays, Relation::Unrelated]
        );
        assert_eq!(found.part, [0, 0, 0, 3, 3, 3].map(ClockId));
        let errors = errors(&found, &ahead);
        let near = |clock: usize, [early, late]: [f64; 2]| {
            let [is_early, is_late] = errors[clock];
            let off = (is_early - early).abs().max((is_late - late).abs());
            assert!(off < 2.0, "{clock}: {errors:?}");
        };
        for clock in 0..3 {
            near(clock, [0.0, 0.0]);
        }
        // The middle of the three is ahead by 120 us and 5 ppm, that of the first part by 90 and 3.
        for clock in 3..6 {
            near(clock, [120.0 - 90.0, 120.0 - 90.0 + 2.0]);
        }
    }

    #[test]
    fn of_two_clocks_that_is_right_by_which_parts_begin_together() {
        let ahead = [(0, 0.0), (50_000, 0.0), (80_000, 0.0), (30_000_000, 0.0)];
        for which in 0..4 {
            let mut ahead = ahead;
            ahead.swap(which, 3);
            let found = aligned(&[&[0, 1], &[2, 3]], &ahead, 0);
            let errors = errors(&found, &ahead);
            // One process is not late by more than some hundred microseconds.
            for clock in 0..4 {
                let off = errors[clock][0] - errors[0][0];
                assert!(off.abs() < 200.0, "{which}: {errors:?}");
            }
        }
    }

    #[test]
    fn a_reference_that_is_far_off_takes_other_parts_along() {
        let ahead = [
            (0, 0.0),
            (30_000_000, 0.0),
            (30_000_000, 0.0),
            (30_000_000, 0.0),
        ];
        let ahead = [
            &ahead[..],
            &[(30_050_000, 0.0), (29_950_000, 0.0), (7_000, 0.0)],
        ]
        .concat();
        let found = aligned(&[&[0, 1, 2, 3], &[4, 5]], &ahead, 20_000_000);
        let errors = errors(&found, &ahead);
        for clock in 0..6 {
            assert!(errors[clock][0].abs() < 2.0, "{errors:?}");
        }
        // Without dependencies a clock is left alone.
        assert_eq!(found.estimate.offsets[6], None);
    }
}
