//! Relations between the lanes of a stretch: messages and collectives.
//!
//! Those of reversed dependencies come first, the worst first, and take at most half of
//! the room; of the others every n-th is drawn, evenly over the stretch. How many there
//! are is said.
//!
//! Which are drawn is chosen before events are read, so that what files say of these few can be
//! noted in passing.

use std::collections::BinaryHeap;
use std::io;
use std::ops::Range;

use retime::causality::{EventNode, Ids, Instance};
use rustc_hash::FxHashMap;
use serde::{Serialize, Serializer};

use crate::facts::{Facts, FactsFound};
use crate::lanes::short;
use crate::places::Place;
use crate::{Lane, Lanes, Subject};

/// Messages of all views together: at some 80 bytes each these are 320 kB.
const MESSAGES: usize = 4_000;
/// Members of collective operations of all views together: some 380 kB.
const MEMBERS: usize = 8_000;

/// The messages and collectives of a stretch. All times are since the begin of the view.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Arrows {
    /// The messages that are drawn.
    pub messages: Vec<Arrow>,
    /// How many there are.
    pub all_messages: usize,
    /// The operations that are drawn.
    pub operations: Vec<Operation>,
    /// How many there are.
    pub all_operations: usize,
    /// The names of the calls and communicators that are mentioned.
    pub names: Vec<String>,
}

/// A message: its send, its receive, and what is said of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Arrow(pub End, pub End, pub ArrowFacts);

/// An end of a message; as JSON a list in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The number of its lane.
    pub lane: usize,
    /// When it was.
    pub at: At,
    /// The bytes that are sent or received, if the files say it.
    pub bytes: Option<u64>,
    /// The call in which it happens, among the names.
    pub call: Option<usize>,
}

impl Serialize for End {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let At(time, added, event) = self.at;
        (self.lane, time, added, event, self.bytes, self.call).serialize(serializer)
    }
}

/// An event: its time as recorded, what was added to that, and its number at its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct At(pub i64, pub i64, pub u64);

/// The tag and, among the names, the communicator of a message, if the files say them; and the
/// ticks that it takes at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ArrowFacts(pub Option<u32>, pub Option<usize>, pub i64);

/// A collective operation: those that take part, and among the names its call and its
/// communicator.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Operation(pub Vec<Member>, pub Option<usize>, pub Option<usize>);

/// The lane of one that takes part, its begin and its end, which may be missing, and the bytes
/// that it gives or gets, whichever is more, if the files say them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Member(pub usize, pub Option<At>, pub Option<At>, pub Option<u64>);

/// The messages and collectives of a stretch that are drawn, before anything is known of them.
pub(crate) struct ChosenArrows {
    /// The receives of messages.
    messages: Vec<EventNode>,
    all_messages: usize,
    operations: Vec<Instance>,
    all_operations: usize,
}

impl ChosenArrows {
    /// The arrows of one of so many views.
    pub(crate) fn of(subject: &Subject<'_>, place: &Place, lanes: &Lanes, views: usize) -> Self {
        let look = Look {
            subject,
            place,
            lanes,
        };
        let (messages, operations) = (look.receives(), look.instances());
        let (all_messages, all_operations) = (messages.len(), operations.len());
        let room = MESSAGES / views.max(1);
        let messages = chosen(messages, |it| look.latency(it), room);
        let room = MEMBERS / views.max(1) / lanes.len().max(1);
        let operations = chosen(operations, |it| look.room(it), room.max(2));
        Self {
            messages,
            all_messages,
            operations,
            all_operations,
        }
    }

    /// The events about which facts are wanted.
    pub(crate) fn events(&self, subject: &Subject<'_>, lanes: &Lanes) -> Vec<EventNode> {
        let receives = self.messages.iter();
        let messages = receives.flat_map(|&receive| {
            let send = subject.causality.message_source(receive);
            send.into_iter().chain([receive])
        });
        let operations = self.operations.iter();
        let members = operations.flat_map(|&it| members(subject, lanes, it));
        let members = members.filter_map(|it| it.2.or(it.1));
        messages.chain(members).collect()
    }

    /// With what is known of them.
    pub(crate) fn arrows(
        &self,
        subject: &Subject<'_>,
        place: &Place,
        lanes: &Lanes,
        found: &FactsFound,
    ) -> io::Result<Arrows> {
        let look = Look {
            subject,
            place,
            lanes,
        };
        let mut teller = Teller {
            look,
            found,
            names: Names::default(),
        };
        let messages = self.messages.iter().filter_map(|&it| teller.arrow(it));
        let messages = messages.collect::<io::Result<Vec<_>>>()?;
        let operations = self.operations.iter().map(|&it| teller.operation(it));
        let operations = operations.collect::<io::Result<Vec<_>>>()?;
        Ok(Arrows {
            messages,
            all_messages: self.all_messages,
            operations,
            all_operations: self.all_operations,
            names: teller.names.all,
        })
    }
}

