//! What became of an event of communication: the dependencies that it is an end of, by which rule
//! these were found, or why it is an end of none.
//!
//! ```text
//!  place --> node? --> recorded as    envelope and place in its channel, id, call
//!                  --> precedes       the events that have to come after it
//!                  --> follows        the events that have to come before it
//!                  --> defects        what the recording lacks or contradicts there
//!                  --> unused         why there are none of these, if no defect says so
//! ```
//!
//! Nothing is decided here: an event has the fate that [`Causality::build`] gave it.
//!
//! ```
//! use retime_causality::{CausalityOptions, Defect, Fates, Place, Recorded, Records};
//! use retime_causality::Causality;
//! use retime_model::LocationIndex;
//! use retime_testing::trace;
//!
//! // The second message is still under way when the recording ends.
//! let trace = trace("0: send 1 @10, send 1 @20\n1: receive 0 @15")?;
//! let options = CausalityOptions { keep_all_places: true, ..CausalityOptions::default() };
//! let causality = Causality::build(&trace.info, trace.logs.clone(), options)?;
//! let records = Records::of(trace.logs);
//! let fates = Fates::of(&trace.info, &causality, &records, options);
//! let place = |location, event| Place { location: LocationIndex(location), event };
//!
//! let first = fates.at(place(0, 0)).unwrap();
//! let [Recorded::InChannel { position: 0, .. }] = first.recorded[..] else { panic!() };
//! let nodes = fates.causality().nodes();
//! assert_eq!(first.precedes.iter().map(|it| nodes.place(*it)).collect::<Vec<_>>(), [place(1, 0)]);
//!
//! let second = fates.at(place(0, 1)).unwrap();
//! assert_eq!(second.defects, [Defect::SendWithoutReceive]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use retime_model::{
    Call, ChannelPlace, Class, Collective, Defect, Length, LocationIndex, LocationLog, LogColumns,
    LogNode, Message, MessageId, Operation, OperationId, Place, Role, Root, TraceInfo,
};
use rustc_hash::FxHashMap;

use crate::Causality;
use crate::endpoints::endpoint;
use crate::ids::EventNode;
use crate::options::CausalityOptions;
use crate::pairing_doubt::{PairingDoubt, SharedChannels};

/// The records of communication of all locations, from which single events are explained.
#[derive(Debug)]
pub struct Records(
    /// In the order of locations.
    Vec<LocationLog>,
);

impl Records {
    /// The records in all logs of a trace.
    pub fn of(mut logs: Vec<LocationLog>) -> Self {
        logs.sort_by_key(LocationLog::location);
        Self(logs)
    }

    fn log(&self, location: LocationIndex) -> Option<&LogColumns> {
        let place = self
            .0
            .binary_search_by_key(&location, LocationLog::location);
        Some(self.0.get(place.ok()?)?.columns())
    }
}

/// The fates of all events of a trace.
#[derive(Clone, Copy, Debug)]
pub struct Fates<'a> {
    info: &'a TraceInfo,
    causality: &'a Causality,
    records: &'a Records,
    options: CausalityOptions,
}

/// The fate of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fate {
    /// The event among those that take part in dependencies; `None` if it has no part in any.
    pub node: Option<EventNode>,
    /// The part it plays.
    pub role: Option<Role>,
    /// The next event of its location that has a part, if it has none itself.
    pub next: Option<Place>,
    /// The records of the event; an end of a message may be recorded under several ids.
    pub recorded: Vec<Recorded>,
    /// Why an end of a message may belong to another one than it was paired with; what is concluded
    /// holds all the same.
    pub doubt: Option<PairingDoubt>,
    /// The events that have to come before it, by their place in the trace.
    pub follows: Vec<EventNode>,
    /// The events that have to come after it, by their place in the trace.
    pub precedes: Vec<EventNode>,
    /// The defects of the recording at the event.
    pub defects: Vec<Defect>,
    /// Why it neither precedes nor follows any event, where no defect says so.
    pub unused: Option<Unused>,
}

/// A record of an event of communication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// An end of a message that order alone pairs with the other end.
    InChannel {
        /// The envelope, which names the channel.
        envelope: Message,
        /// The number of its role posted in the channel before it, at its location.
        position: u64,
        /// The number of its role in the channel, at its location.
        of: u64,
        /// The length of the message.
        length: Length,
    },
    /// An end of a message that has an id.
    Named(MessageId),
    /// The completion of a synchronous send, which its receive has to be posted before.
    Accepted {
        /// The send.
        send: EventNode,
    },
    /// The entry of a call that can post receives; alone it says nothing.
    Entry {
        /// The number of receives that were posted in the call.
        posted: u64,
    },
    /// The begin or end of a call of a collective operation.
    Call {
        /// The operation.
        what: Collective,
        /// The number of calls on its communicator that the location made before it.
        position: u64,
    },
    /// The begin or end of a collective operation that has an id.
    NamedOperation {
        /// The id.
        id: OperationId,
        /// The order that it proves.
        class: Class,
        /// The number of events of this role in the operation.
        expected: u32,
    },
}

