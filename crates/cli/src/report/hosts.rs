//! How the clocks of hosts differed, where each host has one.
//!
//! What was added to a clock, turned round: by how much it showed more than the common time
//! in the middle between its first and its last dependency, and how that grew between them.

use std::collections::BTreeSet;

use retime::pipeline::{Analysis, Solution};
use retime::{ClockId, LocationIndex, TickRate, Ticks, Timestamp, printable};

use super::model::{HostPart, Report};
use super::summary::plural;

/// Hosts that are named to everybody; `-v` names all.
const SHOWN: usize = 8;

/// The hosts of a trace that was corrected; nothing unless there are several, each with one
/// clock.
pub(crate) fn part(analysis: &Analysis, solution: &Solution) -> Option<Vec<HostPart>> {
    let (info, clocks) = (analysis.info(), analysis.clocks());
    let node_of = |location: &LocationIndex| {
        let process = info.locations.get(location.as_usize())?.process;
        info.processes.get(process)?.node
    };
    let mut met = BTreeSet::new();
    let mut hosts = Vec::new();
    for clock in clocks.iter() {
        let locations = clocks.locations(clock);
        let node = node_of(locations.first()?)?;
        let is_one = locations.iter().all(|it| node_of(it) == Some(node));
        if !is_one || !met.insert(node) {
            return None;
        }
        hosts.push(host(analysis, solution, clock, info.nodes.get(node)?));
    }
    (hosts.len() > 1).then_some(hosts)
}

fn host(analysis: &Analysis, solution: &Solution, clock: ClockId, name: &str) -> HostPart {
    let (info, clocks) = (analysis.info(), analysis.clocks());
    let locations = clocks.locations(clock);
    let processes: BTreeSet<usize> = locations
        .iter()
        .filter_map(|it| Some(info.locations.get(it.as_usize())?.process))
        .collect();
    let map = solution.correction.map(clock);
    let ends = map.knots().first().zip(map.knots().last());
    let (first, last) = ends.map_or_else(Default::default, |(a, b)| (a.raw, b.raw));
    let mut cursor = map.cursor(LocationIndex(u32::MAX));
    let mut ahead = |raw: u64| {
        let corrected = cursor.map_time(Timestamp(raw)).map_or(raw, |it| it.0);
        i128::from(raw) - i128::from(corrected)
    };
    let middle = ahead(u64::midpoint(first.0, last.0));
    let grown = ahead(last.0) - ahead(first.0);
    let run = last.0.saturating_sub(first.0);
    HostPart {
        name: name.to_owned(),
        clock: clock.0,
        processes: processes.len(),
        ahead_ticks: middle as i64,
        drift: if run == 0 {
            0.0
        } else {
            grown as f64 / run as f64
        },
    }
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

fn line(report: &Report, host: &HostPart, rate: TickRate) -> String {
    let (name, processes) = (
        printable(&host.name),
        plural(host.processes as u64, "process"),
    );
    let bounds = report.bounds.as_ref();
    if bounds.is_some_and(|it| it.reference_clock == host.clock) {
        return format!("{name} ({processes}): its time is the common one");
    }
    let bound = bounds.and_then(|it| it.clocks.get(host.clock as usize));
    if bound.is_some_and(|it| it.events == 0) {
        return format!("{name} ({processes}): nothing relates its clock to the others");
    }
    let within = bound.map_or(String::new(), |it| {
        format!(", known to ±{}", rate.format(Ticks(it.mean.round() as i64)))
    });
    let (ahead, direction) = match host.ahead_ticks {
        ticks if ticks < 0 => (-ticks, "behind"),
        ticks => (ticks, "ahead"),
    };
    format!(
        "{name} ({processes}): {} {direction}, drift {:+.2} ppm{within}",
        rate.format(Ticks(ahead)),
        host.drift * 1e6,
    )
}
