//! The happened-before relation: what each event with a role depends on, and what on it.

use std::sync::Arc;

use retime_model::{Correction, Defects, Length, LocationIndex, Monitor, Role, Ticks, Timestamp};

use crate::collectives::{Collectives, Participant};
use crate::delay::MinimalDelay;
use crate::error::RetimingError;
use crate::ids::{EventNode, Instance, Slot};
use crate::message_lengths::MessageLengths;
use crate::message_waits::MessageWaits;
use crate::nodes::Nodes;
use crate::overlaps::{OverlappedSpan, Overlaps};
use crate::partner::Partner;
use crate::usage::Usage;
use crate::whole::Whole;

/// The happened-before relation of a trace.
#[derive(Clone, Debug)]
pub struct Causality {
    pub(crate) nodes: Nodes,
    /// Shared, like the rest, with the same trace at other times.
    pub(crate) partner: Arc<Vec<Partner>>,
    pub(crate) collectives: Arc<Collectives>,
    pub(crate) defects: Arc<Defects>,
    pub(crate) usage: Usage,
    /// Completions of synchronous sends that depend on the posting of their receive.
    pub(crate) completions: Arc<[EventNode]>,
    /// Since when messages were awaited, as far as it is recorded.
    pub(crate) waits: Arc<MessageWaits>,
    /// The computing of devices meanwhile, as far as it is recorded.
    pub(crate) overlaps: Arc<Overlaps>,
    /// If they are wanted.
    pub(crate) lengths: Option<Arc<MessageLengths>>,
}

impl Causality {
    /// This trace with all its stamps sent through `correction`. Where only
    /// a part of the trace is here, it has to have the maps of the clocks of its locations.
    pub fn retimed(
        &self,
        correction: &Correction,
        monitor: &dyn Monitor,
    ) -> Result<Self, RetimingError> {
        Ok(Self {
            nodes: self.nodes.retimed(correction, monitor)?,
            partner: Arc::clone(&self.partner),
            collectives: Arc::clone(&self.collectives),
            defects: Arc::clone(&self.defects),
            usage: self.usage,
            completions: Arc::clone(&self.completions),
            waits: Arc::clone(&self.waits),
            overlaps: Arc::clone(&self.overlaps),
            lengths: self.lengths.clone(),
        })
    }

    /// The stamp of each event with a role, by node.
    pub fn into_timestamps(self) -> Vec<Timestamp> {
        self.nodes.into_timestamps()
    }

    /// All events with a role.
    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// All collective operations.
    pub fn collectives(&self) -> &Collectives {
        &self.collectives
    }

    /// The whole trace, of which parts may be elsewhere.
    pub fn whole(&self) -> &Whole {
        self.nodes.whole()
    }

    /// This trace, with other parts elsewhere.
    #[must_use]
    pub fn in_whole(mut self, whole: Whole) -> Self {
        self.nodes.in_whole(whole);
        self
    }

    /// The defects of the recording, in the whole trace.
    pub fn defects(&self) -> &Defects {
        &self.defects
    }

    /// How much of what was recorded of communication leads to dependencies, in the
    /// whole trace.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// The send of the message that `receive` got; `None` for other nodes and
    /// for a receive whose send is not in the trace.
    #[inline]
    pub fn message_source(&self, receive: EventNode) -> Option<EventNode> {
        (self.nodes.role(receive) == Role::Receive)
            .then(|| self.partner[receive.index()].node())
            .flatten()
    }

