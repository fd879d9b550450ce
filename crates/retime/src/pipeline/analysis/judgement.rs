//! The effects of a solution on a trace, and how far from the truth it can be.

use std::borrow::Cow;

use super::super::bounds::{BoundedOffsets, Bounds, Timed};
use super::super::drift_bound::BoundSearch;
use super::super::implausible::Implausible;
use super::super::solution::Solution;
use super::super::step::Step;
use super::Analysis;
use crate::distortion::{Distortion, final_advance};
use crate::limiting::{LimitingSend, limiting_send};
use retime_bounds::{ClockErrorBound, ErrorBounds, ErrorKnot, LeastDistortion, Outside};
use retime_causality::MinimalDelay;
use retime_causality::{Check, check};
use retime_clocks::estimate::Offset;
use retime_model::Correction;
use retime_model::{Cancelled, ClockId, Clocks, Monitor, Ticks};
use retime_stragglers::Stragglers;

/// A result contradicts more dependencies than the recording does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{after} dependencies would be {}, where the recording has {before}", self.what())]
pub struct Worse {
    /// The number as recorded.
    pub before: u64,
    /// In the result.
    pub after: u64,
    /// True if those are counted, too, that are faster than the minimal delay.
    pub with_faster: bool,
}

impl Worse {
    /// In a word or two, how many are what.
    pub fn what(&self) -> &'static str {
        if self.with_faster {
            "reversed or faster than the minimal delay"
        } else {
            "reversed"
        }
    }
}

/// The clocks by which begins are compared, and how far they can be from the truth.
#[derive(Clone, Debug)]
pub struct JudgedBy<'a> {
    /// The clocks: what reads one is off alike.
    pub clocks: Cow<'a, Clocks>,
    /// The bounds of their errors, if these are known.
    pub errors: Option<Cow<'a, ErrorBounds>>,
}

/// Who came last in operations, and whom that held up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CameLast {
    /// The processes as bounds of errors let them be told, for certain.
    pub certain: Stragglers,
    /// Waits that are certain if times are as near to the truth as [ends](crate::EndsEvidence) of
    /// operations make likely; `None` where these tell nothing.
    pub likely: Option<Stragglers>,
}

/// The effects of a solution on a trace.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The changes of intervals between events.
    pub distortion: Distortion,
    /// The send that kept the most distorted of them from being spread further, if that is known.
    pub limited_by: Option<LimitingSend>,
    /// How far each clock is ahead of its recorded time at its last event with an edge.
    pub advance: Vec<Option<Ticks>>,
}

/// All clocks ended further ahead than they ever disagreed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runaway {
    /// How far ahead of its recorded time each clock ended, at least.
    pub ahead: Ticks,
    /// How far they ever disagreed.
    pub disagreed: Ticks,
}

/// The ticks by which the worst dependency between clocks is reversed.
fn worst_reversed(check: &Check) -> u64 {
    let reversed = check.pairs.values().map(|pair| pair.smallest.0);
    reversed.min().unwrap_or(0).min(0).unsigned_abs()
}

/// How far the times of a solution are likely to be from the truth, as [ends](crate::EndsEvidence) of
/// operations tell, where they tell anything.
fn likely_errors(solution: &Solution) -> Option<ErrorBounds> {
    let aligned = solution.aligned.as_ref()?;
    let told = &aligned.ends.as_ref()?.likely;
    let of_clock = |(clock, likely): (u32, &Option<f64>)| {
        let own = (aligned.reference == Some(ClockId(clock))).then_some(0.0);
        let likely = likely.or(own)?;
        let knot = ErrorKnot(0, Some(likely), Some(likely));
        Some(ClockErrorBound::through(vec![knot]))
    };
    let errors = ErrorBounds {
        clocks: (0..).zip(told).map(of_clock).collect(),
    };
    let is_told = told.iter().any(Option::is_some);
    is_told.then(|| errors.widened(worst_reversed(&solution.left) as f64 / 2.0))
}

impl Analysis {
    /// Refuses times that contradict more than the recorded ones do.
    pub fn refuse_worse(&self, after: &Check) -> Result<(), Worse> {
        let (before, after) = (
            self.contradictions(&self.recorded),
            self.contradictions(after),
        );
        if after > before {
            return Err(Worse {
                before,
                after,
                with_faster: self.delay.is_given(),
            });
        }
        Ok(())
    }

    /// Refuses a solution that cannot be right: rates of clocks that differ by more than
    /// `limit`, a share, or more than a few events further outside of the bounds than
    /// any is as recorded, if there are bounds.
    pub fn refuse_implausible(
        &self,
        solution: &Solution,
        bounds: Option<&Bounds>,
        limit: f64,
    ) -> Result<(), Implausible> {
        if let Some(difference) = solution.rate_difference() {
            difference.refuse(limit)?;
        }
        let outside = bounds.map(|it| self.outside(solution, it));
        outside.map_or(Ok(()), Implausible::refuse_outside)
    }

