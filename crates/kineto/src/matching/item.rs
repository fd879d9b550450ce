//! Calls as they stand in sequences that are compared.

/// A call in a sequence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Item {
    /// Equal for calls of one operation.
    pub(super) signature: u32,
    /// Nanoseconds from some moment of the run.
    pub(super) begin: i64,
    pub(super) end: i64,
    /// True if the others end after it has begun,
    pub(super) is_cause: bool,
    /// and whether it ends after they have.
    pub(super) is_effect: bool,
}

impl Item {
    /// True if nobody ends before all have begun.
    pub(super) fn is_mutual(&self) -> bool {
        self.is_cause && self.is_effect
    }
}
