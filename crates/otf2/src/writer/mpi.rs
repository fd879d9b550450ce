//! Events of MPI with what they have in common: messages and collectives.

use super::{failure::WriteResult, location::LocationWriter};
use crate::enums::{CollectiveOp, CollectiveRoot};
use crate::refs::CommRef;
use crate::schema::EventData;

/// A message, as seen by one of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Rank of the other end in the communicator.
    pub peer: u32,
    /// The communicator.
    pub comm: CommRef,
    /// The tag.
    pub tag: u32,
    /// Bytes sent or received.
    pub length: u64,
}

/// A collective operation, as seen by one of its members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collective {
    /// The operation.
    pub op: CollectiveOp,
    /// The communicator.
    pub comm: CommRef,
    /// The root.
    pub root: CollectiveRoot,
    /// Bytes this member sent.
    pub sent: u64,
    /// Bytes this member received.
    pub received: u64,
}

/// Short forms of [`event`](LocationWriter::event) for MPI.
impl LocationWriter {
    /// A blocking send.
    pub fn send(&mut self, time: u64, message: Message) -> WriteResult {
        let send = EventData::MpiSend {
            receiver: message.peer,
            communicator: message.comm,
            tag: message.tag,
            length: message.length,
        };
        self.event(time, &send)
    }

    /// A non-blocking send is started.
    pub fn isend(&mut self, time: u64, message: Message, request: u64) -> WriteResult {
        let send = EventData::MpiIsend {
            receiver: message.peer,
            communicator: message.comm,
            tag: message.tag,
            length: message.length,
            request,
        };
        self.event(time, &send)
    }

    /// A non-blocking send is complete.
    pub fn isend_complete(&mut self, time: u64, request: u64) -> WriteResult {
        self.event(time, &EventData::MpiIsendComplete { request })
    }

    /// A non-blocking receive is started.
    pub fn irecv_request(&mut self, time: u64, request: u64) -> WriteResult {
        self.event(time, &EventData::MpiIrecvRequest { request })
    }

    /// A blocking receive.
    pub fn recv(&mut self, time: u64, message: Message) -> WriteResult {
        let receive = EventData::MpiRecv {
            sender: message.peer,
            communicator: message.comm,
            tag: message.tag,
            length: message.length,
        };
        self.event(time, &receive)
    }

    /// A non-blocking receive is complete.
    pub fn irecv(&mut self, time: u64, message: Message, request: u64) -> WriteResult {
        let receive = EventData::MpiIrecv {
            sender: message.peer,
            communicator: message.comm,
            tag: message.tag,
            length: message.length,
            request,
        };
        self.event(time, &receive)
    }

    /// A collective operation ends.
    pub fn collective_end(&mut self, time: u64, collective: Collective) -> WriteResult {
        let end = EventData::MpiCollectiveEnd {
            collective_op: collective.op,
            communicator: collective.comm,
            root: collective.root,
            size_sent: collective.sent,
            size_received: collective.received,
        };
        self.event(time, &end)
    }

    /// A non-blocking collective operation is complete.
    pub fn non_blocking_collective_complete(
        &mut self,
        time: u64,
        collective: Collective,
        request: u64,
    ) -> WriteResult {
        let complete = EventData::NonBlockingCollectiveComplete {
            collective_op: collective.op,
            communicator: collective.comm,
            root: collective.root,
            size_sent: collective.sent,
            size_received: collective.received,
            request,
        };
        self.event(time, &complete)
    }
}
