//! Threads that communicate for one rank, whoever else numbers them.

use retime::causality::{Causality, CausalityOptions, EventNode};
use retime_model::format::Format;
use retime_otf2::writer::{
    ArchiveWriter, Collective, DefinitionsWriter, LocationWriter, Message, WriteOptions,
};
use retime_otf2::{
    CollectiveOp, CollectiveRoot, CommRef, EventData, GroupRef, GroupType, LocationGroupType,
    LocationType, Paradigm, RegionRef, RegionRole,
};
use retime_otf2_format::Otf2;

/// What two processes of two threads each recorded; locations 0 and 1 are the first.
fn recorded(
    ranks: impl FnOnce(&mut DefinitionsWriter) -> GroupRef,
    fill: impl Fn(u64, &mut LocationWriter, CommRef),
) -> Causality {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.otf2");
    let mut archive = ArchiveWriter::create(&path, WriteOptions::default()).unwrap();
    let it = archive.definitions();
    for rank in 0..2 {
        let process = it.location_group("rank", LocationGroupType::PROCESS, None);
        it.location(2 * rank, "main", LocationType::CPU_THREAD, process);
        it.location(2 * rank + 1, "worker", LocationType::CPU_THREAD, process);
    }
    let group = ranks(it);
    let comm = it.comm("world", group, None);
    let mut written = Vec::new();
    for id in 0..4 {
        let mut location = archive.location(id).unwrap();
        fill(id, &mut location, comm);
        written.push(location.finish().unwrap());
    }
    archive.finish(written).unwrap();
    let scan = Otf2.open(&path).unwrap().scan(&()).unwrap();
    Causality::build(&scan.info, scan.logs, CausalityOptions::default()).unwrap()
}

/// As Score-P writes them for MPI and OpenMP: the ranks, and all threads.
fn hybrid(it: &mut DefinitionsWriter) -> GroupRef {
    it.group("", GroupType::COMM_LOCATIONS, Paradigm::MPI, &[0, 2]);
    let threads = [0, 1, 2, 3];
    it.group("", GroupType::COMM_LOCATIONS, Paradigm::OPENMP, &threads);
    it.group("", GroupType::COMM_GROUP, Paradigm::OPENMP, &threads);
    it.group("", GroupType::COMM_GROUP, Paradigm::MPI, &[0, 1])
}

/// A rank is a process.
fn processes(it: &mut DefinitionsWriter) -> GroupRef {
    it.group("", GroupType::COMM_LOCATION_GROUPS, Paradigm::MPI, &[0, 1]);
    it.group("", GroupType::COMM_GROUP, Paradigm::MPI, &[0, 1])
}

/// A rank is a process, and the communicator means the list of all.
fn processes_themselves(it: &mut DefinitionsWriter) -> GroupRef {
    it.group("", GroupType::COMM_LOCATION_GROUPS, Paradigm::MPI, &[0, 1])
}

/// Both threads of process 0 send to process 1, the worker first; there the main
/// thread receives first.
fn messages(id: u64, it: &mut LocationWriter, comm: CommRef) {
    let message = |peer| Message {
        peer,
        comm,
        tag: 3,
        length: 8,
    };
    match id {
        0 => it.send(20, message(1)).unwrap(),
        1 => it.send(10, message(1)).unwrap(),
        2 => it.recv(15, message(0)).unwrap(),
        _ => it.recv(25, message(0)).unwrap(),
    }
}

#[test]
fn messages_of_all_threads_are_those_of_their_rank() {
    for ranks in [hybrid, processes, processes_themselves] {
        let causality = recorded(ranks, messages);
        assert!(causality.defects().is_empty(), "{:?}", causality.defects());
        // Nodes are numbered by location.
        let source = |receive| causality.message_source(EventNode(receive));
        assert_eq!(source(2), Some(EventNode(1)));
        assert_eq!(source(3), Some(EventNode(0)));
    }
}

#[test]
fn a_collective_is_called_by_any_thread_of_its_rank() {
    for ranks in [hybrid, processes, processes_themselves] {
        let causality = recorded(ranks, |id, it, comm| {
            // The worker of process 0, the main thread of process 1.
            if [1, 2].contains(&id) {
                it.event(10, &EventData::MpiCollectiveBegin).unwrap();
                let barrier = Collective {
                    op: CollectiveOp::BARRIER,
                    comm,
                    root: CollectiveRoot::None,
                    sent: 0,
                    received: 0,
                };
                it.collective_end(20, barrier).unwrap();
            }
        });
        assert!(causality.defects().is_empty(), "{:?}", causality.defects());
        let collectives = causality.collectives();
        let sizes: Vec<usize> = collectives
            .instances()
            .map(|it| collectives.participants(it).len())
            .collect();
        assert_eq!(sizes, [2]);
    }
}

/// The regions of calls.
const MPROBE: RegionRef = RegionRef(0);
const IRECV: RegionRef = RegionRef(1);

fn with_calls(it: &mut DefinitionsWriter) -> GroupRef {
    for name in ["MPI_Mprobe", "MPI_Irecv"] {
        it.region(name, RegionRole::POINT2POINT, Paradigm::MPI);
    }
    hybrid(it)
}

#[test]
fn a_probe_has_its_message_before_it_is_recorded() {
    let causality = recorded(with_calls, |id, it, comm| {
        let (tag, length) = (3, 8);
        let message = |peer| Message {
            peer,
            comm,
            tag,
            length,
        };
        let probe = EventData::MpiProbe {
            sender: 0,
            communicator: comm,
            tag,
            message: 1,
        };
        let received = EventData::MpiMrecv { message: 1, length };
        match id {
            0 => {
                it.send(10, message(1)).unwrap();
                it.send(40, message(1)).unwrap();
            }
            // The receive is posted between the probe and its record.
            2 => {
                it.enter(25, IRECV).unwrap();
                it.irecv_request(30, 7).unwrap();
                it.leave(32, IRECV).unwrap();
                it.irecv(50, message(0), 7).unwrap();
            }
            3 => {
                it.enter(15, MPROBE).unwrap();
                it.event(35, &probe).unwrap();
                it.leave(36, MPROBE).unwrap();
                it.event(38, &received).unwrap();
            }
            _ => {}
        }
    });
    let nodes = causality.nodes();
    let time = |node| nodes.timestamp(node).0;
    let sources = nodes.all();
    let sources = sources.filter_map(|to| Some((causality.message_source(to)?, to)));
    let pairs: Vec<_> = sources.map(|(from, to)| (time(from), time(to))).collect();
    assert_eq!(pairs, [(40, 50), (10, 38)]);
}
