//! What the trait promises, on a small archive: scan, rewrite, verify, restore.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use retime_model::format::{Contents, Format, Passage, Shape, Trace, Undo};
use retime_model::{ClockMap, Clocks, Correction, Knot, LocationIndex, Timestamp};
use retime_otf2::schema::event_code;
use retime_otf2_format::Otf2;

use crate::common::{SmallFile, file, small_archive, time, write};

/// The small archive with events of both locations; without clock offsets.
fn archive() -> Vec<SmallFile> {
    let enter = [0x0c, 0x01, 0x00];
    let mut files = small_archive();
    files.retain(|(name, _)| *name != "t/0.def");
    for (name, [first, second]) in [("t/0.evt", [10, 20]), ("t/7.evt", [12, 40])] {
        let events = file(1, 2, &[&time(first), &enter, &time(second), &enter]);
        let slot = files.iter_mut().find(|(path, _)| *path == name);
        slot.unwrap().1 = events;
    }
    files
}

/// All files below a directory.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut directories = vec![dir.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                let name = path.strip_prefix(dir).unwrap().to_owned();
                found.insert(name, fs::read(path).unwrap());
            }
        }
    }
    found
}

/// The first location five ticks later, the second as it is.
fn correction() -> Correction {
    let later = Knot::at(Timestamp(0), Timestamp(5));
    let maps = vec![
        ClockMap::new(vec![later], vec![]).unwrap(),
        ClockMap::default(),
    ];
    Correction::new(Clocks::each_location(2), maps)
}

fn times(trace: &dyn Trace) -> Vec<Vec<u64>> {
    let timelines = trace.timelines(&[&[0, 1], &[0, 1]], &()).unwrap();
    let times = timelines.iter().map(|it| &it.times);
    times
        .map(|times| times.iter().map(|time| time.0).collect())
        .collect()
}

#[test]
fn a_corrected_archive_can_be_verified_and_restored() {
    let dirs: [_; 3] = std::array::from_fn(|_| tempfile::tempdir().unwrap());
    let [original, corrected, restored] = dirs.each_ref().map(tempfile::TempDir::path);
    write(original, &archive());
    let trace = Otf2.open(original).unwrap();
    let before = trace.scan(&()).unwrap();
    assert_eq!(before.info.locations.len(), 2);
    assert_eq!((before.logs.len(), before.contents.len()), (2, 2));
    let enters = (u32::from(event_code::Enter), 2);
    assert!(before.contents.iter().all(|it| it.kinds == [enters]));
    assert_eq!(times(trace.as_ref()), [[10, 20], [12, 40]]);
    for (timeline, log) in trace
        .timelines(&[&[], &[]], &())
        .unwrap()
        .iter()
        .zip(&before.logs)
    {
        let log = log.columns();
        assert_eq!((timeline.events, timeline.range), (log.events, log.range));
    }

    let correction = correction();
    let undo = trace
        .rewriting()
        .unwrap()
        .rewrite(&correction, corrected, &())
        .unwrap();
    let copy = Otf2
        .open(&trace.rewriting().unwrap().copy_at(corrected))
        .unwrap();
    let after = copy.scan(&()).unwrap();
    assert_eq!(after.contents, before.contents);
    assert_eq!(times(copy.as_ref()), [[15, 25], [12, 40]]);

    copy.rewriting()
        .unwrap()
        .restore(&correction, &undo, restored, &())
        .unwrap();
    assert_eq!(files(restored), files(original));
    let nonsense = Undo("[]".to_owned());
    let error = copy
        .rewriting()
        .unwrap()
        .restore(&correction, &nonsense, restored, &());
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("holds no undo data of an OTF2 archive"),
        "{error}"
    );
}

#[test]
fn nothing_that_exists_is_overwritten() {
    let (original, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(original.path(), &archive());
    let trace = Otf2.open(original.path()).unwrap();
    trace.rewriting().unwrap().copy(copy.path(), &()).unwrap();
    assert_eq!(files(copy.path()), files(original.path()));
    assert!(trace.rewriting().unwrap().copy(copy.path(), &()).is_err());
    assert!(
        trace
            .rewriting()
            .unwrap()
            .rewrite(&correction(), copy.path(), &())
            .is_err()
    );
    assert_eq!(files(copy.path()), files(original.path()));
}

#[test]
fn a_correction_of_other_locations_is_refused() {
    let (original, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(original.path(), &archive());
    let trace = Otf2.open(original.path()).unwrap();
    let other = Correction::new(Clocks::each_location(3), vec![ClockMap::default(); 3]);
    assert!(
        trace
            .rewriting()
            .unwrap()
            .rewrite(&other, copy.path(), &())
            .is_err()
    );
    assert!(files(copy.path()).is_empty());
}

#[test]
fn rows_name_regions_and_paths_lie_beside_the_anchor() {
    let dir = tempfile::tempdir().unwrap();
    let anchor = write(dir.path(), &archive());
    let trace = Otf2.open(&anchor).unwrap();
    let mut rows = trace.rows(LocationIndex(1)).unwrap();
    let first = rows.next_row().unwrap().unwrap();
    assert_eq!((first.time, first.kind), (Timestamp(12), "Enter"));
    assert_eq!(first.passage, Some(Passage::Enter));
    let region = first.region.and_then(|id| trace.region(id));
    assert_eq!(region.as_deref(), Some("main"));
    assert!(rows.next_row().unwrap().is_some());
    assert!(rows.next_row().unwrap().is_none());

    assert_eq!(trace.rewriting().unwrap().shape(), Shape::Directory);
    assert!(!trace.rewriting().unwrap().includes_correction());
    assert!(
        Otf2.open(dir.path())
            .unwrap()
            .rewriting()
            .unwrap()
            .includes_correction()
    );
    assert_eq!(
        trace.rewriting().unwrap().copy_at(Path::new("out")),
        Path::new("out/t.otf2")
    );
    let saved = trace.rewriting().unwrap().correction_of(&anchor);
    assert_eq!(saved, dir.path().join("t.retime"));
}

/// An unknown record, and locations with another number of events than defined.
#[test]
fn defects_of_an_archive_are_warned_of() {
    let dir = tempfile::tempdir().unwrap();
    let trace = Otf2.open(&write(dir.path(), &small_archive())).unwrap();
    let contents: Vec<Contents> = trace.scan(&()).unwrap().contents;
    assert_eq!(
        trace.warnings(&contents),
        [
            "definitions: 1 location with another number of events than recorded",
            "1 event of an unknown type, kept as they are",
            "1 definition of an unknown type, kept as they are",
            "1 location with other regions left than entered",
            "1 location with events before or after what the definitions give as the time of the trace",
        ]
    );
    assert!(trace.has_applied_offsets());
}
