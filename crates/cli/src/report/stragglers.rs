//! Who came last in collective operations, as data and in words.

use std::collections::BTreeMap;

use retime::causality::Class;
use retime::{
    GroupWaits, LateBegin, LocationIndex, Members, ProcessWaits, Stragglers, TickRate, Ticks,
    TraceInfo, group_digits, plural, printable,
};

use super::build::place_part;
use super::model::{GroupPart, LateBeginPart, PlacePart, Report, StragglerPart, StragglersPart};
use super::share::share;

/// Processes and groups that a report lists.
const LISTED: usize = 100;
/// Members of a group that it names.
const MEMBERS_LISTED: usize = 16;
/// Of processes and groups so many are shown with `--verbose`.
const SHOWN: usize = 5;
/// A process is named without being asked for if others certainly waited for it twice as
/// long as for any other, and twice as long as for anyone on average,
const TWICE: f64 = 2.0;
/// and that is so much of their time: less is not worth a line.
const WORTH: f64 = 0.01;

/// What a report says; nothing where nobody waits for all others. Where times contradict
/// themselves, nobody is named by them.
pub(crate) fn part(
    info: &TraceInfo,
    found: &Stragglers,
    contradictory: bool,
) -> Option<StragglersPart> {
    if found.operations == 0 {
        return None;
    }
    if contradictory {
        return Some(StragglersPart {
            operations: found.operations,
            others: found.others,
            contradictory,
            ..StragglersPart::default()
        });
    }
    Some(StragglersPart {
        operations: found.operations,
        certain: found.certain,
        others: found.others,
        contradictory,
        processes: processes(info, found),
        groups: groups(info, found),
        worst: found.worst.iter().map(|it| late(info, it)).collect(),
        waited_ticks: found.processes.iter().map(|it| it.waited).sum(),
        recorded_ticks: found.processes.iter().map(|it| it.recorded).sum(),
        taking_part: found
            .processes
            .iter()
            .filter(|it| it.operations > 0)
            .count(),
    })
}

/// Those for whom others waited longest.
fn processes(info: &TraceInfo, found: &Stragglers) -> Vec<StragglerPart> {
    let mut parts: Vec<StragglerPart> = found
        .processes
        .iter()
        .zip(&info.processes)
        .enumerate()
        .filter(|(_, (waits, _))| waits.operations > 0)
        .map(|(number, (waits, process))| StragglerPart {
            process: number,
            name: process.name.clone(),
            operations: waits.operations,
            last: waits.last,
            certainly_last: waits.certainly_last,
            waited_for_ticks: waits.waited_for,
            certainly_waited_for_ticks: waits.certainly_waited_for,
            waited_for_alone_ticks: waits.waited_for_alone,
            waited_for_longest_ticks: waits.waited_for_longest,
            waited_ticks: waits.waited,
            waited_share: ProcessWaits::share(waits),
            recorded_ticks: waits.recorded,
        })
        .collect();
    let key = |it: &StragglerPart| (it.certainly_waited_for_ticks, it.waited_for_ticks);
    parts.sort_by_key(|it| std::cmp::Reverse(key(it)));
    parts.truncate(LISTED);
    parts
}

fn groups(info: &TraceInfo, found: &Stragglers) -> Vec<GroupPart> {
    let mut names: BTreeMap<Vec<LocationIndex>, &str> = BTreeMap::new();
    for communicator in &info.communicators {
        if let Members::Ranks(members) | Members::Threads(members) = &communicator.members {
            let mut members = members.to_vec();
            members.sort_unstable();
            names.entry(members).or_insert(&communicator.name);
        }
    }
    let id = |it: &LocationIndex| info.locations[it.as_usize()].id;
    let part = |group: &GroupWaits| GroupPart {
        name: names.get(&group.locations[..]).map(|&it| it.to_owned()),
        members: group.locations.len(),
        locations: group
            .locations
            .iter()
            .take(MEMBERS_LISTED)
            .map(id)
            .collect(),
        class: group.class,
        operations: group.operations,
        certain: group.certain,
        waited_ticks: group.waited,
    };
    found.groups.iter().take(LISTED).map(part).collect()
}

fn late(info: &TraceInfo, of: &LateBegin) -> LateBeginPart {
    LateBeginPart {
        last: place_part(info, of.last),
        next: place_part(info, of.next),
        later_ticks: of.later,
        beyond_ticks: of.beyond,
        waited_ticks: of.waited,
        waited_alone_ticks: of.alone,
    }
}

/// Lines of the summary, each with its label.
pub(super) fn lines(report: &Report, verbose: bool) -> Vec<(&'static str, String)> {
    let rate = TickRate::per_second(report.trace.ticks_per_second);
    let (Some(part), Some(rate)) = (&report.stragglers, rate) else {
        return Vec::new();
    };
    let clear = part.processes.first().filter(|it| is_clear(part, it));
    let lines: Vec<String> = match (verbose, clear) {
        (true, _) if part.contradictory => vec![contradictory(part)],
        (true, _) => details(part, rate),
        (false, Some(process)) => vec![straggler(part, process, rate)],
        (false, None) => Vec::new(),
    };
    let labels = std::iter::once("stragglers").chain(std::iter::repeat(""));
    labels.zip(lines).collect()
}

