//! An archive in which much depends on several locations: ranks on nodes by turns, each
//! with two threads that hand a lock to each other and with the stream of an accelerator
//! on which it launches kernels; and one rank that sends synchronously.

use std::fs;
use std::path::{Path, PathBuf};

use retime_otf2::writer::{ArchiveWriter, LocationWriter, WriteOptions};
use retime_otf2::{
    CommRef, EventData, GroupType, LocationGroupType, LocationType, Paradigm, RegionRef, RegionRole,
};

/// Ranks of the program.
pub(crate) const RANKS: u64 = 5;
const ROUNDS: u64 = 20;
const ROUND: u64 = 1_000;

const LAUNCH: RegionRef = RegionRef(0);
const KERNEL: RegionRef = RegionRef(1);
const SEND: RegionRef = RegionRef(2);
const SSEND: RegionRef = RegionRef(3);
const RECV: RegionRef = RegionRef(4);

/// The ids of a rank's master, of its other thread and of its stream.
fn ids(rank: u64) -> [u64; 3] {
    [0, 1, 2].map(|it| it * 100 + rank)
}

/// Writes it, with something beside it that belongs to no location.
pub(crate) fn write(dir: &Path) -> PathBuf {
    let anchor = dir.join("t.otf2");
    fs::write(dir.join("settings.cfg"), "as they were").unwrap();
    let mut archive = ArchiveWriter::create(&anchor, WriteOptions::default()).unwrap();
    let it = archive.definitions();
    let nodes = ["one", "two"].map(|name| it.system_tree_node(name, "node", None));
    let processes: Vec<_> = (0..RANKS)
        .map(|rank| {
            let node = nodes[rank as usize % 2];
            it.location_group("rank", LocationGroupType::PROCESS, Some(node))
        })
        .collect();
    for (rank, &process) in (0..).zip(&processes) {
        let [master, thread, _] = ids(rank);
        it.location(master, "master", LocationType::CPU_THREAD, process);
        it.location(thread, "thread", LocationType::CPU_THREAD, process);
    }
    for (rank, &process) in (0..).zip(&processes) {
        let kind = LocationGroupType::ACCELERATOR;
        let context = it.created_location_group("context", kind, None, process);
        it.location(
            ids(rank)[2],
            "stream",
            LocationType::ACCELERATOR_STREAM,
            context,
        );
    }
    let masters: Vec<u64> = (0..RANKS).map(|rank| ids(rank)[0]).collect();
    let ranks: Vec<u64> = (0..RANKS).collect();
    it.group("", GroupType::COMM_LOCATIONS, Paradigm::MPI, &masters);
    let world = it.group("", GroupType::COMM_GROUP, Paradigm::MPI, &ranks);
    assert_eq!(it.comm("world", world, None), CommRef(0));
    for (name, paradigm) in [
        ("cudaLaunchKernel", Paradigm::CUDA),
        ("kernel", Paradigm::CUDA),
        ("MPI_Send", Paradigm::MPI),
        ("MPI_Ssend", Paradigm::MPI),
        ("MPI_Recv", Paradigm::MPI),
    ] {
        it.region(name, RegionRole::FUNCTION, paradigm);
    }
    let mut written = Vec::new();
    for rank in 0..RANKS {
        let [master, thread, stream] = ids(rank);
        // Clocks of ranks disagree by more than a message takes.
        let start = 1_000_000 + rank * 777 % 1_900;
        for (id, fill) in [
            (master, fill_master as fn(&mut LocationWriter, u64, u64)),
            (thread, fill_thread),
            (stream, fill_stream),
        ] {
            let mut location = archive.location(id).unwrap();
            fill(&mut location, rank, start);
            written.push(location.finish().unwrap());
        }
    }
    written.sort_by_key(|it| it.location);
    archive.finish(written).unwrap();
    anchor
}

fn within(location: &mut LocationWriter, time: u64, region: RegionRef, event: Option<EventData>) {
    location.event(time, &EventData::Enter { region }).unwrap();
    if let Some(event) = event {
        location.event(time + 10, &event).unwrap();
    }
    location
        .event(time + 20, &EventData::Leave { region })
        .unwrap();
}

/// Even ranks send to the next and odd ones receive from the one before. Rank 2 alone sends
/// synchronously.
fn fill_master(location: &mut LocationWriter, rank: u64, start: u64) {
    let (communicator, tag, length) = (CommRef(0), 0, 8);
    for round in 0..ROUNDS {
        let time = start + round * ROUND;
        lock(location, time, 2 * round as u32 + 1);
        within(location, time + 300, LAUNCH, None);
        if rank.is_multiple_of(2) && rank + 1 < RANKS {
            let region = if rank == 2 { SSEND } else { SEND };
            let receiver = rank as u32 + 1;
            let send = EventData::MpiSend {
                receiver,
                communicator,
                tag,
                length,
            };
            within(location, time + 500, region, Some(send));
        } else if rank % 2 == 1 {
            let sender = rank as u32 - 1;
            let recv = EventData::MpiRecv {
                sender,
                communicator,
                tag,
                length,
            };
            within(location, time + 500, RECV, Some(recv));
        }
    }
}

fn fill_thread(location: &mut LocationWriter, _: u64, start: u64) {
    for round in 0..ROUNDS {
        lock(location, start + round * ROUND + 600, 2 * round as u32 + 2);
    }
}

fn fill_stream(location: &mut LocationWriter, rank: u64, start: u64) {
    // The stream of one rank has a clock of its own.
    let start = start - if rank == 3 { 200 } else { 0 };
    for round in 0..ROUNDS {
        within(location, start + round * ROUND + 310, KERNEL, None);
    }
}

fn lock(location: &mut LocationWriter, time: u64, acquisition_order: u32) {
    let (model, lock) = (Paradigm::PTHREAD, 0);
    let acquire = EventData::ThreadAcquireLock {
        model,
        lock,
        acquisition_order,
    };
    location.event(time, &acquire).unwrap();
    let release = EventData::ThreadReleaseLock {
        model,
        lock,
        acquisition_order,
    };
    location.event(time + 100, &release).unwrap();
}
