//! How the clocks of hosts differed, where each host has one.
//!
//! What was added to a clock, turned round: by how much it showed more than the common time
//! in the middle between the first and the last knot of its correction, and how that grew
//! between them.
//!
//! **How wrong the drift can be.** At the stamps `a < b` of these two knots
//! let the clock be `g(a)` and `g(b)` ahead by the corrected times, which may be later than the
//! truth by `before` and earlier by `after` at most. So it truly is ahead by
//!
//! ```text
//! true(t) = g(t) + e(t)    with -after(t) <= e(t) <= before(t)
//! ```
//!
//! and the mean drift from `a` to `b` is
//!
//! ```text
//! (true(b) - true(a)) / (b - a) = (g(b) - g(a)) / (b - a) + (e(b) - e(a)) / (b - a)
//! ```
//!
//! whose last part, the error of what is printed, is at most
//! `max(before(b) + after(a), after(b) + before(a)) / (b - a)` from zero. The bounds of offsets
//! contain already what clocks may wander between dependencies. Where one of the four is not
//! known nothing is said of the drift.

use std::collections::BTreeSet;

use retime::optimal::ClockErrorBound;
use retime::pipeline::{Analysis, Bounds, RATE_DIFFERENCE, Solution};
use retime::{ClockId, LocationIndex, TickRate, Timestamp, format_seconds, plural, printable};

use super::devices::host_clocks;
use super::ends;
use super::model::{DriftPart, HostPart, Report};

/// Hosts that are named to everybody; `-v` names all.
const SHOWN: usize = 8;
/// Hosts that the first lines of a summary name.
const NAMED: usize = 3;

/// The hosts of a trace that was corrected; nothing unless there are several, each with one
/// clock.
pub(crate) fn part(
    analysis: &Analysis,
    solution: &Solution,
    bounds: Option<&Bounds>,
) -> Option<Vec<HostPart>> {
    let (info, clocks) = (analysis.info(), analysis.clocks());
    let node_of = |location: &LocationIndex| {
        let process = info.locations.get(location.as_usize())?.process;
        info.processes.get(process)?.node
    };
    let mut met = BTreeSet::new();
    let mut hosts = Vec::new();
    let devices = host_clocks(info, clocks);
    for clock in clocks.iter().filter(|it| devices[it.as_usize()].is_none()) {
        let locations = clocks.locations(clock);
        let node = node_of(locations.first()?)?;
        let is_one = locations.iter().all(|it| node_of(it) == Some(node));
        if !is_one || !met.insert(node) {
            return None;
        }
        hosts.push(host(
            analysis,
            solution,
            bounds,
            clock,
            info.nodes.get(node)?,
        ));
    }
    (hosts.len() > 1).then_some(hosts)
}

fn host(
    analysis: &Analysis,
    solution: &Solution,
    bounds: Option<&Bounds>,
    clock: ClockId,
    name: &str,
) -> HostPart {
    let (info, clocks) = (analysis.info(), analysis.clocks());
    let locations = clocks.locations(clock);
    let processes: BTreeSet<usize> = locations
        .iter()
        .filter_map(|it| Some(info.locations.get(it.as_usize())?.process))
        .collect();
    let map = solution.correction.map(clock);
    let ends = map.knots().first().zip(map.knots().last());
    let (first, last) = ends.map_or_else(Default::default, |(a, b)| (a.raw, b.raw));
    let middle = Timestamp(u64::midpoint(first.0, last.0));
    let mut cursor = map.cursor(LocationIndex(u32::MAX));
    // What all were moved later by is no difference between clocks.
    let later = solution.aligned.as_ref().map_or(0, |it| it.moved_later.0);
    let [start, between, end] = [first, middle, last].map(|raw| {
        let corrected = cursor.map_time(raw).unwrap_or(raw);
        i128::from(raw.0) - i128::from(corrected.0) + i128::from(later)
    });
    let bound = bounds.and_then(|it| it.errors.clocks.get(clock.as_usize())?.as_ref());
    let (less, more) = bound.map_or((None, None), |it| {
        let (before, after) = it.at(middle);
        let finite = |value: f64| value.is_finite().then_some(value);
        (finite(after), finite(before))
    });
    // Where one of both was set or changed its rate, what it gained over the run is no drift.
    let broke = solution.aligned.as_ref().is_some_and(|it| {
        let set = it.steps.iter().map(|set| set.clock);
        let seems_set = it.ends.iter().flat_map(|it| &it.steps).map(|set| set.clock);
        let ran_otherwise = it.rate_changes.iter().map(|change| change.clock);
        let is_of_both = |broken: ClockId| broken == clock || Some(broken) == it.reference;
        set.chain(seems_set).chain(ran_otherwise).any(is_of_both)
    });
    let drift = bound.and_then(|it| drift(it, first, last, end - start));
    HostPart {
        name: name.to_owned(),
        clock: clock.0,
        processes: processes.len(),
        bounded: bounds.map(|it| it.sides(clock)),
        ahead_ticks: between as i64,
        ahead_within_ticks: (less, more),
        drift: drift.filter(|_| !broke),
    }
}

