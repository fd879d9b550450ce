//! Traces written by hand: locations with a list of `(stamp, call)`.

use std::sync::Arc;

use retime::causality::{
    Causality, CausalityOptions, Collective, Defect, Defects, LocationLog, Message, Operation, Root,
};
use retime::{Communicator, Location, LocationIndex, Members, Process, TickRate, TraceInfo};

use super::trace::{Call, Event, log_of};

pub const WORLD: u32 = 0;

/// Ranks by their process, each process on the node of the same number.
pub fn ranks(processes: &[usize]) -> TraceInfo {
    let nodes: Vec<usize> = processes.to_vec();
    ranks_on(&processes.iter().copied().zip(nodes).collect::<Vec<_>>())
}

/// Ranks by process and node.
pub fn ranks_on(places: &[(usize, usize)]) -> TraceInfo {
    let all: Vec<LocationIndex> = (0..places.len() as u32).map(LocationIndex).collect();
    let processes = places.iter().map(|place| place.0 + 1).max().unwrap_or(0);
    let nodes = places.iter().map(|place| place.1 + 1).max().unwrap_or(0);
    let node_of = |process: usize| {
        let place = places.iter().find(|place| place.0 == process);
        place.map(|place| place.1)
    };
    TraceInfo {
        rate: TickRate::per_second(1_000_000_000).unwrap(),
        locations: all
            .iter()
            .zip(places)
            .map(|(&index, place)| Location {
                id: u64::from(index.0),
                name: format!("thread {}", index.0),
                process: place.0,
                endpoint: index,
            })
            .collect(),
        processes: (0..processes)
            .map(|process| Process {
                name: format!("rank {process}"),
                node: node_of(process),
                creator: None,
            })
            .collect(),
        nodes: (0..nodes).map(|node| format!("node {node}")).collect(),
        streams: Vec::new(),
        set_back: Vec::new(),
        communicators: vec![Communicator {
            name: "world".into(),
            members: Members::Ranks(all.into()),
        }],
    }
}

/// Adds an inter-communicator.
pub fn with_sides(mut info: TraceInfo, a: &[u32], b: &[u32]) -> TraceInfo {
    let side = |ranks: &[u32]| -> Arc<[LocationIndex]> {
        ranks.iter().map(|&rank| LocationIndex(rank)).collect()
    };
    info.communicators.push(Communicator {
        name: "inter".into(),
        members: Members::Inter {
            a: side(a),
            b: side(b),
        },
    });
    info
}

/// The happened-before of locations given by their events.
pub fn causality(info: &TraceInfo, locations: &[Vec<(u64, Call)>]) -> Causality {
    causality_with(info, locations, CausalityOptions::default())
}

pub fn causality_with(
    info: &TraceInfo,
    locations: &[Vec<(u64, Call)>],
    options: CausalityOptions,
) -> Causality {
    Causality::build(info, logs(locations), options).unwrap()
}

/// The logs of locations given by their events.
pub fn logs(locations: &[Vec<(u64, Call)>]) -> Vec<LocationLog> {
    let logs = locations.iter().enumerate().map(|(location, events)| {
        let events: Vec<Event> = events
            .iter()
            .map(|&(raw, call)| Event {
                truth: raw,
                raw,
                call,
            })
            .collect();
        log_of(LocationIndex(location as u32), &events)
    });
    logs.collect()
}

pub fn message(peer: u32) -> Message {
    Message {
        communicator: WORLD,
        peer: LocationIndex(peer),
        tag: 1,
    }
}

pub fn send(to: u32) -> Call {
    Call::Send(message(to), None)
}

pub fn receive(from: u32) -> Call {
    Call::Receive(message(from))
}

/// A call on the world in which everybody gives and gets bytes.
pub fn call(operation: Operation, root: Root) -> Collective {
    Collective {
        communicator: WORLD,
        operation,
        root,
        sent: true,
        received: true,
    }
}

pub fn end(operation: Operation, root: Root) -> Call {
    Call::End(call(operation, root))
}

pub fn barrier() -> Call {
    end(Operation::Barrier, Root::None)
}

/// Kind, count, and places as (location, event).
pub type Counted = (Defect, u64, Vec<(u32, u64)>);

pub fn found(defects: &Defects) -> Vec<Counted> {
    let place = |place: &retime::causality::Place| (place.location.0, place.event);
    defects
        .iter()
        .map(|(kind, found)| (kind, found.count, found.places.iter().map(place).collect()))
        .collect()
}
