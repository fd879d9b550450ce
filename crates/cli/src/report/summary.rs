//! The report for people: one screen, aligned, with units.

use std::fmt::Write;

use retime::causality::{DependencyKind, Tally};
use retime::{
    Bandwidth, Deviation, Distortion, TickRate, Ticks, format_seconds, group_digits, plural,
    printable,
};

use super::clock_names::owner;
use super::model::{
    AccuracyPart, CheckPart, DelayByLengthPart, DelayPart, DistortionPart, MeasuredPart, PairPart,
    Report,
};
use super::place::PlacePart;
use super::share::share;
use super::stamps::caused_at;
use super::verdict::{Sentence, verdict};
use super::{devices, ends, error_bound, examined, hosts, method, protocol, stragglers, untied};
use crate::delay::DelaySource;
use crate::method::named;

/// Pairs of clocks shown; more with `--verbose`.
const PAIRS_SHOWN: usize = 3;
const PAIRS_SHOWN_VERBOSE: usize = 50;

/// The text of the summary; `sketch` is what can be seen of the trace, `outcome` the last
/// line.
pub(crate) fn render(report: &Report, sketch: &str, outcome: &str, verbose: bool) -> String {
    let mut text = SummaryText {
        out: String::new(),
        rate: TickRate::per_second(report.trace.ticks_per_second),
    };
    if let Some(who) = stragglers::headline(report) {
        text.line("stragglers", &who);
        if let Some(off) = hosts::headline(report) {
            text.line("", &off);
        }
    }
    text.verdict(report);
    text.out.push('\n');
    text.trace(report);
    text.clocks(report);
    text.delay(report);
    text.out.push('\n');
    let is_condition = report.parameters.min_delay.is_condition;
    text.table(&report.before, report.after.as_ref(), is_condition);
    text.out.push('\n');
    text.latency(&report.before, report.after.as_ref());
    text.pairs(
        report,
        if verbose {
            PAIRS_SHOWN_VERBOSE
        } else {
            PAIRS_SHOWN
        },
    );
    text.worst(report, verbose);
    text.lines(method::lines(report, verbose));
    if let Some(distortion) = &report.distortion {
        text.distortion(distortion, report.trace.communicating_events);
    }
    text.lines(error_bound::lines(report, verbose));
    text.lines(ends::lines(report, verbose));
    text.lines(hosts::lines(report, verbose));
    text.lines(devices::lines(report, verbose));
    if verbose {
        text.lines(stragglers::lines(report));
    }
    if let Some(accuracy) = &report.accuracy {
        text.accuracy(accuracy);
    }
    if verbose {
        text.lines(protocol::lines(report));
        for advice in &report.advice {
            text.line("advice", advice);
        }
    }
    text.time(report);
    for warning in &report.warnings {
        text.line("warning", warning);
    }
    text.out.push_str(sketch);
    if !outcome.is_empty() {
        let _ = write!(text.out, "\n{outcome}\n");
    }
    text.out
}

struct SummaryText {
    out: String,
    rate: Option<TickRate>,
}

impl SummaryText {
    fn line(&mut self, label: &str, content: &str) {
        let style = match label {
            "warning" => anstyle::Style::new()
                .bold()
                .fg_color(Some(anstyle::AnsiColor::Yellow.into())),
            _ => anstyle::Style::new().bold(),
        };
        let _ = writeln!(self.out, "{style}{label:<11}{style:#}{content}");
    }

    fn lines(&mut self, lines: Vec<(&str, String)>) {
        for (label, content) in lines {
            self.line(label, &content);
        }
    }

    fn span(&self, ticks: i64) -> String {
        self.rate.map_or_else(
            || format!("{ticks} ticks"),
            |rate| rate.format(Ticks(ticks)),
        )
    }

    fn verdict(&mut self, report: &Report) {
        let Sentence { gravity, text } = verdict(report);
        let style = gravity.style();
        let content = format!("{style}{text}{style:#}");
        self.line("verdict", &content);
    }

