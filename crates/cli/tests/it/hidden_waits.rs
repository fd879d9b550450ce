//! Waits of kernels that are hidden behind computing, as reports and tables say them.

use serde_json::Value;

use crate::common::Scratch;
use crate::html::data;

/// One of four ranks is late by so many microseconds in each of so many iterations.
const LATE: u64 = 300;
const SLOW: u64 = 2;
const ITERATIONS: u64 = 40;

fn kernel(name: &str, stream: u64, from: u64, to: u64, args: &str) -> String {
    format!(
        r#"{{"ph": "X", "cat": "kernel", "name": "{name}", "pid": 0, "tid": {stream},
          "ts": {from}, "dur": {}, "args": {{{args}}}}}"#,
        to - from
    )
}

fn all_reduce(sequence: u64, from: u64, to: u64) -> String {
    let args = format!(
        r#""Collective name": "allreduce", "Seq": {sequence}, "In msg nelems": 1024,
          "Out msg nelems": 1024, "dtype": "Float", "Group size": 4, "Process Group Name": "0",
          "Process Group Ranks": "[0, 1, 2, 3]""#
    );
    kernel("ncclDevKernel_AllReduce", 20, from, to, &args)
}

/// Data parallel ranks with two buckets of gradients each iteration: the first is reduced while the
/// second is computed, and all wait for the second, unless the slow rank has caught up by then.
fn job(catches_up: bool) -> Scratch {
    let mut events = [const { Vec::new() }; 4];
    for number in 0..ITERATIONS {
        let jitter = |rank: u64| (number * 7 + rank * 13) % 17;
        let late = |rank: u64| if rank == SLOW { LATE } else { 0 };
        let start = 10_000 * (number + 1);
        let first = |rank: u64| start + 1_000 + jitter(rank) + late(rank);
        let caught_up = |rank: u64| if catches_up { late(rank) } else { 0 };
        let second = |rank: u64| first(rank) + 1_000 - caught_up(rank);
        let last = |of: &dyn Fn(u64) -> u64| (0..4).map(of).max().unwrap() + 5;
        for (rank, events) in (0..).zip(&mut events) {
            events.push(kernel("gemm", 7, start, first(rank), ""));
            events.push(kernel("gemm", 7, first(rank) + 1, second(rank), ""));
            let ends = [last(&first) + 60, last(&second) + 60];
            events.push(all_reduce(2 * number, first(rank) + 5, ends[0]));
            events.push(all_reduce(2 * number + 1, second(rank) + 5, ends[1]));
        }
    }
    Scratch::with_profiles(&events)
}

#[test]
fn who_is_slow_is_charged_with_what_others_stood_still() {
    let scratch = job(false);
    let text = scratch.succeed("check run");
    // Each of three others waited 300 us twice in each of 40 iterations, and stood still once.
    let line = text.lines().next().unwrap_or_default();
    assert!(
        line.starts_with("stragglers rank 2 held up 3 others for 3")
            && line.contains(" ms more were hidden: others computed meanwhile"),
        "{text}"
    );
    let words = scratch.succeed("check run -v");
    assert!(words.contains(" while it computed nothing"), "{words}");
    assert!(words.contains(" more beside computing"), "{words}");
    let report: Value = serde_json::from_str(&scratch.succeed("check run --json -")).unwrap();
    let first = &report["stragglers"]["processes"][0];
    assert_eq!(first["process"], SLOW);
    let all = 3 * ITERATIONS * LATE * 1_000;
    let near = |ticks: &Value| {
        let ticks = ticks.as_u64().unwrap();
        assert!(
            (all * 9 / 10..all * 11 / 10).contains(&ticks),
            "{ticks} {all}"
        );
    };
    near(&first["held_up_ticks"]);
    near(&first["hidden"]["of_others_ticks"]);
    // Groups and what was waited for each say what was exposed, and the rest beside it.
    near(&first["waited_for_ticks"]);
    let group = &report["stragglers"]["groups"][0];
    near(&group["waited_ticks"]);
    near(&group["hidden_ticks"]);
    for worst in report["stragglers"]["worst"].as_array().unwrap() {
        assert!(worst["hidden_ticks"].is_null(), "{worst}");
        assert!(worst["waited_ticks"].as_u64() >= Some(3 * LATE * 900));
    }
    let processes = report["stragglers"]["processes"].as_array().unwrap();
    let sum = |of: &dyn Fn(&Value) -> &Value| -> u64 {
        processes.iter().map(|it| of(it).as_u64().unwrap()).sum()
    };
    assert_eq!(
        sum(&|it| &it["held_up_ticks"]),
        sum(&|it| &it["hidden"]["stood_still_ticks"])
    );
    assert_eq!(
        report["stragglers"]["waited_ticks"],
        sum(&|it| &it["hidden"]["stood_still_ticks"])
    );
}

#[test]
fn the_page_shows_what_was_exposed() {
    let scratch = job(false);
    scratch.succeed("check run --html page.html -q");
    let page = data(&scratch, "page.html");
    let waits = &page["picture"]["waits"]["all"]["barrier"]["corrected"];
    let report: Value = serde_json::from_str(&scratch.succeed("check run --json -")).unwrap();
    let waited = report["stragglers"]["waited_ticks"].as_f64().unwrap();
    let shown = waits.as_f64().unwrap();
    assert!((shown - waited).abs() < 0.01 * waited, "{shown} {waited}");
}

#[test]
fn who_is_slow_where_nobody_stands_still_is_not_named() {
    let scratch = job(true);
    let text = scratch.succeed("check run");
    assert!(!text.contains("held up"), "{text}");
    // By what its kernels waited it would be: the others wait for it in each iteration.
    let report: Value = serde_json::from_str(&scratch.succeed("check run --json -")).unwrap();
    let processes = report["stragglers"]["processes"].as_array().unwrap();
    let slow = processes.iter().find(|it| it["process"] == SLOW).unwrap();
    assert!(slow["last"].as_u64() >= Some(ITERATIONS), "{slow}");
}

#[test]
fn the_table_of_collectives_says_what_was_exposed() {
    let scratch = job(false);
    scratch.succeed("check run -q --collectives all.jsonl");
    let text = scratch.read("all.jsonl");
    let rows = text
        .lines()
        .map(|it| serde_json::from_str::<Value>(it).unwrap());
    for row in rows {
        let [wait, exposed] = ["wait", "exposed"].map(|it| row[it].as_u64().unwrap());
        // The second bucket of an iteration has an odd number.
        let expected = if row["sequence"].as_u64().unwrap() % 2 == 0 {
            0
        } else {
            wait
        };
        assert_eq!(exposed, expected, "{row}");
    }
    scratch.succeed("check run -q --collectives all.csv");
    let text = scratch.read("all.csv");
    assert!(text.starts_with("operation,"));
    assert!(
        text.lines()
            .next()
            .unwrap()
            .contains(",wait,exposed,transfer,")
    );
}
