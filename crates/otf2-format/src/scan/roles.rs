//! Decodes the events with a role in happened-before: messages and their
//! requests, matching probes and receives of what they found, collectives that
//! block and that do not.

use std::mem::ManuallyDrop;

use retime_model::{Collective, Length, LogBuilder, Message, Operation, Root, Timestamp};
use retime_otf2::schema::event_code as code;
use retime_otf2::{
    CollectiveOp, CollectiveRoot, CommRef, EventData, Glance, MeasurementMode, WireError,
};

use super::one_sided::one_sided;
use super::partners::Partners;
use super::postings::Postings;
use super::twice::{CollectiveRecord, Twice};
use super::waiting::Waiting;

/// Handle of communicators that are not defined.
const UNDEFINED: u32 = u32::MAX;

macro_rules! with_role {
    ($($role:ident of $($name:ident)*;)*) => {
        /// The codes of events with a role.
        pub(super) const CODES: &[u8] = &[$($(code::$name),*),*];

        /// Decodes an event if it has a role, and hands it to the log.
        // A call for each event takes a tenth of the time.
        #[inline(always)]
        pub(super) fn report(
            event: Glance<'_>,
            time: Timestamp,
            partners: &mut Partners<'_>,
            postings: &mut Postings<'_>,
            waiting: &mut Waiting<'_>,
            twice: &mut Twice,
            log: &mut LogBuilder,
        ) -> Result<(), WireError> {
            match event.code {
                $($(code::$name => {
                    $role::<{ code::$name }>(event, time, partners, postings, waiting, twice, log)
                })*)*
                _ => Ok(()),
            }
        }
    };
}

with_role! {
    send of MpiSend MpiIsend MpiIsendComplete;
    receive of MpiIrecvRequest MpiRecv MpiIrecv MpiRequestCancelled;
    probed of MpiProbe MpiMrecv MpiImrecvRequest MpiImrecv;
    operation of MpiCollectiveBegin MpiCollectiveEnd
        NonBlockingCollectiveRequest NonBlockingCollectiveComplete MeasurementOnOff;
    one_sided of RmaCollectiveBegin RmaCollectiveEnd RmaGroupSync RmaRequestLock
        RmaAcquireLock RmaTryLock RmaPut RmaGet RmaAtomic;
}

/// The role of events with the code `CODE`, one of those of sends.
#[expect(
    clippy::inline_always,
    reason = "an event that is handed on by reference is read back from memory"
)]
#[inline(always)]
fn send<const CODE: u8>(
    event: Glance<'_>,
    time: Timestamp,
    partners: &mut Partners<'_>,
    postings: &mut Postings<'_>,
    waiting: &mut Waiting<'_>,
    twice: &mut Twice,
    log: &mut LogBuilder,
) -> Result<(), WireError> {
    let number = event.number;
    // Records of messages own nothing. What is dropped has to lie in memory.
    let data = ManuallyDrop::new(event.data_of::<CODE>()?);
    match *data {
        EventData::MpiSend {
            receiver,
            communicator,
            tag,
            length,
        } => match partners.message(communicator, receiver, tag) {
            Some(message) => {
                log.send(number, time, message, None);
                log.sent(Length::of(length));
                twice.sent(length);
                postings.sent();
                waiting.sent(log);
            }
            None => log.unresolved(number),
        },
        EventData::MpiIsend {
            receiver,
            communicator,
            tag,
            length,
            request,
        } => match partners.message(communicator, receiver, tag) {
            Some(message) => {
                log.send(number, time, message, Some(request));
                log.sent(Length::of(length));
                twice.sent(length);
                postings.sent();
            }
            None => log.send_unresolved(number, request),
        },
        EventData::MpiIsendComplete { request } => {
            if let Some(send) = log.send_completed(number, request) {
                waiting.completed(send, time);
            }
        }
        _ => {}
    }
    Ok(())
}

