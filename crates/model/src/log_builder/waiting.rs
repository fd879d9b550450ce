//! Waits of a location for messages while it did nothing else.

use super::LogBuilder;
use crate::foresight::append;
use crate::lasting::{HeldLater, Lasted};
use crate::log_node::LogNode;
use crate::time::{Ticks, Timestamp};

impl LogBuilder {
    /// When the receive that was reported last was complete, its location had done nothing else for
    /// so long; or it had taken part for so long in the operation whose end that was, and whose begin
    /// is no cause.
    #[inline]
    pub fn awaited(&mut self, lasted: Ticks) {
        if let Some(receive) = self.last() {
            self.keep(receive, Lasted::of(lasted));
        }
    }

    /// The receive that was reported last is complete by the same call as the one before it.
    #[inline]
    pub fn awaited_too(&mut self) {
        if let Some(receive) = self.last() {
            self.keep(receive, Lasted::SAME_CALL);
        }
    }

    /// The send that was reported last kept its location for so long: it went on to nothing else
    /// before.
    pub fn held(&mut self, lasted: Ticks) {
        if let Some(send) = self.last() {
            self.keep(send, Lasted::of(lasted));
        }
    }

    /// The location of an earlier send did nothing but wait for it to be complete, from one time to
    /// another.
    pub fn held_between(&mut self, send: LogNode, from: Timestamp, to: Timestamp) {
        let Some(&sent) = self.columns.times.get(send.index()) else {
            return;
        };
        self.keep(send, Lasted::of(ticks(sent, to)));
        let since = ticks(sent, from);
        if since > Ticks(0) {
            let since = Lasted::of(since);
            self.columns.held_later.push(HeldLater { send, since });
        }
    }

    #[inline]
    fn keep(&mut self, node: LogNode, lasted: Lasted) {
        let progress = self.progress();
        let column = &mut self.columns.lasted;
        while column.len() <= node.index() {
            append(column, Lasted::UNKNOWN, progress);
        }
        if let Some(own) = column.get_mut(node.index()) {
            *own = lasted;
        }
    }
}

/// The ticks from one stamp to a later one; none where it is not later.
fn ticks(from: Timestamp, to: Timestamp) -> Ticks {
    Ticks(i64::try_from(to.0.saturating_sub(from.0)).unwrap_or(i64::MAX))
}
