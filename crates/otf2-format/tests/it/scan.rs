//! What the events of real and small archives say about causality.

use std::path::Path;

use retime::causality::{Causality, CausalityOptions, Defect, Role};
use retime_model::format::{Format, FormatError, Trace};
use retime_model::{LocationIndex, Monitor, TraceInfo};
use retime_otf2::writer::{ArchiveWriter, Collective, LocationWriter, Message, WriteOptions};
use retime_otf2::{
    CollectiveOp, CollectiveRoot, CommRef, EventData, GroupType, LocationGroupType, LocationType,
    Paradigm,
};
use retime_otf2_format::Otf2;

use crate::common::{small_archive, unpack, write};

fn open(path: &Path) -> Box<dyn Trace> {
    Otf2.open(path).unwrap()
}

fn causality(path: &Path) -> Causality {
    let scan = open(path).scan(&()).unwrap();
    Causality::build(&scan.info, scan.logs, CausalityOptions::default()).unwrap()
}

fn violated(causality: &Causality) -> usize {
    let nodes = causality.nodes();
    nodes
        .all()
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
    let causality = causality(&path);
    assert_eq!(causality.messages(), 48_000);
    assert_eq!(violated(&causality), 23_778);
    assert_eq!(causality.collectives().instances().len(), 3_001);
    assert!(causality.defects().is_empty());
}

#[test]
fn what_a_recording_lacks_is_found() {
    let Some((_dir, path)) = unpack("dr.mono") else {
        return;
    };
    let causality = causality(&path);
    assert_eq!(causality.defects().count(Defect::SendWithoutReceive), 1);
}

#[test]
fn eztrace_archives_are_understood() {
    let Some((_dir, path)) = unpack("ezr1") else {
        return;
    };
    let path = path.join("ring_trace/eztrace_log.otf2");
    let causality = causality(&path);
    let messages = causality.messages() as usize;
    assert!(messages > 0);
    assert!(2 * violated(&causality) > messages);
    assert!(open(&path).describe().unwrap().nodes.is_empty());
}

#[test]
fn mapped_communicators_and_offsets_are_applied() {
    let Some((_dir, path)) = unpack("ping-pong-otf2") else {
        return;
    };
    let causality = causality(&path);
    assert!(causality.messages() > 0);
    assert_eq!(causality.defects().count(Defect::UnknownPeer), 0);
    let nodes = causality.nodes();
    let receives = nodes
        .all()
        .filter(|&node| nodes.role(node) == Role::Receive);
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
    let trace = open(&path);
    let info = trace.describe().unwrap();
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
    let dir = tempfile::tempdir().unwrap();
    let anchor = write(dir.path(), &small_archive());
    let error = open(&anchor).scan(&Stopped).unwrap_err();
    assert!(matches!(error, FormatError::Cancelled(_)), "{error}");
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
    causality(&path)
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
    let defects = causality.defects();
    assert_eq!(defects.count(Defect::UnknownPeer), 8);
    assert_eq!(defects.iter().count(), 1, "{defects:?}");
}
