//! What relates the lanes of a stretch: messages and collectives.
//!
//! Those of reversed dependencies come first, the worst first, and take at most half of
//! the room; of the others every n-th is drawn, evenly over the stretch. How many there
//! are is said.

use std::collections::BinaryHeap;

use retime::causality::{EventNode, Instance};
use serde::Serialize;

use crate::places::Place;
use crate::{Lanes, Subject};

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
        let (messages, all_messages) =
            chosen(|| look.receives(), |it| look.latency(*it), MESSAGES / views);
        let most = MEMBERS / views / lanes.len().max(1);
        let (operations, all_operations) =
            chosen(|| look.instances(), |it| look.room(*it), most.max(2));
        Self {
            messages: messages
                .into_iter()
                .filter_map(|it| look.arrow(it))
                .collect(),
            all_messages,
            operations: operations
                .into_iter()
                .map(|it| look.operation(it))
                .collect(),
            all_operations,
        }
    }
}

/// Those drawn of many, and how many there are: the worst of the reversed ones, and of
/// the others every n-th. Visits them twice, so that not all have to be held.
fn chosen<T: Copy + Ord, I: Iterator<Item = T>>(
    all: impl Fn() -> I,
    latency: impl Fn(&T) -> i64,
    most: usize,
) -> (Vec<T>, usize) {
    let (mut worst, mut count, mut reversed) = (BinaryHeap::new(), 0, 0);
    for it in all() {
        let latency = latency(&it);
        count += 1;
        if latency < 0 {
            reversed += 1;
            worst.push((latency, it));
            // Unless all fit.
            if worst.len() > most {
                worst.pop();
            }
        }
    }
    if count <= most {
        return (all().collect(), count);
    }
    while worst.len() > most / 2 {
        worst.pop();
    }
    let mut found: Vec<T> = worst.into_sorted_vec().into_iter().map(|it| it.1).collect();
    let room = (most - found.len()).max(1);
    let every = usize::div_ceil(count - reversed, room).max(1);
    found.extend(all().filter(|it| latency(it) >= 0).step_by(every));
    (found, count)
}

/// What is looked at.
struct Look<'a> {
    subject: &'a Subject<'a>,
    place: &'a Place,
    lanes: &'a Lanes,
}

impl<'a> Look<'a> {
    /// Whether an event lies in the place, by recorded or by corrected times.
    fn is_in(&self, node: EventNode) -> bool {
        let inside = |time: i64| (self.place.from..=self.place.to).contains(&time);
        inside(self.subject.recorded(node)) || inside(self.subject.time(node))
    }

    /// The receives of messages between lanes that are sent or received in the place.
    fn receives(&self) -> impl Iterator<Item = EventNode> {
        let nodes = self.subject.nodes();
        let is_drawn = |node| self.lanes.lane_of(nodes.location(node)).is_some();
        nodes.all().filter(move |&receive| {
            let send = self.subject.causality.message_source(receive);
            send.is_some_and(|send| {
                (self.is_in(send) || self.is_in(receive)) && is_drawn(send) && is_drawn(receive)
            })
        })
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
    fn instances(&self) -> impl Iterator<Item = Instance> + use<'a, '_> {
        let collectives = self.subject.causality.collectives();
        collectives.instances().filter(move |&it| {
            let participants = collectives.participants(it);
            let ends = participants.iter().flat_map(|it| [it.cause(), it.effect()]);
            let mut inside = ends.flatten().filter(|&node| self.is_in(node));
            inside.next().is_some() && self.members(it).nth(1).is_some()
        })
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
            let all = || 0..latencies.len();
            let (found, count) = chosen(all, |&it| latencies[it], most);
            prop_assert_eq!(count, latencies.len());
            prop_assert!(found.len() <= most.max(2));
            if count <= most {
                prop_assert_eq!(found, all().collect::<Vec<_>>());
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
