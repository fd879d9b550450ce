//! Straight lines through differences of clocks.

use crate::clocks::ClockId;
use crate::estimate::Offset;

/// What to add to a clock, as a straight line over what it shows. Anchored at a
/// stamp, since stamps are too large to multiply by small slopes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    at: i64,
    value: f64,
    slope: f64,
}

impl Line {
    /// Nothing to add.
    pub(crate) const LEVEL: Self = Self {
        at: 0,
        value: 0.0,
        slope: 0.0,
    };

    /// The least-squares line through `(stamp, ticks)`; level through points of
    /// one stamp. `None` without points.
    pub(crate) fn through(points: &[(i64, f64)]) -> Option<Self> {
        let &(at, anchor) = points.first()?;
        let count = points.len() as f64;
        let from_anchor = |&(stamp, ticks): &(i64, f64)| (distance(at, stamp), ticks - anchor);
        let sums = points.iter().map(from_anchor);
        let (x, y) = sums.fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
        let (x, y) = (x / count, y / count);
        let (mut covariance, mut variance) = (0.0, 0.0);
        for (stamp, ticks) in points.iter().map(from_anchor) {
            covariance += (stamp - x) * (ticks - y);
            variance += (stamp - x) * (stamp - x);
        }
        let slope = if variance > 0.0 {
            covariance / variance
        } else {
            0.0
        };
        Some(Self {
            at,
            value: anchor + y - slope * x,
            slope,
        })
    }

    /// What to add at a stamp.
    pub(crate) fn value(&self, stamp: i64) -> f64 {
        self.value + self.slope * distance(self.at, stamp)
    }

    /// What to add to show the time of the clock with the line `other`, if both
    /// lines lead to a common time: with `t = x + y(x)` on both clocks,
    /// `x' = x + (y(x) - y'(x)) / (1 + slope')`.
    pub(crate) fn relative_to(&self, other: &Self, stamp: i64) -> f64 {
        (self.value(stamp) - other.value(stamp)) / (1.0 + other.slope)
    }
}

/// The lines as offsets to the time of the clock with the line `reference`, each
/// over the stamps that its clock shows.
pub(crate) fn rebased(
    lines: &[Option<Line>],
    reference: &Line,
    extent: impl Fn(ClockId) -> Option<(i64, i64)>,
) -> Vec<Option<Offset>> {
    let offset = |(clock, line): (usize, &Option<Line>)| {
        let line = line.as_ref()?;
        let (first, last) = extent(ClockId(clock as u32)).unwrap_or((line.at, line.at));
        let end = |stamp: i64| (stamp, line.relative_to(reference, stamp));
        Some(Offset::line(end(first), end(last)))
    };
    lines.iter().enumerate().map(offset).collect()
}

/// From a stamp to another, as a number.
fn distance(from: i64, to: i64) -> f64 {
    (i128::from(to) - i128::from(from)) as f64
}

/// The middle between two bounds.
pub(crate) fn middle((lower, upper): (i64, i64)) -> f64 {
    (i128::from(lower) + i128::from(upper)) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regression_by_hand() {
        let line = Line::through(&[(10, 1.0), (20, 3.0), (30, 2.0)]).unwrap();
        assert!((line.value(20) - 2.0).abs() < 1e-12);
        assert!((line.slope - 0.05).abs() < 1e-12);
        let level = Line::through(&[(5, 1.0), (5, 3.0)]).unwrap();
        assert!((level.value(1 << 60) - 2.0).abs() < 1e-12);
        assert_eq!(Line::through(&[]), None);
    }

    #[test]
    fn two_clocks_agree_whichever_is_the_reference() {
        let far = 1_700_000_000_000_000_000;
        let a = Line::through(&[(far, 50.0), (far + 1_000_000, 150.0)]).unwrap();
        let b = Line::through(&[(far, -20.0), (far + 1_000_000, 30.0)]).unwrap();
        // Both clocks show the same common time at these stamps.
        let at = far + 400_000;
        let common = a.value(at);
        let shown = common - b.value(at); // b's stamp, relative to `at`, but for its slope
        let shown = shown / (1.0 + b.slope);
        assert!((a.relative_to(&b, at) - shown).abs() < 1e-9);
    }
}
