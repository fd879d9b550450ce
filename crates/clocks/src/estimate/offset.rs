//! The offset of a clock, to be added to it: a piecewise linear function of what it shows.
//!
//! ```
//! use retime_clocks::estimate::Offset;
//! let offset = Offset::line((1_000, 20.0), (2_000, 25.0));
//! assert_eq!(offset.at(1_500), 22.5);
//! assert_eq!(offset.at(5_000), 25.0); // constant beyond its ends
//! assert_eq!(Offset::constant(-3.0).at(7), -3.0);
//! assert!(Offset::line((1_000, 20.0), (2_000, 20.9)).is_constant() && !offset.is_constant());
//! ```

use serde::{Deserialize, Serialize};

/// A piecewise linear function from stamps (ticks since the base) to ticks to
/// add; constant before its first and after its last knot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Offset {
    knots: Vec<(i64, f64)>,
    /// Between which stamps the clock was set, in order.
    steps: Vec<(i64, i64)>,
}

impl Offset {
    /// An offset that is the same at all times.
    pub fn constant(ticks: f64) -> Self {
        Self {
            knots: vec![(0, ticks)],
            steps: Vec::new(),
        }
    }

    /// A straight line between two points.
    pub fn line(from: (i64, f64), to: (i64, f64)) -> Self {
        Self::through(vec![from, to])
    }

    /// Through points; of several at one stamp the last counts.
    pub fn through(mut points: Vec<(i64, f64)>) -> Self {
        points.sort_by_key(|&(at, _)| at);
        let mut knots: Vec<(i64, f64)> = Vec::with_capacity(points.len());
        for point in points {
            match knots.last_mut() {
                Some(last) if last.0 == point.0 => *last = point,
                _ => knots.push(point),
            }
        }
        Self {
            knots,
            steps: Vec::new(),
        }
    }

    /// This offset, known to be of a clock that was set between these stamps.
    #[must_use]
    pub fn with_steps(mut self, steps: &[(i64, i64)]) -> Self {
        self.steps = steps.to_vec();
        self
    }

    /// Between which stamps the clock is known to have been set, in order.
    pub fn steps(&self) -> &[(i64, i64)] {
        &self.steps
    }

    /// The points between which it is linear, by rising stamp.
    pub fn knots(&self) -> &[(i64, f64)] {
        &self.knots
    }

    /// True if it is the same at all times, to less than a tick.
    pub fn is_constant(&self) -> bool {
        let values = || self.knots.iter().map(|knot| knot.1);
        let (low, high) = (
            values().fold(f64::INFINITY, f64::min),
            values().fold(f64::NEG_INFINITY, f64::max),
        );
        self.knots.is_empty() || high - low < 1.0
    }

    /// The ticks to add at a stamp.
    pub fn at(&self, stamp: i64) -> f64 {
        let after = self.knots.partition_point(|&(at, _)| at <= stamp);
        match (after.checked_sub(1), self.knots.get(after)) {
            (None, None) => 0.0,
            (None, Some(&(_, first))) => first,
            (Some(before), None) => self.knots[before].1,
            (Some(before), Some(&(end, to))) => {
                let (start, from) = self.knots[before];
                from + (to - from) * ((stamp - start) as f64 / (end - start) as f64)
            }
        }
    }

    /// The offset to be added to a time `stamp + at(stamp)` for the stamp, with bends
    /// at whole ticks; `None` where that time does not advance.
    pub fn inverse(&self) -> Option<Self> {
        let knots = self.knots.iter();
        let points = knots.map(|&(stamp, add)| (stamp.saturating_add(add.round() as i64), -add));
        let points: Vec<(i64, f64)> = points.collect();
        let advances = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let finite = points.iter().all(|(_, add)| add.is_finite());
        (advances && finite).then(|| Self::through(points))
    }

    /// The common time at which a clock shows `stamp`, to the nearest tick.
    pub fn common_time(&self, stamp: i64) -> i64 {
        stamp.saturating_add(self.at(stamp).round() as i64)
    }

    /// The offset with the common time `t + change(t)` instead of `t`; `None` where a time does not
    /// advance.
    pub fn onto(&self, change: &Self) -> Option<Self> {
        let shown = self.inverse()?;
        let own = self.knots.iter().map(|&(stamp, _)| stamp);
        let bends = change.knots.iter().map(|&(at, _)| shown.common_time(at));
        let mut stamps: Vec<i64> = own.chain(bends).collect();
        stamps.sort_unstable();
        stamps.dedup();
        let point = |stamp: i64| (stamp, self.at(stamp) + change.at(self.common_time(stamp)));
        let points = stamps.into_iter().map(point).collect();
        Some(Self::through(points).with_steps(&self.steps))
    }
}
