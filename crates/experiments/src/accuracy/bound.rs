//! Measuring if the truth lies within the stated error bound.

use std::time::Instant;

use retime::pipeline::{DRIFT_BOUND, Solution};

use super::case::Trace;
use crate::simulated::Failure;

/// The stated bound of a correction, and how it holds. Spans are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// Share of events whose true time is inside.
    pub inside: f64,
    /// Mean of the bound over the events that have one.
    pub mean: f64,
    /// Mean of half of its width, below which no method can state any.
    pub half_width: f64,
    /// Share of events that have none, on one side at least.
    pub unbounded: f64,
    /// The time that the search for it took, in seconds.
    pub seconds: f64,
}

impl Bound {
    /// Bounds the errors of a solution that weighed all dependencies; `None` for
    /// others. Clocks wander by at most 100 ppm, as by default.
    pub(super) fn measure(trace: &Trace, solution: &Solution) -> Result<Option<Self>, Failure> {
        let aligned = solution.aligned.as_ref();
        if aligned.is_none_or(|it| it.estimate.is_none()) {
            return Ok(None);
        }
        let mut analysis = trace.analysis.clone();
        analysis.adopt(solution, &())?;
        let start = Instant::now();
        let bounds = analysis.bounds(DRIFT_BOUND, Some(solution), &())?;
        let seconds = start.elapsed().as_secs_f64();
        let Some(bounds) = bounds else {
            return Ok(None);
        };
        let held = bounds.coverage(analysis.causality(), analysis.clocks(), &trace.truth)?;
        let all = bounds.all;
        let events = (all.events + all.unbounded).max(1) as f64;
        Ok(Some(Self {
            inside: held.share(),
            mean: all.mean,
            half_width: all.mean_half_width,
            unbounded: all.unbounded as f64 / events,
            seconds,
        }))
    }
}
