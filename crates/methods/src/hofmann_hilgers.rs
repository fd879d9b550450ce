//! Hofmann & Hilgers: all clocks at once, by shortest paths.
//!
//! As [min/max](crate::min_max), but in each sub-interval the bounds
//! of all pairs are [closed](crate::DifferenceBounds) under chains of
//! clocks first. Then the middles of one row of the matrix, `r` being any clock,
//! are corrections that respect every message of the sub-interval:
//!
//! ```text
//! Corr_k(n) = (O+(r,k) + O-(r,k)) / 2         in each sub-interval n
//! y_k       = line of least squares through the Corr_k(n)
//! ```
//!
//! Taken is the row `r` with the smallest sum of half widths
//! `(O-(r,k) - O+(r,k)) / 2`, here over all sub-intervals at once, as the lines
//! need one common base. This `r` is not the time base of the result: the lines
//! of all clocks lead to the time of `r`, and from there that of the reference
//! asked for leads back.
//!
//! A clock that no chain of messages bounds on both sides in a sub-interval has no
//! point there. The lines need not respect the bounds they were made from
//! (thesis, figure 7.4), and bounds without any solution mean that clocks
//! change too fast for the sub-intervals (figure 7.3).
//!
//! The cost is clocks^3 steps per sub-interval, about 2 ns each, and clocks^2
//! numbers per sub-interval: fine up to some 256 clocks with modest numbers of
//! sub-intervals.
//!
//! Source: R. Hofmann, U. Hilgers, *Theory and Tool for Estimating Global Time in
//! Parallel and Distributed Systems* (1998), as told by Rabenseifner 2000,
//! sections 7.5 and 7.6.
//!
//! ```
//! use retime_methods::hofmann_hilgers;
//! use retime::{ClockId, Edge, Edges};
//! let [a, b, c] = [0, 1, 2].map(ClockId);
//! // b is 100 ahead of a, c 300; messages go round and round and take 5.
//! let edges = vec![
//!     Edge::message(a, 0, b, 105),
//!     Edge::message(b, 115, c, 320),
//!     Edge::message(c, 330, a, 35),
//! ];
//! let extents = vec![Some((0, 35)), Some((105, 115)), Some((320, 330))];
//! let estimate = hofmann_hilgers(&Edges::new(edges, extents), |_| 5, Some(1), a, &())?;
//! let offset = |clock: usize| estimate.offsets[clock].as_ref().unwrap().at(0);
//! assert_eq!((offset(0), offset(1), offset(2)), (0.0, -100.0, -300.0));
//! # Ok::<(), retime::estimate::NoEstimate>(())
//! ```

use rayon::prelude::*;

use crate::by_drift;
use crate::closure::DifferenceBounds;
use crate::line::{lines_through, middle, relative_to};
use crate::pair_bounds::PairBounds;
use crate::relation::{Relation, members};
use crate::sub_intervals::{SubIntervals, with_sub_intervals};
use crate::traffic::Traffic;
use retime::edges::{Edge, Edges};
use retime::estimate::{Estimate, NoEstimate};
use retime::pipeline::{Choice, Estimator, Input, Options, Unsolved};
use retime::{ClockId, Monitor};

/// Sub-intervals of all clocks as a method.
#[derive(Clone, Copy, Debug)]
pub struct HofmannHilgers;

impl Estimator for HofmannHilgers {
    fn name(&self) -> &'static str {
        "hofmann-hilgers"
    }

    fn help(&self) -> &'static str {
        "Hofmann and Hilgers: sub-intervals of all clocks, by shortest paths"
    }

    fn describe(&self, _: &Options) -> &'static str {
        "Hofmann and Hilgers"
    }

    fn choices(&self) -> &'static [Choice] {
        &[Choice::Intervals]
    }

    fn estimate(&self, input: &Input<'_>) -> Result<Estimate, Unsolved> {
        let (intervals, reference) = (by_drift::number(input)?, input.reference);
        let monitor = input.problem.monitor;
        Ok(hofmann_hilgers(
            input.edges,
            input.least(),
            intervals,
            reference,
            monitor,
        )?)
    }
}

