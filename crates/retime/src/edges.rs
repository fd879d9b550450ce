//! The dependencies between different clocks, as a list.
//!
//! Whoever estimates how clocks differ looks at each dependency by itself: who
//! sent, who received, and both stamps. [`Edges::collect`] lists all messages
//! between two clocks, and of collectives, whose dependencies are quadratic in
//! number, the tightest: for each end the latest begin on another clock, for
//! each begin the earliest end. Which these are depends on how the clocks
//! differ, so the times to judge by are an argument; the stamps listed are raw.
//!
//! A dependency tells that
//!
//! ```text
//! received + y(to) >= sent + y(from) + minimal delay
//! ```
//!
//! where `y` is what has to be added to a clock at that moment.
//!
//! ```
//! use retime::{ClockId, Edge, Edges};
//! let (a, b) = (ClockId(0), ClockId(1));
//! let message = Edge::message(a, 100, b, 95);
//! let reply = Edge::message(b, 175, a, 200);
//! let edges = Edges::new(vec![message, reply], vec![Some((100, 200)), Some((95, 175))]);
//! // Received 5 before it was sent: at least that much is wrong between the clocks.
//! assert_eq!(edges.all()[0].latency(), -5);
//! assert_eq!(edges.pairs()[0].back, [1]);
//! assert_eq!(edges.span(), (95, 200));
//! ```

use rayon::prelude::*;

use crate::causality::Causality;
use crate::clocks::{ClockId, Clocks};
use crate::estimate::Estimate;

/// A dependency of an event of one clock on one of another. Times are ticks
/// since [`Nodes::base`](crate::causality::Nodes::base), as recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Stamp of the cause.
    pub sent: i64,
    /// Stamp of the effect.
    pub received: i64,
    /// The node that is the cause.
    pub cause: u32,
    /// The node that is the effect.
    pub effect: u32,
    /// The clock of the cause.
    pub from: ClockId,
    /// The clock of the effect.
    pub to: ClockId,
}

impl Edge {
    /// A message outside of any trace: it belongs to no nodes.
    pub const fn message(from: ClockId, sent: i64, to: ClockId, received: i64) -> Self {
        Self {
            sent,
            received,
            cause: u32::MAX,
            effect: u32::MAX,
            from,
            to,
        }
    }

    /// From cause to effect, on their different clocks; may well be negative.
    pub const fn latency(&self) -> i64 {
        self.received - self.sent
    }
}

/// All dependencies between different clocks.
#[derive(Clone, Debug)]
pub struct Edges {
    edges: Vec<Edge>,
    extents: Vec<Option<(i64, i64)>>,
}

/// The dependencies between two clocks, as positions in [`Edges::all`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairEdges {
    /// The clock of lower number.
    pub low: ClockId,
    /// The clock of higher number.
    pub high: ClockId,
    /// From `low` to `high`, by the stamp of the cause.
    pub forth: Vec<u32>,
    /// From `high` to `low`, by the stamp of the cause.
    pub back: Vec<u32>,
}

impl Edges {
    /// Of given dependencies, and the first and last stamp of each clock.
    pub fn new(edges: Vec<Edge>, extents: Vec<Option<(i64, i64)>>) -> Self {
        Self { edges, extents }
    }

    /// Lists them; the tightest of collectives are those at the given times of
    /// nodes.
    pub fn collect(causality: &Causality, clocks: &Clocks, time: impl Fn(u32) -> i64) -> Self {
        let mut all = Self {
            edges: Vec::with_capacity(Self::at_most(causality, clocks)),
            extents: Self::extents(causality, clocks),
        };
        let nodes = causality.nodes();
        for receive in 0..nodes.len() as u32 {
            if let Some(send) = causality.message_source(receive) {
                all.add(causality, clocks, send, receive);
            }
        }
        let collectives = causality.collectives();
        for instance in 0..collectives.instances().len() as u32 {
            let slots = collectives.slots(instance);
            let clock = |place: usize| {
                let node = slots[place].cause().or(slots[place].effect());
                node.map(|node| clocks.of(nodes.location(node)))
            };
            let mut add = |cause: u32, effect: u32| all.add(causality, clocks, cause, effect);
            collectives.latest_causes(instance, 0..slots.len(), &time, clock, &mut add);
            collectives.earliest_effects(instance, &time, clock, add);
        }
        all.edges.shrink_to_fit();
        all
    }

