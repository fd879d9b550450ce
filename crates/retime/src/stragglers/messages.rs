//! Who waited for messages, which are operations of two in which one waits.
//!
//! ```text
//! receiver   waited since it was [asked, received], until sent, for the sender
//! sender     waited since it was [held, went on], until posted, for the receiver
//! ```
//!
//! Whether a send waits for its receiver is up to the implementation: it did if it went on no earlier
//! than the receive was posted. Of what waited for nobody only that it took part is kept.

use retime_causality::{AwaitedMessage, Place};
use retime_model::{Cancelled, Monitor};

use super::LatenessJudge;
use super::sums::{Begun, WaitSums};
use super::visits::Late;
use super::waits::ProcessWaits;
use crate::pace::Pace;

impl LatenessJudge<'_> {
    /// Notes who waited for messages.
    pub(super) fn messages(
        &self,
        sums: &mut WaitSums,
        monitor: &dyn Monitor,
    ) -> Result<(), Cancelled> {
        let mut pace = Pace::of(monitor);
        for it in self.causality.awaited() {
            pace.events(1)?;
            sums.messages += 1;
            sums.locations
                .resize(self.info.locations.len(), ProcessWaits::default());
            self.message(sums, it);
        }
        Ok(())
    }

    fn message(&self, sums: &mut WaitSums, message: AwaitedMessage) {
        let [sent, received] = [message.send, message.receive].map(|it| self.at(it));
        let asked = |before: i64| Begun {
            time: received.time.saturating_sub(before.max(0)),
            end: Some(received.time),
            ..received
        };
        self.kept(sums, &sent, &asked(message.lasted.0));
        let posted = asked(message.posted.0);
        let held = message.held.map(|it| Begun {
            time: sent.time.saturating_add(it.since.0.max(0)),
            end: Some(sent.time.saturating_add(it.lasted.0.max(0))),
            ..sent
        });
        // Who goes on before the message is asked for does not wait for that.
        match held.filter(|it| it.end >= Some(posted.time)) {
            Some(held) => self.kept(sums, &posted, &held),
            None => sums.visits.took_part(&sent.stay(sent.time)),
        }
        for end in [&sent, &received] {
            if let Some(own) = sums.locations.get_mut(end.location.as_usize()) {
                own.messages += 1;
            }
        }
    }

    /// Notes until when one end of a message waited for the other.
    fn kept(&self, sums: &mut WaitSums, by: &Begun, who: &Begun) {
        let stay = who.stay(by.time);
        if stay.until <= stay.begin {
            sums.visits.took_part(&stay);
            return;
        }
        let place = Place {
            location: by.location,
            event: self.causality.nodes().event(by.node),
        };
        let beyond = self.beyond(by, who, std::iter::empty());
        let late = Late {
            last: place,
            process: by.process as u32,
            is_certain: beyond > 0.0,
            is_message: true,
        };
        sums.visits.add(late, self.causality, [stay]);
    }
}