    /// How many events a solution puts further outside of the bounds than any is as
    /// recorded, by more than the bounds leave open anyway.
    pub fn outside(&self, solution: &Solution, bounds: &Bounds) -> Outside {
        self.causality.whole().announce(&Step::Outside);
        bounds.outside(solution, self.causality.nodes())
    }

    /// The check of the times of a solution that counts events: whether it rises at all.
    /// Fails only if `monitor` says to give up.
    pub fn rises(&self, solution: &Solution, monitor: &dyn Monitor) -> Result<Check, Cancelled> {
        let whole = self.causality.whole();
        whole.announce(&Step::Rises);
        let tick = MinimalDelay::Uniform(Ticks(1));
        let found = check(
            &self.causality,
            &self.clocks,
            &tick,
            &solution.times,
            monitor,
        );
        whole.agreed(found, |_| true)
    }

    /// Measures what a solution does to the intervals between events, and to clocks. Fails only if
    /// `monitor` says to give up.
    pub fn measure(
        &self,
        solution: &Solution,
        monitor: &dyn Monitor,
    ) -> Result<Measured, Cancelled> {
        let whole = self.causality.whole();
        whole.announce(&Step::Measure);
        whole.agreed(self.measure_alone(solution, monitor), |_| true)
    }

    fn measure_alone(
        &self,
        solution: &Solution,
        monitor: &dyn Monitor,
    ) -> Result<Measured, Cancelled> {
        let (causality, clocks, after) = (&self.causality, &self.clocks, &solution.times);
        let distortion = Distortion::measure(causality, after, monitor)?;
        let repaired = solution.repaired.as_ref();
        let before = repaired.and_then(|it| it.times.as_ref());
        let limit = |(place, before)| {
            limiting_send(causality, clocks, &self.delay.delay, before, after, place)
        };
        Ok(Measured {
            limited_by: distortion.largest_at.zip(before).and_then(limit),
            distortion,
            advance: final_advance(causality, clocks, after),
        })
    }

    /// True if the times of a solution, or else the recorded ones, contradict each other, so that nothing
    /// they say of who came last is to be believed. How much a solution leaves reversed between clocks
    /// counts as not known.
    pub fn are_contradictory(&self, solution: Option<&Solution>) -> bool {
        match solution {
            None => self.recorded.violated() > 0,
            Some(solution) => solution.left.violated_within_clock() > 0,
        }
    }

    /// Who came last in collective operations, by the times of a solution, or else the recorded
    /// ones, and how far these can be from the truth; by times that are
    /// [contradictory](Self::are_contradictory) only how many operations there are. Fails only if
    /// `monitor` says to give up, or parts of the trace do not work together any more.
    pub fn stragglers(
        &self,
        solution: Option<&Solution>,
        bounds: Option<&Bounds>,
        monitor: &dyn Monitor,
    ) -> Result<CameLast, Cancelled> {
        let (causality, whole) = (&self.causality, self.causality.whole());
        whole.announce(&Step::Stragglers(solution.is_some(), bounds.is_some()));
        if self.are_contradictory(solution) {
            let counted = Stragglers::counted(causality, &self.info, &self.clocks, monitor);
            return Ok(CameLast {
                certain: whole.agreed(counted, |_| true)?,
                likely: None,
            });
        }
        let times = solution.map_or(causality.nodes().timestamps(), |it| &it.times);
        let JudgedBy { clocks, errors } = self.judged_by(solution, bounds);
        let find = |errors: Option<&ErrorBounds>| {
            let found = Stragglers::find(causality, &self.info, &clocks, times, errors, monitor);
            whole.agreed(found, |_| true)
        };
        let certain = find(errors.as_deref())?;
        let likely = errors.and_then(|_| likely_errors(solution?));
        Ok(CameLast {
            certain,
            likely: likely.map(|it| find(Some(&it))).transpose()?,
        })
    }

