//! What `retime explain` says, as data.

use serde::Serialize;

use crate::explained::words::ReasonPart;
use crate::report::place::PlacePart;

/// The first field of what is written as JSON.
pub(super) const SCHEMA: &str = "retime explanation 1";

/// The fate of one event.
#[derive(Debug, Serialize)]
pub(crate) struct Explanation {
    pub(crate) schema: &'static str,
    pub(crate) ticks_per_second: u64,
    pub(crate) event: EventPart,
    /// The part it plays in dependencies; none if it has no part in any.
    pub(crate) role: Option<&'static str>,
    /// The next event of its location that has a part, if it has none itself.
    pub(crate) next: Option<PlacePart>,
    /// The records of the event, in words.
    pub(crate) recorded_as: Vec<String>,
    /// The rule that found its dependencies, in words.
    pub(crate) rule: Option<&'static str>,
    /// The events that have to come before it.
    pub(crate) follows: Option<DependenciesPart>,
    /// The events that have to come after it.
    pub(crate) precedes: Option<DependenciesPart>,
    /// The defects of the recording at the event.
    pub(crate) defects: Vec<ReasonPart>,
    /// Why it is an end of no dependency, where no defect says so.
    pub(crate) unused: Option<ReasonPart>,
}

/// An event of a trace.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct EventPart {
    pub(crate) location: u64,
    /// The name of its location, with that of the process where this is another one.
    pub(crate) location_name: String,
    pub(crate) event: u64,
    /// The name that its format gives it.
    pub(crate) kind: String,
    /// The region that it enters or leaves, or that it lies in.
    pub(crate) region: Option<String>,
    pub(crate) clock: u32,
    /// The recorded time, after the first event of the trace.
    pub(crate) recorded_ticks: i64,
    /// The corrected time, after the first recorded event of the trace.
    pub(crate) corrected_ticks: Option<i64>,
    /// The ticks by which the truth may lie before and after the corrected time.
    pub(crate) bound_ticks: Option<BoundPart>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct BoundPart {
    pub(crate) before: f64,
    pub(crate) after: f64,
}

/// The dependencies that an event is the cause, or the effect, of.
#[derive(Debug, Serialize)]
pub(crate) struct DependenciesPart {
    pub(crate) count: usize,
    /// The one of the least latency as recorded.
    pub(crate) tightest_recorded: DependencyPart,
    /// The one of the least latency as corrected.
    pub(crate) tightest_corrected: Option<DependencyPart>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct DependencyPart {
    pub(crate) other: EventPart,
    pub(crate) recorded_latency_ticks: i64,
    pub(crate) corrected_latency_ticks: Option<i64>,
    /// The minimal delay: the one that was enforced, if any was.
    pub(crate) least_latency_ticks: i64,
    /// True if both ends read one clock, so that it is checked and moves nothing.
    pub(crate) within_clock: bool,
}

/// Events of communication that no dependency rests on, by what the recording lacks or contradicts.
#[derive(Debug, Serialize)]
pub(crate) struct UnusedList {
    pub(crate) schema: &'static str,
    pub(crate) kinds: Vec<UnusedKindPart>,
    /// Records of communication that say nothing of how processes differ, by kind.
    pub(crate) without_use: Vec<WithoutUsePart>,
    /// Calls of collective operations of several processes on which no dependency rests: of most
    /// the operation does not prove that anybody waited for anybody.
    pub(crate) calls_without_dependency: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct UnusedKindPart {
    pub(crate) kind: String,
    pub(crate) why: String,
    pub(crate) count: u64,
    /// All of them, as far as their places are kept.
    pub(crate) places: Vec<PlacePart>,
}

#[derive(Debug, Serialize)]
pub(crate) struct WithoutUsePart {
    pub(crate) kind: &'static str,
    pub(crate) count: u64,
}
