//! Waiting that an analysis of wait states would have found.
//!
//! The wait states of Scalasca, from recorded and from corrected times:
//!
//! ```text
//! late sender      from entering the receive to entering the send, up to the receipt
//! late receiver    from entering the send to entering the receive, if the send was
//!                  left only after that (it waited for the receive); of a synchronous
//!                  send also from entering the call that completes it
//! barrier          in operations in which everybody waits for everybody: from the own
//!                  begin to the last begin, up to the own end
//! root             the same where one waits for all, or all for one, from entering
//! ```
//!
//! Of each that part is *certain* which is left when both its ends are moved towards each
//! other as far as the error bounds allow. Bounds of recorded times may say that an end was
//! recorded on the wrong side of the truth, so that more is certain than was recorded:
//! of a wait no more than all of it counts as certain.
//!
//! **A location waits for one thing at a time.** Each moment counts once, for the first
//! event that waits through it: a call that completes several messages waits until the
//! last of them was sent, and not for each anew. Nor does a wait begin before an effect
//! after which the location caused something: it had gone on by then. So a location never
//! waits longer than it was recorded.
//!
//! **A device that computes does not wait**: of streams of devices of which it is recorded when they
//! computed, only that part of a wait counts in which they did not.
//!
//! **Forks and joins of threads are not counted**: they are recorded in whatever function
//! the program was in, so nothing says since when anybody waited. How long threads waited
//! for each other the barrier at the end of their work tells.
//!
//! Source: the patterns of Scalasca (Geimer et al., "The Scalasca performance toolset
//! architecture"). They need the call around an event, so a trace without calls has none
//! but those of collectives.

use rayon::prelude::*;
use retime::causality::{Class, Collectives, EventNode, Instance, Role, Slot};
use retime::{LocationIndex, exposed};
use serde::Serialize;

use crate::around::{Around, Calls};
use crate::{Lanes, Subject};

/// Waiting of all locations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Waits {
    /// True if there are bounds that tell what is certain.
    pub bounded: bool,
    /// The waiting of all locations in sum.
    pub all: LaneWaits,
    /// The waiting of each lane.
    pub lanes: Vec<LaneWaits>,
}

/// Waiting of one location.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LaneWaits {
    /// Waiting in receives for sends that begin late.
    pub late_sender: Wait,
    /// Waiting in sends for receives that begin late.
    pub late_receiver: Wait,
    /// Waiting in operations in which everybody waits for everybody.
    pub barrier: Wait,
    /// Waiting in operations in which one waits for all, or all for one.
    pub root: Wait,
}

/// Ticks of waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Wait {
    /// The ticks of waiting by recorded times.
    pub recorded: f64,
    /// The ticks by corrected times; equal to the recorded ones if nothing was corrected.
    pub corrected: f64,
    /// The ticks of the corrected waiting that is certain.
    pub certain: f64,
}

impl Wait {
    fn add(&mut self, other: Self) {
        self.recorded += other.recorded;
        self.corrected += other.corrected;
        self.certain += other.certain;
    }
}

impl LaneWaits {
    fn add(&mut self, other: Self) {
        self.late_sender.add(other.late_sender);
        self.late_receiver.add(other.late_receiver);
        self.barrier.add(other.barrier);
        self.root.add(other.root);
    }
}

/// A moment at a location, by recorded and by corrected times.
#[derive(Clone, Copy)]
struct WaitEnd {
    location: LocationIndex,
    times: [f64; 2],
}

impl WaitEnd {
    /// Moved on to these times, where it is before them.
    fn not_before(mut self, times: [f64; 2]) -> Self {
        for (own, time) in self.times.iter_mut().zip(times) {
            *own = own.max(time);
        }
        self
    }
}

/// The device of a location of which it is known when it computed: the node of what it waits in, and when
/// that began.
#[derive(Clone, Copy)]
struct Device {
    node: EventNode,
    begun: WaitEnd,
}

/// In which operation of several an effect waits, and for whom: who comes last may be another
/// one by corrected times, as by recorded ones.
#[derive(Clone, Copy, Default)]
struct Awaited {
    causes: [Option<EventNode>; 2],
}

/// The data from which the waiting of each location is found.
struct Waiting<'a> {
    subject: &'a Subject<'a>,
    calls: &'a Calls,
    /// The cause that each effect waits for, by place in an operation.
    awaited: Vec<Awaited>,
}

impl Waits {
    /// None, since nothing is known of the calls around events.
    pub(crate) fn unknown(lanes: &Lanes) -> Self {
        Self {
            bounded: false,
            all: LaneWaits::default(),
            lanes: vec![LaneWaits::default(); lanes.len()],
        }
    }