/// Estimates all clocks together. `least` is the minimal delay of a dependency,
/// in ticks. The number of sub-intervals is by default such that the median pair
/// with messages both ways has 16 each way in each, but at most 8 and at most 2^32
/// / clocks^3; up to 128 times as many where bounds contradict each other, fewer
/// where some clock is bounded on both sides in none.
///
/// # Errors
///
/// Where the bounds of a sub-interval contradict each other: the cycle of clocks
/// is named in the order in which messages go around. Where a clock that has events
/// is related to the others not at all, in one direction only, or in no
/// sub-interval in both.
pub fn hofmann_hilgers(
    edges: &Edges,
    least: impl Fn(&Edge) -> i64,
    intervals: Option<u32>,
    reference: ClockId,
    monitor: &dyn Monitor,
) -> Result<Estimate, NoEstimate> {
    let traffic = Traffic::of(edges, monitor)?;
    let relation = Relation::to(reference, edges, &traffic)?;
    if let Some(error) = relation.one_direction(&traffic) {
        return Err(error);
    }
    let related = members(&relation.both);
    with_sub_intervals(&traffic, intervals, traffic.typical(), |pieces| {
        let bounds = PairBounds::along(&traffic, edges, &least, pieces, monitor)?;
        let numbers = (0..pieces.len()).into_par_iter();
        let closed = numbers.map(|piece| closed(&bounds, piece, edges.clocks(), monitor));
        let closed = all_or_first(closed.collect())?;
        let base = tightest(&closed, &related).unwrap_or(reference);
        let points = |clock| Ok(middles(&closed, pieces, base, clock));
        let lines = lines_through(edges, &related, points)?;
        Ok(relative_to(reference, edges, &lines))
    })
}

/// The closed bounds of a sub-interval.
fn closed(
    bounds: &PairBounds,
    piece: usize,
    clocks: usize,
    monitor: &dyn Monitor,
) -> Result<DifferenceBounds, NoEstimate> {
    let mut closed = DifferenceBounds::new(clocks);
    for (i, k, limit) in bounds.uppers(piece) {
        closed.at_most(i, k, limit);
    }
    closed.close(monitor)??;
    Ok(closed)
}

/// All, or the first error: which of several a parallel collection gives depends
/// on threads.
pub(crate) fn all_or_first(
    closed: Vec<Result<DifferenceBounds, NoEstimate>>,
) -> Result<Vec<DifferenceBounds>, NoEstimate> {
    closed.into_iter().collect()
}

/// The clock to which the others are known best: with the fewest pairs without
/// two bounds, and among those the smallest sum of widths. `None` without clocks.
pub(crate) fn tightest(closed: &[DifferenceBounds], among: &[ClockId]) -> Option<ClockId> {
    let widths = |&clock: &ClockId| {
        let (mut open, mut sum) = (0_u64, 0_i128);
        for bounds in closed {
            for &other in among {
                match bounds.range(clock, other) {
                    Some((lower, upper)) => sum += i128::from(upper) - i128::from(lower),
                    None => open += 1,
                }
            }
        }
        (open, sum)
    };
    among.iter().copied().min_by_key(widths)
}

/// The ticks to add to a clock in the middle of each sub-interval in which it is bounded on both
/// sides, to show the time of `base`.
fn middles(
    closed: &[DifferenceBounds],
    pieces: &SubIntervals,
    base: ClockId,
    clock: ClockId,
) -> Vec<(i64, f64)> {
    let ranges = closed.iter().map(|bounds| bounds.range(base, clock));
    let points = ranges.enumerate().filter_map(|(piece, range)| {
        let stamp = pieces.middle(clock, piece);
        let (lower, upper) = range?;
        Some((stamp, middle(lower, upper)))
    });
    points.collect()
}
