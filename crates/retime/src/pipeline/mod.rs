//! The whole job: from what locations did to times without contradictions.
//!
//! ```text
//!  TraceInfo, LocationLogs --> Analysis   joined, clocks grouped, recorded times checked
//!  Method                  --> Solution   a correction, its times, and what is left
//!                          --> Bounds     how far these times can be from the truth
//! ```
//!
//! Whoever reads a trace, by whatever format, hands its logs to
//! [`Analysis::new`], chooses a [`Method`] (the [default](MethodName::Auto) suits
//! most), and gets a [`Solution`] that was checked before it was returned. All methods are
//! found by name in one [registry](MethodName).

mod analysis;
mod bounds;
mod composition;
mod estimator;
mod logical_clock;
mod method;
mod registry;
mod solution;
mod unsolved;

pub use analysis::{Analysis, AnalysisError, AnalysisOptions, Runaway, UsedDelay, Worse};
pub use bounds::{BoundedOffsets, Bounds, DRIFT_BOUND};
pub use estimator::{Estimator, MeasuredOffsets};
pub use logical_clock::{ClockControl, ClockKind, LogicalClock, Repaired};
pub use method::Method;
pub use registry::{Candidate, MethodName, NoSuchMethod, candidates};
pub use solution::{Aligned, ClockSet, Enforced, Solution};
pub use unsolved::{NotSolved, Unsolved};

use std::time::Duration;

/// How long the search for the gentlest correction may take.
const GENTLEST_BUDGET: Duration = Duration::from_secs(10);
