//! One order of all events of a trace: serialisation.
//!
//! Events are taken from all locations by time. On a coarse clock, or on clocks
//! that were just put right, many events share one stamp; among those an effect
//! waits for its causes, and then the location named first comes first:
//!
//! ```text
//! next = the smallest (time, location) whose causes of the same time have passed
//! ```
//!
//! So the order is that of time, each location's own order is kept, and no effect
//! comes before its cause, as long as none is stamped before it. Where one is, the
//! order goes by time; where causes and effects of one stamp wait for each other
//! in a circle, the first location goes on ([`Serializer::forced`] counts how
//! often): no order could please all.
//!
//! Sources: Liu, A Method of Fast Synchronizing Asynchronous Clocks in
//! Distributed Applications, section 4.4; Lamport 1978 for the order of ties.
//!
//! A [`Serializer`] is told of the next event of each location and says whose
//! turn it is, so a trace can be merged while it is read, with one event per
//! location in memory besides what is known of causality:
//!
//! ```
//! use retime_causality::Causality;
//! use retime_causality::order::Serializer;
//! use retime_model::{LocationIndex, Timestamp};
//! use retime_testing::trace;
//!
//! // Location 0 receives at 7 what location 1 sent, as its second event, at 7.
//! let trace = trace("0: receive 1 @7\n1: internal @5, send 0 @7")?;
//! let causality = Causality::build(&trace.info, trace.logs, Default::default())?;
//!
//! let mut times = [vec![7].into_iter(), vec![5, 7].into_iter()];
//! let mut order = Serializer::new(&causality);
//! for location in 0..2 {
//!     order.offer(LocationIndex(location), Timestamp(times[location as usize].next().unwrap()));
//! }
//! let mut found = Vec::new();
//! while let Some(next) = order.pop() {
//!     found.push((next.location.0, next.event));
//!     if let Some(time) = times[next.location.as_usize()].next() {
//!         order.offer(next.location, Timestamp(time));
//!     }
//! }
//! assert_eq!(found, [(1, 0), (1, 1), (0, 0)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::{Causality, EventNode, Ids, Role};
use retime_model::{LocationIndex, Timestamp};

/// Whose event comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// The location.
    pub location: LocationIndex,
    /// Its event, counted from 0.
    pub event: u64,
    /// Its time: as offered, or where that lies before the time of an earlier
    /// event of the location, the time of that.
    pub time: Timestamp,
    /// The node, if it has a role in happened-before.
    pub node: Option<EventNode>,
}

/// Merges the events of all locations into one order.
#[derive(Debug)]
pub struct Serializer<'a> {
    causality: &'a Causality,
    places: Vec<Place>,
    /// Locations with an event of a later moment.
    later: BinaryHeap<Reverse<(Timestamp, LocationIndex)>>,
    /// The time under way.
    moment: Timestamp,
    /// Locations with an event of this moment that may be able to pass.
    ready: BinaryHeap<Reverse<LocationIndex>>,
    /// Locations with an event of this moment, by the cause they wait for.
    waiting: FxHashMap<EventNode, Vec<LocationIndex>>,
    /// Per collective operation and side: how many participants need not be looked at again, since
    /// their begins have passed.
    begun: Vec<[usize; 2]>,
    forced: u64,
}

/// How far a location is.
#[derive(Clone, Debug)]
struct Place {
    /// Number of its next event.
    event: u64,
    /// Its nodes that have not passed.
    ahead: Ids<EventNode>,
    /// Time of its latest event.
    latest: Timestamp,
}

impl<'a> Serializer<'a> {
    /// For a trace whose events have the times that `causality` knows:
    /// [retimed](Causality::retimed), if they are corrected.
    pub fn new(causality: &'a Causality) -> Self {
        let nodes = causality.nodes();
        let place = |location: usize| Place {
            event: 0,
            ahead: nodes.of(location),
            latest: Timestamp(0),
        };
        Self {
            causality,
            places: (0..nodes.locations()).map(place).collect(),
            later: BinaryHeap::new(),
            moment: Timestamp(0),
            ready: BinaryHeap::new(),
            waiting: FxHashMap::default(),
            begun: vec![[0; 2]; causality.collectives().instances().len()],
            forced: 0,
        }
    }

    /// The time of the next event of a location: its first one, or the one after
    /// that which [`pop`](Self::pop) gave last. A location that is not offered
    /// again is at its end. An unknown location is ignored.
    pub fn offer(&mut self, location: LocationIndex, time: Timestamp) {
        let Some(place) = self.places.get_mut(location.as_usize()) else {
            return;
        };
        place.latest = place.latest.max(time);
        if place.latest <= self.moment {
            self.ready.push(Reverse(location));
        } else {
            self.later.push(Reverse((place.latest, location)));
        }
    }

