//! `retime explain`: what became of events, beside what else says so.

use std::collections::HashMap;

use serde_json::Value;

use crate::common::golden::assert_golden;
use crate::common::{Scratch, traces};

fn recording() -> Scratch {
    let scratch = Scratch::new();
    scratch.succeed("demo --keep kept");
    scratch
}

fn explained(scratch: &Scratch, trace: &str, event: &str) -> Value {
    let report = scratch.succeed(&format!("explain {trace} {event} --bounds off -q --json -"));
    serde_json::from_str(&report).unwrap()
}

/// The place of an event, as `LOCATION:EVENT`.
fn place(event: &Value) -> String {
    format!("{}:{}", event["location"], event["event"])
}

/// The list of all events says which messages and operations they belong to.
#[test]
fn the_other_end_is_that_of_the_list_of_all_events() {
    let scratch = recording();
    let list = scratch.retime("order kept/halo --format jsonl -q").stdout;
    let mut sends: HashMap<String, Value> = HashMap::new();
    let mut begins: HashMap<String, Vec<Value>> = HashMap::new();
    let (mut received, mut ended) = (Vec::new(), Vec::new());
    for line in list.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        match event["type"].as_str() {
            Some("send") => drop(sends.insert(event["message"].to_string(), event)),
            Some("receive") => received.push(event),
            Some("collective-begin") => {
                let all = begins.entry(event["collective"].to_string()).or_default();
                all.push(event);
            }
            Some("collective-end") => ended.push(event),
            _ => (),
        }
    }
    assert!(received.len() > 40_000 && ended.len() > 10_000);
    for receive in received.iter().step_by(15_000) {
        let send = &sends[&receive["message"].to_string()];
        let said = explained(&scratch, "kept/halo", &place(receive));
        assert_eq!(said["role"], "receive");
        assert_eq!(said["follows"]["count"], 1);
        let found = &said["follows"]["tightest_recorded"];
        assert_eq!(place(&found["other"]), place(send));
        let latency = receive["time"].as_i64().unwrap() - send["time"].as_i64().unwrap();
        assert_eq!(found["recorded_latency_ticks"], latency);
        assert!(found["corrected_latency_ticks"].as_i64().unwrap() >= 0);
        let back = explained(&scratch, "kept/halo", &place(send));
        assert_eq!(
            place(&back["precedes"]["tightest_recorded"]["other"]),
            place(receive)
        );
    }
    for end in ended.iter().step_by(5_000) {
        let own = &end["location"];
        let all = begins[&end["collective"].to_string()].iter();
        let others: Vec<&Value> = all.filter(|it| it["location"] != *own).collect();
        let last = others.iter().max_by_key(|it| it["time"].as_i64()).unwrap();
        let said = explained(&scratch, "kept/halo", &place(end));
        assert_eq!(said["follows"]["count"], others.len());
        assert_eq!(
            place(&said["follows"]["tightest_recorded"]["other"]),
            place(last)
        );
    }
}

#[test]
fn a_receive_is_explained() {
    let scratch = recording();
    assert_golden(
        "explain-receive",
        &scratch.succeed("explain kept/halo 1:35676"),
    );
}

#[test]
fn an_operation_is_explained() {
    let scratch = recording();
    assert_golden(
        "explain-operation",
        &scratch.succeed("explain kept/halo 2:5"),
    );
}

#[test]
fn what_has_no_other_end_is_told_why() {
    let scratch = traces::scratch([("trace", traces::odd())]);
    let listed = scratch.retime("explain trace --unused --json - -q").stdout;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let kinds = listed["kinds"].as_array().unwrap();
    assert!(!kinds.is_empty());
    for kind in kinds {
        let all = kind["places"].as_array().unwrap();
        assert_eq!(all.len() as u64, kind["count"].as_u64().unwrap());
        for event in all {
            let said = explained(&scratch, "trace", &place(event));
            let reasons = said["defects"].as_array().unwrap();
            let named = |it: &Value| it["kind"] == kind["kind"];
            assert!(reasons.iter().any(named), "{event}: {said}");
        }
        let name = kind["kind"].as_str().unwrap();
        let only = scratch.retime(&format!("explain trace --unused={name} --json - -q"));
        let only: Value = serde_json::from_str(&only.stdout).unwrap();
        assert_eq!(only["kinds"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn names_of_events_that_are_wrong_are_told() {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    for (event, why) in [
        (
            "99:0",
            "no location has the id 99; retime order lists those of all events",
        ),
        ("1:100000", "numbered from 0; there is no event 100000"),
        (
            "x",
            "an event is the id of its location and its number there, such as 1:35676",
        ),
    ] {
        let outcome = scratch.retime(&format!("explain trace {event}"));
        assert_eq!(outcome.code, Some(2), "{outcome:#?}");
        assert!(outcome.stderr.contains(why), "{outcome:#?}");
    }
    let outcome = scratch.retime("explain trace 1:0 --html page.html");
    assert_eq!(outcome.code, Some(2), "{outcome:#?}");
    let outcome = scratch.retime("explain trace --unused=lost");
    assert!(
        outcome.stderr.contains("there is no kind \"lost\""),
        "{outcome:#?}"
    );
}
