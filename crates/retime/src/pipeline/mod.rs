//! The whole job: from what locations did to times without contradictions.
//!
//! ```text
//!  TraceInfo, LocationLogs --> Analysis   joined, clocks grouped, recorded times checked
//!  Method                  --> Solution   a correction, its times, and what is left
//!                          --> Bounds     how far these times can be from the truth
//! ```
//!
//! Whoever reads a trace, by whatever format, hands its logs to
//! [`Analysis::new`], chooses a [`Method`] ([`Auto`], the default, suits most), and gets a
//! [`Solution`] that was checked before it was returned.
//!
//! A method is a type: an [`Algorithm`], or an [`Estimator`], which is one by that. Here
//! are those that the default and the bounds rest on; the crate `retime-methods` has
//! those of the papers, and the table of all.

mod algorithm;
mod alone;
mod analysis;
mod auto;
mod base;
mod bounds;
mod candidates;
mod collected;
mod common_time;
mod composition;
mod contradicted;
mod drift_bound;
mod estimator;
mod examined;
mod gentlest;
mod implausible;
mod logical_clock;
mod method;
mod middle;
mod options;
mod problem;
mod related;
mod solution;
mod step;
mod twice;
mod unsolved;
mod used_delay;
mod violated;

pub use algorithm::{Algorithm, Variant};
pub use analysis::{
    Analysis, AnalysisError, AnalysisOptions, CameLast, Counts, JudgedBy, Measured, Runaway, Worse,
};
pub use auto::Auto;
pub use bounds::{BoundedOffsets, Bounds, StepsShow};
pub use candidates::{Candidate, candidates};
pub use drift_bound::{BOUND_BUDGET, BoundSearch, DRIFT_BOUND, SLEWED_DRIFT_BOUND};
pub use estimator::{Estimator, Input};
pub use examined::{Examined, UnusedKind, Verdict, families};
pub use gentlest::GentlestCorrection;
pub use implausible::{
    Implausible, MiddleRate, OUTSIDE_SHARE, RATE_DIFFERENCE, RateDifference, middle_rate,
};
pub use logical_clock::{ClockControl, ClockKind, LogicalClock};
pub use method::Method;
pub use middle::MiddleOfBounds;
pub use options::{Choice, IntervalNumber, MeasuredOffset, MeasuredOffsets, Options, PairMethod};
pub use problem::{Found, Problem};
pub use related::related_clocks;
pub use solution::{Aligned, ClockRateChange, ClockSet, Enforced, NotAligned, Repaired, Solution};
pub use step::{SharedMethod, Step};
pub use twice::UnfoundStep;
pub use unsolved::{NotSolved, Unsolved};
pub use used_delay::{AskedDelay, DelayStanding, UsedDelay};

/// How much work the search for the gentlest correction may take, in looks at nodes
/// and arcs of a graph: some 10 s.
const GENTLEST_STEPS: u64 = 1_000_000_000;
