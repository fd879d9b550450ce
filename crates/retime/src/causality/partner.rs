//! The other end of a message, or the place in a collective operation.

use super::ids::{EventNode, PackedOption, Slot};

/// What a node belongs to, if anything: a send or receive to the other end of its
/// message, a begin or end to its slot of a collective.
#[derive(Clone, Copy, Debug)]
pub(super) struct Partner(PackedOption<EventNode>);

impl Partner {
    pub(super) const NONE: Self = Self(PackedOption::NONE);

    /// Of a send or receive: the other end.
    #[inline]
    pub(super) fn node(self) -> Option<EventNode> {
        self.0.get()
    }

    /// Of a begin or end: the slot.
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
