//! Files are written again with other times and nothing else new, and come back byte for byte.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::{GzDecoder, ZlibDecoder};
use flate2::write::{GzEncoder, ZlibEncoder};
use retime::format::{Format, Recognition, Trace};
use retime::{Correction, SavedClock};
use retime_perfetto::Perfetto;
use retime_perfetto_wire::fields::{
    clock, clock_snapshot, trace, trace_packet, trace_packet_defaults, track_event,
};
use retime_perfetto_wire::read::{Fields, Value};
use retime_perfetto_wire::write::{bytes, uint};
use retime_testing::perfetto::packets;

use crate::same_job::{SHAPES, job, write};

/// A correction that moves all clocks by `by` at 0 and is `rate` parts in a million faster.
pub(crate) fn moved(trace: &dyn Trace, by: u64, rate: u64) -> Correction {
    let info = trace.scan(&()).unwrap().info;
    let last = 4_000_000_000_000_000_000;
    let clock = SavedClock {
        locations: None,
        knots: vec![
            [0, by].into(),
            [last, by + last + last / 1_000_000 * rate].into(),
        ],
        steps: Vec::new(),
        distance: None,
    };
    Correction::restore(&[clock], &info).unwrap()
}

/// Corrects what lies at a path, compares times, and restores it; where both are.
pub(crate) fn there_and_back(
    scratch: &Path,
    input: &Path,
    by: u64,
    rate: u64,
) -> (PathBuf, PathBuf) {
    let (out, back) = (scratch.join("out"), scratch.join("back"));
    if input.is_dir() {
        fs::create_dir(&out).unwrap();
        fs::create_dir(&back).unwrap();
    }
    let trace = Perfetto.open(input).unwrap();
    let scan = trace.scan(&()).unwrap();
    let correction = moved(&*trace, by, rate);
    let all: Vec<Vec<u32>> = (0..)
        .map(retime::LocationIndex)
        .zip(&scan.info.locations)
        .map(|(location, _)| {
            let mut rows = trace.rows(location).unwrap();
            let mut count = 0;
            while rows.next_row().unwrap().is_some() {
                count += 1;
            }
            (0..count).collect()
        })
        .collect();
    let events: Vec<&[u32]> = all.iter().map(|it| &**it).collect();
    let writable = trace.rewriting().unwrap();
    let settled = writable.settled(&correction, &events, &()).unwrap();
    let undo = writable.rewrite(&correction, &out, &()).unwrap();
    let written = Perfetto.open(&out).unwrap();
    let timelines = written.timelines(&events, &()).unwrap();
    if let Some(settled) = settled {
        for ((timeline, times), contents) in timelines.iter().zip(&settled).zip(&scan.contents) {
            assert_eq!(timeline.difference(contents, times), None);
        }
    }
    let restoring = written.rewriting().unwrap();
    restoring.restore(&correction, &undo, &back, &()).unwrap();
    (out, back)
}

#[test]
fn profiles_are_restored() {
    for shape in SHAPES {
        let scratch = tempfile::tempdir().unwrap();
        let packed = scratch.path().join("packed");
        write(&job(), shape, &scratch.path().join("json"), &packed);
        let (out, back) = there_and_back(scratch.path(), &packed, 12_345_678, 40);
        for rank in 0..4 {
            let name = format!("rank{rank}.pftrace");
            let read = |directory: &Path| fs::read(directory.join(&name)).unwrap();
            assert!(read(&packed) == read(&back), "{shape:?} {name}");
            assert!(read(&packed) != read(&out), "{shape:?} {name}");
        }
    }
}

fn packet(out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    let mut own = Vec::new();
    fill(&mut own);
    bytes(out, trace::PACKET, &own);
}

fn event(out: &mut Vec<u8>, time: u64, kind: u64, fill: impl FnOnce(&mut Vec<u8>)) {
    packet(out, |it| {
        uint(it, trace_packet::TIMESTAMP, time);
        let mut own = Vec::new();
        uint(&mut own, track_event::TYPE, kind);
        uint(&mut own, track_event::TRACK_UUID, 5);
        bytes(&mut own, track_event::NAME, b"a name");
        bytes(it, trace_packet::TRACK_EVENT, &own);
        fill(it);
    });
}

