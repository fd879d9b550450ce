//! Lists of events.

use retime::LocationIndex;
use retime::format::{EventRow, Passage};

use crate::common::Input;

const LINES: &str = r#"{"location":"a","time":1,"region":"main","kind":"Enter"}
{"location":7,"time":9,"type":"receive","from":"a","region":5,"bytes":4294967295}
{"location":"a","time":3,"type":"send","to":7,"region":"\u006dain","bytes":24.0}
{"location":"a","type":"heartbeat","time":4,"region":"none"}
{"location":"a","time":2,"type":"collective-begin","collective":1,"participants":1,"x":{"region":"no"}}
"#;

#[test]
fn they_have_times_types_regions_and_peers() {
    let input = Input::new(LINES);
    let trace = input.open().unwrap();
    assert_eq!(trace.region(0), None);
    let rows = |location| {
        let mut rows = trace.rows(LocationIndex(location)).unwrap();
        std::iter::from_fn(move || rows.next_row().unwrap()).collect::<Vec<EventRow>>()
    };
    let said = |row: &EventRow| (row.time.0, row.kind, row.region, row.peer);
    let first: Vec<_> = rows(0).iter().map(said).collect();
    let expected = [
        (1, "internal", Some(0), None),
        (3, "send", Some(0), Some(7)),
        (2, "collective-begin", None, None),
    ];
    assert_eq!(first, expected);
    let passages: Vec<_> = rows(0).iter().map(|row| row.passage).collect();
    assert_eq!(passages, [Some(Passage::Enter), None, None]);
    let second: Vec<_> = rows(1).iter().map(said).collect();
    assert_eq!(second, [(9, "receive", None, Some(0))]);
    let bytes = |location| {
        rows(location)
            .iter()
            .map(|row| row.bytes)
            .collect::<Vec<_>>()
    };
    // From 4 GiB on lengths are not told apart.
    assert_eq!(
        (bytes(0), bytes(1)),
        (vec![None, Some(24), None], vec![None])
    );
    assert_eq!(trace.region(0).as_deref(), Some("main"));
    assert_eq!(trace.region(1), None);
    assert!(rows(2).is_empty());
}
