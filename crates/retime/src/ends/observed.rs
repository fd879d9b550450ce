//! The ends of operations that end together, as aligned clocks show them.

use std::cmp::Ordering;

use retime_model::{Cancelled, Class, ClockId, Clocks};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::observers::Observers;
use crate::unbroken::AlignedRun;
use retime_causality::merge::Listed;
use retime_causality::{Causality, Instance};
use retime_numerics::median::median;

/// The least spread of ends, in ticks: stamps are whole.
pub(super) const LEAST: f64 = 0.5;
/// The standard deviation of a normal distribution whose absolute values have the median 1.
const NORMAL: f64 = 1.4826;

/// The standard deviation of values that are off by so much, as their median tells it. A fit of so
/// many parameters can meet as many values, however far all are off, so that the least of them say
/// nothing.
///
/// Source: W. H. `DuMouchel`, F. L. O'Brien, *Integrating a Robust Option into a Multiple Regression
/// Computing Environment* (1989).
pub(super) fn spread(off: &mut [f64], parameters: usize) -> f64 {
    let met = parameters.min(off.len().saturating_sub(1));
    if met > 0 {
        off.select_nth_unstable_by(met, f64::total_cmp);
    }
    let left = off.get_mut(met..).unwrap_or_default();
    median(left).map_or(LEAST, |it| (NORMAL * it).max(LEAST))
}

/// The end of an operation by one clock.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct OperationEnd {
    pub(super) clock: ClockId,
    /// The aligned time, from the middle of the run: the median of those of all its locations.
    pub(super) at: f64,
    /// The share of the run that has passed then.
    pub(super) share: f64,
}

/// An operation that several clocks saw end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Observed {
    first: usize,
    end: usize,
    /// Operations of one number are of the same clocks.
    pub(super) of: usize,
}

/// All operations whose ends are told by several clocks.
#[derive(Clone, Debug, Default)]
pub(super) struct ObservedEnds {
    pub(super) operations: Vec<Observed>,
    all: Vec<OperationEnd>,
    /// The number of sets of clocks that have operations.
    pub(super) sets: usize,
}

impl ObservedEnds {
    /// The ends of each operation of a list by clock.
    pub(super) fn new(operations: impl IntoIterator<Item = Vec<OperationEnd>>) -> Self {
        let mut ends = Self::default();
        let mut sets: FxHashMap<Vec<ClockId>, usize> = FxHashMap::default();
        for own in operations {
            if own.len() < 2 {
                continue;
            }
            let next = sets.len();
            let clocks = own.iter().map(|it| it.clock).collect();
            let of = *sets.entry(clocks).or_insert(next);
            let first = ends.all.len();
            ends.all.extend(own);
            let end = ends.all.len();
            ends.operations.push(Observed { first, end, of });
        }
        ends.sets = sets.len();
        ends
    }

    /// The number of clocks of each set.
    pub(super) fn clocks_of_sets(&self) -> Vec<usize> {
        let mut clocks = vec![0; self.sets];
        for operation in &self.operations {
            clocks[operation.of] = operation.end - operation.first;
        }
        clocks
    }

    /// The ends in a trace, as `observers` see them, of operations that nobody leaves before all have
    /// come. Of a trace in parts the first part gets to know all, the others some.
    pub(super) fn of_trace(
        causality: &Causality,
        clocks: &Clocks,
        observers: Observers<'_>,
        run: &AlignedRun<'_>,
    ) -> Result<Self, Cancelled> {
        let counts = observers.count_by_location(clocks.by_location().len());
        let instances = causality.collectives().instances();
        let of_instance = |instance| of_instance(causality, clocks, &counts, run, instance);
        let own = instances.filter_map(of_instance).collect();
        let mut all = causality.whole().reduce(Listed(own))?.0;
        // In an order that does not depend on how a trace is cut into parts.
        all.sort_unstable_by(|a, b| in_order(a, b));
        Ok(Self::new(all))
    }

    /// The ends of an operation, by rising clock.
    pub(super) fn of(&self, operation: &Observed) -> &[OperationEnd] {
        &self.all[operation.first..operation.end]
    }

    /// The ends of all operations.
    pub(super) fn all(&self) -> &[OperationEnd] {
        &self.all
    }

    /// The place of the first end of an operation among those of all.
    pub(super) fn places(operation: &Observed) -> std::ops::Range<usize> {
        operation.first..operation.end
    }
}

/// The order of two operations: by their ends, one clock after the other.
fn in_order(a: &[OperationEnd], b: &[OperationEnd]) -> Ordering {
    let by_end =
        |(a, b): (&OperationEnd, &OperationEnd)| a.at.total_cmp(&b.at).then(a.clock.cmp(&b.clock));
    let differs = a.iter().zip(b).map(by_end).find(|it| it.is_ne());
    differs.unwrap_or(a.len().cmp(&b.len()))
}

fn of_instance(
    causality: &Causality,
    clocks: &Clocks,
    counts: &[bool],
    run: &AlignedRun<'_>,
    instance: Instance,
) -> Option<Vec<OperationEnd>> {
    let (nodes, collectives) = (causality.nodes(), causality.collectives());
    let operation = collectives.operation(instance);
    if operation.class != Class::AllToAll || operation.across_sides {
        return None;
    }
    let mut seen: Vec<(ClockId, i64)> = Vec::new();
    for participant in collectives.participants(instance) {
        let end = participant.effect()?;
        let location = nodes.location(end);
        if !counts.get(location.as_usize()).copied()? {
            return None;
        }
        seen.push((clocks.of(location), nodes.time(end).0));
    }
    seen.sort_unstable();
    let of_clock = |same: &[(ClockId, i64)]| {
        let clock = same.first()?.0;
        let mut times: Vec<f64> = same.iter().map(|it| run.time(clock, it.1)).collect();
        let at = median(&mut times)?;
        Some(OperationEnd {
            clock,
            at,
            share: run.share(at),
        })
    };
    seen.chunk_by(|a, b| a.0 == b.0).map(of_clock).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_a_fit_can_meet_say_nothing_of_the_spread() {
        let of = |parameters: usize, expected: f64| {
            let found = spread(&mut [0.0, 11.0, 0.0, 9.0, 0.0, 0.0], parameters);
            assert!((found - expected).abs() < 1e-9, "{parameters}: {found}");
        };
        of(0, LEAST);
        of(4, NORMAL * 10.0);
        // However many it can meet, the worst is left.
        of(9, NORMAL * 11.0);
        assert!((spread(&mut [], 4) - LEAST).abs() < 1e-9);
    }
}
