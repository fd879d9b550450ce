//! Hofmann's min/max: pairs of clocks, by the extremes of sub-intervals.
//!
//! In each sub-interval the messages between two clocks bound their difference
//! on both sides. Its middle is taken for the difference in the middle of the
//! sub-interval, and a straight line is laid through the middles:
//!
//! ```text
//! D(n) = (O+(ref,k) + O-(ref,k)) / 2          in each sub-interval n
//! y_k  = line of least squares through the D(n)
//! ```
//!
//! It costs one look at each message. It knows only pairs: a clock that does not
//! exchange messages with the reference cannot be related to it, and the lines
//! of two other clocks may contradict the messages between those. Nor does a line
//! have to stay within the bounds it was made from: thesis, figure 7.4.
//!
//! Source: R. Hofmann, *Gemeinsame Zeitskala für lokale Ereignisspuren*
//! (1993), as told by Rabenseifner 2000, section 3.3 (figure 3.3) and section
//! 7.5.
//!
//! ```
//! use retime_methods::min_max;
//! use retime::{ClockId, Edge, Edges};
//! let (a, b) = (ClockId(0), ClockId(1));
//! // b is 100 ahead and gains 1 in 100; each message takes 4.
//! let shows = |time: i64| time + 100 + time / 100;
//! let both = (0..10).flat_map(|n| {
//!     let time = 100 * n;
//!     let there = Edge::message(a, time, b, shows(time + 4));
//!     [there, Edge::message(b, shows(time + 10), a, time + 14)]
//! });
//! let edges = Edges::new(both.collect(), vec![Some((0, 914)), Some((100, 1_019))]);
//! let estimate = min_max(&edges, |_| 4, Some(10), a, &())?;
//! let offset = estimate.offsets[1].as_ref().unwrap();
//! assert!((offset.at(shows(500)) + 105.0).abs() < 0.6);
//! # Ok::<(), retime::estimate::NoEstimate>(())
//! ```

use crate::by_drift;
use crate::line::{clocks, lines_through, middle, towards};
use crate::pair_bounds::PairBounds;
use crate::sub_intervals::{SubIntervals, with_sub_intervals};
use crate::traffic::Traffic;
use retime::edges::{Edge, Edges};
use retime::estimate::{Estimate, NoEstimate};
use retime::pipeline::{Choice, Estimator, Input, Options, Unsolved};
use retime::{ClockId, Monitor, Ticks};

/// Hofmann's min/max as a method.
#[derive(Clone, Copy, Debug)]
pub struct MinMax;

impl Estimator for MinMax {
    fn name(&self) -> &'static str {
        "min-max"
    }

    fn help(&self) -> &'static str {
        "Hofmann's min/max: a line through the middles of sub-intervals"
    }

    fn describe(&self, _: &Options) -> &'static str {
        "min/max"
    }

    fn choices(&self) -> &'static [Choice] {
        &[Choice::Intervals]
    }

    fn estimate(&self, input: &Input<'_>) -> Result<Estimate, Unsolved> {
        let (intervals, reference) = (by_drift::number(input)?, input.reference);
        let monitor = input.problem.monitor;
        Ok(min_max(
            input.edges,
            input.least(),
            intervals,
            reference,
            monitor,
        )?)
    }
}

/// Estimates each clock against the reference. `least` is the minimal delay of a
/// dependency, in ticks. The number of sub-intervals is by default such that the
/// clock with the fewest messages has 16 each way in each, but at most 8; up to
/// 128 times as many where bounds contradict each other, fewer where some clock
/// has none with messages both ways.
///
/// # Errors
///
/// Where the bounds of a pair contradict each other in a sub-interval
/// ([`NoEstimate::Infeasible`]); where a clock that has events exchanges messages
/// with the reference in one direction only, not at all, or never both ways in one
/// sub-interval.
pub fn min_max(
    edges: &Edges,
    least: impl Fn(&Edge) -> i64,
    intervals: Option<u32>,
    reference: ClockId,
    monitor: &dyn Monitor,
) -> Result<Estimate, NoEstimate> {
    let traffic = Traffic::of(edges, monitor)?;
    let others = clocks(edges).filter(|&clock| clock != reference);
    let others = others.filter(|&clock| edges.extent(clock).is_some());
    let others: Vec<ClockId> = others.collect();
    exchange_with(reference, &others, &traffic)?;
    let each_way = others
        .iter()
        .map(|&clock| traffic.each_way(reference, clock));
    let fewest = each_way.min().unwrap_or(0);
    with_sub_intervals(&traffic, intervals, fewest, |pieces| {
        let bounds = PairBounds::along(&traffic, edges, &least, pieces, monitor)?;
        let points = |clock| middles(&bounds, pieces, reference, clock);
        let lines = lines_through(edges, &others, points)?;
        Ok(towards(reference, edges, lines))
    })
}

