//! `retime stream`: lines in, lines out.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::common::{Outcome, RETIME, Scratch};
use serde_json::Value;

fn stream(args: &[&str], input: &str) -> Outcome {
    stream_of_bytes(args, input.as_bytes())
}

pub(crate) fn stream_of_bytes(args: &[&str], input: &[u8]) -> Outcome {
    let mut child = Command::new(RETIME)
        .arg("stream")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let outcome = child.wait_with_output().unwrap().into();
    // The command may end before it has read everything.
    let _ = writer.join().unwrap();
    outcome
}

const HELLO: &str = r#"{"location":"b","time":90000,"type":"receive","message":"hello"}
{"location":"a","time": 90998 ,"type":"send","message":"hello","note":{"kept":[1, 2]} }
"#;

#[test]
fn a_line_keeps_all_it_had_and_gets_its_time() {
    let out = stream(&["-q", "--min-delay", "2ticks"], HELLO).expect_code(0);
    let expected = r#"{"location":"a","time": 90998 ,"type":"send","message":"hello","note":{"kept":[1, 2]} ,"raw_time":90998}
{"location":"b","time":91000,"type":"receive","message":"hello","raw_time":90000}
"#;
    assert_eq!(out.stdout, expected);
}

#[test]
fn a_header_names_locations_clocks_and_ticks() {
    // Threads 1 and 2 of one process: the jump of one moves both.
    let input = r#"{"retime-stream":1,"ticks_per_second":1000000,"locations":[0,1,2],"clocks":[0,1,1]}
{"location":0,"time":500,"type":"send","to":1,"tag":4}
{"location":1,"time":400,"type":"receive","from":0,"tag":4}
{"location":2,"time":401}
{"location":0,"type":"end"}
{"location":1,"type":"end"}
{"location":2,"type":"end"}
"#;
    let out = stream(&["-q", "--delay", "unlimited"], input).expect_code(0);
    let lines: Vec<&str> = out.stdout.lines().collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[3], r#"{"location":2,"time":501,"raw_time":401}"#);
}

#[test]
fn collectives_of_every_class_are_kept() {
    let line = |location, time, kind: &str, class: &str, root: bool| {
        format!(
            r#"{{"location":{location},"time":{time},"type":"collective-{kind}","collective":"{class}","class":"{class}","participants":2,"rank":{location},"root":{root}}}"#
        )
    };
    for (class, effect, cause) in [
        ("all-to-all", 0, 1),
        ("from-root", 0, 1),
        ("to-root", 0, 1),
        ("scan", 1, 0),
    ] {
        let root = |location: u32| location == if class == "to-root" { effect } else { cause };
        let mut lines = Vec::new();
        for (location, begin, end) in [(effect, 100, 110), (cause, 200, 210)] {
            lines.push(line(location, begin, "begin", class, root(location)));
            lines.push(line(location, end, "end", class, root(location)));
        }
        let out = stream(&["-q"], &(lines.join("\n") + "\n")).expect_code(0);
        let values = out
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        let ends: Vec<Value> = values
            .filter(|it: &Value| it["raw_time"] == 110 && it["location"] == effect)
            .collect();
        assert_eq!(ends[0]["time"], 200, "{class}");
    }
}

#[test]
fn a_collective_in_which_not_all_take_part_waits_only_for_those_who_do() {
    let input = r#"{"location":0,"time":900,"type":"collective-begin","collective":1,"participants":3,"begins":1,"ends":2}
{"location":1,"time":800,"type":"collective-end","collective":1,"participants":3,"begins":1,"ends":2}
{"location":2,"time":950,"type":"collective-end","collective":1,"participants":3,"begins":1,"ends":2}
"#;
    let out = stream(&["--delay", "unlimited", "--min-delay", "5ticks"], input);
    let times = ["\"time\":900", "\"time\":905", "\"time\":950"];
    for (line, time) in out.stdout.lines().zip(times) {
        assert!(line.contains(time), "{line}");
    }
    assert_eq!(out.stdout.lines().count(), 3);
    assert!(!out.stderr.contains("collective"), "{}", out.stderr);
}

