//! Who held up others, as data and in words.

use std::collections::BTreeMap;

use retime::causality::Class;
use retime::format::{Reach, Unused};
use retime::{
    ComparedWork, GroupWaits, HostWork, LateBegin, LocationIndex, Members, Origin, ProcessWaits,
    Stragglers, TickRate, Ticks, TraceInfo, group_digits, plural, printable,
};

use super::build::place_part;
use super::model::Report;
use super::place::PlacePart;
use super::share::share;
use super::waits::{
    GroupPart, HostWaitsPart, LateBeginPart, ReachPart, StragglerPart, StragglersPart, WorkPart,
};

/// Processes and groups that a report lists.
const LISTED: usize = 100;
/// Members of a group that it names.
const MEMBERS_LISTED: usize = 16;
/// The number of processes, and of groups, that are shown with `--verbose`.
const SHOWN: usize = 5;
/// A process is named without being asked for if it certainly held up others twice as
/// long as any other did, and twice as long as they did on average,
const TWICE: f64 = 2.0;
/// and that is so much of their time: less is not worth a line.
const WORTH: f64 = 0.01;
/// It also has to have no more than one in so many records of communication that were not used.
const UNSEEN: u64 = 4;

/// Builds the part of the report on stragglers; `None` where nobody waits for all others. Where
/// times contradict themselves, nobody is named by them; where no dependency relates any two clocks they
/// are `unrelated`.
pub(crate) fn part(
    info: &TraceInfo,
    found: &Stragglers,
    contradictory: bool,
    unrelated: bool,
) -> Option<StragglersPart> {
    if found.operations + found.messages == 0 {
        return None;
    }
    if contradictory {
        return Some(StragglersPart {
            operations: found.operations,
            others: found.others,
            messages: found.messages,
            contradictory,
            ..StragglersPart::default()
        });
    }
    Some(StragglersPart {
        operations: found.operations,
        certain: found.certain,
        others: found.others,
        messages: found.messages,
        contradictory,
        unrelated,
        processes: processes(info, found),
        hosts: hosts(info, found),
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
                let mut hosts = self.hosts.iter_mut();
                let host = hosts.find(|it| it.processes.binary_search(&process).is_ok());
                if let Some(host) = host {
                    host.unused_records += records;
                }
            }
        }
    }
}

/// The number of processes that took part.
fn taking_part(found: &Stragglers) -> usize {
    found.processes.iter().filter(|it| it.takes_part()).count()
}

