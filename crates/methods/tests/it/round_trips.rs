//! Round trips between clocks of constant differences.

use crate::drifting::{corrected, edges};
use proptest::prelude::*;
use retime::estimate::Estimate;
use retime::{ClockId, Edge, Edges};

/// Messages between clocks of constant differences. A round trip is `(clock,
/// clock, when, there, back)`.
#[derive(Clone, Debug)]
pub struct Run {
    pub ahead: Vec<i64>,
    pub trips: Vec<(usize, usize, i64, i64, i64)>,
}

pub const LEAST: i64 = 5;
pub const LASTING: i64 = 100_000;

impl Run {
    pub fn edges(&self) -> Edges {
        let message = |from: usize, to: usize, sent: i64, delay: i64| {
            let (from_ahead, to_ahead) = (self.ahead[from], self.ahead[to]);
            let (from, to) = (ClockId(from as u32), ClockId(to as u32));
            Edge::message(from, sent + from_ahead, to, sent + delay + to_ahead)
        };
        let both = self
            .trips
            .iter()
            .flat_map(|&(one, other, when, there, back)| {
                [
                    message(one, other, when, there),
                    message(other, one, when + there, back),
                ]
            });
        edges(self.ahead.len(), both.collect())
    }

    /// The shortest round trip of a pair, less its minimal delays.
    pub fn round_trip(&self, one: usize, other: usize) -> Option<i64> {
        let ways = self.trips.iter().flat_map(|&(from, to, _, there, back)| {
            [(from, to, there - LEAST), (to, from, back - LEAST)]
        });
        let fastest = |from: usize, to: usize| {
            let own = ways.clone().filter(|it| (it.0, it.1) == (from, to));
            own.map(|it| it.2).min()
        };
        Some(fastest(one, other)? + fastest(other, one)?)
    }

    /// How far clock 0 really is ahead of another.
    pub fn truth(&self, clock: usize) -> f64 {
        (self.ahead[0] - self.ahead[clock]) as f64
    }
}

/// All clocks in a ring of round trips, and some more.
pub fn run(clocks: usize, star: bool) -> impl Strategy<Value = Run> {
    let far = 1_000_000_000_000_i64;
    let delay = || LEAST..200_i64;
    let trip = (1..clocks, 0..clocks, 0..LASTING, delay(), delay());
    let around = prop::collection::vec((0..LASTING, delay(), delay()), clocks);
    let trips = prop::collection::vec(trip, 0..200);
    let ahead = prop::collection::vec(-far..far, clocks);
    (ahead, around, trips).prop_map(move |(ahead, around, more)| {
        let peer = |clock: usize, other: usize| if star { 0 } else { (clock + other) % clocks };
        let ring = around.into_iter().enumerate();
        let ring = ring.map(|(one, (when, there, back))| (one, peer(one, 1), when, there, back));
        let more = more.into_iter();
        let more =
            more.map(|(one, other, when, there, back)| (one, peer(one, other), when, there, back));
        let trips = ring.chain(more).filter(|it| it.0 != it.1).collect();
        Run { ahead, trips }
    })
}

/// By how much messages arrive too early, at most.
pub fn worst(edges: &Edges, estimate: &Estimate) -> f64 {
    let early = |edge: &Edge| {
        corrected(estimate, edge.from, edge.sent) + LEAST as f64
            - corrected(estimate, edge.to, edge.received)
    };
    edges.all().iter().map(early).fold(f64::MIN, f64::max)
}
