//! Calls of regions, and when they were.

/// When an event was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Moment {
    /// The recorded time, in ticks since the smallest stamp of the trace.
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
    /// The number of the event that entered it.
    pub(crate) first: u32,
}

/// A call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) region: u32,
    pub(crate) begin: Moment,
    pub(crate) end: Moment,
    /// The numbers of the events that entered and left it.
    pub(crate) first: u32,
    pub(crate) last: u32,
    /// How many calls it is in.
    pub(crate) depth: u16,
}