/// Why an event of communication is an end of no dependency, though nothing is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unused {
    /// The operation orders none of its participants.
    OrdersNothing(Operation),
    /// Nobody else takes part in the operation.
    Alone,
    /// A participant that gave no bytes is no cause.
    GaveNothing,
    /// A participant that got no bytes is no effect.
    GotNothing,
    /// In a rooted operation begins of others than the cause, or ends of others than the effect,
    /// order nothing.
    NotItsPart,
    /// The other end is not certain.
    NotCertain,
}

impl<'a> Fates<'a> {
    /// The fates in a trace of which `causality` was built with these options from the logs that are
    /// given once more. It has to know the [place of each defect](CausalityOptions::keep_all_places)
    /// for fates to name all of them.
    pub fn of(
        info: &'a TraceInfo,
        causality: &'a Causality,
        records: &'a Records,
        options: CausalityOptions,
    ) -> Self {
        Self {
            info,
            causality,
            records,
            options,
        }
    }

    /// The dependencies that were found.
    pub fn causality(&self) -> &'a Causality {
        self.causality
    }

    /// The fate of an event; `None` if the trace has no such event.
    pub fn at(&self, place: Place) -> Option<Fate> {
        self.at_each(&[place]).pop().flatten()
    }

    /// The fates of several events, by location; the records of each location are gone through once.
    pub fn at_each(&self, places: &[Place]) -> Vec<Option<Fate>> {
        let mut fates = self.without_doubts(places);
        self.doubt_pairs(places, &mut fates);
        fates
    }

    /// Fates as far as each location tells them by itself.
    fn without_doubts(&self, places: &[Place]) -> Vec<Option<Fate>> {
        let of_location = places.chunk_by(|one, other| one.location == other.location);
        let fates = of_location.flat_map(|places| self.of_one_location(places));
        fates.collect()
    }

    fn of_one_location(&self, places: &[Place]) -> Vec<Option<Fate>> {
        let log = places.first().and_then(|it| self.records.log(it.location));
        let Some(log) = log else {
            return vec![None; places.len()];
        };
        let own = |place: &Place| {
            let number = u32::try_from(place.event).ok()?;
            let found = log.numbers.binary_search(&number).ok()?;
            Some(LogNode(found as u32))
        };
        let recorded = self.recorded(log, places.iter().filter_map(own));
        let fate = |place: &Place| {
            let recorded = own(place).and_then(|it| recorded.get(&it).cloned());
            (place.event < log.events).then(|| match recorded {
                Some(recorded) => self.with_part(*place, recorded),
                None => self.without_part(*place),
            })
        };
        places.iter().map(fate).collect()
    }

    /// The event of a place, if it takes part in dependencies.
    fn node(&self, place: Place) -> Option<EventNode> {
        let nodes = self.causality.nodes();
        let own = nodes.of(place.location.as_usize());
        let number = u32::try_from(place.event).ok()?;
        own.get(nodes.events(&own).binary_search(&number).ok()?)
    }

    fn without_part(&self, place: Place) -> Fate {
        let numbers = self.records.log(place.location).map(|it| &it.numbers);
        let next = numbers.and_then(|numbers| {
            let after = numbers.partition_point(|it| u64::from(*it) < place.event);
            numbers.get(after)
        });
        Fate {
            node: None,
            role: None,
            next: next.map(|&event| Place {
                location: place.location,
                event: event.into(),
            }),
            recorded: Vec::new(),
            doubt: None,
            follows: Vec::new(),
            precedes: Vec::new(),
            defects: self.causality.defects().at(place).collect(),
            unused: None,
        }
    }

    fn with_part(&self, place: Place, recorded: Vec<Recorded>) -> Fate {
        let Some(node) = self.node(place) else {
            return self.without_part(place);
        };
        let role = self.causality.nodes().role(node);
        let (follows, precedes) = (self.causes(node), self.effects(node));
        let defects: Vec<Defect> = self.causality.defects().at(place).collect();
        let is_unused = follows.is_empty() && precedes.is_empty() && defects.is_empty();
        let unused = is_unused.then(|| self.doubt(place.location, role, &recorded));
        Fate {
            node: Some(node),
            role: Some(role),
            next: None,
            recorded,
            doubt: None,
            follows,
            precedes,
            defects,
            unused,
        }
    }

    /// Adds to the fates of events what leaves open to which other ends they belong.
    fn doubt_pairs(&self, places: &[Place], fates: &mut [Option<Fate>]) {
        let logs = self.records.0.iter().map(LocationLog::columns);
        let mut shared = SharedChannels::of(self.info, logs);
        // The place of the other end, the position in `fates`, and the place in the channel.
        let mut others: Vec<(Place, usize, u64)> = Vec::new();
        for (at, (place, fate)) in places.iter().zip(fates.iter_mut()).enumerate() {
            let Some(fate) = fate else { continue };
            let (Some(role), Some((envelope, position))) = (fate.role, in_channel(fate)) else {
                continue;
            };
            let Some(&other) = fate.follows.iter().chain(&fate.precedes).next() else {
                continue;
            };
            if shared.has(place.location, role, envelope) {
                fate.doubt = Some(PairingDoubt::SeveralThreads);
            } else {
                others.push((self.causality.nodes().place(other), at, position));
            }
        }
        others.sort_unstable();
        let other_places: Vec<Place> = others.iter().map(|it| it.0).collect();
        let other_fates = self.without_doubts(&other_places);
        for ((_, at, position), other) in others.iter().zip(other_fates) {
            let other = other.as_ref().and_then(in_channel);
            let is_elsewhere = other.is_some_and(|(_, other)| other != *position);
            if let Some(fate) = fates[*at].as_mut().filter(|_| is_elsewhere) {
                fate.doubt = Some(PairingDoubt::AnotherPlace);
            }
        }
    }

    /// The records of each of some events of a location.
    fn recorded(
        &self,
        log: &LogColumns,
        wanted: impl Iterator<Item = LogNode>,
    ) -> FxHashMap<LogNode, Vec<Recorded>> {
        let mut all: FxHashMap<LogNode, Vec<Recorded>> = wanted.map(|it| (it, vec![])).collect();
        in_channels(log, &log.sends, &mut all);
        in_channels(log, &log.receives, &mut all);
        let mut add = |node: LogNode, recorded: Recorded| {
            if let Some(known) = all.get_mut(&node) {
                known.push(recorded);
            }
        };
        for it in &log.named_messages {
            add(it.node, Recorded::Named(it.id));
        }
        let of_location = self.causality.nodes().of(log.location.as_usize());
        for it in &log.accepted {
            if let Some(send) = of_location.get(it.send.index()) {
                add(it.completion, Recorded::Accepted { send });
            }
        }
        let mut calls: FxHashMap<u32, u64> = FxHashMap::default();
        for &Call { what, begin, end } in &log.calls {
            let before = calls.entry(what.communicator).or_default();
            let position = *before;
            *before += 1;
            for node in begin.into_iter().chain(end) {
                add(node, Recorded::Call { what, position });
            }
        }
        for it in &log.named_operations {
            let recorded = Recorded::NamedOperation {
                id: it.id,
                class: it.class,
                expected: it.expected,
            };
            add(it.node, recorded);
        }
        let mut posted: FxHashMap<LogNode, u64> = FxHashMap::default();
        for it in log.posted_in.iter().filter(|it| all.contains_key(*it)) {
            *posted.entry(*it).or_default() += 1;
        }
        for (node, recorded) in &mut all {
            let posted = posted.get(node).copied().unwrap_or_default();
            let is_send = log.roles.get(node.index()) == Some(&Role::Send);
            if posted > 0 || (is_send && recorded.is_empty()) {
                recorded.push(Recorded::Entry { posted });
            }
        }
        all
    }

    /// The events that have to come before one.
    fn causes(&self, effect: EventNode) -> Vec<EventNode> {
        let collectives = self.causality.collectives();
        match self.causality.nodes().role(effect) {
            Role::Receive => self.causality.message_source(effect).into_iter().collect(),
            Role::CollectiveEnd => {
                let Some(slot) = self.causality.slot(effect) else {
                    return Vec::new();
                };
                let (instance, to) = collectives.locate(slot);
                let all = collectives.participants(instance).iter().enumerate();
                let causes = all.filter(|(from, _)| collectives.depends(instance, *from, to));
                causes.filter_map(|(_, it)| it.cause()).collect()
            }
            Role::Send | Role::CollectiveBegin => Vec::new(),
        }
    }

    /// The events that have to come after one.
    fn effects(&self, cause: EventNode) -> Vec<EventNode> {
        let collectives = self.causality.collectives();
        match self.causality.nodes().role(cause) {
            Role::Send => self.causality.message_target(cause).into_iter().collect(),
            Role::CollectiveBegin => {
                let Some(slot) = self.causality.slot(cause) else {
                    return Vec::new();
                };
                let (instance, from) = collectives.locate(slot);
                let all = collectives.participants(instance).iter().enumerate();
                let effects = all.filter(|(to, _)| collectives.depends(instance, from, *to));
                effects.filter_map(|(_, it)| it.effect()).collect()
            }
            Role::Receive | Role::CollectiveEnd => Vec::new(),
        }
    }

    /// Why an event is an end of no dependency though nothing is wrong with it.
    fn doubt(&self, location: LocationIndex, role: Role, recorded: &[Recorded]) -> Unused {
        let call = recorded.iter().find_map(|it| match it {
            Recorded::Call { what, .. } => Some(*what),
            _ => None,
        });
        let Some(call) = call else {
            return Unused::NotCertain;
        };
        let communicator = self.info.communicators.get(call.communicator as usize);
        let members = communicator.map_or(0, |it| it.locations().count());
        let class = call.operation.class(self.options.dense_alltoallv);
        let own = endpoint(self.info, location);
        let is_root = match call.root {
            Root::Own => true,
            Root::Rank(rank) => communicator.and_then(|it| it.resolve(own, rank)) == Some(own),
            Root::None | Root::OwnGroup => false,
        };
        let begins = role == Role::CollectiveBegin;
        match class {
            _ if members < 2 => Unused::Alone,
            Class::None => Unused::OrdersNothing(call.operation),
            // The root alone begins what others end, or ends what others begin.
            Class::OneToAll if begins != is_root => Unused::NotItsPart,
            Class::AllToOne if begins == is_root => Unused::NotItsPart,
            _ if begins && !call.sent => Unused::GaveNothing,
            _ if !begins && !call.received => Unused::GotNothing,
            _ => Unused::NotCertain,
        }
    }
}

