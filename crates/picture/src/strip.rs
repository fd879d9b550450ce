//! Strips: the regions in which a location spent most of its time, bucket by bucket.
//!
//! The time from its first to its last event is cut into equal buckets. Each shows the
//! region in which most of it was spent, calls in that region aside; neighbours that
//! show the same are one run. So a strip takes as much room as pixels, not as events.
//!
//! ```text
//! events   |aaaaaabbaaaabbbbbbbbbaabbbb|
//! buckets  |  a  |  a   |  b   |  b   |    runs: 2 a, 2 b
//! ```

use serde::Serialize;

use crate::regions::Regions;

/// Buckets of all lanes together: 1500 for each of 64. As runs of one each they take
/// some 450 kB.
const BUCKETS: usize = 96 << 10;
/// Buckets of one lane: four times the pixels of a wide screen.
const MOST_BUCKETS: usize = 1 << 14;

/// The regions in which a location spent most of its time, by recorded times.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Strip {
    /// The first event.
    pub from: i64,
    /// The last one.
    pub to: i64,
    /// How many buckets there are between.
    pub buckets: usize,
    /// Runs of equal buckets, two numbers each: how many in a row show the same, and the number of
    /// the region that they show; -1 for none.
    pub runs: Vec<i32>,
}

/// The time that was spent in each region, bucket by bucket.
pub(crate) struct Buckets {
    from: i64,
    to: i64,
    count: usize,
    /// The bucket that is filled, and what was spent in it so far.
    current: usize,
    spent: Vec<(u32, u64)>,
    runs: Vec<(u32, Option<u32>)>,
}

impl Buckets {
    /// For a location of so many that are shown, and its first and last event.
    pub(crate) fn new(from: i64, to: i64, lanes: usize) -> Self {
        Self::of_count(from, to, (BUCKETS / lanes.max(1)).min(MOST_BUCKETS))
    }

