//! How far the corrected times of a trace can be from the truth.
//!
//! Bounds say where the truth is, a correction what was written; their distance
//! is the error bound of each event. The true time of an event corrected to `x`
//! lies in `[x - before, x + after]`:
//!
//! ```text
//! U = max(before, after)              the stated bound of the error
//! half width = (before + after) / 2   the least that any method could state
//! ```
//!
//! Both are functions of the raw stamp of each clock. They are saved with few
//! knots: simplified upwards by at most a tenth of their mean half width, so that
//! the truth is never outside because of that.
//!
//! The truth is meant as time of the reference. Where a correction moves the
//! whole trace, so that no stamp is negative, the shift does not count as error; nor does what the
//! [common time](retime_clocks::estimate::Reference) is ahead of the reference: with `c(t)` for that at the
//! time `t` of the reference, bounds `[l, h]` of that time become `[l + c(l), h + c(h)]`, as `t + c(t)`
//! advances.
//!
//! ```
//! use retime_model::Timestamp;
//! use retime_bounds::{ClockErrorBound, ErrorKnot};
//! let knots = vec![ErrorKnot(1_000, Some(20.0), Some(30.0)), ErrorKnot(2_000, Some(40.0), None)];
//! let bound = ClockErrorBound::through(knots);
//! assert_eq!(bound.at(Timestamp(500)), (20.0, 30.0));
//! // Towards an end where nothing is known, nothing is known.
//! assert_eq!(bound.at(Timestamp(1_500)), (30.0, f64::INFINITY));
//! ```

use serde::{Deserialize, Serialize};

use super::cover::{JointSample, cover};
use super::offset_bounds::{ClockBounds, OffsetBounds};
use retime_causality::Nodes;
use retime_causality::edges::Source;
use retime_causality::merge;
use retime_clocks::estimate::Offset;
use retime_model::pace::Pace;
use retime_model::{Cancelled, Monitor, Timestamp};
use retime_model::{ClockId, Clocks};
use retime_model::{ClockMap, Correction, Knot};
use retime_model::{LocationIndex, TraceInfo};
use retime_numerics::parallel;

/// The share of the mean half width by which a bound may be widened for the
/// sake of fewer knots.
const TOLERANCE: f64 = 0.1;
/// Bounds are saved in these parts of a tick, rounded up.
const DIGITS: f64 = 8.0;
/// Bounds of a clock have this many knots at most.
const MOST_KNOTS: usize = 4096;
/// Moments at which the common shift of a correction is looked for.
const LOOKS: i128 = 64;

/// Error bounds of corrected times, by clock.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorBounds {
    /// `None` where nothing bounds the error of a clock.
    pub clocks: Vec<Option<ClockErrorBound>>,
}

/// Error bounds of one clock over its raw stamps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClockErrorBound {
    knots: Vec<ErrorKnot>,
}

/// A raw stamp, and by how many ticks the truth may lie before and after the
/// corrected one; nothing where no bound is known. Linear in between.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorKnot(pub u64, pub Option<f64>, pub Option<f64>);

/// Error bounds of one clock as they are saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedErrorBound {
    /// Ids of the locations that read the clock.
    pub locations: Vec<u64>,
    /// `[raw, before, after]` by rising stamp, in ticks.
    pub knots: Vec<ErrorKnot>,
}

/// Error bounds over the events with edges, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct BoundSummary {
    /// Events whose error is bounded.
    pub events: u64,
    /// Events whose error is not, on one side at least.
    pub unbounded: u64,
    /// Mean of `U` over the bounded events.
    pub mean: f64,
    /// The largest `U`.
    pub largest: f64,
    /// Mean of the half width.
    pub mean_half_width: f64,
    /// The largest half width.
    pub largest_half_width: f64,
}