    pub(crate) fn of(subject: &Subject<'_>, calls: &Calls, lanes: &Lanes) -> Self {
        let waiting = Waiting {
            subject,
            calls,
            awaited: awaited(subject),
        };
        let locations = 0..subject.info.locations.len();
        let by_location: Vec<LaneWaits> = locations
            .into_par_iter()
            .map(|location| waiting.of(location))
            .collect();
        let mut all = LaneWaits::default();
        for waits in &by_location {
            all.add(*waits);
        }
        let lane = |lane: &crate::Lane| by_location.get(lane.location.as_usize());
        Self {
            bounded: subject.bounds.is_some(),
            all,
            lanes: lanes.shown.iter().filter_map(lane).copied().collect(),
        }
    }
}

/// For whom is waited at each place of all operations.
fn awaited(subject: &Subject<'_>) -> Vec<Awaited> {
    let collectives = subject.causality.collectives();
    let mut awaited = vec![Awaited::default(); collectives.slots().len()];
    for instance in collectives.instances() {
        if is_fork_or_join(subject, collectives, instance) {
            continue;
        }
        let places = 0..collectives.participants(instance).len();
        for times in [0, 1] {
            let time = |node| match times {
                0 => subject.recorded(node),
                _ => subject.time(node),
            };
            let visit = |cause, effect| {
                let slot = subject.causality.slot(effect);
                if let Some(own) = slot.and_then(|it| awaited.get_mut(it.index())) {
                    own.causes[times] = Some(cause);
                }
            };
            collectives.latest_causes(instance, places.clone(), time, |place| place, visit);
        }
    }
    awaited
}

/// True if one thread of a process waits for the others, or they for it.
fn is_fork_or_join(subject: &Subject<'_>, collectives: &Collectives, instance: Instance) -> bool {
    let class = collectives.operation(instance).class;
    if !matches!(class, Class::OneToAll | Class::AllToOne) {
        return false;
    }
    let process = |node: EventNode| {
        let location = subject.nodes().location(node).as_usize();
        Some(subject.info.locations.get(location)?.process)
    };
    let participants = collectives.participants(instance).iter();
    let mut processes = participants
        .filter_map(|it| it.cause().or(it.effect()))
        .map(process);
    let first = processes.next();
    processes.all(|it| Some(it) == first)
}

/// The waiting of one location, event by event.
struct LaneWaiting<'a> {
    waiting: &'a Waiting<'a>,
    /// Until when it is known for what it waited, or that it had gone on.
    counted: [f64; 2],
    /// Its last effect, if it has caused nothing since.
    last_effect: Option<EventNode>,
    /// Sends, and who received them, of a call that may receive as well.
    sent: Vec<(EventNode, EventNode)>,
    waits: LaneWaits,
}

impl Waiting<'_> {
    fn of(&self, location: usize) -> LaneWaits {
        let nodes = self.subject.nodes();
        let extent = nodes.extent(location);
        let first = extent.map_or(f64::NEG_INFINITY, |it| nodes.relative(it.first).0 as f64);
        let mut lane = LaneWaiting {
            waiting: self,
            counted: [first, f64::NEG_INFINITY],
            last_effect: None,
            sent: Vec::new(),
            waits: LaneWaits::default(),
        };
        for node in nodes.of(location) {
            lane.leave_calls_before(Some(node));
            lane.node(node);
        }
        lane.leave_calls_before(None);
        lane.waits
    }

    fn at(&self, node: EventNode) -> WaitEnd {
        WaitEnd {
            location: self.subject.nodes().location(node),
            times: [
                self.subject.recorded(node) as f64,
                self.subject.time(node) as f64,
            ],
        }
    }

    /// The device of the location of a node, as far as it is known, which waits in what began then.
    fn device(&self, node: EventNode, begun: WaitEnd) -> Option<Device> {
        let causality = self.subject.causality;
        let is_known = causality.knows_work(causality.nodes().location(node));
        is_known.then_some(Device { node, begun })
    }

    /// When the call around a node was entered.
    fn entered(&self, node: EventNode, around: Around) -> WaitEnd {
        let mut at = self.at(node);
        for (time, since) in at.times.iter_mut().zip(around.since) {
            *time -= f64::from(since);
        }
        at
    }

    /// When the call around a cause was entered; of an event that leaves a call, and
    /// lets others go on by that, when it is left.
    fn begun(&self, node: EventNode, around: Around) -> WaitEnd {
        if around.is_left_by_it() {
            self.at(node)
        } else {
            self.entered(node, around)
        }
    }

    /// When the calls around both ends of a message were entered.
    fn both_entered(&self, send: EventNode, receive: EventNode) -> Option<(WaitEnd, WaitEnd)> {
        let (sending, receiving) = (self.calls.around(send)?, self.calls.around(receive)?);
        Some((self.begun(send, sending), self.entered(receive, receiving)))
    }
}

