//! What the writer refuses.

use std::fs;

use retime_otf2::writer::{ArchiveWriter, WriteError, WriteOptions};
use retime_otf2::{AttributeValue, EventData, MetricRef, MetricValue, Type};

use super::{MAIN, SMALL, archive, single, small};

#[test]
fn disorder_is_refused_unless_wanted() {
    let (_dir, _, mut ordered) = archive(&[3], WriteOptions::default());
    let mut location = ordered.location(3).unwrap();
    location.enter(5, MAIN).unwrap();
    location.enter(5, MAIN).unwrap();
    let error = location.leave(4, MAIN).unwrap_err();
    assert_eq!(
        error.to_string(),
        "location 3: event 2 at time 4 comes after one at time 5"
    );
    let disorder = WriteOptions {
        allow_disorder: true,
        ..WriteOptions::default()
    };
    let (written, _) = single(disorder, |it| {
        it.enter(5, MAIN).unwrap();
        it.leave(4, MAIN).unwrap();
    });
    assert_eq!(written.times, Some((4, 5)));
}

#[test]
fn mistakes_in_events_are_refused() {
    let (_dir, _, mut archive) = archive(&[0], small());
    let mut it = archive.location(0).unwrap();
    let attribute = archive.definitions().attribute("a", "", Type::UINT8);
    assert!(matches!(
        it.event_raw(1, 5, &[]),
        Err(WriteError::ReservedCode(5))
    ));
    assert!(matches!(
        it.event_raw(1, 12, &[2, 1]),
        Err(WriteError::SingletonPayload(12))
    ));
    assert!(matches!(
        it.event_raw(1, 200, &vec![0; SMALL as usize]),
        Err(WriteError::RecordTooLarge { code: 200, .. })
    ));
    let metric = EventData::Metric {
        metric: MetricRef(0),
        values: vec![MetricValue::Unsigned(0); 256],
    };
    assert!(matches!(
        it.event(1, &EventData::Unknown { code: 200 }),
        Err(WriteError::UnknownEvent(200))
    ));
    assert!(matches!(
        it.event(1, &metric),
        Err(WriteError::TooManyElements {
            code: 31,
            count: 256
        })
    ));
    it.attach(attribute, AttributeValue::U8(1)).unwrap();
    assert!(matches!(
        it.attach(attribute, AttributeValue::U8(2)),
        Err(WriteError::RepeatedAttribute(0))
    ));
    assert!(matches!(
        it.finish(),
        Err(WriteError::DanglingAttributes(0))
    ));
}

#[test]
fn mistakes_in_locations_are_refused() {
    let (_dir, _, mut it) = archive(&[0, 1], small());
    let open = it.location(0).unwrap();
    assert!(matches!(
        it.location(0),
        Err(WriteError::LocationOpenedTwice(0))
    ));
    assert!(matches!(it.location(u64::MAX), Err(WriteError::LocationId)));
    drop(open);
    assert!(matches!(
        it.finish([]),
        Err(WriteError::LocationUnfinished(0))
    ));

    let (_dir, _, mut it) = archive(&[0, 1], small());
    let stranger = it.location(7).unwrap().finish().unwrap();
    assert!(matches!(
        it.finish([stranger]),
        Err(WriteError::LocationUndefined(7))
    ));

    let (_dir, _, it) = archive(&[4, 4], small());
    assert!(matches!(
        it.finish([]),
        Err(WriteError::LocationDefinedTwice(4))
    ));
}

#[test]
fn mistakes_in_archives_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let create = |name: &str, options| ArchiveWriter::create(dir.path().join(name), options);
    assert!(matches!(
        create("traces", small()),
        Err(WriteError::AnchorName(_))
    ));
    let tiny = WriteOptions {
        event_chunk: 1000,
        ..WriteOptions::default()
    };
    assert!(matches!(
        create("a.otf2", tiny),
        Err(WriteError::ChunkSize(1000))
    ));
    let nul = WriteOptions {
        machine: "a\0b".into(),
        ..WriteOptions::default()
    };
    assert!(matches!(
        create("a.otf2", nul),
        Err(WriteError::NulInText(_))
    ));
    create("a.otf2", small()).unwrap().finish([]).unwrap();
    assert!(matches!(
        create("a.otf2", small()),
        Err(WriteError::Io { .. })
    ));
    fs::write(dir.path().join("c.def"), "mine").unwrap();
    assert!(matches!(
        create("c.otf2", small()),
        Err(WriteError::Io { .. })
    ));
    let mut it = create("b.otf2", small()).unwrap();
    it.definitions().string("a\0b");
    assert!(matches!(it.finish([]), Err(WriteError::NulInText(_))));
    assert!(!dir.path().join("b.otf2").exists());
}