    fn trace(&mut self, report: &Report) {
        let trace = &report.trace;
        let path = printable(&trace.path);
        // RFC 3339 allows a space for its T, for the sake of readers.
        let began = trace.began_at.as_ref().map(|it| it.replace('T', " "));
        let began = began.map_or_else(String::new, |it| format!(", recorded from {it}"));
        self.line("trace", &format!("{path} ({}){began}", trace.format));
        let tick = 1.0 / trace.ticks_per_second as f64;
        let nodes = match trace.nodes {
            0 => String::new(),
            nodes => format!(" on {}", plural(nodes as u64, "node")),
        };
        self.line(
            "",
            &format!(
                "{} in {}{nodes}; {} over {}, ticks of {}",
                plural(trace.locations as u64, "location"),
                plural(trace.processes as u64, "process"),
                plural(trace.events, "event"),
                format_seconds(trace.duration_seconds),
                format_seconds(tick),
            ),
        );
        let acknowledged = match report.matching.acknowledgements {
            0 => String::new(),
            count => format!(" ({} acknowledged)", group_digits(count)),
        };
        let communicate = match trace.communicating_events {
            1 => "communicates",
            _ => "communicate",
        };
        self.line(
            "matched",
            &format!(
                "{}{acknowledged}, {}; {} {communicate}",
                plural(report.matching.messages, "message"),
                plural(report.matching.collectives, "collective"),
                plural(trace.communicating_events, "event"),
            ),
        );
        if let Some(unused) = examined::unused(&report.examined) {
            self.line("not used", &unused);
        }
        if let Some(stretch) = &report.examined.stretch {
            let when = examined::when(stretch);
            let content = format!("{when} from the first event on; nothing outside is looked at");
            self.line("stretch", &content);
        }
    }

    fn clocks(&mut self, report: &Report) {
        let clocks = &report.clocks;
        let how = match (clocks.grouping, clocks.refuted_groups) {
            (retime::Grouping::Auto, 0) => "as coarse as the trace allows".into(),
            (retime::Grouping::Auto, groups) => {
                format!(
                    "{} of clocks that should be one, split since they disagree",
                    plural(groups as u64, "group")
                )
            }
            (retime::Grouping::Location, _) => "one per location".into(),
            (retime::Grouping::Process, _) => "one per process".into(),
            (retime::Grouping::Node, _) => "one per node".into(),
        };
        self.line(
            "clocks",
            &format!("{} ({how})", group_digits(clocks.count as u64)),
        );
        if counts_alone(report) {
            self.line(
                "",
                "each location counts its events, whatever clock it reads",
            );
            return;
        }
        for line in untied::lines(&clocks.untied) {
            self.line("", &line);
        }
    }

    fn delay(&mut self, report: &Report) {
        let delay = &report.parameters.min_delay;
        let value = if delay.smallest_ticks == delay.largest_ticks {
            self.span(delay.smallest_ticks)
        } else {
            format!(
                "{} to {}",
                self.span(delay.smallest_ticks),
                self.span(delay.largest_ticks)
            )
        };
        let source = match (delay.source, delay.half_round_trip_ticks) {
            (DelaySource::Learned, Some(half)) if half < 0 => {
                "no round trip tells: clocks were set or run at other rates, or stamps are defective"
                    .into()
            }
            (DelaySource::Learned, Some(half)) => {
                // Two ways to learn it, with two results: see docs/methods/auto.md.
                let when = if delay.of_aligned_clocks {
                    "of aligned clocks"
                } else {
                    "as recorded"
                };
                let half_trip = self.span(half);
                if half / 8 > delay.largest_ticks {
                    format!(
                        "learned, and as much as is ever enforced: half the fastest round trip \
                         {when} is {half_trip}"
                    )
                } else {
                    format!("learned: an eighth of half the fastest round trip {when}, {half_trip}")
                }
            }
            (DelaySource::Learned, None) if report.clocks.count == 1 => {
                "one clock, nothing to learn".into()
            }
            (DelaySource::Learned, None) => {
                "no two clocks exchange enough in both directions to learn one".into()
            }
            (DelaySource::Given, Some(half)) => {
                format!(
                    "as given; half the fastest round trip is {}",
                    self.span(half)
                )
            }
            (DelaySource::Given, None) => "as given".into(),
            (DelaySource::File, _) => "per pair, from the file".into(),
            (DelaySource::Saved, _) if delay.is_condition => {
                "as given when the trace was corrected".into()
            }
            (DelaySource::Saved, _) => "as learned when the trace was corrected".into(),
            (DelaySource::ByLength | DelaySource::QuarterCall | DelaySource::QuarterCall90, _) => {
                self.rule(delay)
            }
        };
        let bytes = delay.by_length.as_ref().map(bytes);
        let value = value + &bytes.unwrap_or_default();
        self.line("min delay", &format!("{value} ({source})"));
        if let Some(without) = delay.by_length.as_ref().map(|it| it.without_length)
            && without > 0
        {
            let text = format!(
                "{} of unknown length need the latency alone",
                plural(without, "message")
            );
            self.line("", &text);
        }
    }

