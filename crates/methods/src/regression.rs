//! Duda's regression: a straight line through the messages each way.
//!
//! What the messages that a clock receives say about its difference to another
//! one is too low by their delay, what those say that it sends is too high by
//! theirs. If delays are alike in both directions and do not change over time,
//! the difference lies half-way:
//!
//! ```text
//! y(t) = (f(t) + g(t)) / 2
//! f  the line of least squares through (received, sent - received), messages to the clock
//! g  the line of least squares through (sent, received - sent), messages from it
//! ```
//!
//! over the stamps of the clock. Every message counts, the slow ones too: where
//! one direction is slower on average, the line is wrong by half of what it is
//! slower, and nothing keeps it from reversing messages. The
//! [convex hull](crate::convex_hull()) does.
//!
//! Both axes are centred in integers, so that stamps of 10^16 ticks lose nothing.
//!
//! Source: A. Duda, G. Harrus, Y. Haddad, G. Bernard, *Estimating Global Time in
//! Distributed Systems*, ICDCS 1987, the first of its two methods; as described in
//! R. Rabenseifner, *Die geregelte logische Uhr*, 2000, section 3.3. What is
//! uncertain about the line is the usual standard error of a line of least
//! squares; the [spanning tree](crate::spanning_tree()) goes by it.
//!
//! ```
//! use retime_methods::regression;
//! use retime::{ClockId, Edge, Edges};
//! let (a, b) = (ClockId(0), ClockId(1));
//! // Clock b lags by 10 at its 0, and by 20 at its 1000. Messages take 2, 4 or 6 ticks.
//! let edges = Edges::new(
//!     vec![
//!         Edge::message(a, 6, b, 0), // 10 - 4
//!         Edge::message(a, 1016, b, 1000), // 20 - 4
//!         Edge::message(b, 0, a, 12), // 10 + 2
//!         Edge::message(b, 500, a, 521), // 15 + 6
//!         Edge::message(b, 1000, a, 1022), // 20 + 2
//!     ],
//!     vec![Some((0, 1022)), Some((0, 1000))],
//! );
//! let estimate = regression(&edges, a, &())?;
//! let offset = estimate.offsets[1].as_ref().unwrap();
//! // f = 6 + t / 100 and g = 13.33 + t / 100: on average messages to b take 4, from b 3.33,
//! // so the result is too low by a third.
//! assert!((offset.at(0) - (6.0 + 40.0 / 3.0) / 2.0).abs() < 1e-9);
//! assert!((offset.at(1000) - offset.at(0) - 10.0).abs() < 1e-9);
//! # Ok::<(), retime::estimate::NoEstimate>(())
//! ```

use crate::clock_line::{ClockLine, PairLine};
use crate::clouds::{Clouds, Neighbour, Sample};
use crate::direct::against_reference;
use retime::Pace;
use retime::edges::Edges;
use retime::estimate::{Estimate, NoEstimate};
use retime::pipeline::{Estimator, Input, Options, Unsolved};
use retime::{Cancelled, ClockId, Monitor};

/// Duda's regression as a method.
#[derive(Clone, Copy, Debug)]
pub struct Regression;

impl Estimator for Regression {
    fn name(&self) -> &'static str {
        "regression"
    }

    fn help(&self) -> &'static str {
        "Duda's regression: a line through the messages with the reference"
    }

    fn describe(&self, _: &Options) -> &'static str {
        "regression"
    }

    fn estimate(&self, input: &Input<'_>) -> Result<Estimate, Unsolved> {
        Ok(regression(
            input.edges,
            input.reference,
            input.problem.monitor,
        )?)
    }
}

/// Corrects every clock by the regression of its messages with the reference.
///
/// # Errors
///
/// [`NoEstimate::NotDirect`] if a clock exchanges nothing with the reference
/// itself; the [spanning tree](crate::spanning_tree()) goes through others.
/// [`NoEstimate::OneDirection`] if it only sends to it or only receives.
pub fn regression(
    edges: &Edges,
    reference: ClockId,
    monitor: &dyn Monitor,
) -> Result<Estimate, NoEstimate> {
    let line = |of: Neighbour<'_>| pair_line(edges, of, monitor);
    against_reference(edges, reference, line, monitor)
}

