//! `retime merge` of what nothing relates.

use retime_sim::{Layout, Program, from, to};
use serde_json::Value;

use crate::common::{Scratch, traces};

#[test]
fn of_clocks_that_nothing_relates_it_is_not_said_that_none_was_off() {
    let event = |location: &str, more: &str| {
        format!(r#"{{"location":"{location}","time":5000{more}}}"#) + "\n"
    };
    let scratch = Scratch::new();
    let said = |scratch: &Scratch, lines: String| {
        scratch.write("log.jsonl", &lines);
        scratch
            .retime("merge log.jsonl -o job.pftrace --force")
            .stdout
    };
    let told = said(&scratch, event("a", "") + &event("b", ""));
    let both = "2 clocks: nothing relates them, so how far they are apart is not known\n\
                no dependency that could contradict the times\n";
    assert!(told.contains(both), "{told}");
    let told = said(&scratch, event("a", ""));
    assert!(
        told.contains("1 clock, which all events are stamped by\n"),
        "{told}"
    );
    // Two of three exchange messages.
    let mut lines = event("c", "");
    for (from, to, message) in [("a", "b", 10_000), ("b", "a", 20_000)] {
        for (location, kind, time) in [(from, "send", message), (to, "receive", message + 3_000)] {
            let line = format!(
                r#"{{"location":"{location}","time":{time},"type":"{kind}","message":{message}}}"#
            );
            lines += &(line + "\n");
        }
    }
    let told = said(&scratch, lines);
    let third = "; nothing relates location 0 to the others, so how far off is not known\n";
    assert!(told.contains(third), "{told}");
}

/// Processes of each node exchange messages, and no two nodes do.
#[test]
fn of_nodes_that_exchange_nothing_it_is_not_said_that_none_was_off() {
    let layout = Layout {
        ranks_per_node: 2,
        ..Layout::one_node(4)
    };
    let mut program = Program::with_layout(layout);
    for (one, other) in [(0, 1), (2, 3)] {
        for round in 0..5 {
            let time = 10_000 * (round + 1);
            program
                .on(one)
                .send(time, to(other))
                .recv(time + 6_000, from(other));
            program
                .on(other)
                .recv(time + 2_000, from(one))
                .send(time + 4_000, to(one));
        }
    }
    let scratch = traces::scratch([("trace", program)]);
    let merge = "merge trace -o job.pftrace --offsets-out offsets.json";
    let told = scratch.retime(merge).expect_code(3).stdout;
    let both = "2 clocks: nothing relates them, so how far they are apart is not known\n";
    assert!(told.contains(both), "{told}");
    let offsets: Value = serde_json::from_str(&scratch.read("offsets.json")).unwrap();
    for clock in offsets["traces"][0]["clocks"].as_array().unwrap() {
        assert_eq!(clock["evidence"], "unrelated", "{clock}");
    }
}
