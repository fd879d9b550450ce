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
//! use retime::causality::{CausalityOptions, Defect, Fates, Place, Recorded};
//! use retime::LocationIndex;
//! use retime_testing::trace;
//!
//! // The second message is still under way when the recording ends.
//! let trace = trace("0: send 1 @10, send 1 @20\n1: receive 0 @15")?;
//! let fates = Fates::build(&trace.info, trace.logs, CausalityOptions::default(), &())?;
//! let place = |location, event| Place { location: LocationIndex(location), event };
//!
//! let first = fates.of(&trace.info, place(0, 0)).unwrap();
//! let [Recorded::InChannel { position: 0, .. }] = first.recorded[..] else { panic!() };
//! let nodes = fates.causality().nodes();
//! assert_eq!(first.precedes.iter().map(|it| nodes.place(*it)).collect::<Vec<_>>(), [place(1, 0)]);
//!
//! let second = fates.of(&trace.info, place(0, 1)).unwrap();
//! assert_eq!(second.defects, [Defect::SendWithoutReceive]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use retime_model::{
    Class, Collective, Defect, Length, LocationIndex, LocationLog, LogColumns, LogNode, Message,
    MessageId, Monitor, Operation, OperationId, Place, Role, Root, TraceInfo,
};

use super::Causality;
use super::endpoints::endpoint;
use super::error::CausalityError;
use super::ids::EventNode;
use super::options::CausalityOptions;

/// The fates of all events of a trace.
#[derive(Debug)]
pub struct Fates {
    /// In the order of locations.
    logs: Vec<LocationLog>,
    causality: Causality,
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

impl Fates {
    /// Joins the logs of a trace as [`Causality::build_watched`] does, and keeps what they say.
    pub fn build(
        info: &TraceInfo,
        mut logs: Vec<LocationLog>,
        options: CausalityOptions,
        monitor: &dyn Monitor,
    ) -> Result<Self, CausalityError> {
        let options = CausalityOptions {
            keep_all_places: true,
            ..options
        };
        let causality = Causality::build_watched(info, logs.clone(), options, monitor)?;
        logs.sort_by_key(LocationLog::location);
        Ok(Self {
            logs,
            causality,
            options,
        })
    }

    /// The dependencies that were found.
    pub fn causality(&self) -> &Causality {
        &self.causality
    }

    /// The fate of an event of the trace that they were built of; `None` if there is no such event.
    pub fn of(&self, info: &TraceInfo, place: Place) -> Option<Fate> {
        let log = self.log(place.location)?.columns();
        if place.event >= log.events {
            return None;
        }
        let defects = self.causality.defects().at(place).collect();
        let number = u32::try_from(place.event).ok();
        let own = number.and_then(|it| log.numbers.binary_search(&it).ok());
        let Some(own) = own else {
            let after = number.map(|it| log.numbers.partition_point(|other| *other < it));
            let next = after.and_then(|it| log.numbers.get(it));
            return Some(Fate {
                node: None,
                role: None,
                next: next.map(|&event| Place {
                    location: place.location,
                    event: event.into(),
                }),
                recorded: Vec::new(),
                follows: Vec::new(),
                precedes: Vec::new(),
                defects,
                unused: None,
            });
        };
        let nodes = self.causality.nodes();
        let node = nodes.of(place.location.as_usize()).get(own)?;
        let role = nodes.role(node);
        let recorded = self.recorded(log, LogNode(own as u32), role);
        let (follows, precedes) = (self.causes(node), self.effects(node));
        let is_unused = follows.is_empty() && precedes.is_empty() && defects.is_empty();
        let unused = is_unused.then(|| self.doubt(info, log.location, role, &recorded));
        Some(Fate {
            node: Some(node),
            role: Some(role),
            next: None,
            recorded,
            follows,
            precedes,
            defects,
            unused,
        })
    }

    fn log(&self, location: LocationIndex) -> Option<&LocationLog> {
        let place = self
            .logs
            .binary_search_by_key(&location, LocationLog::location);
        self.logs.get(place.ok()?)
    }

    fn recorded(&self, log: &LogColumns, own: LogNode, role: Role) -> Vec<Recorded> {
        let mut recorded = Vec::new();
        let all = if role == Role::Send {
            &log.sends
        } else {
            &log.receives
        };
        if let Some(place) = all.iter().position(|it| it.node == own) {
            let this = all[place];
            let same = |it: &&retime_model::ChannelPlace| it.channel == this.channel;
            if let Some(&envelope) = log.channels.get(this.channel.index()) {
                recorded.push(Recorded::InChannel {
                    envelope,
                    position: all[..place].iter().filter(same).count() as u64,
                    of: all.iter().filter(same).count() as u64,
                    length: this.length,
                });
            }
        }
        let named = log.named_messages.iter().filter(|it| it.node == own);
        recorded.extend(named.map(|it| Recorded::Named(it.id)));
        let accepted = log.accepted.iter().filter(|it| it.completion == own);
        let of_location = self.causality.nodes().of(log.location.as_usize());
        recorded.extend(accepted.filter_map(|it| {
            let send = of_location.get(it.send.index())?;
            Some(Recorded::Accepted { send })
        }));
        let is_own = |it: &retime_model::Call| it.begin == Some(own) || it.end == Some(own);
        if let Some(place) = log.calls.iter().position(is_own) {
            let what = log.calls[place].what;
            let before = log.calls[..place].iter();
            let before = before.filter(|it| it.what.communicator == what.communicator);
            recorded.push(Recorded::Call {
                what,
                position: before.count() as u64,
            });
        }
        let operations = log.named_operations.iter().filter(|it| it.node == own);
        recorded.extend(operations.map(|it| Recorded::NamedOperation {
            id: it.id,
            class: it.class,
            expected: it.expected,
        }));
        let posted = log.posted_in.iter().filter(|&&it| it == own).count() as u64;
        if posted > 0 || (role == Role::Send && recorded.is_empty()) {
            recorded.push(Recorded::Entry { posted });
        }
        recorded
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
    fn doubt(
        &self,
        info: &TraceInfo,
        location: LocationIndex,
        role: Role,
        recorded: &[Recorded],
    ) -> Unused {
        let call = recorded.iter().find_map(|it| match it {
            Recorded::Call { what, .. } => Some(*what),
            _ => None,
        });
        let Some(call) = call else {
            return Unused::NotCertain;
        };
        let communicator = info.communicators.get(call.communicator as usize);
        let members = communicator.map_or(0, |it| it.locations().count());
        let class = call.operation.class(self.options.dense_alltoallv);
        let own = endpoint(info, location);
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
        let fates = Fates::build(&info, logs, CausalityOptions::default(), &()).unwrap();
        let recorded = |event| {
            let location = LocationIndex(1);
            fates.of(&info, Place { location, event }).unwrap().recorded
        };
        assert_eq!(recorded(0), [Recorded::Entry { posted: 2 }]);
        assert!(matches!(recorded(1)[..], [Recorded::InChannel { .. }]));
        assert_eq!(recorded(3), [Recorded::Entry { posted: 0 }]);
    }
}
