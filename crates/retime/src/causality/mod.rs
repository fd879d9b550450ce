//! Happened-before: which events must follow which, whatever the clocks say.
//!
//! ```text
//!  per location (parallel)          whole trace
//!  LocationLog --+--> Nodes         columns of all events with a role
//!  LocationLog --+--> partners      send <-> receive        (point_to_point, named;
//!                |                  channels, doubtful, posting_order, lengths, gaps)
//!  LocationLog --+--> Collectives   begins and ends by call (joining, teams, named)
//!                +--> Defects       what did not match
//!                +--> Usage         how much of what was recorded counts
//! ```
//!
//! [`Causality::build`] joins the logs of all locations. The result is small:
//! 17 bytes per event with a role; edges of collectives stay implicit.

mod channels;
mod check;
mod collectives;
mod doubtful;
mod gaps;
mod holders;
mod hosting;
mod ids;
mod joining;
mod lending;
mod lengths;
mod mirror;
mod named;
mod nodes;
mod noted;
mod point_to_point;
mod posting_order;
mod synchronous;
mod teams;
mod usage;
mod window;

pub use check::{Check, DependencyKind, PairTally, Tally, Violation, check};
pub use collectives::{Collectives, JoinedOperation, Participant};
pub(crate) use hosting::Guests;
pub use ids::{EventNode, Id, Ids, Instance, PackedOption, Slot};
pub use nodes::{Extent, Nodes};
pub use retime_model::{
    Call, Class, Collective, Defect, DefectCount, Defects, Implementation, Length, LocationLog,
    LogBuilder, LogColumns, LogError, LogNode, Message, MessageId, Operation, OperationId, Place,
    Role, Root,
};
pub(crate) use usage::used_within;
pub use usage::{Usage, Used};

use std::sync::Arc;

use retime_model::{Cancelled, Correction, LocationIndex, Monitor, Ticks, Timestamp, TraceInfo};

use self::lending::Known;
use self::noted::Noted;
use crate::delay::MinimalDelay;
use crate::pace::Pace;
use crate::share::Share;

/// How doubtful operations are taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct CausalityOptions {
    /// Take Alltoallv and Alltoallw for N-to-N operations.
    pub dense_alltoallv: bool,
    /// Use what this implementation of MPI does though the standard does not promise it.
    pub trusted: Option<Implementation>,
}