/// The mean of the two regression lines of a pair.
pub(crate) fn pair_line(
    edges: &Edges,
    of: Neighbour<'_>,
    monitor: &dyn Monitor,
) -> Result<PairLine, NoEstimate> {
    let clouds = Clouds::new(edges, of, |_| 0, monitor)?;
    let below = Moments::of(&clouds.below, monitor)?;
    let above = Moments::of(&clouds.above, monitor)?;
    // A cloud at one moment has no rate of its own; the other's is as good.
    let rates = (below.rate(), above.rate());
    let lines = (
        below.line(rates.0.or(rates.1).unwrap_or(0.0)),
        above.line(rates.1.or(rates.0).unwrap_or(0.0)),
    );
    let errors = (
        below.residual(&clouds.below, &lines.0),
        above.residual(&clouds.above, &lines.1),
    );
    let error = |stamp: i64| {
        let variance = below.variance(errors.0, stamp) + above.variance(errors.1, stamp);
        variance.sqrt() / 2.0
    };
    Ok(PairLine {
        line: lines.0.mean(&lines.1),
        uncertainty: error(clouds.extent.0).max(error(clouds.extent.1)),
    })
}

/// Means and second moments of a cloud.
struct Moments {
    count: f64,
    /// Means rounded down, and what is missing to them.
    at: i64,
    at_rest: f64,
    ticks: i64,
    ticks_rest: f64,
    /// Sums of products of distances from the means.
    squares: f64,
    products: f64,
}

impl Moments {
    fn of(samples: &[Sample], monitor: &dyn Monitor) -> Result<Self, Cancelled> {
        let (at, at_rest) = mean(samples, |it| it.at);
        let (ticks, ticks_rest) = mean(samples, |it| it.ticks);
        let (mut squares, mut products) = (0.0, 0.0);
        let mut pace = Pace::of(monitor);
        for sample in samples {
            pace.event()?;
            let along = (sample.at - at) as f64 - at_rest;
            let up = (i128::from(sample.ticks) - i128::from(ticks)) as f64 - ticks_rest;
            squares += along * along;
            products += along * up;
        }
        Ok(Self {
            count: samples.len() as f64,
            at,
            at_rest,
            ticks,
            ticks_rest,
            squares,
            products,
        })
    }

    /// Slope of the line of least squares; `None` if all points have one stamp.
    fn rate(&self) -> Option<f64> {
        let distinct = self.squares > 0.0;
        distinct.then(|| self.products / self.squares)
    }

    /// The line of this slope through the means.
    fn line(&self, rate: f64) -> ClockLine {
        let rest = self.ticks_rest - rate * self.at_rest;
        ClockLine::new(self.at, self.ticks.into(), rest, rate)
    }

    /// Variance of the points about their line; infinite where two points or
    /// fewer leave it open.
    fn residual(&self, samples: &[Sample], line: &ClockLine) -> f64 {
        if self.count < 3.0 || self.squares <= 0.0 {
            return f64::INFINITY;
        }
        let miss = |it: &Sample| ClockLine::constant(it.ticks).above(line, it.at);
        let squares: f64 = samples.iter().map(|it| miss(it) * miss(it)).sum();
        squares / (self.count - 2.0)
    }

    /// Variance of the line at a stamp.
    fn variance(&self, residual: f64, stamp: i64) -> f64 {
        if residual.is_infinite() {
            return residual;
        }
        let along = (i128::from(stamp) - i128::from(self.at)) as f64 - self.at_rest;
        residual * (1.0 / self.count + along * along / self.squares)
    }
}

/// The mean rounded down, and what is missing to it.
fn mean(samples: &[Sample], of: impl Fn(&Sample) -> i64) -> (i64, f64) {
    let count = samples.len().max(1) as i128;
    let sum: i128 = samples.iter().map(|it| i128::from(of(it))).sum();
    let rest = sum.rem_euclid(count) as f64 / count as f64;
    (sum.div_euclid(count) as i64, rest)
}
