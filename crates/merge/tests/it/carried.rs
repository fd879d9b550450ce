//! Files of packets that use the same numbers for everything, merged and read by rules of their
//! own: each event is there with its time, its name, what nobody knows, and on the track of its
//! own process, and joined with those of its own file alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use retime_merge::{Arrow, ArrowEnd, Job, MergedKind, merge};
use retime_model::LocationIndex;
use retime_model::format::{Document, DocumentKind, DocumentTrack, DrawnArrow, DrawnEnd, Extent};
use retime_perfetto_wire::fields::{sys_stats, trace, trace_packet};
use retime_perfetto_wire::read::{Fields, Value};
use retime_perfetto_wire::write::{bytes, fixed64, uint};
use serde_json::Value as Json;

/// An event of a file: its track, when it is after the one before, the number of its name, and
/// an arrow that it is an end of.
#[derive(Clone, Debug)]
struct Made {
    track: u64,
    step: u64,
    name: u64,
    flow: Option<(u64, bool)>,
    is_stage: bool,
}

/// Tracks: the main thread, a thread without a parent, one of its own, and a counter.
const TRACKS: [u64; 4] = [2, u64::MAX - 2, 4, 5];
const START: u64 = 5_000_000;

fn events() -> impl Strategy<Value = Vec<Made>> {
    let flow = prop::option::of((
        prop::sample::select(vec![1, 2, 1 << 40, u64::MAX]),
        any::<bool>(),
    ));
    let event = (
        prop::sample::select(TRACKS.to_vec()),
        0_u64..300,
        1_u64..4,
        flow,
        any::<bool>(),
    );
    let event = event.prop_map(|(track, step, name, flow, is_stage)| Made {
        track,
        step,
        name,
        flow,
        is_stage,
    });
    prop::collection::vec(event, 1..20)
}

fn nested(out: &mut Vec<u8>, field: u32, fill: impl FnOnce(&mut Vec<u8>)) {
    let mut own = Vec::new();
    fill(&mut own);
    bytes(out, field, &own);
}

/// The packets of a file, whose stamps are steps of a clock of its sequence.
fn packets(file: usize, events: &[Made]) -> Vec<u8> {
    let mut out = Vec::new();
    let track = |out: &mut Vec<u8>, uuid: u64, fill: &dyn Fn(&mut Vec<u8>)| {
        nested(out, 1, |packet| {
            nested(packet, 60, |track| {
                uint(track, 1, uuid);
                fill(track);
            });
            uint(packet, 10, 1);
        });
    };
    track(&mut out, 1, &|it| {
        nested(it, 3, |process| {
            uint(process, 1, 10);
            bytes(process, 6, format!("python{file}").as_bytes());
        });
    });
    track(&mut out, TRACKS[0], &|it| {
        uint(it, 5, 1);
        nested(it, 4, |thread| {
            uint(thread, 1, 10);
            uint(thread, 2, 10);
        });
    });
    track(&mut out, TRACKS[1], &|it| {
        nested(it, 4, |thread| {
            uint(thread, 1, 10);
            uint(thread, 2, 11);
        });
    });
    track(&mut out, TRACKS[2], &|it| bytes(it, 2, b"phases"));
    track(&mut out, TRACKS[3], &|it| {
        uint(it, 5, 1);
        bytes(it, 8, b"");
    });
    nested(&mut out, 1, |packet| {
        nested(packet, 6, |snapshot| {
            for (clock, shows) in [(6, START), (64, 0)] {
                nested(snapshot, 1, |reading| {
                    uint(reading, 1, clock);
                    uint(reading, 2, shows);
                    if clock == 64 {
                        uint(reading, 3, 1);
                    }
                });
            }
        });
        uint(packet, 10, 7);
        uint(packet, 13, 1);
        nested(packet, 59, |it| uint(it, 58, 64));
        nested(packet, 12, |interned| {
            for iid in 1..4 {
                nested(interned, 2, |entry| {
                    uint(entry, 1, iid);
                    bytes(entry, 2, format!("file {file} name {iid}").as_bytes());
                });
            }
            nested(interned, 24, |entry| {
                uint(entry, 1, 1);
                bytes(entry, 2, b"queue");
            });
            nested(interned, 23, |entry| {
                uint(entry, 1, 3);
                uint(entry, 2, 10);
            });
        });
    });
    for (number, made) in (0..).zip(events) {
        nested(&mut out, 1, |packet| {
            uint(packet, 8, made.step);
            uint(packet, 10, 7);
            uint(packet, 13, 2);
            bytes(packet, 777, format!("of {file}, {number}").as_bytes());
            if made.is_stage {
                return nested(packet, 53, |stage| {
                    uint(stage, 1, number + 1);
                    uint(stage, 13, 1);
                    uint(stage, 20, made.name);
                    uint(stage, 5, 3);
                });
            }
            nested(packet, 11, |event| {
                uint(event, 9, 3);
                uint(event, 10, made.name);
                uint(event, 11, made.track);
                if let Some((id, is_last)) = made.flow {
                    fixed64(event, if is_last { 48 } else { 47 }, id);
                }
            });
        });
    }
    out
}