fn snapshot(out: &mut Vec<u8>, readings: &[(u64, u64)]) {
    packet(out, |it| {
        let mut all = Vec::new();
        for &(number, shows) in readings {
            let mut reading = Vec::new();
            uint(&mut reading, clock::CLOCK_ID, number);
            uint(&mut reading, clock::TIMESTAMP, shows);
            // A field that nobody knows, between others.
            uint(&mut reading, 77, 1);
            bytes(&mut all, clock_snapshot::CLOCKS, &reading);
        }
        bytes(it, trace_packet::CLOCK_SNAPSHOT, &all);
        uint(it, trace_packet::TRUSTED_PACKET_SEQUENCE_ID, 3);
    });
}

/// The timestamps of all packets.
fn stamps(file: &[u8]) -> Vec<u64> {
    let packets = Fields::of(file).map(Result::unwrap);
    let packets = packets.filter_map(|it| it.value.bytes());
    let stamp = |packet| {
        let mut fields = Fields::of(packet).map(Result::unwrap);
        let field = fields.find(|it| it.number == trace_packet::TIMESTAMP);
        field.and_then(|it| it.value.number())
    };
    packets.filter_map(stamp).collect()
}

#[test]
fn times_of_any_size_and_room_are_moved() {
    let scratch = tempfile::tempdir().unwrap();
    let input = scratch.path().join("in.pftrace");
    let mut file = Vec::new();
    for time in [0, 1, 126, 127, 128, 16_383, 1 << 40] {
        event(&mut file, time, track_event::INSTANT, |it| {
            bytes(it, 777, b"nobody knows this");
        });
    }
    // A time and a length with more bytes than they need, as some writers leave room.
    file.extend_from_slice(b"\x0a\x95\x80\x80\x00\x40\x89\x80\x80\x00");
    file.extend_from_slice(b"\x5a\x8b\x80\x80\x00\x48\x03\x58\x05\xba\x01\x04wide");
    // Something between packets that is none.
    uint(&mut file, 9, 5);
    fs::write(&input, &file).unwrap();
    let (out, back) = there_and_back(scratch.path(), &input, 1, 0);
    let written = fs::read(out).unwrap();
    assert!(fs::read(back).unwrap() == file);
    let (was, is) = (stamps(&file), stamps(&written));
    assert_eq!(was.iter().map(|it| it + 1).collect::<Vec<_>>(), is);
    // Two of them and nothing else needs a byte more: 127 and 16,383.
    assert_eq!(written.len(), file.len() + 2);
}

#[test]
fn clocks_are_moved_with_what_they_stamp() {
    let scratch = tempfile::tempdir().unwrap();
    let input = scratch.path().join("in.pftrace");
    let mut file = Vec::new();
    snapshot(&mut file, &[(6, 1_000), (1, 500_000), (3, 900)]);
    let with_clock = |number| {
        move |it: &mut Vec<u8>| {
            uint(it, trace_packet::TIMESTAMP_CLOCK_ID, number);
        }
    };
    event(&mut file, 1_010, track_event::INSTANT, |_| {});
    event(&mut file, 500_020, track_event::INSTANT, with_clock(1));
    event(&mut file, 930, track_event::INSTANT, with_clock(3));
    // A sequence whose packets have the clock of its defaults.
    packet(&mut file, |it| {
        let mut defaults = Vec::new();
        uint(&mut defaults, trace_packet_defaults::TIMESTAMP_CLOCK_ID, 1);
        bytes(it, trace_packet::TRACE_PACKET_DEFAULTS, &defaults);
        uint(it, trace_packet::TRUSTED_PACKET_SEQUENCE_ID, 8);
        let cleared = trace_packet::INCREMENTAL_STATE_CLEARED;
        uint(it, trace_packet::SEQUENCE_FLAGS, cleared);
    });
    event(&mut file, 500_040, track_event::INSTANT, |it| {
        uint(it, trace_packet::TRUSTED_PACKET_SEQUENCE_ID, 8);
    });
    fs::write(&input, &file).unwrap();
    let times = |path: &Path| {
        let trace = Perfetto.open(path).unwrap();
        trace.scan(&()).unwrap();
        let mut rows = trace.rows(retime::LocationIndex(0)).unwrap();
        std::iter::from_fn(|| rows.next_row().unwrap())
            .map(|it| it.time.0)
            .collect::<Vec<_>>()
    };
    assert_eq!(times(&input), [1_010, 1_020, 1_030, 1_040]);
    let (out, back) = there_and_back(scratch.path(), &input, 7_000, 0);
    assert_eq!(times(&out), [8_010, 8_020, 8_030, 8_040]);
    assert!(fs::read(back).unwrap() == file);
    // Each clock of the snapshot has moved, and nothing is where it was.
    let mut expected = Vec::new();
    snapshot(&mut expected, &[(6, 8_000), (1, 507_000), (3, 7_900)]);
    assert!(fs::read(&out).unwrap().starts_with(&expected));
    assert_eq!(
        stamps(&fs::read(out).unwrap()),
        [8_010, 507_020, 7_930, 507_040]
    );
}

