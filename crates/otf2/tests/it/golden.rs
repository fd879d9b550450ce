//! Every record of the format against dumps made by libotf2 itself.

#[allow(dead_code)]
#[path = "../../examples/dump.rs"]
mod dump;

use crate::common;
use std::path::Path;

fn dumped(path: &Path, raw: bool) -> String {
    let mut text = Vec::new();
    dump::dump(path, raw, &mut text).expect("the archive is sound");
    String::from_utf8(text).expect("text")
}

/// As `assert_eq`, but a difference in megabytes of text shows one line.
fn assert_same(ours: &str, theirs: &str) {
    for (number, (ours, theirs)) in ours.lines().zip(theirs.lines()).enumerate() {
        assert_eq!(ours, theirs, "line {}", number + 1);
    }
    assert_eq!(ours.lines().count(), theirs.lines().count());
}

#[test]
fn raw_dump_equals_libotf2() {
    let Some((_dir, path)) = common::unpack("alltypes") else {
        return;
    };
    let golden = common::gunzip("alltypes.raw.txt.gz").expect("the golden dump");
    assert_same(&dumped(&path, true), &golden);
}

#[test]
fn mapped_dump_equals_libotf2() {
    let Some((_dir, path)) = common::unpack("alltypes32") else {
        return;
    };
    let golden = common::gunzip("alltypes32.mapped.txt.gz").expect("the golden dump");
    assert_same(&dumped(&path, false), &golden);
}

/// Big endian; and big endian with over-long integers, trailing bytes and
/// unknown records. The first line shows the anchor, whose count of
/// definitions includes unknown ones.
#[test]
fn transcoded_archives_hold_the_same_records() {
    let (Some((_dir, variants)), Some(golden)) = (
        common::unpack("variants"),
        common::gunzip("alltypes32.mapped.txt.gz"),
    ) else {
        return;
    };
    let (_, golden) = golden.split_once('\n').expect("lines");
    for variant in ["be", "all"] {
        let text = dumped(&variants.join(variant), false);
        let (_, text) = text.split_once('\n').expect("lines");
        assert_same(text, golden);
    }
}

/// libotf2 loops endlessly on the first of these.
#[test]
fn events_at_time_zero_are_read() {
    for (name, events) in [("t0a", 40_000), ("t0b", 5)] {
        let Some((_dir, path)) = common::unpack(name) else {
            return;
        };
        let text = dumped(&path, false);
        let zero = text.lines().filter(|line| line.starts_with("E 0 0 "));
        assert_eq!(zero.count(), events, "{name}");
    }
}
