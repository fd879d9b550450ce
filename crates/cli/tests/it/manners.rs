//! How the command behaves towards shells, pipes and the files around it.

use crate::common;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::common::directory::{assert_same, assert_same_trees, tree};
use crate::common::{Outcome, Scratch, traces};
use serde_json::Value;

fn short_trace() -> Scratch {
    traces::scratch([("trace", traces::skewed())])
}

const SHIFT: &str =
    r#"{"format": "retime correction", "version": 1, "clocks": [{"knots": [[0, 1000]]}]}"#;

#[test]
fn quiet_prints_nothing() {
    let scratch = short_trace();
    scratch.write("shift.json", SHIFT);
    for (arguments, code) in [
        ("check trace --quiet", 1),
        ("check trace -q --json report.json", 1),
        ("correct trace -o out -q", 0),
        ("check out -q", 0),
        ("correct out -o copy -q", 0),
        ("undo out -o back -q", 0),
        ("apply shift.json trace -o shifted -q", 0),
    ] {
        let outcome = scratch.retime(arguments).expect_code(code);
        assert_eq!(outcome.stdout, "", "{arguments}");
    }
    let report: Value = serde_json::from_str(&scratch.read("report.json")).unwrap();
    assert_eq!(report["before"]["messages"]["reversed"], 8);
}

#[test]
fn json_to_standard_output_comes_alone() {
    let scratch = short_trace();
    for (arguments, code) in [
        ("check trace --json -", 1),
        ("check trace --json - --quiet", 1),
        ("check trace --json - --verbose", 1),
        ("correct trace -o out --json -", 0),
        ("correct out -o copy --json -", 0),
    ] {
        let outcome = scratch.retime(arguments).expect_code(code);
        let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
        assert_eq!(report["schema"], "retime-report-1", "{arguments}");
    }
}

#[test]
fn a_json_file_comes_with_the_summary_and_replaces_an_old_one() {
    let scratch = short_trace();
    scratch
        .retime("check trace --json report.json")
        .expect_code(1);
    let old = scratch.read("report.json");
    scratch.write("report.json", &old.repeat(10));
    let outcome = scratch
        .retime("check trace --json report.json")
        .expect_code(1);
    assert!(outcome.stdout.starts_with("verdict    "));
    assert!(outcome.stdout.contains("\ntrace      trace (OTF2)\n"));
    let report: Value = serde_json::from_str(&scratch.read("report.json")).unwrap();
    assert_eq!(report["trace"]["path"], "trace");
}

/// A reader that is gone, as in `retime ... | head -0`.
#[test]
fn a_closed_pipe_is_no_error() {
    let scratch = short_trace();
    for (arguments, code) in [
        ("check trace", 1),
        ("check trace --verbose", 1),
        ("check trace --json -", 1),
        ("correct trace -o out", 0),
        ("check out", 0),
        ("man", 0),
        ("completions zsh", 0),
        ("simulate ring -o ring", 0),
        ("demo", 0),
        ("--help", 0),
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = scratch.command(arguments).stdout(writer).output().unwrap();
        let outcome = Outcome::from(output);
        assert_eq!(
            (outcome.code, &*outcome.stderr),
            (Some(code), ""),
            "{arguments}"
        );
    }
    let outcome = scratch.shell("\"$RETIME\" man | head -1");
    assert_eq!(outcome.stdout.lines().count(), 1);
    assert_eq!(outcome.stderr, "");
}

#[test]
fn a_full_standard_output_is_an_error() {
    let scratch = short_trace();
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        eprintln!("skipped: no /dev/full");
        return;
    };
    let answered = ["--help", "correct --help", "--version"];
    let reports = ["check trace", "man", "check trace --json -"];
    for arguments in reports.into_iter().chain(answered) {
        let mut command = scratch.command(arguments);
        let output = command.stdout(full.try_clone().unwrap()).output().unwrap();
        let outcome = Outcome::from(output);
        assert_eq!(outcome.code, Some(2), "{arguments}");
        assert_eq!(
            outcome.stderr,
            "retime: standard output: No space left on device (os error 28)\n"
        );
    }
    let outcome = scratch.retime("check trace --json /dev/full");
    assert_eq!(outcome.code, Some(2));
    assert!(
        outcome.stderr.contains("/dev/full: No space left"),
        "{outcome:#?}"
    );

    let outcome = scratch.retime("correct trace -o corrected --json /dev/full");
    assert_eq!(outcome.code, Some(2));
    assert_eq!(
        outcome.stderr,
        "retime: /dev/full: No space left on device (os error 28); \
         only the report is missing: corrected is complete\n"
    );
    assert_eq!(scratch.retime("check corrected").code, Some(0));
}

