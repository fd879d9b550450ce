//! Times within packets are moved with their neighbours, or the file is refused.

use std::fs;

use retime::format::Format;
use retime_perfetto::Perfetto;
use retime_perfetto_wire::fields::{
    android_log, clock, clock_snapshot, ftrace, listed_process, process_descriptor, process_stats,
    process_tree, sys_stats, thread_descriptor, trace, trace_packet, track_descriptor, track_event,
    ui_state,
};
use retime_perfetto_wire::write::{bytes, uint, varint};

use crate::files::{moved, there_and_back};

/// A message within another.
fn nested(out: &mut Vec<u8>, field: u32, fill: impl FnOnce(&mut Vec<u8>)) {
    let mut own = Vec::new();
    fill(&mut own);
    bytes(out, field, &own);
}

fn packet(out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    nested(out, trace::PACKET, fill);
}

/// Numbers in a row.
fn row(out: &mut Vec<u8>, field: u32, numbers: &[u64]) {
    nested(out, field, |it| numbers.iter().for_each(|n| varint(it, *n)));
}

fn slice(out: &mut Vec<u8>, from: u64, to: u64) {
    for (at, kind) in [
        (from, track_event::SLICE_BEGIN),
        (to, track_event::SLICE_END),
    ] {
        packet(out, |it| {
            uint(it, trace_packet::TIMESTAMP, at);
            nested(it, trace_packet::TRACK_EVENT, |it| {
                uint(it, track_event::TYPE, kind);
                uint(it, track_event::TRACK_UUID, 5);
            });
        });
    }
}

/// Events of the kernel at these times, the last two as the scheduler packs them.
fn kernel(out: &mut Vec<u8>, times: [u64; 6]) {
    packet(out, |it| {
        nested(it, trace_packet::FTRACE_EVENTS, |it| {
            uint(it, 1, 3);
            for at in &times[..2] {
                nested(it, ftrace::EVENT, |it| {
                    uint(it, ftrace::EVENT_TIMESTAMP, *at);
                    uint(it, 2, 77);
                });
            }
            nested(it, ftrace::COMPACT_SCHED, |it| {
                bytes(it, 5, b"bash");
                let steps = [times[2], times[3].wrapping_sub(times[2])];
                row(it, ftrace::SWITCH_TIMESTAMP, &steps);
                row(it, 2, &[1, 1]);
                row(it, ftrace::WAKING_TIMESTAMP, &[times[4]]);
            });
            uint(it, ftrace::CLOCK, 0);
            uint(it, ftrace::PREVIOUS_BUNDLE_END_TIMESTAMP, times[5]);
        });
    });
}

/// All kinds of packets that have times within them, moved by `by`.
fn all(by: u64) -> Vec<u8> {
    let mut out = Vec::new();
    packet(&mut out, |it| {
        nested(it, trace_packet::CLOCK_SNAPSHOT, |it| {
            for (number, shows) in [(6, 1_000), (1, 500_000)] {
                nested(it, clock_snapshot::CLOCKS, |it| {
                    uint(it, clock::CLOCK_ID, number);
                    uint(it, clock::TIMESTAMP, shows + by);
                });
            }
        });
    });
    slice(&mut out, 1_010 + by, 1_090 + by);
    // The third is later than the fourth, as where two processors are read one after the other.
    let times = [1_020, 1_127, 1_200, 1_150, 16_383, 1_003];
    kernel(&mut out, times.map(|it| it + by));
    packet(&mut out, |it| {
        uint(it, trace_packet::TIMESTAMP, 1_030 + by);
        nested(it, trace_packet::PROCESS_TREE, |it| {
            nested(it, process_tree::PROCESSES, |it| {
                uint(it, listed_process::PID, 7);
                uint(it, listed_process::PROCESS_START_FROM_BOOT, 1_001 + by);
            });
            // 0 says that nobody knows it.
            nested(it, process_tree::PROCESSES, |it| {
                uint(it, listed_process::PID, 8);
                uint(it, listed_process::PROCESS_START_FROM_BOOT, 0);
            });
            uint(it, process_tree::COLLECTION_END_TIMESTAMP, 1_035 + by);
        });
    });
    for (field, end) in [
        (
            trace_packet::PROCESS_STATS,
            process_stats::COLLECTION_END_TIMESTAMP,
        ),
        (trace_packet::SYS_STATS, sys_stats::COLLECTION_END_TIMESTAMP),
    ] {
        packet(&mut out, |it| {
            nested(it, field, |it| uint(it, end, 1_045 + by));
            uint(it, trace_packet::TIMESTAMP, 1_040 + by);
        });
    }
    packet(&mut out, |it| {
        nested(it, trace_packet::ANDROID_LOG, |it| {
            nested(it, android_log::EVENTS, |it| {
                uint(it, android_log::EVENT_TIMESTAMP, 500_050 + by);
            });
        });
    });
    packet(&mut out, |it| {
        nested(it, trace_packet::UI_STATE, |it| {
            uint(it, ui_state::TIMELINE_START_TS, 1_000 + by);
            uint(it, ui_state::TIMELINE_END_TS, 1_100 + by);
        });
    });
    packet(&mut out, |it| {
        nested(it, trace_packet::TRACK_DESCRIPTOR, |it| {
            uint(it, track_descriptor::UUID, 9);
            nested(it, track_descriptor::PROCESS, |it| {
                uint(it, process_descriptor::PID, 7);
                uint(it, process_descriptor::START_TIMESTAMP_NS, 1_002 + by);
            });
        });
    });
    out
}

