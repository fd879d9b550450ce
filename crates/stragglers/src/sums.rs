//! The sums of waits over the operations of a trace, or of a part of it.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::exposed::exposed;
use super::united::Spans;
use super::visits::{Stay, Visits};
use super::waits::{Badness, LateBegin, ProcessWaits};
use retime_causality::merge::Merge;
use retime_causality::{Causality, Class, EventNode};
use retime_model::{ClockId, LocationIndex};

/// How many of the worst operations are kept.
const WORST_KEPT: usize = 10;

/// A participant that has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    pub(super) node: EventNode,
    pub(super) location: LocationIndex,
    pub(super) process: usize,
    pub(super) clock: ClockId,
    pub(super) time: i64,
    pub(super) end: Option<i64>,
}

/// The sums over several operations.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct WaitSums {
    pub(super) operations: u64,
    pub(super) certain: u64,
    pub(super) others: u64,
    pub(super) messages: u64,
    pub(super) partial: u64,
    pub(super) visits: Visits,
    /// One entry per location.
    pub(super) locations: Vec<ProcessWaits>,
    /// The waits of locations that begin operations while others go on.
    pub(super) spans: Spans,
    pub(super) groups: FxHashMap<Waiters, GroupSums>,
    pub(super) worst: Vec<LateBegin>,
    /// The place in their order of the last of them that is kept in any case.
    least_kept: Option<Badness>,
}

#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Waiters {
    pub(super) locations: Vec<LocationIndex>,
    pub(super) class: Class,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct GroupSums {
    pub(super) operations: u64,
    pub(super) certain: u64,
    pub(super) waited: u64,
    pub(super) hidden: u64,
}

impl Begun {
    /// The time from which on it no longer waits for a participant that arrives at a given time.
    pub(super) fn until(&self, comes: i64) -> i64 {
        self.end.map_or(comes, |end| end.min(comes))
    }

    /// Its part in an operation to which the last comes at a given time.
    pub(super) fn stay(&self, comes: i64) -> Stay {
        Stay {
            process: self.process,
            location: self.location,
            node: self.node,
            begin: self.time,
            until: self.until(comes),
            end: self.end.unwrap_or(i64::MAX),
        }
    }

    /// How long it stands still until a time, but not longer than to its end, from its begin or
    /// from another time, whichever is later.
    pub(super) fn stands_still(&self, causality: &Causality, until: i64, since: i64) -> u64 {
        let [from, to] = [self.time.max(since), self.until(until)];
        if !causality.knows_work(self.location) {
            return to.max(from).abs_diff(from);
        }
        let [from, to] = [from, to].map(|it| it.saturating_sub(self.time));
        exposed(causality, self.node, from, to)
    }

    /// How long it waits until a time, but not longer than to its end.
    pub(super) fn waits(&self, until: i64) -> u64 {
        self.until(until).max(self.time).abs_diff(self.time)
    }
}

impl WaitSums {
    /// Sums over no operations yet, of so many locations.
    pub(super) fn of(locations: usize) -> Self {
        Self {
            locations: vec![ProcessWaits::default(); locations],
            ..Self::default()
        }
    }

    pub(super) fn group(&mut self, group: &Waiters, late: Option<&LateBegin>) {
        let add = |sums: &mut GroupSums| {
            sums.operations += 1;
            sums.certain += u64::from(late.is_some_and(|it| it.beyond.is_some()));
            sums.waited = sums.waited.saturating_add(late.map_or(0, |it| it.waited));
            sums.hidden = sums.hidden.saturating_add(late.map_or(0, |it| it.hidden));
        };
        match self.groups.get_mut(group) {
            Some(sums) => add(sums),
            None => add(self.groups.entry(group.clone()).or_default()),
        }
    }

    /// One more operation. What devices waited of which is known when they computed, [visits](Visits)
    /// tell.
    pub(super) fn judged(
        &mut self,
        causality: &Causality,
        begun: &[Begun],
        late: LateBegin,
        side_by_side: &[bool],
    ) {
        let is_certain = late.beyond.is_some();
        self.operations += 1;
        self.certain += u64::from(is_certain);
        let begins = begun.iter().map(|it| it.time).max().unwrap_or_default();
        for it in begun {
            let location = it.location.as_usize();
            let waited = if causality.knows_work(it.location) {
                0
            } else if side_by_side.get(location) == Some(&true) {
                self.spans.add(it.location, it.time, it.until(begins));
                0
            } else {
                it.waits(begins)
            };
            self.locations[location].add(ProcessWaits {
                operations: 1,
                waited,
                ..ProcessWaits::default()
            });
        }
        let certainly = |of: u64| if is_certain { of } else { 0 };
        self.locations[late.last.location.as_usize()].add(ProcessWaits {
            last: 1,
            certainly_last: certainly(1),
            waited_for: late.waited,
            certainly_waited_for: certainly(late.waited),
            waited_for_alone: late.alone,
            waited_for_longest: late.longest,
            ..ProcessWaits::default()
        });
        if self.least_kept.is_none_or(|least| late.badness() < least) {
            self.worst.push(late);
        }
        if self.worst.len() >= 2 * WORST_KEPT {
            self.keep_worst();
        }
    }

    pub(super) fn keep_worst(&mut self) {
        self.worst.sort_unstable_by_key(LateBegin::badness);
        self.worst.truncate(WORST_KEPT);
        self.least_kept = self.worst.get(WORST_KEPT - 1).map(LateBegin::badness);
    }
}

impl Merge for WaitSums {
    fn merge(&mut self, other: Self) {
        self.operations += other.operations;
        self.certain += other.certain;
        self.others += other.others;
        self.messages += other.messages;
        self.partial += other.partial;
        self.visits.merge(other.visits);
        if self.locations.is_empty() {
            self.locations = other.locations;
        } else {
            let both = self.locations.iter_mut().zip(other.locations);
            both.for_each(|(own, its)| own.add(its));
        }
        self.spans.merge(other.spans);
        for (group, its) in other.groups {
            let own = self.groups.entry(group).or_default();
            own.operations += its.operations;
            own.certain += its.certain;
            own.waited = own.waited.saturating_add(its.waited);
            own.hidden = own.hidden.saturating_add(its.hidden);
        }
        self.worst.extend(other.worst);
        self.keep_worst();
    }
}