/// Names of what the copy of an archive has and its trace has not.
fn corrected_tree(scratch: &Scratch) -> common::directory::Tree {
    scratch.succeed("correct trace -o expected");
    tree(&scratch.join("expected"))
}

#[test]
fn a_trace_goes_by_many_names() {
    let scratch = short_trace();
    let expected = corrected_tree(&scratch);
    symlink("trace", scratch.join("link")).unwrap();
    let input = tree(&scratch.join("trace"));
    let absolute = scratch.join("trace").display().to_string();
    for (number, name) in [
        "trace",
        "trace/",
        "./trace//",
        "trace/traces.otf2",
        "./trace/../trace/traces.otf2",
        "link",
        "link/traces.otf2",
        &absolute,
    ]
    .iter()
    .enumerate()
    {
        let out = format!("out{number}");
        scratch.succeed(&format!("correct {name} -o {out}/"));
        assert_same_trees(&expected, &tree(&scratch.join(&out)));
        scratch.succeed(&format!("undo ./{out}/ -o back{number}"));
        assert_same_trees(&input, &tree(&scratch.join(&format!("back{number}"))));
    }
}

#[test]
fn a_trace_can_be_where_we_are() {
    let scratch = short_trace();
    let expected = corrected_tree(&scratch);
    for (number, name) in [".", "traces.otf2", "./traces.otf2", "../trace"]
        .iter()
        .enumerate()
    {
        let mut command = scratch.command(&format!("correct {name} -o ../out{number}"));
        let output = command.current_dir(scratch.join("trace")).output().unwrap();
        Outcome::from(output).expect_code(0);
        assert_same_trees(&expected, &tree(&scratch.join(&format!("out{number}"))));
    }
    // Beside the anchor is no part of the archive.
    let mut command = scratch.command("correct traces.otf2 -o corrected");
    let output = command.current_dir(scratch.join("trace")).output().unwrap();
    Outcome::from(output).expect_code(0);
    assert_same_trees(&expected, &tree(&scratch.join("trace/corrected")));
    scratch.succeed("correct trace -o again");
    assert_same_trees(&expected, &tree(&scratch.join("again")));
}

#[test]
fn anchors_have_any_name() {
    let scratch = short_trace();
    for stem in ["my.run.v2", "UPPER", "-dash"] {
        let dir = scratch.join(stem.trim_start_matches('-'));
        fs::create_dir(&dir).unwrap();
        for suffix in [".otf2", ".def", ""] {
            let from = scratch.join("trace").join(format!("traces{suffix}"));
            let to = dir.join(format!("{stem}{suffix}"));
            if from.is_dir() {
                common::directory::copy(&from, &to);
            } else {
                fs::copy(&from, &to).unwrap();
            }
        }
    }
    fs::rename(
        scratch.join("UPPER/UPPER.otf2"),
        scratch.join("UPPER/UPPER.OTF2"),
    )
    .unwrap();
    fs::create_dir(scratch.join("plain")).unwrap();
    for (dir, anchor) in [
        ("my.run.v2", "my.run.v2.otf2"),
        ("UPPER", "UPPER.OTF2"),
        ("dash", "-dash.otf2"),
    ] {
        for name in [dir.to_owned(), format!("{dir}/{anchor}")] {
            scratch.succeed(&format!("correct {name} -o out --force"));
            assert!(scratch.join("out").join(anchor).is_file());
            scratch.succeed("check out");
            scratch.succeed("undo out -o back --force");
            assert_same(&scratch.join(dir), &scratch.join("back"));
        }
    }
    // Not even the extension is needed, where the file is named.
    fs::rename(
        scratch.join("trace/traces.otf2"),
        scratch.join("trace/traces.anchor"),
    )
    .unwrap();
    scratch.succeed("correct trace/traces.anchor -o extra");
    scratch.succeed("undo extra/traces.anchor -o extra-back");
    assert_same(&scratch.join("trace"), &scratch.join("extra-back"));
}

