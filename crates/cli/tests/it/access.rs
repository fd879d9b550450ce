//! A copy may be read by whom the original may, and by nobody else; `faults` looks whether
//! that holds at every moment.

#![cfg(unix)]

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::common::{Scratch, traces};

/// The day on which the originals were written.
const THEN: Duration = Duration::from_secs(1_000_000_000);

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

fn age(path: &Path) {
    let file = fs::File::options().append(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + THEN).unwrap();
}

fn is_old(path: &Path) -> bool {
    fs::metadata(path).unwrap().mtime() == THEN.as_secs() as i64
}

/// Names of an archive, and what their modes are.
const MODES: [(&str, u32); 7] = [
    ("", 0o750),
    ("traces", 0o700),
    ("traces.otf2", 0o600),
    ("traces.def", 0o640),
    ("traces/0.evt", 0o400),
    ("traces/1.def", 0o604),
    ("scorep.cfg", 0o444),
];

/// A trace with these modes, written long ago.
fn private_trace(program: &retime_sim::Program) -> Scratch {
    let scratch = Scratch::new();
    traces::write(scratch.path(), "trace", program);
    scratch.write("trace/scorep.cfg", "settings\n");
    for (name, mode) in MODES {
        let path = scratch.join("trace").join(name);
        if path.is_file() {
            age(&path);
        }
        set_mode(&path, mode);
    }
    scratch
}

#[track_caller]
fn assert_modes(directory: &Path) {
    for (name, expected) in MODES {
        let found = mode(&directory.join(name));
        assert_eq!(found, expected, "{name}: {found:o}");
    }
}

#[test]
fn of_copies_of_archives() {
    let scratch = private_trace(&traces::skewed());
    scratch.succeed("correct trace -o out");
    scratch.succeed("correct trace/traces.otf2 -o named");
    scratch.succeed("undo out -o back");
    scratch.succeed("apply out/traces.retime trace -o applied");
    for made in ["out", "back", "applied"] {
        assert_modes(&scratch.join(made));
    }
    assert_eq!(mode(&scratch.join("named")), 0o750);
    assert_eq!(mode(&scratch.join("named/traces.def")), 0o640);
    // It tells the times of events, too.
    assert_eq!(mode(&scratch.join("out/traces.retime")), 0o600);
}

/// As `cp -p` does it: what is the same as before is as old as before.
#[test]
fn what_is_copied_byte_for_byte_keeps_its_time() {
    let scratch = private_trace(&traces::skewed());
    scratch.succeed("correct trace -o out");
    assert!(is_old(&scratch.join("out/scorep.cfg")));
    assert!(is_old(&scratch.join("out/traces.otf2")));
    assert!(!is_old(&scratch.join("out/traces/1.evt")));

    let scratch = private_trace(&traces::sound());
    scratch.succeed("correct trace -o out");
    assert!(is_old(&scratch.join("out/traces/0.evt")));
    assert_modes(&scratch.join("out"));
}

/// A file of 8 MiB that holds two bytes.
fn write_sparse(path: &Path) {
    let mut file = fs::File::create(path).unwrap();
    file.write_all(b"1").unwrap();
    file.seek(SeekFrom::Start(5 << 20)).unwrap();
    file.write_all(b"2").unwrap();
    file.set_len(8 << 20).unwrap();
    file.sync_all().unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn holes_of_files_stay_holes() {
    let scratch = private_trace(&traces::skewed());
    let sparse = scratch.join("trace/dump");
    write_sparse(&sparse);
    let blocks = |path: &Path| fs::metadata(path).unwrap().blocks();
    if blocks(&sparse) >= 8 << 11 {
        eprintln!("not tested: this file system has no holes");
        return;
    }
    scratch.succeed("correct trace -o out");
    scratch.succeed("undo out -o back");
    for made in ["out", "back"] {
        let copy = scratch.join(made).join("dump");
        assert!(fs::read(&copy).unwrap() == fs::read(&sparse).unwrap());
        assert!(
            blocks(&copy) <= blocks(&sparse),
            "{made}: {}",
            blocks(&copy)
        );
    }
}

/// An access list in the form of Linux: the owner may do `owner`, the user 4711 and at most
/// `named`, the group and everyone else nothing. The group bits of the mode then are `named`.
#[cfg(target_os = "linux")]
fn access_list(owner: u16, named: u16) -> Vec<u8> {
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, id) in [
        (0x01_u16, owner, u32::MAX),
        (0x02, named, 4_711),
        (0x04, 0, u32::MAX),
        (0x10, named, u32::MAX),
        (0x20, 0, u32::MAX),
    ] {
        list.extend(tag.to_le_bytes());
        list.extend(permissions.to_le_bytes());
        list.extend(id.to_le_bytes());
    }
    list
}