/// Names that are told apart by a number each.
#[derive(Default)]
struct Names {
    all: Vec<String>,
    regions: FxHashMap<u32, usize>,
    communicators: FxHashMap<u32, usize>,
}

impl Names {
    fn region(&mut self, region: u32, subject: &Subject<'_>) -> usize {
        let name = || {
            let name = subject.trace.region(region);
            name.map_or_else(|| format!("region {region}"), |it| short(&it))
        };
        let all = &mut self.all;
        *self.regions.entry(region).or_insert_with(|| {
            all.push(name());
            all.len() - 1
        })
    }

    fn communicator(&mut self, communicator: u32, subject: &Subject<'_>) -> usize {
        let known = subject.info.communicators.get(communicator as usize);
        let name = known.map(|it| short(&it.name)).filter(|it| !it.is_empty());
        let name = || name.unwrap_or_else(|| format!("communicator {communicator}"));
        let all = &mut self.all;
        *self.communicators.entry(communicator).or_insert_with(|| {
            all.push(name());
            all.len() - 1
        })
    }
}

/// Puts together what is known of arrows.
struct Teller<'a> {
    look: Look<'a>,
    found: &'a FactsFound,
    names: Names,
}

impl Teller<'_> {
    /// A message, if both its lanes are shown.
    fn arrow(&mut self, receive: EventNode) -> Option<io::Result<Arrow>> {
        let subject = self.look.subject;
        let send = subject.causality.message_source(receive)?;
        let lane = |node| self.look.lane(node);
        let lanes = (lane(send)?, lane(receive)?);
        Some(self.message(send, receive, lanes.0, lanes.1))
    }

    fn message(
        &mut self,
        send: EventNode,
        receive: EventNode,
        from: usize,
        to: usize,
    ) -> io::Result<Arrow> {
        let subject = self.look.subject;
        let (sent, received) = (self.found.about(send)?, self.found.about(receive)?);
        let communicator = sent.communicator.or(received.communicator);
        let facts = ArrowFacts(
            sent.tag.or(received.tag),
            communicator.map(|it| self.names.communicator(it, subject)),
            subject
                .causality
                .message_delay(subject.delay, send, receive)
                .0,
        );
        let mut end = |node, lane, facts: Facts| End {
            lane,
            at: self.look.at(node),
            bytes: facts.bytes,
            call: facts.region.map(|it| self.names.region(it, subject)),
        };
        Ok(Arrow(
            end(send, from, sent),
            end(receive, to, received),
            facts,
        ))
    }

    fn operation(&mut self, instance: Instance) -> io::Result<Operation> {
        let (subject, lanes) = (self.look.subject, self.look.lanes);
        let (mut call, mut communicator) = (None, None);
        let mut all = Vec::new();
        for (lane, begin, end) in members(subject, lanes, instance) {
            let facts = end.or(begin).map(|it| self.found.about(it)).transpose()?;
            let facts = facts.unwrap_or_default();
            call = call.or(facts.region);
            communicator = communicator.or(facts.communicator);
            let at = |node: EventNode| self.look.at(node);
            all.push(Member(lane, begin.map(at), end.map(at), facts.bytes));
        }
        Ok(Operation(
            all,
            call.map(|it| self.names.region(it, subject)),
            communicator.map(|it| self.names.communicator(it, subject)),
        ))
    }
}

/// The lanes that take part in an operation, with their begins and ends.
fn members<'a>(
    subject: &Subject<'a>,
    lanes: &'a Lanes,
    instance: Instance,
) -> impl Iterator<Item = (usize, Option<EventNode>, Option<EventNode>)> {
    let participants = subject.causality.collectives().participants(instance);
    let nodes = subject.causality.nodes();
    participants.iter().filter_map(move |it| {
        let either = it.cause().or(it.effect())?;
        let lane = lanes.lane_of(nodes.location(either))?;
        Some((lane, it.cause(), it.effect()))
    })
}

/// The ones of many that are drawn: the worst of the reversed ones, and of the others every n-th.
fn chosen<T: Copy + Ord>(all: Vec<T>, latency: impl Fn(T) -> i64, most: usize) -> Vec<T> {
    if all.len() <= most {
        return all;
    }
    let (reversed, rest): (Vec<T>, Vec<T>) = all.into_iter().partition(|&it| latency(it) < 0);
    let mut worst = BinaryHeap::new();
    for it in reversed {
        worst.push((latency(it), it));
        if worst.len() > most / 2 {
            worst.pop();
        }
    }
    let mut found: Vec<T> = worst.into_sorted_vec().into_iter().map(|it| it.1).collect();
    let room = (most - found.len()).max(1);
    let every = rest.len().div_ceil(room).max(1);
    found.extend(rest.into_iter().step_by(every));
    found
}

/// The stretch that is looked at, and the lanes that show it.
struct Look<'a> {
    subject: &'a Subject<'a>,
    place: &'a Place,
    lanes: &'a Lanes,
}

