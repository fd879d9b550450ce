//! The lead of a controlled clock over its physical clock.
//!
//! Where an event is forced ahead of its clock by `amount`, the clock keeps that lead and
//! loses the share `1 - gamma` of every interval of it:
//! `LC'(c) = c + max(0, amount - (1 - gamma) (c - since))`.
//!
//! In whole ticks, as [`Lost`] says; what it has lost of the next tick the clock keeps, also
//! where it is forced on, until it leads no more. (If a forced clock began anew, it would do
//! so with each message.) So a time differs from that of the exact clock by no more than a
//! tick and a half for each message that forced a clock on the way to it.
//!
//! ```
//! use retime_logical_clocks::{Gamma, Lead};
//! let gamma: Gamma = "0.99".parse()?;
//! let lead = Lead::new(1_000, 7); // at 1000 the clock was forced to 1007
//! assert_eq!(lead.value(), Some(1_007));
//! assert_eq!(lead.at(1_300, gamma), 4); // 300 ticks later 3 are lost
//! assert_eq!(lead.gone_between(1_300, 2_000, gamma), Some(1_700));
//! let mut carried = lead;
//! for raw in 1_001..=1_300 {
//!     carried = carried.next(raw, gamma); // a hundredth of a tick each
//! }
//! assert_eq!(carried.at(1_300, gamma), 4);
//! // Forced to a lead of 9 when half of a tick is lost, it has 8 of them half a tick later.
//! assert_eq!(lead.next(1_050, gamma).forced(9).next(1_100, gamma).amount(), 8);
//! # Ok::<(), retime_logical_clocks::GammaError>(())
//! ```
//!
//! Source: Rabenseifner 2000, algorithm 2, in closed form.

use std::cmp::Ordering;

use crate::gamma::Gamma;
use crate::lost::Lost;

/// How far a clock is ahead of its physical clock since its last jump; times and amounts
/// in ticks. Between jumps the lead falls linearly and stops at 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Lead {
    since: i64,
    amount: i64,
    lost: Lost,
}

impl Default for Lead {
    /// No lead, since ever.
    fn default() -> Self {
        Self::new(i64::MIN, 0)
    }
}

impl Lead {
    /// A lead of `amount` ticks at raw time `since`, of which nothing is lost.
    #[inline]
    pub const fn new(since: i64, amount: i64) -> Self {
        Self {
            since,
            amount,
            lost: Lost::NOTHING,
        }
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

    /// The raw time at which the lead was taken; `None` before any.
    #[inline]
    pub(super) fn since(self) -> Option<i64> {
        self.value().map(|_| self.since)
    }

    /// The lead where it was taken, in ticks.
    #[inline]
    pub const fn amount(self) -> i64 {
        self.amount
    }

    /// The lead at raw time `raw`, not before `since`, in ticks.
    #[inline]
    pub fn at(self, raw: i64, gamma: Gamma) -> i64 {
        self.after(raw, gamma).amount
    }

    /// The lead that is left at raw time `raw`, not before `since`, whatever events lie
    /// between.
    #[inline]
    pub fn after(self, raw: i64, gamma: Gamma) -> Self {
        self.less(raw, |lost, interval| lost.over(interval, gamma))
    }

    /// The lead that is left at the next event, at raw time `raw`.
    #[inline]
    pub fn next(self, raw: i64, gamma: Gamma) -> Self {
        self.less(raw, |lost, interval| lost.next(interval, gamma))
    }

    /// The lead of the clock if it is forced to one of `amount` ticks where this one was
    /// taken.
    #[inline]
    pub fn forced(self, amount: i64) -> Self {
        Self { amount, ..self }
    }

    /// The lead at raw time `raw` of a clock that has advanced by `distance` since; none
    /// where physical time has advanced further.
    #[inline]
    pub fn advanced(self, raw: i64, distance: i64) -> Self {
        let value = self.since.saturating_add(self.amount);
        let amount = value.saturating_add(distance).saturating_sub(raw);
        if amount <= 0 {
            return Self::new(raw, 0);
        }
        Self {
            since: raw,
            amount,
            lost: self.lost,
        }
    }

    /// The larger of two leads at the same raw time.
    #[inline]
    pub fn larger(self, other: Self) -> Self {
        let is_larger = match other.amount.cmp(&self.amount) {
            Ordering::Equal => other.lost.is_less(self.lost),
            order => order == Ordering::Greater,
        };
        if is_larger { other } else { self }
    }

    /// The raw time, inside of `from..to`, from which on nothing of the lead is
    /// left; `None` if it lasts longer or was gone before.
    #[inline]
    pub fn gone_between(self, from: i64, to: i64, gamma: Gamma) -> Option<i64> {
        // Asked for every event, and hardly ever true: no division before it is.
        if self.amount == 0 || self.at(to, gamma) > 0 {
            return None;
        }
        let left = self.lost.left_of(self.amount.unsigned_abs());
        let interval = i64::try_from(gamma.time_to_lose_parts(left)?).ok()?;
        self.since
            .checked_add(interval)
            .filter(|gone| from < *gone && *gone < to)
    }

    /// The lead at raw time `raw`, given what is lost over an interval.
    #[inline]
    fn less(self, raw: i64, lose: impl Fn(Lost, u64) -> (u64, Lost)) -> Self {
        if self.amount == 0 {
            return Self::new(raw, 0);
        }
        let (ticks, lost) = lose(self.lost, raw.wrapping_sub(self.since) as u64);
        match self.amount.checked_sub_unsigned(ticks) {
            Some(amount) if amount > 0 => Self {
                since: raw,
                amount,
                lost,
            },
            _ => Self::new(raw, 0),
        }
    }
}
