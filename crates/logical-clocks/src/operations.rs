//! Bounds that cross between the parts of a trace in collective operations.
//!
//! Where operations are joined in [one part](retime_causality::Turns) each, only that part knows
//! when all of its participants began and ended. The logical clock of another one needs of that
//! one number for each own event:
//!
//! ```text
//! bound(end)   = max( LC(begin) + mu           over the begins in other parts it depends on )
//! limit(begin) = min( LC(end) - mu - LC(begin) over the ends in other parts that depend on it )
//! ```
//!
//! Own participants are looked at where they are, since it depends on clocks which of
//! them read the same. A clock is in one part, so those in others read another.

use std::ops::Range;

use crate::collective_state::CollectiveState;
use crate::times::UNKNOWN;
use retime_causality::MinimalDelay;
use retime_causality::{Causality, Class, EventNode, Instance, Slot};
use retime_model::pace::Pace;
use retime_model::{Cancelled, ClockId, Clocks, LocationIndex, Monitor};

/// No limit.
pub(super) const FREE: i64 = i64::MAX;

/// By slot of an operation that is joined here, how far its begin can move until an end in
/// another part would come too early; [`FREE`] if there is none.
pub(super) fn limits_of_begins(
    causality: &Causality,
    delay: &MinimalDelay,
    values: &[i64],
    monitor: &dyn Monitor,
) -> Result<Vec<i64>, Cancelled> {
    let time = |node: EventNode| values[node.index()];
    let part = |location: LocationIndex| causality.whole().domain(location.as_usize());
    let collectives = causality.collectives();
    // Operations that are joined here come first.
    let last = collectives.instances().next_back();
    let mut limits = vec![FREE; last.map_or(0, |it| collectives.slots_of(it).end)];
    let mut pace = Pace::of(monitor);
    for instance in collectives.instances() {
        pace.events(collectives.participants(instance).len())?;
        let mut note = |begin: EventNode, room: i64| {
            let slot = causality.slot(begin);
            if let Some(limit) = slot.and_then(|it| limits.get_mut(it.index())) {
                *limit = room.min(*limit);
            }
        };
        causality.tightest_effects(instance, part, delay, time, &mut note);
    }
    Ok(limits)
}

/// The bounds of ends in other parts, of operations that are joined here. Each becomes known once
/// the begins are computed that it depends on and that lie in other parts than itself; so a
/// part is here to an operation what a clock is in [`CollectiveState`].
pub(super) struct BoundsOfEnds<'a> {
    causality: &'a Causality,
    delay: &'a MinimalDelay,
    parts: &'a Clocks,
    state: CollectiveState<'a>,
    /// Per slot: true for an end elsewhere whose bound is not known.
    is_open: Vec<bool>,
    open: usize,
    known: Vec<(Slot, Option<i64>)>,
}

/// The part of each location, as if it were a clock that they read.
pub(super) fn parts(causality: &Causality) -> Clocks {
    let locations = 0..causality.nodes().locations();
    let parts: Vec<usize> = locations.map(|it| causality.whole().domain(it)).collect();
    Clocks::from_owners(&parts).0
}

impl<'a> BoundsOfEnds<'a> {
    /// With the [`parts`] of locations. Bounds that no begin in another part has a say in are
    /// known already.
    pub(super) fn new(
        causality: &'a Causality,
        delay: &'a MinimalDelay,
        parts: &'a Clocks,
        values: &[i64],
    ) -> Self {
        let collectives = causality.collectives();
        let instances = collectives.instances();
        let slots = instances.clone().flat_map(|it| collectives.slots_of(it));
        let is_open = |slot: usize| {
            let end = collectives.participant(Slot(slot as u32)).effect();
            end.is_some_and(|it| !causality.nodes().is_own(it))
        };
        let is_open: Vec<bool> = slots.map(is_open).collect();
        let mut bounds = Self {
            causality,
            delay,
            parts,
            state: CollectiveState::of(causality, parts, instances.clone()),
            open: is_open.iter().filter(|it| **it).count(),
            is_open,
            known: Vec::new(),
        };
        for instance in instances {
            let all = 0..collectives.participants(instance).len();
            bounds.note(values, instance, all);
        }
        bounds
    }

    /// The begin `node` is computed.
    pub(super) fn begun(&mut self, values: &[i64], node: EventNode) {
        let collectives = self.causality.collectives();
        let Some(slot) = self.causality.slot(node) else {
            return;
        };
        let (instance, _) = collectives.locate(slot);
        if self.open > 0 && instance.index() < collectives.instances().len() {
            let places = self.state.begun(values, slot);
            self.note(values, instance, places);
        }
    }

    /// Bounds that became known since this was asked last.
    pub(super) fn take(&mut self, into: &mut Vec<(Slot, Option<i64>)>) {
        into.clear();
        into.append(&mut self.known);
    }

    /// True if all bounds are known.
    pub(super) fn are_known(&self) -> bool {
        self.open == 0
    }

    /// Notes the bounds of ends at some places of an operation, as far as they are known.
    fn note(&mut self, values: &[i64], instance: Instance, places: Range<usize>) {
        let collectives = self.causality.collectives();
        let slots = collectives.slots_of(instance);
        if collectives.operation(instance).class == Class::Prefix {
            self.note_prefix(values, instance);
            return;
        }
        for slot in slots.start + places.start..slots.start + places.end {
            self.note_end(
                slot,
                |state, slot, part| state.is_ready(values, slot, part),
                values,
            );
        }
    }

    /// Ends of a prefix operation wait for begins at earlier places: all of those up to the first
    /// missing one are known, and on its own part those up to the first that is missing
    /// elsewhere.
    fn note_prefix(&mut self, values: &[i64], instance: Instance) {
        let collectives = self.causality.collectives();
        let mut missing: Option<ClockId> = None;
        for slot in collectives.slots_of(instance) {
            self.note_end(
                slot,
                |_, _, part| missing.is_none_or(|it| it == part),
                values,
            );
            let begin = collectives.participant(Slot(slot as u32)).cause();
            let Some(begin) = begin.filter(|it| values[it.index()] == UNKNOWN) else {
                continue;
            };
            let part = self.part_of(begin);
            if missing.is_some_and(|it| it != part) {
                return;
            }
            missing = Some(part);
        }
    }

    /// Notes the bound of one end, if it is open and `is_known` says so of it and its part.
    fn note_end(
        &mut self,
        slot: usize,
        is_known: impl Fn(&CollectiveState<'a>, Slot, ClockId) -> bool,
        values: &[i64],
    ) {
        let place = slot;
        let slot = Slot(slot as u32);
        let end = self.causality.collectives().participant(slot).effect();
        let Some(end) = end.filter(|_| self.is_open[place]) else {
            return;
        };
        let part = self.part_of(end);
        if is_known(&self.state, slot, part) {
            let bound = self.state.bound(values, self.delay, slot, part);
            let recorded = self.causality.nodes().time(end).0;
            self.known
                .push((slot, bound.map(|it| it.saturating_sub(recorded))));
            self.is_open[place] = false;
            self.open -= 1;
        }
    }

    fn part_of(&self, node: EventNode) -> ClockId {
        self.parts.of(self.causality.nodes().location(node))
    }
}
