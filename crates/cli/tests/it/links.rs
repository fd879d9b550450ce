//! What lies in the directory of a trace and is no file of it: links, empty directories, and
//! what no copy can be made of.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use crate::common::directory::assert_same;
use crate::common::{Scratch, traces};

const SECRET: &str = "root:$6$secret\n";

/// Identity for most, so that what is only copied is told from what is corrected.
const SHIFT: &str =
    r#"{"format": "retime correction", "version": 1, "clocks": [{"knots": [[0, 1000]]}]}"#;

/// A trace to be corrected and one to be copied, and a file that is none of theirs.
fn prepared() -> Scratch {
    let scratch = traces::scratch([("trace", traces::skewed()), ("sound", traces::sound())]);
    scratch.write("secret", SECRET);
    scratch.write("shift.json", SHIFT);
    scratch
}

/// Every command that copies refuses, names the path, and writes nothing.
#[track_caller]
fn assert_refused(scratch: &Scratch, trace: &str, path: &str, why: &str) {
    for command in [
        format!("correct {trace} -o out"),
        format!("apply shift.json {trace} -o out"),
    ] {
        let outcome = scratch.retime(&command);
        assert_eq!(outcome.code, Some(2), "{command}: {outcome:#?}");
        let named = format!("retime: {path}: ");
        assert!(
            outcome.stderr.starts_with(&named),
            "{command}: {outcome:#?}"
        );
        assert!(outcome.stderr.contains(why), "{command}: {outcome:#?}");
        assert!(!scratch.join("out").exists(), "{command}");
        assert!(!outcome.stderr.contains("$6$"), "{command}: {outcome:#?}");
    }
}

fn target(path: &Path) -> String {
    fs::read_link(path).unwrap().display().to_string()
}

#[test]
fn nothing_is_fetched_through_a_link() {
    let scratch = prepared();
    let absolute = scratch.join("secret").display().to_string();
    for trace in ["trace", "sound"] {
        for (place, to) in [
            ("notes", &*absolute),
            ("notes", "../secret"),
            ("notes", "/etc/shadow"),
            ("traces/notes", "../../secret"),
            ("traces/notes", &absolute),
            // By way of the directory's own name, a copy would lead to the original.
            ("notes", &format!("../{trace}/traces.def")),
            ("loop", "/"),
        ] {
            let path = format!("{trace}/{place}");
            symlink(to, scratch.join(&path)).unwrap();
            assert_refused(
                &scratch,
                trace,
                &path,
                &format!("leads out of what is copied, to {to};"),
            );
            fs::remove_file(scratch.join(&path)).unwrap();
        }
    }
}

/// What would be part of the trace is read as such first, also where nothing is corrected.
#[test]
fn a_link_under_the_name_of_a_file_of_the_trace_fetches_nothing() {
    let scratch = prepared();
    for trace in ["trace", "sound"] {
        for place in [
            "traces.marker",
            "traces/0.evt",
            "traces/0.def",
            "traces.def",
        ] {
            let path = scratch.join(trace).join(place);
            let kept = fs::read(&path).ok();
            let _ = fs::remove_file(&path);
            symlink("../secret", &path).unwrap();
            if place.contains('/') {
                fs::remove_file(&path).unwrap();
                symlink("../../secret", &path).unwrap();
            }
            assert_refused(&scratch, trace, &format!("{trace}/{place}"), "");
            fs::remove_file(&path).unwrap();
            if let Some(kept) = kept {
                fs::write(&path, kept).unwrap();
            }
        }
    }
}

#[test]
fn nor_through_a_linked_directory() {
    let scratch = prepared();
    for trace in ["trace", "sound"] {
        let far = format!("far-{trace}");
        fs::rename(scratch.join(trace).join("traces"), scratch.join(&far)).unwrap();
        symlink(format!("../{far}"), scratch.join(trace).join("traces")).unwrap();
        scratch.succeed(&format!("correct {trace} -o out"));
        let copied = fs::symlink_metadata(scratch.join("out/traces")).unwrap();
        assert!(copied.is_dir());
        fs::remove_dir_all(scratch.join("out")).unwrap();

        scratch.write(&format!("{far}/notes"), SECRET);
        let path = format!("{trace}/traces/notes");
        assert_refused(&scratch, trace, &path, "lies behind a symbolic link");
    }
}