#[test]
fn a_bad_line_is_named_after_all_before_it_is_given_out() {
    for (line, message) in [
        ("{", "EOF while parsing an object, at character 1"),
        (r#"{"time":1}"#, "\"location\" is missing"),
        (r#"{"location":0}"#, "\"time\" is missing"),
        (
            r#"{"location":0,"time":-1}"#,
            "\"time\" is -1: give whole ticks from 0 to 18446744073709551615",
        ),
        (
            r#"{"location":[0],"time":1}"#,
            "[0] is no location: give a number or a string",
        ),
        (
            r#"{"location":0,"time":1,"type":"recieve"}"#,
            "type \"recieve\" is not known: give internal, send, receive, collective-begin, \
             collective-end, heartbeat or end",
        ),
        (
            r#"{"location":0,"time":1,"type":"send"}"#,
            "a send needs \"message\" or \"to\"",
        ),
        (
            r#"{"location":0,"time":1,"type":"send","message":1.5}"#,
            "1.5 is no id: give a number or a string",
        ),
        (
            r#"{"location":0,"time":1,"raw_time":1}"#,
            "it has a \"raw_time\" already: it went through retime before",
        ),
        (
            r#"{"location":0,"time":1,"time":2}"#,
            "duplicate field `time`, at character 29",
        ),
        (
            "[0,1,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null]",
            "this is a list; a line is one object",
        ),
        (
            r#"{"retime-stream":1}"#,
            "a header is the first line, or none",
        ),
    ] {
        let input = format!("{HELLO}{line}\n");
        let out = stream(&["-q"], &input);
        let expected = format!("retime: standard input: line 3: {message}\n");
        assert_eq!((out.code, out.stderr), (Some(2), expected));
        assert_eq!(out.stdout.lines().count(), 2, "{line}");
        let skipped = stream(&["--skip-bad"], &input);
        assert_eq!(skipped.code, Some(0));
        assert!(
            skipped.stderr.contains("\n1 line left out"),
            "{}",
            skipped.stderr
        );
        assert_eq!(skipped.stdout.lines().count(), 2, "{line}");
    }
}

#[test]
fn what_is_no_text_is_named() {
    for (input, named) in [
        (
            &b"\x1f\x8b\x08\x00\n"[..],
            "line 1: this is gzip: unpack it first",
        ),
        (b"\xff\n", "line 1: this is not UTF-8"),
    ] {
        let out = stream_of_bytes(&["-q"], input);
        assert_eq!(out.code, Some(2));
        assert!(out.stderr.contains(named), "{}", out.stderr);
    }
}

#[test]
fn headers_that_contradict_themselves_are_refused() {
    for (header, message) in [
        (
            r#"{"retime-stream":2}"#,
            "version 2 of the format is not known, only 1 is",
        ),
        (
            r#"{"retime-stream":1,"locations":[1,1]}"#,
            "location 1 is listed twice",
        ),
        (
            r#"{"retime-stream":1,"locations":[1,2],"clocks":[0]}"#,
            "\"clocks\" has 1 entries and \"locations\" 2; each location needs the number of its clock",
        ),
        (
            r#"{"retime-stream":1,"ticks_per_second":0}"#,
            "there are no 0 ticks per second",
        ),
    ] {
        let out = stream(&["-q"], &format!("{header}\n"));
        assert_eq!(
            out.stderr,
            format!("retime: standard input: line 1: {message}\n")
        );
        assert_eq!(out.code, Some(2));
    }
    let out = stream(&["-q", "--controller", "abcd"], HELLO);
    assert!(
        out.stderr
            .contains("a controller needs a first line with all locations")
    );
}

/// Without it the lines after it would be read by other rules, or not at all.
#[test]
fn how_a_stream_begins_is_no_line_to_skip() {
    let header = "{\"retime-stream\":2}\n";
    let out = stream(&["-q", "--skip-bad"], &format!("{header}{HELLO}"));
    let expected =
        "retime: standard input: line 1: version 2 of the format is not known, only 1 is\n";
    assert_eq!((out.code, &*out.stderr), (Some(2), expected));
    assert_eq!(out.stdout, "");
    for (args, message) in [
        (
            ["--controller", "abcd"],
            "a controller needs a first line with all locations",
        ),
        (
            ["--controller", "passes"],
            "--controller passes needs the whole trace; a stream has one pass",
        ),
        (
            ["--transfer-delay", "99999999999s"],
            "a time span on the command line is too long for the ticks of this trace",
        ),
    ] {
        let out = stream(&["-q", "--skip-bad", args[0], args[1]], HELLO);
        let expected = format!("retime: standard input: line 1: {message}\n");
        assert_eq!((out.code, out.stderr), (Some(2), expected));
    }
}

#[test]
fn nothing_is_left_out_where_the_first_bad_line_ends_it() {
    let out = stream(&[], "nonsense\n");
    assert_eq!(out.code, Some(2));
    assert!(!out.stderr.contains("left out"), "{}", out.stderr);
}

#[test]
fn controllers_take_part() {
    let header = "{\"retime-stream\":1,\"locations\":[\"a\",\"b\"]}\n";
    for controller in ["constant", "1997", "abcd"] {
        let args = ["-q", "--controller", controller];
        let out = stream(&args, &format!("{header}{HELLO}")).expect_code(0);
        assert_eq!(out.stdout.lines().count(), 3, "{controller}");
    }
}

#[test]
fn the_report_says_what_happened() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("report.json");
    let args = ["-q", "--report", path.to_str().unwrap()];
    let lost = r#"{"location":"a","time":100000,"type":"send","message":"lost"}
{"location":"b","time":100000,"type":"receive","message":"from nowhere"}
"#;
    stream(&args, &format!("{HELLO}{lost}")).expect_code(0);
    // An older report may go.
    stream(&args, &format!("{HELLO}{lost}")).expect_code(0);
    let report: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for (field, value) in [
        ("lines", 4),
        ("events", 4),
        ("released", 4),
        ("messages", 1),
        ("reversed", 1),
        ("unmatched_sends", 1),
        ("unmatched_receives", 1),
        ("bad_lines", 0),
    ] {
        assert_eq!(report[field], value, "{field}");
    }
    assert!(report["delay"]["p99"].is_number());
}

/// The first line comes out while the stream is still open.
#[test]
fn lines_come_out_while_others_still_come_in() {
    let mut child = Command::new(RETIME)
        .args(["stream", "-q", "--transfer-delay", "10ms"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"{\"location\":0,\"time\":0}\n").unwrap();
    stdin
        .write_all(b"{\"location\":0,\"type\":\"heartbeat\",\"time\":1000000000}\n")
        .unwrap();
    let mut first = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut first).unwrap();
    assert_eq!(first, "{\"location\":0,\"time\":0,\"raw_time\":0}\n");
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

/// The longest stay in milliseconds, by the report, where location 1 falls silent and
/// receives lack their sends.
fn longest_stay(scratch: &Scratch, options: &str) -> f64 {
    let mut lines = vec![
        r#"{"retime-stream":1,"locations":[0,1]}"#.to_owned(),
        r#"{"location":1,"time":0}"#.to_owned(),
    ];
    lines.extend((1..10_000_u64).map(|step| {
        let time = step * 100_000;
        if step % 100 == 0 {
            format!(r#"{{"location":0,"time":{time},"type":"receive","message":{step}}}"#)
        } else {
            format!(r#"{{"location":0,"time":{time}}}"#)
        }
    }));
    scratch.write("in.jsonl", &(lines.join("\n") + "\n"));
    let script = format!("$RETIME stream -q {options} --report report.json < in.jsonl > out.jsonl");
    assert_eq!(scratch.shell(&script).code, Some(0));
    let report: Value = serde_json::from_str(&scratch.read("report.json")).unwrap();
    report["delay"]["max"].as_f64().unwrap() * 1e3
}

#[test]
fn no_event_stays_longer_than_the_page_says() {
    let page = include_str!("../../../../docs/STREAM.md");
    assert!(page.contains("which is 210 ms by default"));
    let scratch = Scratch::new();
    let stay = longest_stay(&scratch, "");
    assert!((100.0..=210.0).contains(&stay), "{stay} ms");
    // What is missing is waited for all the same: 5 ms and 100 ms on the way, and up to a
    // look at the time, of which there are 64 within the delay, and an event more.
    let stay = longest_stay(&scratch, "--delay 50ms");
    assert!((105.0..106.0).contains(&stay), "{stay} ms");
    let stay = longest_stay(&scratch, "--delay 50ms --transfer-delay 10ms");
    assert!((15.0..=50.0).contains(&stay), "{stay} ms");
}

/// Messages that one clock stamps the wrong way round count as reversed, though nothing is done about
/// them.
#[test]
fn messages_within_one_clock_count_as_reversed() {
    let input = r#"{"retime-stream":1,"locations":[0,1],"clocks":[0,0]}
{"location":1,"time":10,"type":"receive","message":7}
{"location":0,"time":20,"type":"send","message":7}
"#;
    let outcome = stream(&[], input);
    assert_eq!(outcome.code, Some(0));
    let summary = &outcome.stderr;
    assert!(summary.contains("1 of 1 message reversed"), "{summary}");
}