    /// The rule by which a delay was learned, and what the trace showed it.
    fn rule(&self, delay: &DelayPart) -> String {
        let share = match delay.source {
            DelaySource::QuarterCall90 => "90 % of a quarter",
            _ => "a quarter",
        };
        match (&delay.line, &delay.calls) {
            (Some(line), _) if line.latency_ticks <= 0.0 && line.bytes_per_second.is_none() => {
                "no line lies below what messages take both ways".into()
            }
            (Some(line), _) => {
                let latency = self.span(line.latency_ticks as i64);
                let bytes = line.bytes_per_second.and_then(Bandwidth::per_second);
                let bytes = bytes.map_or(String::new(), |it| format!(" and {it}"));
                format!("learned: an eighth of the line below all round trips, {latency}{bytes}")
            }
            (None, Some(calls)) => format!(
                "learned: {share} of the most frequent round trip of an empty call, {} in {}",
                self.span(calls.most_frequent_ticks),
                plural(calls.count, "call")
            ),
            (None, None) => {
                "fewer than 8 calls were answered at once, too few to learn from".into()
            }
        }
    }

    fn table(&mut self, before: &CheckPart, after: Option<&CheckPart>, is_condition: bool) {
        let by = before.shortest_by_ticks.map(|ticks| self.span(ticks));
        let by = by.map_or(String::new(), |span| format!(", by up to {span}"));
        let mut row = |name: &str, before: &str, after: Option<String>| {
            let row = format!("{name:<19}{before:<27} {}", after.unwrap_or_default());
            let _ = writeln!(self.out, "{}", row.trim_end());
        };
        row("reversed", "recorded", after.map(|_| "corrected".into()));
        for (name, of) in [
            ("messages", Self::messages as fn(&CheckPart) -> Tally),
            ("collective ends", Self::collectives),
        ] {
            let Tally {
                total, violated, ..
            } = of(before);
            let share = 100.0 * violated as f64 / total.max(1) as f64;
            let count = format!(
                "{} of {} ({share:.1} %)",
                group_digits(violated),
                group_digits(total)
            );
            row(
                &format!("  {name}"),
                &count,
                after.map(|after| group_digits(of(after).violated)),
            );
        }
        if is_condition && before.short > 0 {
            let count = format!("{}{by}", group_digits(before.short));
            row(
                "  below min delay",
                &count,
                after.map(|after| group_digits(after.short)),
            );
        }
        if before.out_of_order > 0 {
            let count = group_digits(before.out_of_order);
            row(
                "  local events",
                &count,
                after.map(|after| group_digits(after.out_of_order)),
            );
        }
    }

    fn latency(&mut self, before: &CheckPart, after: Option<&CheckPart>) {
        let Some(ticks) = before.smallest_latency_ticks else {
            return;
        };
        let impossible = if ticks < 0 { " (impossible)" } else { "" };
        let mut content = format!("recorded {}{impossible}", self.span(ticks));
        if let Some(ticks) = after.and_then(|after| after.smallest_latency_ticks) {
            let _ = write!(content, ", corrected {}", self.span(ticks));
        }
        self.line("fastest", &content);
    }

    fn messages(check: &CheckPart) -> Tally {
        check.messages
    }

    fn collectives(check: &CheckPart) -> Tally {
        check.collectives
    }

