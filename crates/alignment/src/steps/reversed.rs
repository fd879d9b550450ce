//! How far an estimate leaves effects before their causes.

use super::latencies::LongestLatencies;
use retime_causality::edges::{Edge, ListedEdges};

/// How far below zero latencies are together, in parts of a tick: a sum of whole numbers is the
/// same in any order.
pub(super) type Reversed = u128;

/// How many parts of a tick are counted.
pub(super) const PARTS: f64 = 1024.0;

/// How far below zero all aligned latencies are together.
pub(super) fn reversed(list: &ListedEdges, latencies: &LongestLatencies<'_>) -> Reversed {
    let below = |edge: &Edge| (-latencies.of(edge) * PARTS).max(0.0) as Reversed;
    let all = list.edges.all().iter().map(below);
    all.fold(0, Reversed::saturating_add)
}
