//! Which locations dependencies tie to each other, directly or over others.

use retime_model::{ClockId, Clocks};

use crate::causality::{Causality, EventNode, Ids};

/// So many nodes of each location are looked at first: mostly all locations are tied
/// long before the end.
const FIRST: usize = 256;

/// Sets of locations that are tied to each other.
#[derive(Clone, Debug)]
pub(super) struct Ties {
    /// By location another one of its set, or itself; following them leads to the
    /// one that stands for the set.
    next: Vec<usize>,
    /// By location, whether it is tied to another.
    tied: Vec<bool>,
    /// How many sets there are of locations with an event that may depend on others.
    sets: usize,
}

impl Ties {
    pub(super) fn of(causality: &Causality) -> Self {
        let nodes = causality.nodes();
        let may_be_tied = |&location: &usize| !nodes.of(location).is_empty();
        let mut ties = Self {
            next: (0..nodes.locations()).collect(),
            tied: vec![false; nodes.locations()],
            sets: (0..nodes.locations()).filter(may_be_tied).count(),
        };
        let mut rest: Vec<_> = (0..nodes.locations()).map(|it| nodes.of(it)).collect();
        ties.tie_messages(causality, &mut rest, FIRST);
        ties.tie_collectives(causality);
        ties.tie_messages(causality, &mut rest, usize::MAX);
        ties
    }

    fn tie_collectives(&mut self, causality: &Causality) {
        let (nodes, collectives) = (causality.nodes(), causality.collectives());
        for instance in collectives.instances() {
            if self.sets <= 1 {
                return;
            }
            let mut tie = |cause: EventNode, effect: EventNode| {
                let [cause, effect] = [cause, effect].map(|node| nodes.location(node).as_usize());
                self.tie(cause, effect);
            };
            // Any cause of an effect ties it, and any effect of a cause.
            let (any, place) = (|_| 0, |place| place);
            let places = 0..collectives.participants(instance).len();
            collectives.latest_causes(instance, places, any, place, &mut tie);
            collectives.earliest_effects(instance, any, place, &mut tie);
        }
    }

    /// Ties by the messages that arrive at the next so many nodes of each location.
    fn tie_messages(&mut self, causality: &Causality, rest: &mut [Ids<EventNode>], many: usize) {
        let nodes = causality.nodes();
        for (receiver, rest) in rest.iter_mut().enumerate() {
            if self.sets <= 1 {
                return;
            }
            let received = rest.take(many);
            for send in received.filter_map(|node| causality.message_source(node)) {
                self.tie(nodes.location(send).as_usize(), receiver);
            }
        }
    }

    fn tie(&mut self, a: usize, b: usize) {
        if a == b {
            return;
        }
        self.tied[a] = true;
        self.tied[b] = true;
        let (a, b) = (self.set(a), self.set(b));
        if a != b {
            self.next[a.max(b)] = a.min(b);
            self.sets = self.sets.saturating_sub(1);
        }
    }

    /// The location that stands for the set of another.
    fn set(&mut self, mut location: usize) -> usize {
        while self.next[location] != location {
            self.next[location] = self.next[self.next[location]];
            location = self.next[location];
        }
        location
    }

    /// By location, whether it is tied to another.
    pub(super) fn tied(&self) -> &[bool] {
        &self.tied
    }

    /// By location, whether it is tied to one that reads another clock.
    pub(super) fn across(mut self, clocks: &Clocks) -> Vec<bool> {
        let sets: Vec<usize> = (0..self.next.len()).map(|it| self.set(it)).collect();
        let mut clock: Vec<Option<ClockId>> = vec![None; sets.len()];
        let mut across = vec![false; sets.len()];
        for (&set, &own) in sets.iter().zip(clocks.by_location()) {
            let first = *clock[set].get_or_insert(own);
            across[set] |= first != own;
        }
        sets.into_iter().map(|set| across[set]).collect()
    }
}
