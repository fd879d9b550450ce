//! A trace with time running backwards.
//!
//! Stamps are mirrored at the middle of the trace, sends become receives and
//! begins become ends: what had to follow has to precede. A clock that runs over
//! the mirror moves events to *earlier* times; mirrored back, that is the clock
//! run backwards from the end of the trace.
//!
//! Source: Rabenseifner 1997, section 7; Rabenseifner 2000, section 7.2.

use std::sync::Arc;

use retime_model::{Class, Defects, Role};

use crate::collectives::{Collectives, JoinedOperation, Participant};
use crate::nodes::Nodes;
use crate::partner::Partner;
use crate::whole::Whole;
use crate::{Causality, EventNode, PackedOption, Slot};

impl Causality {
    /// The mirror image. Node `n` of a location becomes its last but `n`.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        let mirror = |node: EventNode| self.nodes.mirror_node(node);
        let mut partner = vec![Partner::NONE; self.partner.len()];
        for (node, of) in self.nodes.all().zip(&*self.partner) {
            let mirrored = match self.nodes.role(node) {
                Role::Send | Role::Receive => of.node().map(|it| mirror(it).into()),
                Role::CollectiveBegin | Role::CollectiveEnd => {
                    let slot = of.slot();
                    slot.map(|it| self.collectives.mirror_slot(it).into())
                }
            };
            partner[mirror(node).index()] = mirrored.unwrap_or(Partner::NONE);
        }
        let lengths = self.lengths.as_ref();
        let lengths = lengths.map(|it| it.renumbered(self.nodes.all(), partner.len(), mirror));
        let mut nodes = self.nodes.mirrored();
        if let Some(rest) = self.whole().rest() {
            let slot = |slot: Slot| self.collectives.mirror_slot(slot);
            nodes.in_whole(Whole::with(rest.renumbered(&mirror, &slot)));
        }
        Self {
            nodes,
            partner: Arc::new(partner),
            collectives: Arc::new(self.collectives.mirrored(mirror)),
            defects: Arc::new(Defects::default()),
            usage: self.usage,
            // These are looked at in the trace itself only.
            completions: Arc::default(),
            waits: Arc::default(),
            overlaps: Arc::default(),
            lengths: lengths.map(Arc::new),
        }
    }
}

impl Nodes {
    /// The number of `node` in the mirror.
    pub(crate) fn mirror_node(&self, node: EventNode) -> EventNode {
        self.span(self.location(node).as_usize()).mirrored(node)
    }
}

impl Collectives {
    /// Participants in reverse order, as prefix operations need it.
    fn mirrored(&self, mirror: impl Fn(EventNode) -> EventNode) -> Self {
        let participants = self
            .known_instances()
            .flat_map(|it| self.participants(it).iter().rev());
        let mirror = |node: Option<EventNode>| PackedOption::from(node.map(&mirror));
        let swap = |it: &Participant| Participant {
            begin: mirror(it.effect()),
            end: mirror(it.cause()),
            side: it.side,
        };
        let class = |it: &JoinedOperation| JoinedOperation {
            class: match it.class {
                Class::OneToAll => Class::AllToOne,
                Class::AllToOne => Class::OneToAll,
                symmetric => symmetric,
            },
            ..*it
        };
        Self {
            participants: participants.map(swap).collect(),
            operations: self.operations.iter().map(class).collect(),
            instance_of_slot: self.instance_of_slot.clone(),
            elsewhere: self.elsewhere,
        }
    }

    fn mirror_slot(&self, slot: Slot) -> Slot {
        let (instance, _) = self.locate(slot);
        self.operation(instance).slots().mirrored(slot)
    }
}
