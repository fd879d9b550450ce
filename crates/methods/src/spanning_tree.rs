//! Jézéquel's spanning tree: any topology by the best pairs.
//!
//! A line between two clocks needs messages between the two, and only few
//! clocks exchange messages with the reference. So the pairs with a line are
//! the edges of a graph, the best-determined ones make a minimal spanning tree,
//! and a clock is corrected by the lines along its path to the reference, put
//! one after the other:
//!
//! ```text
//! y(stamp) = y1(stamp) + y2(stamp + y1(stamp)) + ...
//! ```
//!
//! How well a pair is determined is what its line may be wrong by at an end of
//! the clock's run: for [hulls](crate::convex_hull()) the distance of the
//! steepest and the flattest line there, for [regression](crate::regression())
//! the standard error. A pair whose rate is open (one round trip; two messages
//! one way) comes after all others, and a pair without a line is no edge of the
//! graph. Neighbours in the tree keep what their line guarantees, but messages between other
//! clocks may stay violated. So the method adjusts lines of hulls over all pairs, as
//! [Duda's](crate::convex_hull()) does: on constant rates nothing stays violated.
//!
//! The tree grows from the reference (Prim), which tells for every pair which
//! of the two clocks is to be corrected, and so over whose stamps its line is
//! to be taken.
//!
//! Source: J.-M. Jézéquel, *Building a Global Time on Parallel Machines*, WDAG
//! 1989, LNCS 392, as described in R. Rabenseifner, *Die geregelte logische Uhr*,
//! 2000, section 3.3, which does not say by what the tree is minimal; the
//! measure above is ours.
//!
//! ```
//! use retime::pipeline::PairMethod;
//! use retime_methods::spanning_tree;
//! use retime::{ClockId, Edge, Edges};
//! let [a, b, c] = [ClockId(0), ClockId(1), ClockId(2)];
//! // Clock b lags by 10, clock c by another 5 and a tick in 1000. A message takes 3.
//! let round_trip = |x, at: i64, y, lag: i64| {
//!     [Edge::message(x, at + lag, y, at + 3), Edge::message(y, at + 3, x, at + lag + 6)]
//! };
//! let mut messages = Vec::new();
//! for at in [0, 1000, 2000] {
//!     messages.extend(round_trip(a, at, b, 10));
//!     messages.extend(round_trip(b, at, c, 5 + at / 1000));
//! }
//! let edges = Edges::new(messages, vec![Some((10, 2016)), Some((3, 2013)), Some((3, 2003))]);
//! let estimate = spanning_tree(&edges, |_| 0, PairMethod::Regression, a, &())?;
//! let offset = estimate.offsets[2].as_ref().unwrap();
//! assert!((offset.at(3) - 15.0).abs() < 1e-9 && (offset.at(2003) - 17.0).abs() < 1e-9);
//! # Ok::<(), retime::estimate::NoEstimate>(())
//! ```

use rayon::prelude::*;

use crate::clock_line::{ClockLine, PairLine};
use crate::clouds::Neighbour;
use crate::line::{clocks, towards};
use crate::{convex_hull, regression};
use retime::edges::{Edge, Edges, PairEdges};
use retime::estimate::{Estimate, NoEstimate};
use retime::pipeline::{Choice, Estimator, Input, Options, PairMethod, Unsolved};
use retime::{ClockId, Monitor};

/// The line of a pair.
fn line(
    method: PairMethod,
    edges: &Edges,
    least: impl Fn(&Edge) -> i64,
    of: Neighbour<'_>,
    monitor: &dyn Monitor,
) -> Result<PairLine, NoEstimate> {
    match method {
        PairMethod::Regression => regression::pair_line(edges, of, monitor),
        PairMethod::ConvexHull => convex_hull::pair_line(edges, of, least, monitor),
    }
}

/// Jézéquel's spanning tree as a method.
#[derive(Clone, Copy, Debug)]
pub struct SpanningTree;

impl Estimator for SpanningTree {
    fn name(&self) -> &'static str {
        "spanning-tree"
    }

    fn help(&self) -> &'static str {
        "Jézéquel's spanning tree: lines along the best-determined pairs of clocks"
    }

    fn describe(&self, options: &Options) -> &'static str {
        match options.pairs {
            PairMethod::Regression => "spanning tree of regressions",
            PairMethod::ConvexHull => "spanning tree of convex hulls",
        }
    }

    fn choices(&self) -> &'static [Choice] {
        &[Choice::Pairs]
    }

    fn estimate(&self, input: &Input<'_>) -> Result<Estimate, Unsolved> {
        let (pairs, reference) = (input.options.pairs, input.reference);
        let monitor = input.problem.monitor;
        let lines = spanning_tree(input.edges, input.least(), pairs, reference, monitor)?;
        Ok(match pairs {
            PairMethod::ConvexHull => input.problem.adjusted(lines)?,
            // It knows no bounds that adjusted lines could keep.
            PairMethod::Regression => lines,
        })
    }
}

