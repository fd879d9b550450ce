//! Processes, nodes, endpoints and communicators of small archives.
use std::path::Path;

use retime_model::format::{Format, FormatError, Trace};
use retime_model::{LocationIndex, Members, TraceInfo};
use retime_otf2::writer::{ArchiveWriter, DefinitionsWriter, Payload, WriteOptions};
use retime_otf2::{
    GroupType, LocationGroupRef, LocationGroupType, LocationType, Paradigm, SystemTreeDomain,
};
use retime_otf2_format::Otf2;

fn open(
    fill: impl FnOnce(&mut ArchiveWriter),
    options: WriteOptions,
) -> Result<Box<dyn Trace>, FormatError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.otf2");
    let mut archive = ArchiveWriter::create(&path, options).unwrap();
    fill(&mut archive);
    archive.finish([]).unwrap();
    Otf2.open(&path)
}

fn described(fill: impl FnOnce(&mut ArchiveWriter)) -> TraceInfo {
    let trace = open(fill, WriteOptions::default()).unwrap();
    trace.describe().unwrap().clone()
}

/// Two processes on two nodes; the first has a worker thread, and a stream of
/// an accelerator belongs to nobody who communicates.
fn threads(archive: &mut ArchiveWriter) {
    let it = archive.definitions();
    let machine = it.system_tree_node("lab", "machine", None);
    let by_class = it.system_tree_node("n1", "Node", Some(machine));
    let socket = it.system_tree_node("s0", "socket", Some(by_class));
    let by_domain = it.system_tree_node("n2", "blade", Some(machine));
    it.system_tree_domain(by_domain, SystemTreeDomain::SHARED_MEMORY);
    let first = it.location_group("rank 0", LocationGroupType::PROCESS, Some(socket));
    let second = it.location_group("rank 1", LocationGroupType::PROCESS, Some(by_domain));
    let device = it.location_group("gpu", LocationGroupType::ACCELERATOR, Some(machine));
    it.location(70, "worker", LocationType::CPU_THREAD, first);
    it.location(7, "main", LocationType::CPU_THREAD, first);
    it.location(8, "main", LocationType::CPU_THREAD, second);
    it.location(9, "stream", LocationType::ACCELERATOR_STREAM, device);
    it.group("", GroupType::COMM_LOCATIONS, Paradigm::MPI, &[7, 8]);
    let world = it.group("", GroupType::COMM_GROUP, Paradigm::MPI, &[1, 0]);
    let own = it.group("", GroupType::COMM_SELF, Paradigm::MPI, &[]);
    let left = it.group("", GroupType::COMM_GROUP, Paradigm::MPI, &[0]);
    let broken = it.group("", GroupType::COMM_GROUP, Paradigm::MPI, &[0, 9]);
    it.comm("broken", broken, None);
    it.comm("world", world, None);
    it.comm("self", own, None);
    it.inter_comm("inter", left, world, None);
}

#[test]
fn processes_nodes_and_endpoints_are_found() {
    let info = described(threads);
    let ids: Vec<u64> = info.locations.iter().map(|it| it.id).collect();
    assert_eq!(ids, [70, 7, 8, 9]);
    assert_eq!(info.nodes, ["n1", "n2"]);
    let nodes: Vec<_> = info.processes.iter().map(|it| it.node).collect();
    assert_eq!(nodes, [Some(0), Some(1), None]);
    let endpoints: Vec<u32> = info.locations.iter().map(|it| it.endpoint.0).collect();
    assert_eq!(endpoints, [1, 1, 2, 3]);
}

#[test]
fn creators_are_found_wherever_they_are_defined() {
    let info = described(|archive| {
        let it = archive.definitions();
        let none = LocationGroupRef::UNDEFINED;
        // Of its own making; of a later one; of one that does not exist.
        for (name, creator) in [
            ("own", LocationGroupRef(0)),
            ("early device", LocationGroupRef(3)),
            ("stray device", LocationGroupRef(77)),
            ("host", none),
            ("late device", LocationGroupRef(3)),
        ] {
            it.created_location_group(name, LocationGroupType::ACCELERATOR, None, creator);
        }
    });
    let creators: Vec<_> = info.processes.iter().map(|it| it.creator).collect();
    assert_eq!(creators, [None, Some(3), None, None, Some(3)]);
}

