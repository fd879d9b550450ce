//! Packets, read by the rules of readers: sorted by time, an end ends what was begun last on
//! its track.

use std::collections::BTreeMap;

use proptest::prelude::*;
use retime_merge::{Job, MergedKind, merge};
use retime_perfetto_wire::read::{Fields, Value};

use crate::document::{Made, events, job};

/// The fields of a message, by number.
fn fields(message: &[u8]) -> Vec<(u32, Value<'_>)> {
    let fields = Fields::of(message).map(Result::unwrap);
    fields.map(|it| (it.number, it.value)).collect()
}

fn number(fields: &[(u32, Value<'_>)], wanted: u32) -> Option<u64> {
    fields.iter().find(|it| it.0 == wanted)?.1.number()
}

fn message<'a>(fields: &[(u32, Value<'a>)], wanted: u32) -> Option<&'a [u8]> {
    match fields.iter().find(|it| it.0 == wanted)?.1 {
        Value::Bytes(bytes) => Some(bytes),
        _ => None,
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[derive(Debug, Default)]
struct Read {
    /// Sequence, name, begin, length, and the values of the argument `number`.
    slices: Vec<(u64, String, u64, u64, Option<i64>)>,
    arguments: usize,
    instants: usize,
    counters: usize,
    flows: BTreeMap<u64, Vec<u64>>,
    processes: Vec<String>,
}

struct Event {
    at: u64,
    kind: u64,
    track: u64,
    sequence: u64,
    name: String,
    number: Option<i64>,
}

fn read(file: &[u8]) -> Read {
    let mut found = Read::default();
    let mut names: BTreeMap<(u64, u32, u64), String> = BTreeMap::new();
    let mut all = Vec::new();
    for (_, packet) in fields(file) {
        let Value::Bytes(packet) = packet else {
            panic!("no packet")
        };
        let packet = fields(packet);
        let sequence = number(&packet, 10).unwrap();
        assert_eq!(number(&packet, 98), None);
        for (table, entry) in message(&packet, 12).map(fields).unwrap_or_default() {
            let Value::Bytes(entry) = entry else {
                panic!("no entry")
            };
            let entry = fields(entry);
            let key = (sequence, table, number(&entry, 1).unwrap());
            names.insert(key, text(message(&entry, 2).unwrap()));
        }
        if let Some(track) = message(&packet, 60).map(fields)
            && let Some(process) = message(&track, 3)
        {
            found
                .processes
                .push(text(message(&fields(process), 6).unwrap()));
        }
        let Some(event) = message(&packet, 11).map(fields) else {
            continue;
        };
        let named = |table, iid: Option<u64>| {
            let found = iid.map(|it| names[&(sequence, table, it)].clone());
            found.unwrap_or_default()
        };
        let mut own = None;
        for (_, annotation) in event.iter().filter(|it| it.0 == 4) {
            let Value::Bytes(annotation) = annotation else {
                panic!("no annotation")
            };
            let annotation = fields(annotation);
            found.arguments += 1;
            if named(3, number(&annotation, 1)) == "number" {
                own = number(&annotation, 4).map(|it| it as i64);
            }
        }
        let at = number(&packet, 8).unwrap();
        for (_, flow) in event.iter().filter(|it| [47, 48].contains(&it.0)) {
            found
                .flows
                .entry(flow.number().unwrap())
                .or_default()
                .push(at);
        }
        all.push(Event {
            at,
            kind: number(&event, 9).unwrap(),
            track: number(&event, 11).unwrap(),
            sequence,
            name: named(2, number(&event, 10)),
            number: own,
        });
    }
    all.sort_by_key(|it| it.at);
    let mut open: BTreeMap<u64, Vec<Event>> = BTreeMap::new();
    for event in all {
        match event.kind {
            1 => open.entry(event.track).or_default().push(event),
            2 => {
                let begun = open.get_mut(&event.track).unwrap().pop().unwrap();
                let length = event.at - begun.at;
                found
                    .slices
                    .push((begun.sequence, begun.name, begun.at, length, begun.number));
            }
            3 => found.instants += 1,
            _ => found.counters += 1,
        }
    }
    assert!(open.values().all(Vec::is_empty));
    found.slices.sort();
    found
}

fn merged(job: &Job) -> Read {
    let mut out = Vec::new();
    merge(job, MergedKind::Perfetto, None, &mut out, &()).unwrap();
    read(&out)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn readers_find_all_there_is(ranks in prop::collection::vec(events(), 1..4)) {
        let directory = tempfile::tempdir().unwrap();
        let job = job(directory.path(), &ranks);
        let found = merged(&job);
        let mut slices = Vec::new();
        let count = |ph: &[u8]| {
            let is_of = |it: &&Made| ph.contains(&it.ph);
            ranks.iter().flatten().filter(is_of).count()
        };
        for (rank, events) in (0..).zip(&ranks) {
            for (number, made) in (0..).zip(events).filter(|it| it.1.ph == b'X') {
                let at = (5_000 * rank + made.at) as u64;
                let name = format!("name{}", made.salt % 5);
                slices.push((rank as u64 + (1 << 31), name, at, made.length as u64, Some(number)));
            }
        }
        slices.sort();
        prop_assert_eq!(&found.slices, &slices);
        prop_assert_eq!(found.counters, 2 * count(b"C"));
        // Seven arguments for each slice; two of `N`: its type and nothing else but its id.
        prop_assert_eq!(found.arguments, 7 * count(b"X") + count(b"N"));
        let ends = count(b"stf");
        let alone = found.instants - count(b"iN") - 2;
        prop_assert!(alone <= ends);
        let between: Vec<u64> = found.flows.keys().copied().filter(|it| *it >= 1 << 62).collect();
        let (from, to) = (job.arrows[0].from.at, job.arrows[0].to.at);
        let expected = if to < from { vec![1 << 62, 3 << 62] } else { vec![1 << 62] };
        prop_assert_eq!(between, expected);
        let owners: Vec<&str> = found.processes.iter().map(|it| it.split(':').next().unwrap()).collect();
        prop_assert!(owners.is_sorted());
    }
}

/// As Kineto draws launches: the arrow is at the two slices.
#[test]
fn arrows_of_a_document_are_at_its_slices() {
    let made = |ph, thread, at, length| Made {
        ph,
        thread,
        at,
        length,
        salt: 2,
    };
    let directory = tempfile::tempdir().unwrap();
    let events = vec![
        made(b'f', 1, 5_000, 0),
        made(b'X', 1, 5_000, 2_000),
        made(b'X', 0, 1_000, 3_000),
        made(b's', 0, 2_000, 0),
    ];
    let mut job = job(directory.path(), &[events]);
    job.arrows.clear();
    let found = merged(&job);
    let own: Vec<Vec<u64>> = found.flows.into_values().collect();
    let mut own = own.concat();
    own.sort_unstable();
    assert_eq!((own, found.instants), (vec![1_000, 5_000], 0));
}

#[test]
fn ends_say_what_they_say() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.json");
    let text = r#"[{"ph":"B","name":"f","pid":1,"tid":1,"ts":1,"args":{"number":7}},
        {"ph":"E","pid":1,"tid":1,"ts":3,"args":{"result":1}},
        {"ph":"B","name":"open","pid":1,"tid":1,"ts":4}]"#;
    std::fs::write(&path, text).unwrap();
    let document = retime_model::format::Document {
        path,
        ..Default::default()
    };
    let job = Job {
        documents: vec![document],
        ..Job::default()
    };
    let found = merged(&job);
    let expected = [("f", 1_000, 2_000, Some(7)), ("open", 4_000, 0, None)];
    let expected = expected.map(|it| (1 << 31, it.0.to_owned(), it.1, it.2, it.3));
    assert_eq!(found.slices, expected);
    assert_eq!(found.arguments, 2);
}
