//! The two sides of bounds: the least and the greatest solution of one graph.
//!
//! Neither needs the other, so they are looked for by two threads. Each ends in bounds or in
//! cycles that forbid any.

use super::facts::{Facts, Side};
use super::graph::{Budget, Graph, PositiveCycle, SolvedGraph};
use super::link::Kept;
use super::narrowed::graph;
use super::offset_bounds::OffsetBounds;
use super::relaxation::Relaxation;
use retime_model::Cancelled;

/// The bounds of all clocks, given the dependencies that matter; `None` if facts contradict
/// each other, or it takes too many steps to tell.
pub(super) fn without_cycles<'a>(
    facts: &Facts<'_>,
    relaxation: &Relaxation,
    kept: impl Iterator<Item = &'a Kept> + Clone,
    budget: &mut Budget<'_>,
) -> Result<Option<OffsetBounds>, Cancelled> {
    let graph = graph(facts, kept, budget.monitor())?;
    // An estimate may know of fewer clocks than its own reference.
    let Some(source) = graph.node(&(facts.reference(), 0, 0)) else {
        return Ok(None);
    };
    let reversed = graph.reversed(budget.monitor())?;
    let (low, high) = budget.both(
        |budget| graph.solve_from(source, budget),
        |budget| reversed.solve_from(source, budget),
    );
    let (SolvedGraph::Least(low), SolvedGraph::Least(high)) = (low?, high?) else {
        return Ok(None);
    };
    if cross(&low, &high) {
        return Ok(None);
    }
    let low = facts.side(-1.0, &graph, &low, relaxation);
    let high = facts.side(1.0, &reversed, &high, relaxation);
    Ok(Some(facts.bounds(low, high, relaxation, true)))
}

/// True if a lower bound exceeds an upper one, which is the negative of its value here.
fn cross(low: &[i128], high: &[i128]) -> bool {
    // A value that nothing bounds is far below any sum.
    let mut both = low.iter().zip(high);
    both.any(|(&low, &high)| low.saturating_add(high) > 0)
}

/// The result of one side.
pub(super) enum SideResult {
    /// Bounds, and whether they are as narrow as they can be.
    Bounded(Side, bool),
    /// The cycles that forbid any.
    Cycles(Vec<PositiveCycle>),
}

/// Both sides of a graph whose facts may contradict each other.
pub(super) struct Sides {
    pub(super) low: SideResult,
    pub(super) high: SideResult,
}

impl Sides {
    /// The lower and the upper side that a graph gives.
    pub(super) fn solved(
        facts: &Facts<'_>,
        relaxation: &Relaxation,
        graph: &Graph,
        budget: &mut Budget<'_>,
    ) -> Result<Self, Cancelled> {
        let source = graph.node(&(facts.reference(), 0, 0));
        let answer = |side: f64, solved: SolvedGraph| {
            let bounded = |values: &[i128]| facts.side(side, graph, values, relaxation);
            match solved {
                SolvedGraph::Least(values) => SideResult::Bounded(bounded(&values), true),
                SolvedGraph::Stopped(values) => SideResult::Bounded(bounded(&values), false),
                SolvedGraph::Cycles(cycles) => SideResult::Cycles(cycles),
            }
        };
        let monitor = budget.monitor();
        let (low, high) = budget.both(
            |budget| Ok(answer(-1.0, graph.solve(source, budget)?)),
            |budget| Ok(answer(1.0, graph.reversed(monitor)?.solve(source, budget)?)),
        );
        Ok(Self {
            low: low?,
            high: high?,
        })
    }

    /// The cycles of both sides.
    pub(super) fn cycles(&self) -> Vec<PositiveCycle> {
        let cycles = |answer: &SideResult| match answer {
            SideResult::Cycles(cycles) => cycles.clone(),
            SideResult::Bounded(..) => Vec::new(),
        };
        [cycles(&self.low), cycles(&self.high)].concat()
    }

    /// Both together, if there are no cycles.
    pub(super) fn bounds(self, facts: &Facts<'_>, relaxation: &Relaxation) -> Option<OffsetBounds> {
        match (self.low, self.high) {
            (SideResult::Bounded(low, whole), SideResult::Bounded(high, other)) => {
                Some(facts.bounds(low, high, relaxation, whole && other))
            }
            _ => None,
        }
    }
}
