//! `retime order`: all events in one order, as text, CSV and JSON lines.

use std::collections::HashMap;
use std::fs::File;

use crate::common::golden::{assert_golden, transcript};
use crate::common::{Outcome, Scratch, traces};
use retime_otf2::CollectiveOp;
use retime_sim::{Program, from, to};
use serde_json::Value;

fn hand_made() -> Scratch {
    traces::scratch([
        ("skewed", traces::skewed()),
        ("sound", traces::sound()),
        ("backwards", traces::backwards()),
        ("tied", tied()),
    ])
}

/// All at one time: what comes first shows in dependencies alone.
fn tied() -> Program {
    let mut program = Program::new(3);
    let all = CollectiveOp::ALLREDUCE;
    for rank in 0..3 {
        program.on(rank).enter(7, "a \"quoted\", name");
    }
    program.on(0).recv(7, from(1)).barrier(7, 7);
    program.on(1).recv(7, from(2)).send(7, to(0)).barrier(7, 7);
    program.on(2).send(7, to(1)).barrier(7, 7);
    for rank in 0..3 {
        let root = retime_otf2::CollectiveRoot::None;
        let mut rank = program.on(rank);
        rank.collective(7, 8, all, root, retime_sim::WORLD);
    }
    program
}

#[test]
fn lists() {
    let commands = [
        "order sound --from 9us --to 13us",
        "order sound --from 9us --to 13us --format csv",
        "order sound --from 9us --to 13us --format jsonl",
        "order tied",
        "order tied --format csv --to 0",
        "order skewed --from 130us",
        "order skewed --from 138us -q",
        "order backwards",
        "order sound --from 2us --to 1us",
        "order nothing",
    ];
    assert_golden("order.txt", &transcript(&hand_made(), &commands));
}

#[test]
fn a_reader_may_stop_and_a_full_disk_may_not() {
    let scratch = hand_made();
    for format in ["text", "csv", "jsonl"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = scratch.command(&format!("order skewed -q --format {format}"));
        let outcome = Outcome::from(command.stdout(writer).output().unwrap());
        outcome.expect_code(1);
    }
    let outcome = scratch.shell("\"$RETIME\" order sound | head -2 | wc -l");
    assert_eq!((outcome.stdout.trim(), &*outcome.stderr), ("2", ""));
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        eprintln!("skipped: no /dev/full");
        return;
    };
    let mut command = scratch.command("order sound");
    let outcome = Outcome::from(command.stdout(full).output().unwrap());
    assert_eq!(outcome.code, Some(2));
    assert_eq!(
        outcome.stderr,
        "retime: standard output: No space left on device (os error 28)\n"
    );
}

/// What JSON lines say: their objects without the header.
fn objects(text: &str) -> Vec<Value> {
    let mut lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let header: Value = lines.next().unwrap();
    assert_eq!(header["retime-stream"], 1);
    lines.collect()
}

/// Fails if an effect comes before its cause.
fn assert_in_order(events: &[Value]) {
    let mut seen: HashMap<String, u64> = HashMap::new();
    let mut last = HashMap::new();
    for event in events {
        let number = event["event"].as_u64();
        assert!(last.insert(event["location"].to_string(), number) < Some(number));
        match event["type"].as_str().unwrap() {
            "send" => *seen.entry(event["message"].to_string()).or_default() += 1,
            "receive" => assert!(seen.contains_key(&event["message"].to_string()), "{event}"),
            "collective-begin" => {
                *seen.entry(format!("c{}", event["collective"])).or_default() += 1;
            }
            "collective-end" if event["class"] == "all-to-all" => {
                let begun = seen.get(&format!("c{}", event["collective"]));
                assert_eq!(begun.copied(), event["begins"].as_u64(), "{event}");
            }
            _ => {}
        }
    }
    assert!(events.is_sorted_by_key(|event| event["time"].as_u64()));
}

#[test]
fn no_effect_comes_before_its_cause_even_at_one_time() {
    let scratch = hand_made();
    let tied = objects(&scratch.succeed("order tied --format jsonl"));
    assert_eq!(tied.len(), 19);
    assert_in_order(&tied);

    traces::recording(scratch.path());
    let halo = scratch.retime("order halo --format csv");
    assert_eq!(halo.code, Some(1));
    assert_eq!(halo.stdout.lines().count(), 1 + 456_040);
    assert!(
        halo.stderr.starts_with("32,689 contradictions"),
        "{}",
        halo.stderr
    );
    scratch.succeed("simulate halo -o simulated --no-truth --ranks 4 --events 40000 -q");
    scratch.succeed("correct simulated -o corrected -q");
    let corrected = objects(&scratch.succeed("order corrected --format jsonl"));
    assert!(corrected.len() > 30_000);
    assert_in_order(&corrected);
}

#[test]
fn json_lines_are_a_stream_that_says_the_same() {
    let scratch = hand_made();
    for (trace, reversed) in [("sound", 0), ("tied", 0), ("skewed", 8)] {
        let filter = "\"$RETIME\" stream --merged --delay unlimited -q --report report.json";
        let outcome = scratch.shell(&format!(
            "\"$RETIME\" order {trace} --format jsonl -q > lines; {filter} < lines"
        ));
        let (listed, streamed) = (objects(&scratch.read("lines")), objects(&outcome.stdout));
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert_eq!(listed.len(), streamed.len());
        if trace == "sound" {
            // At equal times a stream goes by location alone.
            assert_in_order(&streamed);
        }
        let report: Value = serde_json::from_str(&scratch.read("report.json")).unwrap();
        assert_eq!(report["reversed"], reversed);
        for count in [
            "unmatched_receives",
            "unmatched_sends",
            "incomplete_collectives",
        ] {
            assert_eq!(report[count], 0, "{trace}: {count}");
        }
        if reversed == 0 {
            let time = |event: &Value| (event["time"].clone(), event["raw_time"].clone());
            assert!(streamed.iter().map(time).all(|(time, raw)| time == raw));
        }
    }
}

/// A name that tries to clear the screen, to set the title and to forge a line.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;title\u{7}\r\n1,2,3 \u{202e}";

#[test]
fn names_in_a_trace_do_not_reach_the_terminal_as_orders() {
    let mut program = Program::new(2);
    program
        .on(0)
        .enter(5, HOSTILE)
        .send(10, to(1))
        .leave(20, HOSTILE);
    program.on(1).recv(8, from(0));
    let scratch = traces::scratch([("trace", program)]);
    for format in ["text", "csv"] {
        let list = scratch.retime(&format!("order trace -q --format {format}"));
        let is_obeyed = |it: char| it != '\n' && (it.is_control() || it == '\u{202e}');
        assert!(!list.stdout.contains(is_obeyed), "{format}: {list:?}");
        assert_eq!(list.stdout.lines().count(), 5, "{format}: {list:?}");
        assert!(list.stdout.contains(r"\u{1b}[2J"), "{format}: {list:?}");
    }
    let missing = format!("missing{HOSTILE}").replace(' ', "");
    let error = scratch.retime(&format!("check {}", missing.replace("\r\n", "")));
    assert!(
        !error.stderr.contains(['\u{1b}', '\u{7}', '\u{202e}']),
        "{error:?}"
    );
    assert!(error.stderr.contains(r"missing\u{1b}[2J"), "{error:?}");
}
