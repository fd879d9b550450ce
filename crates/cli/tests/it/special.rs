//! What is no regular file: it is refused by its kind, and nobody waits for it.

#![cfg(unix)]

use std::fs;
use std::os::unix::net::UnixListener;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::common::{Outcome, Scratch, traces};

/// Longer than any command here takes, on a machine that does other things.
const LONG: Duration = Duration::from_secs(60);

const REFUSED: &str =
    "and only regular files are read; write what it holds to a file, and give that";

const LINES: &str = "{\"location\":\"a\",\"time\":1000,\"type\":\"send\",\"message\":1}
{\"location\":\"b\",\"time\":900,\"type\":\"receive\",\"message\":1}
";

fn fifo(scratch: &Scratch, name: &str) {
    let _ = fs::remove_file(scratch.join(name));
    let made = Command::new("mkfifo").arg(scratch.join(name)).status();
    assert!(made.unwrap().success());
}

/// The outcome of a command that must not wait for anything.
#[track_caller]
fn at_once(scratch: &Scratch, arguments: &str) -> Outcome {
    let mut command = scratch.command(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    ended(command.spawn().unwrap(), arguments)
}

#[track_caller]
fn ended(mut child: Child, what: &str) -> Outcome {
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > LONG {
            child.kill().unwrap();
            panic!("{what} waits");
        }
        sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap().into()
}

#[track_caller]
fn assert_refused(scratch: &Scratch, arguments: &str, path: &str, kind: &str) {
    let outcome = at_once(scratch, arguments);
    assert_eq!(outcome.code, Some(2), "{arguments}: {outcome:#?}");
    let expected = format!("retime: {path}: is {kind}, {REFUSED}\n");
    assert_eq!(outcome.stderr, expected, "{arguments}");
}

#[test]
fn files_of_an_archive() {
    for file in ["traces.otf2", "traces.def", "traces/0.evt", "traces/1.def"] {
        let scratch = traces::scratch([("trace", traces::skewed())]);
        let path = format!("trace/{file}");
        fifo(&scratch, &path);
        assert_refused(&scratch, "check trace", &path, "a FIFO (named pipe)");
    }
}

#[test]
fn traces_of_all_formats() {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    for name in ["t.jsonl", "t.json", "t.json.gz", "t.otf2", "t"] {
        fifo(&scratch, name);
        for command in ["check", "correct -o out", "undo -o out", "order"] {
            let arguments = format!("{command} {name}");
            assert_refused(&scratch, &arguments, name, "a FIFO (named pipe)");
        }
        assert_refused(
            &scratch,
            &format!("check trace --truth {name}"),
            name,
            "a FIFO (named pipe)",
        );
        for format in ["otf2", "jsonl", "kineto"] {
            let arguments = format!("check --format {format} {name}");
            assert_refused(&scratch, &arguments, name, "a FIFO (named pipe)");
        }
    }
    let _socket = UnixListener::bind(scratch.join("s.jsonl")).unwrap();
    assert_refused(&scratch, "check s.jsonl", "s.jsonl", "a socket");
    assert_refused(
        &scratch,
        "check /dev/zero",
        "/dev/zero",
        "a character device",
    );
}

/// Lines from a pipe were read twice, the second time from its end: "no record of
/// communication".
#[test]
fn a_trace_does_not_come_from_a_pipe() {
    let scratch = Scratch::new();
    scratch.write("lines", LINES);
    let piped = scratch.shell("cat lines | timeout 60 \"$RETIME\" check --format jsonl /dev/stdin");
    assert_eq!(piped.code, Some(2), "{piped:#?}");
    assert!(piped.stderr.contains("is a FIFO"), "{piped:#?}");
    // A file is one by whatever name it goes.
    let file = scratch.shell("\"$RETIME\" check --format jsonl /dev/stdin < lines");
    assert_eq!(file.code, Some(1), "{file:#?}");
}

#[test]
fn options_come_from_pipes_too() {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    scratch.write("delays", "* * 1us\n");
    scratch.write("offsets", "0 0 0\n1 0 1us\n");
    scratch.succeed("correct trace -o corrected");
    let script = |option: &str, file: &str| {
        format!("mkfifo pipe; (cat {file} > pipe) & \"$RETIME\" {option}; rm pipe")
    };
    for (by_file, file) in [
        ("check trace --json - --min-delay", "delays"),
        (
            "correct trace --method interpolation -o out --force -q --offsets",
            "offsets",
        ),
    ] {
        let expected = scratch.retime(&format!("{by_file} {file}"));
        assert_ne!(expected.code, Some(2), "{expected:#?}");
        let piped = scratch.shell(&script(&format!("{by_file} pipe"), file));
        assert_eq!(piped.stderr, expected.stderr);
    }
    let saved = "corrected/traces.retime";
    let piped = scratch.shell(&script("apply pipe trace -o applied", saved));
    assert_eq!(piped.stderr, "", "{piped:#?}");
    scratch.succeed("check applied");
    for option in ["--min-delay", "--offsets"] {
        let arguments = format!("correct trace -o o --method interpolation {option} trace");
        let outcome = at_once(&scratch, &arguments);
        let expected = "retime: trace: is a directory, where a file is expected\n";
        assert_eq!(outcome.stderr, expected, "{option}");
    }
}

/// Where nobody writes into a pipe, or reads from it, the command waits, and a signal ends it.
#[test]
fn who_waits_for_a_pipe_hears_signals() {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    fifo(&scratch, "pipe");
    for arguments in [
        "check trace --min-delay pipe",
        "correct trace -o out --method interpolation --offsets pipe",
        "apply pipe trace -o out",
        "check trace --json pipe",
    ] {
        for signal in ["INT", "TERM"] {
            let mut command = scratch.command(arguments);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            let child = command.spawn().unwrap();
            sleep(Duration::from_millis(500));
            let id = child.id().to_string();
            let kill = Command::new("kill").args(["-s", signal, &id]).status();
            assert!(kill.unwrap().success(), "{arguments} did not wait");
            let outcome = ended(child, arguments);
            assert_eq!(outcome.code, Some(130), "{arguments}: {outcome:#?}");
            assert_eq!(scratch.entries(), ["pipe", "trace"], "{arguments}");
        }
    }
}

#[test]
fn a_directory_for_temporary_files_that_is_missing_is_named() {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    let named = "/no-such-place: No such file or directory (os error 2); TMPDIR names a directory \
                 for temporary files\n";
    for arguments in ["view trace -q", "demo", "merge trace -o -"] {
        let mut command = scratch.command(arguments);
        let ended = command.env("TMPDIR", "/no-such-place").output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{arguments}: {said}");
        assert!(said.ends_with(named), "{arguments}: {said}");
    }
}
