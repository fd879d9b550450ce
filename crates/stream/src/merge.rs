//! Which clock comes next in the merged output.
//!
//! A tournament over all clocks: each has a time before which it gives nothing
//! any more, and the winner is the clock with the earliest. Times may lag behind
//! what is known, since they only rise; only the winner's has to be exact. So a
//! clock costs nothing until it is its turn, and `O(log clocks)` then.

use retime_model::ClockId;

/// The tournament.
#[derive(Debug)]
pub(crate) struct Merge {
    times: Vec<i64>,
    /// The root is 1; a leaf is `leaves + clock`.
    winners: Vec<ClockId>,
    leaves: usize,
}

impl Merge {
    /// So many clocks, of which nothing is known.
    pub(crate) fn new(clocks: usize) -> Self {
        let leaves = clocks.next_power_of_two().max(1);
        let mut times = vec![i64::MIN; clocks];
        times.resize(leaves, i64::MAX);
        let mut merge = Self {
            times,
            winners: (0..2 * leaves as u32)
                .map(|at| ClockId(at.saturating_sub(leaves as u32)))
                .collect(),
            leaves,
        };
        for at in (1..leaves).rev() {
            merge.play(at);
        }
        merge
    }

    /// Takes one more clock in, of which nothing is known.
    pub(crate) fn grow(&mut self, clocks: usize) {
        let clock = ClockId(clocks as u32);
        if clocks == self.leaves {
            let mut larger = Self::new(clocks + 1);
            let others = self.times.iter().zip(0..);
            others.for_each(|(&time, clock)| larger.set(ClockId(clock), time));
            *self = larger;
        }
        self.set(clock, i64::MIN);
    }

    /// The time before which a clock gives nothing.
    pub(crate) fn time(&self, clock: ClockId) -> i64 {
        self.times[clock.as_usize()]
    }

    /// The clock with the earliest time, the first of them.
    #[inline]
    pub(crate) fn winner(&self) -> (ClockId, i64) {
        let clock = self.winners[1];
        (clock, self.times[clock.as_usize()])
    }

    /// The clock gives nothing before `time`.
    #[inline]
    pub(crate) fn set(&mut self, clock: ClockId, time: i64) {
        self.times[clock.as_usize()] = time;
        let mut at = (self.leaves + clock.as_usize()) >> 1;
        while at > 0 {
            self.play(at);
            at /= 2;
        }
    }

    /// The clock was thought to give nothing before a later time.
    #[inline]
    pub(crate) fn lower(&mut self, clock: ClockId, time: i64) {
        if time < self.times[clock.as_usize()] {
            self.set(clock, time);
        }
    }

    #[inline]
    fn play(&mut self, at: usize) {
        let (left, right) = (self.winners[2 * at], self.winners[2 * at + 1]);
        let first = self.times[left.as_usize()] <= self.times[right.as_usize()];
        self.winners[at] = if first { left } else { right };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_wins_and_of_equals_the_first() {
        let mut merge = Merge::new(3);
        assert_eq!(merge.winner(), (ClockId(0), i64::MIN));
        for (clock, time) in [(0, 7), (1, 5), (2, 5)] {
            merge.set(ClockId(clock), time);
        }
        assert_eq!(merge.winner(), (ClockId(1), 5));
        merge.set(ClockId(1), 8);
        assert_eq!(merge.winner(), (ClockId(2), 5));
        merge.set(ClockId(2), i64::MAX);
        assert_eq!(merge.winner(), (ClockId(0), 7));
    }

    #[test]
    fn clocks_may_come_later() {
        let mut merge = Merge::new(0);
        for clocks in 0..9 {
            merge.grow(clocks);
            let clock = ClockId(clocks as u32);
            assert_eq!(merge.winner(), (clock, i64::MIN));
            merge.set(clock, -(clocks as i64));
            assert_eq!(merge.winner(), (clock, -(clocks as i64)));
        }
        assert_eq!(merge.time(ClockId(3)), -3);
    }
}
