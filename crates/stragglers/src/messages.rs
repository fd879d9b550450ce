//! Who waited for messages, which are operations in which one waits.
//!
//! ```text
//! receiver   waited since it was [asked, received], until the last was sent, for who sent that
//! sender     waited since it was [held, went on], until posted, for the receiver
//! ```
//!
//! What one call receives it waits for at once, for the message that is sent last; that its sender is
//! *certainly* last takes that it is so beside all others of the call. Whether a send waits for its
//! receiver is up to the implementation: it did if it went on no earlier than the receive was posted. Of
//! what waited for nobody only that it took part is kept.

use rayon::prelude::*;

use retime_causality::merge::Merge;
use retime_causality::{AwaitedMessage, EventNode, Place};
use retime_model::{Cancelled, LocationIndex, Monitor, Ticks};

use super::LatenessJudge;
use super::exposed::exposed;
use super::sums::{Begun, WaitSums};
use super::visits::{Late, Passing, WaitedBy};
use super::waits::ProcessWaits;
use retime_model::pace::Pace;

/// Locations are gone through in so many groups at most.
const GROUPS: usize = 64;

/// Messages that one call receives.
struct ReceivingCall {
    /// The first receive.
    first: EventNode,
    /// Since when it waited, and when the last receive was complete.
    asked: i64,
    end: i64,
    /// The last send, and its time.
    last: (EventNode, i64),
}

/// The parts that locations took in messages: in how many, and those for which they did not wait.
#[derive(Clone, Copy, Default)]
struct Ends {
    messages: u64,
    passing: Passing,
}

