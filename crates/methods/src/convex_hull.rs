//! Duda's convex hulls: the lines that reverse no message, and their middle.
//!
//! A message bounds the difference of two clocks from one side, at the stamp at
//! which it touches the clock: one that the clock receives from below, one that
//! it sends from above. The difference is a line between the two clouds. Of all
//! such lines the steepest and the flattest are taken, and half-way between them
//! their bisector:
//!
//! ```text
//! sent - received + least <= y(t) <= received - sent - least    (to and from the clock)
//! y = (steepest + flattest) / 2
//! ```
//!
//! Being half-way between two lines that keep all bounds, the bisector keeps them
//! as well: between these two clocks no message arrives before its minimal delay,
//! but for rounding to ticks. Clocks that do not run at constant rates, or too
//! large a delay, leave no line; the error says by how much.
//!
//! Between two clocks other than the reference that is not said of their messages. So the
//! method adjusts the lines over all pairs ([`Problem::adjusted`]): it takes those next to the
//! bisectors, in the sum of squares at both ends of the run, that keep the bounds of every pair.
//! Clocks of constant rates always have some. Duda gives such an adjustment for a ring and for
//! everybody with everybody; the thesis (remark 7 to table 7.1) says that bounds closed over
//! chains, as Hofmann and Hilgers close constants, serve for any topology. Which of all
//! possible lines are taken is ours.
//!
//! [`Problem::adjusted`]: retime::pipeline::Problem::adjusted
//!
//! Where the messages do not bound the rate from both sides (a single round trip,
//! say), the clocks are taken to run alike, or as nearly alike as the messages
//! allow.
//!
//! Sorting the messages takes O(n log n), all else O(n).
//!
//! Source: A. Duda, G. Harrus, Y. Haddad, G. Bernard, *Estimating Global Time in
//! Distributed Systems*, ICDCS 1987, the second of its two methods; as described in
//! R. Rabenseifner, *Die geregelte logische Uhr*, 2000, section 3.3 and figure 3.2.
//! The bisector there halves the angle; for the rates of clocks that is the mean
//! slope.
//!
//! ```
//! use retime_methods::convex_hull;
//! use retime::{ClockId, Edge, Edges};
//! let (a, b) = (ClockId(0), ClockId(1));
//! // Two round trips, of 20 and 40 ticks, and a slow message that says nothing.
//! let messages = vec![
//!     Edge::message(a, 0, b, 0), // at 0 at least 0
//!     Edge::message(b, 0, a, 20), // at 0 at most 20
//!     Edge::message(a, 1000, b, 1300), // at 1300 at least -300
//!     Edge::message(a, 2000, b, 2000), // at 2000 at least 0
//!     Edge::message(b, 2000, a, 2040), // at 2000 at most 40
//! ];
//! let edges = Edges::new(messages, vec![Some((0, 2040)), Some((0, 2000))]);
//! let estimate = convex_hull(&edges, |_| 0, a, &())?;
//! let offset = estimate.offsets[1].as_ref().unwrap();
//! // The steepest rises from 0 to 40, the flattest falls from 20 to 0.
//! assert!((offset.at(0) - 10.0).abs() < 1e-9);
//! assert!((offset.at(2000) - 20.0).abs() < 1e-9);
//! // With a minimal delay of 15 the first round trip is 10 too short.
//! let none = convex_hull(&edges, |_| 15, a, &()).unwrap_err();
//! assert_eq!(none, retime::estimate::NoEstimate::Infeasible(vec![a, b], retime::Ticks(10)));
//! # Ok::<(), retime::estimate::NoEstimate>(())
//! ```

use crate::clock_line::{ClockLine, PairLine};
use crate::clouds::{Clouds, Neighbour, Sample};
use crate::direct::against_reference;
use crate::hull::{self, Chord, Hull};
use retime::edges::{Edge, Edges};
use retime::estimate::{Estimate, NoEstimate};
use retime::pipeline::{Estimator, Input, Options, Unsolved};
use retime::{ClockId, Monitor, Ticks};

