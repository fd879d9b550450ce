//! The report of `retime stream`: how many events came and left, and how they were corrected.

use std::fmt;

use retime::{format_seconds, group_digits, plural};
use retime_stream::lines::{Lines, SegmentLines};
use retime_stream::{SegmentReport, Segments, Spread};
use serde::Serialize;

use super::flow::Flow;
use super::pump::Stream;

/// Name of the schema of the report.
const SCHEMA: &str = "retime-stream-report-1";

/// Name of the schema of the report on segments.
const SEGMENTS_SCHEMA: &str = "retime-stream-report-segments-1";

/// The report of a run; its fields are described in `docs/STREAM.md`.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum StreamSummary {
    Filter(FilterSummary),
    Segments(SegmentSummary),
}

impl StreamSummary {
    pub(super) fn new(stream: &Stream<'_>) -> Self {
        match &stream.flow {
            Flow::Filter { lines, .. } => Self::Filter(FilterSummary::new(stream, lines)),
            Flow::Segments(flow) => Self::Segments(SegmentSummary::new(stream, &flow.lines)),
        }
    }

    /// True if anything was taken or left out.
    pub(super) fn says_something(&self) -> bool {
        match self {
            Self::Filter(it) => it.events > 0 || it.bad_lines > 0,
            Self::Segments(it) => it.events > 0 || it.bad_lines > 0,
        }
    }
}

impl fmt::Display for StreamSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Filter(it) => it.fmt(f),
            Self::Segments(it) => it.fmt(f),
        }
    }
}

/// The report on the filter.
#[derive(Serialize)]
pub(super) struct FilterSummary {
    schema: &'static str,
    lines: u64,
    bad_lines: u64,
    events: u64,
    released: u64,
    messages: u64,
    reversed: u64,
    jumps: u64,
    largest_jump_seconds: f64,
    forced: u64,
    steep: u64,
    late: u64,
    out_of_order: u64,
    unmatched_receives: u64,
    unmatched_sends: u64,
    late_sends: u64,
    incomplete_collectives: u64,
    unfinished_collectives: u64,
    forgotten: u64,
    contradictions: u64,
    most_held: u64,
    delay: Quantiles,
    wall: Quantiles,
    seconds: f64,
}

/// How long events stayed, in seconds.
#[derive(Serialize)]
struct Quantiles {
    p50: f64,
    p99: f64,
    max: f64,
}

impl Quantiles {
    fn new(spread: &Spread, per_second: f64) -> Self {
        let seconds = |value: u64| value as f64 / per_second;
        Self {
            p50: seconds(spread.quantile(0.5)),
            p99: seconds(spread.quantile(0.99)),
            max: seconds(spread.largest()),
        }
    }
}

impl fmt::Display for Quantiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p50, p99, max] = [self.p50, self.p99, self.max].map(format_seconds);
        write!(f, "p50 {p50}, p99 {p99}, max {max}")
    }
}

impl FilterSummary {
    fn new(stream: &Stream<'_>, lines: &Lines) -> Self {
        let filter = lines.filter();
        let report = filter
            .map(|filter| filter.report().clone())
            .unwrap_or_default();
        let rate = filter.map_or(1.0, |filter| filter.options().rate.get() as f64);
        Self {
            schema: SCHEMA,
            lines: stream.count,
            bad_lines: stream.bad,
            events: report.events,
            released: report.released,
            messages: report.messages,
            reversed: report.violated,
            jumps: report.jumps,
            largest_jump_seconds: report.largest_jump.0 as f64 / rate,
            forced: report.forced,
            steep: report.steep,
            late: report.late,
            out_of_order: report.out_of_order,
            unmatched_receives: report.unmatched_receives,
            unmatched_sends: report.unmatched_sends,
            late_sends: report.late_sends,
            incomplete_collectives: report.incomplete_collectives,
            unfinished_collectives: report.unfinished_collectives,
            forgotten: report.forgotten,
            contradictions: report.contradictions,
            most_held: report.most_held,
            delay: Quantiles::new(&report.delay, rate),
            wall: Quantiles::new(lines.stay(), 1e6),
            seconds: stream.start.elapsed().as_secs_f64(),
        }
    }
}