/// Many keep large files on another disk.
#[test]
fn events_are_read_through_links() {
    let scratch = prepared();
    for trace in ["trace", "sound"] {
        let events = scratch.join(trace).join("traces/1.evt");
        crate::common::directory::copy_file(&events, &scratch.join("1.evt"));
        crate::common::directory::copy(&scratch.join(trace), &scratch.join("plain"));
        let path = scratch.join(trace).join("traces/1.evt");
        fs::remove_file(&path).unwrap();
        symlink(scratch.join("1.evt"), &path).unwrap();
        scratch.succeed(&format!("correct {trace} -o out"));
        scratch.succeed("correct plain -o expected");
        assert_same(&scratch.join("expected"), &scratch.join("out"));
        for made in ["out", "expected", "plain"] {
            let events = scratch.join(made).join("traces/1.evt");
            assert!(fs::symlink_metadata(events).unwrap().is_file());
            fs::remove_dir_all(scratch.join(made)).unwrap();
        }
    }
}

#[test]
fn links_that_stay_inside_are_copied_and_restored() {
    for trace in ["trace", "sound"] {
        let scratch = prepared();
        let links = [
            ("latest", "traces.def"),
            ("traces/up", "../traces.otf2"),
            ("traces/here", "."),
            ("later", "not/there/yet"),
        ];
        for (name, to) in links {
            symlink(to, scratch.join(trace).join(name)).unwrap();
        }
        fs::create_dir_all(scratch.join(trace).join("empty")).unwrap();
        fs::create_dir_all(scratch.join(trace).join("traces/deep/empty")).unwrap();
        scratch.succeed(&format!("correct {trace} -o out"));
        scratch.succeed(&format!("apply shift.json {trace} -o applied"));
        scratch.succeed("undo applied -o back");
        for made in ["out", "applied", "back"] {
            let made = scratch.join(made);
            for (name, to) in links {
                assert_eq!(target(&made.join(name)), to);
            }
            for empty in ["empty", "traces/deep/empty"] {
                assert_eq!(fs::read_dir(made.join(empty)).unwrap().count(), 0);
            }
        }
        // The undo data know of them.
        fs::remove_file(scratch.join("applied/latest")).unwrap();
        let outcome = scratch.retime("undo applied -o again");
        assert_eq!(outcome.code, Some(2), "{outcome:#?}");
        assert_eq!(
            outcome.stderr,
            "retime: applied: cannot be restored: of the 6 links and empty directories that the \
             correction copied, 5 are still there as they were\n"
        );
        symlink("traces.otf2", scratch.join("applied/latest")).unwrap();
        assert_eq!(scratch.retime("undo applied -o again").code, Some(2));
    }
}

#[test]
fn a_link_that_leads_nowhere_is_not_a_file_that_never_was() {
    for place in ["traces/1.def", "traces.marker", "traces/1.evt"] {
        let scratch = prepared();
        let path = format!("trace/{place}");
        let _ = fs::remove_file(scratch.join(&path));
        symlink("gone", scratch.join(&path)).unwrap();
        let outcome = scratch.retime("correct trace -o out");
        assert_eq!(outcome.code, Some(2), "{outcome:#?}");
        let expected = format!(
            "retime: {path}: this file is missing: a symbolic link to it is all that is left\n"
        );
        assert_eq!(outcome.stderr, expected);
    }
}

#[test]
fn what_is_not_copied_is_named() {
    for trace in ["trace", "sound"] {
        let scratch = prepared();
        let _socket = UnixListener::bind(scratch.join(trace).join("socket")).unwrap();
        let pipe = scratch.join(trace).join("traces/pi\u{1b}pe");
        let made = std::process::Command::new("mkfifo").arg(pipe).status();
        assert!(made.unwrap().success());
        fs::create_dir_all(scratch.join(trace).join("other")).unwrap();
        scratch.write(&format!("{trace}/other/file"), "");
        let warnings = [
            "other is not copied: it is a directory",
            "socket is not copied: it is a socket",
            r"traces/pi\u{1b}pe is not copied: it is a FIFO (named pipe)",
        ];
        let report = scratch.succeed(&format!("correct {trace} -o out --json -"));
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        let said = report["warnings"].as_array().unwrap();
        let applied = scratch.succeed(&format!("apply shift.json {trace} -o applied"));
        for warning in warnings {
            assert!(said.iter().any(|it| it == warning), "{said:?}");
            assert!(
                applied.contains(&format!("warning: {warning}\n")),
                "{applied}"
            );
        }
        assert!(!scratch.join("out/socket").exists());
    }
}
