//! `retime correct --merged`: one file with all events in one order.

use std::collections::HashMap;
use std::path::Path;

use crate::common::times::times;
use crate::common::{Scratch, traces};
use serde_json::Value;

fn hand_made() -> Scratch {
    traces::scratch([
        ("skewed", traces::skewed()),
        ("sound", traces::sound()),
        ("odd", traces::odd()),
        ("backwards", traces::backwards()),
    ])
}

fn by_location(trace: &Path) -> HashMap<u64, Vec<u64>> {
    times(trace).into_iter().collect()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn it_says_what_the_corrected_archive_says() {
    let scratch = hand_made();
    scratch.succeed("simulate halo -o halo --no-truth --ranks 4 --events 40000 -q");
    for trace in ["skewed", "sound", "odd", "backwards", "halo"] {
        let archive = scratch.retime(&format!("correct {trace} -o {trace}-out --json a.json"));
        let merged = format!("correct {trace} --merged -o {trace}.jsonl --json b.json");
        let merged = scratch.retime(&merged);
        assert_eq!(
            (merged.code, &*merged.stderr),
            (archive.code, ""),
            "{trace}"
        );
        let report = |name| -> Value { serde_json::from_str(&scratch.read(name)).unwrap() };
        let (a, b) = (report("a.json"), report("b.json"));
        for part in ["before", "distortion", "method"] {
            assert_eq!(a[part], b[part], "{trace}: {part}");
        }

        let all = lines(&scratch.read(&format!("{trace}.jsonl")));
        assert_eq!(all[0]["retime-stream"], 1);
        assert_eq!(
            all[0]["clocks"].as_array().map(Vec::len),
            Some(a["trace"]["locations"].as_u64().unwrap() as usize)
        );
        let events = &all[1..];
        assert!(events.is_sorted_by_key(|event| event["time"].as_u64()));
        let (raw, corrected) = (
            by_location(&scratch.join(trace)),
            by_location(&scratch.join(&format!("{trace}-out"))),
        );
        let mut seen: HashMap<u64, usize> = HashMap::new();
        for event in events {
            let location = event["location"].as_u64().unwrap();
            let number = seen.entry(location).or_default();
            assert_eq!(event["event"].as_u64(), Some(*number as u64));
            assert_eq!(event["raw_time"].as_u64(), Some(raw[&location][*number]));
            assert_eq!(event["time"].as_u64(), Some(corrected[&location][*number]));
            *number += 1;
        }
        let total: usize = raw.values().map(Vec::len).sum();
        assert_eq!(events.len(), total);
    }
}

#[test]
fn a_file_is_replaced_only_by_force_and_only_one_of_events() {
    let scratch = hand_made();
    let correct = |output: &str| scratch.retime(&format!("correct skewed --merged -q -o {output}"));
    assert_eq!(correct("out").code, Some(0));
    let first = scratch.read("out");
    let again = correct("out");
    assert_eq!(again.code, Some(2));
    assert_eq!(
        again.stderr,
        "retime: out: exists already; give a new file, or --force to replace it\n"
    );
    scratch.write("out", &first[..first.len() / 2]);
    assert_eq!(correct("out --force").code, Some(0));
    assert_eq!(scratch.read("out"), first);

    scratch.write("mine", "something else");
    for target in ["mine", "sound"] {
        let refused = correct(&format!("{target} --force"));
        assert_eq!(refused.code, Some(2), "{target}");
        assert!(
            refused.stderr.contains("is no file of events"),
            "{}",
            refused.stderr
        );
    }
    assert_eq!(scratch.read("mine"), "something else");
    assert_eq!(correct("skewed --force").code, Some(2));
    assert_eq!(
        scratch.entries(),
        ["backwards", "mine", "odd", "out", "skewed", "sound"],
        "nothing hidden is left behind"
    );
}

#[test]
fn what_fails_leaves_nothing() {
    let scratch = hand_made();
    let before = scratch.entries();
    for arguments in [
        "correct odd --strict --merged -o out",
        "correct nothing --merged -o out",
        "correct skewed --merged -o below/out",
    ] {
        let outcome = scratch.retime(arguments);
        assert!(matches!(outcome.code, Some(1 | 2)), "{arguments}");
        assert_eq!(scratch.entries(), before, "{arguments}");
    }
}
