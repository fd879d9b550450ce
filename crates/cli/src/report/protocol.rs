//! The protocol of a correction, in the order of its source, for `--verbose`.
//!
//! Source: Rabenseifner 2000, figure 6.3. Where the source advises options for
//! similar traces, so does this.

use retime::estimate::LearnedDelay;
use retime::{Distortion, MeanAndMost, TickRate, Ticks, format_seconds, group_digits};

use super::model::{CheckPart, ClockPart, Report};
use super::share::share;

/// Clocks on one line of the table of final differences.
const CLOCKS_PER_LINE: usize = 8;

/// A line of the protocol, with its label.
type Line = (&'static str, String);

/// Lines of the protocol.
pub(super) fn lines(report: &Report) -> Vec<Line> {
    let Some(rate) = TickRate::per_second(report.trace.ticks_per_second) else {
        return Vec::new();
    };
    let span = |ticks: i64| rate.format(Ticks(ticks));
    let mut lines = advances(report, rate);
    if let Some(difference) = largest_difference(&report.before) {
        lines.push((
            "difference",
            format!("clocks differ by {} or more", span(difference)),
        ));
    }
    let Some(distortion) = &report.distortion else {
        return lines;
    };
    if let Some(shortest) = distortion.measured.shortest_interval {
        lines.push((
            "shortest",
            format!("{} between two events of one location", span(shortest.0)),
        ));
    }
    if let Some(trips) = report.before.half_round_trips {
        let text = format!(
            "{} smallest, {} mean, {} largest half round trip of a pair of clocks",
            span(trips.smallest_ticks),
            span(trips.mean_ticks),
            span(trips.largest_ticks)
        );
        lines.push(("delays", text));
    }
    lines.extend(changes(&distortion.measured));
    let by_end = match &distortion.all_events {
        Some(all) => changes_by_end(all, "of all events, ", rate),
        None => changes_by_end(&distortion.measured, "", rate),
    };
    lines.extend(by_end);
    lines
}

/// How far each clock of a corrected trace is moved at its end.
fn advances(report: &Report, rate: TickRate) -> Vec<Line> {
    if report.after.is_none() {
        return Vec::new();
    }
    let rows = report.clocks.list.chunks(CLOCKS_PER_LINE).enumerate();
    let line = |(row, clocks): (usize, &[ClockPart])| {
        let advance = |clock: &ClockPart| {
            let ticks = clock.final_advance_ticks;
            ticks.map_or("-".into(), |ticks| rate.format(Ticks(ticks)))
        };
        let advances: Vec<String> = clocks.iter().map(advance).collect();
        let label = if row == 0 { "ahead" } else { "" };
        let (first, list) = (row * CLOCKS_PER_LINE, advances.join(", "));
        (label, format!("at the end, clocks {first}+: {list}"))
    };
    rows.map(line).collect()
}

/// How many local intervals changed, by how much.
fn changes(measured: &Distortion) -> [Line; 3] {
    let class = |count: u64, range: &str, change: MeanAndMost| {
        let (mean, most) = (share(change.mean), share(change.most));
        format!(
            "{} intervals {range}: {mean} on average, {most} at most",
            group_digits(count)
        )
    };
    let unchanged = format!("{} intervals unchanged", group_digits(measured.unchanged));
    let range = "by one tick or up to 0.1 %";
    let small = class(measured.small, range, measured.small_change);
    let large = class(measured.large, "by more", measured.large_change);
    [("changes", unchanged), ("", small), ("", large)]
}

/// How much intervals changed by the event at their end.
fn changes_by_end(measured: &Distortion, of_which: &str, rate: TickRate) -> Vec<Line> {
    let kinds = [
        ("receives and ends of collectives", measured.before_effects),
        ("sends and begins of collectives", measured.before_causes),
        ("other events", measured.before_others),
    ];
    let there = kinds.into_iter().filter(|(_, it)| it.intervals > 0);
    let lines = there.map(|(name, ends)| {
        let mean = format_seconds(ends.mean_size / rate.get() as f64);
        let content = format!(
            "{of_which}{} intervals before {name}: by {mean} on average, by {} at most",
            group_digits(ends.intervals),
            rate.format(ends.largest_size),
        );
        ("", content)
    });
    lines.collect()
}

/// Options that suit similar traces.
pub(crate) fn advice(report: &Report) -> Vec<String> {
    let Some(rate) = TickRate::per_second(report.trace.ticks_per_second) else {
        return Vec::new();
    };
    let mut advice = Vec::new();
    let delay = &report.parameters.min_delay;
    let trips = report.before.half_round_trips.map(|it| it.smallest_ticks);
    // A single round trip says how long a process waited, not how fast a message is.
    let learned = delay.half_round_trip_ticks;
    let half = learned.map(|it| trips.map_or(it, |trip| it.min(trip)));
    // One way can take far less than half of both, so that half of it is no delay to give.
    let shortest = half.map(|it| it as f64);
    let safe = LearnedDelay::from_shortest(shortest, rate).enforced;
    if safe > Ticks(0) {
        let nanoseconds = (rate.seconds(safe) * 1e9).floor();
        advice.push(format!(
            "for similar traces --min-delay {nanoseconds:.0}ns: an eighth of half the fastest round trip, \
             5 us at most"
        ));
    }
    if let Some(difference) = largest_difference(&report.before) {
        let microseconds = (rate.seconds(Ticks(difference)) * 1e6).ceil();
        advice.push(format!(
            "for similar traces, in a stream: --start-clock-difference {microseconds}us"
        ));
    }
    advice
}

/// The largest difference of two clocks that a violated dependency proves.
fn largest_difference(before: &CheckPart) -> Option<i64> {
    before
        .smallest_latency_ticks
        .filter(|&latency| latency < 0)
        .map(|latency| -latency)
}
