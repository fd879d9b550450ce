//! Times against the truth, and the experiments of the papers.

use std::fs;

use crate::common::golden::{assert_golden, normalised, transcript};
use crate::common::{Scratch, traces};
use retime_sim::Layout;
use retime_testing::Effort;
use serde_json::Value;

/// The errors of the clocks in `skewed`, in ns.
const ERRORS: [f64; 3] = [0.0, 100_000.0, -30_000.0];

/// A trace, its truth, and traces that are not its truth.
fn scratch() -> Scratch {
    let scratch = traces::scratch([
        ("skewed", traces::skewed()),
        ("truth", traces::sound()),
        ("odd", traces::odd()),
        ("backwards", traces::backwards()),
    ]);
    // As many events of each kind, in another order.
    let mut shuffled = traces::exchange(Layout::node_per_rank(3), [0; 3]);
    let mut orderly = traces::exchange(Layout::node_per_rank(3), [0; 3]);
    let (to, from) = (retime_sim::to(2).tag(5), retime_sim::from(1).tag(6));
    shuffled.on(1).send(1_061_000, to).leave(1_061_100, "x");
    orderly.on(1).leave(1_061_000, "x").send(1_061_100, to);
    for program in [&mut shuffled, &mut orderly] {
        program.on(2).recv(1_061_500, from);
    }
    traces::write(scratch.path(), "shuffled", &shuffled);
    traces::write(scratch.path(), "orderly", &orderly);
    scratch
}

#[test]
fn the_summary_says_how_far_times_are_from_the_truth() {
    let commands = [
        "check skewed --truth truth",
        "check truth --truth truth",
        "correct skewed --truth truth/traces.otf2 -o corrected",
        "correct truth --truth truth -o copy",
    ];
    assert_golden("truth.txt", &transcript(&scratch(), &commands));
}

/// Lamport's clock counts events: that its numbers rise as true times do is no accuracy.
#[test]
fn counters_have_no_distance_from_the_truth() {
    let scratch = scratch();
    let accuracy = |options: &str| {
        let command = format!("correct skewed --truth truth -o out --force {options} -q --json -");
        let report: Value = serde_json::from_str(&scratch.succeed(&command)).unwrap();
        report["accuracy"].clone()
    };
    for merged in ["", "--merged"] {
        let (times, counters) = (
            accuracy(merged),
            accuracy(&format!("{merged} --method lamport")),
        );
        assert!(times["corrected"]["relative_ticks"].is_object(), "{times}");
        assert_eq!(counters["recorded"], times["recorded"]);
        assert!(counters["corrected"].is_null(), "{counters}");
        fs::remove_dir_all(scratch.join("out"))
            .or_else(|_| fs::remove_file(scratch.join("out")))
            .unwrap();
    }
}

#[test]
fn a_truth_of_another_trace_is_refused() {
    let scratch = scratch();
    let commands = [
        "check skewed --truth odd",
        "check skewed --truth backwards",
        "check orderly --truth shuffled",
        "check backwards --truth backwards",
        "correct skewed --truth odd -o corrected",
        "check skewed --truth nowhere",
    ];
    assert_golden("not-the-truth.txt", &transcript(&scratch, &commands));
    assert!(!scratch.join("corrected").exists());
}

#[test]
fn the_report_holds_the_measures() {
    let scratch = scratch();
    scratch
        .retime("correct skewed --method clc --truth truth -o corrected --json report.json -q")
        .expect_code(0);
    let report: Value = serde_json::from_str(&scratch.read("report.json")).unwrap();
    let accuracy = &report["accuracy"];
    assert_eq!(accuracy["truth"], "truth");
    let number = |of: &Value| of.as_f64().unwrap();
    // Constant errors: F and S of each location are those of its clock.
    let locations = accuracy["recorded"]["locations"].as_array().unwrap();
    assert_eq!(locations.len(), 3);
    for (location, error) in locations.iter().zip(ERRORS) {
        assert!((number(&location["ahead_ticks"]) - error.max(0.0)).abs() < 1e-6);
        assert!((number(&location["behind_ticks"]) + error.min(0.0)).abs() < 1e-6);
        assert!(number(&location["deviation"]) < 1e-12);
    }
    let recorded = &accuracy["recorded"];
    assert!((number(&recorded["ahead_ticks"]) - 100_000.0 / 3.0).abs() < 1e-6);
    assert!((number(&recorded["behind_ticks"]) - 10_000.0).abs() < 1e-6);
    let largest = number(&recorded["message_delay_ticks"]["max"]);
    assert!((largest - 130_000.0).abs() < 1e-6, "{largest}");
    // All are pulled up to the fastest clock.
    let corrected = &accuracy["corrected"];
    let synchronization = |of: &Value| number(&of["synchronization_ticks"]["rms"]);
    assert!(synchronization(corrected) < 0.5 * synchronization(recorded));
    assert!(number(&corrected["behind_ticks"]) < 1e-6, "{corrected}");
    // A common line is at least what the mean takes away.
    for part in [recorded, corrected] {
        let relative = number(&part["relative_ticks"]["rms"]);
        assert!(
            relative > 0.0 && relative <= synchronization(part),
            "{part}"
        );
    }
    // Nothing of it without a truth.
    let check = scratch.retime("check skewed --json -");
    assert!(!check.stdout.contains("accuracy"));
}

