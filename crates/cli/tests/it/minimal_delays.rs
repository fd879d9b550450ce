//! Minimal delays by the length of messages, learned by rules that have names, and kept in the
//! saved correction.

use crate::common::Scratch;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Messages of all lengths up to 1 MiB between four nodes, that take 5 us and a nanosecond for 10
/// bytes at least, on clocks that differ by up to so much.
fn traffic(offset: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.succeed(&format!(
        "simulate random -o trace --ranks-per-node 1 --events 2e4 --min-delay 5us \
         --delay-excess 1us --offset {offset} --drift 0 --seed 3",
    ));
    scratch
}

fn checked(scratch: &Scratch, options: &str, code: i32) -> Value {
    let command = format!("check {options} --json -");
    json(&scratch.retime(&command).expect_code(code).stdout)
}

#[test]
fn bytes_take_time_by_the_bandwidth_that_was_given() {
    let scratch = traffic("0s");
    scratch.write("true", "# from to delay bandwidth\n* * 5us 10GB/s\n");
    scratch.write(
        "classes",
        "* * 1s\nwithin-process 1s\nbetween-nodes 5us 10GB/s\n",
    );
    scratch.write("slow", "* * 5us 10GB/s\n0 * 5us 5GB/s\n");
    for file in ["true", "classes"] {
        let report = checked(&scratch, &format!("trace --min-delay {file}"), 0);
        assert_eq!(report["before"]["short"], 0, "{file}");
        let by_length = &report["parameters"]["min_delay"]["by_length"];
        assert_eq!(by_length["smallest_bytes_per_second"], 10_000_000_000_u64);
        assert_eq!(by_length["without_length"], 0);
    }
    let faster = checked(&scratch, "trace --min-delay slow", 1);
    let short = faster["before"]["messages"]["short"].as_u64().unwrap();
    assert!(short > 100, "{short}");
    // Half a MiB less a nanosecond for 10 bytes.
    let by = faster["before"]["shortest_by_ticks"].as_i64().unwrap();
    assert!((50_000..=105_000).contains(&by), "{by}");
    for method in [
        "auto",
        "clc",
        "clc --backward",
        "simple",
        "clc --controller abcd",
    ] {
        let correct = format!("correct trace -o out --force --min-delay slow --method {method}");
        let report = json(&scratch.succeed(&format!("{correct} --json -")));
        assert_eq!(report["after"]["short"], 0, "{method}");
        // The delay is in the saved correction.
        let again = checked(&scratch, "out", 0);
        let delay = &again["parameters"]["min_delay"];
        assert_eq!(delay["source"], "saved");
        assert_eq!(delay["is_condition"], true);
        assert_eq!(
            delay["by_length"]["smallest_bytes_per_second"],
            5_000_000_000_u64
        );
    }
}

/// As JSON lines that an archive is listed as, whose messages have ids, and with channels instead.
#[test]
fn json_lines_say_how_long_messages_are() {
    let scratch = traffic("0s");
    scratch.write("slow", "* * 5us 5GB/s\n");
    let archive = checked(&scratch, "trace --min-delay slow", 1);
    let lines = scratch.succeed("order trace --format jsonl");
    scratch.write("ids.jsonl", &lines);
    let on_channel = |line: &str| {
        let mut line = json(line);
        let way = if line["type"] == "send" { "to" } else { "from" };
        if line["message"].is_number() {
            line[way] = line["peer"].clone();
            line["tag"] = line["message"].take();
            line.as_object_mut().unwrap().remove("message");
        }
        format!("{line}\n")
    };
    scratch.write(
        "channels.jsonl",
        &lines.lines().map(on_channel).collect::<String>(),
    );
    for file in ["ids.jsonl", "channels.jsonl"] {
        let report = checked(&scratch, &format!("{file} --min-delay slow"), 1);
        for figure in ["short", "shortest_by_ticks"] {
            assert_eq!(
                report["before"][figure], archive["before"][figure],
                "{file}"
            );
        }
        let by_length = &report["parameters"]["min_delay"]["by_length"];
        assert_eq!(by_length["without_length"], 0, "{file}");
        scratch.succeed(&format!(
            "correct {file} -o out.jsonl --force -q --min-delay slow"
        ));
        assert_eq!(
            checked(&scratch, "out.jsonl", 0)["before"]["short"],
            0,
            "{file}"
        );
    }
}