impl fmt::Display for FilterSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = format_seconds(self.seconds);
        let reversed = group_digits(self.reversed);
        let messages = plural(self.messages, "message");
        writeln!(
            f,
            "{} in {seconds}; {reversed} of {messages} reversed",
            plural(self.events, "event")
        )?;
        let jump = format_seconds(self.largest_jump_seconds);
        let forced = plural(self.forced, "event");
        writeln!(
            f,
            "{}, the largest {jump}; {forced} forced",
            plural(self.jumps, "jump")
        )?;
        writeln!(f, "delay in stream time: {}", self.delay)?;
        writeln!(f, "delay as it passed:   {}", self.wall)?;
        let counts = [
            (self.bad_lines, "line", "left out: not understood"),
            (self.unmatched_receives, "receive", "without a send"),
            (self.unmatched_sends, "send", "without a receive"),
            (self.late_sends, "send", "after the receive had left"),
            (
                self.incomplete_collectives,
                "end",
                "of an incomplete collective",
            ),
            (
                self.unfinished_collectives,
                "collective",
                "not all of whose events came",
            ),
            (
                self.forgotten,
                "missing partner",
                "no longer waited for, since there were too many",
            ),
            (self.late, "event", "too late for the time stamped"),
            (
                self.out_of_order,
                "event",
                "stamped before the previous one of the location",
            ),
            (self.contradictions, "event", "waiting for each other"),
        ];
        write_counts(f, &counts)
    }
}

/// Writes a line for each count that is not 0.
fn write_counts(f: &mut fmt::Formatter<'_>, counts: &[(u64, &str, &str)]) -> fmt::Result {
    for &(count, noun, what) in counts.iter().filter(|it| it.0 > 0) {
        writeln!(f, "{} {what}", plural(count, noun))?;
    }
    Ok(())
}

/// The report on segments.
#[derive(Serialize)]
pub(super) struct SegmentSummary {
    schema: &'static str,
    lines: u64,
    bad_lines: u64,
    events: u64,
    released: u64,
    rounds: u64,
    messages: u64,
    reversed: u64,
    left_reversed: u64,
    out_of_order: u64,
    unmatched: u64,
    unfinished_collectives: u64,
    most_held: u64,
    wall: Quantiles,
    seconds: f64,
}

impl SegmentSummary {
    fn new(stream: &Stream<'_>, lines: &SegmentLines) -> Self {
        let report: SegmentReport = lines.segments().map(Segments::report).unwrap_or_default();
        Self {
            schema: SEGMENTS_SCHEMA,
            lines: stream.count,
            bad_lines: stream.bad,
            events: report.events,
            released: report.released,
            rounds: report.rounds,
            messages: report.messages,
            reversed: report.reversed,
            left_reversed: report.left_reversed,
            out_of_order: report.out_of_order,
            unmatched: report.unmatched,
            unfinished_collectives: report.unfinished_collectives,
            most_held: report.most_held,
            wall: Quantiles::new(lines.stay(), 1e6),
            seconds: stream.start.elapsed().as_secs_f64(),
        }
    }
}

impl fmt::Display for SegmentSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = format_seconds(self.seconds);
        let [reversed, left] = [self.reversed, self.left_reversed].map(group_digits);
        let messages = plural(self.messages, "message");
        let events = plural(self.events, "event");
        writeln!(
            f,
            "{events} in {seconds}; {reversed} of {messages} reversed, {left} after the shifts"
        )?;
        let rounds = plural(self.rounds, "time");
        let held = plural(self.most_held, "event");
        writeln!(f, "shifted {rounds}; {held} held at most")?;
        writeln!(f, "delay as it passed:   {}", self.wall)?;
        let counts = [
            (self.bad_lines, "line", "left out: not understood"),
            (self.unmatched, "end", "of a message without the other end"),
            (
                self.unfinished_collectives,
                "collective",
                "not all of whose events came",
            ),
            (
                self.out_of_order,
                "event",
                "stamped before the previous one of the location",
            ),
        ];
        write_counts(f, &counts)
    }
}