#[test]
fn a_directory_is_copied_with_what_lies_beside_the_anchor() {
    let scratch = short_trace();
    scratch.write("trace/scorep.cfg", "SCOREP_ENABLE_TRACING=true\n");
    scratch.write("trace/traces/profile.bin", "data");
    fs::create_dir(scratch.join("trace/other")).unwrap();
    scratch.write("trace/other/file", "");

    scratch.succeed("correct trace -o by-directory");
    scratch.succeed("correct trace/traces.otf2 -o by-anchor");
    for out in ["by-directory", "by-anchor"] {
        assert_eq!(scratch.read(&format!("{out}/traces/profile.bin")), "data");
    }
    for name in ["scorep.cfg", "other/file"] {
        assert!(scratch.join("by-directory").join(name).exists(), "{name}");
        assert!(!scratch.join("by-anchor").join(name).exists(), "{name}");
    }

    scratch.succeed("undo by-directory -o back");
    assert_same(&scratch.join("trace"), &scratch.join("back"));
}

#[test]
fn the_bytes_do_not_depend_on_threads() {
    let scratch = Scratch::new();
    traces::halo(scratch.path(), "trace", 200_000);
    traces::recording(scratch.path());
    for trace in ["trace", "halo"] {
        let mut first = None;
        for threads in [1, 2, 8] {
            let out = format!("{trace}{threads}");
            let run = format!("correct {trace} -o {out} --threads {threads} --json -");
            let mut report: Value = serde_json::from_str(&scratch.succeed(&run)).unwrap();
            assert_eq!(report["parameters"]["threads"], threads);
            report["parameters"]["threads"] = Value::Null;
            report["timing"] = Value::Null;
            let (report, tree) = (report.to_string(), tree(&scratch.join(&out)));
            match &first {
                None => first = Some((report, tree)),
                Some((expected, bytes)) => {
                    assert_eq!(*expected, report);
                    assert_same_trees(bytes, &tree);
                }
            }
        }
    }
}

#[test]
fn correcting_twice_changes_nothing() {
    let scratch = Scratch::new();
    traces::recording(scratch.path());
    traces::write(scratch.path(), "hand-made", &traces::skewed());
    traces::write(scratch.path(), "backwards", &traces::backwards());
    for trace in ["halo", "hand-made", "backwards"] {
        scratch.succeed(&format!("correct {trace} -o once --force"));
        let again = scratch.succeed("correct once -o twice --force");
        assert!(again.contains("nothing was changed"), "{again}");
        assert_same(&scratch.join("once"), &scratch.join("twice"));
        // So the first correction can still be taken back.
        scratch.succeed("undo twice -o back --force");
        assert_same(&scratch.join(trace), &scratch.join("back"));
    }
}

#[test]
fn a_correction_fits_the_same_trace_again() {
    let scratch = short_trace();
    scratch.succeed("correct trace -o corrected");
    scratch.succeed("apply corrected/traces.retime trace -o applied");
    fs::remove_file(scratch.join("corrected/traces.retime")).unwrap();
    fs::rename(
        scratch.join("applied/traces.retime"),
        scratch.join("applied.json"),
    )
    .unwrap();
    assert_same(&scratch.join("corrected"), &scratch.join("applied"));
    assert!(
        scratch
            .read("applied.json")
            .contains("applied from corrected")
    );
}

/// Takes the permission to write from everything below.
fn make_read_only(path: &Path, file: u32, dir: u32) {
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            make_read_only(&path, file, dir);
        } else {
            fs::set_permissions(path, Permissions::from_mode(file)).unwrap();
        }
    }
    fs::set_permissions(path, Permissions::from_mode(dir)).unwrap();
}

