//! Messages between clocks that drift.

use proptest::prelude::*;
use retime::estimate::Estimate;
use retime::{ClockId, Edge, Edges};

pub const A: ClockId = ClockId(0);
pub const B: ClockId = ClockId(1);

/// A clock that lags and drifts; in whole ticks at every 10,000th stamp.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    pub lag: i64,
    pub per_10_000: i64,
}

impl Clock {
    /// Stamp and true time after so many times 10,000 ticks.
    pub fn at(self, step: i64) -> (i64, i64) {
        let stamp = 10_000 * step;
        (stamp, stamp + self.lag + step * self.per_10_000)
    }
}

/// Dependencies with the extents that they imply.
pub fn edges(clocks: usize, messages: Vec<Edge>) -> Edges {
    let extent = |clock: u32| {
        let ends = messages
            .iter()
            .flat_map(|it| [(it.from, it.sent), (it.to, it.received)]);
        let own = ends.filter(|it| it.0 == ClockId(clock)).map(|it| it.1);
        let own: Vec<i64> = own.collect();
        own.iter().min().copied().zip(own.iter().max().copied())
    };
    let extents = (0..clocks as u32).map(extent).collect();
    Edges::new(messages, extents)
}

pub fn corrected(estimate: &Estimate, clock: ClockId, stamp: i64) -> f64 {
    stamp as f64 + estimate.at(clock, stamp)
}

pub fn clock(most: i64) -> impl Strategy<Value = Clock> {
    (-most..most, -2..=2_i64).prop_map(|(lag, per_10_000)| Clock { lag, per_10_000 })
}

/// How long the clocks of `band` run.
pub const RUN: i64 = 1_000_000_000;

/// At either end of the run a message each way, which say that what b has to
/// add to show a's time is `lag` +- `width` throughout.
pub fn band(a: ClockId, b: ClockId, lag: i64, width: i64) -> Vec<Edge> {
    let ends = [0, RUN].into_iter();
    let both = ends.flat_map(|at| {
        [
            Edge::message(a, at + lag - width, b, at),
            Edge::message(b, at, a, at + lag + width),
        ]
    });
    both.collect()
}
