//! The inputs of cases, as programs make them: all are there, and `UPDATE_GOLDEN=1` makes
//! those whose directories are missing.

mod archives;
mod corrections;
mod exports;
mod files;
mod methods;
mod outputs;

use std::fs;
use std::path::Path;

use retime_sim::{Layout, Program, from, to};

use crate::common::golden::updating;
use files::{Files, archive, none, ping_pong, small, trace, with};

#[test]
fn every_input_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad_data");
    let all = [
        paths(),
        archives::anchors(),
        archives::damage(),
        archives::definitions(),
        contradictions(),
        delays(),
        corrections::corrections(),
        corrections::undo(),
        outputs::outputs(),
        methods::methods(),
        exports::exports(),
    ];
    for (name, arguments, files) in all.into_iter().flatten() {
        let case = root.join(name);
        if case.exists() {
            continue;
        }
        assert!(updating(), "bad_data/{name} is missing");
        fs::create_dir(&case).unwrap();
        for (path, content) in files {
            let path = case.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        fs::write(case.join("expected"), format!("$ retime {arguments}\n")).unwrap();
    }
}

/// Name, arguments and input files.
type Case = (&'static str, &'static str, Files);

fn paths() -> Vec<Case> {
    let two = with(trace(), "trace/other.otf2", small()["t.otf2"].clone());
    vec![
        ("no-such-path", "check missing", none()),
        ("empty-directory", "check .", none()),
        ("one-level-above", "check .", trace()),
        ("one-level-below", "check trace/traces", trace()),
        ("two-anchors", "check trace", two),
        ("directory-without-anchor", "check . --format otf2", none()),
        (
            "no-trace",
            "check notes.txt",
            with(none(), "notes.txt", "to do\n"),
        ),
        (
            "not-an-anchor",
            "check notes.txt --format otf2",
            with(none(), "notes.txt", "to do\n"),
        ),
        ("definitions-as-anchor", "check trace/traces.def", trace()),
    ]
}

fn contradictions() -> Vec<Case> {
    let mut span = Program::new(1);
    span.on(0).enter(1, "main").leave(1 << 62, "main");
    let mut cycle = Program::with_layout(Layout::node_per_rank(2));
    cycle.on(0).recv(1_000, from(1)).send(2_000, to(1));
    cycle.on(1).recv(1_000, from(0)).send(2_000, to(0));
    let mut unmatched = ping_pong();
    unmatched.on(1).send(2_100, to(0).tag(9));
    vec![
        ("span-too-large", "check trace", archive(&span)),
        ("cycle", "correct trace -o out", archive(&cycle)),
        (
            "strict",
            "correct trace -o out --strict",
            archive(&unmatched),
        ),
    ]
}

fn delays() -> Vec<Case> {
    let table = |text: &str| with(trace(), "delays.txt", text);
    let file = "check trace --min-delay delays.txt";
    vec![
        (
            "min-delay-unknown-unit",
            "check trace --min-delay 2days",
            trace(),
        ),
        ("min-delay-a-day", "check trace --min-delay 86401s", trace()),
        (
            "min-delay-no-file",
            "correct trace -o out --min-delay missing.txt",
            trace(),
        ),
        (
            "min-delay-directory",
            "check trace --min-delay trace",
            trace(),
        ),
        (
            "min-delay-bad-line",
            file,
            table("# from to delay\n* * 1us\n0 1us\n"),
        ),
        ("min-delay-unknown-location", file, table("0 7 1us\n")),
        ("min-delay-no-location", file, table("0 rank1 1us\n")),
        ("min-delay-bad-unit", file, table("* * 2min\n")),
        ("min-delay-no-unit", file, table("* * 2\n")),
        ("min-delay-bad-bandwidth", file, table("* * 2us 10Gb/s\n")),
        (
            "min-delay-no-bandwidth",
            file,
            table("within-node 2us 0B/s\n"),
        ),
        ("min-delay-bad-class", file, table("within-rack 2us\n")),
        ("min-delay-no-number", file, table("* * -2us\n")),
        (
            "min-delay-not-text",
            file,
            with(trace(), "delays.txt", *b"0 1 \xff\xfe\n"),
        ),
        ("gamma-1", "correct trace -o out --gamma-max 1", none()),
        (
            "amortization-0",
            "correct trace -o out --amortization 0%",
            none(),
        ),
    ]
}
