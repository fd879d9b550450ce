//! A single reading of a clock that is wrong.
//!
//! Between what happens and reading the clock a process may be interrupted, or
//! move to another processor whose counter differs; the next reading is right
//! again. So a glitch happens to the first reading after its time, not to the
//! clock: what [`Clock::show`](super::Clock::show) says is free of them.

/// A reading that is off.
///
/// ```
/// use retime_sim::{Clock, Glitch};
///
/// let clock = |by| Clock { glitches: vec![Glitch { at: 1_000, by }], ..Clock::TRUE };
/// let read = |clock: Clock| {
///     let mut reader = clock.reader();
///     [900, 1_100, 1_200, 2_000].map(|time| reader.show(time))
/// };
/// // Nobody has seen a clock that stands, but it must not run backwards.
/// assert_eq!(read(clock(300)), [900, 1_400, 1_400, 2_000]);
/// assert_eq!(read(clock(-300)), [900, 900, 1_200, 2_000]);
/// // Unless it may show a time twice.
/// let raw = |by| Clock { backwards: true, ..clock(by) };
/// assert_eq!(read(raw(300)), [900, 1_400, 1_200, 2_000]);
/// assert_eq!(read(raw(-300)), [900, 800, 1_200, 2_000]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glitch {
    /// It happens to the first reading from this true time on, in nanoseconds
    /// since the start.
    pub at: u64,
    /// Nanoseconds by which that reading is ahead.
    pub by: i64,
}
