//! Scanning and verifying real traces and small ones.
use retime::causality::{Causality, CausalityOptions, Defect, Role};
use retime::{LocationIndex, TraceInfo};
use retime_otf2::writer::{ArchiveWriter, Collective, LocationWriter, Message, WriteOptions};
use retime_otf2::{
    CollectiveOp, CollectiveRoot, CommRef, EventData, GroupType, LocationGroupType, LocationType,
    Paradigm,
};
use retime_otf2::{Error, EventReader, Monitor, Otf2Trace};

use crate::common::unpack;

fn causality(trace: &Otf2Trace) -> Causality {
    let logs = trace
        .locations()
        .map(|location| trace.scan(location, &()).unwrap().log)
        .collect();
    Causality::build(trace.info(), logs, CausalityOptions::default()).unwrap()
}

fn reversed(causality: &Causality) -> usize {
    let nodes = causality.nodes();
    (0..nodes.len() as u32)
        .filter(|&node| {
            causality
                .message_source(node)
                .is_some_and(|send| nodes.time(node) < nodes.time(send))
        })
        .count()
}

#[test]
fn a_halo_exchange_has_the_known_dependencies() {
    let Some((_dir, path)) = unpack("rtns.mono") else {
        return;
    };
    let trace = Otf2Trace::open(path).unwrap();
    let causality = causality(&trace);
    assert_eq!(causality.messages(), 48_000);
    assert_eq!(reversed(&causality), 23_778);
    assert_eq!(causality.collectives().instances().len(), 3_001);
    assert!(causality.defects().is_empty());
}

#[test]
fn what_a_recording_lacks_is_found() {
    let Some((_dir, path)) = unpack("dr.mono") else {
        return;
    };
    let causality = causality(&Otf2Trace::open(path).unwrap());
    assert_eq!(causality.defects().count(Defect::SendWithoutReceive), 1);
}

#[test]
fn eztrace_archives_are_understood() {
    let Some((_dir, path)) = unpack("ezr1") else {
        return;
    };
    let trace = Otf2Trace::open(path.join("ring_trace/eztrace_log.otf2")).unwrap();
    let causality = causality(&trace);
    let messages = causality.messages() as usize;
    assert!(messages > 0);
    assert!(2 * reversed(&causality) > messages);
    assert!(trace.info().nodes.is_empty());
}

/// The general reader is slow and simple; scan and verification must agree
/// with it on every event.
fn compare_with_the_general_reader(trace: &Otf2Trace, location: LocationIndex) {
    let local = trace.local(location).unwrap();
    let mut events = EventReader::mapped(trace.archive(), local).unwrap();
    let (mut times, mut codes) = (Vec::new(), [0_u64; 256]);
    while let Some(event) = events.next().unwrap() {
        times.push(event.time);
        codes[usize::from(event.code)] += 1;
    }
    let every: Vec<u32> = (0..times.len() as u32).collect();
    let timeline = trace.node_times(location, &every, &()).unwrap();
    let found: Vec<u64> = timeline.times.iter().map(|time| time.0).collect();
    assert_eq!(found, times);
    for (code, count) in (0..=255).zip(codes) {
        assert_eq!(timeline.counts.of(code), count, "code {code}");
    }
    let backwards = times.windows(2).filter(|pair| pair[0] > pair[1]).count();
    assert_eq!(timeline.backwards, backwards as u64);
    let range = timeline.range.map(|(first, last)| (first.0, last.0));
    let expected = times.iter().min().copied().zip(times.iter().max().copied());
    assert_eq!(range, expected);

    let scanned = trace.scan(location, &()).unwrap();
    assert_eq!(scanned.counts, timeline.counts);
    let roles = scanned.log.len();
    for node in 0..roles {
        assert!(scanned.log.event(node).unwrap() < times.len() as u64);
    }
}

#[test]
fn fast_walks_agree_with_the_general_reader() {
    let names = [
        "alltypes",
        "alltypes32",
        "variants",
        "t0b",
        "t0a",
        "ping-pong-otf2",
        "ping-pong-otf2-papi",
        "colls4.otf2d",
    ];
    for name in names {
        let Some((_dir, path)) = unpack(name) else {
            return;
        };
        let paths = match name {
            "variants" => vec![path.join("be"), path.join("all")],
            _ => vec![path],
        };
        for path in paths {
            let trace = Otf2Trace::open(path).unwrap();
            for location in trace.locations() {
                compare_with_the_general_reader(&trace, location);
            }
        }
    }
}

#[test]
fn mapped_communicators_and_offsets_are_applied() {
    let Some((_dir, path)) = unpack("ping-pong-otf2") else {
        return;
    };
    let trace = Otf2Trace::open(path).unwrap();
    let causality = causality(&trace);
    assert!(causality.messages() > 0);
    assert_eq!(causality.defects().count(Defect::UnknownPeer), 0);
    let nodes = causality.nodes();
    let receives = (0..nodes.len() as u32).filter(|&node| nodes.role(node) == Role::Receive);
    assert_eq!(receives.count() as u64, causality.messages());
}

fn describe(info: &TraceInfo) -> Vec<String> {
    (0..info.locations.len() as u32)
        .map(|index| info.describe(LocationIndex(index)))
        .collect()
}

