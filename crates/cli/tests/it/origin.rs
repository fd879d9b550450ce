//! A correction is for the trace that it was made for, and for others of the same run.

use retime_sim::{Layout, Program, from, to};
use serde_json::Value;

use crate::common::directory::assert_same;
use crate::common::{Scratch, traces};

/// [`traces::skewed`], of which little is left.
fn filtered() -> Program {
    let mut program = Program::with_layout(Layout::node_per_rank(3));
    program.on(0).enter(1_000_000, "main");
    program.on(0).send(1_001_100, to(1));
    program.on(1).recv(1_101_600, from(0));
    program.on(1).leave(1_160_000, "main");
    program
}

fn corrected() -> Scratch {
    let programs = [
        ("trace", traces::skewed()),
        ("filtered", filtered()),
        (
            "other-run",
            traces::exchange(Layout::node_per_rank(3), [7, 99_000, -31_000]),
        ),
        ("one-node", traces::one_node()),
        ("backlog", traces::backlog()),
    ];
    let scratch = traces::scratch(programs);
    scratch.succeed("correct trace -o corrected");
    scratch
}

const CORRECTION: &str = "corrected/traces.retime";

#[test]
fn another_program_is_refused_unless_forced() {
    let scratch = corrected();
    for (other, how) in [
        (
            "backlog",
            "that has 3 locations in 3 processes, where this one has 2 locations in 2 processes",
        ),
        (
            "one-node",
            "that has 3 locations in 3 processes as this one, but with other ids, names, \
             processes or nodes",
        ),
    ] {
        let apply = format!("apply {CORRECTION} {other} -o out");
        let refused = scratch.retime(&apply);
        assert_eq!(refused.code, Some(2), "{refused:#?}");
        let message = format!("{CORRECTION}: was made for another trace: {how}; --force applies");
        assert!(refused.stderr.contains(&message), "{refused:#?}");
        assert!(!scratch.join("out").exists());
        scratch.succeed(&format!("{apply} --force"));
        scratch.succeed("undo out -o back --force");
        assert_same(&scratch.join(other), &scratch.join("back"));
        std::fs::remove_dir_all(scratch.join("out")).unwrap();
    }
}

#[test]
fn another_run_of_the_same_program_is_refused_unless_forced() {
    let scratch = corrected();
    let apply = format!("apply {CORRECTION} other-run -o out");
    let refused = scratch.retime(&apply);
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    let message = format!(
        "{CORRECTION}: was made for another trace: there MPI Rank 0 / Master thread (location 0) \
         recorded 32 events between 1,000,000 and 1,060,000, here 32 events between 1,000,007 and \
         1,060,007, and neither can be a part of the other; --force applies"
    );
    assert!(refused.stderr.contains(&message), "{refused:#?}");
    assert!(!scratch.join("out").exists());
    scratch.succeed(&format!("{apply} --force"));
    // What comes of that is of the other run, too.
    scratch.succeed("apply out/traces.retime other-run -o again");
    let refused = scratch.retime("apply out/traces.retime trace -o never");
    assert_eq!(refused.code, Some(2), "{refused:#?}");
}

/// Corrected times are not those that the correction was made for.
#[test]
fn what_is_corrected_is_not_corrected_again() {
    let scratch = corrected();
    let refused = scratch.retime(&format!("apply {CORRECTION} corrected/traces.otf2 -o out"));
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    assert!(refused.stderr.contains("neither can be"), "{refused:#?}");
}

#[test]
fn another_trace_of_the_same_run_is_not() {
    let scratch = corrected();
    std::fs::create_dir(scratch.join("elsewhere")).unwrap();
    std::fs::rename(scratch.join("trace"), scratch.join("elsewhere/moved")).unwrap();
    scratch.succeed(&format!("apply {CORRECTION} elsewhere/moved -o out"));
    assert_same(
        &scratch.join("out/traces"),
        &scratch.join("corrected/traces"),
    );
    scratch.succeed(&format!("apply {CORRECTION} filtered -o less"));
    // The other way round: what was learned from a part is for the whole, too.
    scratch.succeed("apply less/traces.retime elsewhere/moved -o more");
}

/// As they were saved before anything was said of what was recorded.
#[test]
fn corrections_of_earlier_versions_are_for_any_run() {
    let scratch = corrected();
    let mut saved: Value = serde_json::from_str(&scratch.read(CORRECTION)).unwrap();
    let trace = saved.get_mut("trace").unwrap().as_object_mut().unwrap();
    assert!(trace.remove("recorded").is_some());
    scratch.write("old.json", &saved.to_string());
    scratch.succeed("apply old.json other-run -o out");
}

#[test]
fn who_does_not_say_for_which_trace_it_is_may_mean_any() {
    let scratch = corrected();
    let mut saved: Value = serde_json::from_str(&scratch.read(CORRECTION)).unwrap();
    assert!(saved.as_object_mut().unwrap().remove("trace").is_some());
    scratch.write("mine.json", &saved.to_string());
    scratch.succeed("apply mine.json one-node -o out");
}

/// Strings get their numbers in the order in which lines name them.
#[test]
fn lines_that_name_locations_in_another_order_are_refused() {
    let scratch = corrected();
    let event = |location: &str, time: u32| {
        format!(r#"{{"location": "{location}", "time": {time}, "event": "local"}}"#)
    };
    let file = |names: [&str; 2]| {
        let lines = [event(names[0], 5), event(names[1], 7), event(names[0], 9)];
        lines.join("\n") + "\n"
    };
    scratch.write("ab.jsonl", &file(["a", "b"]));
    scratch.write("ba.jsonl", &file(["b", "a"]));
    scratch.write(
        "shift.json",
        r#"{"format": "retime correction", "version": 1, "clocks": [{"locations": [0], "knots": [[0, 9]]}]}"#,
    );
    scratch.succeed("apply shift.json ab.jsonl -o out.jsonl");
    scratch.succeed("apply out.jsonl.retime ab.jsonl -o again.jsonl");
    let refused = scratch.retime("apply out.jsonl.retime ba.jsonl -o never.jsonl");
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    assert!(
        refused.stderr.contains("with other ids, names"),
        "{refused:#?}"
    );
}
