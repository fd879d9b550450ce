//! Files of JSON lines: what is accepted can be corrected, and restored byte for byte.

use std::fs;

use retime::format::Format;
use retime::{Correction, SavedClock};
use retime_jsonl::JsonLines;
use tempfile::TempDir;

pub(super) fn files() -> Vec<Vec<u8>> {
    let named = r#"{"location":"client","time":1000,"type":"send","message":1}
{"location":"server","time":1500,"type":"receive","message":1}
{"location":"server","time":1700,"type":"send","message":2,"note":"a reply"}
{"location":"client","time":1200,"type":"receive","message":2}
"#;
    let plain = r#"{"location":0,"time":5,"type":"send","to":1,"tag":3}
{"location":1,"time":4,"type":"receive","from":0,"tag":3}
{"time":9,"location":1,"type":"internal"}
"#;
    vec![named.into(), plain.into()]
}

pub(super) fn check(input: &[u8]) -> String {
    let directory = TempDir::new().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("in.jsonl"), input).unwrap();
    let refused = |error: retime::format::FormatError| {
        let words = format!("refused: {error}");
        words.replace(&*directory.path().to_string_lossy(), "")
    };
    let opened = JsonLines.open(&path("in.jsonl"));
    let (scan, trace) = match opened.and_then(|trace| Ok((trace.scan(&())?, trace))) {
        Ok(both) => both,
        Err(error) => return refused(error),
    };
    let clock = SavedClock {
        locations: None,
        knots: vec![[0, 7].into(), [1_000, 500].into()],
        steps: Vec::new(),
        distance: None,
    };
    let correction = Correction::restore(&[clock], &scan.info).unwrap();
    let undo = match trace
        .rewriting()
        .unwrap()
        .rewrite(&correction, &path("out.jsonl"), &())
    {
        Ok(undo) => undo,
        Err(error) => return refused(error),
    };
    let written = JsonLines.open(&path("out.jsonl")).unwrap();
    assert_eq!(written.scan(&()).unwrap().contents, scan.contents);
    written
        .rewriting()
        .unwrap()
        .restore(&correction, &undo, &path("back.jsonl"), &())
        .unwrap();
    if !input.starts_with(&[0x1F, 0x8B]) {
        assert!(
            fs::read(path("back.jsonl")).unwrap() == input,
            "restored byte for byte"
        );
    }
    "written and restored".into()
}
