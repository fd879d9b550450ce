//! Who held up others, as data and in words.

use std::collections::BTreeMap;

use retime::causality::Class;
use retime::format::{Reach, Unused};
use retime::pipeline::CameLast;
use retime::{
    GroupWaits, HiddenWaits, LateBegin, LocationIndex, Members, Origin, ProcessWaits, Stragglers,
    TickRate, TraceInfo, group_digits, plural, printable,
};

use super::build::place_part;
use super::clear::{
    Sureness, are_as_slow, are_clear, by_being_slow, is_clear, is_clear_host, others,
    waits_are_seen,
};
use super::model::Report;
use super::place::PlacePart;
use super::share::share;
use super::together::{hosts, several, slow_host, slow_together};
use super::wait_words::{LISTED, SHOWN, name, of_time, span, transfers, work};
use super::waits::{
    GroupPart, HiddenPart, LateBeginPart, LikelyPart, ReachPart, StragglerPart, StragglersPart,
    TogetherPart,
};

/// Members of a group that it names.
const MEMBERS_LISTED: usize = 16;

/// Builds the part of the report on stragglers; `None` where nobody waits for all others. Where
/// times contradict themselves, nobody is named by them; where no dependency relates any two clocks they
/// are `unrelated`.
pub(crate) fn part(
    info: &TraceInfo,
    came_last: &CameLast,
    contradictory: bool,
    unrelated: bool,
) -> Option<StragglersPart> {
    let found = &came_last.certain;
    if found.operations + found.messages + found.partial == 0 {
        return None;
    }
    if contradictory {
        return Some(StragglersPart {
            operations: found.operations,
            others: found.others,
            partial: found.partial,
            messages: found.messages,
            contradictory,
            ..StragglersPart::default()
        });
    }
    Some(StragglersPart {
        operations: found.operations,
        certain: found.certain,
        others: found.others,
        partial: found.partial,
        messages: found.messages,
        contradictory,
        unrelated,
        processes: processes(info, came_last),
        hosts: hosts(info, came_last, taking_part(found)),
        several: several(info, came_last),
        groups: groups(info, found),
        worst: found.worst.iter().map(|it| late(info, it)).collect(),
        waited_ticks: found.processes.iter().map(|it| it.waited).sum(),
        recorded_ticks: found.processes.iter().map(|it| it.recorded).sum(),
        lasted_ticks: found.processes.iter().map(|it| it.lasted).sum(),
        taking_part: taking_part(found),
    })
}

impl StragglersPart {
    /// Counts what was recorded of communication between processes and not used, by process.
    pub(crate) fn leave_out(&mut self, info: &TraceInfo, unused: &[Unused]) {
        for kind in unused.iter().filter(|it| it.reach == Reach::Trace) {
            for (location, records) in info.locations.iter().zip(&kind.records) {
                let process = info.family(location.process);
                let own = self.processes.iter_mut().find(|it| it.process == process);
                if let Some(own) = own.filter(|_| *records > 0) {
                    own.unused_records += records;
                }
                let together = self.hosts.iter_mut().chain(&mut self.several);
                for its in together.filter(|it| it.processes.binary_search(&process).is_ok()) {
                    its.unused_records += records;
                }
            }
        }
        for own in &mut self.processes {
            own.waits_are_seen = waits_are_seen(own);
        }
    }
}

/// The number of processes that took part.
fn taking_part(found: &Stragglers) -> usize {
    found.processes.iter().filter(|it| it.takes_part()).count()
}