    /// The clocks by which the begins of locations are compared, and how far these can be from the
    /// truth. Where locations of one clock contradict each other it is not one, and nothing is
    /// known of how far they differ. Where a solution leaves dependencies between clocks
    /// reversed, two clocks are off by as much as the worst of them besides.
    pub fn judged_by<'a>(
        &'a self,
        solution: Option<&Solution>,
        bounds: Option<&'a Bounds>,
    ) -> JudgedBy<'a> {
        let check = solution.map_or(&self.recorded, |it| &it.left);
        if check.violated_within_clock() > 0 {
            return JudgedBy {
                clocks: Cow::Owned(Clocks::each_location(self.info.locations.len())),
                errors: None,
            };
        }
        let errors = bounds.map(|it| match worst_reversed(check) {
            0 => Cow::Borrowed(&it.errors),
            worst => Cow::Owned(it.errors.widened(worst as f64 / 2.0)),
        });
        JudgedBy {
            clocks: Cow::Borrowed(&self.clocks),
            errors,
        }
    }

    /// Tells if time ran away under a logical clock: the fastest clock has no reason to
    /// be ahead of itself at the end, unless the minimal delay is too large or rates
    /// differ by more than gamma allows. `advance` is that of each clock, as
    /// [`final_advance`](crate::final_advance) finds it.
    pub fn runaway(&self, advance: &[Option<Ticks>]) -> Option<Runaway> {
        let ahead = *advance.iter().flatten().min()?;
        let violated = self.recorded.pairs.values().map(|pair| -pair.smallest.0);
        let disagreed = Ticks(violated.max().unwrap_or(0).max(1));
        (ahead > disagreed).then_some(Runaway { ahead, disagreed })
    }

    fn timed<'a>(&'a self, solution: Option<&'a Solution>, monitor: &'a dyn Monitor) -> Timed<'a> {
        Timed {
            rate: self.info.rate,
            causality: &self.causality,
            clocks: &self.clocks,
            info: &self.info,
            aligned: solution.and_then(|it| it.aligned.as_ref()),
            differ: &self.differ,
            monitor,
        }
    }

    /// How far the times of a solution, or else the recorded ones, can be from the
    /// truth, for clocks that wander by at most `drift`; `None` where nothing
    /// relates any of them. Fails only if `monitor` says to give up.
    pub fn bounds(
        &self,
        drift: f64,
        solution: Option<&Solution>,
        monitor: &dyn Monitor,
    ) -> Result<Option<Bounds>, Cancelled> {
        self.bounds_within(BoundSearch::with_drift(drift), solution, monitor)
    }

    /// The [bounds](Self::bounds), by searches of so many steps at most.
    pub fn bounds_within(
        &self,
        search: BoundSearch,
        solution: Option<&Solution>,
        monitor: &dyn Monitor,
    ) -> Result<Option<Bounds>, Cancelled> {
        let whole = self.causality.whole();
        whole.announce(&Step::Bounds(search, solution.is_some()));
        whole.agreed(self.bounds_alone(search, solution, monitor), |_| true)
    }

    fn bounds_alone(
        &self,
        search: BoundSearch,
        solution: Option<&Solution>,
        monitor: &dyn Monitor,
    ) -> Result<Option<Bounds>, Cancelled> {
        let offsets = self.timed(solution, monitor).offsets(search)?;
        let (causality, clocks) = (&self.causality, &self.clocks);
        let recorded = || Correction::new(self.clocks.clone(), Vec::new());
        let bounds = |offsets| match solution {
            Some(solution) => {
                let common = solution.common();
                Bounds::new(
                    offsets,
                    &solution.correction,
                    common,
                    causality,
                    clocks,
                    monitor,
                )
            }
            None => Bounds::new(offsets, &recorded(), None, causality, clocks, monitor),
        };
        offsets.map(bounds).transpose()
    }

    /// The bounds of clock offsets, to bound the errors of several corrections by.
    /// Searches take so many steps at most. Fails only if `monitor` says to give up.
    pub fn bounded_offsets(
        &self,
        search: BoundSearch,
        monitor: &dyn Monitor,
    ) -> Result<Option<BoundedOffsets>, Cancelled> {
        self.timed(None, monitor).offsets(search)
    }

    /// How far the times of a correction can be from the truth, on a time that is ahead of the
    /// reference by `common`, if it is not its own; `None` for one that has found other clocks. Fails
    /// only if `monitor` says to give up.
    pub fn bounds_by(
        &self,
        known: &BoundedOffsets,
        correction: &Correction,
        common: Option<&Offset>,
        monitor: &dyn Monitor,
    ) -> Result<Option<Bounds>, Cancelled> {
        let (causality, clocks) = (&self.causality, &self.clocks);
        let same = correction.clocks() == &self.clocks;
        let bounds = || {
            Bounds::new(
                known.clone(),
                correction,
                common,
                causality,
                clocks,
                monitor,
            )
        };
        same.then(bounds).transpose()
    }

    /// Finds how little local intervals have to change at least, and the dependencies that say so;
    /// by the times of a solution, if there is one. Fails only if `monitor` says to give up.
    pub fn least_distortion(
        &self,
        solution: Option<&Solution>,
        monitor: &dyn Monitor,
    ) -> Result<Option<LeastDistortion>, Cancelled> {
        let whole = self.causality.whole();
        whole.announce(&Step::LeastDistortion(solution.is_some()));
        let found = self
            .timed(solution, monitor)
            .least_distortion(&self.delay.delay);
        whole.agreed(found, |_| true)
    }
}