/// The envelope of an end of a message that order alone pairs, and its place in the channel.
fn in_channel(fate: &Fate) -> Option<(Message, u64)> {
    fate.recorded.iter().find_map(|it| match it {
        Recorded::InChannel {
            envelope, position, ..
        } => Some((*envelope, *position)),
        _ => None,
    })
}

/// Adds the places in their channels of those events that are wanted.
fn in_channels(
    log: &LogColumns,
    ends: &[ChannelPlace],
    wanted: &mut FxHashMap<LogNode, Vec<Recorded>>,
) {
    let mut counts = vec![0_u64; log.channels.len()];
    for it in ends {
        counts[it.channel.index()] += 1;
    }
    let mut before = vec![0_u64; log.channels.len()];
    for it in ends {
        let channel = it.channel.index();
        if let Some(known) = wanted.get_mut(&it.node).filter(|it| it.is_empty()) {
            known.push(Recorded::InChannel {
                envelope: log.channels[channel],
                position: before[channel],
                of: counts[channel],
                length: it.length,
            });
        }
        before[channel] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime_model::{LogBuilder, Timestamp};

    /// A call may start several sends and receives at once; its entry is none of them.
    #[test]
    fn the_entry_of_a_call_is_what_it_posts() {
        let info = retime_testing::trace("0:\n1:").unwrap().info;
        let message = |peer| Message {
            communicator: 0,
            peer: LocationIndex(peer),
            tag: 1,
        };
        let mut sender = LogBuilder::new(LocationIndex(0));
        for (event, time) in [(1, 10), (3, 50)] {
            sender.send(event, Timestamp(time), message(1), None);
            let send = sender.last().unwrap();
            sender.send_accepted(event + 1, Timestamp(time + 30), send);
        }
        let mut receiver = LogBuilder::new(LocationIndex(1));
        let call = receiver.call_entered(0, Timestamp(35));
        for (event, time) in [(1, 38), (2, 60)] {
            receiver.receive(event, Timestamp(time), message(0));
            receiver.posted_in(call);
        }
        receiver.call_entered(3, Timestamp(70));
        let logs = vec![
            sender.finish(5, Timestamp(9), Timestamp(80)).unwrap(),
            receiver.finish(4, Timestamp(35), Timestamp(70)).unwrap(),
        ];
        let options = CausalityOptions::default();
        let causality = Causality::build(&info, logs.clone(), options).unwrap();
        let records = Records::of(logs);
        let fates = Fates::of(&info, &causality, &records, options);
        let recorded = |event| {
            let location = LocationIndex(1);
            fates.at(Place { location, event }).unwrap().recorded
        };
        assert_eq!(recorded(0), [Recorded::Entry { posted: 2 }]);
        assert!(matches!(recorded(1)[..], [Recorded::InChannel { .. }]));
        assert_eq!(recorded(3), [Recorded::Entry { posted: 0 }]);
    }
}
