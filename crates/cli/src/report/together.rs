//! Processes that are compared with all others together, as data and in words: those of a host, or
//! several that are slow.

use retime::{HostWork, SlowTogether, Stragglers, TickRate, TraceInfo, plural, printable};

use super::wait_words::{LISTED, SHOWN, name, of_time, span, transfers, work};
use super::waits::{StragglersPart, TogetherPart};

/// The hosts that can be compared with others, where so many processes take part.
pub(super) fn hosts(info: &TraceInfo, found: &Stragglers, taking_part: usize) -> Vec<TogetherPart> {
    let part = |host: &HostWork| TogetherPart {
        name: info.nodes.get(host.node).cloned().unwrap_or_default(),
        work: work(host.work),
        is_slow: host.is_slow(found.messages),
        ..together(found, &host.processes)
    };
    let mut parts: Vec<TogetherPart> = found.hosts.iter().map(part).collect();
    parts.sort_by_key(|it| {
        let slow = it.by_being_slow(it.certainly_held_up_ticks, taking_part);
        (std::cmp::Reverse(slow), it.processes.first().copied())
    });
    parts.truncate(LISTED);
    parts
}

/// Several processes that are slow.
pub(super) fn several(info: &TraceInfo, found: &Stragglers) -> Option<TogetherPart> {
    let part = |slow: &SlowTogether| {
        let shown = slow.processes.iter().take(SHOWN);
        let shown = shown.map(|&it| name(it, info.processes.get(it).map_or("", |it| &it.name)));
        let more = slow.processes.len().saturating_sub(SHOWN);
        let more = (more > 0).then(|| format!("{more} more"));
        TogetherPart {
            name: listed(shown.chain(more).collect()),
            work: work(slow.work),
            is_slow: true,
            ..together(found, &slow.processes)
        }
    };
    found.several.as_ref().map(part)
}

/// Words with commas and an "and".
pub(super) fn listed(mut words: Vec<String>) -> String {
    let last = words.pop().unwrap_or_default();
    if words.is_empty() {
        return last;
    }
    format!("{} and {last}", words.join(", "))
}

/// Sums over some processes.
fn together(found: &Stragglers, processes: &[usize]) -> TogetherPart {
    let is_its = |it: &usize| processes.binary_search(it).is_ok();
    let origins = || found.origins.iter().filter(|it| is_its(&it.process));
    let waits = || {
        let of = processes.iter().map(|it| found.processes.get(*it));
        of.flatten()
    };
    TogetherPart {
        processes: processes.to_vec(),
        held_up_ticks: origins().map(|it| it.held_up).sum(),
        certainly_held_up_ticks: origins().map(|it| it.certainly).sum(),
        operations: waits().map(|it| it.operations + it.messages).sum(),
        lasted_ticks: waits().map(|it| it.lasted).sum(),
        ..TogetherPart::default()
    }
}

/// A host whose processes held up those of others, and how.
pub(super) fn slow_host(part: &StragglersPart, host: &TogetherPart, rate: TickRate) -> String {
    let processes = plural(host.processes.len() as u64, "process");
    let who = format!("nearly all of its {processes} waited");
    held_up_others(part, host, &who, "their", rate)
}

/// Processes that held up others, and how.
pub(super) fn slow_together(
    part: &StragglersPart,
    several: &TogetherPart,
    rate: TickRate,
) -> String {
    held_up_others(part, several, "each waited at least", "its", rate)
}

fn held_up_others(
    part: &StragglersPart,
    own: &TogetherPart,
    who: &str,
    whose: &str,
    rate: TickRate,
) -> String {
    let by_being_slow = |held: u64| own.by_being_slow(held, part.taking_part);
    let held = by_being_slow(own.held_up_ticks);
    let others = part.lasted_ticks.saturating_sub(own.lasted_ticks);
    let outside = part.taking_part.saturating_sub(own.processes.len()) as u64;
    format!(
        "{} held up {} for {}{}, certainly for {}; {who} {} less than half of the others \
         did{}",
        printable(&own.name),
        plural(outside, "other"),
        span(held, rate),
        of_time(held, others),
        span(by_being_slow(own.certainly_held_up_ticks), rate),
        span(own.work.longer_ticks, rate),
        transfers(whose, &own.work, rate),
    )
}

#[cfg(test)]
mod tests {
    use super::super::waits::WorkPart;
    use super::*;

    /// Two of [`four`] processes, which held up the others for 200 ticks.
    fn two(name: String, certainly_held_up_ticks: u64, transfers_ticks: u64) -> TogetherPart {
        TogetherPart {
            name,
            processes: vec![2, 3],
            held_up_ticks: 200,
            certainly_held_up_ticks,
            work: WorkPart {
                longer_ticks: 70,
                others_differ_ticks: 5,
                outside_calls: None,
                transfers_ticks,
            },
            lasted_ticks: 2_000,
            ..TogetherPart::default()
        }
    }

    fn four() -> StragglersPart {
        StragglersPart {
            taking_part: 4,
            lasted_ticks: 4_000,
            ..StragglersPart::default()
        }
    }

    #[test]
    fn a_slow_host_is_told_with_what_it_cost_others() {
        let host = two("b".into(), 200, 34);
        let part = four();
        let rate = TickRate::per_second(1_000).unwrap();
        let line = slow_host(&part, &host, rate);
        let links = TogetherPart {
            work: WorkPart {
                transfers_ticks: 35,
                ..host.work
            },
            ..host
        };
        // Each of two others can have waited for 70.
        assert!(
            line.starts_with("b held up 2 others for 140 ms, 7.0 % of their time"),
            "{line}"
        );
        assert!(
            line.ends_with(
                "nearly all of its 2 processes waited 70 ms less than half of the others did"
            ),
            "{line}"
        );
        let more = ", and their transfers took 35 ms longer: look at links first";
        assert_eq!(slow_host(&part, &links, rate), line + more);
    }

    #[test]
    fn several_are_told_by_their_names() {
        let all = |count: usize| {
            let words = (0..count).map(|it| format!("rank {it}"));
            listed(words.collect())
        };
        assert_eq!(all(1), "rank 0");
        assert_eq!(all(3), "rank 0, rank 1 and rank 2");
        let several = two(all(2), 90, 0);
        let part = four();
        let rate = TickRate::per_second(1_000).unwrap();
        // Each of two others can have waited for 70.
        assert_eq!(
            slow_together(&part, &several, rate),
            "rank 0 and rank 1 held up 2 others for 140 ms, 7.0 % of their time, certainly for \
             90 ms; each waited at least 70 ms less than half of the others did"
        );
    }
}
