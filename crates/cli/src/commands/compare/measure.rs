//! One method on the trace.

use std::time::Instant;

use retime::causality::check;
use retime::optimal::{ErrorBounds, OffsetBounds, coverage};
use retime::{Correction, Distortion, Edges, Timestamp};

use super::candidate::Candidate;
use super::memory;
use super::model::{AccuracyPart, BoundPart, MethodPart, ResultPart};
use crate::args::CompareArgs;
use crate::commands::check::Analysed;
use crate::error::CliError;
use crate::method::{Method, Solution, Unsolved};

/// The trace, and what is the same for all methods.
pub(super) struct Bench<'a> {
    args: &'a CompareArgs,
    analysed: &'a Analysed,
    offsets: Option<(OffsetBounds, Edges)>,
}

impl<'a> Bench<'a> {
    /// Bounds the offsets of the clocks, if that is wanted.
    pub(super) fn new(args: &'a CompareArgs, analysed: &'a Analysed) -> Self {
        let input = analysed.input(&args.model);
        Self {
            args,
            analysed,
            offsets: args.bounds.offsets(input.timed()),
        }
    }

    /// The share of events whose true time lies within the bounds, if it is known.
    pub(super) fn inside(&self) -> Result<Option<f64>, CliError> {
        let Analysed {
            loaded,
            clocks,
            truth,
            ..
        } = self.analysed;
        let Some(((offsets, _), truth)) = self.offsets.as_ref().zip(truth.as_ref()) else {
            return Ok(None);
        };
        let held = coverage(offsets, &loaded.causality, clocks, truth.times());
        let held = held.map_err(|error| CliError::input(truth.path(), error.to_string()))?;
        Ok(Some(held.share()))
    }

    /// Runs a method, and says what it did or why it has no solution.
    pub(super) fn run(&self, candidate: &Candidate) -> Result<MethodPart, CliError> {
        let part = |reason, result| MethodPart {
            name: candidate.name.clone(),
            options: candidate.options.clone(),
            reason,
            result,
        };
        let loaded = &self.analysed.loaded;
        if candidate.method.is_none() {
            let unchanged = Correction::new(self.analysed.clocks.clone(), Vec::new());
            let stamps = loaded.causality.nodes().timestamps();
            return Ok(part(None, Some(self.of(&unchanged, stamps)?)));
        }
        let method = Method::with_options(&candidate.options, loaded)?;
        let start = Instant::now();
        let (solved, memory) = memory::of(|| method.solve(&self.analysed.input(&self.args.model)));
        let seconds = start.elapsed().as_secs_f64();
        let solved = solved.and_then(|it| Ok((self.stamps(&it.correction)?, it)));
        let (stamps, solution) = match solved {
            Ok(solved) => solved,
            Err(unsolved) => {
                let info = loaded.trace.info();
                let reason = unsolved.describe(info, &self.analysed.clocks);
                return Ok(part(Some(reason), None));
            }
        };
        let result = ResultPart {
            largest_jump_ticks: largest_jump(&solution),
            seconds: Some(seconds),
            memory_bytes: memory,
            ..self.of(&solution.correction, &stamps)?
        };
        Ok(part(None, Some(result)))
    }

    fn stamps(&self, correction: &Correction) -> Result<Vec<Timestamp>, Unsolved> {
        let retimed = self.analysed.loaded.causality.retimed(correction);
        let retimed = retimed.ok_or(Unsolved::TooFar)?;
        Ok(retimed.nodes().timestamps().to_vec())
    }

    /// What can be said of a correction, whatever made it.
    fn of(&self, correction: &Correction, stamps: &[Timestamp]) -> Result<ResultPart, CliError> {
        let Analysed {
            loaded,
            delay,
            truth,
            ..
        } = self.analysed;
        let causality = &loaded.causality;
        let left = check(causality, correction.clocks(), &delay.delay, stamps);
        let distortion = Distortion::measure(causality, stamps);
        let accuracy = truth.as_ref().map(|truth| truth.against(loaded, stamps));
        let accuracy = accuracy.transpose()?;
        Ok(ResultPart {
            reversed: left.reversed(),
            short: left.short(),
            interval_change_mean: distortion.mean,
            interval_change_largest: distortion.largest,
            largest_jump_ticks: None,
            knots: correction.knots(),
            seconds: None,
            memory_bytes: None,
            bound: self.bound(correction),
            accuracy: accuracy.map(|it| AccuracyPart {
                synchronization_ticks: it.synchronization_ticks,
                message_delay_ticks: it.message_delay_ticks,
            }),
        })
    }

    /// How far the times of a correction can be from the truth; nothing for one
    /// that has found other clocks.
    fn bound(&self, correction: &Correction) -> Option<BoundPart> {
        let (offsets, edges) = self.offsets.as_ref()?;
        let clocks = &self.analysed.clocks;
        let nodes = self.analysed.loaded.causality.nodes();
        if correction.clocks() != clocks {
            return None;
        }
        let errors = ErrorBounds::new(offsets, correction, edges, nodes);
        let (all, _) = errors.summary(nodes, clocks);
        (all.events > 0).then_some(BoundPart {
            mean_ticks: all.mean,
            largest_ticks: all.largest,
            mean_half_width_ticks: all.mean_half_width,
            unbounded_events: all.unbounded,
        })
    }
}

/// How far an event was forced ahead of its own clock, where a logical clock ran.
fn largest_jump(solution: &Solution) -> Option<i64> {
    let repaired = solution.repaired.as_ref()?;
    Some(repaired.largest_jump.0)
}
