//! Collective operations of a location: each end is joined with its begin, that of a blocking call
//! with the one that is open, that of a non-blocking one with its posting, by request.

use super::LogBuilder;
use crate::defect::Defect;
use crate::foresight::append;
use crate::log::{Call, NamedOperation, OperationPart};
use crate::log_node::LogNode;
use crate::role::{Collective, Role};
use crate::time::Timestamp;

impl LogBuilder {
    /// A blocking collective is entered.
    pub fn collective_begin(&mut self, event: u64, time: Timestamp) {
        let node = self.push(event, time, Role::CollectiveBegin);
        if let Some(begin) = self.open_begin.replace(node) {
            self.never_ended(begin);
        }
    }

    /// A blocking collective is left.
    pub fn collective_end(&mut self, event: u64, time: Timestamp, what: Collective) {
        let end = self.push(event, time, Role::CollectiveEnd);
        let begin = self.open_begin.take();
        let end = Some(end);
        self.join(event, Call { what, begin, end });
    }

    /// A blocking collective is left that says nothing to anybody.
    pub fn collective_left_out(&mut self) {
        self.open_begin = None;
    }

    /// A non-blocking collective is posted.
    pub fn collective_posted(&mut self, event: u64, time: Timestamp, request: u64) {
        let node = self.push(event, time, Role::CollectiveBegin);
        if self.open_collectives.insert(request, node).is_some() {
            self.note(Defect::RequestReused, event);
        }
    }

    /// A non-blocking collective is complete.
    pub fn collective_completed(
        &mut self,
        event: u64,
        time: Timestamp,
        what: Collective,
        request: u64,
    ) {
        let end = self.push(event, time, Role::CollectiveEnd);
        let begin = self.open_collectives.remove(request);
        let end = Some(end);
        self.join(event, Call { what, begin, end });
    }

    fn join(&mut self, event: u64, call: Call) {
        if call.begin.is_none() {
            self.note(Defect::CollectiveWithoutBegin, event);
        }
        self.called(call);
    }

    /// An event with a role of which more is said later: by [`called`](Self::called), or
    /// by code that knows the logs of other locations, in the columns of the finished one.
    pub fn takes_part(&mut self, event: u64, time: Timestamp, role: Role) -> LogNode {
        self.push(event, time, role)
    }

    /// The location took part in an operation of several, with a begin, an end or both
    /// that [`takes_part`](Self::takes_part) returned.
    pub fn called(&mut self, call: Call) {
        let progress = self.progress();
        append(&mut self.columns.calls, call, progress);
    }

    /// A begin, on which others depend, of an operation that the trace names.
    pub fn named_begin(&mut self, event: u64, time: Timestamp, part: OperationPart) {
        let node = self.push(event, time, Role::CollectiveBegin);
        self.name_operation(node, part);
    }

    /// An end, which depends on others, of an operation that the trace names; as
    /// [`named_begin`](Self::named_begin).
    pub fn named_end(&mut self, event: u64, time: Timestamp, part: OperationPart) {
        let node = self.push(event, time, Role::CollectiveEnd);
        self.name_operation(node, part);
    }

    fn name_operation(&mut self, node: LogNode, part: OperationPart) {
        let OperationPart {
            id,
            class,
            rank,
            expected,
        } = part;
        self.columns.named_operations.push(NamedOperation {
            id,
            class,
            rank,
            expected,
            node,
        });
    }
}