#[cfg(target_os = "linux")]
const LIST: &str = "system.posix_acl_access";

#[cfg(target_os = "linux")]
fn set_attribute(path: &Path, name: &str, value: &[u8]) -> bool {
    rustix::fs::setxattr(path, name, value, rustix::fs::XattrFlags::empty()).is_ok()
}

#[cfg(target_os = "linux")]
fn attribute(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0; 1 << 16];
    let count = rustix::fs::getxattr(path, name, value.as_mut_slice()).ok()?;
    value.truncate(count);
    Some(value)
}

/// Files that are corrected, copied and only lie beside the others, and the directories.
#[cfg(target_os = "linux")]
#[test]
fn attributes_and_access_lists_are_kept() {
    let scratch = private_trace(&traces::skewed());
    let names = [
        "",
        "traces",
        "traces.otf2",
        "traces.def",
        "traces/1.evt",
        "scorep.cfg",
    ];
    for name in names {
        let path = scratch.join("trace").join(name);
        let (owner, named) = if path.is_dir() { (7, 5) } else { (6, 4) };
        if !set_attribute(&path, "user.note", name.as_bytes())
            || !set_attribute(&path, LIST, &access_list(owner, named))
        {
            eprintln!("not tested: this file system has no such attributes");
            return;
        }
    }
    // What is made here would let somebody in whom the trace does not.
    let inherited = access_list(7, 7);
    assert!(set_attribute(
        scratch.path(),
        "system.posix_acl_default",
        &inherited
    ));
    scratch.succeed("correct trace -o out");
    scratch.succeed("undo out -o back");
    for made in ["out", "back"] {
        for name in names {
            let (original, copy) = (
                scratch.join("trace").join(name),
                scratch.join(made).join(name),
            );
            assert_eq!(
                attribute(&copy, "user.note").unwrap(),
                name.as_bytes(),
                "{copy:?}"
            );
            assert_eq!(
                attribute(&copy, LIST),
                attribute(&original, LIST),
                "{copy:?}"
            );
            assert_eq!(mode(&copy), mode(&original), "{copy:?}");
        }
        let plain = scratch.join(made).join("traces/0.evt");
        assert_eq!((attribute(&plain, LIST), mode(&plain)), (None, 0o400));
    }
    // Nor is there a list for what is written of the trace outside of its directory.
    scratch.succeed("correct trace --merged -o list");
    assert_eq!(attribute(&scratch.join("list"), LIST), None);
    assert_eq!(mode(&scratch.join("list")), 0o600);
}

#[test]
fn of_files_of_lines() {
    let scratch = private_trace(&traces::skewed());
    let lines = scratch.retime("order trace --format jsonl -q").stdout;
    scratch.write("lines.jsonl", &lines);
    set_mode(&scratch.join("lines.jsonl"), 0o640);
    scratch.succeed("correct lines.jsonl -o out.jsonl");
    scratch.succeed("undo out.jsonl -o back.jsonl");
    for made in ["out.jsonl", "out.jsonl.retime", "back.jsonl"] {
        assert_eq!(mode(&scratch.join(made)), 0o640, "{made}");
    }
    // A list leaves the directory that kept others from the files in it.
    scratch.succeed("correct trace --merged -o list");
    assert_eq!(mode(&scratch.join("list")), 0o600);
    set_mode(&scratch.join("trace/traces.otf2"), 0o644);
    scratch.succeed("correct trace --merged -o open");
    assert_eq!(mode(&scratch.join("open")), 0o640);
}
