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
mod examined;
mod implausible;
mod logical_clock;
mod method;
mod registry;
mod shared;
mod solution;
mod unsolved;

pub use analysis::{
    Analysis, AnalysisError, AnalysisOptions, Counts, Measured, Runaway, UsedDelay, Worse,
};
pub use bounds::{BOUND_BUDGET, BoundedOffsets, Bounds, DRIFT_BOUND};
pub use estimator::{Estimator, MeasuredOffsets};
pub use examined::{Examined, UnusedKind, Verdict, families};
pub use implausible::{
    Implausible, MiddleRate, OUTSIDE_SHARE, RATE_DIFFERENCE, RateDifference, middle_rate,
};
pub use logical_clock::{ClockControl, ClockKind, LogicalClock, Repaired};
pub use method::Method;
pub use registry::{Candidate, MethodName, NoSuchMethod, candidates};
pub use shared::Follower;
pub use solution::{Aligned, ClockSet, Enforced, Solution};
pub use unsolved::{NotSolved, Unsolved};

/// How much work the search for the gentlest correction may take, in looks at nodes
/// and arcs of a graph: some 10 s.
const GENTLEST_STEPS: u64 = 1_000_000_000;