    /// The event that comes next among those offered; `None` if none is left.
    pub fn pop(&mut self) -> Option<Next> {
        loop {
            while let Some(Reverse(location)) = self.ready.pop() {
                match self.awaited(location) {
                    Some(cause) => self.waiting.entry(cause).or_default().push(location),
                    None => return self.pass(location),
                }
            }
            if let Some(first) = self.waiting.values().flatten().min().copied() {
                self.forced += 1;
                self.waiting
                    .values_mut()
                    .for_each(|all| all.retain(|&it| it != first));
                self.waiting.retain(|_, all| !all.is_empty());
                return self.pass(first);
            }
            let &Reverse((time, _)) = self.later.peek()?;
            self.moment = time;
            while let Some(&Reverse((at, location))) = self.later.peek()
                && at == time
            {
                self.later.pop();
                self.ready.push(Reverse(location));
            }
        }
    }

    /// How many events could not wait for a cause of the same time, because that
    /// waits for them.
    pub fn forced(&self) -> u64 {
        self.forced
    }

    /// The node that the next event of a location is, if it is one.
    fn node(&self, location: LocationIndex) -> Option<EventNode> {
        let place = self.places.get(location.as_usize())?;
        let next = place.ahead.first()?;
        (self.causality.nodes().event(next) == place.event).then_some(next)
    }

    /// A cause of this moment that the next event of a location has to wait for.
    fn awaited(&mut self, location: LocationIndex) -> Option<EventNode> {
        if self.ready.is_empty() && self.waiting.is_empty() {
            // No other location is at this moment.
            return None;
        }
        let node = self.node(location)?;
        match self.causality.nodes().role(node) {
            Role::Send | Role::CollectiveBegin => None,
            Role::Receive => {
                let send = self.causality.message_source(node)?;
                self.is_to_come(send).then_some(send)
            }
            Role::CollectiveEnd => self.awaited_begin(node),
        }
    }

    fn awaited_begin(&mut self, end: EventNode) -> Option<EventNode> {
        let collectives = self.causality.collectives();
        let (instance, own) = collectives.locate(self.causality.slot(end)?);
        let participants = collectives.participants(instance);
        let across = collectives.operation(instance).across_sides;
        let side = usize::from(across && participants.get(own)?.side == 1);
        let of_side = |place: usize| !across || usize::from(participants[place].side) != side;
        let mut begun = self.begun.get(instance.index())?[side];
        let has_passed = |place: usize| {
            !of_side(place)
                || participants[place]
                    .cause()
                    .is_none_or(|it| self.has_passed(it))
        };
        while begun < participants.len() && has_passed(begun) {
            begun += 1;
        }
        let depends = |place: &usize| collectives.depends(instance, *place, own);
        let causes = (begun..participants.len()).filter(depends);
        let mut causes = causes.filter_map(|place| participants[place].cause());
        let awaited = causes.find(|&cause| self.is_to_come(cause));
        self.begun[instance.index()][side] = begun;
        awaited
    }

    /// True if a node of this moment, or of an earlier one, has not passed yet.
    fn is_to_come(&self, node: EventNode) -> bool {
        self.causality.nodes().timestamp(node) <= self.moment && !self.has_passed(node)
    }

    fn has_passed(&self, node: EventNode) -> bool {
        let location = self.causality.nodes().location(node);
        !self.places[location.as_usize()].ahead.contains(node)
    }

    fn pass(&mut self, location: LocationIndex) -> Option<Next> {
        let node = self.node(location);
        let place = self.places.get_mut(location.as_usize())?;
        let next = Next {
            location,
            event: place.event,
            time: place.latest,
            node,
        };
        place.event += 1;
        if let Some(node) = node {
            place.ahead.next();
            let freed = self.waiting.remove(&node).unwrap_or_default();
            self.ready.extend(freed.into_iter().map(Reverse));
        }
        Some(next)
    }
}

/// All events with a role, in the order of a [`Serializer`].
pub fn nodes_in_order(causality: &Causality) -> Vec<EventNode> {
    let nodes = causality.nodes();
    let mut order = Vec::with_capacity(nodes.len());
    let mut serializer = Serializer::new(causality);
    let offer = |serializer: &mut Serializer<'_>, location: LocationIndex| {
        let place = &mut serializer.places[location.as_usize()];
        if let Some(next) = place.ahead.first() {
            // Events without a role do not change the order of the others.
            place.event = nodes.event(next);
            let time = nodes.timestamp(next);
            serializer.offer(location, time);
        }
    };
    for location in 0..nodes.locations() as u32 {
        offer(&mut serializer, LocationIndex(location));
    }
    while let Some(next) = serializer.pop() {
        order.extend(next.node);
        offer(&mut serializer, next.location);
    }
    order
}