    fn pairs(&mut self, report: &Report, shown: usize) {
        let pairs = &report.before.pairs;
        let reversed: Vec<&PairPart> = pairs.iter().filter(|pair| pair.reversed > 0).collect();
        for (index, pair) in reversed.iter().take(shown).enumerate() {
            let content = format!(
                "{} -> {}: {} of {} reversed, the worst by {}",
                owner(report, pair.from_clock),
                owner(report, pair.to_clock),
                group_digits(pair.reversed),
                group_digits(pair.dependencies),
                self.span(-pair.smallest_latency_ticks),
            );
            self.line(if index == 0 { "pairs" } else { "" }, &content);
        }
        let others = report.before.reversed_pairs.saturating_sub(shown as u64);
        if others > 0 {
            self.line("", &format!("and {} more", group_digits(others)));
        }
    }

    /// The worst contradiction, or with `verbose` all that were kept.
    fn worst(&mut self, report: &Report, verbose: bool) {
        let worst = report.before.worst.iter();
        let reversed = worst.filter(|it| verbose || it.latency_ticks < 0);
        let shown = if verbose { usize::MAX } else { 1 };
        for (index, violation) in reversed.take(shown).enumerate() {
            let content = format!(
                "{}, {}{}: event {} of {} -> event {} of {}",
                self.span(violation.latency_ticks),
                match violation.kind {
                    DependencyKind::Message => "message",
                    DependencyKind::Collective => "collective",
                },
                caused_at(&report.trace, violation),
                violation.cause.event,
                violation.cause_on,
                violation.effect.event,
                violation.effect_on,
            );
            self.line(if index == 0 { "worst" } else { "" }, &content);
        }
    }

    fn distortion(&mut self, distortion: &DistortionPart, events: u64) {
        let measured = &distortion.measured;
        let mean = self
            .rate
            .map_or(0.0, |rate| measured.mean_displacement / rate.get() as f64);
        let moved = format!(
            "{} of {} that communicate; by {} on average of all, by {} at most",
            group_digits(measured.moved),
            plural(events, "event"),
            format_seconds(mean),
            self.span(measured.largest_displacement.0.saturating_abs()),
        );
        self.line("moved", &moved);
        self.line("intervals", &format!("between these: {}", shares(measured)));
        let mean = share(measured.mean);
        let largest = match &distortion.largest_at {
            Some(at) => format!("{} at most (before {})", largest(measured), place(at)),
            None => "one tick at most".into(),
        };
        if measured.unchanged < measured.intervals {
            self.line("", &format!("changed by {mean} on average, by {largest}"));
        }
        if let Some(limit) = &distortion.largest_limited_by {
            let (send, effect) = (place(&limit.send), place(&limit.effect));
            let content = format!("behind {send}, which {effect} keeps from moving with it");
            self.line("", &content);
        }
        if let Some(all) = &distortion.all_events {
            self.all_events(all);
        }
    }

    /// The changes between all events, also of those between the ones that communicate.
    fn all_events(&mut self, all: &Distortion) {
        self.line("", &format!("between all events: {}", shares(all)));
        let content = format!(
            "changed by {} on average, by {} at most; {} moved",
            share(all.mean),
            largest(all),
            plural(all.moved, "event"),
        );
        self.line("", &content);
    }

    fn accuracy(&mut self, accuracy: &AccuracyPart) {
        let AccuracyPart {
            recorded,
            corrected,
            ..
        } = accuracy;
        let heading = corrected.as_ref().map_or("", |_| "corrected");
        let heading = format!("\n{:<19}{:<28}{heading}", "against the truth", "recorded");
        let _ = writeln!(self.out, "{}", heading.trim_end());
        let mut row = |name: &str, cell: &dyn Fn(&MeasuredPart) -> String| {
            let corrected = corrected.as_ref().map(cell).unwrap_or_default();
            let row = format!("{name:<19}{:<27} {corrected}", cell(recorded));
            let _ = writeln!(self.out, "{}", row.trim_end());
        };
        let rate = self.rate.map_or(1.0, |rate| rate.get() as f64);
        let span = |ticks: f64| format_seconds(ticks / rate);
        let errors = |of: &Deviation| format!("{} rms, {} max", span(of.rms), span(of.max));
        let means = |of: &Deviation| format!("{} mean, {} max", span(of.mean_abs), span(of.max));
        row("  relative times", &|it| means(&it.relative_ticks));
        row("  synchronisation", &|it| errors(&it.synchronization_ticks));
        row("  message delays", &|it| errors(&it.message_delay_ticks));
        row("  ahead (F)", &|it| span(it.ahead_ticks));
        row("  behind (S)", &|it| span(it.behind_ticks));
        row("  intervals (A)", &|it| share(it.deviation));
        self.out.push_str("  of events that communicate\n\n");
    }

