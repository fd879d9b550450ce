//! What a location waited for messages while it did nothing else.

use super::LogBuilder;
use crate::lasting::{AwaitedReceive, HeldSend, Hold};
use crate::log_node::LogNode;
use crate::time::{Ticks, Timestamp};

impl LogBuilder {
    /// The receive that was reported last was asked for so long before it was complete, and its
    /// location did nothing else meanwhile.
    pub fn awaited(&mut self, lasted: Ticks) {
        self.awaited_and_posted(lasted, lasted);
    }

    /// The receive that was reported last was complete when its location had done nothing else
    /// for so long; it may have been [posted](Self::receive_posted) before that.
    pub fn completion_awaited(&mut self, lasted: Ticks) {
        let place = self.columns.posted.get(self.last_place);
        let end = self.columns.times.last();
        let posted = place.zip(end).map(|(from, to)| ticks(*from, *to));
        self.awaited_and_posted(lasted, posted.unwrap_or(lasted).max(lasted));
    }

    fn awaited_and_posted(&mut self, lasted: Ticks, posted: Ticks) {
        if let Some(receive) = self.last() {
            self.columns.awaited.push(AwaitedReceive {
                receive,
                lasted,
                posted,
            });
        }
    }

    /// The send that was reported last kept its location for so long: it went on to nothing else
    /// before.
    pub fn held(&mut self, lasted: Ticks) {
        if let Some(send) = self.last() {
            let since = Ticks(0);
            let hold = Hold { since, lasted };
            self.columns.held.push(HeldSend { send, hold });
        }
    }

    /// The location of an earlier send did nothing but wait for it to be complete, from one time to
    /// another.
    pub fn held_between(&mut self, send: LogNode, from: Timestamp, to: Timestamp) {
        if let Some(&sent) = self.columns.times.get(send.index()) {
            let hold = Hold {
                since: ticks(sent, from),
                lasted: ticks(sent, to),
            };
            self.columns.held.push(HeldSend { send, hold });
        }
    }
}

/// The ticks from one stamp to a later one; none where it is not later.
fn ticks(from: Timestamp, to: Timestamp) -> Ticks {
    Ticks(i64::try_from(to.0.saturating_sub(from.0)).unwrap_or(i64::MAX))
}
