//! The same trace with its locations in another order.

use std::sync::Arc;

use retime::{LocationIndex, Members};

use super::trace::{Call, Trace};

/// A trace whose locations were read in another order.
pub struct Permuted {
    pub trace: Trace,
    pub new_of: Vec<usize>,
}

pub fn permuted(trace: &Trace, turn: usize) -> Permuted {
    let locations = trace.events.len();
    // Turned and mirrored: every pair of neighbours changes places somewhere.
    let new_of: Vec<usize> = (0..locations)
        .map(|old| (locations - 1 - old + turn) % locations)
        .collect();
    let moved = |index: LocationIndex| LocationIndex(new_of[index.as_usize()] as u32);
    let mut result = trace.clone();
    for (old, &new) in new_of.iter().enumerate() {
        let mut location = trace.info.locations[old].clone();
        location.endpoint = moved(location.endpoint);
        result.info.locations[new] = location;
        result.physical[new] = new_of[trace.physical[old]];
        result.events[new].clone_from(&trace.events[old]);
        for event in &mut result.events[new] {
            match &mut event.call {
                Call::Send(message, _)
                | Call::Receive(message)
                | Call::Complete(message, _)
                | Call::Probe(message, _) => message.peer = moved(message.peer),
                _ => {}
            }
        }
    }
    for communicator in &mut result.info.communicators {
        let all = |ranks: &Arc<[LocationIndex]>| -> Arc<[LocationIndex]> {
            ranks.iter().map(|&rank| moved(rank)).collect()
        };
        communicator.members = match &communicator.members {
            Members::Own => Members::Own,
            Members::Ranks(ranks) => Members::Ranks(all(ranks)),
            Members::Threads(threads) => Members::Threads(all(threads)),
            Members::Inter { a, b } => Members::Inter {
                a: all(a),
                b: all(b),
            },
        };
    }
    Permuted {
        trace: result,
        new_of,
    }
}
