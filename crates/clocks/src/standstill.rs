//! Standstills: the stamps of a clock that was set back and must not run backwards.
//!
//! Such a clock stands still until its time has come up with what it showed. All events meanwhile have one
//! stamp or, where each stamp has to be larger than the one before, stamps that follow each other by as many
//! ticks as there are events between them:
//!
//! ```text
//! time    1 2 3 4 5 6 7 8 9 10
//! shown   1 2 3 4 4 4 4 5 6 7            set back by 3
//! shown   10 20 30 31 32 33 40 50        set back by 30, and each event at least a tick later
//! ```
//!
//! As much time passes meanwhile as the clock lost, so one that shows half of that or more has not stood
//! still. How near its stamps are to each other nothing says beforehand: it is learned from a *core*, stamps
//! that were shown meanwhile for certain, and what follows these as closely belongs to them.
//!
//! ```
//! use retime_clocks::Standstill;
//!
//! let stamps = [10, 20, 30, 31, 33, 34, 40, 50];
//! let still = Standstill::of_core(30.0, &stamps[3..5]);
//! assert_eq!(still.grown(&stamps, 3..=4), 2..=5);
//! ```

use std::ops::RangeInclusive;

/// How the stamps of a clock follow each other while it stands still.
#[derive(Clone, Copy, Debug)]
pub struct Standstill {
    /// The ticks that the clock lost.
    lost: f64,
    /// At most so many ticks are between two stamps.
    creep: u64,
}

impl Standstill {
    /// A clock lost these ticks, and showed these stamps, in order, while it stood still. Where they are too
    /// few to tell, stamps follow each other by a tick.
    pub fn of_core(lost: f64, core: &[i64]) -> Self {
        let between = core.windows(2).map(|it| it[1].abs_diff(it[0]));
        Self {
            lost,
            creep: between.max().unwrap_or(0).max(1),
        }
    }

    /// True if a clock that shows so many ticks can have stood still meanwhile.
    pub fn can_show(&self, ticks: u64) -> bool {
        2.0 * (ticks as f64) < self.lost
    }

    /// True if a stamp is as near to another one as those of a clock that stands still are.
    pub fn follows(&self, before: i64, next: i64) -> bool {
        next.abs_diff(before) <= self.creep
    }

    /// The places of all stamps at which the clock stood still, from those of its core on: of the neighbours
    /// on both sides that follow the nearer one first.
    pub fn grown(&self, stamps: &[i64], core: RangeInclusive<usize>) -> RangeInclusive<usize> {
        let (mut first, mut last) = core.into_inner();
        loop {
            let earlier = first.checked_sub(1).map(|it| (it, first, (it, last)));
            let later = Some(last + 1).filter(|it| *it < stamps.len());
            let later = later.map(|it| (it, last, (first, it)));
            let nearest = [earlier, later].into_iter().flatten().filter(|it| {
                let (added, end, (first, last)) = *it;
                self.follows(stamps[end], stamps[added])
                    && self.can_show(stamps[last].abs_diff(stamps[first]))
            });
            let apart = |&(added, end, _): &(usize, usize, _)| stamps[end].abs_diff(stamps[added]);
            let Some((.., grown)) = nearest.min_by_key(apart) else {
                return first..=last;
            };
            (first, last) = grown;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_that_follow_as_closely_as_those_of_the_core_belong_to_it() {
        let stamps = [0, 1_000, 2_000, 2_020, 2_060, 2_080, 2_120, 3_000, 4_000];
        let still = |lost, core: RangeInclusive<usize>| {
            Standstill::of_core(lost, &stamps[core.clone()]).grown(&stamps, core)
        };
        assert_eq!(still(5_000.0, 3..=5), 2..=6);
        // A tick at a time, if nothing says more.
        assert_eq!(still(5_000.0, 4..=4), 4..=4);
        // No more than half of what it lost.
        assert_eq!(still(200.0, 3..=4), 2..=5);
        assert_eq!(still(5_000.0, 0..=8), 0..=8);
    }

    #[test]
    fn a_clock_that_shows_half_of_what_it_lost_went_on() {
        let still = Standstill::of_core(10.0, &[]);
        assert!(still.can_show(4) && !still.can_show(5));
        assert!(!Standstill::of_core(-10.0, &[]).can_show(0));
        assert!(still.follows(i64::MAX - 1, i64::MAX));
        assert!(!still.follows(i64::MIN, i64::MAX));
    }
}
