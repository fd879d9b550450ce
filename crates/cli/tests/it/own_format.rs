//! A format of one's own that is only read: `examples/own_format.rs`.

use crate::common::{Outcome, Scratch, example};
use serde_json::Value;

const CALLS: &str = "time,location,event,message\n\
                     1000,client,send,1\n\
                     900,server,receive,1\n\
                     1800,server,send,2\n\
                     2400,client,receive,2\n\
                     3000,client,send,3\n\
                     2900,server,receive,3\n";

fn calls() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("calls.csv", CALLS);
    scratch
}

fn run(scratch: &Scratch, words: &str) -> Outcome {
    let mut command = scratch.program(example("own_format").to_str().unwrap());
    command.args(words.split_whitespace());
    command.output().unwrap().into()
}

#[test]
fn it_is_checked_compared_listed_exported_and_viewed() {
    let scratch = calls();
    let report = run(&scratch, "check calls.csv --json -").expect_code(1);
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!(report["before"]["reversed"], 2);
    assert_eq!(report["trace"]["format"], "CSV of calls");

    let table = run(&scratch, "compare calls.csv").expect_code(0).stdout;
    assert!(table.lines().any(|it| it.starts_with("auto ")), "{table}");
    let listed = run(&scratch, "order calls.csv");
    assert_eq!(listed.code, Some(1), "{listed:?}");
    assert_eq!(listed.stdout.lines().count(), 1 + 6, "{listed:?}");
    run(&scratch, "export calls.csv -o calls.pftrace").expect_code(0);
    run(&scratch, "check calls.csv --html calls.html").expect_code(1);
    let page = scratch.read("calls.html");
    assert!(page.contains("calls.csv"));

    // The truth of itself: no event is anywhere else.
    let told = run(&scratch, "check calls.csv --truth calls.csv").expect_code(1);
    assert!(told.stdout.contains("relative times   0 s mean, 0 s max"));
}

#[test]
fn its_events_are_written_corrected_in_another_format() {
    let scratch = calls();
    run(&scratch, "correct calls.csv -o calls.jsonl --merged").expect_code(0);
    scratch.succeed("check calls.jsonl");
    let lines = scratch.read("calls.jsonl");
    for raw in ["900", "1800", "2900"] {
        assert!(lines.contains(&format!("\"raw_time\":{raw}}}")), "{lines}");
    }
}

#[test]
fn a_copy_in_it_is_refused_with_the_way_out() {
    let scratch = calls();
    for words in [
        "correct calls.csv -o copy.csv",
        "undo calls.csv -o copy.csv",
        "apply none.retime calls.csv -o copy.csv",
    ] {
        let Outcome { code, stderr, .. } = run(&scratch, words);
        assert_eq!(code, Some(2), "{words}: {stderr}");
        assert_eq!(
            stderr,
            "retime: calls.csv: is of a format that retime only reads, so no corrected copy can \
             be written in it; retime correct --merged writes its events at corrected times as \
             JSON lines, and retime export for viewers\n",
            "{words}"
        );
        assert!(!scratch.join("copy.csv").exists());
    }
}

#[test]
fn its_errors_name_the_line() {
    let scratch = calls();
    for (bad, what) in [
        ("x,client,send,1", "the time is no number"),
        ("1,client,sent,1", "the event is neither send nor receive"),
        ("1,client,send", "has not the four fields of the first line"),
    ] {
        scratch.write("bad.csv", &format!("{CALLS}{bad}\n"));
        let Outcome { code, stderr, .. } = run(&scratch, "check bad.csv");
        assert_eq!(code, Some(2));
        assert_eq!(stderr, format!("retime: bad.csv: line 8: {what}\n"));
    }
}
