//! The correction that changes local intervals as little as can be, as a method.

use super::GENTLEST_STEPS;
use super::estimator::{Estimator, Input};
use super::options::Options;
use super::unsolved::Unsolved;
use retime_bounds::gentlest;
use retime_clocks::estimate::Estimate;

/// The least possible change of local intervals, by [`gentlest`].
#[derive(Clone, Copy, Debug)]
pub struct GentlestCorrection;

impl Estimator for GentlestCorrection {
    fn name(&self) -> &'static str {
        "gentlest"
    }

    fn help(&self) -> &'static str {
        "The correction that changes local intervals as little as can be"
    }

    fn describe(&self, _: &Options) -> &'static str {
        "gentlest correction"
    }

    fn estimate(&self, input: &Input<'_>) -> Result<Estimate, Unsolved> {
        let monitor = input.problem.monitor;
        let found = gentlest(input.edges, input.least(), GENTLEST_STEPS, monitor)?;
        Ok(found.estimate(input.reference)?)
    }
}
