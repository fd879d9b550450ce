//! The difference of two clocks as a linear function of time.
//!
//! What has to be added to a clock to show another one's time is written over
//! the stamps of the clock itself:
//!
//! ```text
//! y(stamp) = difference at `at` + rate * (stamp - at)
//! ```
//!
//! So no common time is needed that nobody knows, and `stamp + y(stamp)` is the
//! other clock's time exactly. Lines put one after the other, from a clock to a
//! second and from there to a third, give
//!
//! ```text
//! y(stamp) = y1(stamp) + y2(stamp + y1(stamp)),   rate = r1 + r2 + r1 r2
//! ```
//!
//! The difference at `at` is kept as whole ticks and a rest: stamps of 10^16
//! ticks leave no fraction in a float.

/// The ticks that have to be added to a clock, as a line over its stamps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClockLine {
    at: i64,
    ticks: i128,
    /// The fraction of a tick to be added besides `ticks`, at least 0 and below 1.
    rest: f64,
    rate: f64,
}

/// The difference of two clocks, and how well the messages between them
/// determine it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PairLine {
    pub(crate) line: ClockLine,
    /// The largest error of the difference at an end of the clock's run, in ticks; infinite where
    /// the messages do not determine the rate.
    pub(crate) uncertainty: f64,
}

impl ClockLine {
    /// The clock that is the common one.
    pub(crate) const NONE: Self = Self {
        at: 0,
        ticks: 0,
        rest: 0.0,
        rate: 0.0,
    };

    pub(crate) fn new(at: i64, ticks: i128, rest: f64, rate: f64) -> Self {
        let whole = rest.floor();
        Self {
            at,
            ticks: ticks.saturating_add(whole as i128),
            rest: rest - whole,
            rate,
        }
    }

    pub(crate) fn constant(ticks: i64) -> Self {
        Self {
            ticks: ticks.into(),
            ..Self::NONE
        }
    }

    pub(crate) fn rate(&self) -> f64 {
        self.rate
    }

    /// The ticks that this line adds at a stamp beyond those that another adds.
    pub(crate) fn above(&self, other: &Self, stamp: i64) -> f64 {
        let whole = self.ticks.saturating_sub(other.ticks) as f64;
        whole + (self.beyond(stamp) - other.beyond(stamp))
    }

    /// The ticks to be added at a stamp besides `ticks`.
    fn beyond(&self, stamp: i64) -> f64 {
        self.rest + self.rate * (i128::from(stamp) - i128::from(self.at)) as f64
    }

    /// Half-way between two lines.
    pub(crate) fn mean(&self, other: &Self) -> Self {
        let at = i64::midpoint(self.at, other.at);
        let ticks = self.ticks.saturating_add(other.ticks);
        let rest = self.beyond(at) + other.beyond(at) + ticks.rem_euclid(2) as f64;
        Self::new(
            at,
            ticks.div_euclid(2),
            rest / 2.0,
            f64::midpoint(self.rate, other.rate),
        )
    }

    /// On to a third clock: `next` is what to add to the second.
    pub(crate) fn then(&self, next: &Self) -> Self {
        let stamp = self.ticks.saturating_add(self.at.into());
        let along = stamp.saturating_sub(next.at.into()) as f64 + self.rest;
        Self::new(
            self.at,
            self.ticks.saturating_add(next.ticks),
            self.rest + next.rest + next.rate * along,
            self.rate + next.rate + self.rate * next.rate,
        )
    }
}

#[cfg(test)]
impl ClockLine {
    /// The ticks to be added at a stamp; a float, so good for reading only up to its 53 bits.
    pub(crate) fn value(&self, stamp: i64) -> f64 {
        self.above(&Self::NONE, stamp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A line with a rate of so many 2^-20, small enough for exact integers.
    fn line(at: i64, ticks: i64, rate: i64) -> ClockLine {
        ClockLine::new(at, ticks.into(), 0.0, rate as f64 / f64::from(1 << 20))
    }

    /// What `line` gives at a stamp, in units of 2^-40.
    fn exact((at, ticks, rate): (i64, i64, i64), stamp_40: i128) -> i128 {
        let at_40 = i128::from(at) << 40;
        let ticks_40 = i128::from(ticks) << 40;
        stamp_40 + ticks_40 + (((stamp_40 - at_40) * i128::from(rate)) >> 20)
    }

    proptest! {
        #[test]
        fn composition_is_exact_on_a_long_trace(
            first in (0..1_i64 << 53, -(1_i64 << 53)..1 << 53, -200..200_i64),
            second in (0..1_i64 << 53, -(1_i64 << 53)..1 << 53, -200..200_i64),
            stamp in 0..1_i64 << 53,
        ) {
            let both = line(first.0, first.1, first.2).then(&line(second.0, second.1, second.2));
            let wanted = exact(second, exact(first, i128::from(stamp) << 40)) - (i128::from(stamp) << 40);
            let whole = wanted.div_euclid(1 << 40);
            let rest = (wanted - (whole << 40)) as f64 / (1_i64 << 40) as f64;
            let error = (both.ticks - whole) as f64 + (both.beyond(stamp) - rest);
            prop_assert!(error.abs() < 0.01, "{error}");
        }

        #[test]
        fn the_mean_lies_half_way(
            first in (-1000..1000_i64, -1000..1000_i64, -99..99_i64),
            second in (-1000..1000_i64, -1000..1000_i64, -99..99_i64),
            stamp in -2000..2000_i64,
        ) {
            let (a, b) = (line(first.0, first.1, first.2), line(second.0, second.1, second.2));
            let wanted = f64::midpoint(a.value(stamp), b.value(stamp));
            prop_assert!((a.mean(&b).value(stamp) - wanted).abs() < 1e-9);
        }
    }

    #[test]
    fn large_differences_keep_their_fractions() {
        let far = 1_i64 << 60;
        let a = ClockLine::new(far, far.into(), 0.25, 1e-4);
        let b = ClockLine::new(far, i128::from(far) + 3, 0.75, 1e-4);
        assert!((b.above(&a, far + 10) - 3.5).abs() < 1e-9);
        assert!((a.mean(&b).above(&a, far) - 1.75).abs() < 1e-9);
    }
}
