//! How fast events are read: `cargo bench -p retime-otf2`.
//!
//! The file is made up: halo exchanges as a real program records them, an
//! enter, a message and a leave at a time. It is read once to warm up and
//! then five times; the best time counts. What is printed are million events
//! per second, on one core, the reading of the file included.

#![allow(clippy::expect_used, clippy::print_stdout)]
#![allow(missing_docs)]

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use retime_otf2::{ChunkReader, Cursor, Endian, EventReader, FileKind, Walker};

const CHUNK: usize = 1 << 20;
const EVENTS: u64 = 6_000_000;

fn main() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    write_archive(dir.path());
    report("framing", || framing(dir.path()));
    report("messages by hand", || messages(dir.path()));
    report("time and code", || walk(dir.path()));
    report("messages by schema", || decode(dir.path()));
}

fn report(what: &str, mut run: impl FnMut() -> u64) {
    run();
    let best = (0..5)
        .map(|_| {
            let start = Instant::now();
            assert_eq!(run(), EVENTS);
            start.elapsed()
        })
        .min()
        .expect("five runs");
    let rate = EVENTS as f64 / best.as_secs_f64() / 1e6;
    println!("{what:20} {rate:7.1} million events per second");
}

fn open(dir: &Path) -> ChunkReader {
    ChunkReader::open(&dir.join("t/0.evt"), FileKind::Events, CHUNK as u64).expect("sound")
}

/// Records only: what a rewriter does.
fn framing(dir: &Path) -> u64 {
    let mut reader = open(dir);
    let mut events = 0;
    while let Some(chunk) = reader.next_chunk().expect("sound") {
        for record in chunk.records() {
            let record = record.expect("sound");
            events += u64::from(record.code > 6);
        }
    }
    events
}

/// What matching needs, decoded without the schema: what a scanner does.
fn messages(dir: &Path) -> u64 {
    let mut reader = open(dir);
    let mut buffer = Vec::new();
    let mut events = 0;
    let mut time = 0;
    let mut sum = 0;
    while let Some(header) = reader.read_into(&mut buffer).expect("sound") {
        let mut walker = Walker::new(FileKind::Events, &header);
        while let Some(record) = walker.step(&buffer).expect("sound") {
            let mut cursor = Cursor::within(&buffer, record.payload_range(), Endian::Little);
            match record.code {
                5 => time = cursor.x64().expect("sound"),
                14 | 18 => {
                    let partner = cursor.c32().expect("sound");
                    let comm = cursor.c32().expect("sound");
                    let tag = cursor.c32().expect("sound");
                    sum += time + u64::from(partner + comm + tag);
                    events += 1;
                }
                6 => {}
                _ => events += 1,
            }
        }
    }
    black_box(sum);
    events
}

fn event_reader(dir: &Path) -> EventReader {
    let archive = retime_otf2::Archive::open(dir).expect("sound");
    EventReader::raw(&archive, 0).expect("sound")
}

/// Every event, nothing decoded.
fn walk(dir: &Path) -> u64 {
    let mut events = event_reader(dir);
    let (mut count, mut sum) = (0, 0);
    while let Some(event) = events.next().expect("sound") {
        sum += event.time + u64::from(event.code);
        count += 1;
    }
    black_box(sum);
    count
}

/// The fields of messages, by the schema.
fn decode(dir: &Path) -> u64 {
    let mut events = event_reader(dir);
    let (mut count, mut sum) = (0, 0);
    while let Some(event) = events.next().expect("sound") {
        if [14, 18].contains(&event.code) {
            for field in event.fields() {
                sum += field.expect("sound").value.unsigned().unwrap_or(0);
            }
        }
        count += 1;
    }
    black_box(sum);
    count
}

fn write_archive(dir: &Path) {
    let mut anchor = b"\x03\x42OTF2\0\x01\x02\x03\x00\x02".to_vec();
    anchor.extend((CHUNK as u64).to_le_bytes());
    anchor.extend((1_u64 << 18).to_le_bytes());
    anchor.extend([1, 1]);
    anchor.extend([0; 16]);
    anchor.extend(b"\0\0\0\x02\x01\0");
    std::fs::write(dir.join("t.otf2"), anchor).expect("written");
    std::fs::create_dir(dir.join("t")).expect("a directory");
    std::fs::write(dir.join("t/0.evt"), events()).expect("written");
}

fn events() -> Vec<u8> {
    let shapes: [&[u8]; 6] = [
        b"\x0c\x01\x0a",
        b"\x0e\x08\x01\x01\x00\x01\x0a\x02\x00\x40",
        b"\x0d\x01\x0a",
        b"\x0c\x01\x0b",
        b"\x12\x08\x01\x02\x00\x01\x0a\x02\x00\x40",
        b"\x0d\x01\x0b",
    ];
    let mut file = Vec::new();
    for (number, shape) in (0..EVENTS).zip(shapes.into_iter().cycle()) {
        let used = file.len() % CHUNK;
        if used == 0 || used + 9 + shape.len() + 1 > CHUNK {
            file.resize(file.len().next_multiple_of(CHUNK), 0);
            file.extend([0x03, 0x42]);
            file.extend([0; 16]);
        }
        file.push(5);
        file.extend((1000 + 37 * number).to_le_bytes());
        file.extend(shape);
    }
    file.extend([2, 1]);
    file
}
