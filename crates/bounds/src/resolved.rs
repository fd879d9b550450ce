//! The bounds under one bound on rates: which facts are left out if they contradict each other.
//!
//! First the dependencies that matter are tried as they are. If they leave no solution, pairs of
//! clocks are [screened](super::screen) for what contradicts the rest, known steps cut clocks in
//! two, and each cycle that is left afterwards is resolved, gently at first: by the least that
//! has to be left out of it.

use super::facts::Facts;
use super::graph::Budget;
use super::link::Kept;
use super::narrowed::{Narrowed, graph};
use super::offset_bounds::{BoundOptions, OffsetBounds};
use super::relaxation::{Relaxation, Relaxed};
use super::sides::{Sides, without_cycles};
use retime_causality::edges::InOrder;
use retime_model::{Cancelled, Monitor};

/// Contradictions are resolved in this many rounds at most,
const ROUNDS: usize = 64;
/// and after this many all dependencies of a contradiction are left out.
const GENTLE_ROUNDS: usize = 16;

/// Where facts do not contradict each other, as far as the steps tell, of the dependencies that
/// matter.
pub(super) fn without_contradiction(
    facts: &Facts<'_>,
    kept: &[Kept],
    options: &BoundOptions,
    monitor: &dyn Monitor,
) -> Result<Option<OffsetBounds>, Cancelled> {
    let relaxation = Relaxation::new(facts.clocks());
    let mut budget = Budget::of(options.steps, monitor);
    without_cycles(facts, &relaxation, kept.iter(), &mut budget)
}

/// Where facts may contradict each other: which of them are left out is found out
/// by looking at pairs of clocks, and then by whatever cycles are left.
pub(super) fn with_contradictions(
    all: &InOrder,
    facts: &Facts<'_>,
    options: &BoundOptions,
    monitor: &dyn Monitor,
) -> Result<OffsetBounds, Cancelled> {
    let mut relaxation = Relaxation::new(facts.clocks());
    facts.let_step(all, &mut relaxation);
    let mut narrowed = Narrowed::new(all, facts);
    narrowed.screen(facts, &mut relaxation, monitor)?;
    narrowed.prune(facts, &relaxation, monitor)?;
    let mut budget = Budget::of(options.steps, monitor);
    let mut at_once = budget;
    // What the screen has left out, or a step that is known, may have been all.
    if let Some(bounds) = without_cycles(facts, &relaxation, narrowed.kept(), &mut at_once)? {
        return Ok(bounds);
    }
    for round in 0..ROUNDS {
        let graph = graph(facts, narrowed.kept(), monitor)?;
        let sides = Sides::solved(facts, &relaxation, &graph, &mut budget)?;
        drop(graph);
        let cycles = sides.cycles();
        if cycles.is_empty() {
            let found = sides.bounds(facts, &relaxation);
            // Ways that were not followed to their end may close cycles: facts that contradict
            // each other prove nothing.
            let found = found.filter(|it| it.complete);
            return Ok(found.unwrap_or_else(|| OffsetBounds {
                used_up: true,
                ..unbounded(facts, &relaxation)
            }));
        }
        narrowed.relax(facts, &mut relaxation, &cycles, round >= GENTLE_ROUNDS);
        if budget.is_used_up() {
            return Ok(OffsetBounds {
                used_up: true,
                ..unbounded(facts, &relaxation)
            });
        }
        narrowed.prune(facts, &relaxation, monitor)?;
    }
    Ok(unbounded(facts, &relaxation))
}

/// No bounds.
fn unbounded(facts: &Facts<'_>, relaxation: &Relaxation) -> OffsetBounds {
    OffsetBounds {
        clocks: vec![None; facts.clocks()],
        reference: facts.reference(),
        relaxed: relaxation.list(),
        complete: false,
        used_up: false,
    }
}

/// Bounds [with contradictions](with_contradictions), and positions of dependencies in the source.
pub(super) fn with_all(
    all: &InOrder,
    facts: &Facts<'_>,
    options: &BoundOptions,
    monitor: &dyn Monitor,
) -> Result<OffsetBounds, Cancelled> {
    let mut found = with_contradictions(all, facts, options, monitor)?;
    for relaxed in &mut found.relaxed {
        if let Relaxed::Edge { edge, .. } = relaxed {
            *edge = all.positions.get(edge.index()).copied().unwrap_or(*edge);
        }
    }
    Ok(found)
}
