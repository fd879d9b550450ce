//! Losses of a lead, in whole ticks.
//!
//! A clock that leads loses the share `1 - gamma` of every interval, which is seldom a
//! whole number of ticks. So it keeps a sum of what it should have lost, to `2^-64` ticks,
//! less what was taken off its lead:
//!
//! ```text
//! rest(e) = rest(prev) + (1 - gamma) (C(e) - C(prev)) - ticks,    -1/2 <= rest < 1
//! ```
//!
//! An interval that should lose at least a tick is rounded to the nearest, which at most
//! doubles what it loses. A shorter one, of which a tick would be many times what gamma
//! takes, loses one only once the rest has grown to a whole tick: where there are longer
//! ones in between, these take it. So nothing is rounded away however short intervals are,
//! and along the events of one clock the sum is never wrong by more than a tick. (Each
//! interval rounded for itself would lose nothing for ever where events are close, or,
//! rounded up, a tick with each of them.)
//!
//! ```
//! use retime_logical_clocks::{Gamma, Lost};
//! let gamma: Gamma = "0.99".parse()?;
//! let nothing = Lost::default();
//! assert_eq!(nothing.next(140, gamma).0, 1); // of 1.4
//! assert_eq!(nothing.next(160, gamma).0, 2); // of 1.6
//! // Of 0.6 and again 0.6 one, when the second is due; 0.2 are left.
//! let (first, lost) = nothing.next(60, gamma);
//! let (second, lost) = lost.next(60, gamma);
//! assert_eq!([first, second], [0, 1]);
//! assert_eq!(lost.next(140, gamma).0, 2); // of 1.4 and 0.2
//! # Ok::<(), retime_logical_clocks::GammaError>(())
//! ```

use crate::gamma::Gamma;

/// The part that a clock should have lost beyond the ticks that were taken off its lead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// In parts of `2^-64` ticks, from half a tick that was taken ahead to less than one that
    /// is due.
    rest: i128,
}

/// A tick.
const TICK: i128 = 1 << 64;

impl Lost {
    /// Nothing is lost, and nothing taken.
    pub(super) const NOTHING: Self = Self { rest: 0 };

    /// How many ticks the interval to the next event loses, and what is left then.
    #[inline]
    #[must_use]
    pub fn next(self, interval: u64, gamma: Gamma) -> (u64, Self) {
        let loss = gamma.lost_over(interval);
        let (ticks, left) = self.after(loss);
        let is_long = loss >> 64 != 0;
        // No interval loses more than all of it.
        if is_long && left.rest >= TICK / 2 && ticks < interval {
            let rest = left.rest - TICK;
            return (ticks + 1, Self { rest });
        }
        (ticks, left)
    }

    /// How many ticks are lost over an interval with any number of events, and what is left
    /// then: no tick is taken ahead.
    #[inline]
    pub(super) fn over(self, interval: u64, gamma: Gamma) -> (u64, Self) {
        self.after(gamma.lost_over(interval))
    }

    /// At least as many ticks as the interval to the next event loses, so that what it keeps
    /// grows with the interval.
    pub(super) fn at_most(self, interval: u64, gamma: Gamma) -> u64 {
        let (ticks, left) = self.over(interval, gamma);
        ticks + u64::from(left.rest > 0)
    }

    /// How many parts of `2^-64` ticks of a lead of so many ticks are left to lose.
    pub(super) fn left_of(self, lead: u64) -> u128 {
        (u128::from(lead) << 64).saturating_add_signed(-self.rest)
    }

    /// True if less is lost than by `other`.
    #[inline]
    pub(super) fn is_less(self, other: Self) -> bool {
        self.rest < other.rest
    }

    /// Whole ticks of the sum, once it has grown by `loss`.
    #[inline]
    fn after(self, loss: u128) -> (u64, Self) {
        // Below two ticks, so that their number is -1, 0 or 1.
        let sum = self.rest + i128::from(loss as u64);
        let whole = (sum >> 64) as i64;
        match ((loss >> 64) as u64).checked_add_signed(whole) {
            Some(ticks) => {
                let rest = sum - (i128::from(whole) << 64);
                (ticks, Self { rest })
            }
            None => (0, Self { rest: sum }),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// However intervals and gammas follow each other, what is taken is what they lose,
        /// up to half a tick ahead and a tick behind, and no interval turns round.
        #[test]
        fn the_sum_is_never_wrong_by_more_than_a_tick(
            intervals in proptest::collection::vec((0_u64..2_000, 0.0..1.0), 0..200)
        ) {
            let (mut lost, mut exact, mut taken) = (Lost::default(), 0_u128, 0_u128);
            for (interval, factor) in intervals {
                let gamma = Gamma::from_factor(factor);
                let ticks;
                (ticks, lost) = lost.next(interval, gamma);
                prop_assert!(ticks <= interval);
                exact += gamma.lost_over(interval);
                taken += u128::from(ticks) << 64;
                prop_assert!(taken <= exact + (1 << 63) && exact < taken + (1 << 64));
            }
        }

        #[test]
        fn short_intervals_lose_nothing_where_long_ones_do(times in 1_usize..100) {
            // Two milliseconds, and four times 120 ns, at 20 ppm.
            let gamma = Gamma::minus_ppm(20);
            let mut lost = Lost::default();
            for _ in 0..times {
                let long;
                (long, lost) = lost.next(2_000_000, gamma);
                prop_assert!((39..=41).contains(&long));
                for _ in 0..4 {
                    let short;
                    (short, lost) = lost.next(120, gamma);
                    prop_assert_eq!(short, 0);
                }
            }
        }
    }
}