impl ErrorBounds {
    /// The bounds that hold for the times a correction gives, to a time that is ahead of the reference
    /// by `common`, if it is not its own; fails only if `monitor` says to give up. Each process has to
    /// know the maps of its own clocks.
    pub fn new(
        bounds: &OffsetBounds,
        correction: &Correction,
        common: Option<&Offset>,
        source: &dyn Source,
        nodes: &Nodes,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let clocks = correction.clocks();
        let none = Offset::constant(0.0);
        let common = common.unwrap_or(&none);
        let is_own = |clock: ClockId| nodes.has_clock(clocks, clock);
        let extent = |clock: ClockId| source.extent(clock).filter(|_| is_own(clock));
        let reference = bounds.clocks.get(bounds.reference.as_usize());
        let shift = reference
            .and_then(Option::as_ref)
            .filter(|_| is_own(bounds.reference))
            .map_or(0, |own| {
                shift(correction.map(bounds.reference), own, common, nodes)
            });
        // Who does not hold the reference knows of none.
        let merge::Sum(shift) = nodes.whole().all_reduce(merge::Sum(shift));
        let all = clocks;
        let clocks: Vec<ClockId> = (0..bounds.clocks.len() as u32).map(ClockId).collect();
        let bound = |&clock: &ClockId| {
            let of = bounds.clocks[clock.as_usize()].as_ref();
            let Some((of, (first, last))) = of.zip(extent(clock)) else {
                return Ok(None);
            };
            let written = Written {
                map: correction.map(clock),
                nodes,
                first,
                last,
                common,
                shift,
            };
            ClockErrorBound::new(of, &written, monitor).map(Some)
        };
        let own = parallel::try_map(&clocks, bound)?;
        Ok(Self {
            clocks: nodes.by_clock(own, all),
        })
    }

    /// Over the events with edges, all and by clock; fails only if `monitor` says to
    /// give up.
    pub fn summary(
        &self,
        nodes: &Nodes,
        clocks: &Clocks,
        monitor: &dyn Monitor,
    ) -> Result<(BoundSummary, Vec<BoundSummary>), Cancelled> {
        let all: Vec<ClockId> = clocks.iter().collect();
        let one = |&clock: &ClockId| {
            let mut sum = WidthSum::default();
            let mut pace = Pace::of(monitor);
            let bound = self.clocks.get(clock.as_usize()).and_then(Option::as_ref);
            for location in clocks.locations(clock) {
                let own = nodes.of(location.as_usize());
                match bound {
                    None => sum.unbounded += own.len() as u64,
                    Some(bound) => {
                        let mut after = 0;
                        for node in own {
                            pace.event()?;
                            let raw = nodes.timestamp(node);
                            after = bound.after(raw, after);
                            let (earlier, later) = bound.at_place(raw, after);
                            sum.add(earlier, later);
                        }
                    }
                }
            }
            Ok(sum)
        };
        let sums: Vec<WidthSum> = parallel::try_map(&all, one)?;
        let sums = nodes.by_clock(sums, clocks);
        let total = sums.iter().fold(WidthSum::default(), WidthSum::with);
        Ok((
            total.summary(),
            sums.iter().map(WidthSum::summary).collect(),
        ))
    }

    /// The largest `U` at any moment from the first event of a clock to its last, whether it
    /// communicates there or not, of clocks that have any event; `None` where one is not bounded
    /// on both sides all along. Bounds are linear between knots, so they are largest at one.
    pub fn largest_over_run(&self, has_events: impl Fn(ClockId) -> bool) -> Option<f64> {
        let mut largest = 0.0_f64;
        for (clock, bound) in self.clocks.iter().enumerate() {
            if !has_events(ClockId(clock as u32)) {
                continue;
            }
            for &ErrorKnot(_, before, after) in bound.as_ref()?.knots() {
                largest = largest.max(before?).max(after?);
            }
        }
        Some(largest)
    }

    /// The bounds as they are saved; clocks without bounds are left out.
    pub fn save(&self, info: &TraceInfo, clocks: &Clocks) -> Vec<SavedErrorBound> {
        let id = |location: &LocationIndex| Some(info.locations.get(location.as_usize())?.id);
        let bounded = clocks.iter().zip(&self.clocks);
        let saved = bounded.filter_map(|(clock, bound)| {
            Some(SavedErrorBound {
                locations: clocks.locations(clock).iter().filter_map(id).collect(),
                knots: bound.as_ref()?.knots.clone(),
            })
        });
        saved.collect()
    }
}

impl ErrorBounds {
    /// These bounds with so many ticks more on both sides.
    #[must_use]
    pub fn widened(&self, by: f64) -> Self {
        let wider = |knot: &ErrorKnot| {
            let [before, after] = [knot.1, knot.2].map(|it| it.map(|it| it + by));
            ErrorKnot(knot.0, before, after)
        };
        let clock = |bound: &ClockErrorBound| ClockErrorBound {
            knots: bound.knots.iter().map(wider).collect(),
        };
        let clocks = self.clocks.iter();
        Self {
            clocks: clocks.map(|it| it.as_ref().map(clock)).collect(),
        }
    }
}

impl ClockErrorBound {
    /// The bound through saved knots, which are sorted.
    pub fn through(mut knots: Vec<ErrorKnot>) -> Self {
        knots.sort_by_key(|knot| knot.0);
        knots.dedup_by_key(|knot| knot.0);
        Self { knots }
    }

