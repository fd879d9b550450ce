//! Messages that were awaited, as far as it is recorded since when.

use retime_model::{Lasted, LocationIndex, Role, Ticks, Timestamp};

use crate::happened_before::Causality;
use crate::ids::EventNode;

/// A message, and for how long it was awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AwaitedMessage {
    /// Its send.
    pub send: EventNode,
    /// Its receive, which is complete there.
    pub receive: EventNode,
    /// The first receive that was completed by the same call.
    pub call: EventNode,
    /// The ticks for which the location had done nothing else by then.
    pub lasted: Ticks,
}

/// The stretch of time in which a location waited for its send to be complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The ticks from the send to its begin.
    pub since: Ticks,
    /// The ticks from the send to its end, when the location went on.
    pub lasted: Ticks,
    /// The ticks from where the receive was asked for to where it was complete.
    pub posted: Ticks,
}

impl Causality {
    /// Messages of which it is recorded for how long their location had done nothing else when their
    /// receive was complete; of receives that are no ghosts.
    pub fn awaited(&self) -> impl Iterator<Item = AwaitedMessage> + '_ {
        let locations = (0..self.nodes.locations() as u32).map(LocationIndex);
        locations.flat_map(|it| self.awaited_by(it))
    }

    /// The [awaited messages](Self::awaited) that a location has received, in its order.
    pub fn awaited_by(&self, location: LocationIndex) -> impl Iterator<Item = AwaitedMessage> + '_ {
        let nodes = &self.nodes;
        let known = nodes.of(location.as_usize()).zip(self.waits.of(location));
        let mut call: Option<(EventNode, Timestamp)> = None;
        known.filter_map(move |(receive, lasted)| {
            if *lasted == Lasted::UNKNOWN || nodes.role(receive) != Role::Receive {
                return None;
            }
            let at = nodes.timestamp(receive);
            let (first, since) = match lasted.ticks() {
                Some(ticks) => {
                    let ticks = ticks.0.unsigned_abs();
                    *call.insert((receive, Timestamp(at.0.saturating_sub(ticks))))
                }
                None => call?,
            };
            let send = self.message_source(receive)?;
            let lasted = Ticks(i64::try_from(at.0.saturating_sub(since.0)).unwrap_or(i64::MAX));
            Some(AwaitedMessage {
                send,
                receive,
                call: first,
                lasted,
            })
        })
    }

    /// The ticks for which the location of the end of an operation had taken part in it by then, if that
    /// is recorded: of those for whose begin nobody waits.
    pub fn taken_part(&self, end: EventNode) -> Option<Ticks> {
        self.waits.lasted(end, &self.nodes)
    }

    /// The stretch of time for which the send of a message kept its location, if that is recorded.
    #[inline]
    pub fn held(&self, message: &AwaitedMessage) -> Option<Hold> {
        let AwaitedMessage {
            send,
            receive,
            lasted,
            ..
        } = *message;
        let kept = self.waits.kept(send, &self.nodes)?;
        Some(Hold {
            since: self.waits.kept_since(send),
            lasted: kept,
            posted: self.waits.under_way(receive).max(lasted),
        })
    }
}