/// The processes that held up others longest.
fn processes(info: &TraceInfo, came_last: &CameLast) -> Vec<StragglerPart> {
    let found = &came_last.certain;
    let origins = by_process(found);
    let likely = came_last.likely.as_ref().map(by_process);
    let of = |number: usize| origins.get(&number).copied();
    let tick = |number: usize, which: fn(&Origin) -> u64| of(number).map_or(0, which);
    let mut parts: Vec<StragglerPart> = found
        .processes
        .iter()
        .zip(&info.processes)
        .enumerate()
        .filter(|(_, (waits, _))| waits.takes_part())
        .map(|(number, (waits, process))| StragglerPart {
            process: number,
            name: process.name.clone(),
            held_up_ticks: tick(number, |it| it.held_up),
            held_up_directly_ticks: tick(number, |it| it.directly),
            certainly_held_up_ticks: tick(number, |it| it.certainly),
            held_up_operations: tick(number, |it| it.operations),
            certainly_held_up_operations: tick(number, |it| it.certain_operations),
            likely: likely
                .as_ref()
                .map(|it| likely_part(it.get(&number).copied())),
            work: of(number).and_then(|it| it.work).map(work),
            significant: of(number).is_some_and(|it| it.significant),
            reach: of(number).and_then(|it| it.reach).map(|it| ReachPart {
                directly: it.directly,
                through_others: it.through_others,
            }),
            hidden: found.hidden.get(number).and_then(hidden),
            operations: waits.operations,
            messages: waits.messages,
            unused_records: 0,
            waits_are_seen: true,
            last: waits.last,
            certainly_last: waits.certainly_last,
            waited_for_ticks: waits.waited_for,
            certainly_waited_for_ticks: waits.certainly_waited_for,
            waited_for_alone_ticks: waits.waited_for_alone,
            waited_for_longest_ticks: waits.waited_for_longest,
            waited_ticks: waits.waited,
            waited_share: ProcessWaits::share(waits),
            recorded_ticks: waits.recorded,
            lasted_ticks: waits.lasted,
        })
        .collect();
    let others = parts.len().saturating_sub(1);
    let key = |it: &StragglerPart| {
        let certainly = it.certainly_held_up_ticks;
        (
            by_being_slow(it, certainly, others),
            certainly,
            it.held_up_ticks,
        )
    };
    parts.sort_by_key(|it| std::cmp::Reverse(key(it)));
    parts.truncate(LISTED);
    parts
}

fn by_process(found: &Stragglers) -> BTreeMap<usize, &Origin> {
    found.origins.iter().map(|it| (it.process, it)).collect()
}

/// The part of what a process held up that is certain if times are as near as is likely.
fn likely_part(origin: Option<&Origin>) -> LikelyPart {
    origin.map_or_else(LikelyPart::default, |it| LikelyPart {
        held_up_ticks: it.certainly,
        held_up_operations: it.certain_operations,
    })
}

fn hidden(of: &HiddenWaits) -> Option<HiddenPart> {
    Some(HiddenPart {
        stood_still_ticks: of.stood_still?,
        of_others_ticks: of.of_others,
    })
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
        hidden_ticks: group.hidden,
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
        hidden_ticks: of.hidden,
    }
}

/// The first line of a summary: the host, the process or the processes that clearly held up others, if
/// there are such.
pub(super) fn headline(report: &Report) -> Option<String> {
    let rate = TickRate::per_second(report.trace.ticks_per_second)?;
    let part = report.stragglers.as_ref()?;
    // Who came last in what could be joined may have been kept in what could not.
    let examined = &report.examined.examined;
    let is_little = 2 * examined.used() < examined.recorded();
    let mut hosts = report.hosts.iter().flatten();
    let is_host_alone = hosts.any(|it| it.bounded == Some((false, false)));
    if is_little || part.unrelated || is_host_alone {
        return None;
    }
    let ways = [Sureness::Certain, Sureness::Likely];
    ways.into_iter().find_map(|it| named(part, it, rate))
}

/// The host, the process or the processes that clearly held up others, by what is so sure.
fn named(part: &StragglersPart, sureness: Sureness, rate: TickRate) -> Option<String> {
    let of_host = |it: &&TogetherPart| {
        let surely = it.surely_held_up(sureness);
        it.by_being_slow(surely, part.taking_part)
    };
    // Of several that are alike the first, in the order in which they are listed.
    let host = part.hosts.iter().rev().max_by_key(of_host);
    if let Some(host) = host.filter(|it| is_clear_host(part, it, sureness)) {
        return Some(slow_host(part, host, sureness, rate));
    }
    let others = part.taking_part.saturating_sub(1);
    let of_process = |it: &&StragglerPart| {
        let surely = it.surely_held_up(sureness);
        (by_being_slow(it, surely, others), surely, it.held_up_ticks)
    };
    let first = part.processes.iter().rev().max_by_key(of_process);
    let first = first.filter(|it| is_clear(part, it, sureness));
    let several = part.several.as_ref();
    let several = several.filter(|it| are_clear(part, it, sureness));
    match (first, several) {
        (Some(first), several) if !several.is_some_and(|it| are_as_slow(it, first)) => {
            Some(straggler(part, first, sureness, rate))
        }
        (_, several) => several.map(|it| slow_together(part, it, sureness, rate)),
    }
}

