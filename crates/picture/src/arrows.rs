//! Relations between the lanes of a stretch: messages and collectives.
//!
//! Those of reversed dependencies come first, the worst first, and take at most half of
//! the room; of the others every n-th is drawn, evenly over the stretch. How many there
//! are is said.

use std::collections::BinaryHeap;
use std::ops::Range;

use retime::causality::{EventNode, Ids, Instance};
use serde::Serialize;

use crate::places::Place;
use crate::{Lane, Lanes, Subject};

/// Messages of all views together: at some 40 bytes each these are 160 kB.
const MESSAGES: usize = 4_000;
/// Members of collective operations of all views together: some 280 kB.
const MEMBERS: usize = 8_000;

/// The messages and collectives of a stretch. All times are since the begin of the view.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Arrows {
    /// Those drawn.
    pub messages: Vec<Arrow>,
    /// How many there are.
    pub all_messages: usize,
    /// Those drawn.
    pub operations: Vec<Operation>,
    /// How many there are.
    pub all_operations: usize,
}

/// A message: lane, time as recorded, and what was added to it, of its send and of its
/// receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Arrow(pub [i64; 3], pub [i64; 3]);

/// A collective operation, by those that take part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Operation(pub Vec<Member>);

/// The lane of one that takes part; its begin as recorded, and what was added to that;
/// its end, and what was added to that. The begin or the end may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Member(pub usize, pub Option<[i64; 2]>, pub Option<[i64; 2]>);

impl Arrows {
    /// Those of one of so many views.
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
        let arrows = messages.into_iter().filter_map(|it| look.arrow(it));
        let lines = operations.into_iter().map(|it| look.operation(it));
        Self {
            messages: arrows.collect(),
            all_messages,
            operations: lines.collect(),
            all_operations,
        }
    }
}

/// Those drawn of many: the worst of the reversed ones, and of the others every n-th.
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

    fn arrow(&self, receive: EventNode) -> Option<Arrow> {
        let end = |node: EventNode| {
            let lane = self.lanes.lane_of(self.subject.nodes().location(node))?;
            let [time, added] = self.time(node);
            Some([lane as i64, time, added])
        };
        let send = self.subject.causality.message_source(receive)?;
        Some(Arrow(end(send)?, end(receive)?))
    }

    /// A time since the begin of the view, and what was added to it.
    fn time(&self, node: EventNode) -> [i64; 2] {
        let recorded = self.subject.recorded(node) - self.place.from;
        [recorded, self.subject.added(node)]
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
        found.retain(|&it| self.members(it).nth(1).is_some());
        found
    }

    /// The lanes that take part, with their begins and ends.
    fn members(
        &self,
        instance: Instance,
    ) -> impl Iterator<Item = (usize, Option<EventNode>, Option<EventNode>)> {
        let participants = self.subject.causality.collectives().participants(instance);
        participants.iter().filter_map(|it| {
            let either = it.cause().or(it.effect())?;
            let lane = self.lanes.lane_of(self.subject.nodes().location(either))?;
            Some((lane, it.cause(), it.effect()))
        })
    }

    /// From the last begin to the first end, as recorded.
    fn room(&self, instance: Instance) -> i64 {
        let time = |node: EventNode| self.subject.recorded(node);
        let begins = self.members(instance).filter_map(|it| it.1.map(time));
        let ends = self.members(instance).filter_map(|it| it.2.map(time));
        let both = ends.min().zip(begins.max());
        both.map_or(0, |(end, begin)| end - begin)
    }

    fn operation(&self, instance: Instance) -> Operation {
        let time = |node: EventNode| self.time(node);
        let members = self.members(instance);
        let shown = members.map(|(lane, begin, end)| Member(lane, begin.map(time), end.map(time)));
        Operation(shown.collect())
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
