//! What the writer writes, taken apart by a reader of its own: any sequence of
//! events comes back, and the rules for chunks and times hold.

use proptest::prelude::*;
use retime_otf2::writer::{ArchiveWriter, LocationWriter, Payload, WriteOptions};
use retime_otf2::{AttributeRef, AttributeValue, LocationGroupType, LocationType, RegionRef};

const CHUNK: usize = 0x4_0000;
const ENTER: u8 = 12;

#[derive(Debug, Clone, PartialEq)]
struct Event {
    time: u64,
    attributes: usize,
    code: u8,
    payload: Vec<u8>,
}

/// Sizes from nothing to a good part of a chunk, mostly small.
fn payload() -> impl Strategy<Value = Vec<u8>> {
    let size = prop_oneof![
        6 => 0..20_usize,
        2 => 250..260_usize,
        1 => 0..60_000_usize,
    ];
    (size, any::<u8>()).prop_map(|(size, fill)| vec![fill; size])
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let step = prop_oneof![0..2_u64, 0..1_000_000_u64];
    let attributes = prop_oneof![4 => Just(0_usize), 1 => 1..60_usize];
    let record = prop_oneof![Just((ENTER, vec![1, 7])), (Just(200_u8), payload()),];
    prop::collection::vec((step, attributes, record), 0..300).prop_map(|list| {
        let mut time = 0;
        list.into_iter()
            .map(|(step, attributes, (code, payload))| {
                time += step;
                Event {
                    time,
                    attributes,
                    code,
                    payload,
                }
            })
            .collect()
    })
}

fn write(events: &[Event]) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let anchor = dir.path().join("traces.otf2");
    let options = WriteOptions {
        event_chunk: CHUNK as u64,
        ..WriteOptions::default()
    };
    let mut archive = ArchiveWriter::create(&anchor, options).unwrap();
    let definitions = archive.definitions();
    let process = definitions.location_group("", LocationGroupType::PROCESS, None);
    definitions.location(1, "", LocationType::CPU_THREAD, process);
    let mut location = archive.location(1).unwrap();
    for event in events {
        put(&mut location, event);
    }
    let summary = location.finish().unwrap();
    assert_eq!(summary.events, events.len() as u64);
    archive.finish([summary]).unwrap();
    std::fs::read(dir.path().join("traces/1.evt")).unwrap()
}

fn put(location: &mut LocationWriter, event: &Event) {
    for number in 0..event.attributes {
        let attribute = AttributeRef(number as u32);
        location
            .attach(attribute, AttributeValue::U8(number as u8))
            .unwrap();
    }
    if event.code == ENTER {
        location.enter(event.time, RegionRef(7)).unwrap();
    } else {
        location
            .event_raw(event.time, event.code, &event.payload)
            .unwrap();
    }
}

/// Reads a file of events, checking its framing on the way.
fn read(bytes: &[u8]) -> Vec<Event> {
    let mut events = Vec::new();
    let mut time = None;
    let mut ended = false;
    for chunk in bytes.chunks(CHUNK) {
        assert!(!ended);
        assert_eq!(chunk[..2], [3, 0x42]);
        assert_eq!(number(&chunk[2..]), events.len() as u64 + 1);
        ended = read_chunk(&chunk[18..], &mut time, &mut events);
        assert_eq!(number(&chunk[10..]), events.len() as u64);
    }
    assert!(ended);
    events
}

/// Whether this was the last chunk.
fn read_chunk(mut rest: &[u8], time: &mut Option<u64>, events: &mut Vec<Event>) -> bool {
    let (mut stamped, mut attributes, mut first) = (false, 0, true);
    loop {
        let (&code, after) = rest.split_first().unwrap();
        rest = after;
        match code {
            0 => {
                assert!(!stamped && attributes == 0 && rest.iter().all(|&it| it == 0));
                return false;
            }
            2 => {
                assert_eq!(rest, [1]);
                return true;
            }
            5 => {
                let new = number(rest);
                assert!(!stamped, "two times in a row");
                assert!(first || new == 0 || Some(new) > *time, "a time too many");
                (*time, stamped, rest) = (Some(new), true, &rest[8..]);
            }
            6 => {
                let list = take(&mut rest);
                assert_eq!(attributes, 0);
                attributes = usize::from(list[1]);
            }
            _ => {
                assert!(stamped || !first, "a chunk without a time");
                let payload = if code == ENTER {
                    split(&mut rest, 2)
                } else {
                    take(&mut rest)
                };
                events.push(Event {
                    time: time.unwrap(),
                    attributes,
                    code,
                    payload: payload.to_vec(),
                });
                (stamped, attributes) = (false, 0);
            }
        }
        first = false;
    }
}

/// The payload of a record with a length.
fn take<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    match split(rest, 1)[0] {
        0xFF => {
            let size = number(split(rest, 8));
            split(rest, size as usize)
        }
        size => split(rest, usize::from(size)),
    }
}

fn split<'a>(rest: &mut &'a [u8], size: usize) -> &'a [u8] {
    let (start, end) = rest.split_at(size);
    *rest = end;
    start
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_sequence_of_events_comes_back(events in events()) {
        prop_assert_eq!(read(&write(&events)), events);
    }

    #[test]
    fn compressed_integers_come_back(value: u64, narrow: u32) {
        let mut payload = Payload::new();
        payload.c64(value).c32(narrow).s64(value.cast_signed());
        let mut rest = payload.as_bytes();
        prop_assert_eq!(integer(&mut rest), value);
        prop_assert_eq!(integer(&mut rest), u64::from(narrow));
        prop_assert_eq!(integer(&mut rest), value);
        prop_assert!(rest.is_empty());
    }
}

fn integer(rest: &mut &[u8]) -> u64 {
    let size = split(rest, 1)[0];
    let mut bytes = [0; 8];
    bytes[..usize::from(size)].copy_from_slice(split(rest, usize::from(size)));
    u64::from_le_bytes(bytes)
}
