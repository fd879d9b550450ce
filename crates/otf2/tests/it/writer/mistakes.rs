//! What the writer refuses.

use std::fs;

use retime_otf2::writer::{Archive, Error, MetricRef, MetricValue, Options, Value};

use super::{MAIN, SMALL, archive, single, small};

#[test]
fn disorder_is_refused_unless_wanted() {
    let (_dir, _, mut ordered) = archive(&[3], Options::default());
    let mut location = ordered.location(3).unwrap();
    location.enter(5, MAIN).unwrap();
    location.enter(5, MAIN).unwrap();
    let error = location.leave(4, MAIN).unwrap_err();
    assert_eq!(
        error.to_string(),
        "location 3: event 3 at time 4 comes after one at time 5"
    );
    let disorder = Options {
        allow_disorder: true,
        ..Options::default()
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
    let attribute = archive.definitions().attribute("a", "", 1);
    assert!(matches!(
        it.event_raw(1, 5, &[]),
        Err(Error::ReservedCode(5))
    ));
    assert!(matches!(
        it.event_raw(1, 12, &[2, 1]),
        Err(Error::SingletonPayload(12))
    ));
    assert!(matches!(
        it.event_raw(1, 200, &vec![0; SMALL as usize]),
        Err(Error::RecordTooLarge { code: 200, .. })
    ));
    assert!(matches!(
        it.metric(1, MetricRef(0), &[MetricValue::Unsigned(0); 256]),
        Err(Error::TooManyElements {
            code: 31,
            count: 256
        })
    ));
    it.attach(attribute, Value::U8(1)).unwrap();
    assert!(matches!(
        it.attach(attribute, Value::U8(2)),
        Err(Error::RepeatedAttribute(0))
    ));
    assert!(matches!(it.finish(), Err(Error::DanglingAttributes(0))));
}

#[test]
fn mistakes_in_locations_are_refused() {
    let (_dir, _, mut it) = archive(&[0, 1], small());
    let open = it.location(0).unwrap();
    assert!(matches!(it.location(0), Err(Error::LocationOpenedTwice(0))));
    assert!(matches!(it.location(u64::MAX), Err(Error::LocationId)));
    drop(open);
    assert!(matches!(it.finish([]), Err(Error::LocationUnfinished(0))));

    let (_dir, _, mut it) = archive(&[0, 1], small());
    let stranger = it.location(7).unwrap().finish().unwrap();
    assert!(matches!(
        it.finish([stranger]),
        Err(Error::LocationUndefined(7))
    ));

    let (_dir, _, it) = archive(&[4, 4], small());
    assert!(matches!(it.finish([]), Err(Error::LocationDefinedTwice(4))));
}

#[test]
fn mistakes_in_archives_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let create = |name: &str, options| Archive::create(dir.path().join(name), options);
    assert!(matches!(
        create("traces", small()),
        Err(Error::AnchorName(_))
    ));
    let tiny = Options {
        event_chunk: 1000,
        ..Options::default()
    };
    assert!(matches!(
        create("a.otf2", tiny),
        Err(Error::ChunkSize(1000))
    ));
    let nul = Options {
        machine: "a\0b".into(),
        ..Options::default()
    };
    assert!(matches!(create("a.otf2", nul), Err(Error::NulInText(_))));
    create("a.otf2", small()).unwrap().finish([]).unwrap();
    assert!(matches!(create("a.otf2", small()), Err(Error::Io { .. })));
    fs::write(dir.path().join("c.def"), "mine").unwrap();
    assert!(matches!(create("c.otf2", small()), Err(Error::Io { .. })));
    let mut it = create("b.otf2", small()).unwrap();
    it.definitions().string("a\0b");
    assert!(matches!(it.finish([]), Err(Error::NulInText(_))));
    assert!(!dir.path().join("b.otf2").exists());
}
