//! The other end of a message, or the place in a collective operation.

use crate::ids::{EventNode, PackedOption, Slot};

/// The partner of a node, if any: a send or receive to the other end of its
/// message, a begin or end to its slot of a collective.
#[derive(Clone, Copy, Debug)]
pub(super) struct Partner(PackedOption<EventNode>);

impl Partner {
    pub(super) const NONE: Self = Self(PackedOption::NONE);

    /// The other end of a send or receive.
    #[inline]
    pub(super) fn node(self) -> Option<EventNode> {
        self.0.get()
    }

    /// The slot of a begin or end.
    #[inline]
    pub(super) fn slot(self) -> Option<Slot> {
        self.0.get().map(|EventNode(number)| Slot(number))
    }
}

impl From<EventNode> for Partner {
    #[inline]
    fn from(node: EventNode) -> Self {
        Self(node.into())
    }
}

impl From<Slot> for Partner {
    #[inline]
    fn from(slot: Slot) -> Self {
        Self(EventNode(slot.0).into())
    }
}