#[test]
fn a_read_only_input_will_do() {
    let scratch = short_trace();
    make_read_only(&scratch.join("trace"), 0o444, 0o555);
    // To root nothing is read-only: run as somebody else.
    fs::set_permissions(scratch.path(), Permissions::from_mode(0o777)).unwrap();
    fs::copy(common::RETIME, scratch.join("retime")).unwrap();
    let outcome = scratch.shell(
        "if touch trace/file 2>/dev/null; then
            rm trace/file
            as='setpriv --reuid 65534 --regid 65534 --clear-groups'
            $as true 2>/dev/null || exit 77
        fi
        $as ./retime correct trace -o out -q && $as ./retime undo out -o back -q &&
        $as ./retime correct trace -o out -q --force",
    );
    if outcome.code == Some(77) {
        eprintln!("skipped: no setpriv to become somebody whom permissions bind");
    } else {
        outcome.expect_code(0);
        assert_same(&scratch.join("trace"), &scratch.join("back"));
    }
    make_read_only(&scratch.join("trace"), 0o644, 0o755);
}

#[test]
fn an_output_that_may_not_be_written_is_named() {
    let scratch = short_trace();
    for parent in ["/proc", "/sys"] {
        if !Path::new(parent).is_dir() {
            continue;
        }
        let outcome = scratch.retime(&format!("correct trace -o {parent}/retime-out"));
        assert_eq!((outcome.code, &*outcome.stdout), (Some(2), ""));
        assert!(
            outcome.stderr.starts_with(&format!("retime: {parent}/")),
            "{outcome:#?}"
        );
    }
}

#[test]
fn a_correction_under_its_earlier_name_is_found() {
    let scratch = short_trace();
    scratch.succeed("correct trace -o corrected");
    let saved = |name: &str| scratch.join(&format!("corrected/traces.{name}"));
    fs::rename(saved("retime"), saved("retime.json")).unwrap();
    scratch.succeed("undo corrected -o back");
    assert_same(&scratch.join("trace"), &scratch.join("back"));
    scratch.succeed("apply corrected/traces.retime.json trace -o applied");
    let outcome = scratch.retime("correct corrected -o again --always");
    let message = "retime: corrected/traces.retime.json: is the correction of an earlier run, ";
    assert_eq!(outcome.code, Some(2), "{outcome:#?}");
    assert!(outcome.stderr.starts_with(message), "{outcome:#?}");
}

#[cfg(unix)]
#[test]
fn names_that_are_not_unicode_come_back() {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::{OsStrExt, OsStringExt};

    let scratch = short_trace();
    let odd = |ending: &[u8]| OsString::from_vec([b"tr\xff\xfe", ending].concat());
    fs::create_dir(scratch.join("odd")).unwrap();
    for ending in ["", ".otf2", ".def"] {
        let from = scratch.join(&format!("trace/traces{ending}"));
        let to = scratch.join("odd").join(odd(ending.as_bytes()));
        fs::rename(from, to).unwrap();
    }
    let directory = scratch.join("odd").join(odd(b""));
    fs::write(
        directory.join(OsStr::from_bytes(b"n\xfcte.bin")),
        "beside events",
    )
    .unwrap();
    fs::write(
        scratch.join("odd").join(OsStr::from_bytes(b"\xe9.txt")),
        "beside",
    )
    .unwrap();
    let names = |root: &str| {
        let mut names = Vec::new();
        for directory in [scratch.join(root), scratch.join(root).join(odd(b""))] {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                let content = path.is_file().then(|| fs::read(&path).unwrap());
                let name = path.strip_prefix(scratch.join(root)).unwrap().to_owned();
                names.push((name, content));
            }
        }
        names.sort();
        names
    };
    scratch.succeed("correct odd -o corrected");
    assert!(scratch.join("corrected").join(odd(b".retime")).exists());
    scratch.succeed("undo corrected -o back");
    assert_eq!(names("odd"), names("back"));
}
