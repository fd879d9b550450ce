//! `retime explain`: what became of events, beside what else says so.

use std::collections::HashMap;

use retime_otf2::{CollectiveOp, CollectiveRoot, CommRef, EventData};
use retime_sim::{Program, WORLD, from, to};
use serde_json::Value;

use crate::common::golden::assert_golden;
use crate::common::{Scratch, traces};
use crate::examined;

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
    let scratch = Scratch::new();
    scratch.succeed("simulate halo -o halo --no-truth --ranks 4 --events 60000 -q");
    let list = scratch.retime("order halo --format jsonl -q").stdout;
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
    assert!(received.len() > 5_000 && ended.len() > 1_000);
    for receive in received.iter().step_by(2_000) {
        let send = &sends[&receive["message"].to_string()];
        let said = explained(&scratch, "halo", &place(receive));
        assert_eq!(said["role"], "receive");
        assert_eq!(said["follows"]["count"], 1);
        let found = &said["follows"]["tightest_recorded"];
        assert_eq!(place(&found["other"]), place(send));
        let latency = receive["time"].as_i64().unwrap() - send["time"].as_i64().unwrap();
        assert_eq!(found["recorded_latency_ticks"], latency);
        assert!(found["corrected_latency_ticks"].as_i64().unwrap() >= 0);
        let back = explained(&scratch, "halo", &place(send));
        assert_eq!(
            place(&back["precedes"]["tightest_recorded"]["other"]),
            place(receive)
        );
    }
    for end in ended.iter().step_by(500) {
        let own = &end["location"];
        let all = begins[&end["collective"].to_string()].iter();
        let others: Vec<&Value> = all.filter(|it| it["location"] != *own).collect();
        let last = others.iter().max_by_key(|it| it["time"].as_i64()).unwrap();
        let said = explained(&scratch, "halo", &place(end));
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

/// A trace of operations that prove nothing does not say that everything was used.
#[test]
fn calls_that_prove_nothing_are_counted() {
    let mut program = Program::new(2);
    for rank in 0..2 {
        let (op, root) = (CollectiveOp::ALLTOALLV, CollectiveRoot::None);
        let mut thread = program.on(rank);
        thread.enter(500, "exchange");
        thread.collective(1_000, 2_000, op, root, WORLD);
    }
    let scratch = traces::scratch([("trace", program)]);
    let said = scratch.retime("explain trace --unused").stdout;
    assert!(
        said.starts_with("2 collective calls on which no dependency rests"),
        "{said}"
    );
    let said = scratch.retime("explain trace --unused --json - -q").stdout;
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["calls_without_dependency"], 2);
    // Nor is an event before such a call sent to it as to one of a dependency.
    let said = scratch.retime("explain trace 0:0").stdout;
    assert!(
        said.contains("none: no dependency can rest on it; the next event of its location on which one can is 0:1"),
        "{said}"
    );
}

/// The first of two receives may have the only message that is recorded to be sent, or the second.
#[test]
fn a_pair_that_may_be_another_is_not_told_as_certain() {
    let mut program = Program::new(2);
    program.on(0).send(10_000, to(1));
    program.on(1).recv(12_000, from(0)).recv(14_000, from(0));
    let mut complete = Program::new(2);
    complete.on(0).send(10_000, to(1));
    complete.on(1).recv(12_000, from(0));
    let scratch = traces::scratch([("lost", program), ("complete", complete)]);
    let open = "which receive has which message is not certain here, and this holds for whichever";
    let told = |event: &str| scratch.succeed(&format!("explain {event}")).contains(open);
    assert!(told("lost 1:1") && told("lost 0:0"));
    assert!(!told("complete 1:0") && !told("complete 0:0"));
    assert!(!told("lost 1:0"));
}

#[test]
fn lengths_are_told_as_recorded() {
    let mut program = Program::new(2);
    for (number, bytes) in (1..).zip([1, 2, 1 << 40]) {
        let at = number * 10_000;
        program.on(0).send(at, to(1).bytes(bytes));
        program.on(1).recv(at + 2_000, from(0).bytes(bytes));
    }
    let scratch = traces::scratch([("trace", program)]);
    for (event, length) in [(0, "1 byte "), (1, "2 bytes "), (2, "4 GiB or more ")] {
        let said = scratch.retime(&format!("explain trace 0:{event}")).stdout;
        assert!(said.contains(&format!("message of {length}")), "{said}");
    }
}