fn document(directory: &Path, file: usize, events: &[Made]) -> Document {
    let path = directory.join(format!("part{file}.pftrace"));
    fs::write(&path, packets(file, events)).unwrap();
    let tracks = (0..).zip(TRACKS).map(|(process, uuid)| DocumentTrack {
        uuid: Some(uuid),
        process,
        ..DocumentTrack::default()
    });
    Document {
        kind: DocumentKind::Packets,
        path,
        base: 1000 * file as i64,
        extent: Some(Extent {
            first: START as i64,
            last: START as i64 + 10_000,
        }),
        rank: (file > 0).then_some(file as u32),
        tracks: tracks.collect(),
        first: LocationIndex(4 * file as u32),
        ..Document::default()
    }
}

/// The fields of a message, by number.
fn fields(message: &[u8]) -> Vec<(u32, Value<'_>)> {
    let fields = Fields::of(message).map(Result::unwrap);
    fields.map(|it| (it.number, it.value)).collect()
}

fn number(fields: &[(u32, Value<'_>)], wanted: u32) -> Option<u64> {
    fields.iter().find(|it| it.0 == wanted)?.1.number()
}

fn message<'a>(fields: &[(u32, Value<'a>)], wanted: u32) -> Option<&'a [u8]> {
    fields.iter().find(|it| it.0 == wanted)?.1.bytes()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[derive(Debug, Default)]
struct Read {
    /// Unknown fields of each event, its time, its name, and whose it is.
    events: Vec<(String, u64, String, String)>,
    /// Unknown fields of events with each arrow.
    flows: BTreeMap<u64, BTreeSet<String>>,
    /// The times of added instants, with the kinds of fields that have their arrows.
    added: Vec<(u64, Vec<u32>)>,
    machines: Vec<u64>,
    stages: BTreeSet<u64>,
}

