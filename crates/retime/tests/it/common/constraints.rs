//! Dependencies between clocks, without a trace around them.

use retime::causality::{EventNode, PackedOption};
use retime::estimate::{Estimate, Offset};
use retime::optimal::{BoundOptions, OffsetBounds, offset_bounds};
use retime::{ClockId, Edge, Edges};

use super::rng::Rng;

/// First and last stamp by clock.
pub type Extents = Vec<Option<(i64, i64)>>;

/// An event: its clock, stamp and node.
pub type Event = (ClockId, i64, PackedOption<EventNode>);

pub fn ends(edge: &Edge) -> [Event; 2] {
    [
        (edge.from, edge.sent, edge.cause),
        (edge.to, edge.received, edge.effect),
    ]
}

pub fn extents(edges: &[Edge], clocks: u32) -> Extents {
    let extent = |clock: u32| {
        let of = edges.iter().flat_map(ends);
        let stamps = of.filter(|it| it.0 == ClockId(clock)).map(|it| it.1);
        Some((stamps.clone().min()?, stamps.max()?))
    };
    (0..clocks).map(extent).collect()
}

/// Dependencies at random, with stamps that may coincide and need not fit.
pub fn random_edges(seed: u64) -> Edges {
    let mut rng = Rng::new(seed);
    let clocks = 2 + rng.below(3) as u32;
    let span = [12, 200, 5_000][rng.below(3) as usize];
    let error = 1 + span / 4;
    let mut node = 0;
    let edges = (0..=rng.below(14)).map(|_| {
        let from = rng.below(u64::from(clocks)) as u32;
        let to = (from + 1 + rng.below(u64::from(clocks) - 1) as u32) % clocks;
        let sent = rng.below(span) as i64;
        let received = sent + rng.below(error) as i64 - (error / 3) as i64;
        node += 2;
        Edge {
            cause: EventNode(node).into(),
            effect: EventNode(node + 1).into(),
            ..Edge::message(ClockId(from), sent, ClockId(to), received)
        }
    });
    let edges: Vec<Edge> = edges.collect();
    let extents = extents(&edges, clocks);
    Edges::new(edges, extents)
}

/// Clocks whose rates stay within `rho` of their mean, and true messages.
pub struct Run {
    pub edges: Edges,
    pub rho: f64,
    pub base: Estimate,
    /// By clock, stamps and what has to be added there.
    pub truth: Vec<Vec<(i64, f64)>>,
}

impl Run {
    pub fn new(seed: u64, messages: u64) -> Self {
        let mut rng = Rng::new(seed);
        let clocks = 2 + rng.below(3) as u32;
        let rho = [1e-3, 1e-2][rng.below(2) as usize];
        let shapes: Vec<[f64; 4]> = (0..clocks)
            .map(|clock| shape(clock, rho, &mut rng))
            .collect();
        let mut truth = vec![Vec::new(); clocks as usize];
        let mut stamp = |clock: u32, time: f64| {
            let shown = shown(&shapes[clock as usize], time);
            truth[clock as usize].push((shown as i64, time - shown));
            shown as i64
        };
        let mut edges = Vec::new();
        for _ in 0..messages {
            let from = rng.below(u64::from(clocks)) as u32;
            let to = (from + 1 + rng.below(u64::from(clocks) - 1) as u32) % clocks;
            let sent = rng.below(100_000) as f64;
            let received = sent + 5.0 + rng.below(300) as f64;
            let (sent, received) = (stamp(from, sent), stamp(to, received));
            edges.push(Edge::message(ClockId(from), sent, ClockId(to), received));
        }
        let extents = extents(&edges, clocks);
        let line = |shape: &[f64; 4]| {
            let at = |time: f64| {
                let straight = shape[0] + time * (1.0 + shape[1]);
                (straight as i64, time - straight)
            };
            Some(Offset::line(at(0.0), at(100_000.0)))
        };
        let base = Estimate {
            offsets: shapes.iter().map(line).collect(),
            reference: ClockId(0),
        };
        let edges = Edges::new(edges, extents);
        Self {
            edges,
            rho,
            base,
            truth,
        }
    }

    pub fn bounds(&self) -> OffsetBounds {
        // Lines are estimated between rounded stamps: a little is lost.
        let options = BoundOptions {
            drift: self.rho * 1.01,
            most_difference: 0.0,
            ..BoundOptions::default()
        };
        offset_bounds(&self.edges, |_| 5, &self.base, &options, &()).unwrap()
    }
}

/// Offset, drift, and amplitude and phase of a wander that changes the rate by
/// less than `rho`. The first clock is right.
fn shape(clock: u32, rho: f64, rng: &mut Rng) -> [f64; 4] {
    if clock == 0 {
        return [0.0; 4];
    }
    let mut uniform = || rng.below(1 << 20) as f64 / f64::from(1 << 20);
    let period = 100_000.0 / std::f64::consts::TAU;
    [
        1_000.0 * uniform(),
        0.01 * (uniform() - 0.5),
        0.9 * rho * period * uniform(),
        uniform(),
    ]
}

fn shown([offset, drift, amplitude, phase]: &[f64; 4], time: f64) -> f64 {
    let turn = std::f64::consts::TAU * (time / 100_000.0 + phase);
    offset + time * (1.0 + drift) + amplitude * turn.sin()
}
