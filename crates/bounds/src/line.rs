//! The straight line that a clock's estimated offset follows overall.
//!
//! A drift bound says how far the rate of a clock strays from a rate that is
//! known; which rate that is, an estimate tells. Its fine structure must not
//! count: where it follows noise, its slope means nothing. The line's slope is
//! the median of slopes over an eighth of the run each (Theil-Sen at one
//! distance), without the stretches in which the clock is known to have been set. So neither
//! these nor a few steps that are not known tilt it. It passes through the median of what remains.
//!
//! It is read for every dependency, so ticks are plain floats: exact to 1/64 of a
//! tick at 10^14, far less than any drift leaves open. Where lines are put one
//! after the other that would not do, hence `estimate/clock_line`.

use serde::{Deserialize, Serialize};

use retime_clocks::estimate::{Estimate, Offset};
use retime_numerics::median::median;

/// Parts into which a run is cut.
const PARTS: usize = 64;
/// How many of them a slope is taken over.
const APART: usize = 8;

/// The offset that is added to a clock, as a straight line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct OffsetLine {
    /// A stamp in the middle, so that distances from it stay small.
    pub(super) middle: i64,
    /// Ticks there.
    pub(super) ticks: f64,
    /// Ticks per tick.
    pub(super) slope: f64,
}

impl OffsetLine {
    /// Ticks at a stamp.
    #[inline]
    pub(super) fn at(&self, stamp: i64) -> f64 {
        self.ticks + self.slope * stamp.saturating_sub(self.middle) as f64
    }

    /// The time of the reference at a stamp.
    #[inline]
    pub(super) fn on_reference(&self, stamp: i64) -> i64 {
        stamp.saturating_add(self.at(stamp).round() as i64)
    }

    /// The line that an offset follows between two stamps.
    fn through(offset: &Offset, first: i64, last: i64) -> Self {
        let points = points(offset, first, last);
        let slope = median(&mut slopes(offset, &points)).unwrap_or(0.0);
        let middle = i64::midpoint(first, last);
        let rest = points
            .iter()
            .map(|&(at, ticks)| ticks - slope * (at - middle) as f64);
        Self {
            middle,
            ticks: median(&mut rest.collect::<Vec<_>>()).unwrap_or(0.0),
            slope,
        }
    }
}

/// Stamps that cut a run into [`PARTS`], each with the offset there.
fn points(offset: &Offset, first: i64, last: i64) -> Vec<(i64, f64)> {
    let stamp = |part: usize| {
        let along = i128::from(last) - i128::from(first);
        (i128::from(first) + along * part as i128 / PARTS as i128) as i64
    };
    let parts = 0..=PARTS;
    parts.map(|it| (stamp(it), offset.at(stamp(it)))).collect()
}

/// The slopes of an offset over an eighth of the run each, without the stretches in which the clock was set.
fn slopes(offset: &Offset, points: &[(i64, f64)]) -> Vec<f64> {
    let set: Vec<Run> = points.iter().map(|it| Run::set(offset, it.0)).collect();
    let slope = |from: usize| {
        let ends = [from, from + APART];
        let [start, end] = ends.map(|it| Run::to(points[it]).without(&set[it]));
        end.without(&start).slope()
    };
    (0..=PARTS - APART).filter_map(slope).collect()
}

