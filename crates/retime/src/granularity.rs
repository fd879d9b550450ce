//! How coarse each clock is.
//!
//! A stamp stands for all moments until the clock shows the next one. That may
//! be more than a tick of the trace: a microsecond clock can be recorded in
//! nanoseconds. All stamps of such a clock are congruent, so their distances
//! have a common divisor. With enough stamps, that cannot be chance.

/// Stamps that a clock needs for their divisor to say anything.
const FEWEST: u32 = 64;

/// Ticks from one stamp that a clock can show to the next, told from some of its
/// stamps; at least 1.
pub(crate) fn granularity(stamps: impl Iterator<Item = i64>) -> i64 {
    let mut shown = Shown::default();
    for stamp in stamps {
        shown.add(stamp);
        // No common divisor is smaller.
        if shown.divisor == 1 {
            return 1;
        }
    }
    shown.granularity()
}

/// What the stamps of a clock have in common so far.
#[derive(Clone, Copy, Default)]
pub(crate) struct Shown {
    last: Option<i64>,
    /// Common divisor of the distances.
    divisor: u64,
    /// How many distances were not 0.
    distances: u32,
}

impl Shown {
    #[inline]
    pub(crate) fn add(&mut self, stamp: i64) {
        if self.divisor == 1 {
            return;
        }
        if let Some(last) = self.last.replace(stamp)
            && last != stamp
        {
            self.divisor = divisor(self.divisor, last.abs_diff(stamp));
            self.distances = self.distances.saturating_add(1);
        }
    }

    pub(crate) fn granularity(&self) -> i64 {
        if self.distances < FEWEST {
            return 1;
        }
        i64::try_from(self.divisor).unwrap_or(1).max(1)
    }
}

fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
