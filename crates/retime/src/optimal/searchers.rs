//! Which processes search for bounds, and who gets to know what they find.
//!
//! The more processes search, the less room each needs, and the more they have to tell each
//! other. So as many search as the dependencies that matter need: the first of equal groups of
//! all processes, each for the clocks that its group holds.
//!
//! ```text
//! processes   0 1 2 3 4 5 6 7 8 9
//! of 3 groups 0       1     2
//! ```

use super::bounds::{ClockBounds, OffsetBounds};
use super::link::Kept;
use crate::share::Share;
use retime_model::{Cancelled, ClockId};

/// Who holds which clock.
pub(super) struct Holders<'a> {
    pub(super) share: &'a Share,
    pub(super) holder: &'a (dyn Fn(ClockId) -> usize + Sync),
}

/// Who searches for the bounds of which clock.
pub(super) struct Searchers<'a> {
    holders: &'a Holders<'a>,
    /// How many processes search.
    count: usize,
}

impl<'a> Searchers<'a> {
    /// Enough for what this process and others have kept, if each searches through `links`.
    pub(super) fn of<'k>(
        holders: &'a Holders<'a>,
        kept: impl Iterator<Item = &'k Kept>,
        links: u64,
    ) -> Self {
        let own = kept.map(|it| it.links.len() as u64).sum();
        let needed = holders.share.sum(own).div_ceil(links.max(1));
        let (_, processes) = holders.share.place();
        Self {
            holders,
            count: usize::try_from(needed).map_or(processes, |it| it.clamp(1, processes)),
        }
    }

    /// All processes, also those that do not search.
    pub(super) fn share(&self) -> &'a Share {
        self.holders.share
    }

    /// The first process of the group that holds a clock.
    pub(super) fn searcher(&self, clock: ClockId) -> usize {
        let (_, processes) = self.holders.share.place();
        first_of_group((self.holders.holder)(clock), self.count, processes)
    }

    /// Whether one has the clocks of all, so that nobody has anything to tell.
    pub(super) fn are_one(&self) -> bool {
        self.count == 1
    }

    /// Whether this process searches for the bounds of a clock.
    pub(super) fn is_own(&self, clock: ClockId) -> bool {
        self.searcher(clock) == self.holders.share.place().0
    }

    /// Everything that was kept, for those who search for its clocks.
    pub(super) fn told<'k>(
        &self,
        kept: impl Iterator<Item = &'k Kept>,
    ) -> Result<Vec<Kept>, Cancelled> {
        let share = self.holders.share;
        let mut to: Vec<Vec<Kept>> = vec![Vec::new(); share.place().1];
        for it in kept {
            let (from, receiver) = (self.searcher(it.from.0), self.searcher(it.to.0));
            to[from].push(it.clone());
            if receiver != from {
                to[receiver].push(it.clone());
            }
        }
        let told = share.exchanged(to);
        share.check()?;
        Ok(told.into_iter().flatten().collect())
    }
}

impl Holders<'_> {
    /// Bounds that processes have found, of each clock for the process that holds it, and those
    /// of the reference for all: what is known of any clock is said in the time of that.
    pub(super) fn dealt(&self, found: OffsetBounds) -> Result<OffsetBounds, Cancelled> {
        let share = self.share;
        let reference = found.reference.as_usize();
        let of_reference = found.clocks.get(reference).cloned().flatten();
        let of_reference = share.merged(of_reference, Option::or);
        let mut clocks = vec![None; found.clocks.len()];
        let mut to: Vec<Vec<(ClockId, ClockBounds)>> = vec![Vec::new(); share.place().1];
        for (clock, bounds) in (0..).map(ClockId).zip(found.clocks) {
            to[(self.holder)(clock)].extend(bounds.map(|it| (clock, it)));
        }
        let own = share.exchanged(to).into_iter().flatten();
        share.check()?;
        let of_reference = of_reference.map(|it| (found.reference, it));
        for (clock, bounds) in own.chain(of_reference) {
            if let Some(known) = clocks.get_mut(clock.as_usize()) {
                *known = Some(bounds);
            }
        }
        Ok(OffsetBounds { clocks, ..found })
    }
}

/// The first process of the group of a process, of so many groups of so many processes.
fn first_of_group(process: usize, groups: usize, processes: usize) -> usize {
    let group = process * groups / processes;
    (group * processes).div_ceil(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_equal_and_led_by_their_first() {
        let all: Vec<usize> = (0..10).map(|it| first_of_group(it, 3, 10)).collect();
        assert_eq!(all, [0, 0, 0, 0, 4, 4, 4, 7, 7, 7]);
        for processes in 1..40 {
            for groups in 1..=processes {
                let first = |it: usize| first_of_group(it, groups, processes);
                let mut leaders: Vec<usize> = (0..processes).map(first).collect();
                assert!(leaders.iter().all(|&it| first(it) == it));
                leaders.dedup();
                assert_eq!(leaders.len(), groups);
            }
        }
    }
}