/// An error unless each exchanges messages with the reference, both ways.
fn exchange_with(
    reference: ClockId,
    others: &[ClockId],
    traffic: &Traffic,
) -> Result<(), NoEstimate> {
    let ways = |&clock: &ClockId| {
        let there = traffic.count(reference, clock) > 0;
        (clock, there, traffic.count(clock, reference) > 0)
    };
    let ways: Vec<_> = others.iter().map(ways).collect();
    let apart = ways.iter().filter(|(_, there, back)| !there && !back);
    let apart: Vec<ClockId> = apart.map(|it| it.0).collect();
    if !apart.is_empty() {
        return Err(NoEstimate::NotDirect(apart, reference));
    }
    match ways.iter().find(|(_, there, back)| there != back) {
        Some(&(clock, true, _)) => Err(NoEstimate::OneDirection(reference, clock)),
        Some(&(clock, false, _)) => Err(NoEstimate::OneDirection(clock, reference)),
        None => Ok(()),
    }
}

/// The ticks to add to a clock in the middle of each sub-interval in which messages bound it on
/// both sides.
fn middles(
    bounds: &PairBounds,
    pieces: &SubIntervals,
    reference: ClockId,
    clock: ClockId,
) -> Result<Vec<(i64, f64)>, NoEstimate> {
    let mut points = Vec::new();
    for piece in 0..pieces.len() {
        let lower = bounds.lower(piece, reference, clock);
        let upper = bounds.upper(piece, reference, clock);
        let (Some(lower), Some(upper)) = (lower, upper) else {
            continue;
        };
        if lower > upper {
            let by = Ticks(lower.saturating_sub(upper));
            return Err(NoEstimate::Infeasible(vec![reference, clock], by));
        }
        points.push((pieces.middle(clock, piece), middle(lower, upper)));
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime::estimate::Offset;

    const A: ClockId = ClockId(0);
    const B: ClockId = ClockId(1);

    fn run(edges: Vec<Edge>, clocks: usize) -> Result<Estimate, NoEstimate> {
        let edges = Edges::new(edges, vec![Some((0, 1_000)); clocks]);
        min_max(&edges, |_| 0, Some(2), A, &())
    }

    #[test]
    fn degenerate_traces_say_why() {
        let alone = run(Vec::new(), 1).unwrap();
        let keeps = |offset: &Offset| offset.at(5).abs() < 1e-9;
        assert!(alone.offsets[0].as_ref().is_some_and(keeps));
        let unrelated = NoEstimate::NotDirect(vec![B], A);
        assert_eq!(run(Vec::new(), 2), Err(unrelated));
        let there = Edge::message(A, 10, B, 20);
        assert_eq!(run(vec![there], 2), Err(NoEstimate::OneDirection(A, B)));
        let back = Edge::message(B, 10, A, 20);
        assert_eq!(run(vec![back], 2), Err(NoEstimate::OneDirection(B, A)));
        let onward = Edge::message(B, 10, ClockId(2), 20);
        let through = run(vec![there, back, onward], 3);
        assert_eq!(through, Err(NoEstimate::NotDirect(vec![ClockId(2)], A)));
        let nothing = Edges::new(Vec::new(), Vec::new());
        assert_eq!(
            min_max(&nothing, |_| 0, None, A, &()).map(|it| it.offsets),
            Ok(Vec::new())
        );
    }

    #[test]
    fn contradicting_bounds_name_the_pair() {
        let edges = vec![Edge::message(A, 10, B, 20), Edge::message(B, 40, A, 27)];
        let edges = Edges::new(edges, vec![Some((0, 100)); 2]);
        let infeasible = NoEstimate::Infeasible(vec![A, B], Ticks(3));
        assert_eq!(min_max(&edges, |_| 0, Some(1), A, &()), Err(infeasible));
    }

    #[test]
    fn fewer_sub_intervals_are_taken_where_messages_are_far_apart() {
        let edges = vec![Edge::message(A, 10, B, 30), Edge::message(B, 900, A, 910)];
        assert!(matches!(run(edges.clone(), 2), Err(NoEstimate::Missing(_))));
        let edges = Edges::new(edges, vec![Some((0, 1_000)); 2]);
        let estimate = min_max(&edges, |_| 0, None, A, &()).unwrap();
        let middle = |offset: &Offset| (offset.at(400) + 5.0).abs() < 1e-9;
        assert!(estimate.offsets[1].as_ref().is_some_and(middle));
    }
}