#[test]
fn compressed_packets_and_files_are_read_and_written() {
    let scratch = tempfile::tempdir().unwrap();
    let mut plain = Vec::new();
    for (time, kind) in [
        (100, track_event::SLICE_BEGIN),
        (190, track_event::SLICE_END),
    ] {
        event(&mut plain, time, kind, |_| {});
    }
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
    zlib.write_all(&plain).unwrap();
    let zlib = zlib.finish().unwrap();
    let mut file = plain.clone();
    packet(&mut file, |it| {
        bytes(it, trace_packet::COMPRESSED_PACKETS, &zlib);
    });
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&file).unwrap();
    let gzip = gzip.finish().unwrap();
    for (name, content) in [
        ("a.pftrace", &file),
        ("b.pftrace.gz", &gzip),
        ("c.pftrace", &gzip),
    ] {
        let scratch = scratch.path().join(name.replace('.', "-"));
        fs::create_dir(&scratch).unwrap();
        let input = scratch.join(name);
        fs::write(&input, content).unwrap();
        assert_eq!(Perfetto.recognise(&input).unwrap(), Recognition::Certain);
        let (out, back) = there_and_back(&scratch, &input, 50, 0);
        let unpacked = |path: &Path| {
            let file = fs::read(path).unwrap();
            if !file.starts_with(&[0x1F, 0x8B]) {
                return file;
            }
            let mut all = Vec::new();
            GzDecoder::new(&*file).read_to_end(&mut all).unwrap();
            all
        };
        let inner = |path: &Path| {
            let file = unpacked(path);
            let packed = Fields::of(&file).map(Result::unwrap).find_map(|it| {
                let mut fields = Fields::of(it.value.bytes()?).map(Result::unwrap);
                fields.find_map(|it| match (it.number, it.value) {
                    (trace_packet::COMPRESSED_PACKETS, Value::Bytes(it)) => Some(it.to_vec()),
                    _ => None,
                })
            });
            let mut all = Vec::new();
            let packed = packed.unwrap();
            ZlibDecoder::new(&*packed).read_to_end(&mut all).unwrap();
            all
        };
        assert_eq!(stamps(&unpacked(&out)), [150, 240], "{name}");
        assert_eq!(stamps(&inner(&out)), [150, 240], "{name}");
        assert_eq!(inner(&back), plain, "{name}");
        assert!(unpacked(&back).starts_with(&plain), "{name}");
        let is_packed = fs::read(&out).unwrap().starts_with(&[0x1F, 0x8B]);
        assert_eq!(is_packed, name != "a.pftrace");
    }
}

/// The encoder of the tests is read by the field numbers that it is written with, so the bytes of
/// one packet are compared with what the documents of the format say.
#[test]
fn packets_have_the_published_numbers() {
    let profile =
        br#"{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "k", "pid": 3, "tid": 7,
        "ts": 1.5, "dur": 2, "args": {"n": 4}}]}"#;
    let file = packets(profile, SHAPES[0]).unwrap();
    // timestamp 8: 1500, sequence 10: 1, flags 13: 2, track_event 11: type 9: 1, track 11: 2,
    // name_iid 10: 1, debug_annotations 4: name 10 "n", int_value 4: 4
    let begin =
        b"\x40\xdc\x0b\x50\x01\x68\x02\x5a\x0d\x48\x01\x58\x02\x50\x01\x22\x05\x52\x01n\x20\x04";
    assert!(file.windows(begin.len()).any(|it| it == begin));
}
