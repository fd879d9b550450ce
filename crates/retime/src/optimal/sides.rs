//! The two sides of bounds: the least and the greatest solution of one graph.
//!
//! Neither needs the other, so they are looked for by two threads, or of several processes by
//! the first two. Each ends in bounds or in cycles that forbid any.

use serde::{Deserialize, Serialize};

use super::bounds::OffsetBounds;
use super::facts::{Facts, Side};
use super::graph::{Budget, Cycle, Graph, Solved};
use super::relaxation::Relaxation;
use crate::edges::Edge;
use crate::share::Share;
use retime_model::Cancelled;

/// What comes of one side.
#[derive(Serialize, Deserialize)]
pub(super) enum Answer {
    /// Bounds, and whether they are as narrow as they can be.
    Bounded(Side, bool),
    /// The cycles that forbid any.
    Cycles(Vec<Cycle>),
}

impl Answer {
    pub(super) fn cycles(&self) -> Option<&Vec<Cycle>> {
        match self {
            Self::Cycles(cycles) => Some(cycles),
            Self::Bounded(..) => None,
        }
    }
}

/// Both sides together, if there are no cycles.
pub(super) fn bounded<F: Fn(&Edge) -> i64 + Sync>(
    facts: &Facts<'_, F>,
    relaxation: &Relaxation,
    both: (Answer, Answer),
) -> Option<OffsetBounds> {
    match both {
        (Answer::Bounded(low, whole), Answer::Bounded(high, other)) => {
            Some(facts.bounds(low, high, relaxation, whole && other))
        }
        _ => None,
    }
}

/// The lower and the upper side that a graph gives; of several processes the first gets to know
/// them, and the first two know the graph. What the side took that took longer counts.
pub(super) fn solved<F: Fn(&Edge) -> i64 + Sync>(
    share: &Share,
    (facts, relaxation): (&Facts<'_, F>, &Relaxation),
    graph: Option<&Graph>,
    budget: &mut Budget<'_>,
) -> Result<Option<(Answer, Answer)>, Cancelled> {
    let side = |side: f64| -> Result<(Answer, u64), Cancelled> {
        let graph = graph.ok_or(Cancelled)?;
        let source = graph.node(&(facts.reference(), 0, 0));
        let mut own = *budget;
        let solved = if side < 0.0 {
            graph.solve(source, &mut own)?
        } else {
            graph.reversed(own.monitor())?.solve(source, &mut own)?
        };
        let bounded = |values: &[i128]| facts.side(side, graph, values, relaxation, |_| true);
        let answer = match solved {
            Solved::Least(values) => Answer::Bounded(bounded(&values), true),
            Solved::Stopped(values) => Answer::Bounded(bounded(&values), false),
            Solved::Cycles(cycles) => Answer::Cycles(cycles),
        };
        Ok((answer, own.left()))
    };
    let both = share.both(|| side(-1.0), || side(1.0))?;
    let both = both.map(|((low, left), (high, other))| {
        budget.use_up(budget.left() - left.min(other));
        (low, high)
    });
    Ok(both)
}
