//! Defects of a recording, as far as they are counted here.
//!
//! Several [parts](crate::Whole) of a trace may come upon the same defect while they join
//! what belongs together. It counts where the location is no ghost.

use retime_model::{Defect, Defects, LocationIndex};

use crate::EventNode;
use crate::nodes::Nodes;

/// Defects that were come upon.
pub(super) struct Noted<'a> {
    nodes: &'a Nodes,
    found: Defects,
}

impl<'a> Noted<'a> {
    /// Notes defects in a list that is empty yet.
    pub(super) fn new(nodes: &'a Nodes, found: Defects) -> Self {
        Self { nodes, found }
    }

    /// Notes a defect at an event.
    pub(super) fn at(&mut self, kind: Defect, node: EventNode) {
        let nodes = self.nodes;
        self.add(kind, nodes.location(node), nodes.event(node));
    }

    /// Notes a defect by location and number of the event.
    pub(super) fn add(&mut self, kind: Defect, location: LocationIndex, event: u64) {
        if self.nodes.whole().has(location.as_usize()) {
            self.found.add(kind, location, event);
        }
    }

    /// Notes a defect that no other part comes upon, also at a ghost.
    pub(super) fn alone(&mut self, kind: Defect, location: LocationIndex, event: u64) {
        self.found.add(kind, location, event);
    }

    pub(super) fn into_defects(self) -> Defects {
        self.found
    }
}
