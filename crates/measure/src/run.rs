//! The measurement itself, as each process carries it out.
//!
//! A process asks its reference until its fastest round trip stays the fastest, then answers
//! those that have it for their reference. With `o` and `b` of the fastest round trip, and
//! `O`, `B` and the moment `T` at which the reference was measured itself, a process has
//!
//! ```text
//! offset = O + o        bound = B + b + 1 tick + drift (t - T)
//! ```
//!
//! since the clock of the reference may have drifted from that of process 0 between `T` and
//! the moment `t` at which it answered. Clocks of one node are one clock unless they are
//! measured to differ: where 0 lies within the round trip, nothing is added, so that times of
//! the processes of a node stay as they are to each other; the bound grows by what was left
//! out, and so holds where they do differ.
//!
//! Source: S. Hunold and A. Carpen-Amarie, *Hierarchical clock synchronization in MPI*, IEEE
//! Cluster 2018, section IV.

use retime_model::{Ticks, Timestamp};

use crate::exchange::{Exchange, Words};
use crate::fastest::{RoundTrip, RoundTrips};
use crate::measured::Measured;
use crate::tree::Tree;

/// The most by which the rates of two clocks differ; bounds rest on it.
pub const LARGEST_DRIFT_PPM: i64 = 100;

/// No process makes more round trips in all of its rounds, unless there are so many rounds
/// that each would be left with fewer than `FEWEST`.
const MOST_OF_A_PROCESS: u32 = 100;
const FEWEST: u32 = 10;

const ASK: Words = [1, 0, 0, 0];
const ENOUGH: Words = [0; 4];

/// Measures the clock of this process against that of process 0, while all others do the
/// same over the same tree. None if a clock was set back whenever somebody looked.
///
/// # Errors
///
/// Those of the exchange.
pub fn measure<E: Exchange>(processes: &mut E, tree: &Tree) -> Result<Option<Measured>, E::Error> {
    let rank = processes.rank();
    let most = most_of_a_pair(tree.rounds());
    let measured = match tree.reference(rank) {
        None => Some(Measured::reference(processes.now())),
        Some(reference) => {
            let one_node = tree.share_a_node(rank, reference);
            ask(processes, reference, most)?.measured(one_node)
        }
    };
    for &client in tree.clients(rank) {
        answer(processes, client, measured)?;
    }
    Ok(measured)
}

/// The most round trips that a pair makes.
fn most_of_a_pair(rounds: u32) -> u32 {
    (MOST_OF_A_PROCESS / rounds.max(1)).max(FEWEST)
}

/// The answers that a process got.
struct Asked {
    trips: RoundTrips,
    /// The offset of the reference, its bound, and when it was measured; none if unknown.
    reference: Option<Known>,
}

struct Known {
    offset: Ticks,
    bound: Ticks,
    at: Timestamp,
}

fn ask<E: Exchange>(processes: &mut E, reference: usize, most: u32) -> Result<Asked, E::Error> {
    let mut trips = RoundTrips::default();
    while trips.go_on(most) {
        let asked = processes.now();
        processes.send(reference, ASK)?;
        let [taken, answered, ..] = processes.receive(reference)?;
        let back = processes.now();
        trips.add(RoundTrip {
            asked,
            taken: Timestamp(taken.cast_unsigned()),
            answered: Timestamp(answered.cast_unsigned()),
            back,
        });
    }
    processes.send(reference, ENOUGH)?;
    let [known, offset, bound, at] = processes.receive(reference)?;
    let known = (known != 0).then_some(Known {
        offset: Ticks(offset),
        bound: Ticks(bound),
        at: Timestamp(at.cast_unsigned()),
    });
    Ok(Asked {
        trips,
        reference: known,
    })
}

fn answer<E: Exchange>(
    processes: &mut E,
    client: usize,
    own: Option<Measured>,
) -> Result<(), E::Error> {
    while processes.receive(client)? != ENOUGH {
        let taken = processes.now().0.cast_signed();
        let answered = processes.now().0.cast_signed();
        processes.send(client, [taken, answered, 0, 0])?;
    }
    let known = own.map_or([0; 4], |it| {
        [1, it.offset.0, it.bound.0, it.at.0.cast_signed()]
    });
    processes.send(client, known)
}

impl Asked {
    fn measured(self, one_node: bool) -> Option<Measured> {
        let fastest = self.trips.fastest()?;
        let reference = self.reference?;
        let half = fastest.duration.0 / 2 + 1;
        let found = fastest.trip.offset().0;
        let (own, half) = if one_node && found.saturating_abs() <= half {
            (0, half.saturating_add(found.saturating_abs()))
        } else {
            (found, half)
        };
        let drifted = drifted(fastest.trip.answered.after(reference.at));
        let bound = reference.bound.0.saturating_add(half).saturating_add(1);
        Some(Measured {
            at: fastest.trip.back,
            offset: Ticks(reference.offset.0.saturating_add(own)),
            bound: Ticks(bound.saturating_add(drifted)),
            fastest: fastest.duration,
            round_trips: self.trips.made(),
            median: self.trips.median(),
        })
    }
}

/// The ticks by which two clocks can have drifted apart in so many ticks.
fn drifted(ticks: i128) -> i64 {
    let ticks = i64::try_from(ticks.abs()).unwrap_or(i64::MAX);
    ticks / 1_000_000 * LARGEST_DRIFT_PPM + ticks % 1_000_000 * LARGEST_DRIFT_PPM / 1_000_000 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_of_32_makes_100_round_trips_at_most() {
        for nodes in [
            vec![0; 32],
            (0..32).collect(),
            (0..32).map(|it| it / 8).collect(),
        ] {
            let tree = Tree::new(&nodes);
            let most = most_of_a_pair(tree.rounds());
            for rank in 0..32 {
                let pairs = tree.clients(rank).len() as u32 + u32::from(rank > 0);
                assert!(pairs * most <= 100, "{rank}: {pairs} x {most}");
            }
        }
    }

    #[test]
    fn a_process_of_1000_makes_100_round_trips_at_most() {
        let nodes: Vec<usize> = (0..1_000).collect();
        let tree = Tree::new(&nodes);
        let pairs = |rank| tree.clients(rank).len() as u32 + u32::from(rank > 0);
        let most = (0..1_000).map(pairs).max().unwrap() * most_of_a_pair(tree.rounds());
        assert_eq!(most, 100);
    }
}
