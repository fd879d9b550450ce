//! Arrows that cannot be used are counted for what they are.

use std::fs;

use retime::format::Format;
use retime_kineto::Kineto;

/// The things that are not used of a file with these ends of arrows: letter, process and id, each
/// later than the one before.
fn unused(ends: &[(char, u32, u32)]) -> Vec<(&'static str, u64)> {
    let timed = (0..).zip(ends).map(|(time, it)| (it.0, it.1, it.2, time));
    file_with(&timed.collect::<Vec<_>>())
}

/// Counts of what is not used in a file with ends of arrows: letter, process, id and time of each.
fn file_with(ends: &[(char, u32, u32, u32)]) -> Vec<(&'static str, u64)> {
    let events = ends.iter().map(|(letter, process, id, time)| {
        format!(
            r#"{{"ph":"{letter}","cat":"flow","name":"flow","id":{id},"pid":{process},"tid":1,"ts":{time}}}"#
        )
    });
    let events: Vec<String> = events.collect();
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("run.json");
    fs::write(&path, format!("[{}]", events.join(",\n"))).unwrap();
    let trace = Kineto.open(&path).unwrap();
    let scan = trace.scan(&()).unwrap();
    let all = trace.unused(&scan.contents);
    let counted = all.iter().map(|it| (it.kind, it.records.iter().sum()));
    counted.collect()
}

#[test]
fn arrows_are_counted_for_what_they_are() {
    let directed = [('s', 1, 5), ('f', 2, 5)];
    assert_eq!(unused(&directed), []);
    // The points on the way say nothing.
    assert_eq!(unused(&[('s', 1, 5), ('t', 3, 5), ('f', 2, 5)]), []);
    let undirected = [('s', 1, 7), ('t', 2, 7)];
    assert_eq!(unused(&undirected), [("undirected arrow end", 2)]);
    // Unless another arrow leads from one of both to the other, or both are of one process.
    let mut again = file_with(&[
        ('s', 1, 5, 0),
        ('f', 2, 5, 1),
        ('s', 1, 7, 0),
        ('t', 2, 7, 1),
    ]);
    assert_eq!(again, []);
    again = file_with(&[
        ('s', 1, 5, 0),
        ('f', 2, 5, 1),
        ('s', 1, 7, 0),
        ('t', 2, 7, 2),
    ]);
    assert_eq!(again, [("undirected arrow end", 2)]);
    assert_eq!(unused(&[('s', 1, 7), ('t', 1, 7)]), []);
    assert_eq!(unused(&[('s', 1, 7)]), [("lone arrow end", 1)]);
    assert_eq!(unused(&[('f', 1, 7)]), [("lone arrow end", 1)]);
    let ambiguous = [('s', 1, 7), ('s', 2, 7), ('f', 3, 7)];
    assert_eq!(unused(&ambiguous), [("ambiguous arrow end", 3)]);
}
