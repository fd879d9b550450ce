//! The report of a run as data; `--json` prints it as it stands here.
//!
//! The schema is stable: fields are added, not renamed or removed, and
//! `schema` changes if that has to be broken. Times are in ticks of the trace
//! where the name says so, in seconds otherwise.

mod bounds;

pub(crate) use bounds::{
    BoundsPart, ClockBoundPart, CoveragePart, ForcingPart, GentlestPart, RateChangePart,
    SharedPart, StepPart, UnfoundStepPart,
};

use serde::Serialize;

use super::place::PlacePart;
use super::waits::StragglersPart;
use crate::args::TrustedImplementation;

/// Name of this schema.
pub(crate) const SCHEMA: &str = "retime-report-1";

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) schema: &'static str,
    pub(crate) trace: TracePart,
    pub(crate) matching: MatchingPart,
    pub(crate) examined: ExaminedPart,
    pub(crate) clocks: ClocksPart,
    pub(crate) before: CheckPart,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<CheckPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) method: Option<MethodPart>,
    pub(crate) parameters: ParametersPart,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) distortion: Option<DistortionPart>,
    /// How far times can be from the truth: the corrected ones, or if nothing
    /// was corrected, the recorded ones. Not with `--bounds off`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bounds: Option<BoundsPart>,
    /// How the clocks of hosts differed, if each of several has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hosts: Option<Vec<HostPart>>,
    /// How the clocks of devices differed from those of their hosts, where they have their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) devices: Vec<DevicePart>,
    /// How little local intervals have to change at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) gentlest: Option<GentlestPart>,
    /// Who came last in collective operations, by the corrected times, or if nothing was
    /// corrected, the recorded ones. Not where nobody waits for all others, and not if
    /// several processes share the trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stragglers: Option<StragglersPart>,
    /// With `--truth`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) accuracy: Option<AccuracyPart>,
    pub(crate) timing: TimingPart,
    /// Options that suit similar traces.
    pub(crate) advice: Vec<String>,
    pub(crate) warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct TracePart {
    pub(crate) path: String,
    /// As a word of a command line.
    #[serde(skip)]
    pub(crate) word: String,
    pub(crate) format: &'static str,
    pub(crate) locations: usize,
    /// Processes, with what each has made as one: a device that it launches kernels on.
    pub(crate) processes: usize,
    pub(crate) nodes: usize,
    pub(crate) events: u64,
    /// Events that communicate: those that a dependency rests on, and those of the same kinds that
    /// [none](ExaminedPart) does.
    pub(crate) communicating_events: u64,
    pub(crate) ticks_per_second: u64,
    /// The time of day of the first stamp, as RFC 3339 has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) began_at: Option<String>,
    /// The earliest stamp of all locations: 0 s of the run. Absent where it has no 64 bits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_stamp: Option<retime::Timestamp>,
    /// From the first to the last stamp.
    pub(crate) duration_seconds: f64,
}

#[derive(Debug, Serialize)]
pub(crate) struct MatchingPart {
    pub(crate) messages: u64,
    /// Synchronous sends that end after their receive was posted; dependencies of their
    /// own, counted among those of messages.
    pub(crate) acknowledgements: u64,
    pub(crate) collectives: u64,
    #[serde(rename = "oddities")]
    pub(crate) defects: Vec<DefectPart>,
}

#[derive(Debug, Serialize)]
pub(crate) struct DefectPart {
    pub(crate) kind: retime::causality::Defect,
    pub(crate) count: u64,
    pub(crate) text: String,
    pub(crate) first: Vec<PlacePart>,
}

/// How much of the communication in the trace was looked at; see
/// [`retime::pipeline::Examined`].
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ExaminedPart {
    pub(crate) verdict: retime::pipeline::Verdict,
    /// Records that tell of communication, of all kinds.
    pub(crate) recorded: u64,
    /// Records that dependencies rest on.
    pub(crate) used: u64,
    /// Records of kinds that are not used which relate only locations of one process
    /// with what it has made.
    pub(crate) within_clock: u64,
    #[serde(flatten)]
    pub(crate) examined: retime::pipeline::Examined,
    /// The part of the trace that was looked at, where that is not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stretch: Option<StretchPart>,
    /// Sets of clocks that nothing recorded relates to each other, so that times of one set tell nothing
    /// about those of another; absent where all clocks whose processes communicate are related.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unrelated: Vec<RelatedPart>,
}

/// Clocks that dependencies relate to each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RelatedPart {
    pub(crate) clocks: Vec<u32>,
    /// The name of each, as in the list of clocks; "clock 3" where it has none.
    pub(crate) names: Vec<String>,
}

