//! Hofmann & Hilgers for clocks of variable rates.
//!
//! No straight line has to fit: corrections are computed on the *boundaries* of
//! sub-intervals and are linear in between.
//!
//! 1. Each sub-interval has [bounds](crate::PairBounds) of pairs.
//! 2. (b1) Where messages go one way only, the other bound is guessed: the known
//!    one plus `factor * mindiff`, where `mindiff` is the smallest width
//!    `O- - O+` of any pair with messages both ways in this sub-interval.
//! 3. On a boundary the tighter of the bounds on its two sides counts, so that
//!    whatever lies between two boundaries satisfies the messages there.
//! 4. The bounds of each boundary are
//!    [closed](crate::DifferenceBounds).
//! 5. (b2) Bounds that are still open are interpolated between the boundaries
//!    before and after that have them, or taken from the only one, and closed
//!    again.
//! 6. The middles of one row are the corrections:
//!
//! ```text
//! Corr_k(b) = (O+(r,k) + O-(r,k)) / 2       on each boundary b
//! ```
//!
//! where the thesis leaves it open, we take
//!
//! - a diagonal of 0 that is no part of `mindiff`;
//! - as factor what the thesis says it should estimate, the longest by the
//!   shortest delay: of the fastest round trips of all pairs, but at least its 2;
//! - no (b1) in a sub-interval in which no pair has messages both ways;
//! - in (b2) bounds wider by what two clocks of drift `rho` may part meanwhile:
//!   `2 rho` times the distance. Between boundaries at distances `p` and `q` that
//!   is `2pq / (p + q)`, with which the interpolated bound is a true one;
//! - guesses of (b1) and (b2) only as long as they contradict nothing: a boundary
//!   without a solution is solved again without them;
//! - one row `r` for all boundaries, that with the smallest sum of widths: with a
//!   row of its own for each, corrections would jump between them.
//!
//! What holds on two boundaries holds in between, up to what corrections change
//! while a message is under way, and within the few message delays or the drift by
//! which boundaries are not at the same moment on all clocks. There is no solution
//! where clocks part, within two sub-intervals, by more than a round trip.
//!
//! The cost is that of [`hofmann_hilgers`](crate::hofmann_hilgers),
//! once for each boundary and twice for boundaries with open bounds.
//!
//! Source: Rabenseifner 2000, section 7.7.
//!
//! ```
//! use retime_methods::{Extended, extended};
//! use retime::{ClockId, Edge, Edges};
//! let (a, b) = (ClockId(0), ClockId(1));
//! // b gains 25 and loses them again.
//! let ahead = |time: i64| 25 - (time - 500).abs() / 20;
//! let shows = |time: i64| time + ahead(time);
//! let both = (0..100).flat_map(|n| {
//!     let time = 10 * n;
//!     let there = Edge::message(a, time, b, shows(time + 4));
//!     [there, Edge::message(b, shows(time + 5), a, time + 9)]
//! });
//! let edges = Edges::new(both.collect(), vec![Some((0, 1_000)); 2]);
//! let options = Extended { intervals: Some(20), ..Extended::default() };
//! let estimate = extended(&edges, |_| 0, &options, a, &())?;
//! let offset = estimate.offsets[1].as_ref().unwrap();
//! // Right to half a round trip.
//! for time in [0, 250, 500, 750, 1_000] {
//!     assert!((offset.at(shows(time)) + ahead(time) as f64).abs() < 4.0);
//! }
//! # Ok::<(), retime::estimate::NoEstimate>(())
//! ```

use rayon::prelude::*;

use crate::by_drift;
use crate::closure::DifferenceBounds;
use crate::hofmann_hilgers::{all_or_first, tightest};
use crate::line::middle;
use crate::missing_ways::{self, Guess};
use crate::pair_bounds::PairBounds;
use crate::relation::{Relation, members};
use crate::sub_intervals::{SubIntervals, never_both_ways, with_sub_intervals};
use crate::traffic::Traffic;
use retime::Pace;
use retime::edges::{Edge, Edges};
use retime::estimate::{Estimate, NoEstimate, Offset};
use retime::pipeline::{Choice, Estimator, Input, Options, Unsolved};
use retime::{Cancelled, ClockId, Monitor};

/// The parameters of the method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extended {
    /// Number of sub-intervals; by default as for
    /// [`hofmann_hilgers`](crate::hofmann_hilgers).
    pub intervals: Option<u32>,
    /// Where messages go one way only, how many times the smallest width of any
    /// pair the missing bound lies from the known one; by default estimated.
    pub factor: Option<f64>,
    /// The largest error of a clock's rate, as a share, for bounds that are interpolated over
    /// boundaries without any.
    pub drift: f64,
}

impl Extended {
    /// All estimated; a drift of 1e-4.
    pub const DEFAULT: Self = Self {
        intervals: None,
        factor: None,
        drift: 1e-4,
    };
}

impl Default for Extended {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Estimator for Extended {
    fn name(&self) -> &'static str {
        "extended"
    }

    fn help(&self) -> &'static str {
        "The same extended for clocks of variable rate: piecewise lines, and messages in \
         one direction"
    }

    fn describe(&self, _: &Options) -> &'static str {
        "Hofmann and Hilgers, extended for variable rates"
    }

    fn choices(&self) -> &'static [Choice] {
        &[Choice::Intervals, Choice::OneWay, Choice::Drift]
    }

    fn estimate(&self, input: &Input<'_>) -> Result<Estimate, Unsolved> {
        let options = Self {
            intervals: by_drift::number(input)?,
            factor: input.options.one_way_factor.or(self.factor),
            drift: input.options.drift,
        };
        let (reference, monitor) = (input.reference, input.problem.monitor);
        Ok(extended(
            input.edges,
            input.least(),
            &options,
            reference,
            monitor,
        )?)
    }
}

