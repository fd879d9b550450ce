//! Programs of which one half never talks to the other.

use serde_json::Value;

use crate::common::{Scratch, as_lines};

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
    let printed =
        scratch.succeed("correct trace.jsonl -o out.jsonl --truth truth.jsonl --json report.json");
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
