//! One method on the trace.

use std::time::Instant;

use retime::causality::{Check, check};
use retime::estimate::Offset;
use retime::pipeline::{BoundedOffsets, Bounds, Candidate, Method, Solution};
use retime::{Correction, Distortion, Timestamp};

use super::foreseen::foreseen;
use super::memory;
use super::model::{BoundSummaryPart, ComparedAccuracyPart, ComparedPart, ResultPart};
use crate::analysed::Analysed;
use crate::args::CompareArgs;
use crate::bounds::Switch;
use crate::error::CliError;
use crate::progress::Interrupts;

/// The trace, and what is the same for all methods.
pub(super) struct Bench<'a> {
    analysed: &'a Analysed,
    offsets: Option<BoundedOffsets>,
    drift: f64,
    rate_limit: f64,
}

impl<'a> Bench<'a> {
    /// Bounds the offsets of the clocks, if that is wanted.
    pub(super) fn new(args: &CompareArgs, analysed: &'a Analysed) -> Result<Self, CliError> {
        let wanted = args.bounds.bounds == Switch::On;
        let analysis = &analysed.analysis;
        let offsets = || analysis.bounded_offsets(args.bounds.asked(), &Interrupts);
        Ok(Self {
            analysed,
            offsets: wanted.then(offsets).transpose()?.flatten(),
            drift: args.bounds.drift_bound.0,
            rate_limit: args.limits.max_rate_difference.0,
        })
    }

    /// The drift bound that error bounds rest on.
    pub(super) fn drift_bound(&self) -> f64 {
        let offsets = self.offsets.as_ref();
        offsets.map_or(self.drift, BoundedOffsets::drift)
    }

    /// The share of events whose true time lies within the bounds, if it is known.
    pub(super) fn inside(&self) -> Result<Option<f64>, CliError> {
        let Analysed {
            analysis, truth, ..
        } = self.analysed;
        let both = self.offsets.as_ref().zip(truth.as_ref());
        let share = both.map(|(offsets, truth)| truth.share_inside(offsets, analysis));
        share.transpose()
    }

    /// The recorded times.
    pub(super) fn recorded(&self) -> Result<ComparedPart, CliError> {
        self.unchanged("recorded", "")
    }

    /// A method that has nothing to do, for the trace is sound.
    pub(super) fn left_alone(&self, candidate: &Candidate) -> Result<ComparedPart, CliError> {
        self.unchanged(&candidate.name, &candidate.options)
    }

    /// The recorded times under the name of what leaves them as they are.
    fn unchanged(&self, name: &str, options: &str) -> Result<ComparedPart, CliError> {
        let analysis = &self.analysed.analysis;
        let unchanged = Correction::new(analysis.clocks().clone(), Vec::new());
        let stamps = analysis.causality().nodes().timestamps();
        let mut result = self.of(&unchanged, stamps, self.bounds(&unchanged, None)?.as_ref())?;
        // Corrected ones are in order.
        result.contradictions += analysis.out_of_order();
        Ok(ComparedPart {
            name: name.into(),
            options: options.into(),
            reason: None,
            refused: None,
            foreseen: None,
            result: Some(result),
        })
    }

    /// Runs a method, and says what it did or why it has no solution.
    pub(super) fn run(
        &self,
        candidate: &Candidate,
        method: &Method,
    ) -> Result<ComparedPart, CliError> {
        let part = |reason, result| ComparedPart {
            name: candidate.name.clone(),
            options: candidate.options.clone(),
            reason,
            refused: None,
            foreseen: None,
            result,
        };
        let analysis = &self.analysed.analysis;
        let foreseen = foreseen(analysis, method, self.drift)?;
        let start = Instant::now();
        let (solved, memory) = memory::of(|| analysis.solve(method, &Interrupts));
        let seconds = start.elapsed().as_secs_f64();
        let solution = match solved {
            Ok(solution) => solution,
            Err(unsolved) => {
                let clocks = analysis.clocks();
                let reason = unsolved.reason.describe(analysis.info(), clocks);
                return Ok(part(Some(reason), None));
            }
        };
        let bounds = self.bounds(&solution.correction, solution.common())?;
        let result = ResultPart {
            largest_jump_ticks: largest_jump(&solution),
            seconds: Some(seconds),
            memory_bytes: memory,
            ..self.of(&solution.correction, &solution.times, bounds.as_ref())?
        };
        Ok(ComparedPart {
            refused: self.refused(&solution, bounds.as_ref()),
            foreseen,
            ..part(None, Some(result))
        })
    }

    /// Measures a correction, whatever made it: contradictions, changes, bounds and accuracy.
    fn of(
        &self,
        correction: &Correction,
        stamps: &[Timestamp],
        bounds: Option<&Bounds>,
    ) -> Result<ResultPart, CliError> {
        let Analysed {
            analysis, truth, ..
        } = self.analysed;
        let causality = analysis.causality();
        let delay = &analysis.delay().delay;
        let left: Check = check(causality, correction.clocks(), delay, stamps, &Interrupts)?;
        let distortion = Distortion::measure(causality, stamps, &Interrupts)?;
        let accuracy = truth.as_ref().map(|truth| truth.against(analysis, stamps));
        let accuracy = accuracy.transpose()?;
        Ok(ResultPart {
            reversed: left.violated(),
            short: left.short(),
            contradictions: analysis.contradictions(&left),
            interval_change_mean: distortion.mean,
            interval_change_largest: distortion.largest,
            largest_jump_ticks: None,
            knots: correction.knots(),
            seconds: None,
            memory_bytes: None,
            bound: bounds.and_then(bound_part),
            accuracy: accuracy.map(|it| ComparedAccuracyPart {
                relative_ticks: it.relative_ticks,
                synchronization_ticks: it.synchronization_ticks,
                message_delay_ticks: it.message_delay_ticks,
            }),
        })
    }

    /// Why a solution cannot be right, if it cannot.
    fn refused(&self, solution: &Solution, bounds: Option<&Bounds>) -> Option<String> {
        let analysis = &self.analysed.analysis;
        let refused = analysis.refuse_implausible(solution, bounds, self.rate_limit);
        let reason = refused.err()?;
        Some(reason.describe(analysis.info(), solution.correction.clocks()))
    }

    /// How far the times of a correction can be from the truth, on a time that is ahead of the
    /// reference by `common`, if it is not its own; nothing for one that has found other clocks.
    fn bounds(
        &self,
        correction: &Correction,
        common: Option<&Offset>,
    ) -> Result<Option<Bounds>, CliError> {
        let Some(offsets) = &self.offsets else {
            return Ok(None);
        };
        let analysis = &self.analysed.analysis;
        Ok(analysis.bounds_by(offsets, correction, common, &Interrupts)?)
    }
}

/// Bounds in figures; nothing where no event has a bound.
fn bound_part(bounds: &Bounds) -> Option<BoundSummaryPart> {
    let all = bounds.all;
    (all.events > 0).then_some(BoundSummaryPart {
        mean_ticks: all.mean,
        largest_ticks: all.largest,
        mean_half_width_ticks: all.mean_half_width,
        unbounded_events: all.unbounded,
    })
}

/// How far an event was forced ahead of its own clock, where a logical clock ran.
fn largest_jump(solution: &Solution) -> Option<i64> {
    let repaired = solution.repaired.as_ref()?;
    Some(repaired.largest_jump.0)
}