#[test]
fn communicators_are_resolved() {
    let info = described(threads);
    let names: Vec<&str> = info
        .communicators
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    // The one with a member that does not exist is of no use.
    assert_eq!(names, ["world", "self", "inter"]);
    let own = LocationIndex(2);
    let [world, alone, inter] = &info.communicators[..] else {
        panic!("three communicators");
    };
    assert_eq!(world.resolve(own, 0), Some(LocationIndex(2)));
    assert_eq!(world.resolve(own, 1), Some(LocationIndex(1)));
    assert_eq!(alone.resolve(own, 0), Some(own));
    assert!(matches!(&inter.members, Members::Inter { a, b } if a.len() == 1 && b.len() == 2));
    assert_eq!(inter.resolve(own, 0), Some(LocationIndex(1)));
}

/// Who has no name goes by the id that other tools print, whichever definitions are of no use.
#[test]
fn communicators_without_names_go_by_their_ids() {
    let info = described(|archive| {
        threads(archive);
        let it = archive.definitions();
        let world = it.group("", GroupType::COMM_GROUP, Paradigm::MPI, &[1, 0]);
        it.comm("", world, None);
    });
    let names = info.communicators.iter().map(|it| it.name.as_str());
    let names: Vec<&str> = names.collect();
    assert_eq!(names, ["world", "self", "communicator 4", "inter"]);
}

/// Two processes with two threads each; `ranks` defines who communicates.
fn two_by_two(ranks: impl FnOnce(&mut DefinitionsWriter)) -> Vec<u32> {
    let info = described(|archive| {
        let it = archive.definitions();
        for rank in 0..2 {
            let process = it.location_group("rank", LocationGroupType::PROCESS, None);
            it.location(2 * rank, "main", LocationType::CPU_THREAD, process);
            it.location(2 * rank + 1, "worker", LocationType::CPU_THREAD, process);
        }
        ranks(it);
    });
    info.locations.iter().map(|it| it.endpoint.0).collect()
}

/// Lists that are numbered for something else than messages, as Score-P writes them.
fn other_lists(it: &mut DefinitionsWriter) {
    for paradigm in [
        Paradigm::MEASUREMENT_SYSTEM,
        Paradigm::OPENMP,
        Paradigm::PTHREAD,
        Paradigm::CUDA,
    ] {
        it.group("", GroupType::COMM_LOCATIONS, paradigm, &[0, 1, 2, 3]);
    }
}

#[test]
fn who_is_numbered_as_a_thread_or_stream_is_no_rank_of_its_own() {
    let endpoints = two_by_two(|it| {
        other_lists(it);
        it.group("", GroupType::COMM_LOCATIONS, Paradigm::MPI, &[0, 2]);
        it.group("", GroupType::COMM_LOCATIONS, Paradigm::SHMEM, &[1, 3]);
    });
    assert_eq!(endpoints, [0, 0, 2, 2]);
    // Nobody is known to be a rank: each speaks for itself.
    assert_eq!(two_by_two(other_lists), [0, 1, 2, 3]);
}

#[test]
fn writers_that_name_no_paradigm_are_understood() {
    let endpoints = two_by_two(|it| {
        other_lists(it);
        it.group("", GroupType::COMM_LOCATIONS, Paradigm::NONE, &[1, 3]);
    });
    assert_eq!(endpoints, [1, 1, 3, 3]);
}

#[test]
fn all_locations_of_a_process_that_is_a_rank_have_one_endpoint() {
    let endpoints = two_by_two(|it| {
        other_lists(it);
        it.group("", GroupType::COMM_LOCATION_GROUPS, Paradigm::MPI, &[1, 0]);
    });
    assert_eq!(endpoints, [0, 0, 2, 2]);
}

#[test]
fn a_location_of_no_process_is_one_of_its_own() {
    let lonely = |archive: &mut ArchiveWriter| {
        let it = archive.definitions();
        // Location: id, name, type, number of events, no location group.
        let mut payload = Payload::new();
        payload.c64(3).c32(0).u8(1).c64(0).c32(u32::MAX);
        it.raw(14, &payload);
    };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.otf2");
    let mut archive = ArchiveWriter::create(&path, WriteOptions::default()).unwrap();
    lonely(&mut archive);
    archive.finish([]).unwrap();
    write_empty_events(&dir.path().join("t/3.evt"));
    let trace = Otf2.open(&path).unwrap();
    let info = trace.describe().unwrap();
    assert_eq!(info.locations[0].process, 0);
    assert_eq!(info.processes.len(), 1);
}

fn write_empty_events(path: &Path) {
    let mut bytes = vec![0x03, 0x42, 1, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend([0; 8]);
    bytes.extend([2, 1]);
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_trace_without_tick_rate_is_refused() {
    let options = WriteOptions {
        resolution: 0,
        ..WriteOptions::default()
    };
    let error = open(threads, options).map(drop).unwrap_err().to_string();
    assert!(error.contains("t.def: no tick rate"), "{error}");
}
