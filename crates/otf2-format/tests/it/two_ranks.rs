//! Rank 0 sends to rank 1, whose threads receive: what they recorded, written and read.

use retime::causality::{Causality, CausalityOptions};
use retime_model::format::Format;
use retime_otf2::writer::{ArchiveWriter, LocationWriter, Message, WriteOptions};
use retime_otf2::{
    CommRef, EventData, GroupType, LocationGroupType, LocationType, MeasurementMode, Paradigm,
    RegionRef, RegionRole,
};
use retime_otf2_format::Otf2;

/// What is recorded. Blocking ones say the length of their message; that of the others is
/// [`LENGTH`].
#[derive(Clone, Copy)]
pub(crate) enum It {
    Enter(&'static str),
    Leave,
    Send(u64),
    Isend(u64),
    Sent(u64),
    Cancelled(u64),
    Recv(u64),
    Post(u64),
    Irecv(u64),
    Recording(MeasurementMode),
}
use It::{Cancelled, Enter, Irecv, Isend, Leave, Post, Recording, Recv, Send, Sent};

pub(crate) const LENGTH: u64 = 8;

/// Writes and reads what the sender and the threads of the receiver recorded, with
/// definitions of these regions.
pub(crate) fn recorded(regions: &[&str], locations: &[&[(u64, It)]]) -> Causality {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.otf2");
    let mut archive = ArchiveWriter::create(&path, WriteOptions::default()).unwrap();
    let it = archive.definitions();
    let machine = it.system_tree_node("lab", "machine", None);
    let processes =
        [0, 1].map(|_| it.location_group("p", LocationGroupType::PROCESS, Some(machine)));
    for id in 0..locations.len() {
        let process = processes[id.min(1)];
        it.location(id as u64, "t", LocationType::CPU_THREAD, process);
    }
    it.group("", GroupType::COMM_LOCATIONS, Paradigm::MPI, &[0, 1]);
    let world = it.group("", GroupType::COMM_GROUP, Paradigm::MPI, &[0, 1]);
    let comm = it.comm("world", world, None);
    for name in regions {
        it.region(name, RegionRole::POINT2POINT, Paradigm::MPI);
    }
    let mut written = Vec::new();
    for (id, events) in locations.iter().enumerate() {
        let mut location = archive.location(id as u64).unwrap();
        fill(&mut location, (id, comm), regions, events);
        written.push(location.finish().unwrap());
    }
    archive.finish(written).unwrap();
    let scan = Otf2.open(&path).unwrap().scan(&()).unwrap();
    Causality::build(&scan.info, scan.logs, CausalityOptions::default()).unwrap()
}

fn fill(
    location: &mut LocationWriter,
    (id, comm): (usize, CommRef),
    regions: &[&str],
    events: &[(u64, It)],
) {
    let message = |length| Message {
        peer: u32::from(id == 0),
        comm,
        tag: 7,
        length,
    };
    let mut open = Vec::new();
    for &(time, it) in events {
        let done = match it {
            Enter(name) => {
                let region = regions.iter().position(|it| *it == name).unwrap();
                open.push(RegionRef(region as u32));
                location.enter(time, RegionRef(region as u32))
            }
            Leave => location.leave(time, open.pop().unwrap()),
            Send(length) => location.send(time, message(length)),
            Isend(request) => location.isend(time, message(LENGTH), request),
            Sent(request) => location.event(time, &EventData::MpiIsendComplete { request }),
            Cancelled(request) => location.event(time, &EventData::MpiRequestCancelled { request }),
            Recv(length) => location.recv(time, message(length)),
            Post(request) => location.irecv_request(time, request),
            Irecv(request) => location.irecv(time, message(LENGTH), request),
            Recording(measurement_mode) => {
                location.event(time, &EventData::MeasurementOnOff { measurement_mode })
            }
        };
        done.unwrap();
    }
}
