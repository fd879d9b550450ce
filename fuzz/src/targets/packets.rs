//! Traces of Perfetto: what is accepted can be corrected, gets the times that were announced, and
//! is restored byte for byte.

use std::fs;

use retime::format::{Format, FormatError};
use retime::{Correction, SavedClock};
use retime_perfetto::Perfetto;
use retime_perfetto_wire::fields::{
    clock, clock_snapshot, debug_annotation, ftrace, gpu_render_stage_event, interned_data,
    interned_name, listed_process, process_tree, thread_descriptor, trace, trace_packet,
    trace_packet_defaults, track_descriptor, track_event,
};
use retime_perfetto_wire::write::{bytes, fixed64, uint};
use tempfile::TempDir;

fn message(fill: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    fill(&mut out);
    out
}

fn packet(out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    bytes(out, trace::PACKET, &message(fill));
}

/// Slices, arrows and annotations, with words that were said once, on an incremental clock.
fn slices() -> Vec<u8> {
    let mut out = Vec::new();
    packet(&mut out, |it| {
        let reading = |number, shows, is_incremental| {
            message(|it| {
                uint(it, clock::CLOCK_ID, number);
                uint(it, clock::TIMESTAMP, shows);
                uint(it, clock::IS_INCREMENTAL, is_incremental);
            })
        };
        let snapshot = message(|it| {
            bytes(it, clock_snapshot::CLOCKS, &reading(6, 1_000, 0));
            bytes(it, clock_snapshot::CLOCKS, &reading(64, 5_000, 1));
        });
        let defaults = message(|it| {
            uint(it, trace_packet_defaults::TIMESTAMP_CLOCK_ID, 64);
            let own = message(|it| uint(it, track_event::TRACK_UUID, 5));
            bytes(it, trace_packet_defaults::TRACK_EVENT_DEFAULTS, &own);
        });
        let word = message(|it| {
            uint(it, interned_name::IID, 1);
            bytes(it, interned_name::NAME, b"gloo:all_reduce");
        });
        let interned = message(|it| bytes(it, interned_data::EVENT_NAMES, &word));
        uint(it, trace_packet::TRUSTED_PACKET_SEQUENCE_ID, 7);
        let cleared = trace_packet::INCREMENTAL_STATE_CLEARED;
        uint(it, trace_packet::SEQUENCE_FLAGS, cleared);
        bytes(it, trace_packet::CLOCK_SNAPSHOT, &snapshot);
        bytes(it, trace_packet::TRACE_PACKET_DEFAULTS, &defaults);
        bytes(it, trace_packet::INTERNED_DATA, &interned);
    });
    packet(&mut out, |it| {
        let thread = message(|it| {
            uint(it, thread_descriptor::PID, 3);
            uint(it, thread_descriptor::TID, 4);
        });
        let track = message(|it| {
            uint(it, track_descriptor::UUID, 5);
            bytes(it, track_descriptor::THREAD, &thread);
        });
        bytes(it, trace_packet::TRACK_DESCRIPTOR, &track);
    });
    for step in 0..4 {
        packet(&mut out, |it| {
            let event = message(|it| {
                uint(it, track_event::TYPE, 1 + step % 2);
                uint(it, track_event::NAME_IID, 1);
                fixed64(it, track_event::FLOW_IDS, 9);
                let annotation = message(|it| {
                    bytes(it, debug_annotation::NAME, b"Input Dims");
                    bytes(it, debug_annotation::STRING_VALUE, b"[4]");
                });
                bytes(it, track_event::DEBUG_ANNOTATIONS, &annotation);
            });
            uint(it, trace_packet::TIMESTAMP, 100 + step);
            uint(it, trace_packet::TRUSTED_PACKET_SEQUENCE_ID, 7);
            uint(it, trace_packet::SEQUENCE_FLAGS, 2);
            bytes(it, trace_packet::TRACK_EVENT, &event);
        });
    }
    out
}

/// Stages of a GPU.
fn stages() -> Vec<u8> {
    let mut out = Vec::new();
    for number in 1..4 {
        packet(&mut out, |it| {
            let stage = message(|it| {
                uint(it, gpu_render_stage_event::EVENT_ID, number);
                uint(it, gpu_render_stage_event::DURATION, 40);
                bytes(it, gpu_render_stage_event::NAME, b"ncclDevKernel_AllReduce");
            });
            uint(it, trace_packet::TIMESTAMP, 127 * number);
            bytes(it, trace_packet::GPU_RENDER_STAGE_EVENT, &stage);
        });
    }
    out
}

