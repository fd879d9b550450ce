//! A correction is for the trace that it was made for, and for others of the same run.

use retime_sim::Layout;
use serde_json::Value;

use crate::common::directory::assert_same;
use crate::common::{Scratch, traces};

fn corrected() -> Scratch {
    let programs = [
        ("trace", traces::skewed()),
        (
            "filtered",
            traces::exchange(Layout::node_per_rank(3), [0; 3]),
        ),
        ("one-node", traces::one_node()),
        ("backlog", traces::backlog()),
    ];
    let scratch = traces::scratch(programs);
    scratch.succeed("correct trace -o corrected");
    scratch
}

const CORRECTION: &str = "corrected/traces.retime.json";

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
fn another_trace_of_the_same_run_is_not() {
    let scratch = corrected();
    scratch.succeed(&format!("apply {CORRECTION} filtered -o out"));
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
    scratch.succeed("apply out.jsonl.retime.json ab.jsonl -o again.jsonl");
    let refused = scratch.retime("apply out.jsonl.retime.json ba.jsonl -o never.jsonl");
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    assert!(
        refused.stderr.contains("with other ids, names"),
        "{refused:#?}"
    );
}
