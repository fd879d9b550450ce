//! Typed events against the schema, and there and back.

use std::fs;
use std::path::Path;

use retime_otf2::schema::{self, Field, Role, Wire};
use retime_otf2::writer::{ArchiveWriter, Payload, WriteOptions};
use retime_otf2::{
    Archive, EventData, EventReader, FileKind, LocationGroupType, LocationType, Value,
};

use crate::common::{small_archive, unpack, write};

/// Writes an archive with one location; the bytes of its events.
fn written(dir: &Path, name: &str, fill: impl FnOnce(&mut ArchiveWriter)) -> Vec<u8> {
    let path = dir.join(name).join("t.otf2");
    let mut archive = ArchiveWriter::create(path, WriteOptions::default()).unwrap();
    let definitions = archive.definitions();
    let process = definitions.location_group("p", LocationGroupType::PROCESS, None);
    definitions.location(0, "t", LocationType::CPU_THREAD, process);
    fill(&mut archive);
    fs::read(dir.join(name).join("t/0.evt")).unwrap()
}

/// A payload with another number in each field, and two of what is repeated.
fn payload(fields: &[Field]) -> Payload {
    let mut payload = Payload::new();
    let mut number = 0;
    let mut field = |payload: &mut Payload, field: &Field| {
        number += 3;
        match (field.role, field.wire) {
            (Role::Count, Wire::U8) => payload.u8(2),
            (Role::Count, _) => payload.c32(2),
            (_, Wire::U8) => payload.u8(number),
            (_, Wire::C32) => payload.c32(number.into()),
            (_, Wire::C64) => payload.c64(number.into()),
            (_, Wire::S64) => payload.s64(-i64::from(number)),
            (_, Wire::X64) => payload.x64(number.into()),
            (_, other) => panic!("{other:?} is in no event"),
        };
    };
    let (repeated, single): (Vec<_>, Vec<_>) = fields.iter().partition(|it| it.is_repeated());
    for it in single {
        field(&mut payload, it);
    }
    for it in repeated.iter().chain(&repeated) {
        field(&mut payload, it);
    }
    payload
}

#[test]
fn every_record_is_written_as_it_was_read() {
    let dir = tempfile::tempdir().unwrap();
    let by_schema = written(dir.path(), "schema", |archive| {
        let mut location = archive.location(0).unwrap();
        for record in schema::records(FileKind::Events) {
            let payload = payload(record.fields);
            location
                .event_raw(1, record.code, payload.as_bytes())
                .unwrap();
        }
        location.finish().unwrap();
    });
    fs::rename(dir.path().join("schema/t"), dir.path().join("t")).unwrap();
    let archive = Archive::open(write(dir.path(), &small_archive()[..2])).unwrap();
    let mut events = EventReader::raw(&archive, 0).unwrap();
    let typed = written(dir.path(), "typed", |archive| {
        let mut location = archive.location(0).unwrap();
        while let Some(event) = events.next().unwrap() {
            let data = event.data().unwrap();
            assert_eq!(data.code(), event.code);
            assert!(
                format!("{data:?}").starts_with(event.name()),
                "{data:?} is no {}",
                event.name()
            );
            location.event(event.time, &data).unwrap();
        }
        location.finish().unwrap();
    });
    assert_eq!(typed, by_schema);
}

/// A reference is mapped by the typed form as it is by the fields.
#[test]
fn real_events_say_the_same_typed_and_by_fields() {
    let Some((_dir, path)) = unpack("alltypes") else {
        return;
    };
    let archive = Archive::open(path).unwrap();
    let definitions = retime_otf2::Definitions::read(&archive).unwrap();
    for id in definitions.location_ids() {
        let local = retime_otf2::LocalDefinitions::read(&archive, id).unwrap();
        let mut events = EventReader::mapped(&archive, &local).unwrap();
        while let Some(event) = events.next().unwrap() {
            let data = event.data().unwrap();
            assert_ne!(data, EventData::Unknown { code: event.code });
            let region = match data {
                EventData::Enter { region } | EventData::Leave { region } => region.0,
                EventData::BufferFlush { stop_time } => stop_time.0 as u32,
                EventData::MpiSend { communicator, .. } => communicator.0,
                _ => continue,
            };
            let name = match event.name() {
                "BufferFlush" => "stopTime",
                "MpiSend" => "communicator",
                _ => "region",
            };
            let field = event.fields().get(name).unwrap();
            assert_eq!(field.and_then(Value::unsigned).unwrap() as u32, region);
        }
        if let Some(mut snapshots) = EventReader::snapshots(&archive, id).unwrap() {
            while let Some(record) = snapshots.next().unwrap() {
                let data = record.snapshot().unwrap();
                assert!(format!("{data:?}").starts_with(record.name()), "{data:?}");
            }
        }
    }
}

/// What is neither known here nor belongs to the kind of file.
#[test]
fn unknown_records_have_their_code_only() {
    let dir = tempfile::tempdir().unwrap();
    let archive = Archive::open(write(dir.path(), &small_archive())).unwrap();
    let mut events = EventReader::raw(&archive, 0).unwrap();
    let mut unknown = Vec::new();
    while let Some(event) = events.next().unwrap() {
        if let EventData::Unknown { code } = event.data().unwrap() {
            unknown.push((event.number, code));
        }
    }
    assert_eq!(unknown, [(4, 200)]);
    let mut snapshots = EventReader::snapshots(&archive, 0).unwrap().unwrap();
    let start = snapshots.next().unwrap().unwrap();
    assert_eq!(start.data().unwrap(), EventData::Unknown { code: 10 });
}
