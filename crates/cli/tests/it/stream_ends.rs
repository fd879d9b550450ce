//! How `retime stream` ends: by an interrupt, with its producer or its consumer, or
//! because of what it is given.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::common::{Outcome, RETIME};

/// 0.2 s are promised; a machine that runs other tests besides gets more.
const AT_ONCE: Duration = Duration::from_secs(1);

const HEADER: &str = "{\"retime-stream\":1}\n";
const LINE: &str = "{\"location\":0,\"time\":7}\n";
const CORRECTED: &str = "{\"location\":0,\"time\":7,\"raw_time\":7}\n";

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(RETIME);
    command.arg("stream").args(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The command with a producer that has sent a header and a line, and is silent since.
fn with_silent_producer(args: &[&str]) -> (Child, ChildStdin) {
    let mut child = command(args).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // Both come at once, so that both have come when the header is given out.
    stdin.write_all([HEADER, LINE].concat().as_bytes()).unwrap();
    await_output(&mut child, HEADER);
    (child, stdin)
}

/// Waits until this is given out.
#[track_caller]
fn await_output(child: &mut Child, expected: &str) {
    let mut found = vec![0; expected.len()];
    let stdout = child.stdout.as_mut().unwrap();
    stdout.read_exact(&mut found).unwrap();
    assert_eq!(found, expected.as_bytes());
}

/// What a command did by its end, which it is to come to by itself with this exit code,
/// and how long that took.
#[track_caller]
fn ending(mut child: Child, code: i32) -> (Outcome, Duration) {
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > 20 * AT_ONCE {
            child.kill().unwrap();
            panic!("it does not end");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let outcome: Outcome = child.wait_with_output().unwrap().into();
    assert_eq!(outcome.code, Some(code), "{outcome:#?}");
    (outcome, start.elapsed())
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn an_interrupt_ends_a_stream_whose_producer_is_silent() {
    for by in [Signal::INT, Signal::TERM] {
        let (mut child, mut stdin) = with_silent_producer(&["-q"]);
        // What has come of a line that is not whole is no line.
        stdin.write_all(b"{\"location\":0,\"ti").unwrap();
        assert!(child.try_wait().unwrap().is_none());
        signal(&child, by);
        let (outcome, took) = ending(child, 130);
        assert!(took < AT_ONCE, "{took:?}");
        assert_eq!((&*outcome.stdout, &*outcome.stderr), (CORRECTED, ""));
        drop(stdin);
    }
}

#[test]
fn an_interrupt_ends_a_stream_that_is_typed() {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let keyboard = File::open(name.to_str().unwrap()).unwrap();
    let mut child = command(&[]).stdin(keyboard).spawn().unwrap();
    let mut terminal = File::from(terminal);
    // A terminal gives one line at a time; the second one lets the first go.
    let heartbeat = "{\"location\":0,\"time\":1000000000,\"type\":\"heartbeat\"}\n";
    terminal
        .write_all([LINE, heartbeat].concat().as_bytes())
        .unwrap();
    await_output(&mut child, CORRECTED);
    signal(&child, Signal::INT);
    let (outcome, took) = ending(child, 130);
    assert!(took < AT_ONCE, "{took:?}");
    assert_eq!(outcome.stdout, "");
    assert!(outcome.stderr.starts_with("1 event in "));
}

#[test]
fn a_killed_producer_is_the_end_of_the_input() {
    let mut producer = Command::new("cat");
    let mut producer = producer
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut source = producer.stdin.take().unwrap();
    let output = producer.stdout.take().unwrap();
    let mut child = command(&["-q"]).stdin(output).spawn().unwrap();
    source
        .write_all([HEADER, LINE].concat().as_bytes())
        .unwrap();
    await_output(&mut child, HEADER);
    producer.kill().unwrap();
    producer.wait().unwrap();
    let (outcome, took) = ending(child, 0);
    assert!(took < AT_ONCE, "{took:?}");
    assert_eq!((&*outcome.stdout, &*outcome.stderr), (CORRECTED, ""));
}

#[test]
fn a_consumer_that_is_gone_ends_a_stream_whose_producer_is_silent() {
    let (mut child, stdin) = with_silent_producer(&[]);
    drop(child.stdout.take());
    let (outcome, took) = ending(child, 0);
    assert!(took < AT_ONCE, "{took:?}");
    assert!(outcome.stderr.starts_with("1 event in "));
    drop(stdin);
}

#[test]
fn a_killed_consumer_ends_a_stream_whose_producer_goes_on() {
    let mut consumer = Command::new("sleep");
    let mut consumer = consumer.arg("60").stdin(Stdio::piped()).spawn().unwrap();
    let input = consumer.stdin.take().unwrap();
    let mut child = command(&["-q", "--merged"])
        .stdin(Stdio::piped())
        .stdout(input)
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut times = (0_u64..).step_by(1_000_000);
    let mut produce = || {
        let time = times.next().unwrap();
        let line = format!("{{\"location\":0,\"time\":{time}}}\n");
        stdin.write_all(line.as_bytes())
    };
    for _ in 0..1_000 {
        produce().unwrap();
    }
    consumer.kill().unwrap();
    consumer.wait().unwrap();
    let start = Instant::now();
    while produce().is_ok() {
        assert!(start.elapsed() < 20 * AT_ONCE, "nobody noticed");
    }
    ending(child, 0);
}

#[test]
fn an_output_that_nobody_reads_is_no_error() {
    // By a pipe without a reader, and closed from the start.
    for sink in ["| true", ">&-"] {
        let script = format!("(\"$RETIME\" stream -q; echo $? >&2) {sink}");
        let mut shell = Command::new("sh");
        let mut shell = shell
            .args(["-c", &script])
            .env("RETIME", RETIME)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = shell.stdin.take().unwrap();
        std::thread::sleep(AT_ONCE / 10);
        // It may be gone.
        let _ = stdin.write_all(LINE.as_bytes());
        drop(stdin);
        let mut code = String::new();
        let mut stderr = BufReader::new(shell.stderr.take().unwrap());
        stderr.read_line(&mut code).unwrap();
        assert_eq!(code, "0\n", "{sink}");
        shell.wait().unwrap();
    }
}

#[test]
fn an_input_that_fails_before_anything_was_read_has_its_error_alone() {
    let mut child = command(&[]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"nonsense\n").unwrap();
    drop(stdin);
    let outcome = ending(child, 2).0;
    let expected = "retime: standard input: line 1: expected ident, at character 2\n";
    assert_eq!(outcome.stderr, expected);
    // And where not even a line can be read.
    let directory = File::open(".").unwrap();
    let child = command(&[]).stdin(directory).spawn().unwrap();
    let outcome = ending(child, 2).0;
    let expected = "retime: standard input: Is a directory (os error 21)\n";
    assert_eq!(outcome.stderr, expected);
}

/// A line without an end, then a good one.
#[track_caller]
fn with_an_overlong_line(args: &[&str], first: &[u8], code: i32) -> Outcome {
    let mut child = command(args).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let first = first.to_owned();
    let producer = std::thread::spawn(move || {
        stdin.write_all(&first)?;
        let piece = vec![b'x'; 1 << 20];
        for _ in 0..200 {
            stdin.write_all(&piece)?;
        }
        stdin.write_all(b"\n")?;
        stdin.write_all(LINE.as_bytes())
    });
    let outcome = ending(child, code).0;
    let _ = producer.join().unwrap();
    outcome
}

#[test]
fn a_line_without_an_end_is_an_error_or_left_out() {
    let first = LINE.repeat(2);
    let error = "it is longer than 16 MiB; it begins at byte 48 of the input\n";
    let outcome = with_an_overlong_line(&["-q"], first.as_bytes(), 2);
    let expected = format!("retime: standard input: line 3: {error}");
    assert_eq!(outcome.stderr, expected);
    assert_eq!(outcome.stdout, CORRECTED.repeat(2));

    let outcome = with_an_overlong_line(&["--skip-bad"], first.as_bytes(), 0);
    assert_eq!(outcome.stdout, CORRECTED.repeat(3));
    assert!(outcome.stderr.contains("\n1 line left out: "));

    // Before all others it is left out, too, unless it may be a header.
    let outcome = with_an_overlong_line(&["-q", "--skip-bad"], b"", 0);
    assert_eq!(outcome.stdout, CORRECTED);
    let header = b"{\"retime-stream\":1,\"locations\":[\"";
    with_an_overlong_line(&["-q", "--skip-bad"], header, 2);
}
