//! The kind, group and bytes that an archive states of collective operations.

use retime_model::LocationIndex;
use retime_model::format::{Format, OperationFacts};
use retime_otf2::writer::{ArchiveWriter, Collective, Payload, WriteOptions};
use retime_otf2::{
    CollectiveOp, CollectiveRoot, CommRef, EventData, GroupType, LocationGroupType, LocationType,
    Paradigm, RmaSyncLevel, RmaWinRef,
};
use retime_otf2_format::Otf2;

const WORLD: CommRef = CommRef(0);

/// The code of the definition of a window.
const RMA_WIN: u8 = 24;

fn collective(op: CollectiveOp, sent: u64, received: u64) -> Collective {
    Collective {
        op,
        comm: WORLD,
        root: CollectiveRoot::None,
        sent,
        received,
    }
}

fn facts(kind: &str, group: &str, bytes: u64) -> OperationFacts {
    OperationFacts {
        kind: Some(kind.into()),
        group: Some(group.into()),
        sequence: None,
        bytes: Some(bytes),
    }
}

/// A begin has what its end says: the next one, or that of the same request.
#[test]
fn begins_and_ends_have_kind_group_and_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.otf2");
    let mut archive = ArchiveWriter::create(&path, WriteOptions::default()).unwrap();
    let it = archive.definitions();
    let process = it.location_group("p", LocationGroupType::PROCESS, None);
    it.location(0, "main", LocationType::CPU_THREAD, process);
    it.group("", GroupType::COMM_LOCATIONS, Paradigm::MPI, &[0]);
    let group = it.group("", GroupType::COMM_GROUP, Paradigm::MPI, &[0]);
    let world = it.comm("world", group, None);
    let unnamed = it.string("");
    // RmaWin: self, name, comm, flags.
    let mut window = Payload::new();
    window.c32(0).c32(unnamed.0).c32(world.0).c32(0);
    it.raw(RMA_WIN, &window);
    let mut thread = archive.location(0).unwrap();
    let request = |request| EventData::NonBlockingCollectiveRequest { request };
    thread.event(1, &request(8)).unwrap();
    thread.event(2, &request(9)).unwrap();
    thread.event(3, &EventData::MpiCollectiveBegin).unwrap();
    let blocking = collective(CollectiveOp::REDUCE, 5, 3);
    thread.collective_end(4, blocking).unwrap();
    let second = collective(CollectiveOp::BARRIER, 0, 0);
    thread
        .non_blocking_collective_complete(5, second, 9)
        .unwrap();
    let first = collective(CollectiveOp::BCAST, 0, 7);
    thread
        .non_blocking_collective_complete(6, first, 8)
        .unwrap();
    thread.event(7, &EventData::RmaCollectiveBegin).unwrap();
    let fence = EventData::RmaCollectiveEnd {
        collective_op: CollectiveOp::BARRIER,
        sync_level: RmaSyncLevel(3),
        win: RmaWinRef(0),
        root: CollectiveRoot::None,
        bytes_sent: 1,
        bytes_received: 2,
    };
    thread.event(8, &fence).unwrap();
    let written = thread.finish().unwrap();
    archive.finish(vec![written]).unwrap();
    let trace = Otf2.open(&path).unwrap();
    let operations = |events: &[u32]| trace.operations(LocationIndex(0), events);
    let (bcast, barrier) = (facts("bcast", "world", 7), facts("barrier", "world", 0));
    let (reduce, fence) = (facts("reduce", "world", 5), facts("barrier", "window 0", 2));
    let all = [
        &bcast, &barrier, &reduce, &reduce, &barrier, &bcast, &fence, &fence,
    ];
    assert_eq!(operations(&[0, 1, 2, 3, 4, 5, 6, 7]), all.map(Clone::clone));
    assert_eq!(operations(&[2, 3]), [reduce.clone(), reduce]);
    // Of begins alone nothing is stated, nor of events that are not there.
    assert_eq!(operations(&[0, 6]), []);
    assert_eq!(operations(&[90]), []);
}
