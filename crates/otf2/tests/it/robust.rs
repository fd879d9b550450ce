//! Damaged archives: every outcome is a result, none is a panic, an endless
//! loop or an allocation of what the bytes merely claim.

use std::path::Path;

use retime_testing::Effort;

use crate::common::{SmallFile, file, record, small_archive, time, write};
use retime_otf2::{
    Archive, ChunkReader, Definitions, Error, EventReader, FileKind, LocalDefinitions, Reason,
    RecordReader, Result,
};

/// Reads every byte of an archive in every way there is and returns how many
/// records there were.
fn read_everything(anchor: &Path) -> Result<u64> {
    let archive = Archive::open(anchor)?;
    let definitions = Definitions::read(&archive)?;
    let locations = definitions.location_ids();
    let mut records = untimed(archive.open_definitions()?)?;
    for local in LocalDefinitions::read_all(&archive, &locations, &())? {
        if let Some(reader) = archive.open_local_definitions(local.location)? {
            records += untimed(reader)?;
        }
        records += timed(EventReader::mapped(&archive, &local)?)?;
        records += timed(EventReader::raw(&archive, local.location)?)?;
        if let Some(snapshots) = EventReader::snapshots(&archive, local.location)? {
            records += timed(snapshots)?;
        }
    }
    for k in 0..archive.anchor().thumbnails {
        records += untimed(archive.open_thumbnail(k)?)?;
    }
    if let Some(markers) = archive.open_markers()? {
        records += untimed(markers)?;
    }
    Ok(records)
}

fn untimed(reader: ChunkReader) -> Result<u64> {
    let mut records = RecordReader::new(reader)?;
    let mut count = 0;
    while let Some(entry) = records.next()? {
        entry.decode()?;
        count += 1;
    }
    Ok(count)
}

fn timed(mut events: EventReader) -> Result<u64> {
    let mut count = 0;
    while let Some(event) = events.next()? {
        event.decode()?;
        event.decode_attributes()?;
        count += 1;
    }
    Ok(count)
}

fn outcome(files: &[SmallFile]) -> Result<u64> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    read_everything(&write(dir.path(), files))
}

fn replaced(name: &str, bytes: Vec<u8>) -> Vec<SmallFile> {
    let mut files = small_archive();
    let file = files.iter_mut().find(|file| file.0 == name);
    file.expect("a file of the archive").1 = bytes;
    files
}

#[test]
fn the_small_archive_is_sound() {
    let count = outcome(&small_archive()).expect("sound");
    // Definitions, local ones, events twice, snapshot, thumbnail, markers.
    assert_eq!(count, 14 + 4 + 2 * 6 + 3 + 2 + 2);
}

/// Cutting off more than the marks behind the end of a file is noticed.
#[test]
fn every_truncation_is_an_error() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let files = small_archive();
    let anchor = write(dir.path(), &files);
    for (name, bytes) in &files {
        let path = dir.path().join(name);
        let marks = if *name == "t.otf2" { 2 } else { 1 };
        for length in 0..bytes.len() {
            std::fs::write(&path, &bytes[..length]).expect("written");
            let outcome = read_everything(&anchor);
            let harmless = length >= bytes.len() - marks;
            assert_eq!(outcome.is_ok(), harmless, "{name} cut to {length} bytes");
        }
        std::fs::write(&path, bytes).expect("written");
    }
}

/// One change of each byte by turns, three with `RETIME_EFFORT=wide`, or ten with `all`: only that
/// this returns matters.
#[test]
fn every_changed_byte_is_survived() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let files = small_archive();
    let anchor = write(dir.path(), &files);
    let effort = Effort::asked();
    let (mut read, mut refused) = (0, 0);
    for (name, bytes) in &files {
        let path = dir.path().join(name);
        let mut changed = bytes.clone();
        for at in 0..bytes.len() {
            let flips = [255, bytes[at], 1, 2, 4, 8, 16, 32, 64, 128];
            let turn = [255, bytes[at], 1 << (at % 8)];
            for &flip in effort.pick(&turn[at % 3..=at % 3], &turn, &flips[..]) {
                changed[at] = bytes[at] ^ flip;
                std::fs::write(&path, &changed).expect("written");
                match read_everything(&anchor) {
                    Ok(_) => read += 1,
                    Err(_) => refused += 1,
                }
            }
            changed[at] = bytes[at];
        }
        std::fs::write(&path, bytes).expect("written");
    }
    assert!(read > 0 && refused > 0, "{read} read, {refused} refused");
}

