//! Events that tell of communication and are not taken up are counted by kind.

use retime_model::format::{Format, Reach, Unused};
use retime_otf2::writer::{ArchiveWriter, LocationWriter, WriteOptions};
use retime_otf2::{
    CommRef, EventData, LocationGroupType, LocationType, Paradigm, RegionRef, RegionRole, RmaWinRef,
};
use retime_otf2_format::Otf2;

const PUT: EventData = EventData::RmaPut {
    win: RmaWinRef(0),
    remote: 0,
    bytes: 8,
    matching_id: 1,
};

/// What is counted of a thread (location 0) and a stream (location 1) that both
/// record the same.
fn counted(fill: impl Fn(&mut LocationWriter)) -> Vec<Unused> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.otf2");
    let mut archive = ArchiveWriter::create(&path, WriteOptions::default()).unwrap();
    let it = archive.definitions();
    let process = it.location_group("p", LocationGroupType::PROCESS, None);
    it.location(0, "main", LocationType::CPU_THREAD, process);
    it.location(1, "stream", LocationType::ACCELERATOR_STREAM, process);
    let mut written = Vec::new();
    for id in 0..2 {
        let mut location = archive.location(id).unwrap();
        fill(&mut location);
        written.push(location.finish().unwrap());
    }
    archive.finish(written).unwrap();
    let trace = Otf2.open(&path).unwrap();
    let scan = trace.scan(&()).unwrap();
    trace.unused(&scan.contents)
}

fn unused(kind: &'static str, reach: Reach, is_ordered: bool, records: [u64; 2]) -> Unused {
    Unused {
        kind,
        reach,
        is_ordered,
        records: records.into(),
    }
}

#[test]
fn streams_do_what_their_host_has_launched() {
    let found = counted(|it| {
        it.enter(1, RegionRef(0)).unwrap();
        it.leave(2, RegionRef(0)).unwrap();
        it.event(3, &PUT).unwrap();
    });
    let expected = [
        unused("one-sided operation", Reach::Trace, false, [1, 0]),
        unused("accelerator activity", Reach::Process, true, [0, 2]),
    ];
    assert_eq!(found, expected);
}

#[test]
fn an_operation_counts_once_on_each_side() {
    let found = counted(|it| {
        it.event(1, &PUT).unwrap();
        let complete = EventData::RmaOpCompleteBlocking {
            win: RmaWinRef(0),
            matching_id: 1,
        };
        it.event(2, &complete).unwrap();
        it.event(3, &EventData::RmaCollectiveBegin).unwrap();
        it.event(4, &EventData::RmaWaitChange { win: RmaWinRef(0) })
            .unwrap();
        let communicator = CommRef(0);
        it.event(5, &EventData::CommCreate { communicator })
            .unwrap();
    });
    let host = |it: &Unused| (it.kind, it.records[0]);
    let found: Vec<(&str, u64)> = found.iter().map(host).collect();
    let expected = [
        ("one-sided operation", 1),
        ("one-sided synchronisation", 1),
        ("accelerator activity", 0),
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_tells_of_nothing_but_the_location_itself_does_not_count() {
    let regions = |it: &mut LocationWriter| {
        it.leave(2, RegionRef(0)).unwrap();
        it.event(3, &EventData::MpiRequestTest { request: 1 })
            .unwrap();
    };
    assert_eq!(counted(regions), []);
}

/// The kinds and numbers of unused records of one location, which `fill` writes; regions have these
/// names.
fn counted_in(names: &[&str], fill: impl Fn(&mut LocationWriter)) -> Vec<(&'static str, u64)> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.otf2");
    let mut archive = ArchiveWriter::create(&path, WriteOptions::default()).unwrap();
    let it = archive.definitions();
    let process = it.location_group("p", LocationGroupType::PROCESS, None);
    it.location(0, "main", LocationType::CPU_THREAD, process);
    for name in names {
        it.region(name, RegionRole::FUNCTION, Paradigm::MPI);
    }
    let mut location = archive.location(0).unwrap();
    fill(&mut location);
    let written = location.finish().unwrap();
    archive.finish(vec![written]).unwrap();
    let trace = Otf2.open(&path).unwrap();
    let scan = trace.scan(&()).unwrap();
    let found = trace.unused(&scan.contents);
    found.iter().map(|it| (it.kind, it.records[0])).collect()
}

fn call(it: &mut LocationWriter, time: u64, region: u32, within: Option<&EventData>) {
    it.enter(time, RegionRef(region)).unwrap();
    if let Some(event) = within {
        it.event(time + 1, event).unwrap();
    }
    it.leave(time + 2, RegionRef(region)).unwrap();
}

#[test]
fn exchanges_among_neighbours_count_though_they_leave_no_record() {
    let names = [
        "MPI_Neighbor_alltoall",
        "MPI_Ineighbor_allgather",
        "MPI_Graph_neighbors",
        "MPI_Neighbor_alltoall_init",
    ];
    let found = counted_in(&names, |it| {
        for (time, region) in (0..).step_by(10).zip([0, 0, 1, 2, 3]) {
            call(it, time, region, None);
        }
        // Recorded by somebody who knows more.
        call(it, 50, 0, Some(&EventData::MpiCollectiveBegin));
        // Never left.
        it.enter(60, RegionRef(0)).unwrap();
    });
    assert_eq!(found, [("neighbourhood collective", 3)]);
}

#[test]
fn what_is_prepared_without_a_record_counts_when_it_is_started() {
    let posted = EventData::MpiIrecvRequest { request: 1 };
    let fill = |it: &mut LocationWriter| {
        call(it, 0, 0, None);
        call(it, 10, 1, None);
        call(it, 20, 1, None);
        call(it, 30, 1, Some(&posted));
    };
    let prepared = ["MPI_Allreduce_init", "MPI_Psend_init"];
    for it in prepared {
        assert_eq!(
            counted_in(&[it, "MPI_Start"], fill),
            [("unrecorded start", 2)],
            "{it}"
        );
    }
    // A message to nobody has no record either.
    let messages = ["MPI_Send_init", "MPI_Session_init"];
    for it in messages {
        assert_eq!(counted_in(&[it, "MPI_Start"], fill), [], "{it}");
    }
}
