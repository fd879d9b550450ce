//! What a location did most of the time.
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
/// Of one lane: four times the pixels of a wide screen.
const MOST_BUCKETS: usize = 1 << 14;

/// What a location did most of the time, by recorded times.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Strip {
    /// The first event.
    pub from: i64,
    /// The last one.
    pub to: i64,
    /// How many buckets there are between.
    pub buckets: usize,
    /// By turns how many of them in a row show the same, and the number of the region
    /// that they show; -1 for none.
    pub runs: Vec<i32>,
}

/// What was spent where, bucket by bucket.
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
        let length = to.saturating_sub(from).max(0) as u64;
        let most = (BUCKETS / lanes.max(1)).min(MOST_BUCKETS);
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
            match self.spent.iter_mut().find(|it| it.0 == region) {
                Some(known) => known.1 += length,
                None => self.spent.push((region, length)),
            }
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

    pub(crate) fn strip(&self, regions: &Regions) -> Strip {
        let mut filled = Self {
            spent: self.spent.clone(),
            runs: self.runs.clone(),
            ..*self
        };
        while filled.current < filled.count {
            filled.next();
        }
        let run = |&(count, region): &(u32, Option<u32>)| {
            let region = region.map_or(-1, |it| regions.number(it));
            [count as i32, region]
        };
        Strip {
            from: self.from,
            to: self.to,
            buckets: self.count,
            runs: filled.runs.iter().flat_map(run).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(buckets: &Buckets) -> Vec<(u32, Option<u32>)> {
        let strip = buckets.strip(&Regions::numbered(0..9));
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
        assert_eq!(shown(&buckets), [(2, Some(0)), (1, Some(1)), (1, Some(2))]);
    }

    #[test]
    fn a_location_with_one_moment_has_one_empty_bucket() {
        let mut buckets = Buckets::new(5, 5, 3);
        buckets.add(5, 5, 1);
        assert_eq!(shown(&buckets), [(1, None)]);
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
            let count: u32 = shown(&buckets).iter().map(|it| it.0).sum();
            prop_assert_eq!(count as usize, buckets.count);
            prop_assert!(buckets.count <= MOST_BUCKETS);
        }
    }
}
