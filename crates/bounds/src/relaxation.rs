//! Facts that cannot all be true: which of them are left out.

use serde::{Deserialize, Serialize};

use rustc_hash::FxHashSet;

use retime_causality::edges::EdgeIndex;
use retime_model::ClockId;

/// A fact that contradicts the others under the drift bound, and was left out.
/// Stamps are ticks since [`Nodes::base`](retime_causality::Nodes::base).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Relaxed {
    /// A dependency: a clock misread at one of its ends, a wrong minimal delay,
    /// or a defective record.
    Edge {
        /// Its position in [`Edges::all`](retime_causality::Edges::all).
        edge: EdgeIndex,
        /// How much it contradicts the others by, in ticks.
        by: f64,
    },
    /// A clock stepped: between these two stamps it may have gained or lost
    /// anything.
    Step {
        /// The clock.
        clock: ClockId,
        /// It stepped after this stamp
        after: i64,
        /// and before this one.
        until: i64,
        /// The least ticks, either way.
        by: f64,
    },
}

/// The facts that are left out so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Relaxation {
    dropped: FxHashSet<EdgeIndex>,
    /// Per clock: the open intervals in which it stepped, in order and disjoint.
    cuts: Vec<Vec<(i64, i64)>>,
    list: Vec<Relaxed>,
}

impl Relaxation {
    pub(super) fn new(clocks: usize) -> Self {
        Self {
            cuts: vec![Vec::new(); clocks],
            ..Self::default()
        }
    }

    /// Everything left out, in order.
    pub(super) fn list(&self) -> Vec<Relaxed> {
        self.list.clone()
    }

    /// Leaves out a dependency.
    pub(super) fn drop_edge(&mut self, edge: EdgeIndex, by: f64) {
        if self.dropped.insert(edge) {
            self.list.push(Relaxed::Edge { edge, by });
        }
    }

    /// Lets a clock step between two stamps; intervals that overlap become one.
    pub(super) fn cut(&mut self, clock: ClockId, after: i64, until: i64, by: f64) {
        let Some(cuts) = self.cuts.get_mut(clock.as_usize()) else {
            return;
        };
        let (mut after, mut until) = (after.min(until), after.max(until));
        cuts.retain(|&(from, to)| {
            let apart = to <= after || from >= until;
            if !apart {
                (after, until) = (after.min(from), until.max(to));
            }
            apart
        });
        cuts.push((after, until));
        cuts.sort_unstable();
        self.list.push(Relaxed::Step {
            clock,
            after,
            until,
            by,
        });
    }

    /// Where each clock steps.
    pub(super) fn into_cuts(self) -> Vec<Vec<(i64, i64)>> {
        self.cuts
    }

    /// Where a clock steps.
    pub(super) fn cuts(&self, clock: ClockId) -> &[(i64, i64)] {
        self.cuts.get(clock.as_usize()).map_or(&[], |it| it)
    }

    /// From which stamp to which each piece of a clock lasts.
    pub(super) fn pieces(
        &self,
        clock: ClockId,
        first: i64,
        last: i64,
    ) -> impl Iterator<Item = (i64, i64)> {
        let cuts = self.cuts(clock);
        let starts = std::iter::once(first).chain(cuts.iter().map(|cut| cut.1));
        let ends = cuts.iter().map(|cut| cut.0).chain(std::iter::once(last));
        starts.zip(ends)
    }

    #[inline]
    pub(super) fn is_dropped(&self, edge: EdgeIndex) -> bool {
        !self.dropped.is_empty() && self.dropped.contains(&edge)
    }

    /// The piece of a clock between two steps that a stamp belongs to; `None`
    /// where it steps.
    #[inline]
    pub(super) fn piece(&self, clock: ClockId, stamp: i64) -> Option<u32> {
        let cuts = self.cuts.get(clock.as_usize())?;
        let before = cuts.partition_point(|&(_, until)| until <= stamp);
        match cuts.get(before) {
            Some(&(after, _)) if after < stamp => None,
            _ => Some(before as u32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_part_a_clock_into_pieces() {
        let mut relaxation = Relaxation::new(1);
        let clock = ClockId(0);
        relaxation.cut(clock, 100, 200, 1.0);
        relaxation.cut(clock, 500, 510, 1.0);
        let pieces = [0, 100, 150, 200, 300, 500, 505, 510, 900];
        let pieces = pieces.map(|at| relaxation.piece(clock, at));
        let [a, b, c] = [Some(0), Some(1), Some(2)];
        assert_eq!(pieces, [a, a, None, b, b, b, None, c, c]);
    }
}
