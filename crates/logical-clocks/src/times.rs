//! The yield of a logical clock: a time for every node.

use crate::Gamma;
use retime_causality::merge::Merge;
use retime_causality::{Causality, EventNode};
use retime_model::{MinimalDistance, Ticks};
use serde::{Deserialize, Serialize};

/// Value of a node that is not computed yet.
pub(super) const UNKNOWN: i64 = i64::MIN;

/// No clock is followed beyond this: a run that gets so far is refused.
///
/// Raw times are `0..=2^61`, and a clock that was at most here goes on by no more than
/// raw time does,
///
/// ```text
/// own(e) <= FURTHEST + 2^61 < 2^63
/// ```
///
/// so that what it comes to fits into 64 bits, and so do differences of such times.
/// Whatever else moves a clock, minimal delays and least distances, is added saturating
/// and cut off here. The first value that is cut off was computed from exact ones, so
/// that it is truly too far; what is computed of it does not count.
pub(super) const FURTHEST: i64 = 1 << 62;

/// A node that a dependency forced ahead of its own clock, and by how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Jump {
    pub(crate) node: EventNode,
    pub(crate) size: i64,
}

/// Jumps at a glance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Jumped {
    count: u64,
    largest: i64,
}

impl Jumped {
    pub(crate) fn of(jumps: &[Jump]) -> Self {
        Self {
            count: jumps.len() as u64,
            largest: jumps.iter().map(|jump| jump.size).max().unwrap_or(0),
        }
    }
}

impl Merge for Jumped {
    fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.largest = self.largest.max(other.largest);
    }
}

/// The logical time of every node, before amortisation, relative to
/// [`retime_causality::Nodes::base`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogicalTimes {
    pub(crate) values: Vec<i64>,
    /// Jumps in order of rising nodes.
    pub(crate) jumps: Vec<Jump>,
    /// How many there are, and the largest, in the whole trace.
    pub(crate) jumped: Jumped,
    /// How clocks go on by themselves between nodes.
    pub(crate) between: Between,
    /// How far all successive events of a location are apart; 0 where only nodes are known.
    pub(crate) distance: MinimalDistance,
}

/// How a clock that leads goes on between nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Between {
    /// It loses its lead by one control factor.
    Loses(Gamma),
    /// It stands until physical time has caught up.
    Stands,
    /// It loses its lead by a control factor that changes; where that runs out before a
    /// node, by rising node.
    Varies(Vec<Bend>),
}

/// Where a lead runs out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Bend {
    /// The next node.
    pub(crate) node: EventNode,
    /// The raw time.
    pub(crate) raw: i64,
}

impl LogicalTimes {
    /// The time of `node`.
    pub fn get(&self, node: EventNode) -> Ticks {
        Ticks(self.values[node.index()])
    }

    /// How many events were forced ahead of their own clock.
    pub fn jumps(&self) -> u64 {
        self.jumped.count
    }

    /// How far an event was forced ahead of its own clock at most.
    pub fn largest_jump(&self) -> Ticks {
        Ticks(self.jumped.largest)
    }

    /// These times, of nodes that are so far apart at least.
    pub(crate) fn apart(self, causality: &Causality, distance: &MinimalDistance) -> Self {
        if !causality.nodes().are_all_events() {
            return self;
        }
        Self {
            distance: distance.clone(),
            ..self
        }
    }

    /// The times of some nodes, rising, to which all jumps belong.
    #[must_use]
    pub fn of(self, nodes: &[EventNode]) -> Self {
        let number = |node: EventNode| Some(EventNode(nodes.binary_search(&node).ok()? as u32));
        let jumps = self.jumps.iter().filter_map(|jump| {
            let node = number(jump.node)?;
            Some(Jump { node, ..*jump })
        });
        Self {
            values: nodes.iter().map(|it| self.values[it.index()]).collect(),
            jumps: jumps.collect(),
            ..self
        }
    }

    /// For asking how far nodes were forced ahead, mostly in rising order.
    pub(crate) fn jumps_in_order(&self) -> JumpCursor<'_> {
        JumpCursor {
            jumps: &self.jumps,
            at: 0,
        }
    }
}

/// Looks up jumps; fast when asked in rising order of nodes.
pub(crate) struct JumpCursor<'a> {
    jumps: &'a [Jump],
    at: usize,
}

impl JumpCursor<'_> {
    /// How far `node` was forced ahead of its own clock.
    #[inline]
    pub(crate) fn of(&mut self, node: EventNode) -> i64 {
        let before = |at: usize| self.jumps.get(at).is_some_and(|jump| jump.node < node);
        let passed = self.at > 0 && self.jumps[self.at - 1].node >= node;
        if passed || before(self.at) && before(self.at + 1) {
            self.at = self.jumps.partition_point(|jump| jump.node < node);
        } else if before(self.at) {
            self.at += 1;
        }
        self.jumps
            .get(self.at)
            .filter(|jump| jump.node == node)
            .map_or(0, |jump| jump.size)
    }
}
