//! The part of a trace that a marker is about.

use crate::refs::{CommRef, GroupRef, LocationGroupRef, SystemTreeNodeRef};

/// A part of the trace that a marker speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MarkerScope {
    /// The whole trace.
    Global,
    /// A location.
    Location(u64),
    /// A location group.
    LocationGroup(LocationGroupRef),
    /// A node of the system tree.
    SystemTreeNode(SystemTreeNodeRef),
    /// A group.
    Group(GroupRef),
    /// A communicator.
    Comm(CommRef),
    /// A scope that is not known here, by its code and id.
    Other(u8, u64),
}

impl MarkerScope {
    /// The scope that a record names.
    pub const fn from_code_and_id(code: u8, id: u64) -> Self {
        let is_small = id <= u32::MAX as u64;
        match (code, id as u32) {
            (0, _) => Self::Global,
            (1, _) => Self::Location(id),
            (2, id) if is_small => Self::LocationGroup(LocationGroupRef(id)),
            (3, id) if is_small => Self::SystemTreeNode(SystemTreeNodeRef(id)),
            (4, id) if is_small => Self::Group(GroupRef(id)),
            (5, id) if is_small => Self::Comm(CommRef(id)),
            _ => Self::Other(code, id),
        }
    }

    /// The code and the id as they stand in a record.
    pub const fn code_and_id(self) -> (u8, u64) {
        match self {
            Self::Global => (0, u64::MAX),
            Self::Location(id) => (1, id),
            Self::LocationGroup(id) => (2, id.0 as u64),
            Self::SystemTreeNode(id) => (3, id.0 as u64),
            Self::Group(id) => (4, id.0 as u64),
            Self::Comm(id) => (5, id.0 as u64),
            Self::Other(code, id) => (code, id),
        }
    }
}
