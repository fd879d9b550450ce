//! Which clocks make the common time of an alignment, if it is not that of one clock.
//!
//! Clocks that were set are no part of a mean: each step would move all others by a share of it. The
//! ensemble is of those alone that dependencies tie to each other both ways, and only where these
//! prove that clocks wander: else the time of the reference is as good as any.

use retime_alignment::{Alignment, Relation};
use retime_causality::edges::Edges;
use retime_clocks::estimate::{Offset, Reference};

/// The first and the last stamp of each clock.
type Extents = [Option<(i64, i64)>];

/// The ticks by which the chosen time is ahead of that of the reference; `None` if it is that.
pub(super) fn common_time(
    reference: Reference,
    alignment: &Alignment,
    extents: &Extents,
) -> Option<Offset> {
    let of = |clocks: Vec<Option<(i64, i64)>>| {
        reference.change(&alignment.estimate, &Edges::new(Vec::new(), clocks))
    };
    let steady = steady(alignment, extents);
    match reference {
        Reference::First | Reference::ClockOf(_) => None,
        Reference::Ensemble if !alignment.wanders => None,
        Reference::Ensemble => {
            let relations = steady.into_iter().zip(&alignment.relations);
            let tied = |(extent, relation): (Option<(i64, i64)>, &Relation)| {
                extent.filter(|_| *relation == Relation::BothWays)
            };
            of(relations.map(tied).collect())
        }
        Reference::Mean if steady.iter().any(Option::is_some) => of(steady),
        Reference::Mean => of(extents.to_vec()),
    }
}

/// The stamps of clocks that were not set.
fn steady(alignment: &Alignment, extents: &Extents) -> Vec<Option<(i64, i64)>> {
    let mut steady = extents.to_vec();
    for step in &alignment.steps {
        if let Some(extent) = steady.get_mut(step.clock.as_usize()) {
            *extent = None;
        }
    }
    steady
}