fn contradictory(part: &StragglersPart) -> String {
    format!(
        "nobody is named: by times that contradict each other nothing says who came last in {}",
        plural(part.operations, "collective"),
    )
}

/// True if a process is worth naming to everybody.
fn is_clear(part: &StragglersPart, process: &StragglerPart) -> bool {
    let certainly = process.certainly_waited_for_ticks as f64;
    let by_chance = part.waited_ticks as f64 / part.taking_part.max(1) as f64;
    let next = part.processes.get(1).map_or(0, |it| it.waited_for_ticks) as f64;
    certainly >= TWICE * next.max(by_chance) && certainly >= WORTH * others(part, process) as f64
}

/// How long all others were recorded.
fn others(part: &StragglersPart, process: &StragglerPart) -> u64 {
    part.recorded_ticks.saturating_sub(process.recorded_ticks)
}

fn span(ticks: u64, rate: TickRate) -> String {
    rate.format(Ticks(i64::try_from(ticks).unwrap_or(i64::MAX)))
}

fn straggler(part: &StragglersPart, process: &StragglerPart, rate: TickRate) -> String {
    let others = others(part, process).max(1) as f64;
    format!(
        "{}: last in {} of {}, certainly in {}; summed over {}, others waited {} for it, {} of their time, one of them {} at most",
        name(process),
        group_digits(process.last),
        plural(process.operations, "collective"),
        group_digits(process.certainly_last),
        plural(part.taking_part.saturating_sub(1) as u64, "process"),
        span(process.waited_for_ticks, rate),
        share((process.waited_for_ticks as f64 / others).min(1.0)),
        span(process.waited_for_longest_ticks, rate),
    )
}

fn name(process: &StragglerPart) -> String {
    match process.name.as_str() {
        "" => format!("process {}", process.process),
        name => printable(name).to_string(),
    }
}

/// What was judged, by process, by group, and the worst operation.
fn details(part: &StragglersPart, rate: TickRate) -> Vec<String> {
    let not_judged = match part.others {
        0 => String::new(),
        others => format!("; {} not judged", group_digits(others)),
    };
    let mut lines = vec![format!(
        "who came last is certain in {} of {} in which all wait for all{not_judged}",
        group_digits(part.certain),
        plural(part.operations, "collective"),
    )];
    let waited = |it: &StragglerPart| {
        let (own, of_time) = (span(it.waited_ticks, rate), share(it.waited_share));
        format!("{}; it waited {own}, {of_time}", straggler(part, it, rate))
    };
    lines.extend(shown(&part.processes, waited));
    lines.extend(part.worst.first().map(|it| worst(it, rate)));
    lines.extend(shown(&part.groups, |it| group(it, rate)));
    lines
}

/// The first few, and how many more there are.
fn shown<T>(all: &[T], line: impl Fn(&T) -> String) -> Vec<String> {
    let more = all.len().saturating_sub(SHOWN);
    let more = (more > 0).then(|| format!("and {more} more"));
    all.iter().take(SHOWN).map(line).chain(more).collect()
}

fn worst(late: &LateBeginPart, rate: TickRate) -> String {
    let place = |at: &PlacePart| format!("event {} of location {}", at.event, at.location);
    let known = match late.beyond_ticks {
        Some(ticks) => format!("at least {}", span(ticks, rate)),
        None => "which is not certain".into(),
    };
    format!(
        "latest: {}, {} after {}, {known}",
        place(&late.last),
        span(late.later_ticks, rate),
        place(&late.next),
    )
}

fn group(group: &GroupPart, rate: TickRate) -> String {
    let judged = match group.class {
        Class::AllToAll => format!(
            ", {} certain, {} waited",
            group_digits(group.certain),
            span(group.waited_ticks, rate)
        ),
        _ => String::new(),
    };
    format!(
        "{}: {} ({}){judged}",
        who(group),
        plural(group.operations, "collective"),
        proves(group.class),
    )
}

fn who(group: &GroupPart) -> String {
    let members = plural(group.members as u64, "member");
    match group.name.as_deref() {
        None | Some("") => {
            let locations: Vec<String> = group.locations.iter().map(u64::to_string).collect();
            let more = if group.members > locations.len() {
                ", ..."
            } else {
                ""
            };
            format!("locations {}{more} ({members})", locations.join(", "))
        }
        Some(name) => format!("{} ({members})", printable(name)),
    }
}

fn proves(class: Class) -> &'static str {
    match class {
        Class::OneToAll => "all wait for one",
        Class::AllToOne => "one waits for all",
        Class::AllToAll => "all wait for all",
        Class::Prefix => "each waits for those before",
        Class::None => "nobody waits",
    }
}