#[test]
fn a_line_below_all_round_trips_is_learned() {
    let scratch = traffic("100us");
    let report = checked(&scratch, "trace --min-delay by-length", 1);
    let delay = &report["parameters"]["min_delay"];
    assert_eq!(
        (&delay["source"], &delay["is_condition"]),
        (&"by-length".into(), &false.into())
    );
    // Of the fastest messages of each window many are little slower than they can be.
    let latency = delay["line"]["latency_ticks"].as_f64().unwrap();
    let bandwidth = delay["line"]["bytes_per_second"].as_f64().unwrap();
    assert!((4_000.0..8_000.0).contains(&latency), "{latency}");
    assert!((9e9..15e9).contains(&bandwidth), "{bandwidth}");
    let enforced = delay["by_length"]["smallest_bytes_per_second"]
        .as_f64()
        .unwrap();
    assert!((enforced / bandwidth - 8.0).abs() < 1e-6, "{enforced}");
    let eighth = (latency / 8.0).floor() as i64;
    assert_eq!(delay["smallest_ticks"].as_i64(), Some(eighth));
    for method in ["auto", "clc"] {
        let correct =
            format!("correct trace -o out --force --min-delay by-length --method {method}");
        let report = json(&scratch.succeed(&format!("{correct} --json -")));
        assert_eq!(
            (&report["after"]["short"], &report["after"]["reversed"]),
            (&0.into(), &0.into())
        );
        let again = checked(&scratch, "out", 0);
        assert_eq!(again["parameters"]["min_delay"]["is_condition"], false);
        assert_eq!(
            again["parameters"]["min_delay"]["smallest_ticks"],
            delay["smallest_ticks"]
        );
    }
}

#[test]
fn rules_of_thumb_take_the_most_frequent_round_trip_of_calls() {
    let scratch = Scratch::new();
    // Two processes answer each other at once; messages take 20 us, now and then more.
    scratch.succeed(
        "simulate ring -o trace --ranks 2 --iterations 400 --compute 1us --min-delay 20us \
         --delay-excess 2us --offset 100us --drift 10ppm --seed 5",
    );
    let ticks = |rule: &str| {
        let report = checked(&scratch, &format!("trace --min-delay {rule}"), 1);
        let delay = report["parameters"]["min_delay"].clone();
        assert_eq!(
            (&delay["source"], &delay["is_condition"]),
            (&rule.into(), &false.into())
        );
        let trip = delay["calls"]["most_frequent_ticks"].as_i64().unwrap();
        assert!((40_000..46_000).contains(&trip), "{trip}");
        assert!(delay["calls"]["count"].as_u64().unwrap() > 300, "{delay}");
        (trip, delay["smallest_ticks"].as_i64().unwrap())
    };
    let (trip, quarter) = ticks("quarter-call");
    assert_eq!(quarter, trip / 4);
    assert_eq!(ticks("quarter-call-90"), (trip, trip * 9 / 40));
    let summary = scratch
        .retime("check trace --min-delay quarter-call-90")
        .expect_code(1);
    let told = "learned: 90 % of a quarter of the most frequent round trip of an empty call";
    assert!(summary.stdout.contains(told), "{}", summary.stdout);
    let report = json(&scratch.succeed("correct trace -o out --min-delay quarter-call --json -"));
    assert_eq!(report["after"]["short"], 0);
    // Nobody calls and answers in a chain of messages one way.
    scratch.succeed("simulate producer-consumer -o oneway --offset 0s --drift 0 --events 1e3");
    let none = scratch.retime("check oneway --min-delay quarter-call");
    assert!(
        none.stdout.contains("fewer than 8 calls"),
        "{}",
        none.stdout
    );
}

