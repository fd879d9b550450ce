//! Names of clocks that people know: of the process whose events it stamps, else of the host; of
//! its only location where processes have no names.

use std::collections::{BTreeMap, BTreeSet};

use retime::{
    ClockId, Clocks, Location, LocationIndex, TraceInfo, printable, without_exported_ids,
};

use super::model::Report;

/// The name of each clock: that of its only process, or of its only location if the process has
/// none, or of the host of all its processes if no other clock is read there, or of its first
/// process and how many more there are; none where it has no such name, or another clock has the
/// same.
pub(crate) fn names(info: &TraceInfo, clocks: &Clocks) -> Vec<Option<String>> {
    let names = clocks.iter().map(|clock| name(info, clocks, clock));
    let names: Vec<Option<String>> = names.collect();
    let mut bearers: BTreeMap<&str, usize> = BTreeMap::new();
    for name in names.iter().flatten() {
        *bearers.entry(name).or_default() += 1;
    }
    let is_unique = |it: &&String| bearers[it.as_str()] == 1;
    let unique = |it: &Option<String>| it.as_ref().filter(is_unique).cloned();
    names.iter().map(unique).collect()
}

fn name(info: &TraceInfo, clocks: &Clocks, clock: ClockId) -> Option<String> {
    let locations = clocks.locations(clock);
    let process = |it: &LocationIndex| info.locations[it.as_usize()].process;
    let node = |it: &LocationIndex| info.processes.get(process(it))?.node;
    let first = locations.first()?;
    let all_of = |same: &dyn Fn(&LocationIndex) -> bool| locations.iter().all(same);
    let name = if all_of(&|it| process(it) == process(first)) {
        match info.processes.get(process(first))?.name.as_str() {
            "" if locations.len() == 1 => return of_location(&info.locations[first.as_usize()]),
            name => without_exported_ids(name),
        }
    } else {
        let host = node(first)?;
        let mut others = clocks.iter().filter(|it| *it != clock);
        let on_host = |it: &LocationIndex| node(it) == Some(host);
        if !all_of(&on_host) {
            return None;
        }
        // Of a host with several clocks the name does not tell which.
        if others.any(|it| clocks.locations(it).iter().any(on_host)) {
            return first_of_several(info, locations);
        }
        info.nodes.get(host)?
    };
    (!name.is_empty()).then(|| name.to_owned())
}

/// The processes that read a clock: "MPI Rank 3 and 1 more".
fn first_of_several(info: &TraceInfo, locations: &[LocationIndex]) -> Option<String> {
    let process = |it: &LocationIndex| info.locations[it.as_usize()].process;
    let processes: BTreeSet<usize> = locations.iter().map(process).collect();
    let first = info.processes.get(*processes.first()?)?;
    let name = without_exported_ids(&first.name);
    (!name.is_empty()).then(|| format!("{name} and {} more", processes.len() - 1))
}

/// The name of a location, or "location 3" where that would be a number alone, as numbers are those
/// of clocks.
fn of_location(location: &Location) -> Option<String> {
    let name = location.name.as_str();
    let is_number = !name.is_empty() && name.bytes().all(|it| it.is_ascii_digit());
    if is_number {
        return Some(format!("location {}", location.id));
    }
    (!name.is_empty()).then(|| name.to_owned())
}

/// The name of whose clock it is, else its number: "MPI Rank 3" or "clock 3".
pub(super) fn owner(report: &Report, clock: u32) -> String {
    name_of(report, clock).unwrap_or_else(|| format!("clock {clock}"))
}

/// A clock in a sentence: "the clock of MPI Rank 3" or "clock 3".
pub(super) fn the_clock(report: &Report, clock: u32) -> String {
    match name_of(report, clock) {
        Some(name) => format!("the clock of {name}"),
        None => format!("clock {clock}"),
    }
}

fn name_of(report: &Report, clock: u32) -> Option<String> {
    let part = report.clocks.list.get(clock as usize)?;
    part.name.as_ref().map(|it| printable(it).to_string())
}
