//! Damaged archives under a correction, and corrected ones that were changed:
//! every outcome is a result, and errors say what is wrong.
use crate::common;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use retime_model::{ClockMap, Knot, LocationIndex, Step, Timestamp};
use retime_otf2::{Error, Result, Trace, Undo};
use retime_testing::Effort;

use crate::common::{SmallFile, file, small_archive, time, write};
use crate::rewriting::{assert_same, correct_and_check, correction, shift};

/// Reads, corrects and restores an archive.
fn everything(anchor: &Path) -> Result<()> {
    let trace = Trace::open(anchor)?;
    for location in trace.locations() {
        trace.glance(location, &(), |event| event.data().map(drop))?;
        trace.times(location, &[], &())?;
    }
    let correction = correction(&trace, |location| shift(7 + u64::from(location.0)));
    let (new, back) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let undo = trace.rewrite(&correction, new.path(), &())?.undo;
    let corrected = Trace::open(new.path())?;
    corrected.restore(&correction, &undo, back.path(), &())?;
    assert_same(anchor.parent().unwrap(), back.path());
    Ok(())
}

fn outcome(files: &[SmallFile]) -> Result<()> {
    let dir = tempfile::tempdir().unwrap();
    let start = Instant::now();
    let result = everything(&write(dir.path(), files));
    assert!(start.elapsed() < Duration::from_secs(10));
    result
}

#[test]
fn the_small_archive_is_corrected() {
    outcome(&small_archive()).unwrap();
}

#[test]
fn every_truncation_ends_well() {
    for (position, (name, bytes)) in small_archive().iter().enumerate() {
        for length in (0..bytes.len()).step_by(Effort::asked().pick(3, 1, 1)) {
            let mut files = small_archive();
            files[position].1.truncate(length);
            let result = outcome(&files);
            // The last bytes stand behind the end of the file, and thumbnails
            // are only copied.
            if length + 2 < bytes.len() && !name.ends_with("thumb") {
                assert!(result.is_err(), "{name} cut to {length}");
            }
        }
    }
}

/// One bit of a byte and all its bits are changed by turns, of each third byte, or of each with
/// `RETIME_EFFORT=wide`; both in each byte with `all`.
#[test]
fn every_changed_byte_ends_well() {
    let effort = Effort::asked();
    for (position, (_, bytes)) in small_archive().iter().enumerate() {
        for at in (0..bytes.len()).step_by(effort.pick(3, 1, 1)) {
            let flips = [[0x01, 0xFF], [0xFF, 0x01]][at % 2];
            for &flip in &flips[..effort.pick(1, 1, 2)] {
                let mut files = small_archive();
                files[position].1[at] ^= flip;
                // It may well be sound still.
                let _ = outcome(&files);
            }
        }
    }
}

/// Changes a corrected archive and tries to restore the original.
fn tampered(change: impl FnOnce(&Path)) -> Error {
    let dir = tempfile::tempdir().unwrap();
    let trace = Trace::open(write(dir.path(), &small_archive())).unwrap();
    let correction = correction(&trace, |_| shift(5));
    let (new, back) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let undo = trace.rewrite(&correction, new.path(), &()).unwrap().undo;
    change(new.path());
    let corrected = Trace::open(new.path()).unwrap();
    let restored = corrected.restore(&correction, &undo, back.path(), &());
    restored.unwrap_err()
}

#[test]
fn a_changed_archive_is_not_restored() {
    let edit = |name: &str, at: usize| {
        let name = name.to_owned();
        move |dir: &Path| {
            let path = dir.join(name);
            let mut bytes = fs::read(&path).unwrap();
            bytes[at] ^= 1;
            fs::write(path, bytes).unwrap();
        }
    };
    for error in [
        tampered(edit("t/0.evt", 20)),
        tampered(edit("t/0.evt", 27)),
        tampered(edit("t/0.snap", 20)),
        tampered(edit("t.marker", 22)),
        tampered(edit("t.0.thumb", 30)),
    ] {
        assert!(matches!(error, Error::NotRestorable { .. }), "{error}");
        assert!(error.to_string().contains("changed since"), "{error}");
    }
    let error = tampered(|dir| fs::remove_file(dir.join("t.marker")).unwrap());
    assert!(matches!(error, Error::Io { .. }), "{error}");
}

