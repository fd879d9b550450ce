//! The same trace with time running backwards.
//!
//! Stamps are mirrored at the middle of the trace, sends become receives and
//! begins become ends: what had to follow has to precede. A clock that runs over
//! the mirror moves events to *earlier* times; mirrored back, that is the clock
//! run backwards from the end of the trace.
//!
//! Source: Rabenseifner 1997, section 7; Rabenseifner 2000, section 7.2.

use std::sync::Arc;

use retime_model::{Class, Defects, Role};

use super::collectives::{Collectives, Instance, Slot};
use super::nodes::Nodes;
use super::{Causality, NONE};

impl Causality {
    /// The mirror image. Node `n` of a location becomes its last but `n`.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        let mirror = |node: u32| {
            if node == NONE {
                NONE
            } else {
                self.nodes.mirror_node(node)
            }
        };
        let mut partner = vec![NONE; self.partner.len()];
        for node in 0..self.partner.len() as u32 {
            let of = self.partner[node as usize];
            partner[mirror(node) as usize] = match self.nodes.role(node) {
                Role::Send | Role::Receive => mirror(of),
                Role::CollectiveBegin | Role::CollectiveEnd if of == NONE => NONE,
                Role::CollectiveBegin | Role::CollectiveEnd => self.collectives.mirror_slot(of),
            };
        }
        Self {
            nodes: self.nodes.mirrored(),
            partner: Arc::new(partner),
            collectives: Arc::new(self.collectives.mirrored(mirror)),
            defects: Arc::new(Defects::default()),
        }
    }
}

impl Nodes {
    /// The number of `node` in the mirror.
    pub(crate) fn mirror_node(&self, node: u32) -> u32 {
        let range = self.of(self.location(node).as_usize());
        range.start + (range.end - 1 - node)
    }
}

impl Collectives {
    /// Participants in reverse order, as prefix operations need it.
    fn mirrored(&self, mirror: impl Fn(u32) -> u32) -> Self {
        let slots = self.instances.iter().flat_map(|it| {
            let range = it.first_slot as usize..it.end_slot as usize;
            self.slots[range].iter().rev()
        });
        let swap = |slot: &Slot| Slot {
            begin: mirror(slot.end),
            end: mirror(slot.begin),
            side: slot.side,
        };
        let class = |it: &Instance| Instance {
            class: match it.class {
                Class::OneToAll => Class::AllToOne,
                Class::AllToOne => Class::OneToAll,
                symmetric => symmetric,
            },
            ..*it
        };
        Self {
            slots: slots.map(swap).collect(),
            instances: self.instances.iter().map(class).collect(),
            instance_of_slot: self.instance_of_slot.clone(),
        }
    }

    fn mirror_slot(&self, slot: u32) -> u32 {
        let it = self.instances[self.instance_of_slot[slot as usize] as usize];
        it.first_slot + (it.end_slot - 1 - slot)
    }
}