/// Why the logs of a trace cannot be joined.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CausalityError {
    /// More events with a role than node numbers.
    #[error("the trace has {nodes} events that communicate; at most {} are supported", u32::MAX - 1)]
    TooManyNodes {
        /// How many there are.
        nodes: u64,
    },
    /// Time stamps too far apart to compute with.
    #[error(
        "time stamps reach from {first} to {last} ticks, further apart than 2^61; {apart}: \
         its clock or a clock offset is defective"
    )]
    SpanTooLarge {
        /// Smallest stamp.
        first: Timestamp,
        /// Largest stamp.
        last: Timestamp,
        /// Which events lie apart from the others, in words.
        apart: String,
    },
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Why a trace is not sent through a correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RetimingError {
    /// A stamp does not fit into 64 bits, or stamps come to lie too far apart.
    #[error("corrected time stamps do not fit into 64 bits, or lie too far apart")]
    TooFar,
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// What a node belongs to, if anything: a send or receive to the other end of its
/// message, a begin or end to its slot of a collective.
#[derive(Clone, Copy, Debug)]
struct Partner(PackedOption<EventNode>);

impl Partner {
    const NONE: Self = Self(PackedOption::NONE);

    /// Of a send or receive: the other end.
    #[inline]
    fn node(self) -> Option<EventNode> {
        self.0.get()
    }

    /// Of a begin or end: the slot.
    #[inline]
    fn slot(self) -> Option<Slot> {
        self.0.get().map(|EventNode(number)| Slot(number))
    }
}

impl From<EventNode> for Partner {
    #[inline]
    fn from(node: EventNode) -> Self {
        Self(node.into())
    }
}

impl From<Slot> for Partner {
    #[inline]
    fn from(slot: Slot) -> Self {
        Self(EventNode(slot.0).into())
    }
}

/// The happened-before relation of a trace.
#[derive(Clone, Debug)]
pub struct Causality {
    nodes: Nodes,
    /// Shared, like the rest, with the same trace at other times.
    partner: Arc<Vec<Partner>>,
    collectives: Arc<Collectives>,
    defects: Arc<Defects>,
    usage: Usage,
    /// Completions of synchronous sends that depend on the posting of their receive.
    completions: Arc<[EventNode]>,
}

impl Causality {
    /// Joins the logs of all locations, given in the order of
    /// [`TraceInfo::locations`].
    pub fn build(
        info: &TraceInfo,
        logs: Vec<LocationLog>,
        options: CausalityOptions,
    ) -> Result<Self, CausalityError> {
        Self::build_shared(info, logs, options, &Share::default(), &())
    }

    /// The same in one of several processes, given the logs of the locations that it holds.
    /// What else it has to know the others lend it. It ends where `monitor` says so.
    pub fn build_shared(
        info: &TraceInfo,
        own: Vec<LocationLog>,
        options: CausalityOptions,
        share: &Share,
        monitor: &dyn Monitor,
    ) -> Result<Self, CausalityError> {
        let Known {
            mut logs,
            lent,
            hosting,
        } = lending::known(info, own, share);
        let nodes = Nodes::gather(info, &mut logs, &lent, share.clone())?;
        let usage = Usage::recorded(info, &logs, &nodes, options.dense_alltoallv);
        let mut defects = Defects::default();
        let own = |log: &&mut LogColumns| share.owns_location(log.location);
        for log in logs.iter_mut().filter(own) {
            defects.merge(std::mem::take(&mut log.defects));
        }
        // Neither looks at what the other finds; of defects messages have the first say.
        let messages = || {
            let mut noted = Noted::new(&nodes);
            let mut pace = Pace::of(monitor);
            let mut paired = point_to_point::pair(info, &logs, &nodes, &mut noted, &mut pace)?;
            named::pair(&logs, &nodes, &mut paired.partner, &mut noted, &mut pace)?;
            Ok::<_, Cancelled>((paired, noted.into_defects()))
        };
        let operations = || {
            let mut noted = Noted::new(&nodes);
            let mut pace = Pace::of(monitor);
            let how = (options, &hosting);
            let mut joined = joining::join(info, &logs, &nodes, how, &mut noted, &mut pace)?;
            named::join(&logs, &nodes, &mut joined.visited, &mut noted, &mut pace)?;
            Ok::<_, Cancelled>((joined, noted.into_defects()))
        };
        let (messages, operations) = rayon::join(messages, operations);
        let (paired, of_messages) = messages?;
        let (joined, of_operations) = operations?;
        let collectives = joined.told(info, share);
        let mut partner = paired.partner;
        let usage = usage.count(&nodes, &partner, &collectives);
        let completions = synchronous::enter(&paired.acknowledged, &mut partner);
        collectives.enter(&mut partner);
        defects.merge(of_messages);
        defects.merge(of_operations);
        let (defects, usage) = share.merged((defects, usage), |mut a, b| {
            a.0.merge(b.0);
            (a.0, a.1.with(b.1))
        });
        Ok(Self {
            nodes,
            partner: Arc::new(partner),
            collectives: Arc::new(collectives),
            defects: Arc::new(defects),
            usage: usage.each_once(),
            completions: completions.into(),
        })
    }

    /// The same trace with all its stamps sent through `correction`. Of a shared
    /// trace each process has to know the maps of the clocks of its own locations.
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

    /// Who holds what of the trace.
    pub fn share(&self) -> &Share {
        self.nodes.share()
    }

    /// What the recording lacks or contradicts, in the whole trace.
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

    /// The receive of the message that `send` sent.
    #[inline]
    pub fn message_target(&self, send: EventNode) -> Option<EventNode> {
        (self.nodes.role(send) == Role::Send)
            .then(|| self.partner[send.index()].node())
            .flatten()
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

    /// Number of messages with both ends that arrive at locations of this process.
    pub fn messages(&self) -> u64 {
        let received = self.received(self.nodes.own());
        received - self.acknowledgements()
    }

    /// Number of synchronous sends whose completion depends on the posting of a receive;
    /// such a completion has a [source](Self::message_source) like a receive.
    pub fn acknowledgements(&self) -> u64 {
        let own = |it: &EventNode| self.nodes.share().owns_location(self.nodes.location(*it));
        self.received(self.completions.iter().copied().filter(own))
    }

    fn received(&self, nodes: impl Iterator<Item = EventNode>) -> u64 {
        nodes
            .filter(|&node| self.message_source(node).is_some())
            .count() as u64
    }

    /// Visits each begin of a collective with how far it could move until its
    /// tightest effect in another `domain` (its clock, its process) would come too early, at
    /// the given times of all nodes.
    pub(crate) fn tightest_effects<D: PartialEq + Copy>(
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
        match delay {
            MinimalDelay::Uniform(delay) => {
                let visit =
                    |cause: EventNode, effect: EventNode| visit(cause, room(cause, effect, *delay));
                self.collectives
                    .earliest_effects(instance, &time, domain, visit);
            }
            MinimalDelay::PerPair(table) => {
                self.collectives.each_dependency(instance, |from, to| {
                    if let (Some(cause), Some(effect)) =
                        (participants[from].cause(), participants[to].effect())
                        && domain(from) != domain(to)
                    {
                        let delay =
                            table.between(self.nodes.location(cause), self.nodes.location(effect));
                        visit(cause, room(cause, effect, delay));
                    }
                });
            }
        }
    }

    /// Visits each end of a collective with the begin in another `domain` that
    /// bounds it most, and what is left between the bound and it (negative: too
    /// early), at the given times.
    pub(crate) fn tightest_causes<D: PartialEq + Copy>(
        &self,
        instance: Instance,
        domain: impl Fn(LocationIndex) -> D,
        delay: &MinimalDelay,
        time: impl Fn(EventNode) -> i64,
        mut visit: impl FnMut(EventNode, EventNode, i64),
    ) {
        let participants = self.collectives.participants(instance);
        let domain = |place: usize| self.location_of(&participants[place]).map(&domain);
        match delay {
            MinimalDelay::Uniform(delay) => {
                let visit = |cause: EventNode, effect: EventNode| {
                    let latency = time(effect) - time(cause);
                    visit(cause, effect, latency.saturating_sub(delay.0));
                };
                self.collectives.latest_causes(
                    instance,
                    0..participants.len(),
                    &time,
                    domain,
                    visit,
                );
            }
            MinimalDelay::PerPair(table) => {
                let mut tightest: Vec<Option<(i64, EventNode)>> = vec![None; participants.len()];
                self.collectives.each_dependency(instance, |from, to| {
                    if let (Some(cause), Some(effect)) =
                        (participants[from].cause(), participants[to].effect())
                        && domain(from) != domain(to)
                    {
                        let delay =
                            table.between(self.nodes.location(cause), self.nodes.location(effect));
                        let slack = (time(effect) - time(cause)).saturating_sub(delay.0);
                        if tightest[to].is_none_or(|(least, _)| slack < least) {
                            tightest[to] = Some((slack, cause));
                        }
                    }
                });
                for (participant, tightest) in participants.iter().zip(tightest) {
                    if let (Some(effect), Some((slack, cause))) = (participant.effect(), tightest) {
                        visit(cause, effect, slack);
                    }
                }
            }
        }
    }

    fn location_of(&self, participant: &Participant) -> Option<LocationIndex> {
        let node = participant.cause().or(participant.effect())?;
        Some(self.nodes.location(node))
    }
}