/// The most by which the rate of a clock, over an eighth of the run, strays from its rate over all of it, as
/// a share, by an estimate; `extents` are the first and the last stamp of each clock. Clocks for
/// which a drift bound holds stray by no more.
///
/// ```
/// use retime_bounds::largest_stray;
/// use retime_clocks::estimate::{Estimate, Offset};
/// use retime_model::ClockId;
/// // The second clock is slewed by 500 ppm in the second half of the run: by 250 ppm on average.
/// let slewed = Offset::through(vec![(0, 0.0), (1_000_000, 0.0), (2_000_000, 500.0)]);
/// let offsets = vec![Some(Offset::constant(0.0)), Some(slewed)];
/// let estimate = Estimate { offsets, reference: ClockId(0) };
/// let stray = largest_stray(&estimate, &[Some((0, 2_000_000)); 2]);
/// assert!((stray - 250e-6).abs() < 1e-9);
/// ```
pub fn largest_stray(estimate: &Estimate, extents: &[Option<(i64, i64)>]) -> f64 {
    let of_clock = |(offset, extent): (&Option<Offset>, &Option<(i64, i64)>)| {
        let (offset, (first, last)) = (offset.as_ref()?, (*extent)?);
        let points = points(offset, first, last);
        let set = Run::set(offset, last);
        let whole = Run::to(*points.last()?).without(&Run::to(points[0]));
        let mean = whole.without(&set).slope()?;
        let strays = slopes(offset, &points).into_iter();
        Some(strays.map(|it| (it - mean).abs()).fold(0.0, f64::max))
    };
    let clocks = estimate.offsets.iter().zip(extents);
    clocks.filter_map(of_clock).fold(0.0, f64::max)
}

/// The ticks by which an offset grows within some ticks of its clock.
#[derive(Clone, Copy)]
struct Run {
    lasts: i64,
    grows: f64,
}

impl Run {
    /// From 0 to a point of an offset.
    fn to((stamp, ticks): (i64, f64)) -> Self {
        Self {
            lasts: stamp,
            grows: ticks,
        }
    }

    /// All stretches up to a stamp in which the clock is known to have been set.
    fn set(offset: &Offset, stamp: i64) -> Self {
        let begun = offset.steps().iter().filter(|it| it.0 < stamp);
        let none = Self {
            lasts: 0,
            grows: 0.0,
        };
        begun.fold(none, |sum, &(after, until)| {
            let until = until.min(stamp);
            Self {
                lasts: sum.lasts.saturating_add(until.saturating_sub(after)),
                grows: sum.grows + offset.at(until) - offset.at(after),
            }
        })
    }

    fn without(self, part: &Self) -> Self {
        Self {
            lasts: self.lasts.saturating_sub(part.lasts),
            grows: self.grows - part.grows,
        }
    }

    /// Ticks per tick; `None` of no length.
    fn slope(self) -> Option<f64> {
        (self.lasts > 0).then(|| self.grows / self.lasts as f64)
    }
}

/// The line of each clock; `None` for clocks that the estimate leaves out. That
/// of the reference is zero.
pub(super) fn lines(base: &Estimate, extents: &[Option<(i64, i64)>]) -> Vec<Option<OffsetLine>> {
    let line = |(clock, extent): (usize, &Option<(i64, i64)>)| {
        if clock == base.reference.as_usize() {
            return Some(OffsetLine::default());
        }
        let (first, last) = (*extent)?;
        let offset = base.offsets.get(clock)?.as_ref()?;
        let line = OffsetLine::through(offset, first, last);
        (line.ticks.is_finite() && line.slope.is_finite()).then_some(line)
    };
    extents.iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_does_not_tilt_the_line() {
        let offset = Offset::through(vec![(0, 10.0), (500, 15.0), (501, 915.0), (1_000, 920.0)]);
        let line = OffsetLine::through(&offset, 0, 1_000);
        assert!((line.slope - 0.01).abs() < 1e-3, "{line:?}");
    }

    /// In each eighth of the run the clock is set by 900 ticks, as a rate of 720 per thousand would.
    #[test]
    fn a_staircase_does_not_tilt_the_line() {
        let stair = |step: i64| {
            let at = 1_250 * step;
            let add = (at / 100 + 900 * step) as f64;
            [(at, add), (at + 1_240, add + 12.4)]
        };
        let steps: Vec<(i64, i64)> = (1..8).map(|it| (1_250 * it - 10, 1_250 * it)).collect();
        let offset = Offset::through((0..8).flat_map(stair).collect());
        let line = OffsetLine::through(&offset.with_steps(&steps), 0, 10_000);
        assert!((line.slope - 0.01).abs() < 1e-4, "{line:?}");
    }
}
