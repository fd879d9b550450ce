//! The middle of the error bounds, as a method.

use super::base::lines;
use super::drift_bound::bound_options;
use super::estimator::{Estimator, Input};
use super::options::{Choice, Options};
use super::unsolved::Unsolved;
use retime_bounds::{BoundOptions, midpoint, offset_bounds};
use retime_clocks::estimate::Estimate;

/// The middle of what clocks that wander within a bound leave open, by [`midpoint`].
#[derive(Clone, Copy, Debug)]
pub struct MiddleOfBounds;

impl Estimator for MiddleOfBounds {
    fn name(&self) -> &'static str {
        "optimal"
    }

    fn help(&self) -> &'static str {
        "The middle of what clocks that wander within --drift-bound leave open"
    }

    fn describe(&self, _: &Options) -> &'static str {
        "middle of the error bounds"
    }

    fn choices(&self) -> &'static [Choice] {
        &[Choice::Drift]
    }

    fn estimate(&self, input: &Input<'_>) -> Result<Estimate, Unsolved> {
        let problem = input.problem;
        let (clocks, monitor) = (problem.clocks, problem.monitor);
        let rate = problem.info.rate;
        let base = lines(problem.causality, clocks, rate, input.reference, monitor)?;
        // By the lines, whatever else they could be: the middle is wanted.
        let options = BoundOptions {
            most_difference: 0.0,
            ..bound_options(input.options.drift)
        };
        let bounds = offset_bounds(input.edges, input.least(), &base, &options, monitor)?;
        Ok(midpoint(&bounds))
    }
}
