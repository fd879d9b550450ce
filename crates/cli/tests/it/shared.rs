//! What `retime-mpi` does, with threads for processes: what `retime` does.

use std::ffi::OsString;
use std::thread;

use retime_parallel::threads;
use serde_json::Value;

use crate::common::Scratch;
use crate::common::directory::assert_same;
use crate::common::traces;

/// Runs a command on so many threads; the exit code of the first, once all are done.
fn shared(scratch: &Scratch, size: usize, arguments: &str) -> u8 {
    let absolute = |word: &str| match word.strip_prefix('@') {
        Some(name) => scratch.join(name).into_os_string(),
        None => word.into(),
    };
    let words = ["retime-mpi"]
        .into_iter()
        .chain(arguments.split_whitespace());
    let words: Vec<OsString> = words.map(absolute).collect();
    let running = threads(size, 1 << 16).into_iter().map(|it| {
        let words = words.clone();
        thread::spawn(|| retime_cli::run_shared(it, words))
    });
    let running: Vec<_> = running.collect();
    let codes = running.into_iter().map(|it| it.join().unwrap());
    let codes: Vec<u8> = codes.collect();
    assert!(codes[1..].iter().all(|&it| it == 0), "{codes:?}");
    codes[0]
}

/// Runs it once by `retime`.
fn alone(scratch: &Scratch, arguments: &str) -> u8 {
    let place = format!("{}/", scratch.path().display());
    let outcome = scratch.retime(&arguments.replace('@', &place));
    outcome.code.unwrap() as u8
}

/// A report without what it took.
fn report(scratch: &Scratch, name: &str) -> Value {
    let mut report: Value = serde_json::from_str(&scratch.read(name)).unwrap();
    let timing = report.as_object_mut().unwrap().remove("timing");
    assert!(timing.is_some());
    report
}

/// The same exit code, report and output, for several numbers of processes.
fn is_the_same(scratch: &Scratch, command: &str, code: u8) {
    let with = |out: &str| {
        let output = if command.starts_with("check") {
            String::new()
        } else {
            format!("-o @{out}")
        };
        format!("{command} {output} -q --threads 2 --json @{out}.json")
    };
    assert_eq!(alone(scratch, &with("alone")), code, "{command}");
    for size in [1, 2, 3, 7] {
        let out = format!("by{size}");
        assert_eq!(
            shared(scratch, size, &with(&out)),
            code,
            "{command} by {size}"
        );
        let json = report(scratch, &format!("{out}.json"));
        assert_eq!(json, report(scratch, "alone.json"), "{command} by {size}");
        assert_eq!(scratch.join(&out).exists(), scratch.join("alone").exists());
        if scratch.join(&out).exists() {
            assert_same(&scratch.join("alone"), &scratch.join(&out));
        }
    }
}

fn long_trace() -> Scratch {
    let scratch = Scratch::new();
    traces::halo(scratch.path(), "trace", 30_000);
    scratch
}

#[test]
fn checked_by_several() {
    is_the_same(&long_trace(), "check @trace", 1);
}

#[test]
fn corrected_by_several() {
    let scratch = long_trace();
    is_the_same(&scratch, "correct @trace", 0);
    assert!(report(&scratch, "alone.json")["stragglers"].is_object());
}

#[test]
fn repaired_by_several() {
    is_the_same(&long_trace(), "correct @trace --method clc", 0);
}

#[test]
fn repaired_backwards_by_several() {
    is_the_same(&long_trace(), "correct @trace --method clc --backward", 0);
}

#[test]
fn counted_by_several() {
    is_the_same(&long_trace(), "correct @trace --method simple", 0);
}

/// Delays by pair, by length and by rules that have names are left to one process; one for all
/// that was saved is not.
#[test]
fn minimal_delays_by_several() {
    let scratch = long_trace();
    scratch.write("delays", "* * 100ns 10GB/s\n");
    for delay in ["by-length", "quarter-call", "@delays"] {
        is_the_same(&scratch, &format!("check @trace --min-delay {delay}"), 1);
    }
    scratch.succeed("correct trace -o saved --min-delay 50ns");
    is_the_same(&scratch, "check @saved", 0);
    assert_eq!(
        report(&scratch, "alone.json")["parameters"]["min_delay"]["source"],
        "saved"
    );
}

/// What looks at all clocks is left to one process.
#[test]
fn estimated_by_one_for_several() {
    is_the_same(&long_trace(), "correct @trace --method extended", 0);
    is_the_same(&long_trace(), "correct @trace --method lamport", 0);
}

#[test]
fn copied_by_several() {
    let scratch = traces::scratch([("trace", traces::sound())]);
    is_the_same(&scratch, "correct @trace", 0);
}

#[test]
fn applied_by_several() {
    let scratch = long_trace();
    scratch.succeed("correct trace -o once -q");
    let apply = "apply @once/traces.retime @trace -q -o @";
    assert_eq!(alone(&scratch, &format!("{apply}alone")), 0);
    for size in [1, 3] {
        assert_eq!(shared(&scratch, size, &format!("{apply}by{size}")), 0);
        assert_same(&scratch.join("alone"), &scratch.join(&format!("by{size}")));
    }
}

/// Nobody is left waiting, and nothing left behind.
#[test]
fn failures_end_all() {
    let scratch = long_trace();
    let entries = scratch.entries();
    for command in [
        "correct @none -o @out",
        "correct @trace -o @trace",
        "correct @trace -o @out --min-delay @none",
        "undo @trace -o @out",
    ] {
        assert_eq!(shared(&scratch, 3, command), 2, "{command}");
        assert_eq!(scratch.entries(), entries, "{command}");
    }
    assert_eq!(shared(&scratch, 3, "check @trace --help"), 0);
}