/// Times within packets.
fn inner() -> Vec<u8> {
    let mut out = Vec::new();
    packet(&mut out, |it| {
        let event = message(|it| uint(it, ftrace::EVENT_TIMESTAMP, 1_000));
        let sched = message(|it| bytes(it, ftrace::SWITCH_TIMESTAMP, &[0x88, 7, 1, 127]));
        let bundle = message(|it| {
            bytes(it, ftrace::EVENT, &event);
            bytes(it, ftrace::COMPACT_SCHED, &sched);
            uint(it, ftrace::PREVIOUS_BUNDLE_END_TIMESTAMP, 900);
        });
        bytes(it, trace_packet::FTRACE_EVENTS, &bundle);
    });
    out.extend(collected());
    out
}

/// The end of a collection, as packets have it that can be merged.
fn collected() -> Vec<u8> {
    let mut out = Vec::new();
    packet(&mut out, |it| {
        let process = message(|it| uint(it, listed_process::PROCESS_START_FROM_BOOT, 800));
        let tree = message(|it| {
            bytes(it, process_tree::PROCESSES, &process);
            uint(it, process_tree::COLLECTION_END_TIMESTAMP, 1_020);
        });
        uint(it, trace_packet::TIMESTAMP, 1_010);
        bytes(it, trace_packet::PROCESS_TREE, &tree);
    });
    out.extend(slices());
    out
}

/// Files that can be merged.
pub(super) fn mergeable() -> Vec<Vec<u8>> {
    vec![slices(), stages(), collected()]
}

pub(super) fn files() -> Vec<Vec<u8>> {
    vec![slices(), stages(), inner()]
}

pub(super) fn check(input: &[u8]) -> String {
    let directory = TempDir::new().unwrap();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("in.pftrace"), input).unwrap();
    let refused = |error: FormatError| {
        let words = format!("refused: {error}");
        words.replace(&*directory.path().to_string_lossy(), "")
    };
    let opened = Perfetto.open(&path("in.pftrace"));
    let (scan, trace) = match opened.and_then(|trace| Ok((trace.scan(&())?, trace))) {
        Ok(both) => both,
        Err(error) => return refused(error),
    };
    let from = trace.zero().0;
    let clock = SavedClock {
        locations: None,
        knots: vec![
            [from, from + 20].into(),
            [from + 1_000_000, from + 900_000].into(),
        ],
        steps: Vec::new(),
        distance: None,
    };
    let correction = Correction::restore(&[clock], &scan.info).unwrap();
    let logs: Vec<_> = scan
        .logs
        .iter()
        .map(|it| it.clone().into_columns())
        .collect();
    let events: Vec<&[u32]> = logs.iter().map(|it| &*it.numbers).collect();
    let writable = trace.rewriting().unwrap();
    let settled = match writable.settled(&correction, &events, &()) {
        Ok(settled) => settled,
        Err(error) => return refused(error),
    };
    let undo = match writable.rewrite(&correction, &path("out.pftrace"), &()) {
        Ok(undo) => undo,
        Err(error) => return refused(error),
    };
    let written = writable.open_copy(&path("out.pftrace"), &()).unwrap();
    let written = match written {
        Ok(written) => written,
        Err(error) => return refused(error),
    };
    let timelines = written.timelines(&events, &()).unwrap();
    for ((timeline, times), contents) in timelines
        .iter()
        .zip(settled.iter().flatten())
        .zip(&scan.contents)
    {
        assert_eq!(timeline.difference(contents, times), None);
    }
    let restoring = written.rewriting().unwrap();
    restoring
        .restore(&correction, &undo, &path("back.pftrace"), &())
        .unwrap();
    let is_packed = input.starts_with(&[0x1F, 0x8B]) || has_packed(input);
    if !is_packed {
        assert!(
            fs::read(path("back.pftrace")).unwrap() == input,
            "restored byte for byte"
        );
    }
    "written and restored".into()
}

/// True if there may be compressed packets, which come back with the same contents.
fn has_packed(input: &[u8]) -> bool {
    let mut key = Vec::new();
    bytes(&mut key, trace_packet::COMPRESSED_PACKETS, &[]);
    key.pop();
    input.windows(key.len()).any(|it| it == key)
}
