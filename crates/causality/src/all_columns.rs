//! The columns of all events of a trace, also of those between the ones that take part.

use retime_model::{Role, Timestamp};

use crate::ids::EventNode;

/// The columns of all events.
pub(super) struct AllColumns {
    pub(super) times: Vec<Timestamp>,
    pub(super) events: Vec<u32>,
    pub(super) roles: Vec<Role>,
    pub(super) between: Vec<bool>,
    /// The first of each location, and the end.
    pub(super) first: Vec<EventNode>,
    /// The new number of each node.
    pub(super) numbers: Vec<EventNode>,
}

impl AllColumns {
    /// Empty, with room for so many events, and for the numbers of so many nodes among them.
    pub(super) fn of(total: usize, nodes: usize) -> Self {
        Self {
            times: Vec::with_capacity(total),
            events: Vec::with_capacity(total),
            roles: Vec::with_capacity(total),
            between: Vec::with_capacity(total),
            first: vec![EventNode(0)],
            numbers: Vec::with_capacity(nodes),
        }
    }
}
