//! Archives made by the writer, as read by the OTF2 tools.

mod chunks;
mod definitions;
mod events;
mod mistakes;

use std::path::PathBuf;

use crate::judge::otf2_print;
use retime_otf2::writer::{
    ArchiveSummary, ArchiveWriter, DefinitionsWriter, LocationWriter, Message, WriteOptions,
};
use retime_otf2::{
    CommRef, GroupType, LocationGroupType, LocationType, Paradigm, ParadigmClass, RegionRef,
    RegionRole, SystemTreeDomain,
};
use tempfile::TempDir;

const SMALL: u64 = 0x4_0000;
const LARGEST_ID: u64 = u64::MAX - 1;

/// An archive with the given locations, world communicator 0 and region 0.
fn archive(locations: &[u64], options: WriteOptions) -> (TempDir, PathBuf, ArchiveWriter) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep/down/traces.otf2");
    let mut archive = ArchiveWriter::create(&path, options).unwrap();
    define(archive.definitions(), locations);
    (dir, path, archive)
}

fn define(definitions: &mut DefinitionsWriter, locations: &[u64]) {
    let machine = definitions.system_tree_node("lab", "machine", None);
    let node = definitions.system_tree_node("node0", "node", Some(machine));
    definitions.system_tree_domain(node, SystemTreeDomain::SHARED_MEMORY);
    definitions.paradigm(Paradigm::MPI, "MPI", ParadigmClass::PROCESS);
    for &id in locations {
        let process =
            definitions.location_group(&format!("P{id}"), LocationGroupType::PROCESS, Some(node));
        definitions.location(id, "Master thread", LocationType::CPU_THREAD, process);
    }
    definitions.group("", GroupType::COMM_LOCATIONS, Paradigm::MPI, locations);
    let ranks: Vec<_> = (0..locations.len() as u64).collect();
    let world = definitions.group("", GroupType::COMM_GROUP, Paradigm::MPI, &ranks);
    definitions.comm("WORLD", world, None);
    definitions.region("main", RegionRole::FUNCTION, Paradigm::USER);
}

fn small() -> WriteOptions {
    WriteOptions {
        event_chunk: SMALL,
        definition_chunk: SMALL,
        ..WriteOptions::default()
    }
}

/// One location whose events `fill` writes, and the printed result.
fn single(
    options: WriteOptions,
    fill: impl FnOnce(&mut LocationWriter),
) -> (ArchiveSummary, String) {
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
