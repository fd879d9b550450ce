//! Random documents in Chrome's format, as nobody writes them all at once.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use retime_merge::{Arrow, ArrowEnd, Job};
use retime_model::LocationIndex;
use retime_model::format::{Document, DocumentTrack, Extent};
use serde_json::{Value, json};

/// An event: its type, thread, time and length in nanoseconds, and a number for the rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    pub(crate) ph: u8,
    pub(crate) thread: u8,
    pub(crate) at: i64,
    pub(crate) length: i64,
    pub(crate) salt: u8,
}

pub(crate) fn events() -> impl Strategy<Value = Vec<Made>> {
    let kind = prop::sample::select(b"XXXXXiCsftN".to_vec());
    let event = (kind, 0_u8..3, 0_i64..40, 0_i64..15, any::<u8>()).prop_map(
        |(ph, thread, at, length, salt)| Made {
            ph,
            thread,
            at: at * 500,
            length: length * 500,
            salt,
        },
    );
    prop::collection::vec(event, 1..40)
}

fn micros(nanoseconds: i64) -> Value {
    serde_json::from_str(&format!("{}.{:03}", nanoseconds / 1000, nanoseconds % 1000)).unwrap()
}

/// The event as a document has it.
pub(crate) fn written(made: &Made, number: usize) -> Value {
    let mut event = json!({
        "ph": char::from(made.ph).to_string(), "name": format!("name{}", made.salt % 5),
        "cat": format!("cat{}", made.salt % 3), "pid": 100 + made.thread % 2,
        "tid": if made.thread == 2 { json!("stream") } else { json!(made.thread) },
        "ts": micros(1_000_000 + made.at),
    });
    match made.ph {
        b'X' => {
            event["dur"] = micros(made.length);
            event["args"] = json!({
                "number": number, "negative": -7, "real": 0.5, "yes": true, "text": "a\n\"b\"",
                "dims": [[1, 2], []], "none": null,
            });
        }
        b'C' => event["args"] = json!({"used": made.salt, "free": 255 - made.salt}),
        b's' | b't' | b'f' => {
            event["id"] = json!(made.salt % 4);
            if made.salt.is_multiple_of(2) {
                event["bp"] = json!("e");
            }
        }
        b'i' => event["s"] = json!(["t", "p", "g"][usize::from(made.salt % 3)]),
        _ => event["id"] = json!(format!("0x{:x}", made.salt)),
    }
    event
}

/// Writes documents of ranks on two hosts, with an arrow from the first event of the first
/// rank to that of the last.
pub(crate) fn job(directory: &Path, ranks: &[Vec<Made>]) -> Job {
    let documents = ranks.iter().enumerate().map(|(rank, events)| {
        let path = directory.join(format!("rank{rank}.json"));
        let all: Vec<Value> = (0..).zip(events).map(|(at, it)| written(it, at)).collect();
        let mut named = vec![
            json!({"ph": "M", "name": "process_name", "pid": 100, "args": {"name": "python"}}),
            json!({"ph": "M", "name": "process_labels", "pid": 101, "args": {"labels": "GPU 0"}}),
            json!({"ph": "M", "name": "process_name", "pid": 102, "args": {"name": "unused"}}),
            json!({"ph": "M", "name": "thread_name", "pid": 100, "tid": 0, "args": {"name": "main"}}),
        ];
        named.extend(all);
        let text = json!({"traceEvents": named, "baseTimeNanoseconds": 5_000 * rank as i64});
        fs::write(&path, text.to_string()).unwrap();
        let (pid, tid) = track(&events[0]);
        Document {
            path,
            base: 5_000 * rank as i64,
            extent: Some(Extent { first: 1_000_000, last: 2_000_000 }),
            rank: Some(rank as u32),
            host: Some(format!("host{}", rank / 2)),
            groups: Vec::new(),
            tracks: vec![DocumentTrack {
                pid,
                tid,
                ..DocumentTrack::default()
            }],
            first: LocationIndex(rank as u32),
            ..Document::default()
        }
    });
    let documents: Vec<Document> = documents.collect();
    let end = |document: usize| ArrowEnd {
        document: document as u32,
        track: 0,
        at: documents[document].base + 1_000_000 + ranks[document][0].at,
    };
    let (from, to) = (end(0), end(ranks.len() - 1));
    Job {
        origin: 1_000_000,
        arrows: vec![Arrow { from, to }],
        documents,
        packets: Vec::new(),
    }
}

fn track(made: &Made) -> (String, String) {
    let event = written(made, 0);
    let text = |it: &Value| it.as_str().map_or(it.to_string(), str::to_owned);
    (text(&event["pid"]), text(&event["tid"]))
}
