//! The steps of an analysis that parts of a trace take together.
//!
//! Each part has an analysis of its own, and all take the same steps. One of them is called for
//! what is wanted, as if the trace were in one place; it announces each step before it takes
//! it, and the others follow:
//!
//! ```text
//!  first part    solve   adopt   bounds        what a command asks for
//!                  |       |       |     Step
//!  other part    solve   adopt   bounds
//! ```
//!
//! Whatever needs the trace in one piece, or fails in one part, ends the step in all of them.

use serde::{Deserialize, Serialize};

use super::drift_bound::BoundSearch;
use super::logical_clock::LogicalClock;
use super::method::Method;
use retime_clocks::estimate::Reference;

/// A step of an analysis, as the first part announces it to the others.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Step {
    /// [`Analysis::solve`](super::Analysis::solve).
    Solve(SharedMethod),
    /// [`Analysis::adopt`](super::Analysis::adopt).
    Adopt,
    /// [`Analysis::bounds_within`](super::Analysis::bounds_within); true for the times of the
    /// solution.
    Bounds(BoundSearch, bool),
    /// [`Analysis::least_distortion`](super::Analysis::least_distortion); true for the times of
    /// the solution.
    LeastDistortion(bool),
    /// [`Analysis::outside`](super::Analysis::outside).
    Outside,
    /// [`Analysis::rises`](super::Analysis::rises).
    Rises,
    /// [`Analysis::measure`](super::Analysis::measure).
    Measure,
    /// [`Analysis::stragglers`](super::Analysis::stragglers); true for the times of the
    /// solution, and with bounds.
    Stragglers(bool, bool),
}

/// A method that parts of a trace can run together: one by which each clock has to know of
/// others only what arrives from them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SharedMethod(SharedAlgorithm);

#[derive(Clone, Debug, Serialize, Deserialize)]
enum SharedAlgorithm {
    Auto(Reference),
    Clock(LogicalClock),
}

impl SharedMethod {
    /// `None` for a method that needs the whole trace.
    pub(super) fn of(method: &Method) -> Option<Self> {
        if method.is_auto() {
            return Some(Self(SharedAlgorithm::Auto(method.options().reference)));
        }
        let clock = method.clock_alone()?;
        (!clock.sees_all_clocks()).then_some(Self(SharedAlgorithm::Clock(clock)))
    }

    /// The method with its options.
    pub fn method(self) -> Method {
        match self.0 {
            SharedAlgorithm::Auto(reference) => Method::default().by(reference),
            SharedAlgorithm::Clock(clock) => Method::clock(clock),
        }
    }
}

impl Method {
    /// True if parts of a trace can run it together.
    pub fn can_be_shared(&self) -> bool {
        SharedMethod::of(self).is_some()
    }
}
