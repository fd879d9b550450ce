//! Makes the inputs of cases whose directories are missing.

mod files;
mod methods;

use std::fs;
use std::path::Path;

use retime_sim::{Layout, Program, from, to};

use crate::small::{file, record, time};
use files::{Files, archive, changed, corrected, none, ping_pong, small, trace, with, without};

#[test]
#[ignore = "writes into the source directory"]
fn make() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad_data");
    let all = [
        paths(),
        anchors(),
        damage(),
        definitions(),
        contradictions(),
        delays(),
        corrections(),
        undo(),
        outputs(),
        methods::methods(),
    ];
    for (name, arguments, files) in all.into_iter().flatten() {
        let case = root.join(name);
        if case.exists() {
            continue;
        }
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
        (
            "not-an-anchor",
            "check notes.txt",
            with(none(), "notes.txt", "to do\n"),
        ),
        ("definitions-as-anchor", "check trace/traces.def", trace()),
    ]
}

fn anchors() -> Vec<Case> {
    let patched =
        |at: usize, byte: u8| changed(trace(), "trace/traces.otf2", |anchor| anchor[at] = byte);
    let cut = |length| {
        changed(trace(), "trace/traces.otf2", |anchor| {
            anchor.truncate(length);
        })
    };
    let last = trace()["trace/traces.otf2"].len() - 3;
    vec![
        ("anchor-empty", "check trace", cut(0)),
        ("anchor-truncated", "check trace", cut(50)),
        ("anchor-byte-order", "check trace", patched(1, 0x41)),
        ("anchor-format-0", "check trace", patched(7, 0)),
        ("anchor-trace-format-3", "check trace", patched(8, 3)),
        ("anchor-chunk-size", "check trace", patched(15, 0xff)),
        ("anchor-sion", "correct trace -o out", patched(28, 2)),
        ("anchor-substrate-7", "check trace", patched(28, 7)),
        ("anchor-zlib", "correct trace -o out", patched(29, 2)),
        ("anchor-compression-9", "check trace", patched(29, 9)),
        ("anchor-count", "check trace", patched(58, 0xff)),
        ("anchor-end-mark", "check trace", patched(last, 9)),
    ]
}

fn damage() -> Vec<Case> {
    let events = |records: &[&[u8]]| with(small(), "t/0.evt", file(1, 1, records));
    let cut =
        |name: &str, by: usize| changed(trace(), name, |bytes| bytes.truncate(bytes.len() - by));
    let byte = |at: usize, byte: u8| changed(trace(), "trace/traces/0.evt", |it| it[at] = byte);
    vec![
        (
            "evt-missing",
            "check trace",
            without(trace(), "trace/traces/1.evt"),
        ),
        (
            "def-missing",
            "check trace",
            without(trace(), "trace/traces.def"),
        ),
        (
            "snap-missing",
            "correct t.otf2 -o out",
            without(small(), "t/7.snap"),
        ),
        (
            "evt-truncated",
            "correct trace -o out",
            cut("trace/traces/1.evt", 20),
        ),
        (
            "evt-without-end",
            "check trace",
            cut("trace/traces/1.evt", 2),
        ),
        (
            "evt-empty",
            "check trace",
            cut("trace/traces/1.evt", trace()["trace/traces/1.evt"].len()),
        ),
        ("def-truncated", "check trace", cut("trace/traces.def", 20)),
        ("evt-chunk-code", "check trace", byte(0, 9)),
        ("evt-byte-order", "check trace", byte(1, 0x99)),
        ("evt-record-code", "correct trace -o out", byte(27, 1)),
        (
            "evt-size-byte",
            "check t.otf2",
            events(&[&time(5), &record(14, b"\x09\x01\x00\x01\x0a\x02\x00\x40")]),
        ),
        (
            "evt-length-past-end",
            "check t.otf2",
            events(&[&time(5), &[14, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]]),
        ),
        (
            "evt-time-without-event",
            "check t.otf2",
            events(&[&time(5), &[0x0c, 0x00], &time(6)]),
        ),
        (
            "evt-event-without-time",
            "check t.otf2",
            events(&[&[0x0c, 0x00]]),
        ),
    ]
}