    /// The knots, by rising raw stamp.
    pub fn knots(&self) -> &[ErrorKnot] {
        &self.knots
    }

    /// The ticks by which the truth may lie before and after the corrected time of an event with
    /// this raw stamp; infinite where nothing is known.
    pub fn at(&self, raw: Timestamp) -> (f64, f64) {
        self.at_place(raw, self.knots.partition_point(|knot| knot.0 <= raw.0))
    }

    /// The place of the first knot after a stamp, looked for from a place on that
    /// is near to it.
    fn after(&self, raw: Timestamp, near: usize) -> usize {
        let mut after = near;
        while self.knots.get(after).is_some_and(|knot| knot.0 <= raw.0) {
            after += 1;
        }
        while after > 0 && self.knots[after - 1].0 > raw.0 {
            after -= 1;
        }
        after
    }

    /// How far the truth may lie before and after, given the first knot after the stamp.
    #[inline]
    fn at_place(&self, raw: Timestamp, after: usize) -> (f64, f64) {
        let number = |value: Option<f64>| value.unwrap_or(f64::INFINITY);
        let both = |knot: &ErrorKnot| (number(knot.1), number(knot.2));
        let before = after.checked_sub(1).map(|before| &self.knots[before]);
        match (before, self.knots.get(after)) {
            (None, None) => (f64::INFINITY, f64::INFINITY),
            (Some(end), None) | (None, Some(end)) => both(end),
            (Some(start), Some(_)) if start.0 == raw.0 => both(start),
            (Some(start), Some(end)) => {
                let along = (raw.0 - start.0) as f64 / (end.0 - start.0) as f64;
                let between = |from: f64, to: f64| {
                    if from.is_finite() && to.is_finite() {
                        from + (to - from) * along
                    } else {
                        f64::INFINITY
                    }
                };
                let (from, to) = (both(start), both(end));
                (between(from.0, to.0), between(from.1, to.1))
            }
        }
    }

    fn new(
        bounds: &ClockBounds,
        written: &Written<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let samples = written.samples(bounds, monitor)?;
        let widths = samples
            .iter()
            .filter_map(|it| Some(it.values[0]? + it.values[1]?));
        let (count, sum) = widths.fold((0_u64, 0.0), |(count, sum), it| (count + 1, sum + it));
        let half = sum / 2.0 / count.max(1) as f64;
        let mut tolerance = (half * TOLERANCE).max(1.0 / DIGITS);
        let mut knots = cover(&samples, tolerance);
        // A bound twice as coarse has fewer knots; 64 times is coarse enough.
        for _ in 0..6 {
            if knots.len() <= MOST_KNOTS {
                break;
            }
            monitor.check()?;
            tolerance *= 2.0;
            knots = cover(&samples, tolerance);
        }
        let ticks = |value: Option<f64>| Some((value? * DIGITS).ceil() / DIGITS);
        let knot = |sample: &JointSample<2>| {
            let raw = written.raw(sample.at)?;
            Some(ErrorKnot(
                raw.0,
                ticks(sample.values[0]),
                ticks(sample.values[1]),
            ))
        };
        Ok(Self {
            knots: knots.iter().filter_map(knot).collect(),
        })
    }
}

/// The corrected stamps of a clock.
struct Written<'a> {
    map: &'a ClockMap,
    nodes: &'a Nodes,
    /// The stamp of its first event,
    first: i64,
    /// and of its last one.
    last: i64,
    /// The ticks by which the common time is ahead of the reference,
    common: &'a Offset,
    /// and those by which the correction moves all of the trace besides.
    shift: i64,
}

