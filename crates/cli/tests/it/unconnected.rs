//! Programs of which one half never talks to the other, or only through a third.

use retime_sim::{Layout, Program, from, to};
use serde_json::Value;

use crate::common::{Scratch, as_lines, traces};

/// Two pairs of processes that exchange messages for two seconds, each as their clocks show them.
fn lines(shown: impl Fn(usize, i64) -> i64) -> String {
    let mut events = [const { Vec::new() }; 4];
    let mut message = 0;
    for round in 0..4_000_i64 {
        for (way, (from, to)) in [(0, 1), (1, 0), (2, 3), (3, 2)].into_iter().enumerate() {
            // Uneven, as events with a common period would be ticks of a coarse clock.
            let sent = 500_000 * round + 70_000 * (way % 2) as i64 + (round * round * 37) % 9_973;
            let received = sent + 5_000 + (round * 7_919 + message * 31) % 1_009;
            events[from].push((shown(from, sent), "send", message));
            events[to].push((shown(to, received), "receive", message));
            message += 1;
        }
    }
    as_lines(events)
}

/// Corrects such a trace, with clocks that show this, and returns the summary and the report.
fn corrected(shown: impl Fn(usize, i64) -> i64) -> (String, Value) {
    let scratch = Scratch::in_memory();
    let base = 10_000_000;
    scratch.write(
        "trace.jsonl",
        &lines(|process, time| base + shown(process, time)),
    );
    scratch.write("truth.jsonl", &lines(|_, time| base + time));
    let correct = "correct trace.jsonl -o out.jsonl --truth truth.jsonl --json report.json";
    let printed = scratch.retime(correct).expect_code(3).stdout;
    let report = std::fs::read_to_string(scratch.join("report.json")).unwrap();
    (printed, serde_json::from_str(&report).unwrap())
}

#[test]
fn halves_stay_to_each_other_where_they_were_recorded() {
    // The first clocks of both pairs are 780 us apart, the pairs 20.
    let ahead = [400_000, -400_000, -380_000, 420_000];
    let (printed, report) = corrected(|process, time| time + ahead[process]);
    let error = &report["accuracy"]["corrected"]["relative_ticks"]["mean_abs"];
    assert!(error.as_f64().unwrap() < 15_000.0, "{error}");
    let alignment = &report["method"]["alignment"];
    assert_eq!(alignment["unrelated_clocks"], serde_json::json!([2, 3]));
    // Nothing proves it, and nothing says that it does.
    assert_eq!(report["bounds"]["unbounded"], 16_000, "{printed}");
    assert!(
        printed.contains("so that nothing bounds its time"),
        "{printed}"
    );
    assert!(!printed.contains("it may have been others"), "{printed}");
}

#[test]
fn of_two_clocks_of_a_half_either_was_set() {
    let set = |process, time| i64::from(process == 3 && time > 1_100_000_000);
    let (printed, report) = corrected(|process, time| time + 60_000 * set(process, time));
    let alignment = &report["method"]["alignment"];
    assert_eq!(
        alignment["steps"].as_array().map(Vec::len),
        Some(1),
        "{printed}"
    );
    assert_eq!(alignment["half_were_set_at_once"], true);
    assert!(printed.contains("it may have been others"), "{printed}");
}

/// Ranks in a row: the last exchanges nothing with the first, whose time is the common one, but is
/// related to it.
#[test]
fn who_meets_others_only_is_not_told_as_alone() {
    let mut row = Program::with_layout(Layout::one_node(3));
    for number in 1..30 {
        let at = 100_000 * number;
        row.on(0).send(at, to(1)).recv(at + 20_000, from(1));
        row.on(1)
            .recv(at + 5_000, from(0))
            .send(at + 10_000, to(0))
            .send(at + 11_000, to(2))
            .recv(at + 40_000, from(2));
        // Behind by more than a message takes.
        row.on(2).recv(at - 9_000, from(1)).send(at + 5_000, to(1));
    }
    let scratch = traces::scratch([("row", row)]);
    let said = |options: &str| {
        let correct = format!("correct row -o out {options}");
        let outcome = scratch.retime(&correct);
        assert_eq!(outcome.code, Some(1), "{outcome:#?}");
        outcome.stderr
    };
    for method in ["regression", "convex-hull", "min-max"] {
        let said = said(&format!("--clocks process --method {method}"));
        let apart = "no message or collective leads between the reference, MPI Rank 0";
        assert!(said.contains(apart), "{method}: {said}");
    }
    let said = said("--clocks node --method optimal");
    assert!(said.contains("all locations read one clock"), "{said}");
    scratch.succeed("correct row -o out --clocks process --method spanning-tree");
}
