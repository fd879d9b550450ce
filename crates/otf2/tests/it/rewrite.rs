//! Corrects real archives and restores them.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use retime_model::{ClockMap, LocationIndex, Timestamp};
use retime_otf2::Trace;

use crate::common::unpack;
use crate::rewriting::{
    assert_same, back, correct_and_check, correction, restore_and_check, shift,
};

/// Directories of the archives in a shared trace.
fn archives(path: &Path, name: &str) -> Vec<PathBuf> {
    match name {
        "variants" => vec![path.join("be"), path.join("all")],
        "ezr1" => vec![path.join("ring_trace")],
        _ => vec![path.to_owned()],
    }
}

const ALL: [&str; 14] = [
    "rtns.mono",
    "rtns.truth",
    "halo4.otf2d",
    "ring4.otf2d",
    "colls4.otf2d",
    "dr.mono",
    "ezr1",
    "ping-pong-otf2",
    "ping-pong-otf2-papi",
    "alltypes",
    "alltypes32",
    "variants",
    "t0a",
    "t0b",
];

#[test]
fn copies_are_identical() {
    for name in ALL {
        let Some((_dir, path)) = unpack(name) else {
            return;
        };
        for path in archives(&path, name) {
            let trace = Trace::open(&path).unwrap();
            let identity = correction(&trace, |_| ClockMap::default());
            let (copy, rewritten) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            trace.copy(copy.path(), &()).unwrap();
            assert_same(&path, copy.path());
            let done = trace.rewrite(&identity, rewritten.path(), &()).unwrap();
            assert_same(&path, rewritten.path());
            let corrected = Trace::open(rewritten.path()).unwrap();
            restore_and_check(&path, &corrected, &identity, &done.undo);
        }
    }
}

/// A shift by a million ticks; to earlier times where later ones do not exist,
/// since some fixtures have times close to the end of 64 bits. One has clock
/// offsets that lead to times before zero, which wrap around; nothing can be
/// shifted there.
fn far(trace: &Trace, location: LocationIndex) -> ClockMap {
    let range = trace.times(location, &[], &()).unwrap().range;
    match range {
        Some((first, last)) if last.0 - first.0 > u64::MAX / 2 => ClockMap::default(),
        Some((_, last)) if last.0 > u64::MAX / 2 => back(1_000_000),
        _ => shift(1_000_000),
    }
}

#[test]
fn shifted_archives_are_the_same_but_for_the_shift() {
    for name in ALL {
        let Some((_dir, path)) = unpack(name) else {
            return;
        };
        for path in archives(&path, name) {
            let trace = Trace::open(&path).unwrap();
            let corrected = correct_and_check(&path, |location| far(&trace, location));
            // Only the two time records in a row of this one make it necessary.
            let laid_out = !corrected.rewritten.laid_out.is_empty();
            assert_eq!(laid_out, name == "t0a", "{name}");
        }
    }
}

/// What `otf2-print` says of an archive.
#[derive(Debug, PartialEq)]
struct Printed {
    /// Definitions and headings.
    rest: Vec<String>,
    /// By location: times and everything else, of events and snapshots.
    times: BTreeMap<u64, Vec<u64>>,
    events: BTreeMap<u64, Vec<String>>,
    complaints: String,
}

fn print(anchor: &Path) -> Option<Printed> {
    let Ok(output) = Command::new("otf2-print").arg("-A").arg(anchor).output() else {
        println!("skipped: otf2-print is not installed");
        return None;
    };
    let dir = anchor.parent().unwrap().to_string_lossy();
    let mut printed = Printed {
        rest: Vec::new(),
        times: BTreeMap::new(),
        events: BTreeMap::new(),
        complaints: String::from_utf8_lossy(&output.stderr).replace(dir.as_ref(), ""),
    };
    let mut location = None;
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let numbers = [1, 2].map(|at| words.get(at).and_then(|word| word.parse::<u64>().ok()));
        match (numbers, location) {
            ([Some(of), Some(time)], _) => {
                let times = printed.times.entry(of).or_default();
                times.push(time);
                let (before, stop) = line.split_once("Stop Time: ").unwrap_or((line, ""));
                times.extend(stop.parse::<u64>());
                let text = before.replacen(&time.to_string(), "", 1);
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                printed.events.entry(of).or_default().push(text);
                location = Some(of);
            }
            (_, Some(of)) if line.contains("ADDITIONAL ATTRIBUTES") => {
                printed
                    .events
                    .entry(of)
                    .or_default()
                    .push(line.trim().to_owned());
            }
            _ if line.starts_with("CLOCK_PROPERTIES") => {}
            _ => printed.rest.push(line.to_owned()),
        }
    }
    Some(printed)
}

/// The judge sees the same archive but for times, which differ by the shift.
#[test]
fn otf2_print_sees_the_shift_and_nothing_else() {
    for name in [
        "alltypes",
        "alltypes32",
        "variants",
        "rtns.mono",
        "ping-pong-otf2",
    ] {
        let Some((_dir, path)) = unpack(name) else {
            return;
        };
        for path in archives(&path, name) {
            let trace = Trace::open(&path).unwrap();
            let corrected = correct_and_check(&path, |location| far(&trace, location));
            let (Some(old), Some(new)) = (
                print(trace.archive().anchor_path()),
                print(corrected.trace.archive().anchor_path()),
            ) else {
                return;
            };
            assert_eq!(old.rest, new.rest);
            assert_eq!(old.events, new.events);
            assert_eq!(old.complaints, new.complaints);
            for location in trace.locations() {
                let id = trace.local(location).unwrap().location;
                let (Some(before), Some(after)) = (old.times.get(&id), new.times.get(&id)) else {
                    continue;
                };
                let map = far(&trace, location);
                // Without a shift, times that wrap around make the rest late.
                if map != ClockMap::default() {
                    let mut cursor = map.cursor(location);
                    let shifted = before.iter().map(|&time| cursor.map_time(Timestamp(time)));
                    let shifted: Option<Vec<_>> = shifted.collect();
                    let shifted: Vec<u64> = shifted.unwrap().iter().map(|time| time.0).collect();
                    assert_eq!(after, &shifted, "{name} {id}");
                }
            }
        }
    }
}
