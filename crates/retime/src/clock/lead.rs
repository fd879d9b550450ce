//! The lead of a controlled clock over its physical clock.
//!
//! Where an event is forced ahead of its clock by `amount`, the clock keeps that lead and
//! loses the share `1 - gamma` of every interval of it:
//! `LC'(c) = c + max(0, amount - (1 - gamma) (c - since))`.
//!
//! ```
//! use retime::clock::{Gamma, Lead};
//! let gamma: Gamma = "0.99".parse()?;
//! let lead = Lead::new(1_000, 7); // at 1000 the clock was forced to 1007
//! assert_eq!(lead.value(), Some(1_007));
//! assert_eq!(lead.at(1_300, gamma), 4); // 300 ticks later 3 are lost
//! assert_eq!(lead.gone_between(1_300, 2_000, gamma), Some(1_700));
//! # Ok::<(), retime::clock::GammaError>(())
//! ```
//!
//! Source: Rabenseifner 2000, algorithm 2, in closed form.

use super::gamma::Gamma;

/// How far a clock is ahead of its physical clock since its last jump; times and amounts
/// in ticks. Between jumps the lead falls linearly and stops at 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lead {
    since: i64,
    amount: i64,
}

impl Default for Lead {
    /// No lead, since ever.
    fn default() -> Self {
        Self {
            since: i64::MIN,
            amount: 0,
        }
    }
}

impl Lead {
    /// A lead of `amount` ticks at raw time `since`.
    #[inline]
    pub const fn new(since: i64, amount: i64) -> Self {
        Self { since, amount }
    }

    /// The value of the clock where the lead was taken; `None` before any.
    #[inline]
    pub const fn value(self) -> Option<i64> {
        if self.since == i64::MIN {
            None
        } else {
            Some(self.since + self.amount)
        }
    }

    /// The lead at raw time `raw`, not before `since`.
    #[inline]
    pub fn at(self, raw: i64, gamma: Gamma) -> i64 {
        if self.amount == 0 {
            return 0;
        }
        let lost = gamma.lost_over(raw.wrapping_sub(self.since) as u64);
        (self.amount - lost.min(i64::MAX as u64) as i64).max(0)
    }

    /// The raw time, inside of `from..to`, from which on nothing of the lead is
    /// left; `None` if it lasts longer or was gone before.
    #[inline]
    pub fn gone_between(self, from: i64, to: i64, gamma: Gamma) -> Option<i64> {
        // Asked for every event, and hardly ever true: no division before it is.
        if self.amount == 0 || self.at(to, gamma) > 0 {
            return None;
        }
        let interval = i64::try_from(gamma.time_to_lose(self.amount as u64)?).ok()?;
        self.since
            .checked_add(interval)
            .filter(|gone| from < *gone && *gone < to)
    }
}
