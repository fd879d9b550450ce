//! How far the collectives of a trace have come while the clocks run.
//!
//! An end waits for the begins it depends on, except those of its own clock.
//! Counting the clocks of which begins are missing answers that in one look-up: an end may go
//! on if there is none, or only its own. Prefix operations keep the first place
//! whose begin is missing instead: ends up to there may go on.

use crate::times::UNKNOWN;
use retime_numerics::top_two::TopTwo;

use retime_causality::MinimalDelay;
use retime_causality::{Causality, Class, EventNode, Ids, Instance, JoinedOperation, Slot};
use retime_model::Ticks;
use retime_model::{ClockId, Clocks};

/// Progress of one operation.
#[derive(Clone, Debug, Default)]
struct OperationProgress {
    /// Clocks of which begins are not computed yet, by side.
    missing: [u32; 2],
    /// Latest begins by side, of different clocks.
    latest: [TopTwo<ClockId, EventNode>; 2],
    /// Prefix operations: the first place whose begin is missing.
    first_missing: usize,
}

/// Progress of all operations.
pub(super) struct CollectiveState<'a> {
    causality: &'a Causality,
    clocks: &'a Clocks,
    progress: Vec<OperationProgress>,
    members: Members,
    /// True if any locations share a clock.
    is_shared: bool,
    /// By slot, from `first_incomplete` on: the earliest time that the end may have, given the
    /// begins in other parts of the trace. `UNKNOWN` until that is told.
    outside: Vec<i64>,
    first_incomplete: usize,
}

impl<'a> CollectiveState<'a> {
    /// The state of all operations of which anything is known here.
    pub(super) fn of_known(causality: &'a Causality, clocks: &'a Clocks) -> Self {
        Self::of(causality, clocks, causality.collectives().known_instances())
    }

    /// The state of operations, from the given first one on.
    pub(super) fn of(
        causality: &'a Causality,
        clocks: &'a Clocks,
        instances: Ids<Instance>,
    ) -> Self {
        let collectives = causality.collectives();
        let is_shared = clocks.iter().any(|it| clocks.locations(it).len() > 1);
        let mut members = Members::default();
        let progress = |instance: Instance| {
            let participants = collectives.participants(instance);
            let mut progress = OperationProgress {
                missing: members.add(causality, clocks, instance),
                ..OperationProgress::default()
            };
            progress.first_missing = participants
                .iter()
                .position(|it| it.cause().is_some())
                .unwrap_or(participants.len());
            progress
        };
        let incomplete = collectives.incomplete();
        Self {
            causality,
            clocks,
            outside: vec![UNKNOWN; incomplete.len()],
            first_incomplete: incomplete.start,
            progress: instances.map(progress).collect(),
            members,
            is_shared,
        }
    }

    /// Begins in other parts of the trace let the end in `slot` not lie before.
    pub(super) fn bound_from_outside(&mut self, slot: Slot, bound: i64) {
        let place = slot.index().checked_sub(self.first_incomplete);
        if let Some(known) = place.and_then(|it| self.outside.get_mut(it)) {
            *known = bound;
        }
    }

    /// The begin in `slot` is computed. Returns the places whose ends may now
    /// be able to go on.
    pub(super) fn begun(&mut self, values: &[i64], slot: Slot) -> std::ops::Range<usize> {
        let (instance, place, it) = self.locate(slot);
        let participants = self.causality.collectives().participants(instance);
        let Some(node) = participants[place].cause() else {
            return 0..0;
        };
        let clock = self.clock_of(node);
        let side = heap(it.across_sides, participants[place].side);
        let progress = &mut self.progress[instance.index()];
        progress.latest[side].push(values[node.index()], node, clock);
        let was_last = self.members.begun(instance, side, clock);
        progress.missing[side] -= u32::from(was_last);
        if it.class == Class::Prefix {
            let before = progress.first_missing;
            let is_missing = |place: &usize| {
                participants[*place]
                    .cause()
                    .is_some_and(|cause| values[cause.index()] == UNKNOWN)
            };
            progress.first_missing = (before..participants.len())
                .find(is_missing)
                .unwrap_or(participants.len());
            let last = participants.len().min(progress.first_missing + 1);
            return if self.is_shared {
                place + 1..participants.len()
            } else {
                before..last
            };
        }
        // When one clock is left its own ends may go on, and all others when none is.
        let most = u32::from(self.is_shared);
        if !was_last || progress.missing[side] > most {
            return 0..0;
        }
        0..participants.len()
    }

    /// True if all begins on other clocks that the end in `slot` depends on are
    /// computed.
    pub(super) fn is_ready(&self, values: &[i64], slot: Slot, clock: ClockId) -> bool {
        if self.outside(slot) == Some(UNKNOWN) {
            return false;
        }
        let (instance, place, it) = self.locate(slot);
        let participants = self.causality.collectives().participants(instance);
        let progress = &self.progress[instance.index()];
        if it.class == Class::Prefix {
            let all_known = || {
                let mut causes = self.causes(slot, clock);
                causes.all(|cause| values[cause.index()] != UNKNOWN)
            };
            return place <= progress.first_missing || self.is_shared && all_known();
        }
        let side = source_heap(it.across_sides, participants[place].side);
        match progress.missing[side] {
            0 => true,
            1 => self.members.is_missing(instance, side, clock),
            _ => false,
        }
    }