/// The saved correction of a trace, with another minimal delay, or none.
fn with_delay(scratch: &Scratch, delay: Option<Value>) {
    let path = "out/traces.retime";
    let mut saved = json(&scratch.read(path));
    match delay {
        Some(delay) => saved["min_delay"] = delay,
        None => {
            saved.as_object_mut().unwrap().remove("min_delay");
        }
    }
    scratch.write(path, &saved.to_string());
}

#[test]
fn what_is_saved_is_read_again() {
    let scratch = traffic("100us");
    scratch.succeed("correct trace -o out --min-delay 1us");
    let saved = json(&scratch.read("out/traces.retime"));
    let given = serde_json::json!({ "given": true, "delays": [{ "ticks": 1_000 }] });
    assert_eq!(saved["min_delay"], given);
    let told = scratch.succeed("check out");
    assert!(
        told.contains("1 us (as given when the trace was corrected)"),
        "{told}"
    );
    scratch.succeed("order out");
    // Applied to the recording once more, it is there again.
    scratch.succeed("apply out/traces.retime trace -o applied");
    assert_eq!(
        json(&scratch.read("applied/traces.retime"))["min_delay"],
        given
    );
    scratch.succeed("check applied");
    // By a delay of whose truth somebody is sure the same times are wrong.
    let entries = serde_json::json!([{ "ticks": 0 }, { "from": 0, "ticks": 1_000_000 }]);
    let longer = serde_json::json!({ "given": true, "delays": entries });
    with_delay(&scratch, Some(longer));
    let report = checked(&scratch, "out", 1);
    assert!(report["before"]["short"].as_u64().unwrap() > 0);
    let order = scratch.retime("order out");
    assert_eq!(order.code, Some(1));
    let told = "or sooner after them than the minimal delay that was given";
    assert!(order.stderr.contains(told), "{}", order.stderr);
    // Not by one that was learned, nor by what the command line says instead.
    let learned = serde_json::json!({ "given": false, "delays": [{ "ticks": 1_000_000 }] });
    with_delay(&scratch, Some(learned));
    assert_eq!(
        checked(&scratch, "out", 0)["parameters"]["min_delay"]["smallest_ticks"],
        1_000_000
    );
    scratch.succeed("order out");
    scratch.succeed("check out --min-delay 1us");
    // Of corrections without it nothing changes.
    with_delay(&scratch, None);
    let report = checked(&scratch, "out", 0);
    assert_eq!(report["parameters"]["min_delay"]["source"], "learned");
    scratch.succeed("undo out -o back");
}

#[test]
fn a_saved_delay_that_makes_no_sense_is_an_error() {
    let scratch = traffic("100us");
    scratch.succeed("correct trace -o out");
    for (delay, why) in [
        (
            r#"{ "given": true, "delays": [{ "ticks": 1152921504606846977 }] }"#,
            "at most 2^60",
        ),
        (
            r#"{ "given": true, "delays": [{ "ticks": -1 }] }"#,
            "min_delay: invalid value",
        ),
        (
            r#"{ "given": true, "delays": [{ "ticks": 1, "bytes_per_second": 0 }] }"#,
            "min_delay: invalid value",
        ),
        (
            r#"{ "given": true, "delays": [{ "ticks": 1, "from": 0, "class": "within-node" }] }"#,
            "for locations and for a class",
        ),
    ] {
        with_delay(&scratch, Some(json(delay)));
        for command in ["check out", "order out"] {
            let refused = scratch.retime(command);
            let said = &refused.stderr;
            assert_eq!(refused.code, Some(2), "{said}");
            assert!(
                said.contains(why) && said.contains("traces.retime"),
                "{said}"
            );
        }
    }
}
