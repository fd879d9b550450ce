//! Real recordings with known truth: the default on programs that wait.

use crate::common::Scratch;
use serde_json::Value;

/// Traces and truths of `tools/record/bundled`.
const RECORDINGS: [(&str, &[u8]); 4] = [
    (
        "small-pipeline",
        include_bytes!("../../../../tools/record/bundled/small-pipeline.tar.zst"),
    ),
    (
        "small-star",
        include_bytes!("../../../../tools/record/bundled/small-star.tar.zst"),
    ),
    (
        "small-subcomms",
        include_bytes!("../../../../tools/record/bundled/small-subcomms.tar.zst"),
    ),
    (
        "small-wander",
        include_bytes!("../../../../tools/record/bundled/small-wander.tar.zst"),
    ),
];

/// The mean error of relative times of a method, in ticks.
fn error(report: &Value, method: &str) -> f64 {
    let methods = report["methods"].as_array().unwrap();
    let found = methods.iter().find(|it| it["name"] == method).unwrap();
    let relative = &found["result"]["accuracy"]["relative_ticks"];
    relative["mean_abs"].as_f64().unwrap()
}

#[test]
fn no_clock_alone_comes_nearer_to_the_truth_than_the_default() {
    let scratch = Scratch::new();
    for (name, packed) in RECORDINGS {
        let decoder = ruzstd::decoding::StreamingDecoder::new(packed).unwrap();
        tar::Archive::new(decoder).unpack(scratch.path()).unwrap();
        let command = format!("compare {name}.trace --truth {name}.truth --json -");
        let report = scratch.retime(&command).expect_code(0).stdout;
        let report: Value = serde_json::from_str(&report).unwrap();
        let ours = error(&report, "auto");
        for clock in ["recorded", "clc", "clc, backward", "simple"] {
            let theirs = error(&report, clock);
            // Less than a hundredth tells nothing: a star that waits comes out about the same.
            assert!(ours < 1.01 * theirs, "{name}: {ours} {clock} {theirs}");
        }
        let inside = report["inside_bounds"].as_f64().unwrap();
        assert!(inside >= 0.999, "{name}: {inside}");
    }
}
