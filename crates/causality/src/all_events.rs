//! A trace in which every event is a node, also those that nothing depends on.
//!
//! Events that communicate are enough for most: those between follow their clock. Not so where a
//! clock does something at each of its events: keeps them apart, or controls itself. Then the
//! events between become nodes without dependencies, in the order of their location:
//!
//! ```
//! # use retime_causality::{Causality, CausalityOptions, EventNode};
//! # use retime_model::Timestamp;
//! # let trace = retime_testing::trace("0: internal @90, send 1 @100, internal @100
//! #                                    1: receive 0 @95, internal @97")?;
//! # let causality = Causality::build(&trace.info, trace.logs, CausalityOptions::default())?;
//! // A process with a send between two other events, and one with a receive and another event.
//! let stamps = [vec![90, 100, 100], vec![95, 97]];
//! let times: Vec<Vec<_>> = stamps.iter().map(|it| it.iter().map(|it| Timestamp(*it)).collect()).collect();
//! let all = causality.with_all_events(&times)?;
//! let send = all.node(EventNode(0));
//! assert_eq!((send, all.causality().message_target(send)), (EventNode(1), Some(EventNode(3))));
//! assert!(all.causality().nodes().is_between(EventNode(2)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Arc;

use retime_model::{Defects, Role, Timestamp};

use crate::all_columns::AllColumns;
use crate::collectives::{Collectives, Participant};
use crate::nodes::Nodes;
use crate::partner::Partner;
use crate::whole::Whole;
use crate::{Causality, EventNode, PackedOption};

/// A trace with all of its events.
#[derive(Clone, Debug)]
pub struct AllEvents {
    causality: Causality,
    /// The nodes that take part in happened-before, rising.
    nodes: Vec<EventNode>,
}

/// Why events do not belong to a trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OtherEvents {
    /// They are others than those that were read first.
    #[error(
        "location number {location} (from 0) has other events than when it was read first; it \
         was changed meanwhile, so run this again"
    )]
    Changed {
        /// The index of the location.
        location: u32,
    },
    /// One number stands for none.
    #[error(
        "{0} events are more than can be numbered together; leave out what looks at every event"
    )]
    TooMany(u64),
}

impl AllEvents {
    /// The trace, in which all events are nodes.
    pub fn causality(&self) -> &Causality {
        &self.causality
    }

    /// The node here of one of the trace that only has what takes part.
    pub fn node(&self, node: EventNode) -> EventNode {
        self.nodes[node.index()]
    }

    /// The nodes here of those that take part, rising.
    pub fn nodes(&self) -> &[EventNode] {
        &self.nodes
    }
}

impl Causality {
    /// This trace with all its events as nodes, given the recorded times of all events of each
    /// location. An event that is stamped before its predecessor is taken to be as late as that.
    ///
    /// A [part](crate::Whole) gets all events of its own locations; its ghosts stay the nodes that
    /// they are. Times that are given for locations of other parts are not looked at.
    ///
    /// # Errors
    ///
    /// If these are the times of other events.
    pub fn with_all_events(&self, times: &[Vec<Timestamp>]) -> Result<AllEvents, OtherEvents> {
        let (mut nodes, numbers) = self.nodes.with_all_events(times)?;
        let mut partner = vec![Partner::NONE; nodes.len()];
        let renumbered = |node: EventNode| numbers[node.index()];
        if let Some(rest) = self.whole().rest() {
            // Ghosts are told by node, and slots are as they were.
            nodes.in_whole(Whole::with(rest.renumbered(&renumbered, &|slot| slot)));
        }
        for (node, of) in self.nodes.all().zip(&*self.partner) {
            let of = match self.nodes.role(node) {
                Role::Send | Role::Receive => of.node().map(|it| renumbered(it).into()),
                Role::CollectiveBegin | Role::CollectiveEnd => of.slot().map(Into::into),
            };
            partner[renumbered(node).index()] = of.unwrap_or(Partner::NONE);
        }
        let lengths = self.lengths.as_ref();
        let all = self.nodes.all();
        let lengths = lengths.map(|it| it.renumbered(all, partner.len(), renumbered));
        let causality = Self {
            nodes,
            partner: Arc::new(partner),
            collectives: Arc::new(self.collectives.renumbered(renumbered)),
            // These are looked at in the trace itself only.
            defects: Arc::new(Defects::default()),
            usage: self.usage,
            completions: Arc::default(),
            waits: Arc::default(),
            overlaps: Arc::default(),
            lengths: lengths.map(Arc::new),
        };
        Ok(AllEvents {
            causality,
            nodes: numbers,
        })
    }
}

