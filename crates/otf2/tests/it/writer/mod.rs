//! Archives made by the writer, as read by the OTF2 tools.

mod chunks;
mod definitions;
mod events;
mod mistakes;

use std::path::PathBuf;

use crate::judge::otf2_print;
use retime_otf2::writer::{
    Archive, ArchiveSummary, CommRef, Definitions, GroupType, LocationGroupType, LocationType,
    LocationWriter, Message, Options, Paradigm, ParadigmClass, RegionRef, RegionRole,
    SystemTreeDomain,
};
use tempfile::TempDir;

const SMALL: u64 = 0x4_0000;
const LARGEST_ID: u64 = u64::MAX - 1;

/// An archive with the given locations, world communicator 0 and region 0.
fn archive(locations: &[u64], options: Options) -> (TempDir, PathBuf, Archive) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep/down/traces.otf2");
    let mut archive = Archive::create(&path, options).unwrap();
    define(archive.definitions(), locations);
    (dir, path, archive)
}

fn define(definitions: &mut Definitions, locations: &[u64]) {
    let machine = definitions.system_tree_node("lab", "machine", None);
    let node = definitions.system_tree_node("node0", "node", Some(machine));
    definitions.system_tree_domain(node, SystemTreeDomain::SharedMemory);
    definitions.paradigm(Paradigm::Mpi, "MPI", ParadigmClass::Process);
    for &id in locations {
        let process =
            definitions.location_group(&format!("P{id}"), LocationGroupType::Process, Some(node));
        definitions.location(id, "Master thread", LocationType::CpuThread, process);
    }
    definitions.group("", GroupType::CommLocations, Paradigm::Mpi, locations);
    let ranks: Vec<_> = (0..locations.len() as u64).collect();
    let world = definitions.group("", GroupType::CommGroup, Paradigm::Mpi, &ranks);
    definitions.comm("WORLD", world, None);
    definitions.region("main", RegionRole::Function, Paradigm::User);
}

fn small() -> Options {
    Options {
        event_chunk: SMALL,
        definition_chunk: SMALL,
        ..Options::default()
    }
}

/// One location whose events `fill` writes, and the printed result.
fn single(options: Options, fill: impl FnOnce(&mut LocationWriter)) -> (ArchiveSummary, String) {
    let (_dir, path, mut archive) = archive(&[0], options);
    let mut location = archive.location(0).unwrap();
    fill(&mut location);
    let written = archive.finish([location.finish().unwrap()]).unwrap();
    (written, otf2_print(&path, &["-A"]).unwrap_or_default())
}

const WORLD: CommRef = CommRef(0);
const MAIN: RegionRef = RegionRef(0);

fn message(tag: u32) -> Message {
    Message {
        peer: 0,
        comm: WORLD,
        tag,
        length: 0x1_0000_0000,
    }
}