#[test]
fn the_description_names_nodes_and_processes() {
    let Some((_dir, path)) = unpack("ping-pong-otf2") else {
        return;
    };
    let trace = Otf2Trace::open(path).unwrap();
    let info = trace.info();
    assert_eq!(info.rate.get(), 2_095_197_216);
    assert_eq!(info.locations.len(), 2);
    assert!(info.processes.iter().all(|process| process.node.is_some()));
    assert!(
        describe(info)[1].starts_with("MPI Rank 1 / Master thread"),
        "{:?}",
        describe(info)
    );
}

struct Stopped;
impl Monitor for Stopped {
    fn cancelled(&self) -> bool {
        true
    }
}

#[test]
fn a_scan_can_be_stopped() {
    let Some((_dir, path)) = unpack("halo4.otf2d") else {
        return;
    };
    let trace = Otf2Trace::open(&path).unwrap();
    let error = trace.scan(LocationIndex(0), &Stopped).unwrap_err();
    assert!(matches!(error, Error::Cancelled));
    std::fs::remove_file(path.join("traces/2.evt")).unwrap();
    let error = Otf2Trace::open(path).unwrap_err();
    assert!(matches!(error, Error::MissingFile { .. }), "{error}");
}

/// What the events of two locations say about causality.
fn recorded(fill: impl Fn(u64, &mut LocationWriter, CommRef)) -> Causality {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.otf2");
    let mut archive = ArchiveWriter::create(&path, WriteOptions::default()).unwrap();
    let it = archive.definitions();
    let machine = it.system_tree_node("lab", "machine", None);
    for id in 0..2 {
        let process = it.location_group("p", LocationGroupType::PROCESS, Some(machine));
        it.location(id, "t", LocationType::CPU_THREAD, process);
    }
    it.group("", GroupType::COMM_LOCATIONS, Paradigm::MPI, &[0, 1]);
    let world = it.group("", GroupType::COMM_GROUP, Paradigm::MPI, &[0, 1]);
    let comm = it.comm("world", world, None);
    let mut written = Vec::new();
    for id in 0..2 {
        let mut location = archive.location(id).unwrap();
        fill(id, &mut location, comm);
        written.push(location.finish().unwrap());
    }
    archive.finish(written).unwrap();
    causality(&Otf2Trace::open(path).unwrap())
}

#[test]
fn requests_and_probes_lead_to_messages() {
    let causality = recorded(|id, it, comm| {
        let message = |tag| Message {
            peer: 1 - id as u32,
            comm,
            tag,
            length: 8,
        };
        let probe = |tag, message| EventData::MpiProbe {
            sender: 0,
            communicator: comm,
            tag,
            message,
        };
        if id == 0 {
            it.isend(10, message(1), 5).unwrap();
            it.isend_complete(11, 5).unwrap();
            it.isend(12, message(1), 6).unwrap();
            it.event(13, &EventData::MpiRequestCancelled { request: 6 })
                .unwrap();
            it.send(14, message(2)).unwrap();
            it.send(15, message(3)).unwrap();
        } else {
            it.irecv_request(1, 7).unwrap();
            it.irecv_request(2, 8).unwrap();
            it.event(3, &EventData::MpiRequestCancelled { request: 8 })
                .unwrap();
            it.irecv(20, message(1), 7).unwrap();
            it.event(21, &probe(2, 100)).unwrap();
            it.event(22, &probe(3, 101)).unwrap();
            it.event(
                23,
                &EventData::MpiImrecvRequest {
                    message: 101,
                    request: 9,
                },
            )
            .unwrap();
            it.event(
                24,
                &EventData::MpiMrecv {
                    message: 100,
                    length: 8,
                },
            )
            .unwrap();
            it.event(
                25,
                &EventData::MpiImrecv {
                    request: 9,
                    length: 8,
                },
            )
            .unwrap();
        }
    });
    assert_eq!(causality.messages(), 3);
    assert!(causality.defects().is_empty(), "{:?}", causality.defects());
}

#[test]
fn collectives_block_or_not() {
    let causality = recorded(|id, it, comm| {
        let collective = |op, root| Collective {
            op,
            comm,
            root,
            sent: 4,
            received: 4,
        };
        it.event(id, &EventData::NonBlockingCollectiveRequest { request: 3 })
            .unwrap();
        it.event(10 + id, &EventData::MpiCollectiveBegin).unwrap();
        it.collective_end(
            20 + id,
            collective(CollectiveOp::BCAST, CollectiveRoot::Rank(1)),
        )
        .unwrap();
        let barrier = collective(CollectiveOp::BARRIER, CollectiveRoot::None);
        it.non_blocking_collective_complete(30 + id, barrier, 3)
            .unwrap();
    });
    assert_eq!(causality.collectives().instances().len(), 2);
    assert!(causality.defects().is_empty(), "{:?}", causality.defects());
}

#[test]
fn unknown_partners_are_left_out() {
    let causality = recorded(|_, it, comm| {
        let message = |peer, comm| Message {
            peer,
            comm,
            tag: 0,
            length: 8,
        };
        it.send(1, message(9, comm)).unwrap();
        it.recv(2, message(0, CommRef(77))).unwrap();
        it.irecv_request(3, 1).unwrap();
        it.irecv(4, message(9, comm), 1).unwrap();
        it.event(5, &EventData::MpiCollectiveBegin).unwrap();
        let collective = Collective {
            op: CollectiveOp::BARRIER,
            comm: CommRef(78),
            root: CollectiveRoot::None,
            sent: 0,
            received: 0,
        };
        it.collective_end(6, collective).unwrap();
    });
    let oddities = causality.defects();
    assert_eq!(oddities.count(Defect::UnknownPeer), 8);
    assert_eq!(oddities.iter().count(), 1, "{oddities:?}");
}