#[test]
fn huge_claims_are_refused() {
    let long = |length: u64| [&[14, 0xff][..], &length.to_le_bytes()].concat();
    let huge = [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
    let claims: [(&str, Vec<u8>); 6] = [
        ("t/0.evt", file(1, 1, &[&time(5), &long(u64::MAX)])),
        ("t/0.evt", file(1, 1, &[&time(5), &long(1 << 40)])),
        ("t/0.evt", file(1, 1, &[&time(5), &record(31, b"\x00\xff")])),
        (
            "t/0.evt",
            file(
                1,
                1,
                &[&time(5), &record(6, b"\x04\xff\xff\xff\x7f"), b"\x0c\x00"],
            ),
        ),
        (
            "t/0.def",
            file(1, 0, &[&record(5, &[&[3][..], &huge, &[1]].concat())]),
        ),
        ("t.def", file(1, 0, &[&record(18, b"\x00\x00\x01\xff")])),
    ];
    for (number, (name, bytes)) in claims.into_iter().enumerate() {
        let error = outcome(&replaced(name, bytes)).expect_err("refused");
        let known = matches!(error, Error::Corrupt { .. } | Error::Truncated { .. });
        assert!(known, "claim {number}: {error}");
    }
}

#[test]
fn a_file_that_stops_between_chunks_is_truncated() {
    let mut chunk = file(1, 1, &[&time(5), &[0x0c, 0x00]]);
    chunk.truncate(chunk.len() - 2);
    chunk.resize(262_144, 0);
    let mut two = chunk.clone();
    two.extend(file(2, 2, &[&time(6), &[0x0d, 0x00]]));

    assert!(outcome(&replaced("t/0.evt", two.clone())).is_ok());
    let error = outcome(&replaced("t/0.evt", chunk)).expect_err("refused");
    assert!(
        matches!(error, Error::Truncated { offset: 29, .. }),
        "{error}"
    );

    two[262_144] = 0;
    let error = outcome(&replaced("t/0.evt", two)).expect_err("refused");
    let reason = Reason::ChunkCode;
    assert!(
        matches!(error, Error::Corrupt { offset: 262_144, reason: r, .. } if r == reason),
        "{error}"
    );
}

#[test]
fn timestamps_and_attributes_need_a_record_and_records_a_timestamp() {
    let dangling = [
        file(1, 1, &[&time(5), &[0x0c, 0x00], &time(6)]),
        file(1, 1, &[&time(5), &record(6, b"\x00")]),
    ];
    for bytes in dangling {
        let error = outcome(&replaced("t/0.evt", bytes)).expect_err("refused");
        assert!(
            error.to_string().contains("without a record after it"),
            "{error}"
        );
    }
    let error = outcome(&replaced("t/0.evt", file(1, 1, &[&[0x0c, 0x00]]))).expect_err("refused");
    assert!(
        error.to_string().contains("event without a timestamp"),
        "{error}"
    );
}

/// Two in a row crash or hang other readers; the second one counts.
#[test]
fn repeated_timestamps_are_accepted() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let events = file(1, 1, &[&time(5), &time(6), &[0x0c, 0x00]]);
    let anchor = write(dir.path(), &replaced("t/0.evt", events));
    let archive = Archive::open(anchor).expect("sound");
    let mut events = EventReader::raw(&archive, 0).expect("sound");
    assert_eq!(events.next().expect("sound").expect("an event").time, 6);
}