/// How much faster a clock ran that gained so many ticks between two stamps.
fn drift(
    bound: &ClockErrorBound,
    first: Timestamp,
    last: Timestamp,
    gained: i128,
) -> Option<DriftPart> {
    let run = last.0.saturating_sub(first.0) as f64;
    let ((before, after), (before_end, after_end)) = (bound.at(first), bound.at(last));
    let error = (before_end + after).max(after_end + before);
    (run > 0.0 && error.is_finite()).then(|| DriftPart {
        rate: gained as f64 / run,
        within: error / run,
    })
}

/// The hosts whose clocks were certainly off, the most first; nothing if none was.
pub(super) fn headline(report: &Report) -> Option<String> {
    let rate = TickRate::per_second(report.trace.ticks_per_second)?;
    let is_off = |it: &&HostPart| match it.ahead_within_ticks {
        (Some(less), Some(more)) => it.ahead_ticks.unsigned_abs() as f64 > less.max(more),
        _ => false,
    };
    let mut off: Vec<&HostPart> = report.hosts.as_ref()?.iter().filter(is_off).collect();
    off.sort_by_key(|it| (std::cmp::Reverse(it.ahead_ticks.unsigned_abs()), it.clock));
    let named = off.iter().take(NAMED).map(|it| {
        let seconds = it.ahead_ticks.unsigned_abs() as f64 / rate.get() as f64;
        let way = if it.ahead_ticks < 0 {
            "behind"
        } else {
            "ahead"
        };
        format!(
            "{} by {} ({way})",
            printable(&it.name),
            format_seconds(seconds)
        )
    });
    let named: Vec<String> = named.collect();
    let more = match off.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| format!("clocks that were off: {}{more}", named.join(", ")))
}

/// Lines of the summary, each with its label.
pub(super) fn lines(report: &Report, verbose: bool) -> Vec<(&'static str, String)> {
    let rate = TickRate::per_second(report.trace.ticks_per_second);
    let (Some(hosts), Some(rate)) = (&report.hosts, rate) else {
        return Vec::new();
    };
    let shown = if verbose { hosts.len() } else { SHOWN };
    let mut lines: Vec<String> = hosts
        .iter()
        .take(shown)
        .map(|it| line(report, it, rate))
        .collect();
    if hosts.len() > shown {
        lines.push(format!("and {} more (-v)", hosts.len() - shown));
    }
    let labels = std::iter::once("hosts").chain(std::iter::repeat(""));
    labels.zip(lines).collect()
}

/// The only bound of how far a clock is ahead, in words. One below zero is said of how far the
/// clock is behind, which turns round which side is open.
fn one_side(bound: f64, if_ahead: &str, if_behind: &str, place: impl Fn(f64) -> String) -> String {
    let side = if bound < 0.0 { if_behind } else { if_ahead };
    format!("bounded on one side only: {side} {}", place(bound))
}

fn line(report: &Report, host: &HostPart, rate: TickRate) -> String {
    let (name, processes) = (
        printable(&host.name),
        plural(host.processes as u64, "process"),
    );
    let bounds = report.bounds.as_ref();
    let method = report.method.as_ref();
    let alignment = method.and_then(|it| it.alignment.as_ref());
    let is_mean = alignment.is_some_and(|it| it.reference_clock.is_none());
    if bounds.is_some_and(|it| it.reference_clock == host.clock) && !is_mean {
        let wander = match alignment.and_then(|it| it.ahead_of_reference_ticks) {
            Some(_) => ", less what it wanders against all clocks",
            None => "",
        };
        return format!("{name} ({processes}): its time is the common one{wander}");
    }
    let seconds = |ticks: f64| format_seconds(ticks / rate.get() as f64);
    let place = |ticks: f64| match ticks {
        ticks if ticks < 0.0 => format!("{} behind", seconds(-ticks)),
        ticks => format!("{} ahead", seconds(ticks)),
    };
    let ahead = host.ahead_ticks as f64;
    let offset = match (host.bounded, host.ahead_within_ticks) {
        (None, _) => place(ahead),
        (Some((false, false)), _) => "nothing bounds its time".into(),
        (_, (Some(less), Some(more))) => {
            let certain = seconds(less.max(more));
            match ends::of_clock(report, host.clock) {
                Some(likely) if likely < less.max(more) => {
                    let likely = seconds(likely);
                    format!(
                        "{}, likely to ±{likely}, for certain to ±{certain}",
                        place(ahead)
                    )
                }
                _ => format!("{}, known to ±{certain}", place(ahead)),
            }
        }
        (_, (None, Some(more))) => one_side(ahead + more, "at most", "at least", place),
        (_, (Some(less), None)) => one_side(ahead - less, "at least", "at most", place),
        (_, (None, None)) => "not bounded in the middle of its run".into(),
    };
    // By default no result is accepted in which rates differ by more: a bound that is wider
    // says nothing.
    let said = host
        .drift
        .as_ref()
        .filter(|it| it.within <= RATE_DIFFERENCE);
    let drift = said.map_or(String::new(), |it| {
        let ppm = |share: f64| share * 1e6;
        format!(
            "; drift {:+.2} ppm, known to ±{:.2} ppm",
            ppm(it.rate),
            ppm(it.within)
        )
    });
    format!("{name} ({processes}): {offset}{drift}")
}
