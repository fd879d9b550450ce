//! What a correction says of the whole trace where locations move differently,
//! and what becomes of clock offsets.
use std::fs;

use crate::common::{SmallFile, file, record, small_archive, time, write};
use crate::rewriting::{Corrected, correct_and_check, shift};
use retime_model::{ClockMap, LocationIndex};

const ENTER: [u8; 3] = [0x0c, 0x01, 0x00];

/// The small archive, from 0 to 100, with two events of each location.
fn archive(first: [u64; 2], second: [u64; 2]) -> Vec<SmallFile> {
    let mut files = small_archive();
    files.retain(|file| file.0 != "t/0.def");
    for (name, [start, end]) in [("t/0.evt", first), ("t/7.evt", second)] {
        let events = file(1, 2, &[&time(start), &ENTER, &time(end), &ENTER]);
        files.iter_mut().find(|file| file.0 == name).unwrap().1 = events;
    }
    files
}

fn correct(files: &[SmallFile], map: impl FnMut(LocationIndex) -> ClockMap) -> Corrected {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), files);
    correct_and_check(dir.path(), map)
}

/// Each end of the trace is that of the location which is first, or last there.
#[test]
fn the_extent_is_that_of_all_locations() {
    for (events, shifts, range, clock) in [
        // The second location begins, the first one ends.
        (([70, 90], [30, 60]), [0, 10], (40, 90), (10, 90)),
        (([70, 90], [30, 60]), [5, 0], (30, 95), (0, 105)),
        // The first location spans the second one, and the other way round.
        (([30, 90], [40, 60]), [7, 0], (37, 97), (7, 100)),
        (([40, 60], [30, 90]), [0, 7], (37, 97), (7, 100)),
    ] {
        let files = archive(events.0, events.1);
        let corrected = correct(&files, |location| shift(shifts[location.as_usize()]));
        let (first, last) = corrected.rewritten.range.unwrap();
        assert_eq!((first.0, last.0), range, "{events:?} {shifts:?}");
        let found = corrected.trace.definitions().clock.unwrap();
        assert_eq!(
            (found.global_offset, found.trace_length),
            clock,
            "{events:?} {shifts:?}"
        );
    }
}

/// Two clock offsets are applied to the times and go. One alone has no effect,
/// in retime as in every OTF2 tool, and stays.
#[test]
fn only_clock_offsets_that_were_applied_go() {
    let offset = |at: u64, by: u8| {
        let mut payload = at.to_le_bytes().to_vec();
        payload.extend([1, by]);
        payload.extend(0_f64.to_le_bytes());
        record(6, &payload)
    };
    let (early, late) = (offset(0, 10), offset(100, 20));
    for (offsets, stays) in [(vec![&*early], true), (vec![&*early, &*late], false)] {
        let mut files = archive([70, 90], [30, 60]);
        let definitions = file(1, 0, &offsets);
        files.push(("t/0.def", definitions.clone()));
        files.push(("t/7.def", file(1, 0, &[])));
        let corrected = correct(&files, |_| shift(1_000));
        let left = fs::read(corrected.dir.path().join("t/0.def")).unwrap();
        assert_eq!(left == definitions, stays);
        let none = file(1, 0, &[]);
        assert_eq!(left == none, !stays, "{left:?}");
    }
}
