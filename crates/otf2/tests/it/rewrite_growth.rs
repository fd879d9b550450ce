//! Definitions and markers whose times need more bytes than before.
use crate::common;
use std::fs;

use retime_otf2::{Archive, ChunkReader, Definitions, FileKind, RecordReader, Value};

use crate::common::{SmallFile, record, small_archive, time, write};
use crate::rewriting::{Corrected, correct_and_check, shift};

const CHUNK: usize = 262_144;
const FAR: u64 = 1 << 50;

/// Chunks that are full up to the mark that ends them, but for the last.
fn full_chunks(records: &[Vec<u8>], filler: impl Fn(usize) -> Vec<u8>, chunks: usize) -> Vec<u8> {
    let header = [&[0x03, 0x42, 1][..], &[0; 15]].concat();
    let mut all = Vec::new();
    for chunk in 0..chunks {
        let mut bytes = header.clone();
        if chunk == 0 {
            bytes.extend(records.concat());
        }
        while bytes.len() < CHUNK - 1 {
            let left = CHUNK - 1 - bytes.len();
            // Never leave a rest that is too small for a record.
            let size = if left > 400 { 200 } else { left.min(230) };
            let size = if left > 230 && left - size < 40 {
                size - 60
            } else {
                size
            };
            bytes.extend(filler(size));
        }
        bytes.push(0);
        assert_eq!(bytes.len(), CHUNK);
        all.extend(bytes);
    }
    all.extend(&header);
    all.extend(filler(50));
    all.extend([2, 1]);
    all
}

/// A string definition of so many bytes.
fn string(size: usize) -> Vec<u8> {
    let mut payload = vec![0xFF];
    payload.resize(size - 3, b'x');
    payload.push(0);
    let record = record(10, &payload);
    assert_eq!(record.len(), size);
    record
}

/// A marker at time 9 with a text so that the record has so many bytes.
fn marker(size: usize) -> Vec<u8> {
    let mut payload = b"\x01\x09\x01\x05\x00\x00\xff".to_vec();
    payload.resize(size - 3, b'x');
    payload.push(0);
    record(6, &payload)
}

fn replace(files: &mut [SmallFile], name: &str, content: Vec<u8>) {
    files.iter_mut().find(|file| file.0 == name).unwrap().1 = content;
}

/// The small archive, with times small enough to be shifted far.
fn early() -> Vec<SmallFile> {
    let mut files = small_archive();
    files.retain(|file| file.0 != "t/0.def");
    let enter = [0x0c, 0x01, 0x00];
    let events = common::file(1, 2, &[&time(70), &enter, &time(90), &enter]);
    replace(&mut files, "t/0.evt", events);
    files
}

fn correct(files: &[SmallFile]) -> Corrected {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), files);
    correct_and_check(dir.path(), |_| shift(FAR))
}

fn small_records() -> Vec<Vec<u8>> {
    let content = small_archive().remove(1).1;
    let mut rest = &content[18..content.len() - 2];
    let mut records = Vec::new();
    while let [_, length, ..] = rest {
        let (record, after) = rest.split_at(2 + usize::from(*length));
        records.push(record.to_vec());
        rest = after;
    }
    records
}

#[test]
fn the_extent_of_the_trace_moves_along() {
    let corrected = correct(&early());
    let clock = corrected.trace.definitions().clock.unwrap();
    // From 0 to 100 it was, with events from 70 to 90.
    assert_eq!(clock.global_offset, FAR);
    assert_eq!(clock.trace_length, 100);
    let range = corrected.rewritten.range.unwrap();
    assert_eq!((range.0.0, range.1.0), (FAR + 70, FAR + 90));
}

#[test]
fn a_full_chunk_of_definitions_is_split() {
    let mut files = early();
    let definitions = full_chunks(&small_records(), string, 2);
    let before = definitions.len();
    replace(&mut files, "t.def", definitions);
    let corrected = correct(&files);
    let after = fs::metadata(corrected.dir.path().join("t.def")).unwrap();
    assert_eq!(after.len() as usize, before + CHUNK);
    let dir = tempfile::tempdir().unwrap();
    let old = Definitions::read(&Archive::open(write(dir.path(), &files)).unwrap()).unwrap();
    let new = corrected.trace.definitions();
    assert_eq!(old.counts, new.counts);
    assert_eq!(new.clock.unwrap().global_offset, FAR);
}

#[test]
fn full_chunks_of_markers_are_split() {
    let mut files = early();
    let define = record(5, b"\x00g\0c\0\x01");
    let markers = full_chunks(&[define], marker, 3);
    replace(&mut files, "t.marker", markers.clone());
    let corrected = correct(&files);
    let read = |path: &std::path::Path| {
        let file = ChunkReader::open(path, FileKind::Markers, CHUNK as u64).unwrap();
        let mut records = RecordReader::new(file).unwrap();
        let mut all = Vec::new();
        while let Some(entry) = records.next().unwrap() {
            all.push(format!("{:?}", entry.decode().unwrap()));
        }
        all
    };
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &files);
    let old = read(&dir.path().join("t.marker"));
    let new = read(&corrected.dir.path().join("t.marker"));
    assert_eq!(old.len(), new.len());
    let moved = format!("{:?}", Value::Unsigned(FAR + 9));
    let still = format!("{:?}", Value::Unsigned(9));
    for (old, new) in old.iter().zip(&new) {
        assert_eq!(&old.replace(&still, &moved), new);
    }
}