/// The processes that held up others longest.
fn processes(info: &TraceInfo, found: &Stragglers) -> Vec<StragglerPart> {
    let origins: BTreeMap<usize, &Origin> =
        found.origins.iter().map(|it| (it.process, it)).collect();
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
            work: of(number).and_then(|it| it.work).map(work),
            reach: of(number).and_then(|it| it.reach).map(|it| ReachPart {
                directly: it.directly,
                through_others: it.through_others,
            }),
            operations: waits.operations,
            messages: waits.messages,
            unused_records: 0,
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

fn work(of: ComparedWork) -> WorkPart {
    WorkPart {
        longer_ticks: of.longer,
        others_differ_ticks: of.differ,
    }
}

/// The hosts that can be compared with others.
fn hosts(info: &TraceInfo, found: &Stragglers) -> Vec<HostWaitsPart> {
    let part = |host: &HostWork| {
        let is_its = |it: &usize| host.processes.binary_search(it).is_ok();
        let origins = || found.origins.iter().filter(|it| is_its(&it.process));
        let waits = || {
            let of = host.processes.iter().map(|it| found.processes.get(*it));
            of.flatten()
        };
        HostWaitsPart {
            name: info.nodes.get(host.node).cloned().unwrap_or_default(),
            processes: host.processes.clone(),
            held_up_ticks: origins().map(|it| it.held_up).sum(),
            certainly_held_up_ticks: origins().map(|it| it.certainly).sum(),
            work: work(host.work),
            is_slow: host.is_slow(found.messages),
            operations: waits().map(|it| it.operations + it.messages).sum(),
            unused_records: 0,
            lasted_ticks: waits().map(|it| it.lasted).sum(),
        }
    };
    let mut parts: Vec<HostWaitsPart> = found.hosts.iter().map(part).collect();
    parts.sort_by_key(|it| {
        let slow = it.by_being_slow(it.certainly_held_up_ticks, taking_part(found));
        (std::cmp::Reverse(slow), it.processes.first().copied())
    });
    parts.truncate(LISTED);
    parts
}

impl HostWaitsPart {
    /// How much of what its processes held up others, outside of it, can be due to its being slow,
    /// where so many take part.
    fn by_being_slow(&self, held: u64, taking_part: usize) -> u64 {
        let outside = taking_part.saturating_sub(self.processes.len()) as u64;
        held.min(self.work.longer_ticks.saturating_mul(outside))
    }
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

/// The first line of a summary: the host or the process that clearly held up others, if there is
/// one.
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
    if let Some(host) = part.hosts.first().filter(|it| is_clear_host(part, it)) {
        return Some(slow_host(part, host, rate));
    }
    let first = part.processes.first().filter(|it| is_clear(part, it))?;
    Some(straggler(part, first, rate))
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

/// How much of what a process held up so many others can be due to its being slow: no more for
/// each of them than by how much it worked longer, if that is known.
fn by_being_slow(process: &StragglerPart, held: u64, others: usize) -> u64 {
    let each = process.work.as_ref().map(|it| it.longer_ticks);
    each.map_or(held, |it| held.min(it.saturating_mul(others as u64)))
}

/// True if a process is worth naming to everybody.
fn is_clear(part: &StragglersPart, process: &StragglerPart) -> bool {
    let number = part.taking_part.saturating_sub(1);
    let slow = |it: &StragglerPart, held: u64| by_being_slow(it, held, number) as f64;
    let certainly = slow(process, process.certainly_held_up_ticks);
    let all: f64 = part
        .processes
        .iter()
        .map(|it| slow(it, it.held_up_ticks))
        .sum();
    let by_chance = all / part.taking_part.max(1) as f64;
    let others_did = part
        .processes
        .iter()
        .filter(|it| it.process != process.process);
    let next = others_did
        .map(|it| slow(it, it.held_up_ticks))
        .fold(0.0, f64::max);
    let stands_out = process
        .work
        .as_ref()
        .is_none_or(|it| it.longer_ticks >= it.others_differ_ticks);
    let used = process.operations + process.messages;
    is_seen(used, process.unused_records)
        && stands_out
        && certainly >= TWICE * next.max(by_chance)
        && certainly >= WORTH * others(part, process) as f64
}

/// True if little may have been waited where nobody sees it.
fn is_seen(used: u64, unused: u64) -> bool {
    unused <= (used + unused) / UNSEEN
}

/// True if a host is worth naming to everybody, by the rules for processes.
fn is_clear_host(part: &StragglersPart, host: &HostWaitsPart) -> bool {
    let slow = |it: &HostWaitsPart, held: u64| it.by_being_slow(held, part.taking_part) as f64;
    let certainly = slow(host, host.certainly_held_up_ticks);
    let others = part.hosts.iter().filter(|it| it.name != host.name);
    let next = others
        .map(|it| slow(it, it.held_up_ticks))
        .fold(0.0, f64::max);
    let others_lasted = part.lasted_ticks.saturating_sub(host.lasted_ticks);
    is_seen(host.operations, host.unused_records)
        && host.is_slow
        && certainly >= TWICE * next
        && certainly >= WORTH * others_lasted as f64
}

/// How long all others lasted.
fn others(part: &StragglersPart, process: &StragglerPart) -> u64 {
    part.lasted_ticks.saturating_sub(process.lasted_ticks)
}

fn span(ticks: u64, rate: TickRate) -> String {
    rate.format(Ticks(i64::try_from(ticks).unwrap_or(i64::MAX)))
}

/// Whom a process held up, for how long, and how.
fn straggler(part: &StragglersPart, process: &StragglerPart, rate: TickRate) -> String {
    let name = name(process);
    let held = process.held_up_ticks;
    if held == 0 {
        return format!("{name} held up nobody");
    }
    let all = others(part, process).max(1) as f64;
    let of_time = share((held as f64 / all).min(1.0));
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
    let longer = process.work.as_ref().map(|it| it.longer_ticks);
    let work = longer.filter(|it| *it > 0).map_or(String::new(), |it| {
        format!(
            "; it worked {} longer than half of the others",
            span(it, rate)
        )
    });
    format!(
        "{name} held up {whom} for {}, {of_time} of their time, in {}, certainly in {}{how}{work}",
        span(held, rate),
        operations(part, process.held_up_operations),
        group_digits(process.certainly_held_up_operations),
    )
}

/// A host whose processes held up those of others, and how.
fn slow_host(part: &StragglersPart, host: &HostWaitsPart, rate: TickRate) -> String {
    let held = host.by_being_slow(host.held_up_ticks, part.taking_part);
    let all = part.lasted_ticks.saturating_sub(host.lasted_ticks).max(1) as f64;
    let outside = part.taking_part.saturating_sub(host.processes.len()) as u64;
    format!(
        "{} held up {} for {}, {} of their time, certainly for {}; nearly all of its {} worked {} \
         longer than half of the others",
        printable(&host.name),
        plural(outside, "other"),
        span(held, rate),
        share((held as f64 / all).min(1.0)),
        span(
            host.by_being_slow(host.certainly_held_up_ticks, part.taking_part),
            rate
        ),
        plural(host.processes.len() as u64, "process"),
        span(host.work.longer_ticks, rate),
    )
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

fn name(process: &StragglerPart) -> String {
    match process.name.as_str() {
        "" => format!("process {}", process.process),
        name => printable(name).to_string(),
    }
}

/// Lines on the operations that were judged: by process, by group, and the worst one.
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
        let (held_up, last) = (straggler(part, it, rate), last(it, rate));
        format!("{held_up}; {last}; it waited {own}, {of_time}")
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Processes of which each lasted 1,000, by what they held up, and their work compared.
    fn part(processes: &[(u64, Option<(u64, u64)>)]) -> StragglersPart {
        let process = |&(held, work): &(u64, Option<(u64, u64)>)| StragglerPart {
            held_up_ticks: held,
            certainly_held_up_ticks: held,
            work: work.map(|(longer_ticks, others_differ_ticks)| WorkPart {
                longer_ticks,
                others_differ_ticks,
            }),
            lasted_ticks: 1_000,
            operations: 90,
            ..StragglerPart::default()
        };
        let mut processes: Vec<StragglerPart> = processes.iter().map(process).collect();
        (0..)
            .zip(&mut processes)
            .for_each(|(number, it)| it.process = number);
        StragglersPart {
            taking_part: processes.len(),
            lasted_ticks: 1_000 * processes.len() as u64,
            processes,
            ..StragglersPart::default()
        }
    }

    fn named(part: &StragglersPart) -> Vec<usize> {
        let clear = part.processes.iter().filter(|it| is_clear(part, it));
        clear.map(|it| it.process).collect()
    }

    #[test]
    fn who_is_waited_for_without_working_longer_is_not_named() {
        // Process 0 is waited for most, as the first stage of a pipeline is.
        let waited_for = [600, 500, 40, 40];
        let of = |works: [Option<(u64, u64)>; 4]| {
            let all: Vec<_> = waited_for.into_iter().zip(works).collect();
            named(&part(&all))
        };
        assert!(of([None; 4]).is_empty());
        // Process 1 worked 150 longer than half of the others, who differ by 10.
        let slow = [
            Some((0, 160)),
            Some((150, 10)),
            Some((5, 155)),
            Some((0, 155)),
        ];
        assert_eq!(of(slow), [1]);
        // Others differ by more than that: it may be chance.
        let scattered = [
            Some((0, 160)),
            Some((150, 160)),
            Some((5, 155)),
            Some((0, 155)),
        ];
        assert!(of(scattered).is_empty());
        // Its work can have cost each of three others 9 of 1,000.
        let little = [Some((0, 10)), Some((9, 1)), Some((0, 10)), Some((0, 10))];
        assert!(of(little).is_empty());
    }

    #[test]
    fn who_worked_longer_but_is_hardly_waited_for_is_not_named() {
        let of = |held: u64| {
            let [slow, other] = [(150, 10), (0, 160)].map(Some);
            named(&part(&[(held, slow), (5, other), (0, other)]))
        };
        // 1 % of the time of two others is 20.
        assert!(of(19).is_empty());
        assert_eq!(of(20), [0]);
    }

    #[test]
    fn a_slow_host_is_named() {
        let host = |name: &str, processes: [usize; 2], longer_ticks| HostWaitsPart {
            name: name.into(),
            processes: processes.to_vec(),
            held_up_ticks: 200,
            certainly_held_up_ticks: 200,
            work: WorkPart {
                longer_ticks,
                others_differ_ticks: 5,
            },
            is_slow: longer_ticks > 0,
            operations: 90,
            lasted_ticks: 2_000,
            ..HostWaitsPart::default()
        };
        let mut part = part(&[(100, Some((20, 100))); 4]);
        part.hosts = vec![host("b", [2, 3], 70), host("a", [0, 1], 0)];
        let named = |part: &StragglersPart| {
            let clear = part.hosts.iter().filter(|it| is_clear_host(part, it));
            clear.map(|it| it.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(named(&part), ["b"]);
        let rate = TickRate::per_second(1_000).unwrap();
        let line = slow_host(&part, &part.hosts[0], rate);
        // Each of two others can have waited for 70.
        assert!(
            line.starts_with("b held up 2 others for 140 ms, 7.0 % of their time"),
            "{line}"
        );
        assert!(
            line.ends_with(
                "nearly all of its 2 processes worked 70 ms longer than half of the others"
            ),
            "{line}"
        );
        part.hosts[0].unused_records = 31;
        assert!(named(&part).is_empty());
        part.hosts[0].unused_records = 0;
        // 1 % of the time of the others is 20, of which each of two had 9.
        part.hosts[0].work.longer_ticks = 9;
        assert!(named(&part).is_empty());
    }

    #[test]
    fn who_may_have_waited_unseen_is_not_named() {
        let [slow, other] = [(150, 10), (0, 160)].map(Some);
        let mut part = part(&[(100, slow), (5, other), (0, other)]);
        part.processes[0].unused_records = 30;
        assert_eq!(named(&part), [0]);
        part.processes[0].unused_records = 31;
        assert!(named(&part).is_empty());
    }
}
