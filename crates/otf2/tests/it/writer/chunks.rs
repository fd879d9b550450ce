//! Chunks, and the times in them.

use std::fs;
use std::path::Path;

use retime_otf2::writer::{Message, WriteOptions};
use retime_otf2::{AttributeRef, AttributeValue, EventData, RegionRef, StringRef};

use super::{LARGEST_ID, MAIN, SMALL, WORLD, archive, message, single, small};
use crate::judge::{lines, otf2_print};

#[test]
fn locations_written_by_threads_in_several_chunks() {
    let ids = [0, 1, 1 << 32, LARGEST_ID];
    let (_dir, path, mut archive) = archive(&ids, small());
    let writers: Vec<_> = ids[..3]
        .iter()
        .map(|&id| archive.location(id).unwrap())
        .collect();
    let summaries: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = writers
            .into_iter()
            .map(|mut it| {
                scope.spawn(move || {
                    for step in 0..30_000 * (1 + it.location().min(2)) {
                        // Groups of three events at the same time.
                        it.send(step / 3, message(step as u32)).unwrap();
                    }
                    it.finish().unwrap()
                })
            })
            .collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let written = archive.finish(summaries).unwrap();
    assert_eq!((written.locations, written.events), (4, 180_000));
    assert!(size_of_events(&path, 1 << 32) > 4 * SMALL);
    assert_eq!(size_of_events(&path, LARGEST_ID), 20);
    let Some(text) = otf2_print(&path, &["-A"]) else {
        return;
    };
    assert_eq!(lines(&text, "MPI_SEND").len(), 180_000);
    for (id, count) in ids.iter().zip([30_000, 60_000, 90_000, 0]) {
        let line = format!("LOCATION {id} Name: \"Master thread\"");
        let expected = format!("# Events: {count},");
        let found = lines(&text, "LOCATION");
        assert!(
            found
                .iter()
                .any(|it| it.starts_with(&line) && it.contains(&expected)),
            "{found:?}"
        );
    }
}

fn size_of_events(anchor: &Path, id: u64) -> u64 {
    let path = anchor.with_extension("").join(format!("{id}.evt"));
    fs::metadata(path).unwrap().len()
}

/// libotf2 hangs on what its own writer makes of this.
#[test]
fn chunks_that_start_at_time_zero() {
    let (written, text) = single(small(), |it| {
        for _ in 0..60_000 {
            it.enter(0, MAIN).unwrap();
        }
        it.leave(1, MAIN).unwrap();
    });
    assert_eq!(written.times, Some((0, 1)));
    if !text.is_empty() {
        assert_eq!(lines(&text, "ENTER").len(), 60_000);
        assert_eq!(lines(&text, "LEAVE"), ["LEAVE 0 1 Region: \"main\" <0>"]);
    }
}

#[test]
fn chunks_that_start_within_equal_times() {
    let (_, text) = single(small(), |it| {
        for _ in 0..200_000 {
            it.enter(5, MAIN).unwrap();
        }
    });
    if !text.is_empty() {
        assert_eq!(lines(&text, "ENTER").len(), 200_000);
        assert!(
            lines(&text, "ENTER")
                .iter()
                .all(|it| it == "ENTER 0 5 Region: \"main\" <0>")
        );
    }
}

#[test]
fn times_of_every_magnitude() {
    let times = [
        0,
        0,
        1,
        1,
        1 << 62,
        (1 << 63) - 1,
        1 << 63,
        (1 << 63) + 1,
        u64::MAX - 1,
    ];
    let (written, text) = single(WriteOptions::default(), |it| {
        for time in times {
            it.enter(time, MAIN).unwrap();
        }
    });
    assert_eq!(written.times, Some((0, u64::MAX - 1)));
    if !text.is_empty() {
        let expected = times.map(|time| format!("ENTER 0 {time} Region: \"main\" <0>"));
        assert_eq!(lines(&text, "ENTER"), expected);
    }
}

/// Equal times share a record, except time 0; a chunk repeats its time once.
#[test]
fn times_are_written_when_they_must_be() {
    let (_dir, path, mut archive) = archive(&[0], small());
    let mut it = archive.location(0).unwrap();
    let zeros = 3;
    for _ in 0..zeros {
        it.enter(0, MAIN).unwrap();
    }
    let mut events = 0;
    for _ in 0..200_000 {
        it.leave(7, MAIN).unwrap();
        events += 1;
    }
    archive.finish([it.finish().unwrap()]).unwrap();
    let bytes = fs::read(path.with_extension("").join("0.evt")).unwrap();
    let enter = [5, 0, 0, 0, 0, 0, 0, 0, 0, 12, 0];
    assert_eq!(bytes[18..18 + enter.len() * zeros], enter.repeat(zeros));
    let mut found = 0;
    for (number, chunk) in bytes.chunks(SMALL as usize).enumerate() {
        let start = if number == 0 {
            18 + enter.len() * zeros
        } else {
            18
        };
        let (stamp, rest) = chunk[start..].split_at(9);
        assert_eq!(stamp, [5, 7, 0, 0, 0, 0, 0, 0, 0]);
        found += rest.chunks(2).take_while(|it| it == &[13, 0]).count();
    }
    assert_eq!(found, events);
}

/// Bytes as libotf2 writes them: the start of a Score-P recording.
#[test]
fn records_have_the_bytes_libotf2_gives_them() {
    let (_dir, path, mut archive) = archive(&[0], WriteOptions::default());
    let mut it = archive.location(0).unwrap();
    let start = 0x1a_47f4_ff70_5a1d;
    let program = EventData::ProgramBegin {
        program_name: StringRef(8),
        arguments: vec![],
    };
    it.attach(AttributeRef(2), AttributeValue::U64(26601))
        .unwrap();
    it.event(start, &program).unwrap();
    it.enter(start + 1, RegionRef(3)).unwrap();
    let sent = Message {
        peer: 1,
        comm: WORLD,
        tag: 10,
        length: 16384,
    };
    it.send(start + 1, sent).unwrap();
    it.event(start + 2, &EventData::ProgramEnd { exit_status: None })
        .unwrap();
    archive.finish([it.finish().unwrap()]).unwrap();
    let mut expected = vec![0x03, 0x42, 1, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0];
    expected.extend([0x05, 0x1d, 0x5a, 0x70, 0xff, 0xf4, 0x47, 0x1a, 0x00]);
    expected.extend([0x06, 0x08, 1, 1, 1, 2, 4, 2, 0xe9, 0x67]);
    expected.extend([0x53, 0x03, 1, 8, 0]);
    expected.extend([0x05, 0x1e, 0x5a, 0x70, 0xff, 0xf4, 0x47, 0x1a, 0x00]);
    expected.extend([0x0c, 1, 3]);
    expected.extend([0x0e, 0x08, 1, 1, 0, 1, 10, 2, 0x00, 0x40]);
    expected.extend([0x05, 0x1f, 0x5a, 0x70, 0xff, 0xf4, 0x47, 0x1a, 0x00]);
    expected.extend([0x54, 0x09, 8, 0, 0, 0, 0, 0, 0, 0, 0x80]);
    expected.extend([0x02, 0x01]);
    assert_eq!(
        fs::read(path.with_extension("").join("0.evt")).unwrap(),
        expected
    );
}