impl Look<'_> {
    /// The nodes of a lane that lie in the place, by recorded or by corrected times. Both
    /// rise along a location.
    fn nodes(&self, lane: &Lane) -> impl Iterator<Item = EventNode> {
        let own = self.subject.nodes().of(lane.location.as_usize());
        let recorded = self.range(&own, |node| self.subject.recorded(node));
        let corrected = self.range(&own, |node| self.subject.time(node));
        let (first, second) = if recorded.start <= corrected.start {
            (recorded, corrected)
        } else {
            (corrected, recorded)
        };
        // Whatever is in both counts once.
        let second = second.start.max(first.end)..second.end.max(first.end);
        first.chain(second).filter_map(move |it| own.get(it))
    }

    /// Where nodes of a location lie whose times are in the place.
    fn range(&self, own: &Ids<EventNode>, time: impl Fn(EventNode) -> i64) -> Range<usize> {
        // How many of them are before something, which those at the front are.
        let count = |is_before: &dyn Fn(i64) -> bool| {
            let (mut low, mut high) = (0, own.len());
            while low < high {
                let middle = usize::midpoint(low, high);
                if own.get(middle).is_some_and(|it| is_before(time(it))) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            low
        };
        count(&|time| time < self.place.from)..count(&|time| time <= self.place.to)
    }

    /// True if an event lies in the place, by recorded or by corrected times.
    fn is_in(&self, node: EventNode) -> bool {
        let inside = |time: i64| (self.place.from..=self.place.to).contains(&time);
        inside(self.subject.recorded(node)) || inside(self.subject.time(node))
    }

    /// The receives of messages between lanes that are sent or received in the place, by
    /// lane: those that are received there, and of the others those that are sent there.
    fn receives(&self) -> Vec<EventNode> {
        let causality = self.subject.causality;
        let is_drawn = |node| {
            let location = self.subject.nodes().location(node);
            self.lanes.lane_of(location).is_some()
        };
        let receive = |node: EventNode| {
            if let Some(send) = causality.message_source(node) {
                return is_drawn(send).then_some(node);
            }
            let target = causality.message_target(node)?;
            (!self.is_in(target) && is_drawn(target)).then_some(target)
        };
        let inside = self.lanes.shown.iter().flat_map(|lane| self.nodes(lane));
        inside.filter_map(receive).collect()
    }

    fn latency(&self, receive: EventNode) -> i64 {
        let send = self.subject.causality.message_source(receive);
        send.map_or(0, |send| {
            self.subject.recorded(receive) - self.subject.recorded(send)
        })
    }

    /// The number of the lane that shows an event.
    fn lane(&self, node: EventNode) -> Option<usize> {
        self.lanes.lane_of(self.subject.nodes().location(node))
    }

    /// An event, with its time since the begin of the view.
    fn at(&self, node: EventNode) -> At {
        let recorded = self.subject.recorded(node) - self.place.from;
        At(
            recorded,
            self.subject.added(node),
            self.subject.nodes().event(node),
        )
    }

    /// The operations of several lanes that begin or end in the place.
    fn instances(&self) -> Vec<Instance> {
        let causality = self.subject.causality;
        let instance = |node: EventNode| {
            let slot = causality.slot(node)?;
            Some(causality.collectives().locate(slot).0)
        };
        let inside = self.lanes.shown.iter().flat_map(|lane| self.nodes(lane));
        let mut found: Vec<Instance> = inside.filter_map(instance).collect();
        found.sort_unstable();
        found.dedup();
        found.retain(|&it| members(self.subject, self.lanes, it).nth(1).is_some());
        found
    }

    /// From the last begin to the first end, as recorded.
    fn room(&self, instance: Instance) -> i64 {
        let time = |node: EventNode| self.subject.recorded(node);
        let begins = members(self.subject, self.lanes, instance).filter_map(|it| it.1.map(time));
        let ends = members(self.subject, self.lanes, instance).filter_map(|it| it.2.map(time));
        let both = ends.min().zip(begins.max());
        both.map_or(0, |(end, begin)| end - begin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_worst_are_chosen_and_the_others_evenly(
            latencies in proptest::collection::vec(-50..50_i64, 0..300),
            most in 2..100_usize,
        ) {
            let all: Vec<usize> = (0..latencies.len()).collect();
            let found = chosen(all.clone(), |it| latencies[it], most);
            prop_assert!(found.len() <= most);
            if all.len() <= most {
                prop_assert_eq!(found, all);
                return Ok(());
            }
            let mut reversed: Vec<i64> = latencies.iter().copied().filter(|&it| it < 0).collect();
            reversed.sort_unstable();
            reversed.truncate(most / 2);
            let first: Vec<i64> = found.iter().map(|&it| latencies[it]).take(reversed.len()).collect();
            prop_assert_eq!(first, reversed);
        }
    }
}