#[test]
fn reproduce_prints_the_figures_of_the_documentation() {
    // All of them take a tenth of the time of all tests of the command.
    if Effort::asked() == Effort::Sample {
        return;
    }
    let scratch = Scratch::new();
    let each = [
        "ring",
        "recurrence",
        "curves",
        "runaway",
        "strict",
        "finite-elements",
        "conditions",
        "minute",
        "assumed-delay",
        "transfer-rates",
        "set-clocks",
        "variable-rates",
        "asymmetry",
        "global-receive",
        "pseudo-sync",
    ];
    let each = each.map(|name| {
        let one = scratch.retime(&format!("reproduce {name}"));
        one.expect_code(0).stdout
    });
    let all = each.join("\n");
    assert_golden("reproduce.txt", &normalised(&scratch, &all));
    if Effort::asked() == Effort::All {
        assert_eq!(scratch.retime("reproduce").expect_code(0).stdout, all);
    }
    let commands = ["reproduce nothing"];
    assert_golden("reproduce-unknown.txt", &transcript(&scratch, &commands));
    // The documentation shows the same tables.
    let page = include_str!("../../../../docs/REPRODUCTIONS.md");
    for line in all.lines().filter(|line| line.contains("  ")) {
        assert!(page.contains(line), "not in docs/REPRODUCTIONS.md: {line}");
    }
}

/// Runs with as many events of each kind in the same order, between other partners or under
/// other names.
#[test]
fn a_truth_of_another_run_is_refused() {
    let scratch = Scratch::new();
    let line = |location: &str, time: u32, what: &str, message: &str| {
        format!(
            "{{\"location\":\"{location}\",\"time\":{time},\"type\":\"{what}\",\"message\":\"{message}\"}}\n"
        )
    };
    let run = |receiver: &str, first: &str, second: &str| {
        [
            line("a", 1_000, "send", "m"),
            line("b", 1_000, "send", "n"),
            line(receiver, 2_000, "receive", first),
            line(receiver, 2_100, "receive", second),
        ]
        .concat()
    };
    scratch.write("mine.jsonl", &run("c", "m", "n"));
    scratch.write("other.jsonl", &run("c", "n", "m"));
    scratch.write("names.jsonl", &run("d", "m", "n"));
    scratch.succeed("check mine.jsonl --truth mine.jsonl");
    for (truth, why) in [
        ("other.jsonl", "messages of other senders at c (location 2)"),
        ("names.jsonl", "location 2 is called \"d\" there, not \"c\""),
    ] {
        let outcome = scratch.retime(&format!("check mine.jsonl --truth {truth}"));
        assert_eq!(outcome.code, Some(2), "{outcome:#?}");
        assert_eq!(
            outcome.stderr,
            format!("retime: {truth}: is not the truth of mine.jsonl: {why}\n")
        );
    }
}

/// Three ranks, of which two number what they do together, and two others only have an order.
fn ordered_and_numbered(scratch: &Scratch, name: &str, ahead: u64) {
    std::fs::create_dir(scratch.join(name)).unwrap();
    let call = |rank: u64, number: u64, others: (u64, &str)| {
        let late = (number * 7 + rank * 13) % 17 * 10;
        let start = 10_000 * number + if rank == 1 { ahead } else { 0 };
        let (group, more) = others;
        format!(
            r#"{{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "pid": 0,
              "tid": {}, "ts": {}, "dur": {}, "args": {{"Collective name": "allreduce",
              "In msg nelems": 8, "Out msg nelems": 8, "dtype": "Float", "Group size": 2,
              "Process Group Name": "{group}", {more}}}}}"#,
            20 + group,
            start + late,
            400 - late,
        )
    };
    for rank in 0..3 {
        let mut events = Vec::new();
        for number in 1..13 {
            if rank < 2 {
                let ordered = (1, r#""Process Group Ranks": "[0, 1]""#);
                events.push(call(rank, number, ordered));
            }
            if rank != 1 {
                let more = format!(r#""Process Group Ranks": "[0, 2]", "Seq": {number}"#);
                events.push(call(rank, number, (2, &more)));
            }
        }
        let text = format!(
            r#"{{"distributedInfo": {{"rank": {rank}, "world_size": 3}},
              "host_name": "node{rank}", "traceEvents": [{}]}}"#,
            events.join(", ")
        );
        scratch.write(&format!("{name}/rank{rank}.json"), &text);
    }
}

#[test]
fn a_truth_may_join_more_than_the_trace() {
    let scratch = Scratch::new();
    // By half an iteration: either shift of two sequences is as good.
    ordered_and_numbered(&scratch, "run", 5_000);
    ordered_and_numbered(&scratch, "truth", 0);
    let joined = |text: &str, count: u64| {
        let words = format!("matched    0 messages, {count} collectives");
        assert!(text.contains(&words), "{text}");
    };
    // Nothing that is joined relates one of the ranks to the others.
    let checked = scratch.retime("check run --truth truth");
    let text = checked.expect_code(3).stdout;
    joined(&text, 12);
    joined(&scratch.succeed("check truth"), 24);
    assert!(text.contains("against the truth"), "{text}");
    // And the other way round, where what is measured is more.
    scratch.succeed("check truth --truth truth");
    let outcome = scratch.retime("check truth --truth run");
    assert!(!outcome.stderr.contains("is not the truth"), "{outcome:#?}");
}