#[test]
fn undo_data_of_elsewhere_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let trace = Trace::open(write(dir.path(), &small_archive())).unwrap();
    let correction = correction(&trace, |_| shift(5));
    let refuse = |json: &str| {
        let undo: Undo = serde_json::from_str(json).unwrap();
        let back = tempfile::tempdir().unwrap();
        let error = trace.restore(&correction, &undo, back.path(), &());
        let error = error.unwrap_err();
        assert!(matches!(error, Error::NotRestorable { .. }), "{error}");
    };
    refuse(r#"{"format": 2, "files": []}"#);
    for path in ["../t.def", "/etc/passwd", "", "t/../../x"] {
        refuse(&format!(
            r#"{{"format": 1, "files": [{{"path": "{path}", "content": "plain", "original": 1, "corrected": 1}}]}}"#
        ));
    }
    // Of another correction: the sums do not match.
    refuse(
        r#"{"format": 1, "files": [{"path": "t.def", "content": "plain", "original": 1, "corrected": 1}]}"#,
    );
    refuse(
        r#"{"format": 1, "files": [{"path": "t/0.evt", "content": {"events": 99}, "original": 1, "corrected": 1}]}"#,
    );
}

/// Without its entry a file would not be restored, and nobody would say so.
#[test]
fn undo_data_without_a_file_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &small_archive());
    fs::write(dir.path().join("scorep.cfg"), "x").unwrap();
    let trace = Trace::open(dir.path()).unwrap();
    let correction = correction(&trace, |_| shift(5));
    let new = tempfile::tempdir().unwrap();
    let undo = trace.rewrite(&correction, new.path(), &()).unwrap().undo;
    let corrected = Trace::open(new.path()).unwrap();
    let refused = |undo: &serde_json::Value| {
        let undo: Undo = serde_json::from_value(undo.clone()).unwrap();
        let back = tempfile::tempdir().unwrap();
        let outcome = corrected.restore(&correction, &undo, back.path(), &());
        assert_eq!(
            fs::read_dir(back.path()).unwrap().count() == 0,
            outcome.is_err()
        );
        outcome.err().map(|error| error.to_string())
    };
    let whole = serde_json::to_value(&undo).unwrap();
    assert_eq!(refused(&whole), None);
    let files = whole["files"].as_array().unwrap();
    assert_eq!(files.len(), 10);
    for (at, file) in files.iter().enumerate() {
        let name = file["path"].as_str().unwrap();
        let mut less = whole.clone();
        less["files"].as_array_mut().unwrap().remove(at);
        let message = refused(&less).expect("refused");
        let named = message.contains(&format!("{name}: cannot be restored"));
        assert!(named || name == "scorep.cfg", "{name}: {message}");
        assert!(message.contains("entry"), "{message}");
        // Undo data of before there was a check sum.
        less.as_object_mut().unwrap().remove("digest");
        let spoken_of = !matches!(name, "t.0.thumb" | "t.marker" | "scorep.cfg");
        assert_eq!(refused(&less).is_some(), spoken_of, "{name}");
    }
    let mut changed = whole.clone();
    changed["files"][0]["original"] = 1.into();
    let message = refused(&changed).expect("refused");
    assert!(message.contains("missing or was changed"), "{message}");
}

#[test]
fn times_that_do_not_fit_are_an_error() {
    let mut files = small_archive();
    files.retain(|(name, _)| *name != "t/0.def");
    files[2].1 = file(1, 1, &[&time(u64::MAX - 5), &[0x0c, 0x01, 0x00]]);
    let dir = tempfile::tempdir().unwrap();
    let trace = Trace::open(write(dir.path(), &files)).unwrap();
    let correction = correction(&trace, |_| shift(10));
    let new = tempfile::tempdir().unwrap();
    let error = trace.rewrite(&correction, new.path(), &()).unwrap_err();
    assert!(matches!(error, Error::TimeRange { .. }), "{error}");
    // An archive without an anchor is not taken for one.
    assert!(!new.path().join("t.otf2").exists());
}

