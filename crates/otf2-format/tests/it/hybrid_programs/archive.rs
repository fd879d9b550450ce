//! Writes what the locations of a program recorded as an archive, by clocks of any kind.

use std::path::Path;

use retime_otf2::writer::{ArchiveWriter, DefinitionsWriter, Payload, WriteOptions};
use retime_otf2::{
    GroupType, LocationGroupRef, LocationGroupType, LocationType, Paradigm, ParameterType,
};

use super::machine::Run;
use super::regions;
use super::world::{Comm, Kind, World};

/// Codes of definitions.
const PARAMETER: u8 = 23;
const RMA_WIN: u8 = 24;

/// Writes a run, with the times that `clock` of a location shows.
pub(super) fn write(path: &Path, run: &Run, clock: impl Fn(usize, u64) -> u64) {
    let mut archive = ArchiveWriter::create(path, WriteOptions::default()).unwrap();
    define(archive.definitions(), &run.world);
    let mut written = Vec::new();
    for (location, events) in run.locations.iter().enumerate() {
        let mut writer = archive.location(location as u64).unwrap();
        for it in events {
            writer.event(clock(location, it.time), &it.data).unwrap();
        }
        written.push(writer.finish().unwrap());
    }
    archive.finish(written).unwrap();
}

fn define(it: &mut DefinitionsWriter, world: &World) {
    for members in &world.groups {
        let members: Vec<u64> = members.iter().map(|it| *it as u64).collect();
        it.group("", GroupType::COMM_GROUP, Paradigm::MPI, &members);
    }
    let processes = places(it, world);
    let firsts = world.processes.iter().map(|it| it.threads[0] as u64);
    let firsts: Vec<u64> = firsts.collect();
    if world.names_processes {
        let groups: Vec<u64> = processes.iter().map(|it| it.0.into()).collect();
        let kind = GroupType::COMM_LOCATION_GROUPS;
        it.group("", kind, Paradigm::MPI, &groups);
    } else {
        it.group("", GroupType::COMM_LOCATIONS, Paradigm::MPI, &firsts);
    }
    let all: Vec<u64> = (0..world.locations.len() as u64).collect();
    for paradigm in [Paradigm::OPENMP, Paradigm::PTHREAD, Paradigm::CUDA] {
        it.group("", GroupType::COMM_LOCATIONS, paradigm, &all);
    }
    for comm in &world.comms {
        communicator(it, comm);
    }
    windows(it, world);
    regions::define(it);
    let name = it.string("callsite id");
    let mut parameter = Payload::new();
    parameter.c32(0).c32(name.0).u8(ParameterType::UINT64.0);
    it.raw(PARAMETER, &parameter);
}

/// Nodes, processes and locations.
fn places(it: &mut DefinitionsWriter, world: &World) -> Vec<LocationGroupRef> {
    let machine = it.system_tree_node("lab", "machine", None);
    let node = |_| it.system_tree_node("n", "node", Some(machine));
    let nodes: Vec<_> = (0..world.nodes).map(node).collect();
    let groups = world.processes.iter();
    let groups = groups.map(|process| {
        it.location_group(
            "rank",
            LocationGroupType::PROCESS,
            Some(nodes[process.node]),
        )
    });
    let groups: Vec<_> = groups.collect();
    let mut contexts = Vec::new();
    for (process, &group) in world.processes.iter().zip(&groups) {
        let node = Some(nodes[process.node]);
        let context =
            |_| it.created_location_group("context", LocationGroupType::ACCELERATOR, node, group);
        contexts.push([0, 1].map(context));
    }
    for (id, location) in (0..).zip(&world.locations) {
        let own = groups[location.process];
        match location.kind {
            Kind::Thread => it.location(id, "thread", LocationType::CPU_THREAD, own),
            Kind::Stream { device } => {
                let context = contexts[location.process][device];
                let group = if world.has_contexts { context } else { own };
                it.location(id, "stream", LocationType::ACCELERATOR_STREAM, group);
            }
        }
    }
    groups
}

fn communicator(it: &mut DefinitionsWriter, comm: &Comm) {
    let mut group = |paradigm, members: &[usize]| {
        let members: Vec<u64> = members.iter().map(|it| *it as u64).collect();
        it.group("", GroupType::COMM_GROUP, paradigm, &members)
    };
    match comm {
        Comm::Ranks(ranks) => {
            let group = group(Paradigm::MPI, ranks);
            it.comm("ranks", group, None);
        }
        Comm::Threads(paradigm, threads) => {
            let group = group(*paradigm, threads);
            it.comm("threads", group, None);
        }
        Comm::Own => {
            let group = it.group("", GroupType::COMM_SELF, Paradigm::MPI, &[]);
            it.comm("self", group, None);
        }
        Comm::Inter(a, b) => {
            let groups = (group(Paradigm::MPI, a), group(Paradigm::MPI, b));
            it.inter_comm("both", groups.0, groups.1, None);
        }
    }
}

/// Those of MPI, and one for copies of memory.
fn windows(it: &mut DefinitionsWriter, world: &World) {
    let all: Vec<u64> = (0..world.locations.len() as u64).collect();
    let devices = it.group("", GroupType::COMM_GROUP, Paradigm::CUDA, &all);
    let devices = it.comm("devices", devices, None);
    let name = it.string("window");
    for (number, comm) in (0..).zip(world.windows.iter().chain([&devices])) {
        let mut window = Payload::new();
        window.c32(number).c32(name.0).c32(comm.0).c32(0);
        it.raw(RMA_WIN, &window);
    }
}