#[test]
fn times_within_packets_are_moved_with_those_around_them() {
    let scratch = tempfile::tempdir().unwrap();
    let input = scratch.path().join("in.pftrace");
    fs::write(&input, all(0)).unwrap();
    for by in [1, 200, 7_000_000_000] {
        let scratch = tempfile::tempdir().unwrap();
        let (out, back) = there_and_back(scratch.path(), &input, by, 0);
        assert!(fs::read(out).unwrap() == all(by), "by {by}");
        assert!(fs::read(back).unwrap() == all(0), "by {by}");
    }
    // At another rate each goes where its clock goes.
    let scratch = tempfile::tempdir().unwrap();
    let (out, back) = there_and_back(scratch.path(), &input, 100, 250_000);
    assert!(fs::read(back).unwrap() == all(0));
    let mut kernel_moved = Vec::new();
    let times = [1_020_u64, 1_127, 1_200, 1_150, 16_383, 1_003];
    kernel(&mut kernel_moved, times.map(|it| it + it / 4 + 100));
    let written = fs::read(out).unwrap();
    let mut found = written.windows(kernel_moved.len());
    assert!(found.any(|it| it == kernel_moved));
}

/// Why a file is not written with times 3 later in which a packet follows a slice.
fn refused(fill: impl FnOnce(&mut Vec<u8>)) -> String {
    let scratch = tempfile::tempdir().unwrap();
    let input = scratch.path().join("in.pftrace");
    let mut file = Vec::new();
    slice(&mut file, 100, 110);
    packet(&mut file, fill);
    fs::write(&input, &file).unwrap();
    let trace = Perfetto.open(&input).unwrap();
    let correction = moved(&*trace, 3, 0);
    let writable = trace.rewriting().unwrap();
    let out = scratch.path().join("out.pftrace");
    match writable.rewrite(&correction, &out, &()) {
        Ok(_) => "nothing".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_cannot_be_written_is_refused() {
    let ftrace_event = |field, value| {
        refused(|it| {
            nested(it, trace_packet::FTRACE_EVENTS, |it| {
                nested(it, ftrace::EVENT, |it| {
                    uint(it, ftrace::EVENT_TIMESTAMP, 105);
                    bytes(it, field, value);
                });
            });
        })
    };
    // An event that nobody knows is moved as any other.
    assert_eq!(ftrace_event(999, b""), "nothing");
    let own = ftrace_event(ftrace::GPU_WORK_PERIOD, b"\x18\x05");
    assert!(own.contains("that says a time of its own"), "{own}");
    let clock = refused(|it| {
        nested(it, trace_packet::FTRACE_EVENTS, |it| {
            uint(it, ftrace::CLOCK, 2);
        });
    });
    assert!(
        clock.contains("by another clock than that of the boot"),
        "{clock}"
    );
    let apart = refused(|it| {
        nested(it, trace_packet::FTRACE_EVENTS, |it| {
            nested(it, ftrace::COMPACT_SCHED, |it| {
                row(it, ftrace::SWITCH_TIMESTAMP, &[105, 1]);
                row(it, ftrace::SWITCH_TIMESTAMP, &[1]);
            });
        });
    });
    assert!(apart.contains("are not in one row"), "{apart}");
    let thread = refused(|it| {
        nested(it, trace_packet::THREAD_DESCRIPTOR, |it| {
            uint(it, thread_descriptor::REFERENCE_TIMESTAMP_US, 3);
        });
    });
    assert!(thread.contains("from a time of their thread"), "{thread}");
    for (field, told) in [
        (trace_packet::CHROME_EVENTS, "Chrome"),
        (trace_packet::STREAMING_PROFILE_PACKET, "samples of stacks"),
        (trace_packet::PROTOVMS, "packets within a packet"),
        (trace_packet::POWER_RAILS, "power rails"),
    ] {
        let why = refused(|it| bytes(it, field, b""));
        assert!(why.contains(told), "{field}: {why}");
        assert!(why.contains("byte 20: a packet begins here"), "{why}");
        assert!(why.contains("retime export writes"), "{why}");
    }
}

/// Events without a timestamp of their own are told of, and their file is not written.
#[test]
fn events_that_count_from_their_thread_are_told() {
    for (field, value) in [
        (track_event::TIMESTAMP_DELTA_US, 5),
        (track_event::TIMESTAMP_ABSOLUTE_US, 105),
    ] {
        let own = |it: &mut Vec<u8>| {
            nested(it, trace_packet::TRACK_EVENT, |it| {
                uint(it, field, value);
                uint(it, track_event::TYPE, track_event::INSTANT);
            });
        };
        let why = refused(own);
        assert!(why.contains("from a time of their thread"), "{why}");
        let scratch = tempfile::tempdir().unwrap();
        let input = scratch.path().join("in.pftrace");
        let mut file = Vec::new();
        slice(&mut file, 100, 110);
        packet(&mut file, own);
        fs::write(&input, &file).unwrap();
        let trace = Perfetto.open(&input).unwrap();
        let scan = trace.scan(&()).unwrap();
        let unused = trace.unused(&scan.contents);
        let kinds: Vec<&str> = unused.iter().map(|it| it.kind).collect();
        assert_eq!(kinds, ["event counted from a time of its thread"]);
    }
}
