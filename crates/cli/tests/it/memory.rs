//! Memory that runs out is an error like others.

#![cfg(target_os = "linux")]

use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use crate::common::directory::assert_same;
use crate::common::{Outcome, Scratch, traces};

/// A directory with a trace of so many events, 26 % of which communicate.
fn halo(events: u64) -> Scratch {
    let scratch = Scratch::new();
    traces::halo(scratch.path(), "trace", events);
    scratch
}

#[track_caller]
fn assert_out_of_memory(outcome: &Outcome, scratch: &Scratch) {
    assert_eq!(outcome.code, Some(2), "{outcome:#?}");
    let (_, help) = outcome.stderr.rsplit_once("retime: ").unwrap();
    assert!(help.contains("memory"), "{outcome:#?}");
    assert!(!outcome.stderr.contains("stack backtrace:"), "{outcome:#?}");
    assert_eq!(scratch.entries(), ["trace"]);
}

/// Wherever it runs out: from a limit under which hardly anything can be done to one under
/// which all can.
#[test]
fn any_limit_of_the_shell_is_outlived() {
    let scratch = halo(200_000);
    let (mut out, mut done) = (0, 0);
    // Below what the program itself takes the system ends it before it can say a word.
    let program = fs::metadata(env!("CARGO_BIN_EXE_retime")).unwrap().len() / 1024;
    for (limit, kibibytes) in [
        ("-d", 8_000),
        ("-d", 12_000),
        ("-d", 16_000),
        ("-d", 20_000),
        ("-d", 24_000),
        ("-v", program),
        ("-v", program + 40_000),
        ("-v", program + 80_000),
        ("-v", 2_000_000),
    ] {
        let script = format!(
            "ulimit {limit} {kibibytes}; exec \"$RETIME\" correct trace -o out -q --threads 2"
        );
        let outcome = scratch.shell(&script);
        if outcome.code == Some(0) {
            done += 1;
            fs::remove_dir_all(scratch.join("out")).unwrap();
        } else {
            out += usize::from(outcome.stderr.contains("out of memory"));
            assert_eq!(outcome.code, Some(2), "{limit} {kibibytes}: {outcome:#?}");
            assert!(outcome.stderr.contains("retime: "), "{outcome:#?}");
            assert_eq!(scratch.entries(), ["trace"], "{limit} {kibibytes}");
        }
    }
    assert!(out > 0 && done > 0, "{out} {done}");
}

#[test]
fn no_more_than_asked_for() {
    let scratch = halo(1_000_000);
    let outcome = scratch.retime("correct trace -o out --max-memory 16MiB");
    assert_out_of_memory(&outcome, &scratch);
    assert!(
        outcome.stderr.ends_with(
            "no more than 16 MiB may be used here: raise --max-memory or ulimit -v, or work on a \
             machine with more\n"
        ),
        "{outcome:#?}"
    );
    scratch.succeed("correct trace -o out --max-memory 4GiB");
    scratch.succeed("correct trace -o free");
    assert_same(&scratch.join("out"), &scratch.join("free"));
    assert_eq!(
        scratch.retime("check trace -q --max-memory 1GB").code,
        Some(1)
    );
}

/// What the least is that a trace takes is said before it is worked on.
#[test]
fn a_trace_that_cannot_fit_is_refused_early() {
    let scratch = Scratch::new();
    let ring = "simulate ring --ranks 8 --events 800000 --no-truth -o trace -q";
    scratch.succeed(ring);
    let outcome = scratch.retime("check trace --max-memory 20MB --threads 1");
    assert_eq!(outcome.code, Some(2), "{outcome:#?}");
    let message = "retime: trace: about ";
    assert!(outcome.stderr.starts_with(message), "{outcome:#?}");
    let message = "events communicate, which takes at least 2";
    assert!(outcome.stderr.contains(message), "{outcome:#?}");
}

/// Who waits for the work passes on that it is to stop.
#[test]
fn an_interrupt_is_passed_on() {
    let scratch = halo(1_000_000);
    for signal in ["TERM", "INT", "HUP"] {
        let mut command = scratch.command("correct trace -o out --max-memory 4GiB --threads 1");
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        while scratch.entries().len() == 1 {
            sleep(Duration::from_millis(1));
        }
        let id = child.id().to_string();
        let kill = scratch.program("kill").args(["-s", signal, &id]).status();
        assert!(kill.unwrap().success());
        let outcome: Outcome = child.wait_with_output().unwrap().into();
        assert_eq!(outcome.code, Some(130), "{outcome:#?}");
        assert_eq!(outcome.stderr, "retime: interrupted; nothing was written\n");
        assert_eq!(scratch.entries(), ["trace"]);
    }
}

/// Two profiles of events that follow each other without a gap, one by a clock that runs 40 ppm too fast,
/// and an all-reduce now and then.
fn without_gaps(events: u64) -> Scratch {
    let scratch = Scratch::new();
    fs::create_dir(scratch.join("run")).unwrap();
    for rank in 0..2_u64 {
        let clock = |time: u64| time + rank * (1_500_000 + time / 25_000);
        let micros = |time: u64| format!("{}.{:03}", time / 1_000, time % 1_000);
        let event = |kind: &str, thread: u64, from: u64, to: u64, args: &str| {
            format!(
                r#"{{"ph": "X", "cat": "{kind}", "name": "{kind}", "pid": 0, "tid": {thread},
                  "ts": {}, "dur": {}, "args": {{{args}}}}}"#,
                micros(clock(from)),
                micros(clock(to) - clock(from))
            )
        };
        let mut all = Vec::new();
        let mut at = 10_000_000;
        for number in 0..events {
            let end = at + 2_000 + number * number % 38_000;
            all.push(event("cpu_op", 7, at, end, ""));
            if number % 2_000 == 0 {
                let args = format!(
                    r#""Collective name": "allreduce", "Seq": {number}, "Group size": 2,
                      "Process Group Name": "0", "Process Group Ranks": "[0, 1]""#
                );
                all.push(
                    event("kernel", 20, at + 100 * rank, at + 90_000, &args).replace(
                        r#""name": "kernel""#,
                        r#""name": "ncclDevKernel_AllReduce""#,
                    ),
                );
            }
            at = end;
        }
        let text = format!(
            r#"{{"distributedInfo": {{"rank": {rank}, "world_size": 2}}, "host_name": "node{rank}",
              "traceEvents": [{}]}}"#,
            all.join(",\n")
        );
        scratch.write(&format!("run/rank{rank}.json"), &text);
    }
    scratch
}

/// Tens of thousands of events get another length, and `undo` needs what each was.
#[test]
fn what_undo_needs_of_lengths_takes_little() {
    let scratch = without_gaps(60_000);
    let said = scratch.succeed("correct run -o out --threads 2 --max-memory 48MiB");
    assert!(said.contains(" events got another length, too: "), "{said}");
    scratch.succeed("undo out -o back");
    assert_same(&scratch.join("run"), &scratch.join("back"));
}
