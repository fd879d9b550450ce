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
//! use retime_causality::edges::EdgeIndex;
//! use retime_causality::{Edge, Edges};
//! use retime_model::ClockId;
//! let (a, b) = (ClockId(0), ClockId(1));
//! let message = Edge::message(a, 100, b, 95);
//! let reply = Edge::message(b, 175, a, 200);
//! let edges = Edges::new(vec![message, reply], vec![Some((100, 200)), Some((95, 175))]);
//! // Received 5 before it was sent: at least that much is wrong between the clocks.
//! assert_eq!(edges.all()[0].latency(), -5);
//! assert_eq!(edges.pairs(&()).unwrap()[0].back, [EdgeIndex(1)]);
//! assert_eq!(edges.span(), (95, 200));
//! ```

mod gathered;
mod in_order;
mod listed;
mod source;

pub use gathered::{Times, TraceEdges};
pub use in_order::InOrder;
pub use listed::ListedEdges;
pub use source::whole;
pub use source::{Dependencies, Source, each_part, each_part_watched};

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::delay::MinimalDelay;
use crate::{Causality, EventNode, Nodes, PackedOption, Place};
use retime_model::pace::Pace;
use retime_model::{Cancelled, Monitor, packed_fields};
use retime_model::{ClockId, Clocks};

/// A dependency of an event of one clock on one of another. Times are ticks
/// since [`Nodes::base`](crate::Nodes::base), as recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// Stamp of the cause.
    pub sent: i64,
    /// Stamp of the effect.
    pub received: i64,
    /// The node that is the cause, if it is of a trace; it has another number in another part.
    #[serde(skip)]
    pub cause: PackedOption<EventNode>,
    /// The node that is the effect, if it is of a trace.
    #[serde(skip)]
    pub effect: PackedOption<EventNode>,
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
            cause: PackedOption::NONE,
            effect: PackedOption::NONE,
            from,
            to,
        }
    }

    /// The ticks that it has to take at least; outside of any trace, where that
    /// depends on the locations, nothing is known of it.
    #[inline]
    pub fn minimal_delay(&self, delay: &MinimalDelay, causality: &Causality) -> i64 {
        match (delay, self.cause.get(), self.effect.get()) {
            (MinimalDelay::Uniform(delay), ..) => delay.0,
            // What is no message has no length.
            (_, Some(cause), Some(effect)) => causality.message_delay(delay, cause, effect).0,
            _ => delay.of_any_pair().unwrap_or_default().0,
        }
    }

    /// Its events, if it is of a trace.
    pub fn places(&self, nodes: &Nodes) -> Option<(Place, Place)> {
        let place = |node: EventNode| Place {
            location: nodes.location(node),
            event: nodes.event(node),
        };
        Some((place(self.cause.get()?), place(self.effect.get()?)))
    }

    /// From cause to effect, on their different clocks; may well be negative.
    pub const fn latency(&self) -> i64 {
        self.received - self.sent
    }
}

/// A dependency, by its position in [`Edges::all`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EdgeIndex(pub u32);

packed_fields!(EdgeIndex { 0: u32 });

impl EdgeIndex {
    /// The position as an index.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// All dependencies between different clocks.
#[derive(Clone, Debug)]
pub struct Edges {
    edges: Vec<Edge>,
    extents: Vec<Option<(i64, i64)>>,
}

/// The dependencies between two clocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairEdges {
    /// The clock of lower number.
    pub low: ClockId,
    /// The clock of higher number.
    pub high: ClockId,
    /// From `low` to `high`, by the stamp of the cause.
    pub forth: Vec<EdgeIndex>,
    /// From `high` to `low`, by the stamp of the cause.
    pub back: Vec<EdgeIndex>,
}

impl Edges {
    /// A list of given dependencies, and the first and last stamp of each clock.
    pub fn new(edges: Vec<Edge>, extents: Vec<Option<(i64, i64)>>) -> Self {
        Self { edges, extents }
    }

    /// Lists them; the tightest of collectives are those at the given times of
    /// nodes. Fails only if `monitor` says to give up.
    pub fn collect(
        causality: &Causality,
        clocks: &Clocks,
        time: impl Fn(EventNode) -> i64 + Sync,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        Self::listed(&Dependencies::new(causality, clocks, time), monitor)
    }

    /// Lists what a source has, in its order, unless it is to be given up.
    pub fn listed(source: &dyn Source, monitor: &dyn Monitor) -> Result<Self, Cancelled> {
        let counts: Vec<usize> = each_part_watched(source, monitor, |part| {
            let mut count = 0;
            source.walk(part, &mut |_| count += 1);
            count
        })?;
        let mut edges = vec![Edge::message(ClockId(0), 0, ClockId(0), 0); counts.iter().sum()];
        let mut rest = &mut edges[..];
        let mut stretches = Vec::with_capacity(counts.len());
        for (part, count) in counts.into_iter().enumerate() {
            let (stretch, others) = rest.split_at_mut(count);
            stretches.push((part, stretch));
            rest = others;
        }
        stretches.into_par_iter().try_for_each(|(part, stretch)| {
            monitor.check()?;
            let mut places = stretch.iter_mut();
            source.walk(part, &mut |edge| {
                if let Some(place) = places.next() {
                    *place = edge;
                }
            });
            Ok(())
        })?;
        let extents = (0..source.clocks() as u32).map(|clock| source.extent(ClockId(clock)));
        Ok(Self::new(edges, extents.collect()))
    }

    /// First and last stamp of any event of each clock, in ticks since the base.
    pub fn extents(causality: &Causality, clocks: &Clocks) -> Vec<Option<(i64, i64)>> {
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

    /// The dependencies: messages by receive, then collectives by operation.
    pub fn all(&self) -> &[Edge] {
        &self.edges
    }

    /// The dependency at a position.
    #[inline]
    pub fn get(&self, edge: EdgeIndex) -> Option<&Edge> {
        self.edges.get(edge.index())
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

    /// The dependencies by pair of clocks, in order of their numbers. Fails only if
    /// `monitor` says to give up.
    pub fn pairs(&self, monitor: &dyn Monitor) -> Result<Vec<PairEdges>, Cancelled> {
        let mut places: FxHashMap<(ClockId, ClockId), usize> = FxHashMap::default();
        let mut pairs: Vec<PairEdges> = Vec::new();
        let mut pace = Pace::of(monitor);
        for (at, edge) in (0..).map(EdgeIndex).zip(&self.edges) {
            pace.event()?;
            let (low, high) = (edge.from.min(edge.to), edge.from.max(edge.to));
            let place = *places.entry((low, high)).or_insert_with(|| {
                let (forth, back) = (Vec::new(), Vec::new());
                pairs.push(PairEdges {
                    low,
                    high,
                    forth,
                    back,
                });
                pairs.len() - 1
            });
            let pair = &mut pairs[place];
            let way = if edge.from == low {
                &mut pair.forth
            } else {
                &mut pair.back
            };
            way.push(at);
        }
        pairs.sort_unstable_by_key(|pair| (pair.low, pair.high));
        // Each way is listed nearly in this order, and a stable sort is quick with that.
        let ways = pairs
            .par_iter_mut()
            .flat_map_iter(|it| [&mut it.forth, &mut it.back]);
        ways.try_for_each(|way| {
            monitor.check()?;
            way.sort_by_key(|at| {
                let edge = &self.edges[at.index()];
                (edge.sent, edge.received)
            });
            Ok(())
        })?;
        Ok(pairs)
    }
}
