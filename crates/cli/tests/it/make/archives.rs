//! Archives that are damaged, from the anchor to the events.

use super::Case;
use super::files::{changed, small, trace, with, without};
use crate::archives::{file, record, time};

pub(super) fn anchors() -> Vec<Case> {
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

pub(super) fn definitions() -> Vec<Case> {
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

pub(super) fn damage() -> Vec<Case> {
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
