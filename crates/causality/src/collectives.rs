//! Collective operations as single nodes of happened-before.
//!
//! What a collective proves depends on its [`Class`].
//!
//! The own begin never counts: local order covers it, and a minimal delay on
//! it would "correct" sound traces. Who gave no bytes is no cause, who got none
//! no effect; operations that carry no data (Barrier) are exempt.
//! The edges stay implicit: an operation keeps its participants' begins and
//! ends, and [`Collectives::latest_causes`] finds the latest begin of the others
//! from the two latest of all, never from n^2 edges.
//!
//! Source: Linford 2007, section 3.4, for the classes.

use retime_model::Class;
use retime_numerics::top_two::TopTwo;

use crate::ids::{EventNode, Ids, Instance, PackedOption, Slot};
use crate::partner::Partner;

/// One participant of a collective: the nodes of its begin and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Participant {
    pub(super) begin: PackedOption<EventNode>,
    pub(super) end: PackedOption<EventNode>,
    /// 0, or 1 for the second group of an inter-communicator.
    pub side: u8,
}

impl Participant {
    /// The node of the begin, if it is a cause of others.
    #[inline]
    pub fn cause(&self) -> Option<EventNode> {
        self.begin.get()
    }

    /// The node of the end, if it is an effect of others.
    #[inline]
    pub fn effect(&self) -> Option<EventNode> {
        self.end.get()
    }
}

/// Facts that hold for one collective operation of all its participants.
#[derive(Clone, Copy, Debug)]
pub struct JoinedOperation {
    /// The order that it proves.
    pub class: Class,
    /// On an inter-communicator causes and effects are on different sides.
    pub across_sides: bool,
    pub(super) first_slot: Slot,
    pub(super) end_slot: Slot,
}

impl JoinedOperation {
    /// Its participants' places.
    #[inline]
    pub(super) fn slots(&self) -> Ids<Slot> {
        Ids::new(self.first_slot, self.end_slot)
    }
}

/// All collectives of a trace that prove anything.
#[derive(Clone, Debug, Default)]
pub struct Collectives {
    pub(super) operations: Vec<JoinedOperation>,
    pub(super) participants: Vec<Participant>,
    pub(super) instance_of_slot: Vec<Instance>,
    /// If operations are joined elsewhere.
    pub(super) elsewhere: Option<Elsewhere>,
}

/// Operations of which some participants are here, and which another part visits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elsewhere {
    /// The first of them.
    pub(super) first: Instance,
    /// The first slot of those that were joined elsewhere, and are not known as a whole.
    pub(super) first_incomplete: Slot,
}

impl Collectives {
    /// Adds an operation.
    pub(super) fn push(&mut self, class: Class, across_sides: bool, participants: &[Participant]) {
        let instance = Instance(self.operations.len() as u32);
        let first_slot = Slot(self.participants.len() as u32);
        self.participants.extend(participants);
        self.operations.push(JoinedOperation {
            class,
            across_sides,
            first_slot,
            end_slot: Slot(self.participants.len() as u32),
        });
        let slots = self.participants.len();
        self.instance_of_slot.resize(slots, instance);
    }

    /// Makes each slot the partner of the nodes in it.
    pub(super) fn enter(&self, partner: &mut [Partner]) {
        for (slot, participant) in self.slots().zip(&self.participants) {
            let nodes = [participant.cause(), participant.effect()];
            for node in nodes.into_iter().flatten() {
                partner[node.index()] = slot.into();
            }
        }
    }

    /// All operations, but those that other parts of the trace visit.
    pub fn instances(&self) -> Ids<Instance> {
        let own = self.elsewhere.map(|it| it.first.index());
        Ids::of_column(own.unwrap_or(self.operations.len()))
    }

    /// All operations of which anything is known here. Of some that others visit only own
    /// participants and their neighbours are.
    pub fn known_instances(&self) -> Ids<Instance> {
        Ids::of_column(self.operations.len())
    }

    /// Adds operations after those that are there.
    pub(super) fn append(&mut self, others: &Self) {
        for instance in others.known_instances() {
            let it = *others.operation(instance);
            self.push(it.class, it.across_sides, others.participants(instance));
        }
    }

    /// The participants' places of operations that were joined elsewhere.
    pub fn incomplete(&self) -> std::ops::Range<usize> {
        let end = self.participants.len();
        let first = self.elsewhere.map(|it| it.first_incomplete.index());
        first.unwrap_or(end)..end
    }

    /// The participants' places of all operations.
    pub fn slots(&self) -> Ids<Slot> {
        Ids::of_column(self.participants.len())
    }

    /// The participants' places of an operation, as a range of all.
    pub fn slots_of(&self, instance: Instance) -> std::ops::Range<usize> {
        self.operation(instance).slots().range()
    }