/// The role of events with the code `CODE`, one of those of receives or of requests that are given
/// up.
#[expect(
    clippy::inline_always,
    reason = "an event that is handed on by reference is read back from memory"
)]
#[inline(always)]
fn receive<const CODE: u8>(
    event: Glance<'_>,
    time: Timestamp,
    partners: &mut Partners<'_>,
    postings: &mut Postings<'_>,
    waiting: &mut Waiting<'_>,
    twice: &mut Twice,
    log: &mut LogBuilder,
) -> Result<(), WireError> {
    let number = event.number;
    // Records of messages own nothing. What is dropped has to lie in memory.
    let data = ManuallyDrop::new(event.data_of::<CODE>()?);
    match *data {
        EventData::MpiRecv {
            sender,
            communicator,
            tag,
            length,
        } => match partners.message(communicator, sender, tag) {
            Some(message) => {
                log.receive(number, time, message);
                postings.received(log);
                log.received(Length::of(length));
                twice.received(length);
                waiting.received(time, log);
            }
            None => log.unresolved(number),
        },
        EventData::MpiIrecv {
            sender,
            communicator,
            tag,
            length,
            request,
        } => {
            if let Some(message) = partners.message(communicator, sender, tag) {
                log.receive_completed(number, time, message, request);
                log.received(Length::of(length));
                twice.received(length);
                waiting.received(time, log);
            } else {
                log.receive_unresolved(number, request);
            }
        }
        EventData::MpiIrecvRequest { request } => {
            postings.requested(number, time, request, log);
        }
        EventData::MpiRequestCancelled { request } => {
            log.request_cancelled(request);
        }
        _ => {}
    }
    Ok(())
}

/// The role of events with the code `CODE`, one of those of matching probes or of receives of what
/// they found.
#[expect(
    clippy::inline_always,
    reason = "an event that is handed on by reference is read back from memory"
)]
#[inline(always)]
fn probed<const CODE: u8>(
    event: Glance<'_>,
    time: Timestamp,
    partners: &mut Partners<'_>,
    postings: &mut Postings<'_>,
    waiting: &mut Waiting<'_>,
    twice: &mut Twice,
    log: &mut LogBuilder,
) -> Result<(), WireError> {
    let number = event.number;
    // Records of messages own nothing. What is dropped has to lie in memory.
    let data = ManuallyDrop::new(event.data_of::<CODE>()?);
    match *data {
        EventData::MpiProbe {
            sender,
            communicator,
            tag,
            message,
        } => match partners.message(communicator, sender, tag) {
            Some(probed) => {
                log.message_probed(time, probed, message);
                postings.probed(log);
            }
            None => log.unresolved(number),
        },
        EventData::MpiMrecv { message, length } => {
            let before = log.len();
            log.probed_received(number, time, message);
            log.received(Length::of(length));
            twice.received(length);
            if log.len() > before {
                waiting.received(time, log);
            }
        }
        EventData::MpiImrecvRequest { message, request } => {
            log.probed_receive_posted(message, request);
        }
        EventData::MpiImrecv { request, length } => {
            let before = log.len();
            log.probed_receive_completed(number, time, request);
            log.received(Length::of(length));
            twice.received(length);
            if log.len() > before {
                waiting.received(time, log);
            }
        }
        _ => {}
    }
    Ok(())
}

