//! Traces for the tests: real ones from the shared directory, if it is there,
//! and small ones made from bytes.
// Every test file uses a part of it, and failing is how a test reports.
#![allow(dead_code, clippy::expect_used, clippy::print_stdout)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the shared traces are, if they are.
pub(crate) fn shared() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    dir.is_dir().then_some(dir)
}

/// Unpacks a shared trace. `None`, and a note, if it is not there.
pub(crate) fn unpack(name: &str) -> Option<(tempfile::TempDir, PathBuf)> {
    let Some(shared) = shared() else {
        println!("skipped: no shared traces beside the repository, needed {name}");
        return None;
    };
    let dir = tempfile::tempdir().expect("a temporary directory");
    let status = Command::new("tar")
        .arg("--zstd")
        .arg("-xf")
        .arg(shared.join(format!("{name}.tar.zst")))
        .arg("-C")
        .arg(dir.path())
        .status()
        .expect("tar runs");
    assert!(status.success(), "tar unpacks {name}");
    let path = dir.path().join(name);
    Some((dir, path))
}

/// The text of a compressed shared file.
pub(crate) fn gunzip(name: &str) -> Option<String> {
    let path = shared()?.join(name);
    let output = Command::new("zcat").arg(path).output().expect("zcat runs");
    assert!(output.status.success());
    Some(String::from_utf8(output.stdout).expect("text"))
}

/// A chunked file: header, the given records, end marks.
pub(crate) fn file(first: u64, last: u64, records: &[&[u8]]) -> Vec<u8> {
    let mut bytes = vec![0x03, 0x42];
    bytes.extend(first.to_le_bytes());
    bytes.extend(last.to_le_bytes());
    for record in records {
        bytes.extend(*record);
    }
    bytes.extend([0x02, 0x01]);
    bytes
}

/// A record with a length byte.
pub(crate) fn record(code: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).expect("a short record");
    [&[code, length], payload].concat()
}

/// A timestamp record.
pub(crate) fn time(ticks: u64) -> Vec<u8> {
    [&[0x05][..], &ticks.to_le_bytes()].concat()
}

/// An anchor of format 3 for plain files.
pub(crate) fn anchor(locations: u64, snapshots: u32, thumbnails: u32) -> Vec<u8> {
    let mut bytes = b"\x03\x42OTF2\0\x03\x02\x03\x00\x02".to_vec();
    bytes.extend(262_144_u64.to_le_bytes());
    bytes.extend(262_144_u64.to_le_bytes());
    bytes.extend([1, 1]);
    bytes.extend(locations.to_le_bytes());
    bytes.extend(0_u64.to_le_bytes());
    bytes.extend(b"machine\0creator\0description\0");
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend(b"A::B\0c\0");
    bytes.extend(77_u64.to_le_bytes());
    bytes.extend(snapshots.to_le_bytes());
    bytes.extend(thumbnails.to_le_bytes());
    bytes.extend([2, 1, 0]);
    bytes
}

/// A file of a small archive: path below its directory, content.
pub(crate) type SmallFile = (&'static str, Vec<u8>);

/// Two locations, mapping tables, clock offsets, attributes, snapshots,
/// markers and a thumbnail, each in a few bytes.
pub(crate) fn small_archive() -> Vec<SmallFile> {
    vec![
        ("t.otf2", anchor(2, 1, 1)),
        ("t.def", small_definitions()),
        ("t/0.evt", small_events()),
        ("t/0.def", small_local_definitions()),
        ("t/0.snap", small_snapshots()),
        ("t/7.evt", file(1, 0, &[])),
        ("t/7.snap", file(1, 0, &[])),
        (
            "t.marker",
            file(
                1,
                0,
                &[
                    &record(5, b"\x00g\0c\0\x01"),
                    &record(6, b"\x01\x09\x00\x00\x01\x00text\0"),
                ],
            ),
        ),
        (
            "t.0.thumb",
            file(
                1,
                0,
                &[
                    &record(10, b"n\0d\0\x00\x01\x01\x01\x02\x01\x05\x01\x06"),
                    &record(11, b"\x01\x03\x01\x02\x00\xff"),
                ],
            ),
        ),
    ]
}

fn small_definitions() -> Vec<u8> {
    file(
        1,
        0,
        &[
            &record(5, b"\x04\x00\xca\x9a\x3b\x00\x01\x64\xff"), // 1e9 ticks per second
            &record(10, b"\x00\0"),
            &record(10, b"\x01\x01main\0"),
            &record(12, b"\x00\x01\x01\x00\xff"),
            &record(27, b"\x00\x01"),
            &record(13, b"\x00\x01\x01\x01\x00"),
            &record(14, b"\x00\x01\x01\x01\x01\x03\x00"),
            &record(14, b"\x01\x07\x01\x01\x01\x00\x00"),
            // A region as version 1.0 wrote it.
            &record(15, b"\x00\x01\x01\x00\x16\x00\x00\x00"),
            &record(18, b"\x00\x00\x06\x01\x02\x00\x01\x07\x04\x04\x00"),
            &record(18, b"\x01\x01\x00\x04\x01\x02\x01\x01\x00\x05\x04\x00"),
            &record(22, b"\x00\x01\x01\x01\x01\xff"),
            &record(11, b"\x00\x01\x01\x04"),
            &record(99, b"unknown"),
        ],
    )
}

/// The worked example of the format description, and what it lacks.
fn small_events() -> Vec<u8> {
    file(
        1,
        6,
        &[
            &time(7_397_466_977_622_557),
            &record(6, b"\x01\x01\x01\x00\x04\x02\xe9\x67"),
            &record(83, b"\x01\x01\x00"),
            &time(7_397_466_977_700_000),
            &[0x0c, 0x01, 0x03],
            &record(14, b"\x01\x01\x00\x01\x0a\x02\x00\x40"),
            &record(31, b"\x00\x02\x04\x01\x05\x08\x00"),
            &record(200, b"unknown"),
            &[0x54, 0x09, 0x08, 0, 0, 0, 0, 0, 0, 0, 0x80],
        ],
    )
}

fn small_local_definitions() -> Vec<u8> {
    let offset = |time: u64, offset: u8| {
        let mut payload = time.to_le_bytes().to_vec();
        payload.extend([1, offset]);
        payload.extend(0_f64.to_le_bytes());
        record(6, &payload)
    };
    file(
        1,
        0,
        &[
            &record(5, b"\x03\x01\x01\x01\x01\x03\x00"), // region 3 -> 0
            &record(5, b"\x06\x01\x01\x00\x00"),         // communicator 0 -> 0, dense
            &offset(7_397_466_977_622_557, 10),
            &offset(7_397_466_977_722_557, 20),
        ],
    )
}

fn small_snapshots() -> Vec<u8> {
    let enter = [&42_u64.to_le_bytes()[..], b"\x00"].concat();
    file(
        1,
        3,
        &[
            &time(50),
            &record(10, b"\x01\x01"),
            &record(13, &enter),
            &record(11, b"\x01\x02"),
        ],
    )
}

/// Writes an archive into a directory and returns the path of its anchor.
pub(crate) fn write(dir: &Path, files: &[SmallFile]) -> PathBuf {
    for (name, bytes) in files {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, bytes).expect("a file");
    }
    dir.join("t.otf2")
}
