//! How the clocks of devices differed from those of the hosts that drive them, where they turned
//! out to have clocks of their own.
//!
//! Of both clocks is known what was added. At the stamps at which the correction of the device
//! begins and ends, what was added less to the device than to the host is by how much it showed more.

use retime::pipeline::{Analysis, Solution};
use retime::{
    ClockId, Clocks, LocationIndex, TickRate, Timestamp, TraceInfo, format_seconds, printable,
};

use super::model::{DevicePart, Report};

/// Devices that are named to everybody; `-v` names all.
const SHOWN: usize = 8;

/// Per clock: that of the process that has made all whose clock it is, if that is another.
pub(super) fn host_clocks(info: &TraceInfo, clocks: &Clocks) -> Vec<Option<ClockId>> {
    let mut of_process: Vec<Option<ClockId>> = vec![None; info.processes.len()];
    for (location, &clock) in info.locations.iter().zip(clocks.by_location()) {
        if let Some(known) = of_process.get_mut(location.process) {
            known.get_or_insert(clock);
        }
    }
    let host = |it: &LocationIndex| {
        let own = info.locations.get(it.as_usize())?.process;
        let host = info.family(own);
        of_process
            .get(host)
            .copied()
            .flatten()
            .filter(|_| host != own)
    };
    let host_of = |clock: ClockId| {
        let mut hosts = clocks.locations(clock).iter().map(host);
        let first = hosts.next()??;
        let is_one = hosts.all(|it| it == Some(first));
        (is_one && first != clock).then_some(first)
    };
    clocks.iter().map(host_of).collect()
}

/// How many devices are taken to read the clock of the process that drives them, where others turned out to have
/// clocks of their own: what has failed for these can have failed for those.
pub(super) fn left_with_hosts(info: &TraceInfo, clocks: &Clocks) -> usize {
    if host_clocks(info, clocks).iter().all(Option::is_none) {
        return 0;
    }
    let mut clock_of: Vec<Option<ClockId>> = vec![None; info.processes.len()];
    for (location, &clock) in info.locations.iter().zip(clocks.by_location()) {
        if let Some(known) = clock_of.get_mut(location.process) {
            known.get_or_insert(clock);
        }
    }
    let is_left = |process: &usize| {
        let host = info.family(*process);
        let [own, its] = [*process, host].map(|it| clock_of.get(it).copied().flatten());
        host != *process && own.is_some() && own == its
    };
    (0..info.processes.len()).filter(is_left).count()
}

/// The devices with clocks of their own in a trace that was corrected.
pub(crate) fn part(analysis: &Analysis, solution: &Solution) -> Vec<DevicePart> {
    let (info, clocks) = (analysis.info(), analysis.clocks());
    let of_clock = |(clock, host): (ClockId, Option<ClockId>)| {
        let host = host?;
        let first = clocks.locations(clock).first()?;
        let process = info.locations.get(first.as_usize())?.process;
        let [own, other] = [clock, host].map(|it| solution.correction.map(it));
        let ends = own.knots().first().zip(own.knots().last());
        let (from, to) = ends.map_or_else(Default::default, |(a, b)| (a.raw, b.raw));
        let added = |map: &retime::ClockMap, raw: Timestamp| {
            let corrected = map.cursor(LocationIndex(u32::MAX)).map_time(raw);
            i128::from(corrected.unwrap_or(raw).0) - i128::from(raw.0)
        };
        let ahead = |raw: Timestamp| (added(other, raw) - added(own, raw)) as i64;
        Some(DevicePart {
            name: info.processes.get(process)?.name.clone(),
            clock: clock.0,
            host_clock: host.0,
            ahead_ticks: [ahead(from), ahead(to)],
        })
    };
    let hosts = host_clocks(info, clocks);
    clocks.iter().zip(hosts).filter_map(of_clock).collect()
}

/// Lines of the summary, each with its label.
pub(super) fn lines(report: &Report, verbose: bool) -> Vec<(&'static str, String)> {
    let Some(rate) = TickRate::per_second(report.trace.ticks_per_second) else {
        return Vec::new();
    };
    let devices = &report.devices;
    let shown = if verbose { devices.len() } else { SHOWN };
    let mut lines: Vec<String> = devices
        .iter()
        .take(shown)
        .map(|it| line(it, rate))
        .collect();
    if devices.len() > shown {
        lines.push(format!("and {} more (-v)", devices.len() - shown));
    }
    let labels = std::iter::once("devices").chain(std::iter::repeat(""));
    labels.zip(lines).collect()
}

fn line(device: &DevicePart, rate: TickRate) -> String {
    let place = |ticks: i64| {
        let way = if ticks < 0 { "behind" } else { "ahead of" };
        let by = format_seconds(ticks.unsigned_abs() as f64 / rate.get() as f64);
        format!("{by} {way}")
    };
    let [first, last] = device.ahead_ticks.map(place);
    let name = printable(&device.name);
    if first == last {
        return format!("{name}: a clock of its own, {first} that of its host");
    }
    format!("{name}: a clock of its own, {first} that of its host at first, {last} it at last")
}
