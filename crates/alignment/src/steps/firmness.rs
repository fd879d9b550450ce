//! How firmly messages hold clocks where they are: the slack that explanations leave.
//!
//! Two explanations that contradict nothing differ in how near they come to it. Clocks that
//! are off by some microseconds in half of the run look the same as those that are right, but that
//! the fastest messages one way are faster and the other way slower by as much. As in the
//! [centre](crate::centre) the slack of all tight messages is taken together such that the
//! tightest decide:
//!
//! ```text
//! firmness = (mean over the tight messages of 1 / latency^2)^(-1/2)
//! ```

use super::latencies::LongestLatencies;
use crate::options::OPTIONS;
use retime_causality::edges::{Edge, Edges};

/// A dependency, and its latency between aligned clocks.
#[derive(Clone, Copy)]
pub(super) struct AlignedEdge<'a> {
    pub(super) edge: &'a Edge,
    pub(super) latency: f64,
}

/// The tightest dependencies of each window, by pair of clocks and direction; `edges` are in order
/// of clocks and stamps.
pub(super) fn tightest<'a>(
    latencies: &LongestLatencies<'_>,
    edges: &'a Edges,
) -> Vec<Vec<AlignedEdge<'a>>> {
    let aligned = |edge: &'a Edge| AlignedEdge {
        edge,
        latency: latencies.of(edge),
    };
    let same_link = |a: &Edge, b: &Edge| (a.from, a.to) == (b.from, b.to);
    let links = edges.all().chunk_by(same_link);
    let of_link = |link: &'a [Edge]| {
        let first = link.first().map_or(0, |it| it.sent);
        let last = link.last().map_or(0, |it| it.sent);
        let length = last.saturating_sub(first).max(1) as f64;
        let windows = (link.len() / OPTIONS.fewest).clamp(1, OPTIONS.windows);
        let window = |edge: &Edge| {
            let along = edge.sent.saturating_sub(first) as f64 / length;
            ((along * windows as f64) as usize).min(windows - 1)
        };
        let mut tight = Vec::new();
        for of_window in link.chunk_by(|a, b| window(a) == window(b)) {
            let mut all: Vec<AlignedEdge> = of_window.iter().map(aligned).collect();
            all.retain(|it| it.latency.is_finite());
            all.sort_by(|a, b| a.latency.total_cmp(&b.latency));
            tight.extend(all.into_iter().take(OPTIONS.tightest));
        }
        tight
    };
    links.map(of_link).filter(|it| !it.is_empty()).collect()
}

/// The slack of the tightest dependencies together, in ticks; none is taken for tighter than a
/// tick.
pub(super) fn firmness(latencies: &LongestLatencies<'_>, edges: &Edges) -> f64 {
    let links = tightest(latencies, edges);
    let tight = links.iter().flatten();
    let squares: Vec<f64> = tight.map(|it| it.latency.max(1.0).powi(-2)).collect();
    let mean = squares.iter().sum::<f64>() / squares.len().max(1) as f64;
    if mean > 0.0 { mean.sqrt().recip() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime_clocks::estimate::{Estimate, Offset};
    use retime_model::ClockId;

    /// Four messages one way, of 10, 20, 1010 and 1020 ticks, and one back of 30.
    #[test]
    fn the_tightest_decide() {
        let (a, b) = (ClockId(0), ClockId(1));
        let delays = [10, 20, 1_010, 1_020];
        let there = delays.iter().zip(0..);
        let there = there.map(|(delay, at)| Edge::message(a, 100 * at, b, 100 * at + delay));
        let all = there.chain([Edge::message(b, 500, a, 530)]).collect();
        let edges = Edges::new(all, vec![Some((0, 2_000)); 2]);
        let firm = |shift: f64| {
            let estimate = Estimate {
                offsets: vec![Some(Offset::constant(0.0)), Some(Offset::constant(shift))],
                reference: a,
            };
            firmness(&LongestLatencies::new(&estimate, &[]), &edges)
        };
        // Three of the four and the one: 1/100 + 1/400 + 1/1010^2 + 1/900, over four.
        let mean = (0.01 + 0.0025 + 1010.0_f64.powi(-2) + 1.0 / 900.0) / 4.0;
        assert!((firm(0.0) - mean.sqrt().recip()).abs() < 1e-9);
        // Ten ticks later it is 20 both ways.
        assert!(firm(10.0) > 1.2 * firm(0.0));
    }
}
