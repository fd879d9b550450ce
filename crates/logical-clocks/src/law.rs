//! How a logical clock goes on by itself.

use crate::gamma::Gamma;
use crate::lead::Lead;
use crate::times::Between;
use retime_causality::{EventNode, Nodes};
use retime_model::{ClockId, MinimalDistance};

/// A node that was just computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Computed {
    pub(super) node: EventNode,
    /// Its raw time.
    pub(super) raw: i64,
    /// The lead that its clock alone would have had there.
    pub(super) alone: Lead,
    /// Where it is.
    pub(super) value: i64,
}

impl Computed {
    /// Where its clock alone would have brought it.
    #[inline]
    pub(super) fn own(self) -> i64 {
        self.raw + self.alone.amount()
    }
}

/// The rule by which a clock advances where no dependency moves it.
pub(super) trait Law {
    /// How clocks went on between nodes, after all are computed.
    fn between(&mut self) -> Between;

    /// The lead that is left of `lead` at raw time `raw`, whatever distance events keep.
    fn left(&self, clock: ClockId, lead: Lead, raw: i64) -> Lead;

    /// The lead at `node`, at raw time `raw`, to which the clock alone brings it.
    #[inline]
    fn alone(&self, clock: ClockId, lead: Lead, raw: i64, node: EventNode) -> Lead {
        let _ = node;
        self.left(clock, lead, raw)
    }

    /// A node was computed; the lead from there on.
    fn computed(&mut self, clock: ClockId, lead: Lead, node: Computed) -> Lead;
}

/// How far a node has to be from the one that its clock has passed last.
#[inline]
pub(super) fn distance_before(nodes: &Nodes, distance: &MinimalDistance, node: EventNode) -> i64 {
    match distance {
        MinimalDistance::Uniform(distance) => distance.0,
        MinimalDistance::PerLocation(_) => distance.of(nodes.location(node)).0,
    }
}

/// A lead shrinks by the same share of every interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constant(pub(super) Gamma);

impl Law for Constant {
    fn between(&mut self) -> Between {
        Between::Loses(self.0)
    }

    #[inline]
    fn left(&self, _: ClockId, lead: Lead, raw: i64) -> Lead {
        lead.after(raw, self.0)
    }

    #[inline]
    fn computed(&mut self, _: ClockId, lead: Lead, node: Computed) -> Lead {
        // Anchored at the last jump, so that it does not matter how many events
        // lie between.
        if node.value > node.own() {
            node.alone.forced(node.value - node.raw)
        } else {
            lead
        }
    }
}