#[test]
fn nothing_is_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let trace = Trace::open(write(dir.path(), &small_archive())).unwrap();
    let new = tempfile::tempdir().unwrap();
    fs::write(new.path().join("t.def"), "mine").unwrap();
    let error = trace.copy(new.path(), &()).unwrap_err();
    assert!(matches!(error, Error::Io { .. }), "{error}");
    assert_eq!(fs::read(new.path().join("t.def")).unwrap(), b"mine");
}

#[test]
fn companions_are_copied_if_the_directory_was_named() {
    let dir = tempfile::tempdir().unwrap();
    let anchor = write(dir.path(), &small_archive());
    fs::write(dir.path().join("scorep.cfg"), "x").unwrap();
    fs::write(dir.path().join("t/extra.bin"), "y").unwrap();
    fs::create_dir(dir.path().join("other")).unwrap();
    fs::write(dir.path().join("other/file"), "z").unwrap();
    for (path, companion) in [(dir.path(), true), (anchor.as_path(), false)] {
        let new = tempfile::tempdir().unwrap();
        let trace = Trace::open(path).unwrap();
        trace.copy(new.path(), &()).unwrap();
        assert_eq!(new.path().join("scorep.cfg").exists(), companion);
        assert!(new.path().join("t/extra.bin").exists());
        // That there are settings of a measurement makes the directory an experiment.
        assert_eq!(new.path().join("other/file").exists(), companion);
    }
}

/// A time record between an attribute list and its event, events that share
/// a time across chunks, garbage behind the end of the file: no tool writes
/// that, but nothing may get lost.
#[test]
fn odd_but_readable_files_come_back() {
    let list = common::record(6, b"\x01\x00\x04\x01\x05");
    let enter = [0x0c, 0x01, 0x00];
    let mut events = file(
        1,
        4,
        &[
            &list,
            &time(5),
            &enter,
            &time(5),
            &time(6),
            &enter,
            &enter,
            &list,
            &enter,
        ],
    );
    events.extend(b"garbage behind the end");
    let mut files = small_archive();
    files.retain(|(name, _)| *name != "t/0.def");
    files[2].1 = events;
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &files);
    let in_place = correct_and_check(dir.path(), |_| shift(3));
    // The double time record makes the difference.
    assert_eq!(in_place.rewritten.laid_out, [LocationIndex(0)]);
    let torn = correct_and_check(dir.path(), |location| {
        let step = |event, corrected| Step {
            raw: Timestamp(6),
            location,
            event,
            corrected: Timestamp(corrected),
        };
        let knot = Knot {
            raw: Timestamp(6),
            arrive: Timestamp(6),
            leave: Timestamp(9),
        };
        ClockMap::new(vec![knot], vec![step(1, 6), step(2, 8), step(3, 9)]).unwrap()
    });
    assert_eq!(torn.rewritten.laid_out, [LocationIndex(0)]);
}

/// Byte order is a matter of each chunk. Laid out anew, no chunk mixes them.
#[test]
fn byte_orders_may_change_within_a_file() {
    let enter = [0x0c, 0x01, 0x00];
    let mut little = file(1, 3, &[&time(6), &enter, &enter, &time(7), &enter]);
    little.truncate(little.len() - 2);
    little.resize(262_144, 0);
    let mut big = vec![0x03, 0x23];
    big.extend(4_u64.to_be_bytes());
    big.extend(5_u64.to_be_bytes());
    big.push(0x05);
    big.extend(9_u64.to_be_bytes());
    // Two events at once, one of them with a number of two bytes.
    big.extend([0x0c, 0x02, 0x00, 0x00, 0x0c, 0x01, 0x00, 0x02, 0x01]);
    let mut files = small_archive();
    files.retain(|(name, _)| *name != "t/0.def");
    files[2].1 = [little, big].concat();
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &files);
    for torn in [6, 9] {
        let corrected = correct_and_check(dir.path(), |location| {
            let knot = Knot {
                raw: Timestamp(torn),
                arrive: Timestamp(torn),
                leave: Timestamp(torn + 4),
            };
            let steps = (0..5).map(|event| Step {
                raw: Timestamp(torn),
                location,
                event,
                corrected: Timestamp(torn + event.min(4)),
            });
            ClockMap::new(vec![knot], steps.collect()).unwrap()
        });
        assert_eq!(corrected.rewritten.laid_out, [LocationIndex(0)]);
    }
}
