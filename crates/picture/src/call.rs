//! Calls of regions, and when they were.

/// When an event was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moment {
    /// As recorded, in ticks since the smallest stamp of the trace.
    pub(crate) recorded: i64,
    /// The ticks that the correction added to that.
    pub(crate) added: i64,
}

impl Moment {
    pub(crate) fn corrected(self) -> i64 {
        self.recorded + self.added
    }
}

/// A call that was not left yet.
#[derive(Clone, Copy)]
pub(crate) struct Open {
    pub(crate) region: u32,
    pub(crate) begin: Moment,
}

/// A call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) region: u32,
    pub(crate) begin: Moment,
    pub(crate) end: Moment,
    /// How many calls it is in.
    pub(crate) depth: u16,
}
