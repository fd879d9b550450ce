//! Corrects real archives and restores them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test"
)]

mod common;
mod rewriting;

use std::path::{Path, PathBuf};

use retime::{ClockMap, LocationIndex};
use retime_otf2::Otf2Trace;

use common::unpack;
use rewriting::{assert_same, back, correct_and_check, correction, restore_and_check, shift};

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
            let trace = Otf2Trace::open(&path).unwrap();
            let identity = correction(&trace, |_| ClockMap::default());
            let (copy, rewritten) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            trace.copy(copy.path(), &()).unwrap();
            assert_same(&path, copy.path());
            let done = trace.rewrite(&identity, rewritten.path(), &()).unwrap();
            assert_same(&path, rewritten.path());
            let corrected = Otf2Trace::open(rewritten.path()).unwrap();
            restore_and_check(&path, &corrected, &identity, &done.undo);
        }
    }
}

/// A shift by a million ticks; to earlier times where later ones do not exist,
/// since some fixtures have times close to the end of 64 bits. One has clock
/// offsets that lead to times before zero, which wrap around; nothing can be
/// shifted there.
fn far(trace: &Otf2Trace, location: LocationIndex) -> ClockMap {
    let range = trace.node_times(location, &[], &()).unwrap().range;
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
            let trace = Otf2Trace::open(&path).unwrap();
            let corrected = correct_and_check(&path, |location| far(&trace, location));
            assert!(corrected.rewritten.laid_out.is_empty(), "{name}");
        }
    }
}
