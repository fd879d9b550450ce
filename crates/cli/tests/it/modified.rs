//! When files were modified: what is the same has its time, and so has what was restored.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::common::{Scratch, traces};
use crate::kineto::two_ranks;

/// The times of all files below a directory, or of a file.
fn times(root: &Path) -> Vec<(String, SystemTime)> {
    let found = fs::metadata(root).unwrap();
    if found.is_file() {
        return vec![(String::new(), found.modified().unwrap())];
    }
    let mut all = Vec::new();
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let within = times(&path).into_iter();
        all.extend(within.map(|(inner, time)| (format!("{name}/{inner}"), time)));
    }
    all.sort();
    all
}

/// Gives each file a time of its own, long ago: that of the first one before 1970.
fn age(root: &Path) -> Vec<(String, SystemTime)> {
    let start = UNIX_EPOCH - Duration::from_millis(500);
    for (number, (name, _)) in times(root).iter().enumerate() {
        let time = start + Duration::new(86_400 * number as u64, 7);
        let file = File::options().append(true).open(match &**name {
            "" => root.to_owned(),
            name => root.join(name.trim_end_matches('/')),
        });
        file.unwrap().set_modified(time).unwrap();
    }
    times(root)
}

fn time_of(all: &[(String, SystemTime)], name: &str) -> SystemTime {
    all.iter().find(|it| it.0 == name).unwrap().1
}

/// A trace of each format, corrected: after `undo` all have their times again.
#[test]
fn undo_restores_times() {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    two_ranks(&scratch);
    scratch.write(
        "lines.jsonl",
        "{\"location\":\"a\",\"time\":1000,\"type\":\"send\",\"message\":1}\n\
         {\"location\":\"b\",\"time\":900,\"type\":\"receive\",\"message\":1}\n",
    );
    for trace in ["trace", "run", "lines.jsonl"] {
        let before = age(&scratch.join(trace));
        let begun = SystemTime::now() - Duration::from_secs(60);
        scratch.succeed(&format!("correct {trace} -o out"));
        let corrected = times(&scratch.join("out"));
        // What was changed has no old time.
        assert!(corrected.iter().any(|it| it.1 > begun), "{corrected:?}");
        scratch.succeed("undo out -o back");
        assert_eq!(times(&scratch.join("back")), before, "{trace}");
        clear(&scratch);
    }
}

fn clear(scratch: &Scratch) {
    for name in ["out", "back"] {
        let path = scratch.join(name);
        if path.is_dir() {
            fs::remove_dir_all(&path).unwrap();
        } else if path.exists() {
            fs::remove_file(&path).unwrap();
        }
    }
    let _ = fs::remove_file(scratch.join("out.retime"));
}

/// Unchanged are the profile with the common time, the anchor file of an archive, and lines
/// that a map leaves as they are.
#[test]
fn what_a_correction_leaves_as_it_is_keeps_its_time() {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    two_ranks(&scratch);
    for (trace, same, other) in [
        ("run", "rank0.json/", "rank1.json/"),
        ("trace", "traces.otf2/", "traces/1.evt/"),
    ] {
        let before = age(&scratch.join(trace));
        scratch.succeed(&format!("correct {trace} -o out"));
        let after = times(&scratch.join("out"));
        assert_eq!(time_of(&after, same), time_of(&before, same));
        assert_ne!(time_of(&after, other), time_of(&before, other));
        clear(&scratch);
    }
    scratch.write(
        "lines.jsonl",
        "{\"location\":0,\"time\":1000,\"type\":\"internal\"}\n",
    );
    for (at, is_same) in [(5_000, true), (500, false)] {
        let map = format!("[[0,0],[{at},{at}],[{},{}]]", at + 1_000, at + 1_010);
        let correction = format!(
            "{{\"format\":\"retime correction\",\"version\":1,\"clocks\":[{{\"knots\":{map}}}]}}"
        );
        scratch.write("by-hand.json", &correction);
        let before = age(&scratch.join("lines.jsonl"));
        scratch.succeed("apply by-hand.json lines.jsonl -o out");
        let after = times(&scratch.join("out"));
        assert_eq!(after == before, is_same, "{after:?}");
        scratch.succeed("undo out -o back");
        assert_eq!(times(&scratch.join("back")), before);
        clear(&scratch);
    }
}

/// Corrections that were saved before times were, and one whose time nobody ever had.
#[test]
fn undo_works_without_times() {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    two_ranks(&scratch);
    for (trace, saved) in [("trace", "out/traces.retime"), ("run", "out/run.retime")] {
        let before = age(&scratch.join(trace));
        scratch.succeed(&format!("correct {trace} -o out"));
        let whole: Value = serde_json::from_str(&scratch.read(saved)).unwrap();
        let with = |time: Option<Value>| {
            let mut data = whole.clone();
            for file in data["undo"]["files"].as_array_mut().unwrap() {
                let file = file.as_object_mut().unwrap();
                assert!(file.remove("modified").is_some());
                time.clone().map(|it| file.insert("modified".into(), it));
            }
            scratch.write(saved, &data.to_string());
        };
        with(None);
        scratch.succeed("undo out -o back");
        crate::common::directory::assert_same(&scratch.join("back"), &scratch.join(trace));
        assert_ne!(times(&scratch.join("back")), before);
        fs::remove_dir_all(scratch.join("back")).unwrap();
        with(Some(serde_json::json!([0, 1_000_000_000])));
        let refused = scratch.retime("undo out -o back");
        assert_eq!(refused.code, Some(2), "{refused:#?}");
        assert!(
            refused.stderr.contains("no time of modification"),
            "{refused:#?}"
        );
        clear(&scratch);
    }
}