/// The role of events with the code `CODE`, one of those of collectives and of the
/// recording itself.
fn operation<const CODE: u8>(
    event: Glance<'_>,
    time: Timestamp,
    partners: &mut Partners<'_>,
    _: &mut Postings<'_>,
    waiting: &mut Waiting<'_>,
    twice: &mut Twice,
    log: &mut LogBuilder,
) -> Result<(), WireError> {
    let number = event.number;
    match event.data_of::<CODE>()? {
        EventData::MeasurementOnOff { measurement_mode } => {
            partners.windows.missed();
            waiting.missed();
            match measurement_mode {
                MeasurementMode::OFF => log.recording_off(time),
                MeasurementMode::ON => log.recording_on(time),
                _ => {}
            }
        }
        EventData::MpiCollectiveBegin => log.collective_begin(number, time),
        EventData::MpiCollectiveEnd {
            collective_op,
            communicator,
            root,
            size_sent,
            size_received,
        } => {
            let what = CollectiveRecord {
                operation: collective_op,
                root,
                sent: size_sent,
                received: size_received,
            };
            twice.collective(what);
            let what = collective(what, communicator, partners);
            log.collective_end(number, time, what);
        }
        EventData::NonBlockingCollectiveRequest { request } => {
            log.collective_posted(number, time, request);
        }
        EventData::NonBlockingCollectiveComplete {
            collective_op,
            communicator,
            root,
            size_sent,
            size_received,
            request,
        } => {
            let what = CollectiveRecord {
                operation: collective_op,
                root,
                sent: size_sent,
                received: size_received,
            };
            twice.collective(what);
            let what = collective(what, communicator, partners);
            log.collective_completed(number, time, what, request);
        }
        _ => {}
    }
    Ok(())
}

impl Partners<'_> {
    /// A message to or from a rank; `None` if nobody has it.
    #[inline]
    fn message(&mut self, communicator: CommRef, rank: u32, tag: u32) -> Option<Message> {
        let comm = self.comm(communicator)?;
        let peer = comm.location(rank)?;
        Some(Message {
            communicator: comm.handle,
            peer,
            tag,
        })
    }
}

fn collective(
    what: CollectiveRecord,
    communicator: CommRef,
    partners: &mut Partners<'_>,
) -> Collective {
    let comm = partners.comm(communicator);
    Collective {
        // What is not defined must still end what has begun.
        communicator: comm.map_or(UNDEFINED, |comm| comm.handle),
        operation: operation_of(what.operation),
        root: root_of(what.root),
        sent: what.sent > 0,
        received: what.received > 0,
    }
}

const fn root_of(root: CollectiveRoot) -> Root {
    match root {
        CollectiveRoot::None => Root::None,
        CollectiveRoot::Itself => Root::Own,
        CollectiveRoot::ThisGroup => Root::OwnGroup,
        CollectiveRoot::Rank(rank) => Root::Rank(rank),
    }
}

const fn operation_of(op: CollectiveOp) -> Operation {
    match op {
        CollectiveOp::BARRIER => Operation::Barrier,
        CollectiveOp::BCAST => Operation::Bcast,
        CollectiveOp::GATHER => Operation::Gather,
        CollectiveOp::GATHERV => Operation::Gatherv,
        CollectiveOp::SCATTER => Operation::Scatter,
        CollectiveOp::SCATTERV => Operation::Scatterv,
        CollectiveOp::ALLGATHER => Operation::Allgather,
        CollectiveOp::ALLGATHERV => Operation::Allgatherv,
        CollectiveOp::ALLTOALL => Operation::Alltoall,
        CollectiveOp::ALLTOALLV => Operation::Alltoallv,
        CollectiveOp::ALLTOALLW => Operation::Alltoallw,
        CollectiveOp::ALLREDUCE => Operation::Allreduce,
        CollectiveOp::REDUCE => Operation::Reduce,
        CollectiveOp::REDUCE_SCATTER => Operation::ReduceScatter,
        CollectiveOp::REDUCE_SCATTER_BLOCK => Operation::ReduceScatterBlock,
        CollectiveOp::SCAN => Operation::Scan,
        CollectiveOp::EXSCAN => Operation::Exscan,
        CollectiveOp::CREATE_HANDLE | CollectiveOp::CREATE_HANDLE_AND_ALLOCATE => {
            Operation::CreateHandle
        }
        CollectiveOp::DESTROY_HANDLE | CollectiveOp::DESTROY_HANDLE_AND_DEALLOCATE => {
            Operation::FreeHandle
        }
        _ => Operation::Other,
    }
}
