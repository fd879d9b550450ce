//! Dependencies of a stretch of time only.

use std::sync::Arc;

use retime_model::{Role, Timestamp};

use super::{Causality, NONE};

impl Causality {
    /// Leaves out every dependency with an end stamped before `from` or after
    /// `to`: a clock then starts at `from`, and after `to` follows its own time.
    pub fn limit_to(&mut self, from: Timestamp, to: Timestamp) {
        let nodes = &self.nodes;
        let outside = |node: u32| {
            let stamp = nodes.timestamp(node);
            stamp < from || stamp > to
        };
        let partners = Arc::make_mut(&mut self.partner);
        let slots = &mut Arc::make_mut(&mut self.collectives).slots;
        let left_out: Vec<u32> = (0..partners.len() as u32)
            .filter(|&node| outside(node))
            .collect();
        for node in left_out {
            let partner = std::mem::replace(&mut partners[node as usize], NONE);
            if partner == NONE {
                continue;
            }
            match self.nodes.role(node) {
                Role::Send | Role::Receive => partners[partner as usize] = NONE,
                Role::CollectiveBegin => slots[partner as usize].begin = NONE,
                Role::CollectiveEnd => slots[partner as usize].end = NONE,
            }
        }
    }
}