/// The stretch of time that `--from` and `--to` leave of a trace, counted from its first event.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StretchPart {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) to_seconds: Option<f64>,
    /// Dependencies with both ends in it.
    pub(crate) dependencies: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct ClocksPart {
    pub(crate) grouping: retime::Grouping,
    pub(crate) count: usize,
    /// Groups that `auto` split because they contradicted themselves.
    pub(crate) refuted_groups: usize,
    /// Which clock those locations read that no dependency tells it of.
    pub(crate) untied: UntiedPart,
    pub(crate) list: Vec<ClockPart>,
}

/// Locations with events that no dependency ties to another clock, if it does so with
/// others: how many read that
#[derive(Debug, Default, Serialize)]
pub(crate) struct UntiedPart {
    /// of their process,
    pub(crate) of_process: usize,
    /// of the process that made theirs,
    pub(crate) of_creator: usize,
    /// of their node,
    pub(crate) of_node: usize,
    /// of the next process of their node, which has several clocks;
    pub(crate) of_nearest: usize,
    /// and those of which nothing tells it.
    pub(crate) unknown: Vec<u64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ClockPart {
    /// The name of its only process, or of the host of all its processes; absent where it has none,
    /// or another clock has the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    pub(crate) locations: Vec<u64>,
    /// Corrected minus recorded time at the last event with an edge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) final_advance_ticks: Option<i64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct CheckPart {
    pub(crate) reversed: u64,
    /// Events stamped before their predecessor on the same location.
    pub(crate) out_of_order: u64,
    /// Dependencies faster than the minimal delay, reversed ones between clocks included.
    pub(crate) short: u64,
    /// The most by which any is faster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shortest_by_ticks: Option<i64>,
    pub(crate) reversed_within_clock: u64,
    pub(crate) messages: retime::causality::Tally,
    pub(crate) collectives: retime::causality::Tally,
    /// The smallest (most negative) latency of all.
    pub(crate) smallest_latency_ticks: Option<i64>,
    /// Between how many pairs of clocks dependencies are reversed.
    pub(crate) reversed_pairs: u64,
    /// Half round trips over all pairs of clocks; absent where no pair has messages both ways.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) half_round_trips: Option<HalfRoundTrips>,
    /// Pairs of clocks, worst first; no more than a thousand.
    pub(crate) pairs: Vec<PairPart>,
    pub(crate) worst: Vec<ViolationPart>,
}

/// Half of the smallest latencies there and back, over pairs of clocks that have both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[expect(clippy::struct_field_names, reason = "the unit belongs into the JSON")]
pub(crate) struct HalfRoundTrips {
    pub(crate) smallest_ticks: i64,
    pub(crate) mean_ticks: i64,
    pub(crate) largest_ticks: i64,
}

#[derive(Debug, Serialize)]
pub(crate) struct PairPart {
    pub(crate) from_clock: u32,
    pub(crate) to_clock: u32,
    pub(crate) dependencies: u64,
    pub(crate) reversed: u64,
    pub(crate) smallest_latency_ticks: i64,
    /// Smallest latency there plus smallest latency back: clock differences
    /// cancel, if they are constant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) smallest_round_trip_ticks: Option<i64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ViolationPart {
    pub(crate) kind: retime::causality::DependencyKind,
    pub(crate) latency_ticks: i64,
    pub(crate) cause: PlacePart,
    pub(crate) effect: PlacePart,
    /// The time of the cause.
    pub(crate) caused_at: retime::Timestamp,
    /// The name of the location of the cause.
    pub(crate) cause_on: String,
    /// The name of the location of the effect.
    pub(crate) effect_on: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct MethodPart {
    /// In words, with its parts.
    pub(crate) name: String,
    /// The name as `--method` takes it.
    pub(crate) option: String,
    /// The file with the measured offsets, if the method heeds any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) offsets: Option<String>,
    /// Events that were forced ahead of their own clock.
    pub(crate) jumps: u64,
    pub(crate) largest_jump_ticks: i64,
    /// Break points of all clock maps.
    pub(crate) knots: usize,
    /// If clocks were put on one time before anything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) alignment: Option<AlignmentPart>,
    /// If a logical clock ran over the trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) repair: Option<RepairPart>,
}

/// How clocks were put on one time.
#[derive(Debug, Serialize)]
pub(crate) struct AlignmentPart {
    /// The clock whose time is the common one; absent for the mean of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reference_clock: Option<u32>,
    /// The most ticks, either way, by which the common time is ahead of that of the reference, which
    /// wanders against all clocks; absent if it is that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ahead_of_reference_ticks: Option<f64>,
    /// The ticks by which all events, those of the reference too, were moved later than that, since
    /// some stamp would lie before 0 otherwise; absent if none would.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) moved_later_ticks: Option<i64>,
    /// The most straight pieces that the difference of a clock has; 0 if all are constant.
    pub(crate) pieces: usize,
    /// Clocks that nothing relates to the reference: each keeps its time, or the time of those that
    /// are related to each other is where it was recorded beside the reference's.
    pub(crate) unrelated_clocks: Vec<u32>,
    /// Clocks that are related to the reference in one direction only.
    pub(crate) one_way_clocks: Vec<u32>,
    /// Dependencies that did not count, since they contradict the clocks that all others show.
    pub(crate) left_out: usize,
    /// Clocks that were set during the run; absent if none was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) steps: Vec<StepPart>,
    /// The moments at which clocks changed their rates, by clock and stamp; absent if none did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) rate_changes: Vec<RateChangePart>,
    /// True if half of the clocks that dependencies tie to each other, or more, were set at one time,
    /// so that it may have been others: known is what clocks gained against each other. Absent if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) half_were_set_at_once: bool,
    /// The evidence of ends of operations where dependencies leave clocks open; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ends: Option<EndsPart>,
}

/// The evidence of operations that end together about clocks. No proof: bounds do not rest on
/// it.
#[derive(Debug, Serialize)]
pub(crate) struct EndsPart {
    /// Operations that several clocks saw end.
    pub(crate) operations: usize,
    /// The spread of the ends of one operation: a standard deviation that outliers do not change.
    pub(crate) spread_ticks: f64,
    /// Clocks on which ends decide more than dependencies do.
    pub(crate) decided_clocks: usize,
    /// The ticks within which corrected times are likely to be right, by clock; null where too few
    /// ends tell, and where these are of threads, which wake up later than operations end.
    pub(crate) likely_within_ticks: Vec<Option<f64>>,
    /// Operations that end far apart on their clocks; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) apart: Option<EndsApartPart>,
    /// Clocks that seem to have been set, which was not undone, as nothing that is certain shows it.
    pub(crate) steps: Vec<EndsStepPart>,
}

/// Operations that end ten spreads apart or more.
#[derive(Debug, Serialize)]
pub(crate) struct EndsApartPart {
    pub(crate) operations: usize,
    /// The most that one ends earlier or later on a clock than on the others.
    pub(crate) by_ticks: f64,
    /// Their place among all operations: `first`, `last` or `among`.
    pub(crate) place: &'static str,
}

/// A step of a clock that only ends show.
#[derive(Debug, Serialize)]
pub(crate) struct EndsStepPart {
    /// The clock.
    pub(crate) clock: u32,
    /// The ticks of the run that had passed at the last end before the step,
    pub(crate) after_ticks: f64,
    /// and at the first end behind it.
    pub(crate) until_ticks: f64,
    /// The ticks by which the clock shows more from then on.
    pub(crate) by_ticks: f64,
    /// Other clocks of which one may have been set instead, by as much the other way; absent where
    /// ends tell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) alternatives: Vec<u32>,
}

#[derive(Debug, Serialize)]
pub(crate) struct RepairPart {
    /// From the beginning of the trace, or from its end; absent where nothing was
    /// left to repair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) direction: Option<Direction>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Direction {
    Forward,
    Backward,
}

#[derive(Debug, Serialize)]
pub(crate) struct ParametersPart {
    pub(crate) min_delay: DelayPart,
    pub(crate) dense_alltoallv: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trusted_implementation: Option<TrustedImplementation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) gamma_max: Option<retime::clock::Gamma>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) amortization_rate: Option<f64>,
    pub(crate) threads: usize,
}