fn definitions() -> Vec<Case> {
    let global = |records: &[&[u8]]| with(small(), "t.def", file(1, 0, records));
    let offset = |time: u64| {
        let mut payload = time.to_le_bytes().to_vec();
        payload.extend([1, 5]);
        payload.extend(0_f64.to_le_bytes());
        record(6, &payload)
    };
    let seven = file(1, 1, &[&time(5), &[0x0c, 0x00]]);
    vec![
        (
            "clock-properties-missing",
            "check t.otf2",
            global(&[&record(10, b"\x00\0")]),
        ),
        (
            "clock-properties-zero",
            "check t.otf2",
            global(&[&record(5, b"\x00\x00\x01\x64\xff")]),
        ),
        (
            "def-string-without-end",
            "check t.otf2",
            global(&[&record(10, b"\x00name")]),
        ),
        (
            "def-count",
            "check t.otf2",
            global(&[
                &record(5, b"\x04\x00\xca\x9a\x3b\x00\x01\x64\xff"),
                &record(18, b"\x00\x00\x06\x01\x7f\x00"),
            ]),
        ),
        (
            "local-def-empty",
            "check t.otf2",
            with(small(), "t/0.def", []),
        ),
        (
            "local-def-missing",
            "correct t.otf2 -o out",
            with(small(), "t/7.evt", seven),
        ),
        (
            "local-def-clock-order",
            "check t.otf2",
            with(small(), "t/0.def", file(1, 0, &[&offset(9), &offset(9)])),
        ),
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

fn corrections() -> Vec<Case> {
    let apply = "apply correction.json trace -o out";
    let saved = |text: &str| with(trace(), "correction.json", text);
    let clocks = |clocks: &str| {
        saved(&format!(
            "{{\"format\": \"retime correction\", \"version\": 1, \"clocks\": [{clocks}]}}\n"
        ))
    };
    let head = "\"format\": \"retime correction\"";
    vec![
        ("correction-missing", apply, trace()),
        ("correction-not-json", apply, saved("0 0\n1000 1001\n")),
        (
            "correction-truncated",
            apply,
            saved("{\"format\": \"retime correction\", \"ver"),
        ),
        (
            "correction-format",
            apply,
            saved("{\"format\": \"x\", \"version\": 1, \"clocks\": []}\n"),
        ),
        (
            "correction-version",
            apply,
            saved(&format!("{{{head}, \"version\": 2, \"clocks\": []}}\n")),
        ),
        (
            "correction-unknown-field",
            apply,
            saved(&format!("{{{head}, \"version\": 1, \"clock\": []}}\n")),
        ),
        (
            "correction-tick-rate",
            apply,
            saved(&format!(
                "{{{head}, \"version\": 1, \"ticks_per_second\": 1000, \"clocks\": []}}\n"
            )),
        ),
        (
            "correction-knots-not-rising",
            apply,
            clocks("{\"knots\": [[5, 5], [5, 6]]}"),
        ),
        (
            "correction-falls",
            apply,
            clocks("{\"knots\": [[5, 50], [6, 49]]}"),
        ),
        (
            "correction-misplaced-step",
            apply,
            clocks("{\"knots\": [[5, 5]], \"steps\": [[6, 0, 0, 6]]}"),
        ),
        (
            "correction-negative",
            apply,
            clocks("{\"knots\": [[5, -5]]}"),
        ),
        (
            "correction-listed-twice",
            apply,
            clocks("{\"locations\": [0, 1], \"knots\": []}, {\"locations\": [1], \"knots\": []}"),
        ),
        (
            "correction-two-rests",
            apply,
            clocks("{\"knots\": [[0, 1]]}, {\"knots\": [[0, 2]]}"),
        ),
        (
            "correction-out-of-range",
            apply,
            clocks("{\"locations\": [0], \"knots\": [[0, 18446744073709551615]]}"),
        ),
    ]
}

fn undo() -> Vec<Case> {
    let undo = "undo trace -o out";
    let saved = |from: &str, to: &str| {
        changed(corrected(), "trace/traces.retime.json", |json| {
            let text = String::from_utf8(std::mem::take(json)).unwrap();
            assert!(text.contains(from), "{text}");
            *json = text.replacen(from, to, 1).into_bytes();
        })
    };
    let flip = |name: &str, at: usize| changed(corrected(), name, |bytes| bytes[at] ^= 1);
    let only_maps = "{\"format\": \"retime correction\", \"version\": 1, \"clocks\": []}\n";
    vec![
        ("undo-not-corrected", undo, trace()),
        (
            "undo-maps-only",
            undo,
            with(trace(), "trace/traces.retime.json", only_maps),
        ),
        ("undo-changed-events", undo, flip("trace/traces/1.evt", 20)),
        ("undo-damaged-events", undo, flip("trace/traces/1.evt", 30)),
        ("undo-changed-anchor", undo, flip("trace/traces.otf2", 48)),
        (
            "undo-file-outside",
            undo,
            saved("\"path\":\"traces.otf2\"", "\"path\":\"../traces.otf2\""),
        ),
        (
            "undo-format",
            undo,
            saved("\"undo\":{\"format\":1", "\"undo\":{\"format\":9"),
        ),
        (
            "undo-other-maps",
            undo,
            saved("\"knots\":[[700,1100]", "\"knots\":[[700,1101]"),
        ),
        (
            "correct-again",
            "correct trace -o out --clocks location --min-delay 9us",
            {
                let mut files = trace();
                files.extend(
                    corrected()
                        .into_iter()
                        .filter(|(name, _)| name.contains(".retime.")),
                );
                files
            },
        ),
        (
            "apply-again",
            "apply shift.json trace -o out",
            with(
                corrected(),
                "shift.json",
                "{\"format\": \"retime correction\", \"version\": 1, \"clocks\": [{\"knots\": [[0, 1]]}]}\n",
            ),
        ),
    ]
}

fn outputs() -> Vec<Case> {
    let out = |name: &str| with(trace(), name, "mine\n");
    let mut two = trace();
    for name in ["a", "b"] {
        two.insert(
            format!("out/{name}.otf2"),
            trace()["trace/traces.otf2"].clone(),
        );
    }
    let mut written = trace();
    for (name, content) in trace() {
        written.insert(name.replacen("trace", "out", 1), content);
    }
    let mut notes = written.clone();
    notes.insert("out/notes/mine.txt".into(), b"mine\n".to_vec());
    vec![
        ("output-exists", "correct trace -o out", out("out/file")),
        (
            "output-is-a-file",
            "correct trace -o out --force",
            out("out"),
        ),
        ("output-is-the-input", "correct trace -o trace", trace()),
        (
            "output-is-the-input-force",
            "correct trace/traces.otf2 -o ./trace/ --force",
            trace(),
        ),
        ("output-holds-the-input", "correct a/trace -o a --force", {
            let files = trace().into_iter();
            files
                .map(|(name, content)| (format!("a/{name}"), content))
                .collect()
        }),
        (
            "output-in-the-input",
            "correct trace -o trace/traces/out",
            trace(),
        ),
        (
            "output-in-the-archive",
            "correct trace/traces.otf2 -o trace/traces/out",
            trace(),
        ),
        (
            "output-without-parent",
            "correct trace -o missing/out",
            trace(),
        ),
        ("output-without-name", "correct trace -o ..", trace()),
        (
            "output-below-a-file",
            "correct trace -o trace/traces.otf2/out",
            trace(),
        ),
        ("force-two-archives", "correct trace -o out --force", two),
        ("force-other-directory", "undo trace -o out --force", notes),
        (
            "force-other-file-beside",
            "correct trace -o out --force",
            with(written, "out/thesis.tex", "mine\n"),
        ),
        (
            "force-other-files",
            "apply x.json trace -o out --force",
            out("out/file"),
        ),
        (
            "json-without-parent",
            "check trace --json missing/report.json",
            trace(),
        ),
        ("json-is-a-directory", "check trace --json trace", trace()),
        (
            "json-is-the-anchor",
            "check trace --json trace/traces.otf2",
            trace(),
        ),
        (
            "json-is-a-correction",
            "correct trace -o out --json x.json",
            with(trace(), "x.json", "{\"format\": \"retime correction\"}\n"),
        ),
        ("demo-exists", "demo --keep trace", trace()),
    ]
}
