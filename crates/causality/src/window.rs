//! Dependencies of a stretch of time only.

use std::sync::Arc;

use retime_model::{Role, Timestamp};

use crate::partner::Partner;
use crate::{Causality, EventNode, PackedOption};

impl Causality {
    /// Leaves out every dependency with an end stamped before `from` or after
    /// `to`: a clock then starts at `from`, and after `to` follows its own time.
    pub fn limit_to(&mut self, from: Timestamp, to: Timestamp) {
        let nodes = self.nodes.clone();
        self.leave_out(|node| {
            let stamp = nodes.timestamp(node);
            stamp < from || stamp > to
        });
    }

    /// Leaves out every dependency with an end that is `outside`.
    pub fn leave_out(&mut self, outside: impl Fn(EventNode) -> bool) {
        let nodes = &self.nodes;
        let partners = Arc::make_mut(&mut self.partner);
        let participants = &mut Arc::make_mut(&mut self.collectives).participants;
        for node in nodes.all().filter(|&node| outside(node)) {
            let partner = std::mem::replace(&mut partners[node.index()], Partner::NONE);
            match nodes.role(node) {
                Role::Send | Role::Receive => {
                    if let Some(other) = partner.node() {
                        partners[other.index()] = Partner::NONE;
                    }
                }
                Role::CollectiveBegin => {
                    if let Some(slot) = partner.slot() {
                        participants[slot.index()].begin = PackedOption::NONE;
                    }
                }
                Role::CollectiveEnd => {
                    if let Some(slot) = partner.slot() {
                        participants[slot.index()].end = PackedOption::NONE;
                    }
                }
            }
        }
    }
}