impl LaneWaiting<'_> {
    fn node(&mut self, node: EventNode) {
        let causality = self.waiting.subject.causality;
        let role = self.waiting.subject.nodes().role(node);
        if let Role::Send | Role::CollectiveBegin = role
            && let Some(effect) = self.last_effect.take()
        {
            let at = self.waiting.at(effect);
            self.counted = at.not_before(self.counted).times;
        }
        if let Some(cause) = causality.message_source(node) {
            let wait = self.late_sender(cause, node);
            // Of a synchronous send the cause is that its receive is posted.
            let kind = if causality.is_acknowledgement(node) {
                &mut self.waits.late_receiver
            } else {
                &mut self.waits.late_sender
            };
            kind.add(wait);
        } else if let Some(receive) = causality.message_target(node) {
            // Who posts a receive does not wait for the send to be complete.
            if !causality.is_acknowledgement(receive) {
                self.sent.push((node, receive));
            }
        } else if let (Role::CollectiveEnd, Some(slot)) = (role, causality.slot(node)) {
            self.collective(node, slot);
        }
        if let Role::Receive | Role::CollectiveEnd = role {
            self.last_effect = Some(node);
        }
    }

    /// Counts for whom sends have waited, of the calls that are left before a node, or of all.
    fn leave_calls_before(&mut self, node: Option<EventNode>) {
        let is_left = |&(send, _): &(EventNode, EventNode)| {
            let Some(node) = node else { return true };
            let until = self.waiting.calls.around(send).map(|it| it.until[0]);
            let [at, sent] = [node, send].map(|it| self.waiting.at(it).times[0]);
            until.is_none_or(|it| (at - sent) as f32 > it)
        };
        let left = self.sent.iter().take_while(|it| is_left(it)).count();
        let left: Vec<_> = self.sent.drain(..left).collect();
        for (send, receive) in left {
            let wait = self.late_receiver(send, receive);
            self.waits.late_receiver.add(wait);
        }
    }

    fn late_sender(&mut self, send: EventNode, receive: EventNode) -> Wait {
        let Some((begun, entered)) = self.waiting.both_entered(send, receive) else {
            return Wait::default();
        };
        let received = self.waiting.at(receive).times;
        let asked = self.waiting.device(receive, entered);
        self.wait(entered, [Some(begun); 2], received, asked)
    }

    fn late_receiver(&mut self, send: EventNode, receive: EventNode) -> Wait {
        let Some((begun, entered)) = self.waiting.both_entered(send, receive) else {
            return Wait::default();
        };
        let mut left = self.waiting.at(send).times;
        let until = self.waiting.calls.around(send).map(|it| it.until);
        for (time, until) in left.iter_mut().zip(until.into_iter().flatten()) {
            *time += f64::from(until);
        }
        // A send that is left before the receive is entered waited for nobody.
        let waited = |time: usize| (left[time] > entered.times[time]).then_some(entered);
        let sent = self.waiting.device(send, self.waiting.at(send));
        self.wait(begun, [waited(0), waited(1)], left, sent)
    }

    fn collective(&mut self, effect: EventNode, slot: Slot) {
        let causality = self.waiting.subject.causality;
        let collectives = causality.collectives();
        let (instance, place) = collectives.locate(slot);
        let own = collectives.participants(instance)[place].cause();
        let begun = own.map(|it| self.waiting.at(it));
        let around = self.waiting.calls.around(effect);
        let entered = || around.map(|it| self.waiting.entered(effect, it));
        let Some(from) = begun.or_else(entered) else {
            return;
        };
        let awaited = self.waiting.awaited[slot.index()];
        let until = awaited.causes.map(|it| Some(self.waiting.at(it?)));
        let left = self.waiting.at(effect).times;
        let device = own.and_then(|it| self.waiting.device(it, self.waiting.at(it)));
        let wait = self.wait(from, until, left, device);
        let kind = match collectives.operation(instance).class {
            Class::AllToAll => &mut self.waits.barrier,
            _ => &mut self.waits.root,
        };
        kind.add(wait);
    }

    /// From a moment of this location until something happens elsewhere, if it is waited for
    /// at all, but no longer than to the last of `at_most`; without what was counted before, nor what
    /// its device computed.
    fn wait(
        &mut self,
        from: WaitEnd,
        until: [Option<WaitEnd>; 2],
        at_most: [f64; 2],
        device: Option<Device>,
    ) -> Wait {
        let from = from.not_before(self.counted);
        let mut lengths = [0.0; 2];
        for (time, to) in until.iter().enumerate() {
            let Some(to) = to else { continue };
            let end = to.times[time].min(at_most[time]);
            let length = end - from.times[time];
            if length > 0.0 {
                let still = |it: Device| {
                    let ends = [from.times[time], end].map(|at| (at - it.begun.times[time]) as i64);
                    let causality = self.waiting.subject.causality;
                    exposed(causality, it.node, ends[0], ends[1]) as f64
                };
                lengths[time] = device.map_or(length, still);
                self.counted[time] = end;
            }
        }
        let bound = |at: WaitEnd| {
            let subject = self.waiting.subject;
            subject.bound(at.location, at.times[0] as i64)
        };
        let certain = until[1].map_or(0.0, |to| {
            to.times[1] - bound(to).0 - from.times[1] - bound(from).1
        });
        Wait {
            recorded: lengths[0],
            corrected: lengths[1],
            // Nothing is certain where nothing is known: that is minus infinity here.
            certain: certain.max(0.0).min(lengths[1]),
        }
    }
}