impl Written<'_> {
    /// The bounds before and after the corrected time, wherever it bends.
    fn samples(
        &self,
        bounds: &ClockBounds,
        monitor: &dyn Monitor,
    ) -> Result<Vec<JointSample<2>>, Cancelled> {
        let knots = self.map.knots().iter();
        // A step must not be felt before it.
        let bends = knots.flat_map(|knot| {
            let at = self.nodes.relative(knot.raw).0;
            [at.saturating_sub(1), at]
        });
        let mut stamps = bounds.stamps();
        stamps.extend(bends);
        // Where either bound comes to a bend of the common time.
        for &(at, _) in self.common.knots() {
            let (low, high) = bounds.at(at);
            let meets = [low, high].map(|it| at.saturating_sub(it as i64));
            stamps.extend(meets.iter().flat_map(|it| [it.saturating_sub(1), *it]));
        }
        stamps.retain(|&at| at >= self.first && at <= self.last);
        stamps.sort_unstable();
        stamps.dedup();
        let mut pace = Pace::of(monitor);
        let sample = |&at: &i64| {
            let sample = pace.event().map(|()| self.sample(bounds, at));
            sample.transpose()
        };
        stamps.iter().filter_map(sample).collect()
    }

    fn sample(&self, bounds: &ClockBounds, at: i64) -> Option<JointSample<2>> {
        let (earliest, latest) = self.corrected(self.raw(at)?)?;
        let (low, high) = bounds.at(at);
        let finite = |value: f64| value.is_finite().then_some(value);
        // Corrected stamps are rounded down.
        let added = |to: i64| (i128::from(to) - i128::from(at) - i128::from(self.shift)) as f64;
        let common = |bound: f64| bound + self.common.at(at.saturating_add(bound as i64));
        Some(JointSample {
            at,
            values: [
                finite(added(latest) - common(low)),
                finite(common(high) - added(earliest) + 1.0),
            ],
        })
    }

    fn raw(&self, at: i64) -> Option<Timestamp> {
        self.nodes.absolute(retime_model::Ticks(at))
    }

    /// The smallest and the largest corrected time of a stamp.
    fn corrected(&self, raw: Timestamp) -> Option<(i64, i64)> {
        let knots = self.map.knots();
        let relative = |stamp: Timestamp| self.nodes.relative(stamp).0;
        if let Ok(at) = knots.binary_search_by_key(&raw, |knot| knot.raw) {
            let Knot { arrive, leave, .. } = knots[at];
            return Some((relative(arrive), relative(leave)));
        }
        let to = relative(self.map.cursor(LocationIndex(0)).map_time(raw)?);
        Some((to, to))
    }
}

/// The ticks that a map mostly adds to the stamps of the reference beyond what undoes its
/// steps and leads to the common time. That is known exactly only before the first of them.
fn shift(map: &ClockMap, reference: &ClockBounds, common: &Offset, nodes: &Nodes) -> i64 {
    let (first, last) = reference.extent;
    let mut cursor = map.cursor(LocationIndex(0));
    let along = i128::from(last) - i128::from(first);
    let stamps = (0..=LOOKS).map(|look| (i128::from(first) + along * look / LOOKS) as i64);
    let added = stamps.filter_map(|at| {
        let to = cursor.map_time(nodes.absolute(retime_model::Ticks(at))?)?;
        let added = nodes.relative(to).0.saturating_sub(at);
        let undoes = reference.undoes(at);
        let ahead = common.at(at.saturating_add(undoes)).round() as i64;
        Some((at, added.saturating_sub(undoes).saturating_sub(ahead)))
    });
    let added: Vec<(i64, i64)> = added.collect();
    let mut all: Vec<i64> = added.iter().map(|it| it.1).collect();
    let middle = all.len() / 2;
    if all.is_empty() {
        return 0;
    }
    let mostly = *all.select_nth_unstable(middle).1;
    let Some(set) = reference.first_set() else {
        return mostly;
    };
    let before = added.iter().filter(|it| it.0 <= set).map(|it| it.1);
    let nearest = before.min_by_key(|it| it.abs_diff(mostly));
    nearest.unwrap_or(mostly)
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct WidthSum {
    events: u64,
    unbounded: u64,
    error: f64,
    largest: f64,
    half: f64,
    largest_half: f64,
}

impl WidthSum {
    fn add(&mut self, before: f64, after: f64) {
        let (error, half) = (before.max(after), f64::midpoint(before, after));
        if !error.is_finite() {
            self.unbounded += 1;
            return;
        }
        self.events += 1;
        self.error += error;
        self.half += half;
        self.largest = self.largest.max(error);
        self.largest_half = self.largest_half.max(half);
    }

    fn with(self, other: &Self) -> Self {
        Self {
            events: self.events + other.events,
            unbounded: self.unbounded + other.unbounded,
            error: self.error + other.error,
            largest: self.largest.max(other.largest),
            half: self.half + other.half,
            largest_half: self.largest_half.max(other.largest_half),
        }
    }

    fn summary(&self) -> BoundSummary {
        let mean = |sum: f64| sum / self.events.max(1) as f64;
        BoundSummary {
            events: self.events,
            unbounded: self.unbounded,
            mean: mean(self.error),
            largest: self.largest,
            mean_half_width: mean(self.half),
            largest_half_width: self.largest_half,
        }
    }
}