    /// How many there can be: a list that grows would take three times the memory
    /// when it moves.
    fn at_most(causality: &Causality, clocks: &Clocks) -> usize {
        let nodes = causality.nodes();
        let clock = |node: u32| clocks.of(nodes.location(node));
        let between = |receive: &u32| {
            let send = causality.message_source(*receive);
            send.is_some_and(|send| clock(send) != clock(*receive))
        };
        let messages = (0..nodes.len() as u32).into_par_iter().filter(between);
        let collectives = causality.collectives();
        let instances = (0..collectives.instances().len() as u32).into_par_iter();
        let ends = |instance: u32| {
            let slots = collectives.slots(instance).iter();
            let ends = slots
                .map(|it| usize::from(it.cause().is_some()) + usize::from(it.effect().is_some()));
            ends.sum::<usize>()
        };
        messages.count() + instances.map(ends).sum::<usize>()
    }

    /// First and last stamp of any event of each clock, in ticks since the base.
    pub(crate) fn extents(causality: &Causality, clocks: &Clocks) -> Vec<Option<(i64, i64)>> {
        let nodes = causality.nodes();
        let extent = |clock: ClockId| {
            let locations = clocks.locations(clock).iter();
            let extents = locations.filter_map(|location| nodes.extent(location.as_usize()));
            extents
                .map(|it| (nodes.relative(it.first).0, nodes.relative(it.last).0))
                .reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
        };
        clocks.iter().map(extent).collect()
    }

    /// As [`collect`](Self::collect), at the times that an estimate gives.
    pub fn collect_aligned(causality: &Causality, clocks: &Clocks, estimate: &Estimate) -> Self {
        let nodes = causality.nodes();
        Self::collect(causality, clocks, |node| {
            let (clock, stamp) = (clocks.of(nodes.location(node)), nodes.time(node).0);
            stamp.saturating_add(estimate.at(clock, stamp).round() as i64)
        })
    }

    fn add(&mut self, causality: &Causality, clocks: &Clocks, cause: u32, effect: u32) {
        let nodes = causality.nodes();
        let clock = |node: u32| clocks.of(nodes.location(node));
        let edge = Edge {
            sent: nodes.time(cause).0,
            received: nodes.time(effect).0,
            cause,
            effect,
            from: clock(cause),
            to: clock(effect),
        };
        if edge.from != edge.to {
            self.edges.push(edge);
        }
    }

    /// The dependencies: messages by receive, then collectives by operation.
    pub fn all(&self) -> &[Edge] {
        &self.edges
    }

    /// How many clocks the trace has.
    pub fn clocks(&self) -> usize {
        self.extents.len()
    }

    /// First and last stamp of any event of a clock, in ticks since the base;
    /// `None` for a clock without events.
    pub fn extent(&self, clock: ClockId) -> Option<(i64, i64)> {
        self.extents[clock.as_usize()]
    }

    /// First and last stamp of any clock.
    pub fn span(&self) -> (i64, i64) {
        let extents = self.extents.iter().flatten();
        extents
            .copied()
            .reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
            .unwrap_or((0, 0))
    }

    /// The dependencies by pair of clocks, in order of their numbers.
    pub fn pairs(&self) -> Vec<PairEdges> {
        let key = |edge: &Edge| (edge.from.min(edge.to), edge.from.max(edge.to));
        let mut order: Vec<u32> = (0..self.edges.len() as u32).collect();
        order.sort_by_key(|&at| {
            let edge = &self.edges[at as usize];
            (key(edge), edge.sent, edge.received)
        });
        let same =
            |a: &u32, b: &u32| key(&self.edges[*a as usize]) == key(&self.edges[*b as usize]);
        let pair = |of: &[u32]| {
            let (low, high) = key(&self.edges[of[0] as usize]);
            let (forth, back) = of
                .iter()
                .partition(|&&at| self.edges[at as usize].from == low);
            PairEdges {
                low,
                high,
                forth,
                back,
            }
        };
        order.chunk_by(same).map(pair).collect()
    }
}