    fn time(&mut self, report: &Report) {
        let timing = &report.timing;
        let mut parts = vec![
            ("read", timing.scan_seconds),
            ("match", timing.matching_seconds),
            ("analyse", timing.analysis_seconds),
        ];
        parts.extend(
            timing
                .correction_seconds
                .map(|seconds| ("correct", seconds)),
        );
        parts.extend(timing.bounds_seconds.map(|seconds| ("bound", seconds)));
        parts.extend(timing.writing_seconds.map(|seconds| ("write", seconds)));
        parts.extend(
            timing
                .verification_seconds
                .map(|seconds| ("verify", seconds)),
        );
        let parts: Vec<String> = parts
            .iter()
            .map(|(name, seconds)| format!("{name} {seconds:.2}"))
            .collect();
        self.line(
            "time",
            &format!("{:.2} s ({})", timing.total_seconds, parts.join(", ")),
        );
    }
}

/// The largest relative change. One tick of a short interval can be a larger share of it than any
/// change of more ticks, and it counts in the mean.
fn largest(of: &Distortion) -> String {
    let more = share(of.largest);
    if of.small_change.most <= of.largest {
        return more;
    }
    if of.largest == 0.0 {
        return "one tick".into();
    }
    format!("{more} or one tick")
}

/// The shares of intervals by how much they changed.
fn shares(of: &Distortion) -> String {
    let percent = |part: u64| 100.0 * part as f64 / of.intervals.max(1) as f64;
    format!(
        "{:.1} % unchanged, {:.1} % by at most 0.1 % or one tick, {:.1} % by more",
        percent(of.unchanged),
        percent(of.small),
        percent(of.large),
    )
}

/// True if times became counters of the events of each location.
fn counts_alone(report: &Report) -> bool {
    let method = report.method.as_ref();
    let method = method.and_then(|it| named(&it.option));
    method.is_some_and(|it| !it.keeps_time())
}

fn place(place: &PlacePart) -> String {
    format!("event {} of location {}", place.event, place.location)
}

/// The part that bytes have in a delay.
fn bytes(part: &DelayByLengthPart) -> String {
    let all = [
        part.smallest_bytes_per_second,
        part.largest_bytes_per_second,
    ];
    let all = all.map(|it| Bandwidth::per_second(it).map_or(String::new(), |it| it.to_string()));
    match all {
        [one, other] if one == other => format!(" and {one}"),
        [smallest, largest] => format!(" and {smallest} to {largest}"),
    }
}

#[cfg(test)]
mod tests {
    use retime::causality::Place;
    use retime::{Changes, LocationIndex, Timestamp};

    use super::*;

    /// Intervals of 1000 and 10 ticks, changed by so many.
    fn changed(long: u64, short: u64) -> Distortion {
        let mut changes = Changes::default();
        for (event, (before, after)) in
            [(0, 0), (1_000, 1_000 + long), (1_010, 1_010 + long + short)]
                .into_iter()
                .enumerate()
        {
            let place = Place {
                location: LocationIndex(0),
                event: event as u64,
            };
            changes.event(Timestamp(before), Timestamp(after), place, None);
        }
        Distortion::of([changes])
    }

    #[test]
    fn one_tick_is_named_where_it_is_the_larger_share() {
        assert_eq!(largest(&changed(2, 0)), "0.200 %");
        assert_eq!(largest(&changed(2, 1)), "0.200 % or one tick");
        assert_eq!(largest(&changed(0, 1)), "one tick");
        assert_eq!(largest(&changed(2, 5)), "50.0 %");
    }
}