/// Reads packets: descriptors come first, as these files have them.
fn read(file: &[u8]) -> Read {
    let mut found = Read::default();
    let mut names: BTreeMap<(u64, u32, u64), String> = BTreeMap::new();
    let mut processes: BTreeMap<u64, String> = BTreeMap::new();
    let mut tracks: BTreeMap<u64, (Option<u64>, String)> = BTreeMap::new();
    let mut contexts: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    for (_, packet) in fields(file) {
        let packet = fields(packet.bytes().unwrap());
        let sequence = number(&packet, 10).unwrap();
        if message(&packet, 6).is_some() {
            found.machines.push(number(&packet, 98).unwrap());
            assert_eq!(number(&packet, 13), None);
            continue;
        }
        assert_eq!([number(&packet, 98), number(&packet, 58)], [None; 2]);
        let defaults = message(&packet, 59).map(fields).unwrap_or_default();
        assert_eq!(number(&defaults, 58), None);
        for (table, entry) in message(&packet, 12).map(fields).unwrap_or_default() {
            let entry = fields(entry.bytes().unwrap());
            let iid = number(&entry, 1).unwrap();
            if table == 23 {
                contexts.insert((sequence, iid), number(&entry, 2).unwrap());
            } else {
                let name = text(message(&entry, 2).unwrap());
                assert_eq!(names.insert((sequence, table, iid), name), None);
            }
        }
        if let Some(track) = message(&packet, 60).map(fields) {
            let uuid = number(&track, 1).unwrap();
            if let Some(process) = message(&track, 3).map(fields) {
                let name = text(message(&process, 6).unwrap());
                processes.insert(number(&process, 1).unwrap(), name);
            }
            let thread = message(&track, 4).map(fields);
            let pid = thread.as_ref().map(|it| number(it, 1).unwrap());
            if let Some(thread) = &thread
                && number(&track, 5).is_some()
            {
                // The main thread stays it.
                assert_eq!(number(thread, 1), number(thread, 2));
            }
            let name = message(&track, 2).map(text).unwrap_or_default();
            let parent = number(&track, 5).and_then(|it| tracks.get(&it).cloned());
            let process = message(&track, 3).map(fields);
            let process = process.map(|it| number(&it, 1).unwrap());
            let of = pid.or(process).or(parent.and_then(|it| it.0));
            assert_eq!(tracks.insert(uuid, (of, name)), None);
        }
        let unknown = message(&packet, 777).map(text).unwrap_or_default();
        if let Some(stage) = message(&packet, 53).map(fields) {
            let queue = number(&stage, 13).unwrap();
            let queue = names[&(sequence, 24, queue)].clone();
            let context = contexts[&(sequence, number(&stage, 5).unwrap())];
            let name = names[&(sequence, 2, number(&stage, 20).unwrap())].clone();
            let whose = format!("{queue} of {}", processes[&context]);
            assert!(found.stages.insert(number(&stage, 1).unwrap()));
            found
                .events
                .push((unknown, number(&packet, 8).unwrap(), name, whose));
            continue;
        }
        let Some(event) = message(&packet, 11).map(fields) else {
            continue;
        };
        let at = number(&packet, 8).unwrap();
        let flows = event.iter().filter(|it| [47, 48].contains(&it.0));
        if unknown.is_empty() {
            found.added.push((at, flows.map(|it| it.0).collect()));
            continue;
        }
        for (_, flow) in flows {
            let own = found.flows.entry(flow.number().unwrap()).or_default();
            own.insert(unknown.clone());
        }
        let name = names[&(sequence, 2, number(&event, 10).unwrap())].clone();
        let (pid, own) = &tracks[&number(&event, 11).unwrap()];
        let whose = match pid {
            Some(pid) => processes[pid].clone(),
            None => own.clone(),
        };
        found.events.push((unknown, at, name, whose));
    }
    found
}

fn job(directory: &Path, files: &[Vec<Made>]) -> Job {
    let documents = files.iter().enumerate();
    Job {
        origin: START as i64,
        documents: documents
            .map(|(file, it)| document(directory, file, it))
            .collect(),
        ..Job::default()
    }
}

