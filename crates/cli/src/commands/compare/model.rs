//! The comparison as data: what `--json` writes.

use retime::Deviation;
use serde::Serialize;

use crate::report::model::{DelayPart, ExaminedPart, TracePart};

/// Version of the format.
pub(super) const SCHEMA: &str = "retime-comparison-1";

/// Methods side by side.
#[derive(Debug, Serialize)]
pub(crate) struct Comparison {
    pub(super) schema: &'static str,
    pub(super) trace: TracePart,
    /// How much of its communication was looked at.
    pub(super) examined: ExaminedPart,
    /// How many clocks.
    pub(super) clocks: usize,
    pub(super) min_delay: DelayPart,
    /// The trace with true times, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) truth: Option<String>,
    /// The drift bound: the largest wander of a clock's rate that the bounds assume, as a fraction.
    pub(super) drift_bound: f64,
    /// Share of events whose true time lies within the bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) inside_bounds: Option<f64>,
    pub(super) methods: Vec<ComparedPart>,
}

/// A method; what it did, or why it has no solution.
#[derive(Debug, Serialize)]
pub(super) struct ComparedPart {
    pub(super) name: String,
    /// Options of `retime correct` that give it.
    pub(super) options: String,
    /// Why there is no result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// Why the result cannot be right: `retime correct` refuses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refused: Option<String>,
    /// Bounds of what it can do to local intervals, from before it ran; only of the controlled logical
    /// clock alone with a constant gamma or the controllers A to D.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) foreseen: Option<ForeseenPart>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) result: Option<ResultPart>,
}

/// Bounds of the relative change of local intervals of many ticks; `null` for none.
#[derive(Debug, Serialize)]
pub(super) struct ForeseenPart {
    /// The bound of theorem 17 of Rabenseifner 2000, against true intervals.
    pub(super) by_theorem_17: Option<f64>,
    /// The share that this bound mostly is a small multiple of: (5.69).
    pub(super) usual: f64,
    /// The bound by difference constraints, against recorded intervals.
    pub(super) by_constraints: Option<f64>,
}

impl ComparedPart {
    /// True if nothing is contradicted by a result that can be right.
    pub(super) fn is_sound(&self) -> bool {
        self.refused.is_none()
            && self
                .result
                .as_ref()
                .is_some_and(|it| it.contradictions == 0)
    }
}

/// The result of a method, measured.
#[derive(Debug, Serialize)]
pub(super) struct ResultPart {
    /// Effects that are stamped before their cause.
    pub(super) reversed: u64,
    /// Dependencies shorter than the minimal delay, reversed ones included.
    pub(super) short: u64,
    /// Dependencies that are contradicted: reversed ones and, where the minimal delay was given,
    /// those that are shorter; and events of a location that are stamped before the one before.
    pub(super) contradictions: u64,
    /// Relative change of local intervals.
    pub(super) interval_change_mean: f64,
    pub(super) interval_change_largest: f64,
    /// The largest advance by which an event was forced ahead of its own clock; only of logical
    /// clocks.
    pub(super) largest_jump_ticks: Option<i64>,
    /// Knots of all clock maps.
    pub(super) knots: usize,
    pub(super) seconds: Option<f64>,
    /// Resident at most, beyond what was resident before.
    pub(super) memory_bytes: Option<u64>,
    /// How far times can be from the truth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bound: Option<BoundSummaryPart>,
    /// Against the truth, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) accuracy: Option<ComparedAccuracyPart>,
}

impl ResultPart {
    /// True if another result has the same times, as far as these figures tell.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let figures = |it: &Self| {
            let bound = it
                .bound
                .as_ref()
                .map(|it| (it.mean_ticks, it.largest_ticks));
            let accuracy = it.accuracy.as_ref();
            let errors = accuracy.map(|it| (it.relative_ticks.mean_abs, it.relative_ticks.max));
            let change = (it.interval_change_mean, it.interval_change_largest);
            (it.reversed, it.short, change, bound, errors)
        };
        figures(self) == figures(other) && self.largest_jump_ticks.unwrap_or(0) == 0
    }
}

/// Error bounds over the events that have one.
#[derive(Debug, Serialize)]
pub(super) struct BoundSummaryPart {
    pub(super) mean_ticks: f64,
    pub(super) largest_ticks: f64,
    /// Below which no method can promise any error.
    pub(super) mean_half_width_ticks: f64,
    /// Events without a bound.
    pub(super) unbounded_events: u64,
}

/// Errors against the truth.
#[derive(Debug, Serialize)]
#[expect(clippy::struct_field_names, reason = "the unit belongs into the JSON")]
pub(super) struct ComparedAccuracyPart {
    /// Without the straight line over true time that all events have in common.
    pub(super) relative_ticks: Deviation,
    /// Without their mean only.
    pub(super) synchronization_ticks: Deviation,
    pub(super) message_delay_ticks: Deviation,
}
