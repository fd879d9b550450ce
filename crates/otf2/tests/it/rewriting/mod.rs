//! Corrects archives, and checks the result event by event.
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use retime_model::{ClockMap, Clocks, Correction, Knot, LocationIndex, Timestamp};
use retime_otf2::schema::event_code;
use retime_otf2::{Event, Rewritten, Trace, Undo};

/// A correction with a clock per location and a map for each.
pub(crate) fn correction(trace: &Trace, map: impl FnMut(LocationIndex) -> ClockMap) -> Correction {
    let clocks = Clocks::each_location(trace.locations().len());
    Correction::new(clocks, trace.locations().map(map).collect())
}

/// Everything later by the same span.
pub(crate) fn shift(ticks: u64) -> ClockMap {
    let knot = Knot::at(Timestamp(0), Timestamp(ticks));
    ClockMap::new(vec![knot], vec![]).unwrap()
}

/// Everything earlier by the same span.
pub(crate) fn back(ticks: u64) -> ClockMap {
    let knot = Knot::at(Timestamp(ticks), Timestamp(0));
    ClockMap::new(vec![knot], vec![]).unwrap()
}

/// The files below a directory with their content.
pub(crate) fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fn collect(dir: &Path, root: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, root, files);
            } else {
                let name = path.strip_prefix(root).unwrap().to_owned();
                files.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    let mut all = BTreeMap::new();
    collect(dir, dir, &mut all);
    all
}

/// Fails if directories differ, naming the files that do.
pub(crate) fn assert_same(a: &Path, b: &Path) {
    let (a, b) = (files(a), files(b));
    let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&a), names(&b));
    for (name, content) in &a {
        let other = &b[name];
        let at = content.iter().zip(other).position(|(a, b)| a != b);
        assert!(
            content == other,
            "{} differs at {at:?} (sizes {} and {})",
            name.display(),
            content.len(),
            other.len()
        );
    }
}

/// A corrected copy of an archive.
pub(crate) struct Corrected {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) trace: Trace,
    pub(crate) rewritten: Rewritten,
}

/// Corrects an archive and checks everything that can be checked: each event
/// has the time that the map says and is the same otherwise, and the original
/// comes back byte for byte. `path` is its directory.
pub(crate) fn correct_and_check(
    path: &Path,
    map: impl FnMut(LocationIndex) -> ClockMap,
) -> Corrected {
    let trace = Trace::open(path).unwrap();
    let correction = correction(&trace, map);
    let dir = tempfile::tempdir().unwrap();
    let rewritten = trace.rewrite(&correction, dir.path(), &()).unwrap();
    let corrected = Trace::open(dir.path()).unwrap();
    for location in trace.locations() {
        compare(&trace, &corrected, &correction, location);
    }
    restore_and_check(path, &corrected, &correction, &rewritten.undo);
    Corrected {
        dir,
        trace: corrected,
        rewritten,
    }
}

/// Restores an archive, with undo data that went through a text file.
pub(crate) fn restore_and_check(
    original: &Path,
    corrected: &Trace,
    correction: &Correction,
    undo: &Undo,
) {
    let json = serde_json::to_string(undo).unwrap();
    let undo: Undo = serde_json::from_str(&json).unwrap();
    let dir = tempfile::tempdir().unwrap();
    corrected
        .restore(correction, &undo, dir.path(), &())
        .unwrap();
    assert_same(original, dir.path());
}

/// Compares the events of a location before and after.
fn compare(old: &Trace, new: &Trace, correction: &Correction, location: LocationIndex) {
    let open = |trace: &Trace| trace.events(location).unwrap();
    let (mut old_events, mut new_events) = (open(old), open(new));
    let map = correction.map_of(location);
    let (mut latest, mut number) = (0, 0);
    while let Some(before) = old_events.next().unwrap() {
        let after = new_events.next().unwrap().expect("as many events");
        latest = latest.max(before.time);
        let expected = if correction.is_identity() {
            before.time
        } else {
            let expected = map.cursor(location).map(number, Timestamp(latest));
            expected.unwrap().0
        };
        assert_eq!(
            after.time, expected,
            "event {number} of {}",
            before.location
        );
        assert_eq!(body(&after), body(&before), "event {number}");
        if before.code == event_code::BufferFlush {
            let mapped = map.cursor(location).map(0, Timestamp(stop(&before)));
            assert_eq!(stop(&after), mapped.unwrap().0, "event {number}");
        }
        number += 1;
    }
    assert!(new_events.next().unwrap().is_none(), "as many events");
    let count = |trace: &Trace| trace.times(location, &[], &()).unwrap().counts;
    assert_eq!(count(old), count(new));
}

/// What must not change about an event.
fn body(event: &Event<'_>) -> (u8, Vec<u8>, String) {
    let attributes = format!("{:?}", event.decode_attributes().unwrap());
    let payload = event.entry().payload().rest();
    let payload = match event.code {
        event_code::BufferFlush => &payload[8..],
        _ => payload,
    };
    (event.code, payload.to_vec(), attributes)
}

/// The end of a flush in global time.
fn stop(event: &Event<'_>) -> u64 {
    event.decode().unwrap()[0].value.unsigned().unwrap()
}
