//! The time of day at which a recording began, where a trace tells it.

use serde_json::Value;

use crate::common::Scratch;
use crate::common::traces::{skewed, write};

const NOVEMBER_2023: u64 = 1_700_000_000_000_000_000;

fn began_at(scratch: &Scratch, trace: &str) -> Value {
    let outcome = scratch.retime(&format!("check {trace} --quiet --json -"));
    let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
    report["trace"]["began_at"].clone()
}

#[test]
fn an_archive_tells_it_by_its_clock_properties() {
    let scratch = Scratch::new();
    let mut program = skewed();
    write(scratch.path(), "without", &program);
    program.options.realtime = Some(NOVEMBER_2023);
    write(scratch.path(), "with", &program);

    assert_eq!(began_at(&scratch, "without"), Value::Null);
    assert_eq!(began_at(&scratch, "with"), "2023-11-14T22:13:20Z");
    let text = scratch.retime("check with").stdout;
    assert!(
        text.contains("with (OTF2), recorded from 2023-11-14 22:13:20Z\n"),
        "{text}"
    );
    // The correction moves the first event, and the time of day with it.
    scratch.succeed("correct with -o out --quiet");
    assert_eq!(began_at(&scratch, "out"), "2023-11-14T22:13:20Z");
}

#[test]
fn a_profile_tells_it_if_its_times_count_from_1970() {
    let scratch = Scratch::new();
    let profile = |base: u64, ts: u64| {
        format!(
            "{{\"distributedInfo\": {{\"rank\": 0}}, \"baseTimeNanoseconds\": {base}, \"traceEvents\": [\
             {{\"ph\": \"X\", \"name\": \"step\", \"pid\": 1, \"tid\": 1, \"ts\": {ts}, \"dur\": 5}}]}}"
        )
    };
    scratch.write("based.json", &profile(NOVEMBER_2023, 7_000_000));
    scratch.write("whole.json", &profile(0, NOVEMBER_2023 / 1000));
    scratch.write("boot.json", &profile(0, 7_000_000));
    assert_eq!(began_at(&scratch, "based.json"), "2023-11-14T22:13:27Z");
    assert_eq!(began_at(&scratch, "whole.json"), "2023-11-14T22:13:20Z");
    assert_eq!(began_at(&scratch, "boot.json"), Value::Null);
}
