//! What an analysis would have said of waiting.
//!
//! The wait states of Scalasca, from recorded and from corrected times:
//!
//! ```text
//! late sender      from entering the receive to entering the send, up to the receipt
//! late receiver    from entering the send to entering the receive, if the send was
//!                  left only after that (it waited for the receive)
//! barrier          in operations in which everybody waits for everybody: from entering
//!                  to the last begin, up to the own end
//! root             the same where one waits for all, or all for one
//! ```
//!
//! Of each that part is *certain* which is left when both its ends are moved towards each
//! other as far as the error bounds allow.
//!
//! Source: the patterns of Scalasca (Geimer et al., "The Scalasca performance toolset
//! architecture"). They need the call around an event, so a trace without calls has none
//! but those of collectives.

use retime::LocationIndex;
use retime::causality::{Class, EventNode};
use serde::Serialize;

use crate::around::{Around, Calls};
use crate::{Lanes, Subject};

/// Waiting of all locations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Waits {
    /// Whether there are bounds that tell what is certain.
    pub bounded: bool,
    /// Of all locations.
    pub all: LaneWaits,
    /// Of each lane.
    pub lanes: Vec<LaneWaits>,
}

/// Waiting of one location.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LaneWaits {
    /// In receives.
    pub late_sender: Wait,
    /// In sends.
    pub late_receiver: Wait,
    /// Where everybody waits for everybody.
    pub barrier: Wait,
    /// In other collectives.
    pub root: Wait,
}

/// Ticks of waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Wait {
    /// By recorded times.
    pub recorded: f64,
    /// By corrected ones; the same if nothing was corrected.
    pub corrected: f64,
    /// What of the latter is certain.
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
struct At {
    location: LocationIndex,
    times: [f64; 2],
}

/// Of whom the waiting is looked for.
struct Waiting<'a> {
    subject: &'a Subject<'a>,
    calls: &'a Calls,
    by_location: Vec<LaneWaits>,
}

impl Waits {
    pub(crate) fn of(subject: &Subject<'_>, calls: &Calls, lanes: &Lanes) -> Self {
        let mut waiting = Waiting {
            subject,
            calls,
            by_location: vec![LaneWaits::default(); subject.info.locations.len()],
        };
        for receive in subject.nodes().all() {
            if let Some(send) = subject.causality.message_source(receive) {
                waiting.message(send, receive);
            }
        }
        waiting.collectives();
        let mut all = LaneWaits::default();
        waiting.by_location.iter().for_each(|it| all.add(*it));
        let lane = |lane: &crate::Lane| waiting.by_location.get(lane.location.as_usize());
        Self {
            bounded: subject.bounds.is_some(),
            all,
            lanes: lanes.shown.iter().filter_map(lane).copied().collect(),
        }
    }
}

impl Waiting<'_> {
    fn at(&self, node: EventNode) -> At {
        At {
            location: self.subject.nodes().location(node),
            times: [
                self.subject.recorded(node) as f64,
                self.subject.time(node) as f64,
            ],
        }
    }

    /// When the call around a node was entered.
    fn entered(&self, node: EventNode, around: Around) -> At {
        let mut at = self.at(node);
        for (time, since) in at.times.iter_mut().zip(around.since) {
            *time -= f64::from(since);
        }
        at
    }

    /// When the call around a cause was entered; of an event that leaves a call, and
    /// lets others go on by that, when it is left.
    fn begun(&self, node: EventNode, around: Around) -> At {
        if around.is_left_by_it() {
            self.at(node)
        } else {
            self.entered(node, around)
        }
    }

    /// From one moment to another, but no longer than to the last.
    fn wait(&self, from: At, to: At, at_most: [f64; 2]) -> Wait {
        let length = |time: usize| (to.times[time].min(at_most[time]) - from.times[time]).max(0.0);
        let bound = |at: At| self.subject.bound(at.location, at.times[0] as i64);
        let known = (bound(from).1, bound(to).0);
        let certain = length(1) - known.0 - known.1;
        Wait {
            recorded: length(0),
            corrected: length(1),
            certain: if certain > 0.0 { certain } else { 0.0 },
        }
    }

    fn message(&mut self, send: EventNode, receive: EventNode) {
        let (Some(sending), Some(receiving)) =
            (self.calls.around(send), self.calls.around(receive))
        else {
            return;
        };
        let (begun, entered) = (self.begun(send, sending), self.entered(receive, receiving));
        let late_sender = self.wait(entered, begun, self.at(receive).times);
        let mut left = self.at(send).times;
        for (time, until) in left.iter_mut().zip(sending.until) {
            *time += f64::from(until);
        }
        let mut late_receiver = self.wait(begun, entered, left);
        // A send that is left before the receive is entered waited for nobody.
        if left[0] <= entered.times[0] {
            late_receiver.recorded = 0.0;
        }
        if left[1] <= entered.times[1] {
            (late_receiver.corrected, late_receiver.certain) = (0.0, 0.0);
        }
        self.of(receive).late_sender.add(late_sender);
        self.of(send).late_receiver.add(late_receiver);
    }

    fn of(&mut self, node: EventNode) -> &mut LaneWaits {
        let location = self.subject.nodes().location(node).as_usize();
        &mut self.by_location[location]
    }

    fn collectives(&mut self) {
        let collectives = self.subject.causality.collectives();
        let mut found = Vec::new();
        for instance in collectives.instances() {
            let participants = collectives.participants(instance);
            let is_barrier = collectives.operation(instance).class == Class::AllToAll;
            found.clear();
            // Who comes last may be another one by corrected times, as by recorded ones.
            for times in [0, 1] {
                let time = |node| match times {
                    0 => self.subject.recorded(node),
                    _ => self.subject.time(node),
                };
                let places = 0..participants.len();
                let visit = |cause, effect| found.push((times, cause, effect));
                collectives.latest_causes(instance, places, time, |place| place, visit);
            }
            for &(times, cause, effect) in &found {
                let slot = self.subject.causality.slot(effect);
                let own = slot.and_then(|it| participants[collectives.locate(it).1].cause());
                let wait = self.in_collective(cause, effect, own);
                let wait = match times {
                    0 => Wait {
                        corrected: 0.0,
                        certain: 0.0,
                        ..wait
                    },
                    _ => Wait {
                        recorded: 0.0,
                        ..wait
                    },
                };
                let waits = self.of(effect);
                let kind = if is_barrier {
                    &mut waits.barrier
                } else {
                    &mut waits.root
                };
                kind.add(wait);
            }
        }
    }

    /// From when a participant entered, or began if that is not known, to a begin.
    fn in_collective(&self, cause: EventNode, effect: EventNode, own: Option<EventNode>) -> Wait {
        let around = self.calls.around(effect);
        let entered = around.map(|it| self.entered(effect, it));
        let Some(from) = entered.or(own.map(|it| self.at(it))) else {
            return Wait::default();
        };
        self.wait(from, self.at(cause), self.at(effect).times)
    }
}