/// Ids of lines are numbered as they are read, and of an operation with a root only some begins and
/// ends count.
#[test]
fn what_has_an_id_is_not_called_by_another_one() {
    let scratch = Scratch::new();
    let line = |location: u32, time: u32, kind: &str, root: bool| {
        format!(
            "{{\"location\":{location},\"time\":{time},\"type\":\"collective-{kind}\",\
             \"collective\":4711,\"participants\":3,\"class\":\"from-root\",\"root\":{root}}}\n"
        )
    };
    let both = |it: u32| line(it, 10, "begin", it == 0) + &line(it, 30 + it, "end", it == 0);
    scratch.write("lines", &(0..3).map(both).collect::<String>());
    let said = |event: &str| scratch.succeed(&format!("explain lines {event}"));
    let (root, other) = (said("0:0"), said("1:1"));
    assert!(
        root.contains(
            "1-to-N operation that the trace tells by more than a communicator, numbered 0"
        ),
        "{root}"
    );
    assert!(root.contains(", with 1 begin\n"), "{root}");
    assert!(other.contains(", with 2 ends\n"), "{other}");
}

/// The end of an operation on a communicator that the definitions lack.
#[test]
fn a_communicator_that_is_not_defined_has_no_number() {
    let scratch = Scratch::new();
    examined::write(scratch.path(), "trace", |id, it| {
        let communicator = CommRef(77);
        it.event(1_000, &EventData::MpiCollectiveBegin).unwrap();
        let end = EventData::MpiCollectiveEnd {
            collective_op: CollectiveOp::BARRIER,
            communicator,
            root: CollectiveRoot::None,
            size_sent: 0,
            size_received: 0,
        };
        it.event(2_000 + id, &end).unwrap();
    });
    let said = scratch.succeed("explain trace 0:1");
    let expected = "Barrier on a communicator that is not defined: number 1 of this location";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn an_event_or_a_list_is_asked_for() {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    let outcome = scratch.retime("explain trace");
    assert_eq!(outcome.code, Some(2));
    let usage = "Usage: retime explain [OPTIONS] <TRACE> <LOCATION:EVENT>\n       \
                 retime explain [OPTIONS] <TRACE> --unused[=<KIND>]";
    assert!(outcome.stderr.contains(usage), "{outcome:#?}");
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

/// Two threads of a process send to another one, with one tag: MPI keeps no order between them.
#[test]
fn threads_that_share_a_channel_are_not_told_as_one() {
    let scratch = Scratch::new();
    let message = |peer| retime_otf2::writer::Message {
        peer,
        comm: CommRef(0),
        tag: 0,
        length: 8,
    };
    examined::write(scratch.path(), "shared", |id, it| match id {
        0 => it.send(1_000, message(1)).unwrap(),
        1 => it.send(2_000, message(1)).unwrap(),
        2 => {
            it.recv(5_000, message(0)).unwrap();
            it.recv(6_000, message(0)).unwrap();
            it.send(7_000, message(0)).unwrap();
        }
        _ => {}
    });
    examined::write(scratch.path(), "alone", |id, it| match id {
        0 => it.send(1_000, message(1)).unwrap(),
        2 => it.recv(5_000, message(0)).unwrap(),
        _ => {}
    });
    let shared =
        "several threads share this channel; which receive has which message is not certain";
    for event in ["0:0", "1:0", "2:0", "2:1"] {
        let said = explained(&scratch, "shared", event);
        let rule = said["rule"].as_str().unwrap();
        assert!(rule.contains(shared), "{event}: {rule}");
    }
    let said = explained(&scratch, "alone", "2:0");
    let rule = said["rule"].as_str().unwrap();
    assert_eq!(
        rule,
        "MPI keeps messages of one channel in order (docs/DEPENDENCIES.md)"
    );
    // The page says the same.
    scratch.retime("check shared --html page.html -q");
    assert!(scratch.read("page.html").contains(shared));
}