impl LatenessJudge<'_> {
    /// Notes who waited for messages.
    pub(super) fn messages(
        &self,
        sums: &mut WaitSums,
        monitor: &dyn Monitor,
    ) -> Result<(), Cancelled> {
        let locations: Vec<LocationIndex> = (0..self.causality.nodes().locations() as u32)
            .map(LocationIndex)
            .collect();
        let groups = locations.par_chunks(locations.len().div_ceil(GROUPS).max(1));
        let found = groups.map(|group| self.messages_of(group, &mut Pace::of(monitor)));
        let found: Vec<WaitSums> = found.collect::<Result<_, Cancelled>>()?;
        sums.visits.reserve(found.iter().map(|it| &it.visits));
        for own in found {
            sums.merge(own);
        }
        Ok(())
    }

    /// Notes who waited for messages that some locations have received.
    fn messages_of(
        &self,
        group: &[LocationIndex],
        pace: &mut Pace<'_>,
    ) -> Result<WaitSums, Cancelled> {
        let mut sums = WaitSums::default();
        let mut ends: Vec<Ends> = Vec::new();
        for &location in group {
            self.received_by(location, &mut sums, &mut ends, pace)?;
        }
        sums.visits.sort();
        sums.visits.shrink();
        if !ends.is_empty() {
            sums.locations = vec![ProcessWaits::default(); ends.len()];
        }
        let own = sums.locations.iter_mut().zip(ends).enumerate();
        for (location, (own, ends)) in own {
            own.messages = ends.messages;
            sums.visits.passed(location, ends.passing);
        }
        Ok(sums)
    }

    fn received_by(
        &self,
        location: LocationIndex,
        sums: &mut WaitSums,
        ends: &mut Vec<Ends>,
        pace: &mut Pace<'_>,
    ) -> Result<(), Cancelled> {
        let nodes = self.causality.nodes();
        let time = |node: EventNode| nodes.relative(self.times[node.index()]).0;
        let mut call: Option<ReceivingCall> = None;
        let mut sends: Vec<EventNode> = Vec::new();
        let mut own = Ends::default();
        for it in self.causality.awaited_by(location) {
            pace.events(1)?;
            sums.messages += 1;
            own.messages += 1;
            let (sent, received) = (time(it.send), time(it.receive));
            if let Some(call) = call.as_mut().filter(|call| call.first == it.call) {
                own.passing.once(call.asked, received, 0);
                call.end = received;
                if sent > call.last.1 {
                    call.last = (it.send, sent);
                }
            } else {
                self.received(sums, call.take(), &mut sends, &mut own);
                call = Some(ReceivingCall {
                    first: it.call,
                    asked: received.saturating_sub(it.lasted.0.max(0)),
                    end: received,
                    last: (it.send, sent),
                });
            }
            sends.push(it.send);
            if ends.is_empty() {
                ends.resize(self.processes.len(), Ends::default());
            }
            if let Some(sender) = ends.get_mut(nodes.location(it.send).as_usize()) {
                sender.messages += 1;
                if let Some(transfer) = self.sent(sums, &it, sent) {
                    // A send that is waited for later on is none of what its call lasts.
                    let held = self.causality.held(&it).filter(|it| it.since == Ticks(0));
                    let lasted = held.map_or(0, |it| it.lasted.0);
                    sender
                        .passing
                        .call(sent, sent.saturating_add(lasted), transfer);
                }
            }
        }
        self.received(sums, call, &mut sends, &mut own);
        if let Some(ends) = ends.get_mut(location.as_usize()) {
            ends.messages += own.messages;
            ends.passing.add(own.passing);
        }
        Ok(())
    }

    /// Notes until when a call waited for what it received.
    fn received(
        &self,
        sums: &mut WaitSums,
        call: Option<ReceivingCall>,
        sends: &mut Vec<EventNode>,
        own: &mut Ends,
    ) {
        if let Some(call) = call {
            if call.last.1.min(call.end) > call.asked {
                let asked = Begun {
                    time: call.asked,
                    end: Some(call.end),
                    ..self.at(call.first)
                };
                let last = self.at(call.last.0);
                let others = sends.iter().map(|it| self.at(*it));
                let others = others.filter(|it| it.process != last.process);
                self.kept(sums, &last, &asked, others);
            } else {
                let lasted = call.end.saturating_sub(call.asked);
                let transfer = exposed(self.causality, call.first, 0, lasted);
                own.passing.call(call.asked, call.end, transfer);
            }
        }
        sends.clear();
    }

    /// Notes until when a send waited; if it did not, the ticks that its transfer took.
    fn sent(&self, sums: &mut WaitSums, message: &AwaitedMessage, sent: i64) -> Option<u64> {
        let Some(hold) = self.causality.held(message) else {
            return Some(0);
        };
        let (asked, send) = (self.at(message.receive), self.at(message.send));
        let posted = Begun {
            time: asked.time.saturating_sub(hold.posted.0.max(0)),
            end: Some(asked.time),
            ..asked
        };
        let held = Begun {
            time: sent.saturating_add(hold.since.0.max(0)),
            end: Some(sent.saturating_add(hold.lasted.0.max(0))),
            ..send
        };
        // Who goes on before the message is asked for does not wait for that.
        let waits = held.end >= Some(posted.time) && posted.time > held.time;
        if waits {
            self.kept(sums, &posted, &held, std::iter::empty());
            return None;
        }
        let [since, lasted] = [hold.since.0.max(0), hold.lasted.0.max(0)];
        Some(exposed(self.causality, message.send, since, lasted))
    }

    /// Notes until when somebody waited for the last of several.
    fn kept(
        &self,
        sums: &mut WaitSums,
        last: &Begun,
        who: &Begun,
        others: impl Iterator<Item = Begun>,
    ) {
        let place = Place {
            location: last.location,
            event: self.causality.nodes().event(last.node),
        };
        let late = Late {
            process: last.process as u32,
            is_certain: self.beyond(last, who, others) > 0.0,
            waited_by: WaitedBy::One,
        };
        let stay = who.stay(last.time);
        sums.visits.add(place, late, self.causality, [stay]);
    }
}
