//! Profiles of training jobs: what is accepted can be corrected, gets the times that were
//! announced, and is restored byte for byte.

use std::fs;

use retime::format::{Format, FormatError};
use retime::{Correction, SavedClock};
use retime_kineto::Kineto;
use tempfile::TempDir;

/// The file of a rank, in which calls of both libraries are, and of any kind of event.
fn profile(rank: u32, shift: u32) -> String {
    let at = |time: u32| f64::from(time + shift);
    let nccl = |number: u32| {
        format!(
            r#"{{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","pid":0,"tid":7,
 "ts":{:.3},"dur":20.5,"args":{{"Collective name":"allreduce","In msg nelems":4,"dtype":"Float",
 "Process Group Name":"0","Process Group Ranks":"[0, 1]","Seq":{number}}}}}"#,
            at(100 * number)
        )
    };
    let gloo = |number: u32| {
        format!(
            r#"{{"ph":"X","cat":"user_annotation","name":"gloo:all_reduce","pid":9,"tid":12,
 "ts":{:.3},"dur":31.25,"args":{{"Input Dims":[[4]],"Input type":["float"]}}}}"#,
            at(90 * number)
        )
    };
    let others = format!(
        r#"{{"ph":"M","name":"thread_name","pid":9,"tid":12,"ts":{0},"args":{{"name":"a \"thread\""}}}},
{{"ph":"s","id":3,"cat":"c","name":"n","pid":{rank},"tid":1,"ts":{0}}},
{{"ph":"f","id":3,"cat":"c","name":"n","pid":1,"tid":1,"ts":{1:.2},"bp":"e"}},
{{"ph":"X","name":"outer","pid":9,"tid":1,"ts":{0},"dur":50}},
{{"ph":"X","name":"inner","pid":9,"tid":1,"ts":{1:.1},"dur":9e0}}"#,
        at(10),
        at(12)
    );
    let events: Vec<String> = (1..5).map(nccl).chain((1..5).map(gloo)).collect();
    format!(
        r#"{{"schemaVersion":1,"distributedInfo":{{"rank":{rank},"world_size":2,"pg_config":
[{{"pg_name":"0","ranks":[0,1]}}]}},"host_name":"h{rank}","baseTimeNanoseconds":1700000000000000000,
"traceEvents":[{others},{}],"traceName":"x"}}"#,
        events.join(",\n")
    )
}

pub(super) fn files() -> Vec<Vec<u8>> {
    let array = r#"[{"ph":"B","name":"a","pid":1,"tid":1,"ts":1.5},
{"ph":"E","pid":1,"tid":1,"ts":1e1},
{"ph":"C","name":"c","pid":2,"tid":"x","ts":4,"args":{"v":1}},"#;
    vec![profile(0, 3).into(), array.into()]
}

pub(super) fn check(input: &[u8]) -> String {
    let directory = TempDir::new().unwrap();
    let path = |name: &str| directory.path().join(name);
    for name in ["in", "out", "back"] {
        fs::create_dir(path(name)).unwrap();
    }
    fs::write(path("in/a.json"), input).unwrap();
    fs::write(path("in/b.json"), profile(1, 0)).unwrap();
    let refused = |error: FormatError| {
        let words = format!("refused: {error}");
        words.replace(&*directory.path().to_string_lossy(), "")
    };
    let files = [path("in/a.json"), path("in/b.json")];
    let opened = Kineto.open_files(&files.each_ref().map(|it| &**it));
    let opened = opened.unwrap();
    let (scan, trace) = match opened.and_then(|trace| Ok((trace.scan(&())?, trace))) {
        Ok(both) => both,
        Err(error) => return refused(error),
    };
    let clock = SavedClock {
        locations: None,
        knots: vec![
            [1_700_000_000_000_000_000, 1_700_000_000_000_000_000].into(),
            [1_700_000_000_001_000_000, 1_700_000_000_000_900_000].into(),
        ],
        steps: Vec::new(),
        distance: None,
    };
    let correction = Correction::restore(&[clock], &scan.info).unwrap();
    let logs: Vec<_> = scan
        .logs
        .iter()
        .map(|it| it.clone().into_columns())
        .collect();
    let events: Vec<&[u32]> = logs.iter().map(|it| &*it.numbers).collect();
    let settled = match trace
        .rewriting()
        .unwrap()
        .settled(&correction, &events, &())
    {
        Ok(settled) => settled.unwrap(),
        Err(error) => return refused(error),
    };
    let undo = match trace
        .rewriting()
        .unwrap()
        .rewrite(&correction, &path("out"), &())
    {
        Ok(undo) => undo,
        Err(error) => return refused(error),
    };
    let written = Kineto.open(&path("out")).unwrap();
    for ((timeline, times), contents) in written
        .timelines(&events, &())
        .unwrap()
        .iter()
        .zip(&settled)
        .zip(&scan.contents)
    {
        assert_eq!(timeline.difference(contents, times), None);
    }
    written
        .rewriting()
        .unwrap()
        .restore(&correction, &undo, &path("back"), &())
        .unwrap();
    if !input.starts_with(&[0x1F, 0x8B]) {
        assert!(
            fs::read(path("back/a.json")).unwrap() == input,
            "restored byte for byte"
        );
    }
    "written and restored".into()
}
