//! `retime stream --method pseudo-sync`: segments of hosts in one order.

use crate::common::{Outcome, Scratch};
use crate::stream::stream_of_bytes;
use serde_json::Value;

fn stream(args: &str, input: &str) -> Outcome {
    let args: Vec<&str> = args.split_whitespace().collect();
    stream_of_bytes(&args, input.as_bytes())
}

const HEADER: &str = r#"{"retime-stream":1,"ticks_per_second":1000,"locations":["a","b"]}"#;

/// Two hosts of which "b" is 5000 ticks ahead; messages there take 30, later 20, and one back 20.
/// Events of two hosts by segments of a second: in each the lines of "a" come first, then those of "b".
fn two_hosts() -> String {
    let events = [
        ("a", 100, r#","type":"send","message":1"#),
        ("a", 900, ""),
        ("a", 1_100, ""),
        ("b", 5_130, r#","type":"receive","message":1"#),
        ("b", 5_500, r#","type":"send","message":2"#),
        ("b", 6_200, ""),
        ("a", 1_200, r#","type":"receive","message":2"#),
        ("a", 1_300, r#","type":"send","message":3"#),
        ("a", 2_200, ""),
        ("b", 6_320, r#","type":"receive","message":3"#),
        ("b", 7_300, ""),
    ];
    let line = |(location, time, kind): (&str, u64, &str)| {
        format!("{{\"location\":\"{location}\",\"time\":{time}{kind}}}\n")
    };
    let lines: String = events.map(line).concat();
    format!("{HEADER}\n{lines}")
}

/// Location and corrected time of each line.
fn given(outcome: &Outcome) -> Vec<(String, u64)> {
    let lines = outcome.stdout.lines().skip(1);
    let lines = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let said = |line: Value| {
        (
            line["location"].as_str().unwrap().into(),
            line["time"].as_u64().unwrap(),
        )
    };
    lines.map(said).collect()
}

#[test]
fn segments_leave_in_one_order_by_the_shifts_so_far() {
    for method in ["pseudo-sync", "pseudo-sync-closure"] {
        let out = stream(&format!("-q --method {method}"), &two_hosts()).expect_code(0);
        assert_eq!(out.stdout.lines().next(), Some(HEADER));
        let all = given(&out);
        let expected = [
            // By the first segments b is 5030 ahead, and a has come to 1100: until there.
            ("a", 100),
            ("b", 100),
            ("b", 470),
            ("a", 900),
            // By the second ones 5020.
            ("a", 1_100),
            ("b", 1_180),
            ("a", 1_200),
            ("a", 1_300),
            ("b", 1_300),
            ("a", 2_200),
            ("b", 2_280),
        ];
        let expected = expected.map(|(location, time)| (location.to_owned(), time));
        assert_eq!(all, expected, "{method}");
    }
}

#[test]
fn the_base_can_be_any_host_and_the_end_is_that_of_the_whole_trace() {
    let scratch = Scratch::new();
    scratch.write("two.jsonl", &two_hosts());
    // In one segment, as if all came at a time.
    let out = stream(
        "-q --method pseudo-sync-closure --reference b --segment 100s",
        &two_hosts(),
    );
    let times: Vec<u64> = given(&out.expect_code(0)).iter().map(|it| it.1).collect();
    scratch.succeed(
        "correct two.jsonl -o whole.jsonl --method pseudo-sync-closure --reference b --always \
         --repair off --bounds off --force -q --min-delay 0ticks",
    );
    let whole = scratch.read("whole.jsonl");
    let mut expected: Vec<u64> = whole
        .lines()
        .skip(1)
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["time"]
                .as_u64()
                .unwrap()
        })
        .collect();
    expected.sort_unstable();
    assert_eq!(times, expected);
}

#[test]
fn the_report_counts_what_was_and_is_reversed() {
    let scratch = Scratch::new();
    let report = scratch.join("report.json");
    let args = format!("--method pseudo-sync-closure --report {}", report.display());
    let out = stream(&args, &two_hosts());
    assert_eq!(out.code, Some(0), "{out:?}");
    assert!(
        out.stderr
            .contains("1 of 3 messages reversed, 0 after the shifts"),
        "{}",
        out.stderr
    );
    let report: Value = serde_json::from_str(&scratch.read("report.json")).unwrap();
    assert_eq!(report["schema"], "retime-stream-report-segments-1");
    for (field, count) in [
        ("events", 11),
        ("released", 11),
        ("rounds", 3),
        ("messages", 3),
        ("reversed", 1),
        ("left_reversed", 0),
        ("unmatched", 0),
    ] {
        assert_eq!(report[field], count, "{field}");
    }
    // It is a report of retime, which another run may replace.
    stream(&format!("-q {args}"), &two_hosts()).expect_code(0);
}

#[test]
fn what_cannot_be_put_in_order_is_told() {
    let refused = |args: &str, input: &str| {
        let out = stream(&format!("-q {args}"), input);
        assert_eq!(out.code, Some(2), "{out:?}");
        out.stderr
    };
    let closure = "--method pseudo-sync-closure";
    let headless = two_hosts().replace(&format!("{HEADER}\n"), "");
    assert!(
        refused(closure, &headless)
            .contains("line 1: pseudo-synchronisation needs a first line with all locations")
    );
    assert!(
        refused("--method pseudo-sync --reference c", &two_hosts())
            .contains("--reference c is no location of the first line")
    );
    // A third location that only sends.
    let third = two_hosts().replace("\"b\"]", "\"b\",\"c\"]")
        + "{\"location\":\"c\",\"time\":1,\"type\":\"send\",\"message\":9}\n"
        + "{\"location\":\"b\",\"time\":7300,\"type\":\"receive\",\"message\":9}\n";
    assert!(
        refused(closure, &third)
            .contains("messages go only from c to b, and none lead there from the reference")
    );
    // The clock of "b" loses half a second between two messages.
    let drifts = two_hosts()
        + "{\"location\":\"b\",\"time\":7400,\"type\":\"send\",\"message\":4}\n"
        + "{\"location\":\"a\",\"time\":2300,\"type\":\"receive\",\"message\":4}\n";
    let told = refused(closure, &drifts);
    assert!(told.contains("clocks drift apart"), "{told}");
    assert!(
        told.contains("along a -> b, they miss it by 80 ms"),
        "{told}"
    );
    // By the first segments this one lies 30 ticks before the time 0 of "a".
    let first = "{\"location\":\"b\",\"time\":5130";
    let early = two_hosts().replace(
        first,
        &format!("{{\"location\":\"b\",\"time\":5000}}\n{first}"),
    );
    let told = refused(closure, &early);
    assert!(
        told.contains("time 5000 would lie outside of 0 to 2^64 by the clock of the reference"),
        "{told}"
    );
}

#[test]
fn options_without_a_part_in_the_method_are_refused() {
    for (args, option) in [
        ("--method pseudo-sync --controller 1997", "controller"),
        ("--method pseudo-sync-closure --delay unlimited", "delay"),
        ("--reference a", "reference"),
        ("--segment 2s", "segment"),
    ] {
        let out = stream(args, HEADER);
        assert_eq!(out.code, Some(2), "{out:?}");
        let says = format!("--{option} has no part in --method");
        assert!(out.stderr.contains(&says), "{}", out.stderr);
    }
}
