//! Ranks under one name of a host, some of which contradict each other.
//!
//! The name joins ranks whose clocks differ, so it proves nothing about the others either. That two
//! contradict nothing is no proof: of clocks 0, 0.4 and 1.7 ms ahead the first two agree as long as
//! operations take longer than 0.4 ms. With `room(a, b)` the least time from a begin of `a` to an
//! end of `b` that waits for it, as recorded, their clocks differ by something in
//!
//! ```text
//! -room(a, b) .. room(b, a)      width = room(a, b) + room(b, a), at least 0 where none is reversed
//! spread = the most that any room of that name is below 0
//! ```
//!
//! Clocks that differ by any amount up to `spread`, either way, differ by one of a given interval with a
//! chance of `width / (2 spread)`. Launchers put runs of successive ranks, all equally long, on one
//! host. So ranks are divided into the longest such runs, at least two, within which nothing is
//! contradicted and every rank but the first has a width to one before it. The truth could be
//! shorter runs that came together by a coincidence in each of the `k` runs. With `2 k` halves of runs it is
//! a coincidence, too, that those agree which follow each other, if no others do:
//!
//! ```text
//! (largest width / (2 spread)) ^ k  <=  1 / 20
//! the same / (1 * 3 * 5 * ... * (2 k - 1)), where all ranks of different runs contradict each other
//! ```
//!
//! If there is no division of which that is true, each rank is on its own.

/// The chance of a coincidence that is not reckoned with.
const CHANCE: f64 = 0.05;

/// The least times from begins to ends that wait for them, for each pair of ranks under one name.
pub(crate) struct Rooms {
    ranks: usize,
    least: Vec<Option<i64>>,
}

impl Rooms {
    /// Nothing is known of so many ranks yet.
    pub(crate) fn new(ranks: usize) -> Self {
        let least = vec![None; ranks * ranks];
        Self { ranks, least }
    }

    /// The end of one rank that waits for a begin of another comes so many ticks after it.
    pub(crate) fn take(&mut self, begin: usize, end: usize, ticks: i64) {
        if let Some(least) = self.least.get_mut(begin * self.ranks + end) {
            *least = Some(least.map_or(ticks, |it| it.min(ticks)));
        }
    }

    fn room(&self, begin: usize, end: usize) -> Option<i64> {
        self.least.get(begin * self.ranks + end).copied().flatten()
    }

    /// The least difference of the two clocks that differ most.
    fn spread(&self) -> i64 {
        let least = self.least.iter().flatten().min();
        least.map_or(0, |it| it.saturating_neg())
    }

    /// The width between two ranks, if they wait for each other.
    fn width(&self, a: usize, b: usize) -> Option<i64> {
        Some(self.room(a, b)?.saturating_add(self.room(b, a)?))
    }

    fn is_reversed(&self, a: usize, b: usize) -> bool {
        [self.room(a, b), self.room(b, a)]
            .into_iter()
            .flatten()
            .any(|it| it < 0)
    }

    /// How many successive ranks share a clock each time: 1 if nothing is evidence that any do.
    pub(crate) fn run(&self) -> usize {
        let lengths = (2..=self.ranks / 2).rev();
        let mut lengths = lengths.filter(|it| self.ranks.is_multiple_of(*it));
        lengths.find(|it| self.is_evident(*it)).unwrap_or(1)
    }

    /// True if runs of a length share clocks, by more than coincidence.
    fn is_evident(&self, length: usize) -> bool {
        let mut largest = 0;
        for rank in 0..self.ranks {
            let first = rank - rank % length;
            if (first..rank).any(|it| self.is_reversed(it, rank)) {
                return false;
            }
            let narrowest = (first..rank).filter_map(|it| self.width(it, rank)).min();
            match narrowest {
                Some(width) => largest = largest.max(width),
                None if rank == first => {}
                None => return false,
            }
        }
        let chance = largest as f64 / (2.0 * self.spread() as f64);
        let runs = self.ranks / length;
        let together = chance.powf(runs as f64);
        let pairings: f64 = (0..runs).map(|it| (2 * it + 1) as f64).product();
        let chance = if self.is_clean(length) {
            together / pairings
        } else {
            together
        };
        chance <= CHANCE
    }

    /// True if ranks of different runs contradict each other, as far as they wait for each other.
    fn is_clean(&self, length: usize) -> bool {
        let pairs = (0..self.ranks).flat_map(|a| (0..a).map(move |b| (a, b)));
        let mut apart = pairs.filter(|(a, b)| a / length != b / length);
        apart.all(|(a, b)| self.width(a, b).is_none() || self.is_reversed(a, b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rooms of ranks whose clocks are so far ahead, where ends come so long after all have begun.
    fn rooms(ahead: &[i64], takes: i64) -> Rooms {
        let mut rooms = Rooms::new(ahead.len());
        for (a, begin) in ahead.iter().enumerate() {
            for (b, end) in ahead.iter().enumerate().filter(|it| it.0 != a) {
                rooms.take(a, b, end + takes - begin);
            }
        }
        rooms
    }

    #[test]
    fn only_runs_with_clocks_that_can_hardly_agree_by_chance_share_one() {
        assert_eq!(rooms(&[0, 0, 0, 0, 900, 900, 900, 900], 20).run(), 4);
        assert_eq!(rooms(&[0, 0, 900, 900, 300, 300, 600, 600], 20).run(), 2);
        // The widths are those of coincidences.
        assert_eq!(rooms(&[0, 0, 900, 900], 440).run(), 1);
        assert_eq!(rooms(&[0, 0, 900, 900, 40, 40, 700, 700], 400).run(), 1);
        // A part of a host alone, a rank less, ranks in another order.
        assert_eq!(rooms(&[0, 0, 0, 900], 20).run(), 1);
        assert_eq!(rooms(&[0, 0, 0, 900, 900], 20).run(), 1);
        assert_eq!(rooms(&[0, 900, 0, 900], 20).run(), 1);
        assert_eq!(rooms(&[0, 400, 1_700, 0], 500).run(), 1);
    }

    #[test]
    fn who_never_waits_for_another_is_no_evidence() {
        let mut some = rooms(&[0, 0, 900, 900], 20);
        some.least[1] = None;
        assert_eq!(some.run(), 1);
    }
}