fn merged(job: &Job) -> Read {
    let mut out = Vec::new();
    let told = merge(job, MergedKind::Perfetto, None, &mut out, &()).unwrap();
    let found = read(&out);
    assert_eq!(told.events as usize, found.events.len());
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// As JSON all events of all files are there, with their names, times and processes; those
    /// with arrows are slices.
    #[test]
    fn packets_are_events_of_json(files in prop::collection::vec(events(), 1..4)) {
        let directory = tempfile::tempdir().unwrap();
        let job = job(directory.path(), &files);
        let mut out = Vec::new();
        let told = merge(&job, MergedKind::Chrome, None, &mut out, &()).unwrap();
        // A field that nobody knows in each packet of an event, and a snapshot in each file.
        let all = files.iter().map(Vec::len).sum::<usize>() as u64;
        prop_assert_eq!(told.untold.get("other packet"), Some(&all));
        prop_assert_eq!(told.untold.get("clock reading"), Some(&(files.len() as u64)));
        let document: Json = serde_json::from_slice(&out).unwrap();
        let written = document["traceEvents"].as_array().unwrap();
        let text = |it: &Json| it.as_str().unwrap_or_default().to_owned();
        let processes: BTreeMap<u64, String> = written
            .iter()
            .filter(|it| it["name"] == "process_name")
            .map(|it| (it["pid"].as_u64().unwrap(), text(&it["args"]["name"])))
            .collect();
        let found = written.iter().filter(|it| matches!(text(&it["ph"]).as_str(), "X" | "i"));
        let mut found: Vec<_> = found
            .map(|it| {
                let process = processes[&it["pid"].as_u64().unwrap()].clone();
                let at = (it["ts"].as_f64().unwrap() * 1000.0).round() as u64;
                (at, text(&it["name"]), text(&it["ph"]), process)
            })
            .collect();
        let mut expected = Vec::new();
        for (file, events) in files.iter().enumerate() {
            let owner = if file > 0 { format!("rank {file}") } else { "part0".to_owned() };
            let mut at = 1000 * file as u64;
            for made in events {
                at += made.step;
                let has_length = made.is_stage || made.flow.is_some();
                let process = match made.track {
                    4 if !made.is_stage => format!("{owner}: phases"),
                    _ => format!("{owner}: python{file} 10"),
                };
                let name = format!("file {file} name {}", made.name);
                expected.push((at, name, if has_length { "X" } else { "i" }.to_owned(), process));
            }
        }
        found.sort();
        expected.sort();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn nothing_is_lost_or_taken_for_that_of_another(files in prop::collection::vec(events(), 1..4)) {
        let directory = tempfile::tempdir().unwrap();
        let found = merged(&job(directory.path(), &files));
        let (mut expected, mut flows) = (Vec::new(), BTreeMap::new());
        for (file, events) in files.iter().enumerate() {
            let owner = if file > 0 { format!("rank {file}") } else { "part0".to_owned() };
            let mut at = 1000 * file as u64;
            for (number, made) in events.iter().enumerate() {
                at += made.step;
                let unknown = format!("of {file}, {number}");
                let process = format!("{owner}: python{file} 10");
                let whose = match made.track {
                    _ if made.is_stage => format!("{owner}: queue of {process}"),
                    4 => format!("{owner}: phases"),
                    _ => process,
                };
                let name = format!("file {file} name {}", made.name);
                expected.push((unknown.clone(), at, name, whose));
                if let Some((id, _)) = made.flow.filter(|_| !made.is_stage) {
                    let own: &mut BTreeSet<String> = flows.entry((file, id)).or_default();
                    own.insert(unknown);
                }
            }
        }
        prop_assert_eq!(found.events, expected);
        let sets = |all: Vec<BTreeSet<String>>| all.into_iter().collect::<BTreeSet<_>>();
        prop_assert_eq!(found.flows.len(), flows.len());
        prop_assert_eq!(sets(found.flows.into_values().collect()), sets(flows.into_values().collect()));
        let machines: BTreeSet<u64> = found.machines.iter().copied().collect();
        prop_assert_eq!(machines.len(), files.len());
        prop_assert!(!machines.contains(&0));
    }
}

/// Arrows that a file draws are kept; those to another file are added, and end.
#[test]
fn arrows_are_drawn_once() {
    let directory = tempfile::tempdir().unwrap();
    let made = |track, flow| Made {
        track,
        step: 100,
        name: 1,
        flow,
        is_stage: false,
    };
    let file = vec![made(2, Some((9, false))), made(5, Some((9, true)))];
    let mut job = job(directory.path(), &[file.clone(), file]);
    let end = |document: u32, track, at| ArrowEnd {
        document,
        track,
        at: START as i64 + at,
    };
    let own = Arrow {
        from: end(0, 0, 100),
        to: end(0, 3, 200),
    };
    let forward = Arrow {
        from: end(0, 0, 100),
        to: end(1, 3, 1200),
    };
    let reversed = Arrow {
        from: forward.to,
        to: forward.from,
    };
    job.documents[0].drawn = vec![DrawnArrow {
        from: DrawnEnd {
            process: 0,
            at: own.from.at,
        },
        to: DrawnEnd {
            process: 3,
            at: own.to.at,
        },
    }];
    job.arrows = vec![own, forward];
    let found = merged(&job);
    assert_eq!(found.added, [(100, vec![47]), (1200, vec![48])]);
    assert_eq!(found.flows.len(), 2);
    job.arrows = vec![reversed];
    let found = merged(&job);
    // What ends before it begins is drawn by a second flow.
    assert_eq!(found.added, [(100, vec![48, 47]), (1200, vec![47, 47])]);
}

/// A file that is cut off or changed anywhere is refused by name, or its events are in a file that
/// can be read.
#[test]
fn damaged_files_are_refused_or_merged() {
    let directory = tempfile::tempdir().unwrap();
    let made = |track, is_stage| Made {
        track,
        step: 100,
        name: 1,
        flow: Some((9, track == 5)),
        is_stage,
    };
    let events = vec![made(2, false), made(5, false), made(4, true)];
    let job = job(directory.path(), &[events.clone(), events]);
    let path = &job.documents[1].path;
    let sound = fs::read(path).unwrap();
    let cut = (0..sound.len()).map(|at| sound[..at].to_vec());
    let changed = (0..sound.len()).flat_map(|at| {
        [0, 0x7f, 0xff].map(|byte| {
            let mut file = sound.clone();
            file[at] = byte;
            file
        })
    });
    let (mut refused, mut taken) = (0, 0);
    for file in cut.chain(changed) {
        fs::write(path, file).unwrap();
        let mut out = Vec::new();
        match merge(&job, MergedKind::Perfetto, None, &mut out, &()) {
            Ok(told) => {
                taken += 1;
                assert_eq!(told.bytes, out.len() as u64);
                // What stands between packets is nobody's, and stays.
                let packets = fields(&out).into_iter().filter(|it| it.0 == trace::PACKET);
                for packet in packets {
                    let packet = packet.1.bytes().unwrap_or_default();
                    assert!(Fields::of(packet).all(|it| it.is_ok()));
                }
            }
            Err(error) => {
                refused += 1;
                let text = error.to_string();
                assert!(text.contains("part1.pftrace: byte "), "{text}");
            }
        }
    }
    assert!(refused > 100 && taken > 100, "{refused} {taken}");
}

/// A time within a packet moves by as much as the timestamp of the packet.
#[test]
fn times_within_packets_are_those_of_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let job = job(directory.path(), &[vec![]]);
    let collected = |begin: u64, packet_time: u64| {
        let mut out = Vec::new();
        nested(&mut out, trace::PACKET, |it| {
            uint(it, trace_packet::TIMESTAMP, packet_time);
            nested(it, trace_packet::SYS_STATS, |it| {
                uint(it, sys_stats::COLLECTION_END_TIMESTAMP, begin);
            });
        });
        out
    };
    let path = &job.documents[0].path;
    fs::write(path, collected(START + 30, START + 10)).unwrap();
    let mut out = Vec::new();
    merge(&job, MergedKind::Perfetto, None, &mut out, &()).unwrap();
    let packets: Vec<_> = fields(&out);
    let stats = packets.iter().find_map(|it| {
        let packet = fields(it.1.bytes()?);
        let stats = message(&packet, trace_packet::SYS_STATS)?;
        let end = number(&fields(stats), sys_stats::COLLECTION_END_TIMESTAMP);
        Some((number(&packet, trace_packet::TIMESTAMP)?, end?))
    });
    assert_eq!(stats, Some((10, 30)));
    // Processors of one file have the numbers of those of another.
    let mut kernel = Vec::new();
    nested(&mut kernel, trace::PACKET, |it| {
        nested(it, trace_packet::FTRACE_EVENTS, |it| uint(it, 1, 0));
    });
    fs::write(path, kernel).unwrap();
    let refused = merge(&job, MergedKind::Perfetto, None, &mut out, &()).unwrap_err();
    let told = refused.to_string();
    assert!(told.contains("whose processors have numbers"), "{told}");
    assert!(
        told.contains("-o NAME.tar puts such files together"),
        "{told}"
    );
}
