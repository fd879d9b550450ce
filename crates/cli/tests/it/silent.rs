//! What no dependency ties to another clock moves with whom it belongs to.

use std::collections::BTreeMap;

use crate::common::directory::assert_same;
use crate::common::golden::{assert_golden, transcript};
use crate::common::times::times;
use crate::common::traces;
use retime_sim::{Layout, Program, from, to};
use serde_json::Value;

const ROUNDS: u64 = 40;

/// Two nodes of two processes with two threads each. The first threads of ranks 0 and 2
/// exchange messages, and nobody else does; there are streams and metrics. The second
/// node's clock is 1 ms ahead and gains 50 ppm. Everybody of a node records something
/// whenever its first thread does, which records more before its first message
/// and after the last.
fn company() -> Program {
    let layout = Layout {
        ranks: 4,
        threads: 2,
        ranks_per_node: 2,
    };
    let mut program = Program::with_layout(layout);
    let shown = |node: u32, time: u64| match node {
        0 => time,
        _ => time + 1_000_000 + time / 20_000,
    };
    for round in 0..ROUNDS {
        let start = 5_000_000 + 50_000 * round;
        let (there, back) = (2_000 + round * 37 % 90, 2_000 + round * 53 % 80);
        program
            .on(0)
            .enter(shown(0, start - 9_000), "step")
            .send(shown(0, start), to(2))
            .recv(shown(0, start + 20_000 + back), from(2))
            .leave(shown(0, start + 25_000), "step");
        program
            .on(2)
            .enter(shown(1, start - 9_000), "step")
            .recv(shown(1, start + there), from(0))
            .send(shown(1, start + 20_000), to(0))
            .leave(shown(1, start + 25_000), "step");
        for (node, at) in [(0, [0, 20_000 + back]), (1, [there, 20_000])] {
            let host = 2 * node;
            for time in [start - 9_000, start + at[0], start + at[1], start + 25_000] {
                let time = shown(node, time);
                program.on_thread(host, 1).enter(time, "idle");
                program.on(host + 1).enter(time, "help");
                program.on_thread(host + 1, 1).enter(time, "idle");
                program.on_stream(host).enter(time, "kernel");
                program.on_stream(host + 1).enter(time, "kernel");
                program.on_metrics(host).enter(time, "sample");
            }
        }
    }
    program
}

/// The node of a location: ids are made of thread and rank.
fn node(location: u64) -> u64 {
    (location & 0xffff_ffff) / 2
}

/// Corrects with each method, and compares all of a node with its first thread.
fn all_move_with_their_host(clocks: &str) {
    let scratch = traces::scratch([("trace", company())]);
    for method in [
        "auto",
        "auto --reference mean",
        "clc",
        "regression",
        "extended",
        "gentlest",
        "optimal",
    ] {
        let options = format!("--clocks {clocks} --method {method}");
        let report = scratch.succeed(&format!("correct trace -o out --force --json - {options}"));
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["after"]["reversed"], 0, "{options}");
        assert_eq!(report["clocks"]["refuted_groups"], 0, "{options}");
        let corrected: BTreeMap<u64, Vec<u64>> = times(&scratch.join("out/traces.otf2"))
            .into_iter()
            .collect();
        assert_eq!(corrected.len(), 14);
        for (&location, times) in &corrected {
            let host = &corrected[&(2 * node(location))];
            assert_eq!(times.len(), 4 * ROUNDS as usize);
            assert_eq!(times, host, "location {location} with {options}");
        }
        scratch.succeed("undo out -o back --force -q");
        assert_same(&scratch.join("trace"), &scratch.join("back"));
    }
}

#[test]
fn with_clocks_as_coarse_as_the_trace_allows() {
    all_move_with_their_host("auto");
}

#[test]
fn with_a_clock_per_node() {
    all_move_with_their_host("node");
}

#[test]
fn with_a_clock_per_process() {
    all_move_with_their_host("process");
}

#[test]
fn with_a_clock_per_location() {
    all_move_with_their_host("location");
}

#[test]
fn counters_are_of_each_location_alone() {
    let scratch = traces::scratch([("trace", company())]);
    let outcome = scratch.retime("correct trace -o out --method lamport");
    // Nothing says which launch a kernel is of, but that is within a process.
    assert_eq!(outcome.code, Some(0));
    let said = outcome.stdout;
    assert!(
        !said.contains("moves with") && !said.contains("move with"),
        "{said}"
    );
    assert!(
        said.contains("each location counts its events, whatever clock it reads"),
        "{said}"
    );
    let hosts = [0, 2];
    let corrected: BTreeMap<u64, Vec<u64>> = times(&scratch.join("out/traces.otf2"))
        .into_iter()
        .collect();
    let base = corrected.values().map(|times| times[0]).min().unwrap();
    for (location, times) in corrected {
        let (first, last) = (times[0] - base, times[times.len() - 1] - base);
        assert_eq!(first, 0, "location {location}");
        let own = times.len() as u64 - 1;
        assert_eq!(
            last > own,
            hosts.contains(&location),
            "location {location}: {last}"
        );
        assert!(last >= own, "location {location}: {last}");
    }
}

#[test]
fn the_report_counts_them_by_right() {
    let scratch = traces::scratch([("trace", company())]);
    let report = scratch.retime("check trace --json -");
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    let untied = &report["clocks"]["untied"];
    assert_eq!(untied["of_process"], 4);
    assert_eq!(untied["of_creator"], 4);
    assert_eq!(untied["of_node"], 4);
    assert_eq!(untied["of_nearest"], 0);
    assert_eq!(untied["unknown"], Value::Array(vec![]));
}

#[test]
fn the_summary_says_by_what_right() {
    // The third process is alone on its node.
    let mut alone = Program::with_layout(Layout::node_per_rank(3));
    // The processes of the second node do not talk to each other.
    let mut divided = Program::with_layout(Layout {
        ranks: 5,
        threads: 1,
        ranks_per_node: 3,
    });
    for round in 0..4 {
        let start = 1_000_000 + 50_000 * round;
        alone.on(0).send(start, to(1)).recv(start + 9_000, from(1));
        alone
            .on(1)
            .recv(start - 3_000, from(0))
            .send(start + 1_000, to(0));
        alone.on(2).enter(start, "wait");
        for (tag, rank) in [(0, 0), (1, 2)] {
            let peer = to(3).tag(tag);
            let start = start + 20_000 * u64::from(tag);
            divided.on(rank).send(start, peer).recv(start + 9_000, peer);
            divided
                .on(3)
                .recv(start - 3_000, from(rank).tag(tag))
                .send(start + 1_000, to(rank).tag(tag));
        }
        divided.on(1).enter(start, "wait");
        divided.on(4).enter(start, "wait");
    }
    let scratch = traces::scratch([("alone", alone), ("divided", divided), ("all", company())]);
    let commands = [
        "correct all -o together",
        "correct alone -o apart",
        "correct divided -o next --clocks process",
    ];
    assert_golden("silent.txt", &transcript(&scratch, &commands));
}
