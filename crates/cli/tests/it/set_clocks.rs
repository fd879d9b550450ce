//! Clocks that were set, as the report tells of them.

use crate::common::{Scratch, as_lines};
use crate::simulated_jobs::{read_report, simulate};
use retime_testing::kineto::{Devices, KinetoRun, SetClock, Style, Version};
use serde_json::{Value, json};

/// Three processes exchange messages for a second, the last two for another one, in which the clock
/// of one of these is set: of which, nobody can tell.
fn of_one_of_two(shown: impl Fn(usize, i64) -> i64) -> String {
    let mut events = [const { Vec::new() }; 3];
    let mut message = 0;
    for round in 0..4_000_i64 {
        for (way, (from, to)) in [(0, 1), (1, 0), (1, 2), (2, 1), (0, 2), (2, 0)]
            .into_iter()
            .enumerate()
        {
            if round >= 2_000 && from + to != 3 {
                continue;
            }
            // Uneven, as events with a common period would be ticks of a coarse clock.
            let sent = 500_000 * round + 70_000 * way as i64 + (round * round * 37) % 9_973;
            let received = sent + 5_000 + (round * 7_919 + message * 31) % 1_009;
            events[from].push((shown(from, sent), "send", message));
            events[to].push((shown(to, received), "receive", message));
            message += 1;
        }
    }
    as_lines(events)
}

/// Stamps by process and time, where the clock of one process is set by 600 us after 1.5 s.
fn set(which: usize) -> impl Fn(usize, i64) -> i64 {
    move |process, time| match time {
        1_500_000_001.. if process == which => time + 600_000,
        _ => time,
    }
}

#[test]
fn bounds_hold_whichever_clock_was_set() {
    for which in [1, 2] {
        let scratch = Scratch::in_memory();
        scratch.write("trace.jsonl", &of_one_of_two(set(which)));
        scratch.write("truth.jsonl", &of_one_of_two(|_, time| time));
        scratch.succeed("compare trace.jsonl --truth truth.jsonl --method auto --json report.json");
        let report = std::fs::read_to_string(scratch.join("report.json")).unwrap();
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["inside_bounds"], 1.0, "{which}: {report}");
    }
}