    /// So many, unless they would be shorter than a tick.
    pub(crate) fn of_count(from: i64, to: i64, most: usize) -> Self {
        let length = to.saturating_sub(from).max(0) as u64;
        Self {
            from,
            to,
            count: most
                .min(usize::try_from(length).unwrap_or(usize::MAX))
                .max(1),
            current: 0,
            spent: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// Where a bucket begins, rounded down to whole ticks.
    fn begin(&self, bucket: usize) -> i64 {
        let length = i128::from(self.to) - i128::from(self.from);
        self.from + (length * bucket as i128 / self.count as i128) as i64
    }

    /// Takes up a stretch; they come in order.
    pub(crate) fn add(&mut self, from: i64, to: i64, region: u32) {
        let mut at = from;
        while at < to {
            let end = self.begin(self.current + 1);
            if at >= end {
                if self.current + 1 >= self.count {
                    return;
                }
                self.next();
                continue;
            }
            let until = end.min(to);
            let length = (until - at) as u64;
            self.spend(region, length);
            at = until;
        }
    }

    /// Ends a bucket. Where nothing is spent for long, the next are passed one by one:
    /// there are no more of them than pixels.
    fn next(&mut self) {
        let most = self
            .spent
            .drain(..)
            .max_by_key(|it| (it.1, std::cmp::Reverse(it.0)));
        let shows = most.map(|it| it.0);
        match self.runs.last_mut() {
            Some((count, last)) if *last == shows => *count += 1,
            _ => self.runs.push((1, shows)),
        }
        self.current += 1;
    }

    /// With the buckets after the last event.
    pub(crate) fn filled(mut self) -> Self {
        while self.current < self.count {
            self.next();
        }
        self
    }

    /// All of them, once they are [filled](Self::filled).
    pub(crate) fn strip(&self, regions: &Regions) -> Strip {
        let run = |&(count, region): &(u32, Option<u32>)| {
            let region = region.map_or(-1, |it| regions.number(it));
            [count as i32, region]
        };
        Strip {
            from: self.from,
            to: self.to,
            buckets: self.count,
            runs: self.runs.iter().flat_map(run).collect(),
        }
    }

    /// The first bucket of which something is inside, and the first after them; `inside`
    /// is asked for stretches.
    pub(crate) fn met(&self, inside: impl Fn(i64, i64) -> bool) -> (usize, usize) {
        // Coarse ones are asked first: what is inside is in a row, but for a gap between
        // where it is by recorded and where by corrected times, which is drawn too.
        let step = (self.count / 256).max(1);
        let starts = || (0..self.count).step_by(step);
        let end = |start: usize| (start + step).min(self.count);
        let is_met = |start: &usize| inside(self.begin(*start), self.begin(end(*start)));
        let first = starts().find(is_met);
        let last = starts().rev().find(is_met);
        first
            .zip(last)
            .map_or((0, 0), |(first, last)| (first, end(last)))
    }

    /// Some of them, filled, of which no more than so many are told apart: of others each
    /// power of two show what most of them do.
    pub(crate) fn part(&self, first: usize, last: usize, most: usize, regions: &Regions) -> Strip {
        let group = last
            .saturating_sub(first)
            .div_ceil(most)
            .next_power_of_two();
        let first = first / group * group;
        let mut part = Self {
            from: self.begin(first),
            to: self.begin(last),
            count: (last.saturating_sub(first)).div_ceil(group).max(1),
            current: 0,
            spent: Vec::new(),
            runs: Vec::new(),
        };
        let mut at = 0;
        for &(count, region) in &self.runs {
            let end = at + count as usize;
            let (from, to) = (at.clamp(first, last), end.clamp(first, last));
            part.fill(from - first, to - first, group, region);
            at = end;
            if at >= last {
                break;
            }
        }
        // The last group may be cut short; as many as there are count.
        part.to = self.begin(first + part.count * group).max(part.to);
        part.filled().strip(regions)
    }

    /// Takes up buckets of another that show the same, `group` of which make one here.
    fn fill(&mut self, from: usize, to: usize, group: usize, region: Option<u32>) {
        let mut at = from;
        while at < to {
            let end = (self.current + 1) * group;
            if at >= end {
                self.next();
                continue;
            }
            let until = end.min(to);
            if let Some(region) = region {
                self.spend(region, (until - at) as u64);
            }
            at = until;
        }
    }

    /// Adds to what is spent in the bucket that is filled.
    fn spend(&mut self, region: u32, length: u64) {
        match self.spent.iter_mut().find(|it| it.0 == region) {
            Some(known) => known.1 += length,
            None => self.spent.push((region, length)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(buckets: Buckets) -> Vec<(u32, Option<u32>)> {
        let strip = buckets.filled().strip(&Regions::numbered(0..9));
        let run = |run: &[i32]| (run[0] as u32, u32::try_from(run[1]).ok());
        strip.runs.chunks(2).map(run).collect()
    }

    #[test]
    fn buckets_show_what_took_longest() {
        let mut buckets = Buckets {
            count: 4,
            ..Buckets::new(0, 28, 1)
        };
        for (from, to, region) in [(0, 6, 0), (6, 8, 1), (8, 12, 0), (12, 20, 1), (26, 28, 2)] {
            buckets.add(from, to, region);
        }
        assert_eq!(shown(buckets), [(2, Some(0)), (1, Some(1)), (1, Some(2))]);
    }

    #[test]
    fn a_location_with_one_moment_has_one_empty_bucket() {
        let mut buckets = Buckets::new(5, 5, 3);
        buckets.add(5, 5, 1);
        assert_eq!(shown(buckets), [(1, None)]);
    }

    proptest! {
        #[test]
        fn runs_cover_all_buckets(
            length in 0..1_000_000_i64,
            stretches in proptest::collection::vec((0..5000_i64, 0..5_u32), 0..60),
        ) {
            let mut buckets = Buckets::new(-7, length - 7, 16);
            let mut at = -7;
            for (long, region) in stretches {
                buckets.add(at, at + long, region);
                at += long;
            }
            let expected = buckets.count;
            prop_assert!(expected <= MOST_BUCKETS);
            let count: u32 = shown(buckets).iter().map(|it| it.0).sum();
            prop_assert_eq!(count as usize, expected);
        }
    }

    #[test]
    fn a_part_shows_what_most_of_its_buckets_do() {
        let mut buckets = Buckets::of_count(0, 16, 16);
        for (from, to, region) in [(0, 5, 0), (5, 8, 1), (9, 16, 2)] {
            buckets.add(from, to, region);
        }
        let buckets = buckets.filled();
        let inside = |from: i64, to: i64| from < 13 && to > 2;
        assert_eq!(buckets.met(inside), (2, 13));
        let part = buckets.part(2, 13, 4, &Regions::numbered(0..3));
        assert_eq!((part.from, part.to, part.buckets), (0, 16, 4));
        assert_eq!(part.runs, [1, 0, 1, 1, 2, 2]);
        let whole = buckets.part(0, 16, 100, &Regions::numbered(0..3));
        assert_eq!(whole, buckets.strip(&Regions::numbered(0..3)));
    }
}
