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
use retime_model::{Cancelled, LocationIndex, Monitor};

use super::LatenessJudge;
use super::sums::{Begun, WaitSums};
use super::visits::Late;
use crate::pace::Pace;

/// Locations are gone through in so many groups at most.
const GROUPS: usize = 64;

/// Messages that one call receives.
struct ReceivingCall {
    /// The first receive.
    first: EventNode,
    /// Since when it waited, and when the last receive was complete.
    asked: Begun,
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
        let found = groups.map(|group| {
            let mut own = WaitSums::default();
            let mut pace = Pace::of(monitor);
            for &location in group {
                self.messages_of(location, &mut own, &mut pace)?;
            }
            own.visits.shrink();
            Ok(own)
        });
        for own in found.collect::<Vec<Result<WaitSums, Cancelled>>>() {
            sums.merge(own?);
        }
        Ok(())
    }

    /// Notes who waited for messages that a location has received.
    fn messages_of(
        &self,
        location: LocationIndex,
        sums: &mut WaitSums,
        pace: &mut Pace<'_>,
    ) -> Result<(), Cancelled> {
        let mut call: Option<ReceivingCall> = None;
        let mut senders: Vec<Begun> = Vec::new();
        for it in self.causality.awaited_by(location) {
            pace.events(1)?;
            sums.message(self.processes.len(), [location, self.location(it.send)]);
            let [sent, received] = [it.send, it.receive].map(|it| self.at(it));
            let asked = |before: i64| Begun {
                time: received.time.saturating_sub(before.max(0)),
                end: Some(received.time),
                ..received
            };
            match call.as_mut().filter(|call| call.first == it.call) {
                Some(call) => {
                    sums.visits.took_part(&call.asked.stay(call.asked.time));
                    call.asked.end = Some(received.time);
                }
                None => {
                    self.received(sums, call.take(), &mut senders);
                    call = Some(ReceivingCall {
                        first: it.call,
                        asked: asked(it.lasted.0),
                    });
                }
            }
            senders.push(sent);
            self.sent(sums, &it, &sent, |posted| asked(posted));
        }
        self.received(sums, call, &mut senders);
        Ok(())
    }

    fn location(&self, node: EventNode) -> LocationIndex {
        self.causality.nodes().location(node)
    }

    /// Notes until when a call waited for what it received.
    fn received(&self, sums: &mut WaitSums, call: Option<ReceivingCall>, senders: &mut Vec<Begun>) {
        if let Some(call) = call
            && let Some(last) = senders.iter().rev().max_by_key(|it| it.time)
        {
            let others = senders.iter().filter(|it| it.process != last.process);
            self.kept(sums, last, &call.asked, others);
        }
        senders.clear();
    }

    /// Notes until when a send waited, given from when on its receive was under way.
    fn sent(
        &self,
        sums: &mut WaitSums,
        message: &AwaitedMessage,
        sent: &Begun,
        asked: impl Fn(i64) -> Begun,
    ) {
        let held = message.held.map(|it| {
            let held = Begun {
                time: sent.time.saturating_add(it.since.0.max(0)),
                end: Some(sent.time.saturating_add(it.lasted.0.max(0))),
                ..*sent
            };
            (held, asked(it.posted.0))
        });
        // Who goes on before the message is asked for does not wait for that.
        match held.filter(|(held, posted)| held.end >= Some(posted.time)) {
            Some((held, posted)) => self.kept(sums, &posted, &held, std::iter::empty()),
            None => sums.visits.took_part(&sent.stay(sent.time)),
        }
    }

    /// Notes until when somebody waited for the last of several.
    fn kept<'b>(
        &self,
        sums: &mut WaitSums,
        last: &Begun,
        who: &Begun,
        others: impl Iterator<Item = &'b Begun>,
    ) {
        let stay = who.stay(last.time);
        if stay.until <= stay.begin {
            sums.visits.took_part(&stay);
            return;
        }
        let place = Place {
            location: last.location,
            event: self.causality.nodes().event(last.node),
        };
        let beyond = self.beyond(last, who, others);
        let late = Late {
            last: place,
            process: last.process as u32,
            is_certain: beyond > 0.0,
            is_message: true,
        };
        sums.visits.add(late, self.causality, [stay]);
    }
}
