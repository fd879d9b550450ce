//! An event with its time, as what follows a location hands it on to the log.

use retime_model::{LogBuilder, LogNode, Role, Timestamp};

/// The event that a location is at, by its number, and the time of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) event: u64,
    pub(super) time: Timestamp,
}

impl Moment {
    /// Logs the event as the begin of an operation of several.
    pub(super) fn begin(self, log: &mut LogBuilder) -> LogNode {
        self.takes_part(Role::CollectiveBegin, log)
    }

    /// Logs the event as the end of an operation of several.
    pub(super) fn end(self, log: &mut LogBuilder) -> LogNode {
        self.takes_part(Role::CollectiveEnd, log)
    }

    /// Logs the event as one that others wait for.
    pub(super) fn send(self, log: &mut LogBuilder) -> LogNode {
        self.takes_part(Role::Send, log)
    }

    /// Logs the event as one that waits for another.
    pub(super) fn receive(self, log: &mut LogBuilder) -> LogNode {
        self.takes_part(Role::Receive, log)
    }

    fn takes_part(self, role: Role, log: &mut LogBuilder) -> LogNode {
        log.takes_part(self.event, self.time, role)
    }
}
