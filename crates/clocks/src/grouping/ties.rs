//! Which locations dependencies tie to each other, directly or over others.
//!
//! Those between a process and what it [has made](super::made) tie only what is tied
//! otherwise, too, or where one of them is violated.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use retime_model::{ClockId, Clocks, LocationIndex, TraceInfo};

use super::made::made_of;
use retime_causality::merge::Merge;
use retime_causality::{Causality, EventNode, Ids};

/// So many nodes of each location are looked at first: mostly all locations are tied
/// long before the end.
const FIRST: usize = 256;

/// Sets of locations that are tied to each other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ties {
    /// Per location: another one of its set, or itself; following them leads to the one that stands
    /// for the set.
    next: Vec<usize>,
    /// Per location: true if it is tied to another.
    tied: Vec<bool>,
    /// How many sets there are of locations with an event that may depend on others.
    sets: usize,
    /// True if any process has made another.
    makes: bool,
    /// Pairs that are not tied because nothing is violated between a process and what
    /// it has made, with what it has made.
    quiet: BTreeSet<(usize, usize, usize)>,
}

/// Pairs that are tied by one of both.
impl Merge for Ties {
    fn merge(&mut self, mut other: Self) {
        for location in 0..other.next.len() {
            let set = other.set(location);
            self.tie(location, set);
        }
        for (tied, more) in self.tied.iter_mut().zip(other.tied) {
            *tied |= more;
        }
        self.quiet.extend(other.quiet);
    }
}

impl Ties {
    pub(super) fn of(info: &TraceInfo, causality: &Causality) -> Self {
        let nodes = causality.nodes();
        let may_be_tied = |&location: &usize| nodes.count(location) > 0;
        let mut ties = Self {
            next: (0..nodes.locations()).collect(),
            tied: vec![false; nodes.locations()],
            sets: (0..nodes.locations()).filter(may_be_tied).count(),
            makes: info.processes.iter().any(|it| it.creator.is_some()),
            quiet: BTreeSet::new(),
        };
        let mut rest: Vec<_> = (0..nodes.locations()).map(|it| nodes.of(it)).collect();
        ties.tie_messages(info, causality, &mut rest, FIRST);
        ties.tie_collectives(info, causality);
        ties.tie_messages(info, causality, &mut rest, usize::MAX);
        let mut ties = causality.whole().all_reduce(ties);
        ties.tie_loud(info);
        ties
    }

    fn tie_collectives(&mut self, info: &TraceInfo, causality: &Causality) {
        let (nodes, collectives) = (causality.nodes(), causality.collectives());
        for instance in collectives.instances() {
            if self.sets <= 1 {
                return;
            }
            let mut tie = |cause: EventNode, effect: EventNode| {
                self.tie_ends(info, causality, cause, effect);
            };
            // Any cause of an effect ties it, and any effect of a cause; the latest and
            // the earliest show whether one is violated.
            let (time, place) = (|node: EventNode| nodes.time(node).0, |place| place);
            let places = 0..collectives.participants(instance).len();
            collectives.latest_causes(instance, places, time, place, &mut tie);
            collectives.earliest_effects(instance, time, place, &mut tie);
        }
    }

    /// Ties by the messages that arrive at the next so many nodes of each location.
    fn tie_messages(
        &mut self,
        info: &TraceInfo,
        causality: &Causality,
        rest: &mut [Ids<EventNode>],
        many: usize,
    ) {
        for rest in rest {
            if self.sets <= 1 {
                return;
            }
            for node in rest.take(many) {
                if let Some(send) = causality.message_source(node) {
                    self.tie_ends(info, causality, send, node);
                }
            }
        }
    }

    /// Ties by a cause and its effect.
    fn tie_ends(
        &mut self,
        info: &TraceInfo,
        causality: &Causality,
        cause: EventNode,
        effect: EventNode,
    ) {
        let nodes = causality.nodes();
        let pair = [cause, effect].map(|node| nodes.location(node));
        let [a, b] = pair.map(LocationIndex::as_usize);
        let made = if self.makes {
            made_of(info, pair)
        } else {
            [None; 2]
        };
        if made[0].is_none() || nodes.time(effect) < nodes.time(cause) {
            return self.tie(a, b);
        }
        for process in made.into_iter().flatten() {
            self.quiet.insert((process, a.min(b), a.max(b)));
        }
    }

    /// Ties the quiet pairs of processes of which a location is tied otherwise.
    fn tie_loud(&mut self, info: &TraceInfo) {
        let locations = info.locations.iter().zip(&self.tied);
        let loud = locations.filter_map(|(location, &tied)| tied.then_some(location.process));
        let loud: BTreeSet<usize> = loud.collect();
        for (process, a, b) in std::mem::take(&mut self.quiet) {
            if loud.contains(&process) {
                self.tie(a, b);
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

    /// Per location: true if it is tied to another.
    pub(super) fn tied(&self) -> &[bool] {
        &self.tied
    }

    /// Per location: true if it is tied to one that reads another clock.
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
