//! A supernode of an elimination, by where its columns, rows and entries lie.

/// A supernode, and where its front lies.
pub(super) struct Node {
    /// The first of its columns, and how many there are.
    pub(super) first: usize,
    pub(super) columns: usize,
    /// Where the list of its rows below these begins, and how many there are.
    pub(super) rows: usize,
    pub(super) below: usize,
    /// Where its entries begin.
    pub(super) entries: usize,
    /// The node its update is added to; a root has an empty one.
    pub(super) parent: Option<u32>,
    /// True if it is the first of its parent's children; `is_leaf` if it has no children itself.
    pub(super) is_first: bool,
    pub(super) is_leaf: bool,
    /// On which of two stacks its update lies; the parent's is on the other.
    pub(super) stack: usize,
}