impl Nodes {
    /// These nodes among all events, and the new number of each.
    fn with_all_events(
        &self,
        times: &[Vec<Timestamp>],
    ) -> Result<(Self, Vec<EventNode>), OtherEvents> {
        let own = (0..self.locations()).filter(|it| self.whole().has(*it));
        let own: u64 = own.map(|it| self.event_count(it)).sum();
        let ghosts = self.len() - self.own().count();
        let total = own + ghosts as u64;
        if total >= u64::from(u32::MAX) {
            return Err(OtherEvents::TooMany(total));
        }
        let mut columns = AllColumns::of(total as usize, self.len());
        for location in 0..self.locations() {
            if !self.whole().has(location) {
                add_ghosts(&mut columns, self, location);
                continue;
            }
            let changed = OtherEvents::Changed {
                location: location as u32,
            };
            let stamps = times.get(location).map_or(&[][..], Vec::as_slice);
            let is_whole = stamps.len() as u64 == self.event_count(location);
            if !is_whole || !add(&mut columns, self, location, stamps) {
                return Err(changed);
            }
        }
        Ok(self.replaced_by(columns))
    }
}

/// Adds the events of a location; false if its nodes are not among them.
fn add(all: &mut AllColumns, nodes: &Nodes, location: usize, stamps: &[Timestamp]) -> bool {
    let mut own = nodes.of(location).peekable();
    let mut latest = Timestamp(0);
    for (number, &stamp) in (0_u32..).zip(stamps) {
        latest = latest.max(stamp);
        let node = own.next_if(|&it| nodes.event(it) == u64::from(number));
        if let Some(node) = node {
            if nodes.timestamp(node) != latest {
                return false;
            }
            all.numbers.push(EventNode(all.times.len() as u32));
        }
        all.times.push(latest);
        all.events.push(number);
        // Nothing depends on a send that nobody receives.
        all.roles.push(node.map_or(Role::Send, |it| nodes.role(it)));
        all.between.push(node.is_none());
    }
    all.first.push(EventNode(all.times.len() as u32));
    own.next().is_none()
}

/// Adds the nodes of a location that another part has.
fn add_ghosts(all: &mut AllColumns, nodes: &Nodes, location: usize) {
    for node in nodes.span(location) {
        all.numbers.push(EventNode(all.times.len() as u32));
        all.times.push(nodes.timestamp(node));
        all.events.push(nodes.event(node) as u32);
        all.roles.push(nodes.role(node));
        all.between.push(false);
    }
    all.first.push(EventNode(all.times.len() as u32));
}

impl Collectives {
    /// These operations, of nodes with other numbers.
    fn renumbered(&self, number: impl Fn(EventNode) -> EventNode) -> Self {
        let number = |node: PackedOption<EventNode>| PackedOption::from(node.get().map(&number));
        let participant = |it: &Participant| Participant {
            begin: number(it.begin),
            end: number(it.end),
            side: it.side,
        };
        Self {
            participants: self.participants.iter().map(participant).collect(),
            operations: self.operations.clone(),
            instance_of_slot: self.instance_of_slot.clone(),
            elsewhere: self.elsewhere,
        }
    }
}