/// Lines of the summary, each with its label.
pub(super) fn lines(report: &Report) -> Vec<(&'static str, String)> {
    let rate = TickRate::per_second(report.trace.ticks_per_second);
    let (Some(part), Some(rate)) = (&report.stragglers, rate) else {
        return Vec::new();
    };
    let lines = if part.contradictory {
        vec![contradictory(part)]
    } else {
        details(part, rate)
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

/// Whom a process held up, for how long, and how.
fn straggler(
    part: &StragglersPart,
    process: &StragglerPart,
    sureness: Sureness,
    rate: TickRate,
) -> String {
    let name = name(process.process, &process.name);
    let name = printable(&name);
    let held = process.held_up_ticks;
    if held == 0 {
        return format!("{name} held up nobody");
    }
    let of_time = of_time(held, others(part, process));
    let (whom, how) = match &process.reach {
        Some(it) => {
            let whom = plural((it.directly + it.through_others) as u64, "other");
            let how = match it.through_others {
                0 => "all directly".into(),
                through => format!("{} directly, {through} through them", it.directly),
            };
            (whom, format!("; {how}"))
        }
        None => ("others".into(), String::new()),
    };
    let work = process.work.as_ref().filter(|it| it.longer_ticks > 0);
    let work = work.map_or(String::new(), |it| {
        format!(
            "; it waited {} less than half of the others did{}",
            span(it.longer_ticks, rate),
            transfers("its", it, rate)
        )
    });
    let hidden = hidden_for(process).map_or(String::new(), |it| {
        format!(
            "; {} more were hidden: others computed meanwhile",
            span(it, rate)
        )
    });
    let likely = process.likely.filter(|_| sureness == Sureness::Likely);
    let likely = likely.map_or(String::new(), |it| {
        format!("likely in {}, ", group_digits(it.held_up_operations))
    });
    format!(
        "{name} held up {whom} for {}{of_time}, in {}, {likely}certainly in {}{how}{work}{hidden}",
        span(held, rate),
        operations(part, process.held_up_operations),
        group_digits(process.certainly_held_up_operations),
    )
}

/// How long others waited for a process and computed meanwhile, if they did.
fn hidden_for(process: &StragglerPart) -> Option<u64> {
    let hidden = process.hidden.as_ref().map(|it| it.of_others_ticks);
    hidden.filter(|it| *it > 0)
}

/// So many of what ranks wait in.
fn operations(part: &StragglersPart, count: u64) -> String {
    let what = match (part.operations, part.messages) {
        (_, 0) => "collective",
        (0, _) => "message",
        _ => "operation",
    };
    plural(count, what)
}

/// The words for the operations to which a process came last.
fn last(process: &StragglerPart, rate: TickRate) -> String {
    format!(
        "last in {} of {}, certainly in {}; waited for {} at most by one",
        group_digits(process.last),
        plural(process.operations, "collective"),
        group_digits(process.certainly_last),
        span(process.waited_for_longest_ticks, rate),
    )
}

/// Lines on the operations that were judged: by process, by group, and the worst one.
fn details(part: &StragglersPart, rate: TickRate) -> Vec<String> {
    let not_judged = match part.others {
        0 => String::new(),
        others => format!("; {} not judged", group_digits(others)),
    };
    let partial = match part.partial {
        0 => String::new(),
        partial => format!("; in {} more some wait for some", group_digits(partial)),
    };
    let mut lines = vec![format!(
        "who came last is certain in {} of {} in which all wait for all{partial}{not_judged}",
        group_digits(part.certain),
        plural(part.operations, "collective"),
    )];
    let waited = |it: &StragglerPart| {
        let (own, of_time) = (span(it.waited_ticks, rate), share(it.waited_share));
        let held_up = straggler(part, it, Sureness::Certain, rate);
        let last = last(it, rate);
        let beside = it
            .hidden
            .as_ref()
            .map_or("", |_| " while it computed nothing");
        format!("{held_up}; {last}; it waited {own}, {of_time}{beside}")
    };
    lines.extend(unseen(part));
    lines.extend(shown(&part.processes, waited));
    lines.extend(part.worst.first().map(|it| worst(it, rate)));
    lines.extend(shown(&part.groups, |it| group(it, rate)));
    lines
}

/// A word on waits that nobody sees, where they may be many.
fn unseen(part: &StragglersPart) -> Option<String> {
    let mut held_up = part.processes.iter().filter(|it| it.held_up_ticks > 0);
    let is_seen = |it: &StragglerPart| it.work.is_some() && waits_are_seen(it);
    (!held_up.all(is_seen)).then(|| {
        "what was waited elsewhere, as for messages, is not seen here: who came last may have \
         waited until then"
            .into()
    })
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
    let hidden = match group.hidden_ticks {
        0 => String::new(),
        ticks => format!(", {} more beside computing", span(ticks, rate)),
    };
    let judged = match group.class {
        Class::AllToAll => format!(
            ", {} certain, {} waited{hidden}",
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