#[derive(Debug, Serialize)]
pub(crate) struct DelayPart {
    pub(crate) source: crate::delay::DelaySource,
    /// True if what is faster contradicts the clocks: what was given does, a learned delay
    /// is a guess.
    pub(crate) is_condition: bool,
    /// Smallest and largest value in use.
    pub(crate) smallest_ticks: i64,
    pub(crate) largest_ticks: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) half_round_trip_ticks: Option<i64>,
    /// True if that was learned once clocks were aligned, not from recorded times.
    pub(crate) of_aligned_clocks: bool,
    /// The part that bytes have in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by_length: Option<DelayByLengthPart>,
    /// The line below what messages take, of which an eighth is enforced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<LengthLinePart>,
    /// The calls that a rule of thumb rests on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) calls: Option<EmptyCallsPart>,
}

#[derive(Debug, Serialize)]
pub(crate) struct DelayByLengthPart {
    pub(crate) smallest_bytes_per_second: u64,
    pub(crate) largest_bytes_per_second: u64,
    /// Messages whose length nothing tells: they need the latency alone, as ends of collectives do.
    pub(crate) without_length: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct LengthLinePart {
    /// The delay of a message without bytes.
    pub(crate) latency_ticks: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bytes_per_second: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct EmptyCallsPart {
    pub(crate) count: u64,
    /// The most frequent round trip.
    pub(crate) most_frequent_ticks: i64,
}

#[derive(Debug, Serialize)]
pub(crate) struct DistortionPart {
    /// The changes of intervals between events that communicate.
    #[serde(flatten)]
    pub(crate) measured: retime::Distortion,
    /// The changes of intervals between all events; with `--verbose`, as it takes the times of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) all_events: Option<retime::Distortion>,
    pub(crate) largest_at: Option<PlacePart>,
    /// The dependency that keeps events right before the largest change from being moved further.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) largest_limited_by: Option<LimitPart>,
}

#[derive(Debug, Serialize)]
pub(crate) struct LimitPart {
    /// A send, or the begin of a collective.
    pub(crate) send: PlacePart,
    /// Its effect that would come too early.
    pub(crate) effect: PlacePart,
    /// How far it could still be moved.
    pub(crate) room_ticks: i64,
}

#[derive(Debug, Serialize)]
pub(crate) struct HostPart {
    pub(crate) name: String,
    /// The number of its clock.
    pub(crate) clock: u32,
    pub(crate) processes: usize,
    /// True for each side, below and above, on which anything bounds what has to be added to its
    /// clock; absent if bounds were not looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bounded: Option<(bool, bool)>,
    /// How much more its clock showed than the common time, in the middle of its run,
    pub(crate) ahead_ticks: i64,
    /// and by how much less and more that may be; absent where nothing bounds it.
    pub(crate) ahead_within_ticks: (Option<f64>, Option<f64>),
    /// How much faster it ran on average, between the ends of its correction, and by how
    /// much that may be wrong, as shares; absent where nothing bounds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) drift: Option<DriftPart>,
}

#[derive(Debug, Serialize)]
pub(crate) struct DevicePart {
    /// Whose context it is.
    pub(crate) name: String,
    pub(crate) clock: u32,
    /// The clock of its host.
    pub(crate) host_clock: u32,
    /// How much more its clock showed than that of its host at the first and at the last stamp
    /// at which both are corrected.
    pub(crate) ahead_ticks: [i64; 2],
}

#[derive(Debug, Serialize)]
pub(crate) struct DriftPart {
    pub(crate) rate: f64,
    pub(crate) within: f64,
}

/// How far times are from the truth; see [`retime::Accuracy`].
#[derive(Debug, Serialize)]
pub(crate) struct AccuracyPart {
    /// The trace with the true times.
    pub(crate) truth: String,
    pub(crate) recorded: MeasuredPart,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) corrected: Option<MeasuredPart>,
}

#[derive(Debug, Serialize)]
pub(crate) struct MeasuredPart {
    /// Errors of all events with edges, without the straight line over true time that
    /// they have in common.
    pub(crate) relative_ticks: retime::Deviation,
    /// Errors of all events with edges, without their mean only.
    pub(crate) synchronization_ticks: retime::Deviation,
    /// Errors of the delays of messages.
    pub(crate) message_delay_ticks: retime::Deviation,
    /// F.
    pub(crate) ahead_ticks: f64,
    /// S.
    pub(crate) behind_ticks: f64,
    /// A, a share.
    pub(crate) deviation: f64,
    pub(crate) locations: Vec<LocationAccuracyPart>,
}

#[derive(Debug, Serialize)]
pub(crate) struct LocationAccuracyPart {
    pub(crate) location: u64,
    pub(crate) ahead_ticks: f64,
    pub(crate) behind_ticks: f64,
    pub(crate) deviation: f64,
}

#[derive(Debug, Default, Serialize)]
#[expect(clippy::struct_field_names, reason = "the unit belongs into the JSON")]
pub(crate) struct TimingPart {
    pub(crate) scan_seconds: f64,
    pub(crate) matching_seconds: f64,
    pub(crate) analysis_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) correction_seconds: Option<f64>,
    /// Error bounds, and the gentlest correction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bounds_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) writing_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verification_seconds: Option<f64>,
    pub(crate) total_seconds: f64,
}
