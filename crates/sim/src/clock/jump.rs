//! A clock that somebody sets.

/// A sudden change of what a clock shows.
///
/// ```
/// use retime_sim::{Clock, Jump};
///
/// let clock = |by| Clock { jumps: vec![Jump { at: 1_000, by }], ..Clock::TRUE };
/// assert_eq!((clock(500).show(999), clock(500).show(1_000)), (999, 1_500));
/// // A clock that was set back stands still until its old time is reached ...
/// assert_eq!((clock(-500).show(1_200), clock(-500).show(1_501)), (1_000, 1_001));
/// // ... unless it may show a time twice.
/// let back = Clock { backwards: true, ..clock(-500) };
/// assert_eq!((back.show(999), back.show(1_200)), (999, 700));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Jump {
    /// True time at which it happens, in nanoseconds since the start.
    pub at: u64,
    /// Nanoseconds by which the clock is ahead after it.
    pub by: i64,
}