/// Estimates all clocks together, at variable rates. `least` is the minimal delay
/// of a dependency, in ticks.
///
/// # Errors
///
/// Where the bounds of messages on a boundary contradict each other: the cycle of
/// clocks is named in the order in which messages go around. Where a clock that has
/// events is not related to the others; or in one direction only, and no pair with
/// messages both ways tells how wide the missing bound may be.
pub fn extended(
    edges: &Edges,
    least: impl Fn(&Edge) -> i64,
    options: &Extended,
    reference: ClockId,
    monitor: &dyn Monitor,
) -> Result<Estimate, NoEstimate> {
    let traffic = Traffic::of(edges, monitor)?;
    let relation = Relation::to(reference, edges, &traffic)?;
    let related = members(&relation.some);
    with_sub_intervals(&traffic, options.intervals, traffic.typical(), |pieces| {
        let bounds = PairBounds::along(&traffic, edges, &least, pieces, monitor)?;
        let factor = if let Some(given) = options.factor {
            given
        } else {
            let delays = PairBounds::along(&traffic, edges, &|_| 0, pieces, monitor)?;
            missing_ways::factor(&delays, pieces.len())
        };
        let closed = boundaries(&bounds, pieces, edges.clocks(), factor, monitor)?;
        let closed = without_gaps(&closed, pieces, &related, options.drift, monitor)?;
        let base = tightest(&closed, &related).unwrap_or(reference);
        let mut offsets = vec![None; edges.clocks()];
        for &clock in &related {
            let offset = middles(&closed, pieces, base, clock);
            let why = || {
                relation
                    .one_direction(&traffic)
                    .unwrap_or_else(never_both_ways)
            };
            offsets[clock.as_usize()] = Some(offset.ok_or_else(why)?);
        }
        let estimate = Estimate {
            offsets,
            reference: base,
        };
        // Where a clock's time does not advance, no map is made of it either.
        let rebased = estimate.rebased(reference);
        Ok(rebased.unwrap_or(estimate))
    })
}

/// The closed bounds of all boundaries, still with gaps.
fn boundaries(
    bounds: &PairBounds,
    pieces: &SubIntervals,
    clocks: usize,
    factor: f64,
    monitor: &dyn Monitor,
) -> Result<Vec<DifferenceBounds>, NoEstimate> {
    let guesses: Vec<Vec<Guess>> = (0..pieces.len())
        .map(|piece| missing_ways::guesses(bounds, piece, factor))
        .collect();
    let boundaries = (0..=pieces.len()).into_par_iter();
    let closed = boundaries.map(|boundary| {
        let mut known = DifferenceBounds::new(clocks);
        let mut guessed = Vec::new();
        for piece in boundary.saturating_sub(1)..=boundary {
            for (i, k, limit) in bounds.uppers(piece) {
                known.at_most(i, k, limit);
            }
            guessed.extend(guesses.get(piece).into_iter().flatten());
        }
        known.close(monitor)??;
        Ok(with_guesses(known, guessed, monitor)?)
    });
    all_or_first(closed.collect())
}

/// Closed bounds with guesses, unless those contradict them.
fn with_guesses<'a>(
    known: DifferenceBounds,
    guessed: impl IntoIterator<Item = &'a Guess>,
    monitor: &dyn Monitor,
) -> Result<DifferenceBounds, Cancelled> {
    let mut all = known.clone();
    for &(i, k, limit) in guessed {
        all.at_most(i, k, limit);
    }
    if all == known || all.close(monitor)?.is_err() {
        return Ok(known);
    }
    Ok(all)
}

/// The bounds of all boundaries, the open ones among them interpolated.
fn without_gaps(
    closed: &[DifferenceBounds],
    pieces: &SubIntervals,
    related: &[ClockId],
    drift: f64,
    monitor: &dyn Monitor,
) -> Result<Vec<DifferenceBounds>, Cancelled> {
    let filled = closed.par_iter().enumerate().map(|(boundary, bounds)| {
        let mut pace = Pace::of(monitor);
        let mut guesses: Vec<Guess> = Vec::new();
        for &i in related {
            pace.events(related.len())?;
            let open = related.iter().filter(|&&k| bounds.upper(i, k).is_none());
            guesses.extend(open.filter_map(|&k| {
                let limit = missing_ways::interpolated(closed, pieces, boundary, i, k, drift)?;
                Some((i, k, limit))
            }));
        }
        with_guesses(bounds.clone(), &guesses, monitor)
    });
    filled.collect()
}

/// The ticks to add to a clock on each boundary on which it is bounded on both sides, to show the
/// time of `base`; `None` if it is so nowhere.
fn middles(
    closed: &[DifferenceBounds],
    pieces: &SubIntervals,
    base: ClockId,
    clock: ClockId,
) -> Option<Offset> {
    let ranges = closed.iter().map(|bounds| bounds.range(base, clock));
    let knots = ranges.enumerate().filter_map(|(boundary, range)| {
        let stamp = pieces.boundary(clock, boundary);
        let (lower, upper) = range?;
        Some((stamp, middle(lower, upper)))
    });
    let knots: Vec<(i64, f64)> = knots.collect();
    (!knots.is_empty()).then(|| Offset::through(knots))
}
