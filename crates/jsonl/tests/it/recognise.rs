//! Which files are taken for files of JSON lines.

use retime::format::{Format, Recognition};
use retime_jsonl::JsonLines;

use crate::common::{Input, compressed};

#[test]
fn by_content_and_by_name() {
    use Recognition::{Certain, No, Possible};
    let event = "\n {\"time\":1,\"location\":0}\n";
    let long = format!("{{\"location\":0,\"x\":\"{}\"}}", "x".repeat(100_000));
    for (name, content, expected) in [
        ("a.jsonl", event, Certain),
        ("a.txt", event, Certain),
        ("a.otf2", event, No),
        ("a.json", event, Certain),
        ("events", event, Certain),
        ("events", &long, Certain),
        ("events", "{\"retime-stream\":1}", Certain),
        ("events", "{\"retime-stream\":2}\r\n", Certain),
        ("a.jsonl", "", Possible),
        ("a.NDJSON", "", Possible),
        ("a.jsonl", "{\"location\":", Possible),
        ("a.ndjson.gz", "nothing", Possible),
        ("a.json", "{\"locations\":[0]}", No),
        ("a.json", "[{\"location\":0}]", No),
        ("a.otf2", "anchor", No),
        ("a.gz", "nothing", No),
    ] {
        let input = Input::named(name, content);
        assert_eq!(
            JsonLines.recognise(&input.path).unwrap(),
            expected,
            "{name} {content}"
        );
    }
    let input = Input::named("events.gz", compressed(event));
    assert_eq!(JsonLines.recognise(&input.path).unwrap(), Certain);
    assert_eq!(
        JsonLines
            .recognise(&input.beside("missing.jsonl.gz"))
            .unwrap(),
        Possible
    );
    assert_eq!(JsonLines.recognise(&input.beside("missing")).unwrap(), No);
    let directory = input.beside("directory.jsonl");
    std::fs::create_dir(&directory).unwrap();
    assert_eq!(JsonLines.recognise(&directory).unwrap(), No);
}

#[test]
fn only_files_of_events_may_be_replaced() {
    let event = "{\"time\":1,\"location\":0}\n";
    let may = |input: &Input| JsonLines.may_replace(&input.path, &input.path);
    assert_eq!(may(&Input::named("anything", event)), Ok(()));
    assert_eq!(may(&Input::gzip(event)), Ok(()));
    for content in ["", "a letter", "{\"schema\":\"retime-stream-report-1\"}"] {
        let refused = may(&Input::new(content)).unwrap_err();
        assert!(refused.starts_with("does not hold JSON lines of events"));
    }
    let directory = tempfile::tempdir().unwrap();
    let refused = JsonLines.may_replace(directory.path(), directory.path());
    assert!(refused.unwrap_err().starts_with("is no file"));
}
