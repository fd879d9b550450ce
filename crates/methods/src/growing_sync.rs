//! Liu's pseudo-synchronisation while segments of a trace still come.
//!
//! Each host sends the others, from time to time, the segment of its trace since the last time, and
//! each puts what has come on its own clock. A shift is made of minima over messages, so nothing has
//! to be kept of a segment but the fastest message of each ordered pair of clocks:
//!
//! ```text
//! fastest_ij := min(fastest_ij, received - sent - minimal delay)     for each message i -> j
//! S_j         = min(S_j before, shift of clock j by all fastest_ij so far)
//! ```
//!
//! A message costs `O(log clocks)`, however long the run is, and a time on the base's clock `m` passes
//! over the pairs, `m` the steps on the longest path. Shifts never rise. Since they are subtracted, an
//! event of a later segment never moves back before one that was given out, and with the closure
//!
//! ```text
//! received - S_j(later) >= sent + minimal delay - S_i(later) >= sent + minimal delay - S_i(earlier)
//! ```
//!
//! so that a message whose send was put on the base's time with an earlier segment is not reversed
//! either. (The printed form leaves messages reversed as it does over the whole trace; its adjustment
//! can go over from one end of a pair of clocks to the other, and what it took back stays subtracted
//! here.)
//!
//! ```
//! use retime::ClockId;
//! use retime_methods::GrowingShifts;
//! let clock = ClockId;
//! let mut shifts = GrowingShifts::new(3, clock(0), true);
//! // The first segments: one message from the base to clock 1, which is 50 ahead. It took 30.
//! shifts.message(clock(0), clock(1), 80);
//! assert_eq!(shifts.shifts()?, [Some(0), Some(80), None]); // of clock 2 nothing is known
//! // The second ones: a faster message to clock 1, and one of 5 from there to clock 2, which is
//! // 20 behind the base.
//! shifts.message(clock(0), clock(1), 60);
//! shifts.message(clock(1), clock(2), 5 - 20 - 50);
//! assert_eq!(shifts.shifts()?, [Some(0), Some(60), Some(-5)]);
//! # Ok::<(), retime::estimate::NoEstimate>(())
//! ```
//!
//! Source: Liu, A Method of Fast Synchronizing Asynchronous Clocks in Distributed
//! Applications, section 4. That shifts are kept from segment to segment is ours; the paper says
//! how those of one set of segments are computed.

use retime::ClockId;
use retime::estimate::NoEstimate;

use crate::pseudo_sync::{Fastest, Shifts};

/// The shifts of clocks against a base clock, by the messages so far. Times are ticks.
#[derive(Clone, Debug)]
pub struct GrowingShifts {
    fastest: Fastest,
    base: ClockId,
    closure: bool,
    shifts: Shifts,
    /// True if messages have come since that the shifts may depend on.
    is_behind: bool,
}

impl GrowingShifts {
    /// The shifts of so many clocks against `base`, which is one of them: adjusted once, as printed,
    /// or with `closure` until no message is violated.
    pub fn new(clocks: usize, base: ClockId, closure: bool) -> Self {
        Self {
            fastest: Fastest::new(clocks),
            base,
            closure,
            shifts: vec![None; clocks],
            is_behind: true,
        }
    }

    /// Takes up a message of which both ends have come: received minus sent, by their own clocks,
    /// less the minimal delay. Clocks that are none of these, and messages within a clock, say
    /// nothing.
    pub fn message(&mut self, from: ClockId, to: ClockId, took: i128) {
        let exists = |clock: ClockId| clock.as_usize() < self.shifts.len();
        if from != to && exists(from) && exists(to) {
            self.is_behind |= self.fastest.add(from, to, took);
        }
    }

    /// The ticks to be subtracted from the stamps of each clock, never more than before; `None` where
    /// no message (with the closure: no chain of messages) has come yet from the base.
    ///
    /// # Errors
    ///
    /// [`NoEstimate::Infeasible`] with the closure where clocks drift so far apart that no constants
    /// satisfy the messages so far along a cycle of clocks.
    pub fn shifts(&mut self) -> Result<&[Option<i128>], NoEstimate> {
        if self.is_behind {
            let found = if self.closure {
                self.fastest.closed(self.base, &())?
            } else {
                self.fastest.known(self.base)
            };
            for (shift, found) in self.shifts.iter_mut().zip(found) {
                *shift = match (*shift, found) {
                    (Some(shift), Some(found)) => Some(shift.min(found)),
                    (shift, found) => shift.or(found),
                };
            }
            self.is_behind = false;
        }
        Ok(&self.shifts)
    }

    /// The shifts when no message comes any more: 0 for clocks without messages.
    ///
    /// # Errors
    ///
    /// The same as [`Self::shifts`], and as
    /// [`pseudo_synchronisation`](crate::pseudo_synchronisation) where a clock with messages has no
    /// shift.
    pub fn last_shifts(&mut self) -> Result<Vec<i128>, NoEstimate> {
        self.fastest.refuse_unreachable(self.base)?;
        if !self.closure {
            self.fastest.refuse_unshifted(self.base)?;
        }
        let shifts = self.shifts()?.iter();
        Ok(shifts.map(|shift| shift.unwrap_or(0)).collect())
    }
}
