//! What the recording lacks or contradicts, as far as this process counts it.
//!
//! Where a trace is [shared](crate::Share), several processes may come upon the same
//! defect while they join what belongs together. The one that holds the location counts it.

use retime_model::{Defect, Defects, LocationIndex};

use super::EventNode;
use super::nodes::Nodes;

/// Defects that were come upon.
pub(super) struct Noted<'a> {
    nodes: &'a Nodes,
    found: Defects,
}

impl<'a> Noted<'a> {
    pub(super) fn new(nodes: &'a Nodes) -> Self {
        Self {
            nodes,
            found: Defects::default(),
        }
    }

    /// Notes a defect at an event.
    pub(super) fn at(&mut self, kind: Defect, node: EventNode) {
        let nodes = self.nodes;
        self.add(kind, nodes.location(node), nodes.event(node));
    }

    /// The same by location and number of the event.
    pub(super) fn add(&mut self, kind: Defect, location: LocationIndex, event: u64) {
        if self.nodes.share().owns_location(location) {
            self.found.add(kind, location, event);
        }
    }

    /// The same where this process alone comes upon it, whoever holds the location.
    pub(super) fn alone(&mut self, kind: Defect, location: LocationIndex, event: u64) {
        self.found.add(kind, location, event);
    }

    pub(super) fn into_defects(self) -> Defects {
        self.found
    }
}
