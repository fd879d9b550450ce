//! Where on its clock an event stands, so that no two share a place.
//!
//! The distance of two places is the sum of the weights `max(1, d)` of the local
//! intervals between them: equal stamps stand one tick apart, in recorded order.
//! So a place is the stamp plus the number of events before it that share their
//! stamp with the one before them.

use retime_causality::edges::{Edge, Edges};
use retime_causality::{EventNode, PackedOption};
use retime_model::pace::Pace;
use retime_model::{Cancelled, ClockId, Monitor};
use retime_numerics::sorting::sort_by_key;

/// The places of all clocks.
#[derive(Clone, Debug)]
pub(super) struct Places<E = PackedOption<EventNode>> {
    /// Per clock: events (stamp, event) that share their stamp with the one before.
    ties: Vec<Vec<(i64, E)>>,
}

impl Places {
    /// Fails only if `monitor` says to give up.
    pub(super) fn new(edges: &Edges, monitor: &dyn Monitor) -> Result<Self, Cancelled> {
        let mut events = vec![Vec::new(); edges.clocks()];
        let mut add = |clock: ClockId, event: (i64, PackedOption<EventNode>)| {
            if let Some(of) = events.get_mut(clock.as_usize()) {
                of.push(event);
            }
        };
        let mut pace = Pace::of(monitor);
        for edge in edges.all() {
            pace.event()?;
            let Edge { from, to, .. } = *edge;
            add(from, (edge.sent, edge.cause));
            add(to, (edge.received, edge.effect));
        }
        Self::of_events(events, monitor)
    }
}

impl<E: Copy + Ord> Places<E> {
    /// The places of the events of each clock, in any order; events of a clock that share a
    /// stamp come in their own order.
    pub(super) fn of_events(
        events: Vec<Vec<(i64, E)>>,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let ties = |mut events: Vec<(i64, E)>| {
            monitor.check()?;
            sort_by_key(&mut events, |it| *it, monitor)?;
            events.dedup();
            let pairs = events.windows(2);
            let tied = pairs.filter(|pair| pair[0].0 == pair[1].0);
            Ok(tied.map(|pair| pair[1]).collect())
        };
        let ties: Result<_, Cancelled> = events.into_iter().map(ties).collect();
        Ok(Self { ties: ties? })
    }

    /// The place of an event.
    pub(super) fn of(&self, clock: ClockId, stamp: i64, event: E) -> i64 {
        let ties = self.ties(clock);
        let before = ties.partition_point(|&tie| tie <= (stamp, event));
        stamp.saturating_add(before as i64)
    }

    /// The stamp at a place.
    pub(super) fn stamp(&self, clock: ClockId, place: i64) -> i64 {
        let ties = self.ties(clock);
        // Ties rise by stamp, and the n-th stands n places after its stamp.
        let (mut low, mut high) = (0, ties.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if ties[middle].0.saturating_add(middle as i64 + 1) <= place {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        place - low as i64
    }

    fn ties(&self, clock: ClockId) -> &[(i64, E)] {
        self.ties.get(clock.as_usize()).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stamps_stand_apart() {
        let (a, b) = (ClockId(0), ClockId(1));
        let edge = |stamp: i64, node: u32| Edge {
            cause: EventNode(node).into(),
            ..Edge::message(a, stamp, b, 0)
        };
        let edges = vec![edge(5, 1), edge(7, 2), edge(7, 3), edge(7, 4), edge(9, 5)];
        let places = Places::new(&Edges::new(edges, vec![None, None]), &()).unwrap();
        let of = [(5, 1), (7, 2), (7, 3), (7, 4), (9, 5)]
            .map(|(at, node)| places.of(a, at, EventNode(node).into()));
        assert_eq!(of, [5, 7, 8, 9, 11]);
        assert_eq!(of.map(|place| places.stamp(a, place)), [5, 7, 7, 7, 9]);
        assert_eq!(places.stamp(a, 10), 8);
    }
}
