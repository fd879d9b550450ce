//! Events of MPI: messages, requests, collectives, communicators.

use super::{
    encode::Payload,
    failure::Result,
    handles::{CommRef, UNDEFINED},
    kinds::CollectiveOp,
    location::LocationWriter,
};

const SEND: u8 = 14;
const ISEND: u8 = 15;
const ISEND_COMPLETE: u8 = 16;
const IRECV_REQUEST: u8 = 17;
const RECV: u8 = 18;
const IRECV: u8 = 19;
const REQUEST_TEST: u8 = 20;
const REQUEST_CANCELLED: u8 = 21;
const COLLECTIVE_BEGIN: u8 = 22;
const COLLECTIVE_END: u8 = 23;
const NON_BLOCKING_COLLECTIVE_REQUEST: u8 = 85;
const NON_BLOCKING_COLLECTIVE_COMPLETE: u8 = 86;
const COMM_CREATE: u8 = 87;
const COMM_DESTROY: u8 = 88;
const PROBE: u8 = 89;
const MRECV: u8 = 90;
const IMRECV_REQUEST: u8 = 91;
const IMRECV: u8 = 92;

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
    pub root: Root,
    /// Bytes this member sent.
    pub sent: u64,
    /// Bytes this member received.
    pub received: u64,
}

/// The root of a collective operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// The operation has none.
    None,
    /// This rank of the communicator.
    Rank(u32),
    /// This process is the root, in an intercommunicator.
    Itself,
    /// The root is in this process's group of an intercommunicator.
    ThisGroup,
}

impl Root {
    fn code(self) -> u32 {
        match self {
            Self::None => UNDEFINED,
            Self::Itself => UNDEFINED - 1,
            Self::ThisGroup => UNDEFINED - 2,
            Self::Rank(rank) => rank,
        }
    }
}

/// MPI.
impl LocationWriter {
    /// A blocking send.
    pub fn send(&mut self, time: u64, message: Message) -> Result<()> {
        put_message(self.start(), message);
        self.commit(time, SEND)
    }

    /// A non-blocking send is started.
    pub fn isend(&mut self, time: u64, message: Message, request: u64) -> Result<()> {
        put_message(self.start(), message).c64(request);
        self.commit(time, ISEND)
    }

    /// A non-blocking send is complete.
    pub fn isend_complete(&mut self, time: u64, request: u64) -> Result<()> {
        self.request(time, ISEND_COMPLETE, request)
    }

    /// A non-blocking receive is started.
    pub fn irecv_request(&mut self, time: u64, request: u64) -> Result<()> {
        self.request(time, IRECV_REQUEST, request)
    }

    /// A blocking receive.
    pub fn recv(&mut self, time: u64, message: Message) -> Result<()> {
        put_message(self.start(), message);
        self.commit(time, RECV)
    }

    /// A non-blocking receive is complete.
    pub fn irecv(&mut self, time: u64, message: Message, request: u64) -> Result<()> {
        put_message(self.start(), message).c64(request);
        self.commit(time, IRECV)
    }

    /// A request is tested and not yet complete.
    pub fn request_test(&mut self, time: u64, request: u64) -> Result<()> {
        self.request(time, REQUEST_TEST, request)
    }

    /// A request is cancelled.
    pub fn request_cancelled(&mut self, time: u64, request: u64) -> Result<()> {
        self.request(time, REQUEST_CANCELLED, request)
    }

    /// A collective operation begins.
    pub fn collective_begin(&mut self, time: u64) -> Result<()> {
        self.start();
        self.commit(time, COLLECTIVE_BEGIN)
    }

    /// A collective operation ends.
    pub fn collective_end(&mut self, time: u64, collective: Collective) -> Result<()> {
        put_collective(self.start(), collective);
        self.commit(time, COLLECTIVE_END)
    }

    /// A non-blocking collective operation is started.
    pub fn non_blocking_collective_request(&mut self, time: u64, request: u64) -> Result<()> {
        self.start().c64(request);
        self.commit(time, NON_BLOCKING_COLLECTIVE_REQUEST)
    }

    /// A non-blocking collective operation is complete.
    pub fn non_blocking_collective_complete(
        &mut self,
        time: u64,
        collective: Collective,
        request: u64,
    ) -> Result<()> {
        put_collective(self.start(), collective).c64(request);
        self.commit(time, NON_BLOCKING_COLLECTIVE_COMPLETE)
    }

    /// A communicator is created.
    pub fn comm_create(&mut self, time: u64, comm: CommRef) -> Result<()> {
        self.start().c32(comm.0);
        self.commit(time, COMM_CREATE)
    }

    /// A communicator is destroyed.
    pub fn comm_destroy(&mut self, time: u64, comm: CommRef) -> Result<()> {
        self.start().c32(comm.0);
        self.commit(time, COMM_DESTROY)
    }

    /// A message is matched by a probe (OTF2 3.2). Its length is not recorded.
    pub fn probe(&mut self, time: u64, message: Message, id: u64) -> Result<()> {
        self.start()
            .c32(message.peer)
            .c32(message.comm.0)
            .c32(message.tag)
            .c64(id);
        self.commit(time, PROBE)
    }

    /// A probed message is received (OTF2 3.2).
    pub fn mrecv(&mut self, time: u64, id: u64, length: u64) -> Result<()> {
        self.start().c64(id).c64(length);
        self.commit(time, MRECV)
    }

    /// The receive of a probed message is started (OTF2 3.2).
    pub fn imrecv_request(&mut self, time: u64, id: u64, request: u64) -> Result<()> {
        self.start().c64(id).c64(request);
        self.commit(time, IMRECV_REQUEST)
    }

    /// The receive of a probed message is complete (OTF2 3.2).
    pub fn imrecv(&mut self, time: u64, request: u64, length: u64) -> Result<()> {
        self.start().c64(request).c64(length);
        self.commit(time, IMRECV)
    }

    fn request(&mut self, time: u64, code: u8, request: u64) -> Result<()> {
        self.start().c64(request);
        self.commit(time, code)
    }
}

fn put_message(payload: &mut Payload, message: Message) -> &mut Payload {
    payload
        .c32(message.peer)
        .c32(message.comm.0)
        .c32(message.tag)
        .c64(message.length)
}

fn put_collective(payload: &mut Payload, collective: Collective) -> &mut Payload {
    payload
        .u8(collective.op as u8)
        .c32(collective.comm.0)
        .c32(collective.root.code())
        .c64(collective.sent)
        .c64(collective.received)
}
