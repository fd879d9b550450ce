//! How a quantity is spread, in fixed memory.

/// Sixteen buckets for every doubling: a quantile is off by 6 % at most.
const STEPS: u32 = 16;

/// Counts of values by size.
#[derive(Clone, Debug)]
pub struct Spread {
    counts: Vec<u64>,
    total: u64,
    largest: u64,
}

impl Default for Spread {
    fn default() -> Self {
        Self {
            counts: vec![0; bucket(u64::MAX) + 1],
            total: 0,
            largest: 0,
        }
    }
}

impl Spread {
    /// Counts a value.
    #[inline]
    pub fn add(&mut self, value: u64) {
        self.counts[bucket(value)] += 1;
        self.total += 1;
        self.largest = self.largest.max(value);
    }

    /// How many were counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The largest value.
    pub fn largest(&self) -> u64 {
        self.largest
    }

    /// A value that the given share of all values does not exceed.
    pub fn quantile(&self, share: f64) -> u64 {
        let wanted = (share * self.total as f64).ceil() as u64;
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted.max(1) {
                return end_of(bucket).min(self.largest);
            }
        }
        self.largest
    }
}

/// Small values have their own bucket, larger ones share it with others whose
/// first five bits are the same.
#[inline]
fn bucket(value: u64) -> usize {
    let shift = (64 - value.leading_zeros()).saturating_sub(STEPS.ilog2() + 1);
    (shift * STEPS) as usize + (value >> shift) as usize
}

/// The largest value of a bucket.
fn end_of(bucket: usize) -> u64 {
    let steps = STEPS as usize;
    let shift = (bucket / steps).saturating_sub(1);
    let first = (bucket - shift * steps) as u128;
    (((first + 1) << shift) - 1).min(u128::from(u64::MAX)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_off_by_a_sixteenth_at_most() {
        let mut spread = Spread::default();
        (1..=100_000).for_each(|value| spread.add(value));
        for (share, exact) in [(0.0001, 10), (0.5, 50_000), (0.99, 99_000), (1.0, 100_000)] {
            let found = spread.quantile(share);
            assert!(
                found >= exact && found <= exact + exact / 16,
                "{share}: {found}"
            );
        }
        assert_eq!((spread.total(), spread.largest()), (100_000, 100_000));
    }

    #[test]
    fn every_value_lies_in_its_bucket() {
        for value in [0, 1, 15, 16, 31, 32, 33, 1 << 40, u64::MAX - 1, u64::MAX] {
            assert!(end_of(bucket(value)) >= value, "{value}");
            assert!(
                bucket(value) == 0 || end_of(bucket(value) - 1) < value,
                "{value}"
            );
        }
    }
}