/// Duda's convex hulls as a method.
#[derive(Clone, Copy, Debug)]
pub struct ConvexHull;

impl Estimator for ConvexHull {
    fn name(&self) -> &'static str {
        "convex-hull"
    }

    fn help(&self) -> &'static str {
        "Duda's convex hulls: a line between the messages there and back"
    }

    fn describe(&self, _: &Options) -> &'static str {
        "convex hulls"
    }

    fn estimate(&self, input: &Input<'_>) -> Result<Estimate, Unsolved> {
        let (reference, monitor) = (input.reference, input.problem.monitor);
        let lines = convex_hull(input.edges, input.least(), reference, monitor)?;
        Ok(input.problem.adjusted(lines)?)
    }
}

/// Corrects every clock by the bisector of its messages with the reference;
/// `least` is the minimal delay of a dependency in ticks.
///
/// # Errors
///
/// [`NoEstimate::NotDirect`] if a clock exchanges nothing with the reference
/// itself; the [spanning tree](crate::spanning_tree()) goes through others.
/// [`NoEstimate::OneDirection`] if it only sends to it or only receives.
/// [`NoEstimate::Infeasible`] if no line keeps the minimal delays between the
/// reference and a clock.
pub fn convex_hull(
    edges: &Edges,
    least: impl Fn(&Edge) -> i64 + Sync,
    reference: ClockId,
    monitor: &dyn Monitor,
) -> Result<Estimate, NoEstimate> {
    let line = |of: Neighbour<'_>| pair_line(edges, of, &least, monitor);
    against_reference(edges, reference, line, monitor)
}

/// The bisector of a pair.
pub(crate) fn pair_line(
    edges: &Edges,
    of: Neighbour<'_>,
    least: impl Fn(&Edge) -> i64,
    monitor: &dyn Monitor,
) -> Result<PairLine, NoEstimate> {
    let clouds = Clouds::new(edges, of, least, monitor)?;
    let (first, last) = clouds.extent;
    let below = hull::upper_hull(clouds.below);
    monitor.check()?;
    let above = hull::lower_hull(clouds.above);
    if let Some(overlap) = hull::overlap(&below, &above).filter(|&by| by > 0) {
        let by = Ticks(i64::try_from(overlap).unwrap_or(i64::MAX));
        return Err(NoEstimate::Infeasible(vec![of.towards, of.clock], by));
    }
    let steepest = hull::steepest(&below, &above).map(through);
    let flattest = hull::flattest(&below, &above).map(through);
    Ok(match (steepest, flattest) {
        (Some(steepest), Some(flattest)) => PairLine {
            line: steepest.mean(&flattest),
            uncertainty: [first, last]
                .map(|end| steepest.above(&flattest, end).abs())
                .into_iter()
                .fold(0.0, f64::max),
        },
        (Some(only), None) if only.rate() < 0.0 => undetermined(only),
        (None, Some(only)) if only.rate() > 0.0 => undetermined(only),
        _ => undetermined(middle(&below, &above)),
    })
}

fn undetermined(line: ClockLine) -> PairLine {
    PairLine {
        line,
        uncertainty: f64::INFINITY,
    }
}

fn through(chord: Chord) -> ClockLine {
    let (rise, run) = (chord.rise() as f64, chord.run() as f64);
    ClockLine::new(chord.from.at, chord.from.ticks.into(), 0.0, rise / run)
}

/// The middle of the constant differences that separate the hulls.
fn middle(below: &Hull, above: &Hull) -> ClockLine {
    let ticks = |corner: &Sample| corner.ticks;
    let low = below.iter().map(ticks).max().unwrap_or(0);
    let high = above.iter().map(ticks).min().unwrap_or(0);
    ClockLine::constant(low).mean(&ClockLine::constant(high))
}