    /// The time before which the end in `slot` cannot lie, if any begin on
    /// another clock bounds it.
    pub(super) fn bound(
        &self,
        values: &[i64],
        delay: &MinimalDelay,
        slot: Slot,
        clock: ClockId,
    ) -> Option<i64> {
        self.bound_of_known(values, delay, slot, clock)
            .max(self.outside(slot))
    }

    /// The time before which begins in other parts let the end in `slot` not lie; `None` if they
    /// are all known here.
    fn outside(&self, slot: Slot) -> Option<i64> {
        let place = slot.index().checked_sub(self.first_incomplete)?;
        self.outside.get(place).copied()
    }

    /// The time before which the end in a slot cannot lie, by participants that are known here.
    fn bound_of_known(
        &self,
        values: &[i64],
        delay: &MinimalDelay,
        slot: Slot,
        clock: ClockId,
    ) -> Option<i64> {
        let (instance, place, it) = self.locate(slot);
        let ends = self.causality.collectives().participants(instance)[place];
        match delay.of_any_pair() {
            Some(Ticks(delay)) if it.class != Class::Prefix => {
                let source = source_heap(it.across_sides, ends.side);
                let latest = self.progress[instance.index()].latest[source].outside(clock);
                latest.map(|(value, _)| value.saturating_add(delay))
            }
            _ => {
                let nodes = self.causality.nodes();
                let to = nodes.location(ends.effect()?);
                let bounds = self.causes(slot, clock).map(|cause| {
                    let delay = delay.between(nodes.location(cause), to);
                    values[cause.index()].saturating_add(delay.0)
                });
                bounds.max()
            }
        }
    }

    /// The begins on other clocks that the end in `slot` depends on.
    fn causes(&self, slot: Slot, clock: ClockId) -> impl Iterator<Item = EventNode> {
        causes_of_end(self.causality, slot).filter(move |&cause| self.clock_of(cause) != clock)
    }

    fn clock_of(&self, node: EventNode) -> ClockId {
        self.clocks.of(self.causality.nodes().location(node))
    }

    fn locate(&self, slot: Slot) -> (Instance, usize, JoinedOperation) {
        let collectives = self.causality.collectives();
        let (instance, place) = collectives.locate(slot);
        (instance, place, *collectives.operation(instance))
    }
}

/// How many begins of each clock are missing, by operation.
#[derive(Clone, Debug, Default)]
struct Members {
    /// Where those of an operation begin; the next place is where they end.
    starts: Vec<usize>,
    /// By operation, in the order of clocks: how many begins are missing, by side.
    missing: Vec<(ClockId, [u32; 2])>,
}

impl Members {
    /// Takes up the operation that follows those before; of how many clocks begins are missing.
    fn add(&mut self, causality: &Causality, clocks: &Clocks, instance: Instance) -> [u32; 2] {
        let collectives = causality.collectives();
        let across = collectives.operation(instance).across_sides;
        let start = self.missing.len();
        if self.starts.is_empty() {
            self.starts.push(start);
        }
        let causes = collectives.participants(instance).iter();
        let mut own: Vec<(ClockId, usize)> = causes
            .filter_map(|it| {
                let clock = clocks.of(causality.nodes().location(it.cause()?));
                Some((clock, heap(across, it.side)))
            })
            .collect();
        own.sort_unstable();
        for (clock, side) in own {
            if self.missing[start..].last().is_none_or(|it| it.0 != clock) {
                self.missing.push((clock, [0; 2]));
            }
            if let Some((_, missing)) = self.missing.last_mut() {
                missing[side] += 1;
            }
        }
        self.starts.push(self.missing.len());
        let of_side = |side: usize| {
            let missing = self.missing[start..].iter().filter(|it| it.1[side] > 0);
            missing.count() as u32
        };
        [of_side(0), of_side(1)]
    }

    fn place(&self, instance: Instance, clock: ClockId) -> Option<usize> {
        let (from, to) = (
            *self.starts.get(instance.index())?,
            *self.starts.get(instance.index() + 1)?,
        );
        let own = self.missing.get(from..to)?;
        let place = own.binary_search_by_key(&clock, |it| it.0).ok()?;
        Some(from + place)
    }

    /// A begin on this clock is computed; whether it was the last of it.
    fn begun(&mut self, instance: Instance, side: usize, clock: ClockId) -> bool {
        let place = self.place(instance, clock);
        let own = place.and_then(|it| self.missing.get_mut(it));
        own.is_some_and(|(_, missing)| {
            missing[side] = missing[side].saturating_sub(1);
            missing[side] == 0
        })
    }

    fn is_missing(&self, instance: Instance, side: usize, clock: ClockId) -> bool {
        let place = self.place(instance, clock);
        place.is_some_and(|it| self.missing[it].1[side] > 0)
    }
}

/// The begins that the end in `slot` depends on, on any clock.
pub(super) fn causes_of_end(causality: &Causality, slot: Slot) -> impl Iterator<Item = EventNode> {
    let collectives = causality.collectives();
    let (instance, place) = collectives.locate(slot);
    let participants = collectives.participants(instance).iter().enumerate();
    let causes = participants.filter(move |&(from, _)| collectives.depends(instance, from, place));
    causes.filter_map(|(_, it)| it.cause())
}

fn heap(across: bool, side: u8) -> usize {
    usize::from(across && side == 1)
}

fn source_heap(across: bool, side: u8) -> usize {
    heap(across, if across { 1 - side } else { side })
}