    /// When the device of its location computed while the operation was under way that a node
    /// begins, or the message that a node sends or has received; rising.
    pub fn overlapped(&self, node: EventNode) -> impl Iterator<Item = OverlappedSpan> + '_ {
        self.overlaps.of(node)
    }

    /// True of a stream of a device if it is recorded when that computed.
    pub fn knows_work(&self, location: LocationIndex) -> bool {
        self.overlaps.are_known(location)
    }

    /// True of a thread, which works whenever it does not wait.
    pub fn is_thread(&self, location: LocationIndex) -> bool {
        self.overlaps.is_thread(location)
    }

    /// The receive of the message that `send` sent.
    #[inline]
    pub fn message_target(&self, send: EventNode) -> Option<EventNode> {
        (self.nodes.role(send) == Role::Send)
            .then(|| self.partner[send.index()].node())
            .flatten()
    }

    /// The length of the message from `send` to `receive`, if it is known, and lengths
    /// [were wanted](crate::CausalityOptions::keep_lengths).
    #[inline]
    pub fn length(&self, send: EventNode, receive: EventNode) -> Length {
        let lengths = self.lengths.as_ref();
        lengths.map_or(Length::UNKNOWN, |it| it.of(send, receive))
    }

    /// The ticks that the message from `send` to `receive` takes at least.
    #[inline]
    pub fn message_delay(
        &self,
        delay: &MinimalDelay,
        send: EventNode,
        receive: EventNode,
    ) -> Ticks {
        if let MinimalDelay::Uniform(delay) = delay {
            return *delay;
        }
        let (from, to) = (self.nodes.location(send), self.nodes.location(receive));
        delay.of_message(from, to, self.length(send, receive))
    }

    /// The slot of the collective in which `node` is a cause or effect.
    #[inline]
    pub fn slot(&self, node: EventNode) -> Option<Slot> {
        matches!(
            self.nodes.role(node),
            Role::CollectiveBegin | Role::CollectiveEnd
        )
        .then(|| self.partner[node.index()].slot())
        .flatten()
    }

    /// Number of messages with both ends of which the receive is no ghost.
    pub fn messages(&self) -> u64 {
        let received = self.received(self.nodes.own());
        received - self.acknowledgements()
    }

    /// Number of messages with both ends of which the length is known, if lengths were wanted.
    pub fn messages_with_length(&self) -> u64 {
        let has = |receive: &EventNode| {
            let send = self.message_source(*receive);
            send.is_some_and(|send| self.length(send, *receive).is_known())
        };
        self.nodes.own().filter(has).count() as u64
    }

    /// Number of synchronous sends whose completion depends on the posting of a receive;
    /// such a completion has a [source](Self::message_source) like a receive.
    pub fn acknowledgements(&self) -> u64 {
        let own = |it: &EventNode| self.whole().has(self.nodes.location(*it).as_usize());
        self.received(self.completions.iter().copied().filter(own))
    }

    /// True of an event that completes a synchronous send after its receive was posted, which is
    /// its [source](Self::message_source).
    pub fn is_acknowledgement(&self, node: EventNode) -> bool {
        self.completions.binary_search(&node).is_ok()
    }

    fn received(&self, nodes: impl Iterator<Item = EventNode>) -> u64 {
        nodes
            .filter(|&node| self.message_source(node).is_some())
            .count() as u64
    }

    /// Visits each begin of a collective with how far it could move until its
    /// tightest effect in another `domain` (its clock, its process) would come too early, at
    /// the given times of all nodes.
    pub fn tightest_effects<D: PartialEq + Copy>(
        &self,
        instance: Instance,
        domain: impl Fn(LocationIndex) -> D,
        delay: &MinimalDelay,
        time: impl Fn(EventNode) -> i64,
        visit: &mut (impl FnMut(EventNode, i64) + ?Sized),
    ) {
        let participants = self.collectives.participants(instance);
        let domain = |place: usize| self.location_of(&participants[place]).map(&domain);
        let room = |cause: EventNode, effect: EventNode, delay: Ticks| {
            (time(effect) - time(cause)).saturating_sub(delay.0)
        };
        if let Some(delay) = delay.of_any_pair() {
            let visit =
                |cause: EventNode, effect: EventNode| visit(cause, room(cause, effect, delay));
            self.collectives
                .earliest_effects(instance, &time, domain, visit);
        } else {
            self.each_between(instance, domain, delay, |_, cause, effect, delay| {
                visit(cause, room(cause, effect, delay));
            });
        }
    }

    /// Visits each end of a collective with the begin in another `domain` that
    /// bounds it most, and what is left between the bound and it (negative: too
    /// early), at the given times.
    pub fn tightest_causes<D: PartialEq + Copy>(
        &self,
        instance: Instance,
        domain: impl Fn(LocationIndex) -> D,
        delay: &MinimalDelay,
        time: impl Fn(EventNode) -> i64,
        mut visit: impl FnMut(EventNode, EventNode, i64),
    ) {
        let participants = self.collectives.participants(instance);
        let domain = |place: usize| self.location_of(&participants[place]).map(&domain);
        if let Some(delay) = delay.of_any_pair() {
            let visit = |cause: EventNode, effect: EventNode| {
                let latency = time(effect) - time(cause);
                visit(cause, effect, latency.saturating_sub(delay.0));
            };
            self.collectives
                .latest_causes(instance, 0..participants.len(), &time, domain, visit);
        } else {
            let mut tightest: Vec<Option<(i64, EventNode)>> = vec![None; participants.len()];
            self.each_between(instance, domain, delay, |to, cause, effect, delay| {
                let slack = (time(effect) - time(cause)).saturating_sub(delay.0);
                if tightest[to].is_none_or(|(least, _)| slack < least) {
                    tightest[to] = Some((slack, cause));
                }
            });
            for (participant, tightest) in participants.iter().zip(tightest) {
                if let (Some(effect), Some((slack, cause))) = (participant.effect(), tightest) {
                    visit(cause, effect, slack);
                }
            }
        }
    }

    /// Visits each dependency of an operation between two domains: the place of the participant
    /// with the effect, cause, effect, and the least time between these.
    fn each_between<D: PartialEq>(
        &self,
        instance: Instance,
        domain: impl Fn(usize) -> D,
        delay: &MinimalDelay,
        mut visit: impl FnMut(usize, EventNode, EventNode, Ticks),
    ) {
        let participants = self.collectives.participants(instance);
        self.collectives.each_dependency(instance, |from, to| {
            if let (Some(cause), Some(effect)) =
                (participants[from].cause(), participants[to].effect())
                && domain(from) != domain(to)
            {
                let (sender, receiver) = (self.nodes.location(cause), self.nodes.location(effect));
                visit(to, cause, effect, delay.between(sender, receiver));
            }
        });
    }

    fn location_of(&self, participant: &Participant) -> Option<LocationIndex> {
        let node = participant.cause().or(participant.effect())?;
        Some(self.nodes.location(node))
    }
}