/// Corrects every clock along its path in the spanning tree; `least` is the
/// minimal delay of a dependency in ticks.
///
/// # Errors
///
/// If a clock cannot be reached: why the first pair has no line that would reach
/// one ([`NoEstimate::OneDirection`], [`NoEstimate::Infeasible`]), or if there is
/// no such pair, [`NoEstimate::Unrelated`].
pub fn spanning_tree(
    edges: &Edges,
    least: impl Fn(&Edge) -> i64 + Sync,
    method: PairMethod,
    reference: ClockId,
    monitor: &dyn Monitor,
) -> Result<Estimate, NoEstimate> {
    let pairs = edges.pairs(monitor)?;
    let neighbours = neighbours(edges.clocks(), &pairs);
    let mut tree = Tree::new(edges.clocks());
    let mut last = reference;
    let mut to_last = ClockLine::NONE;
    // The reference may be no clock of the trace; then it reaches none.
    while let Some(around) = neighbours.get(last.as_usize()) {
        tree.lines[last.as_usize()] = Some(to_last);
        let outside = around.iter().filter_map(|pair| Neighbour::of(pair, last));
        let outside = outside.filter(|of| tree.lines[of.clock.as_usize()].is_none());
        let outside: Vec<Neighbour<'_>> = outside.collect();
        let line = |of: &Neighbour<'_>| line(method, edges, &least, *of, monitor);
        let found: Vec<_> = outside.par_iter().map(line).collect();
        for (of, line) in outside.into_iter().zip(found) {
            if let Err(NoEstimate::Cancelled(cancelled)) = line {
                return Err(cancelled.into());
            }
            tree.offer(of, line);
        }
        let Some((clock, line)) = tree.nearest() else {
            break;
        };
        (last, to_last) = (clock, line);
    }
    let missing = clocks(edges).filter(|&clock| {
        let has_events = edges.extent(clock).is_some();
        has_events && clock != reference && tree.lines[clock.as_usize()].is_none()
    });
    let missing: Vec<ClockId> = missing.collect();
    let mut refused = missing
        .iter()
        .map(|clock| tree.refused[clock.as_usize()].take());
    match refused.find_map(|why| why) {
        Some(why) => Err(why),
        None if missing.is_empty() => Ok(towards(reference, edges, tree.lines)),
        None => Err(NoEstimate::Unrelated(missing)),
    }
}

/// The pairs that each clock is in, in order.
fn neighbours(clocks: usize, pairs: &[PairEdges]) -> Vec<Vec<&PairEdges>> {
    let mut neighbours: Vec<Vec<&PairEdges>> = vec![Vec::new(); clocks];
    for pair in pairs.iter().filter(|pair| pair.high.as_usize() < clocks) {
        for end in [pair.low, pair.high] {
            neighbours[end.as_usize()].push(pair);
        }
    }
    neighbours
}

/// The tree as it grows; everything by clock.
struct Tree {
    /// Towards the reference, for the clocks that are in the tree.
    lines: Vec<Option<ClockLine>>,
    /// The best pair of each other clock with one of the tree, with its line towards the reference.
    best: Vec<Option<PairLine>>,
    /// Why the first pair with a clock of the tree has no line.
    refused: Vec<Option<NoEstimate>>,
}

impl Tree {
    fn new(clocks: usize) -> Self {
        Self {
            lines: vec![None; clocks],
            best: vec![None; clocks],
            refused: vec![None; clocks],
        }
    }

    /// A way to a clock, through one that is in the tree.
    fn offer(&mut self, of: Neighbour<'_>, found: Result<PairLine, NoEstimate>) {
        let Some(onwards) = self.lines[of.towards.as_usize()] else {
            return;
        };
        match found {
            Ok(PairLine { line, uncertainty }) => {
                let best = &mut self.best[of.clock.as_usize()];
                if best.is_none_or(|best| uncertainty < best.uncertainty) {
                    *best = Some(PairLine {
                        line: line.then(&onwards),
                        uncertainty,
                    });
                }
            }
            Err(why) => {
                self.refused[of.clock.as_usize()].get_or_insert(why);
            }
        }
    }

    /// The clock outside that is best determined, the first of equal ones.
    fn nearest(&self) -> Option<(ClockId, ClockLine)> {
        let outside = self.best.iter().zip(&self.lines).enumerate();
        let outside = outside.filter(|(_, (_, line))| line.is_none());
        let reached = outside.filter_map(|(clock, (best, _))| Some((clock, best.as_ref()?)));
        let (clock, best) = reached.min_by(|a, b| a.1.uncertainty.total_cmp(&b.1.uncertainty))?;
        Some((ClockId(clock as u32), best.line))
    }
}