#[test]
fn clocks_are_named_of_which_one_was_set() {
    let scratch = Scratch::in_memory();
    scratch.write("trace.jsonl", &of_one_of_two(set(1)));
    let printed = scratch.succeed("correct trace.jsonl -o out.jsonl --json report.json");
    let line = printed.lines().find(|it| it.contains(" set by "));
    let line = line.unwrap_or_else(|| panic!("{printed}"));
    assert!(
        line.contains(", unless it was the clock of location "),
        "{line}"
    );
    assert!(line.contains(": dependencies cannot tell"), "{line}");
    let report = std::fs::read_to_string(scratch.join("report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let steps = &report["method"]["alignment"]["steps"];
    let named = (
        steps[0]["clock"].as_u64(),
        steps[0]["alternatives"][0].as_u64(),
    );
    assert!(
        matches!(named, (Some(1), Some(2)) | (Some(2), Some(1))),
        "{steps}"
    );
}

/// Two hosts of three and two ranks: messages take 5 us within, 20 us between them. The second host was
/// set by 60 us in the middle of two seconds.
#[test]
fn clocks_that_were_set_together_are_told_of_once() {
    let scratch = Scratch::new();
    let shown = |rank: usize, time: i64| {
        let own = 100_000 * rank as i64;
        time + own
            + if rank >= 3 && time > 1_000_000_000 {
                60_000
            } else {
                0
            }
    };
    let mut events = [const { Vec::new() }; 5];
    let mut message = 0;
    for round in 0..1_000_i64 {
        for from in 0..5 {
            for to in [(from + 1) % 5, (from + 4) % 5] {
                let least = if (from >= 3) == (to >= 3) {
                    5_000
                } else {
                    20_000
                };
                let sent = 2_000_000 * round + (message * message * 37) % 299_993;
                let received = sent + least + (round * 7_919 + message * 31) % 9_973;
                events[from].push((shown(from, sent), "send", message));
                events[to].push((shown(to, received), "receive", message));
                message += 1;
            }
        }
    }
    scratch.write("trace.jsonl", &as_lines(events));
    let printed = scratch.succeed("correct trace.jsonl -o out.jsonl --json report.json");
    let lines: Vec<&str> = printed
        .lines()
        .filter(|it| it.contains(" set by "))
        .collect();
    let [line] = lines[..] else {
        panic!("{printed}")
    };
    assert!(line.contains("the clock of location 3 "), "{line}");
    assert!(
        line.ends_with(", together with that of location 4"),
        "{line}"
    );
    let report = std::fs::read_to_string(scratch.join("report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let steps = report["method"]["alignment"]["steps"].as_array().unwrap();
    let step = |it: &Value| (it["clock"].as_u64(), it["together"].clone());
    let steps: Vec<_> = steps.iter().map(step).collect();
    let expected = [(Some(3), json!([4])), (Some(4), json!([3]))];
    assert_eq!(steps, expected, "{printed}");
}

/// Corrects a job on two hosts, whose clocks are two, and leaves nothing reversed.
fn corrected(scratch: &Scratch, run: &KinetoRun) -> (String, Value) {
    simulate(scratch, run);
    let printed = scratch.succeed("correct run -o out --json report.json");
    let report = read_report(scratch);
    assert_eq!(report["clocks"]["count"], 2, "{printed}");
    assert_eq!(report["after"]["reversed"], 0, "{printed}");
    (printed, report)
}

/// The clock of a host is set while a job is profiled on it, forward or back: where it was set back, it
/// shows stamps twice, calls under way seem to take no time, and others stand in another order than they
/// are numbered.
#[test]
fn the_clock_of_a_host_that_is_set_while_a_job_is_profiled_is_found() {
    for by in [5_000_000, -5_000_000] {
        let scratch = Scratch::new();
        let run = KinetoRun {
            set_clocks: vec![SetClock {
                host: 1,
                at: 150_000_000,
                by,
            }],
            ..KinetoRun::training(Style::Nccl)
        };
        let (printed, report) = corrected(&scratch, &run);
        let steps = report["method"]["alignment"]["steps"].as_array().unwrap();
        let [step] = &steps[..] else {
            panic!("{printed}")
        };
        assert_eq!(step["clock"], 1);
        let found = step["by_ticks"].as_i64().unwrap();
        assert!((found - by).abs() < 100_000, "{found} {printed}");
        let is_told = printed.contains("a clock was set back while a profile was recorded");
        assert_eq!(is_told, by < 0, "{printed}");
        scratch.retime("check out --quiet").expect_code(0);
    }
}

/// The clock of a host is set back by less than its ranks wait for gloo, and while all of them do: stamps
/// before that and after it are no sign that these ranks read different clocks.
#[test]
fn ranks_that_wait_while_their_clock_is_set_back_share_it() {
    let scratch = Scratch::new();
    let run = KinetoRun {
        iterations: 12,
        set_clocks: vec![SetClock {
            host: 1,
            at: 100_000_000,
            by: -5_000_000,
        }],
        ..KinetoRun::training(Style::Gloo)
    };
    let (printed, report) = corrected(&scratch, &run);
    let steps = report["method"]["alignment"]["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 1, "{printed}");
    assert!(
        printed.contains("a clock was set back while a profile was recorded"),
        "{printed}"
    );
}

/// The clock of a host is set back by more than some iterations last. What happened meanwhile is left out, and
/// what is left before that, calls of the host's own groups, contradicts nothing: so no step is found. That
/// there is one is known, and bounds allow for it.
#[test]
fn bounds_allow_for_a_clock_that_was_set_back_by_what_nothing_tells() {
    for (seed, at) in [(1, 60_000_000), (1, 100_000_000), (2, 150_000_000)] {
        let scratch = Scratch::new();
        let run = KinetoRun {
            seed,
            set_clocks: vec![SetClock {
                host: 1,
                at,
                by: -60_000_000,
            }],
            ..KinetoRun::training(Style::Gloo)
        };
        simulate(&scratch, &run);
        let correct = "correct run -o out --truth true --json report.json";
        let printed = scratch.retime(correct).stdout;
        let bounds = &read_report(&scratch)["bounds"];
        assert_eq!(bounds["truth"]["share"], 1.0, "{printed}");
        let [step] = &bounds["set_back"].as_array().unwrap()[..] else {
            panic!("{printed}")
        };
        assert_eq!(step["clock"], 1);
        let line = "the clock of node1 was set back between its stamps ";
        assert!(printed.contains(line), "{printed}");
        assert!(printed.contains("(certain if clocks were not set elsewhere and "));
    }
}

/// GPUs have clocks of their own, and that of their host is set back: what calls of its thread waited for stamps do
/// not tell any more, so that nothing waits for itself.
#[test]
fn calls_of_a_thread_whose_clock_was_set_back_wait_for_no_gpu() {
    let run = KinetoRun {
        seed: 1_032,
        ranks_per_host: 1,
        sequence_numbers: false,
        devices: Devices {
            offset: 50_000,
            drift: 0,
            awaited: true,
        },
        version: Version::Computing,
        set_clocks: [(7, 150_000_000), (3, 100_000_000)]
            .map(|(host, at)| SetClock {
                host,
                at,
                by: -5_000_000,
            })
            .to_vec(),
        offset: 0,
        ..KinetoRun::training(Style::Nccl)
    };
    let scratch = Scratch::new();
    simulate(&scratch, &run);
    let correct = scratch.retime("correct run -o out --json report.json");
    assert_eq!(correct.code, Some(0), "{correct:#?}");
    assert_eq!(read_report(&scratch)["after"]["reversed"], 0);
}