#[test]
fn unsupported_archives_are_refused_by_name() {
    let patched = |at: usize, value: u8| {
        let mut bytes = small_archive().remove(0).1;
        bytes[at] = value;
        outcome(&replaced("t.otf2", bytes))
            .expect_err("refused")
            .to_string()
    };
    assert!(patched(28, 2).contains("SION container archives are not supported"));
    assert!(patched(29, 2).contains("zlib"));
    assert!(patched(8, 3).contains("trace format 3"));
    assert!(patched(15, 0xff).contains("chunk size"));
    assert!(patched(1, 0x41).contains("byte order"));
    assert!(patched(2, b'X').contains("not an OTF2 anchor file"));
}

#[test]
fn missing_files_are_named() {
    for (name, why) in [
        ("t.def", "every archive has global definitions"),
        ("t/7.evt", "the definitions name location 7"),
        ("t/7.snap", "the anchor counts 1 snapshots"),
        ("t.0.thumb", "the anchor counts 1 thumbnails"),
    ] {
        let mut files = small_archive();
        files.retain(|file| file.0 != name);
        let error = outcome(&files).expect_err("refused").to_string();
        assert!(error.contains(name) && error.contains(why), "{error}");
    }
}

/// The rule of `LocalDefinitions::read_all`.
#[test]
fn local_definitions_are_missed_only_where_they_matter() {
    // Location 7 has none and no events.
    assert!(outcome(&small_archive()).is_ok());
    // Location 7 has none but has events, and location 0 has tables.
    let seven = file(1, 1, &[&time(5), &[0x0c, 0x00]]);
    let error = outcome(&replaced("t/7.evt", seven.clone())).expect_err("refused");
    assert!(matches!(&error, Error::MissingFile { .. }), "{error}");
    assert!(error.to_string().contains("7.def"), "{error}");
    // No location has tables.
    let mut files = replaced("t/7.evt", seven);
    files.retain(|file| file.0 != "t/0.def");
    assert!(outcome(&files).is_ok());
    // An empty file is never what was meant.
    let error = outcome(&replaced("t/0.def", Vec::new())).expect_err("refused");
    assert!(matches!(error, Error::Truncated { .. }), "{error}");
    assert!(error.to_string().contains("the file is empty"), "{error}");
}

#[test]
fn archives_are_found_by_file_or_directory() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let anchor = write(dir.path(), &small_archive());
    assert!(Archive::open(dir.path()).is_ok());

    let error = Archive::open(dir.path().join("t"))
        .expect_err("refused")
        .to_string();
    assert!(
        error.contains("its archive is") && error.contains("t.otf2"),
        "{error}"
    );
    let above = dir.path().join("above");
    std::fs::create_dir(&above).expect("a directory");
    write(&above.join("x"), &small_archive());
    let error = Archive::open(&above).expect_err("refused").to_string();
    assert!(error.contains("try "), "{error}");
    let error = Archive::open(dir.path().join("t.def"))
        .expect_err("refused")
        .to_string();
    assert!(error.contains("another file of an archive"), "{error}");

    std::fs::copy(&anchor, dir.path().join("u.OTF2")).expect("copied");
    let error = Archive::open(dir.path()).expect_err("refused");
    assert!(matches!(error, Error::SeveralArchives { ref anchors, .. } if anchors.len() == 2));

    let other = dir.path().join("renamed.trace");
    std::fs::rename(&anchor, &other).expect("renamed");
    let archive = Archive::open(&other).expect("any name will do");
    assert_eq!(archive.definitions_path(), dir.path().join("renamed.def"));
    assert_eq!(
        archive.events_path(u64::MAX - 1),
        dir.path().join("renamed/18446744073709551614.evt")
    );
}

#[test]
fn a_chunk_size_that_no_archive_has_is_refused() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("0.evt");
    std::fs::write(&path, file(1, 0, &[])).expect("written");
    for size in [0, 1, 262_143, 16_777_217, u64::MAX] {
        assert!(ChunkReader::open(&path, FileKind::Events, size).is_err());
    }
    assert!(ChunkReader::open(&path, FileKind::Events, 262_144).is_ok());
}
