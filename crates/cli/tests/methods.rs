//! Every method and controller: no contradiction left, and undone exactly.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test"
)]

mod common;

use common::directory::assert_same;
use common::{Scratch, traces};
use serde_json::Value;

/// Corrects the trace with `options`, checks the result and undoes it.
fn report_of(options: &str) -> Value {
    let scratch = Scratch::new();
    traces::write(scratch.path(), "trace", &traces::skewed());
    let outcome = scratch.succeed(&format!("correct trace -o out --json - {options}"));
    let report: Value = serde_json::from_str(&outcome).unwrap();
    assert_eq!(report["after"]["reversed"], 0, "{options}");
    assert_eq!(report["after"]["short"], 0, "{options}");
    scratch.succeed("check out -q");
    scratch.succeed("undo out -o back -q");
    assert_same(&scratch.join("trace"), &scratch.join("back"));
    report
}

#[test]
fn every_method_leaves_no_contradiction_and_can_be_undone() {
    for (options, name) in [
        ("", "controlled logical clock"),
        (
            "--controller constant --gamma-max 0.9",
            "controlled logical clock",
        ),
        (
            "--controller a --min-distance 1ns",
            "controlled logical clock",
        ),
        (
            "--controller 1997",
            "controlled logical clock, controller of 1997",
        ),
        ("--controller b", "controlled logical clock, controllers AB"),
        (
            "--controller abcd",
            "controlled logical clock, controllers ABCD",
        ),
        (
            "--controller ACD --gamma-min 0.5",
            "controlled logical clock, controllers ACD",
        ),
        (
            "--controller passes",
            "controlled logical clock, in several passes",
        ),
        ("--method simple", "simple logical clock"),
        ("--amortization off", "controlled logical clock"),
        ("--method lamport", "Lamport's clock"),
        ("--backward", "controlled logical clock, run backwards"),
        (
            "--backward --method simple",
            "simple logical clock, run backwards",
        ),
    ] {
        assert_eq!(report_of(options)["method"]["name"], name, "{options}");
    }
}

#[test]
fn a_backward_clock_moves_events_to_earlier_times() {
    let displacement = |options| {
        report_of(options)["distortion"]["largest_displacement"]
            .as_i64()
            .unwrap()
    };
    assert!(displacement("") > 0);
    assert!(displacement("--backward") < 0);
}

#[test]
fn outside_of_the_window_nothing_is_counted() {
    let scratch = Scratch::new();
    traces::write(scratch.path(), "trace", &traces::skewed());
    let reversed = |options: &str, out: &str| {
        let outcome = scratch.succeed(&format!("correct trace -o {out} --json - {options}"));
        let report: Value = serde_json::from_str(&outcome).unwrap();
        report["before"]["reversed"].as_u64().unwrap()
    };
    let all = reversed("", "all");
    assert!(all > 0);
    assert_eq!(reversed("--from 0ticks --to 1s", "same"), all);
    assert_eq!(reversed("--from 1s", "late"), 0);
    assert_same(&scratch.join("trace"), &scratch.join("late"));
}

#[test]
fn senseless_options_are_refused() {
    let scratch = Scratch::new();
    traces::write(scratch.path(), "trace", &traces::skewed());
    for (options, message) in [
        (
            "--controller e",
            "no such controller: give constant, 1997, passes, or some of the letters a to d",
        ),
        ("--from 2s --to 1s", "--from lies after --to"),
        ("--amortization 0%", "is no amortisation rate"),
        ("--gamma-max 1", "is no control factor"),
    ] {
        let outcome = scratch.retime(&format!("correct trace -o out {options}"));
        assert_eq!(outcome.code, Some(2), "{options}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains(message),
            "{options}: {}",
            outcome.stderr
        );
        assert!(!scratch.join("out").exists());
    }
}
