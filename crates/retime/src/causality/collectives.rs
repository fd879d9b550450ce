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

use super::NONE;

/// One participant of a collective: the nodes of its begin and end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    pub(super) begin: u32,
    pub(super) end: u32,
    /// 0, or 1 for the second group of an inter-communicator.
    pub side: u8,
}

impl Slot {
    /// The node of the begin, if it is a cause of others.
    #[inline]
    pub fn cause(&self) -> Option<u32> {
        (self.begin != NONE).then_some(self.begin)
    }

    /// The node of the end, if it is an effect of others.
    #[inline]
    pub fn effect(&self) -> Option<u32> {
        (self.end != NONE).then_some(self.end)
    }
}

/// One collective operation of all its participants.
#[derive(Clone, Copy, Debug)]
pub struct Instance {
    /// What it proves.
    pub class: Class,
    /// On an inter-communicator causes and effects are on different sides.
    pub across_sides: bool,
    pub(super) first_slot: u32,
    pub(super) end_slot: u32,
}

/// All collectives of a trace that prove anything.
#[derive(Clone, Debug, Default)]
pub struct Collectives {
    pub(super) instances: Vec<Instance>,
    pub(super) slots: Vec<Slot>,
    pub(super) instance_of_slot: Vec<u32>,
}

impl Collectives {
    /// Adds an operation, and makes its slots the partners of the nodes in them.
    pub(super) fn push(
        &mut self,
        class: Class,
        across_sides: bool,
        slots: &[Slot],
        partner: &mut [u32],
    ) {
        let number = self.instances.len() as u32;
        let first_slot = self.slots.len() as u32;
        for (place, slot) in (first_slot..).zip(slots) {
            for node in [slot.begin, slot.end] {
                if node != NONE {
                    partner[node as usize] = place;
                }
            }
        }
        self.instance_of_slot.extend(slots.iter().map(|_| number));
        self.slots.extend(slots);
        self.instances.push(Instance {
            class,
            across_sides,
            first_slot,
            end_slot: self.slots.len() as u32,
        });
    }

    /// All operations.
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// Number of slots of all operations.
    pub fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// The participants of an operation, in order of ranks.
    #[inline]
    pub fn slots(&self, instance: u32) -> &[Slot] {
        let it = &self.instances[instance as usize];
        &self.slots[it.first_slot as usize..it.end_slot as usize]
    }

    /// The operation a slot belongs to, and the slot's place in it.
    #[inline]
    pub fn locate(&self, slot: u32) -> (u32, usize) {
        let instance = self.instance_of_slot[slot as usize];
        (
            instance,
            (slot - self.instances[instance as usize].first_slot) as usize,
        )
    }

    /// For each effect of an operation the cause with the largest `value` among
    /// those of another `domain` (a slot's place, its clock, ...). Only the
    /// slots at `places`, in rising order, take part.
    #[inline]
    pub fn latest_causes<D: PartialEq + Copy>(
        &self,
        instance: u32,
        places: impl Iterator<Item = usize> + Clone,
        value: impl Fn(u32) -> i64,
        domain: impl Fn(usize) -> D,
        visit: impl FnMut(u32, u32),
    ) {
        let slots = self.slots(instance);
        let ends = places.map(|place| Ends {
            from: slots[place].begin,
            to: slots[place].end,
            side: slots[place].side,
            domain: domain(place),
        });
        sweep(self.instances[instance as usize], ends, value, visit);
    }

    /// For each cause of an operation the effect with the smallest `value` among
    /// those of another `domain`; the mirror of [`Self::latest_causes`].
    #[inline]
    pub fn earliest_effects<D: PartialEq + Copy>(
        &self,
        instance: u32,
        value: impl Fn(u32) -> i64,
        domain: impl Fn(usize) -> D,
        mut visit: impl FnMut(u32, u32),
    ) {
        let slots = self.slots(instance);
        let ends = (0..slots.len()).rev().map(|place| Ends {
            from: slots[place].end,
            to: slots[place].begin,
            side: slots[place].side,
            domain: domain(place),
        });
        let it = self.instances[instance as usize];
        sweep(
            it,
            ends,
            |node| -value(node),
            |effect, cause| visit(cause, effect),
        );
    }

    /// Visits all pairs of places of which the first precedes the second, where
    /// both are there. Quadratic: for bounds that differ from pair to pair.
    pub fn each_dependency(&self, instance: u32, mut visit: impl FnMut(usize, usize)) {
        let slots = self.slots(instance);
        for (to, _) in slots
            .iter()
            .enumerate()
            .filter(|(_, slot)| slot.end != NONE)
        {
            for (from, _) in slots
                .iter()
                .enumerate()
                .filter(|(_, slot)| slot.begin != NONE)
            {
                if self.depends(instance, from, to) {
                    visit(from, to);
                }
            }
        }
    }

    /// Whether the cause in slot `from` precedes the effect in slot `to`.
    #[inline]
    pub fn depends(&self, instance: u32, from: usize, to: usize) -> bool {
        let it = &self.instances[instance as usize];
        let slots = self.slots(instance);
        from != to
            && (it.class != Class::Prefix || from < to)
            && (!it.across_sides || slots[from].side != slots[to].side)
    }
}

/// A participant seen from one direction of time.
#[derive(Clone, Copy)]
struct Ends<D> {
    from: u32,
    to: u32,
    side: u8,
    domain: D,
}

/// The largest value seen, and the largest of another domain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TopTwo<D> {
    best: Option<(i64, u32, D)>,
    other: Option<(i64, u32)>,
}

impl<D> Default for TopTwo<D> {
    fn default() -> Self {
        Self {
            best: None,
            other: None,
        }
    }
}

impl<D: PartialEq + Copy> TopTwo<D> {
    pub(crate) fn push(&mut self, value: i64, node: u32, domain: D) {
        match self.best {
            Some((best, ..)) if value <= best => {
                let same = self.best.is_some_and(|(_, _, of)| of == domain);
                if !same && self.other.is_none_or(|(other, _)| value > other) {
                    self.other = Some((value, node));
                }
            }
            previous => {
                if let Some((value, node, of)) = previous
                    && of != domain
                {
                    self.other = Some((value, node));
                }
                self.best = Some((value, node, domain));
            }
        }
    }

    /// The largest value outside of `domain`, and its node.
    pub(crate) fn outside(&self, domain: D) -> Option<(i64, u32)> {
        match self.best {
            Some((value, node, of)) if of != domain => Some((value, node)),
            _ => self.other,
        }
    }
}

/// Visits `(from, to)` for each `to` with the largest `from` of another domain
/// (and of the other side, where the operation goes across).
fn sweep<D: PartialEq + Copy>(
    it: Instance,
    ends: impl Iterator<Item = Ends<D>> + Clone,
    value: impl Fn(u32) -> i64,
    mut visit: impl FnMut(u32, u32),
) {
    let mut top = [TopTwo {
        best: None,
        other: None,
    }; 2];
    let heap = |side: u8| usize::from(it.across_sides && side == 1);
    let push = |top: &mut [TopTwo<D>; 2], end: &Ends<D>| {
        if end.from != NONE {
            top[heap(end.side)].push(value(end.from), end.from, end.domain);
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
        if end.to != NONE
            && let Some((_, from)) = top[source].outside(end.domain)
        {
            visit(from, end.to);
        }
        if prefix {
            push(&mut top, &end);
        }
    }
}
