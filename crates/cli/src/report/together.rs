//! Processes that are compared with all others together, as data and in words: those of a host, or
//! several that are slow.

use retime::pipeline::CameLast;
use retime::{HostWork, Origin, SlowTogether, TickRate, TraceInfo, plural, printable};

use super::clear::Sureness;
use super::wait_words::{LISTED, SHOWN, name, of_time, span, transfers, work};
use super::waits::{LikelyPart, StragglersPart, TogetherPart};

/// The hosts that can be compared with others, where so many processes take part.
pub(super) fn hosts(info: &TraceInfo, found: &CameLast, taking_part: usize) -> Vec<TogetherPart> {
    let part = |host: &HostWork| TogetherPart {
        name: info.nodes.get(host.node).cloned().unwrap_or_default(),
        work: work(host.work),
        is_slow: host.is_slow(found.certain.messages),
        ..together(found, &host.processes)
    };
    let mut parts: Vec<TogetherPart> = found.certain.hosts.iter().map(part).collect();
    parts.sort_by_key(|it| {
        let slow = it.by_being_slow(it.certainly_held_up_ticks, taking_part);
        (std::cmp::Reverse(slow), it.processes.first().copied())
    });
    parts.truncate(LISTED);
    parts
}

/// Several processes that are slow.
pub(super) fn several(info: &TraceInfo, found: &CameLast) -> Option<TogetherPart> {
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
    found.certain.several.as_ref().map(part)
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
fn together(found: &CameLast, processes: &[usize]) -> TogetherPart {
    let is_its = |it: &&Origin| processes.binary_search(&it.process).is_ok();
    let origins = || found.certain.origins.iter().filter(is_its);
    let waits = || {
        let of = processes.iter().map(|it| found.certain.processes.get(*it));
        of.flatten()
    };
    let likely = found.likely.as_ref().map(|likely| {
        let origins = || likely.origins.iter().filter(is_its);
        LikelyPart {
            held_up_ticks: origins().map(|it| it.certainly).sum(),
            held_up_operations: origins().map(|it| it.certain_operations).sum(),
        }
    });
    TogetherPart {
        processes: processes.to_vec(),
        held_up_ticks: origins().map(|it| it.held_up).sum(),
        certainly_held_up_ticks: origins().map(|it| it.certainly).sum(),
        likely,
        operations: waits().map(|it| it.operations + it.messages).sum(),
        lasted_ticks: waits().map(|it| it.lasted).sum(),
        ..TogetherPart::default()
    }
}

/// A host whose processes held up those of others, and how.
pub(super) fn slow_host(
    part: &StragglersPart,
    host: &TogetherPart,
    sureness: Sureness,
    rate: TickRate,
) -> String {
    let processes = plural(host.processes.len() as u64, "process");
    let who = ComparedWords {
        waited: &format!("nearly all of its {processes} waited"),
        whose: "their",
    };
    held_up_others(part, host, &who, sureness, rate)
}

/// Words for those whose waits are compared with those of others.
struct ComparedWords<'a> {
    waited: &'a str,
    whose: &'a str,
}

/// Processes that held up others, and how.
pub(super) fn slow_together(
    part: &StragglersPart,
    several: &TogetherPart,
    sureness: Sureness,
    rate: TickRate,
) -> String {
    let who = ComparedWords {
        waited: "each waited at least",
        whose: "its",
    };
    held_up_others(part, several, &who, sureness, rate)
}

fn held_up_others(
    part: &StragglersPart,
    own: &TogetherPart,
    who: &ComparedWords<'_>,
    sureness: Sureness,
    rate: TickRate,
) -> String {
    let by_being_slow = |held: u64| own.by_being_slow(held, part.taking_part);
    let held = by_being_slow(own.held_up_ticks);
    let others = part.lasted_ticks.saturating_sub(own.lasted_ticks);
    let outside = part.taking_part.saturating_sub(own.processes.len()) as u64;
    let likely = match sureness {
        Sureness::Certain => String::new(),
        Sureness::Likely => {
            let likely = by_being_slow(own.surely_held_up(sureness));
            format!("likely for {}, ", span(likely, rate))
        }
    };
    format!(
        "{} held up {} for {}{}, {likely}certainly for {}; {} {} less than half of the others \
         did{}",
        printable(&own.name),
        plural(outside, "other"),
        span(held, rate),
        of_time(held, others),
        span(by_being_slow(own.certainly_held_up_ticks), rate),
        who.waited,
        span(own.work.longer_ticks, rate),
        transfers(who.whose, &own.work, rate),
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
        let line = slow_host(&part, &host, Sureness::Certain, rate);
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
        assert_eq!(
            slow_host(&part, &links, Sureness::Certain, rate),
            line.clone() + more
        );
        let likely = TogetherPart {
            certainly_held_up_ticks: 9,
            likely: Some(LikelyPart {
                held_up_ticks: 120,
                held_up_operations: 7,
            }),
            ..two("b".into(), 200, 34)
        };
        let said = line.replace(
            "certainly for 140 ms",
            "likely for 120 ms, certainly for 9 ms",
        );
        assert_eq!(slow_host(&part, &likely, Sureness::Likely, rate), said);
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
            slow_together(&part, &several, Sureness::Certain, rate),
            "rank 0 and rank 1 held up 2 others for 140 ms, 7.0 % of their time, certainly for \
             90 ms; each waited at least 70 ms less than half of the others did"
        );
    }
}
