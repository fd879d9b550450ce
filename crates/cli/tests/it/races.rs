//! What others do to the files of a run while it is under way: the command is stopped at a
//! chosen call, and goes on when the files are not what they were.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::common::{Outcome, Scratch, traces};
use crate::faults::shim;

/// Runs a command that is stopped before the `at`-th call of a kind, counted from 1, while
/// `meanwhile` happens.
fn stopped(
    scratch: &Scratch,
    arguments: &str,
    (kind, at): (&str, usize),
    meanwhile: impl FnOnce(),
) -> Outcome {
    let mut command = scratch.command(arguments);
    command
        .env("LD_PRELOAD", shim())
        .env("FAULT_BELOW", scratch.path().canonicalize().unwrap())
        .env("FAULT_KIND", kind)
        .env("FAULT_AT", at.to_string())
        .env("FAULT", "stop")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    while !is_stopped(&child) {
        assert_eq!(child.try_wait().unwrap(), None, "it was never stopped");
        sleep(Duration::from_millis(1));
    }
    meanwhile();
    let id = child.id().to_string();
    let status = Command::new("kill").args(["-CONT", &id]).status();
    assert!(status.unwrap().success());
    child.wait_with_output().unwrap().into()
}

fn is_stopped(child: &Child) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    stat.rsplit(") ").next().unwrap().starts_with('T')
}

#[track_caller]
fn assert_refused(outcome: &Outcome, message: &str) {
    assert_eq!(outcome.code, Some(2), "{outcome:#?}");
    assert_eq!(outcome.stderr, format!("retime: {message}\n"));
}

/// A directory with a trace, also as lines.
fn prepared() -> Scratch {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    let lines = scratch.retime("order trace --format jsonl -q").stdout;
    scratch.write("lines.jsonl", &lines);
    scratch
}

fn partial(scratch: &Scratch) -> String {
    let mut entries = scratch.entries().into_iter();
    entries.find(|name| name.starts_with('.')).unwrap()
}

#[test]
fn the_target_appears() {
    for arguments in [
        "correct trace -o out",
        "correct trace --merged -o out",
        "correct lines.jsonl -o out",
    ] {
        let scratch = prepared();
        // Of a file of lines the correction is renamed first.
        let rename = if arguments.contains("lines") { 2 } else { 1 };
        let outcome = stopped(&scratch, arguments, ("rename", rename), || {
            fs::create_dir(scratch.join("out")).unwrap();
            scratch.write("out/mine", "precious");
        });
        assert_refused(
            &outcome,
            "out: was made by another program in the meantime and is left as it is, so nothing \
             was written; give a new path, or --force to replace it",
        );
        assert_eq!(scratch.read("out/mine"), "precious");
        let entries = scratch.entries();
        assert_eq!(
            entries[entries.len() - 3..],
            ["lines.jsonl", "out", "trace"]
        );
        assert_eq!(entries.len(), 3, "{entries:?}");
    }
}

#[test]
fn the_target_that_is_to_be_replaced_goes() {
    let scratch = prepared();
    scratch.succeed("correct trace -o out");
    let outcome = stopped(
        &scratch,
        "correct trace -o out --force",
        ("rename", 1),
        || {
            fs::remove_dir_all(scratch.join("out")).unwrap();
        },
    );
    assert_refused(
        &outcome,
        "out: was to be replaced, but was taken away by another program in the meantime, so \
         nothing was written; run this again",
    );
    assert_eq!(scratch.entries(), ["lines.jsonl", "trace"]);
}

#[test]
fn the_place_for_the_result_goes() {
    for (kind, at) in [("create", 1), ("create", 3), ("sync", 2), ("rename", 1)] {
        let scratch = prepared();
        let mut name = String::new();
        let outcome = stopped(
            &scratch,
            "correct trace -o out --threads 1",
            (kind, at),
            || {
                name = partial(&scratch);
                fs::remove_dir_all(scratch.join(&name)).unwrap();
            },
        );
        assert_refused(
            &outcome,
            &format!(
                "./{name}: was removed by another program while the result was being written \
                 into it, so nothing was written; run this again"
            ),
        );
        assert_eq!(scratch.entries(), ["lines.jsonl", "trace"], "{kind} {at}");
    }
}

fn append(path: &Path) {
    let mut file = fs::File::options().append(true).open(path).unwrap();
    file.write_all(b"\n").unwrap();
}

#[test]
fn the_input_changes() {
    // Before it is read again to be copied, while that is done, and after.
    let cases = [
        (
            "correct trace -o out --threads 1",
            "trace/traces/0.evt",
            ("create", 1),
        ),
        (
            "correct trace -o out --threads 1",
            "trace/traces/1.evt",
            ("create", 4),
        ),
        (
            "correct trace -o out --threads 1",
            "trace/traces/0.def",
            ("mkdir", 2),
        ),
        (
            "correct trace -o out --threads 1",
            "trace/traces.def",
            ("create", 2),
        ),
        ("check trace --threads 1", "trace/traces/2.evt", ("read", 9)),
        (
            "undo back -o out --threads 1",
            "back/traces/2.evt",
            ("create", 6),
        ),
        ("correct lines.jsonl -o out", "lines.jsonl", ("create", 1)),
        ("check lines.jsonl", "lines.jsonl", ("read", 6)),
    ];
    for (arguments, changed, call) in cases {
        let scratch = prepared();
        scratch.succeed("correct trace -o back");
        let outcome = stopped(&scratch, arguments, call, || append(&scratch.join(changed)));
        assert_eq!(outcome.code, Some(2), "{arguments} {call:?}: {outcome:#?}");
        let message = format!("retime: {changed}: changed while it was being read; run this again");
        assert!(
            outcome.stderr.starts_with(&message),
            "{arguments} {call:?}: {outcome:#?}"
        );
        assert_eq!(scratch.entries(), ["back", "lines.jsonl", "trace"]);
    }
}

/// A process that has the number of an earlier one finds what that left behind.
#[test]
fn a_number_is_given_again() {
    let scratch = prepared();
    let script = "mkdir .out.retime-$$.partial && exec \"$RETIME\" correct trace -o out";
    scratch.shell(script).expect_code(0);
    assert_eq!(scratch.entries(), ["lines.jsonl", "out", "trace"]);
}