    /// The facts that hold for an operation.
    #[inline]
    pub fn operation(&self, instance: Instance) -> &JoinedOperation {
        &self.operations[instance.index()]
    }

    /// The participants of an operation, in order of ranks.
    #[inline]
    pub fn participants(&self, instance: Instance) -> &[Participant] {
        &self.participants[self.operation(instance).slots().range()]
    }

    /// The participant in a slot.
    pub fn participant(&self, slot: Slot) -> &Participant {
        &self.participants[slot.index()]
    }

    /// The operation a slot belongs to, and the slot's place in it.
    #[inline]
    pub fn locate(&self, slot: Slot) -> (Instance, usize) {
        let instance = self.instance_of_slot[slot.index()];
        let first = self.operation(instance).first_slot;
        (instance, slot.index() - first.index())
    }

    /// For each effect of an operation the cause with the largest `value` among
    /// those of another `domain` (a participant's place, its clock, ...). Only the
    /// participants at `places`, in rising order, take part.
    #[inline]
    pub fn latest_causes<D: PartialEq + Copy>(
        &self,
        instance: Instance,
        places: impl Iterator<Item = usize> + Clone,
        value: impl Fn(EventNode) -> i64,
        domain: impl Fn(usize) -> D,
        visit: impl FnMut(EventNode, EventNode),
    ) {
        let participants = self.participants(instance);
        let ends = places.map(|place| Ends {
            from: participants[place].cause(),
            to: participants[place].effect(),
            side: participants[place].side,
            domain: domain(place),
        });
        sweep(*self.operation(instance), ends, value, visit);
    }

    /// For each cause of an operation the effect with the smallest `value` among
    /// those of another `domain`; the mirror of [`Self::latest_causes`].
    #[inline]
    pub fn earliest_effects<D: PartialEq + Copy>(
        &self,
        instance: Instance,
        value: impl Fn(EventNode) -> i64,
        domain: impl Fn(usize) -> D,
        mut visit: impl FnMut(EventNode, EventNode),
    ) {
        let participants = self.participants(instance);
        let ends = (0..participants.len()).rev().map(|place| Ends {
            from: participants[place].effect(),
            to: participants[place].cause(),
            side: participants[place].side,
            domain: domain(place),
        });
        let it = *self.operation(instance);
        sweep(
            it,
            ends,
            |node| -value(node),
            |effect, cause| visit(cause, effect),
        );
    }

    /// Visits all pairs of places of which the first precedes the second, where
    /// both are there. Quadratic: for bounds that differ from pair to pair.
    pub fn each_dependency(&self, instance: Instance, mut visit: impl FnMut(usize, usize)) {
        let participants = self.participants(instance);
        for (to, _) in participants
            .iter()
            .enumerate()
            .filter(|(_, it)| it.end.is_some())
        {
            for (from, _) in participants
                .iter()
                .enumerate()
                .filter(|(_, it)| it.begin.is_some())
            {
                if self.depends(instance, from, to) {
                    visit(from, to);
                }
            }
        }
    }

    /// True if the cause in slot `from` precedes the effect in slot `to`.
    #[inline]
    pub fn depends(&self, instance: Instance, from: usize, to: usize) -> bool {
        let it = self.operation(instance);
        let participants = self.participants(instance);
        from != to
            && (it.class != Class::Prefix || from < to)
            && (!it.across_sides || participants[from].side != participants[to].side)
    }
}

/// A participant seen from one direction of time; its ends are nodes, or what is known of them.
#[derive(Clone, Copy)]
pub(super) struct Ends<D, T> {
    pub(super) from: Option<T>,
    pub(super) to: Option<T>,
    pub(super) side: u8,
    pub(super) domain: D,
}

/// Visits `(from, to)` for each `to` with the largest `from` of another domain
/// (and of the other side, where the operation goes across).
#[inline]
pub(super) fn sweep<D: PartialEq + Copy, T: Copy>(
    it: JoinedOperation,
    ends: impl Iterator<Item = Ends<D, T>> + Clone,
    value: impl Fn(T) -> i64,
    mut visit: impl FnMut(T, T),
) {
    let mut top = [TopTwo::default(); 2];
    let heap = |side: u8| usize::from(it.across_sides && side == 1);
    let push = |top: &mut [TopTwo<D, T>; 2], end: &Ends<D, T>| {
        if let Some(from) = end.from {
            top[heap(end.side)].push(value(from), from, end.domain);
        }
    };
    let prefix = it.class == Class::Prefix;
    if !prefix {
        ends.clone().for_each(|end| push(&mut top, &end));
    }
    for end in ends {
        let source = heap(if it.across_sides {
            1 - end.side
        } else {
            end.side
        });
        if let Some(to) = end.to
            && let Some((_, from)) = top[source].outside(end.domain)
        {
            visit(from, to);
        }
        if prefix {
            push(&mut top, &end);
        }
    }
}
