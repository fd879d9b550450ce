//! Decodes the events with a role in happened-before.
//!
//! | codes | events |
//! | --- | --- |
//! | 14 to 19, 21 | messages, their requests |
//! | 22, 23 | blocking collectives |
//! | 85, 86 | non-blocking collectives |
//! | 89 to 92 | matching probes and receives of what they found |

use retime_model::Timestamp;
use retime_model::{Collective, LogBuilder, Message, Operation, Root};

use super::partners::Partners;
use crate::enums::CollectiveOp;
use crate::error::WireError;
use crate::wire::Cursor;

const SEND: u8 = 14;
const ISEND: u8 = 15;
const ISEND_COMPLETE: u8 = 16;
const IRECV_REQUEST: u8 = 17;
const RECV: u8 = 18;
const IRECV: u8 = 19;
const REQUEST_CANCELLED: u8 = 21;
const COLLECTIVE_BEGIN: u8 = 22;
const COLLECTIVE_END: u8 = 23;
const COLLECTIVE_REQUEST: u8 = 85;
const COLLECTIVE_COMPLETE: u8 = 86;
const PROBE: u8 = 89;
const MRECV: u8 = 90;
const IMRECV_REQUEST: u8 = 91;
const IMRECV: u8 = 92;

/// Handle of communicators that are not defined.
const UNDEFINED: u32 = u32::MAX;

/// Whether an event must be decoded.
#[inline]
pub(super) const fn has_role(code: u8) -> bool {
    matches!(
        code,
        SEND..=IRECV
            | REQUEST_CANCELLED..=COLLECTIVE_END
            | COLLECTIVE_REQUEST
            | COLLECTIVE_COMPLETE
            | PROBE..=IMRECV
    )
}

/// Number and time of an event.
type When = (u64, Timestamp);

/// Decodes an event and hands it to the log.
pub(super) fn report(
    code: u8,
    mut payload: Cursor<'_>,
    when: When,
    partners: &mut Partners<'_>,
    log: &mut LogBuilder,
) -> Result<(), WireError> {
    let (event, time) = when;
    let payload = &mut payload;
    match code {
        SEND | ISEND | RECV | IRECV => return message(code, payload, when, partners, log),
        COLLECTIVE_END | COLLECTIVE_COMPLETE => {
            return collective(code, payload, when, partners, log);
        }
        ISEND_COMPLETE => log.send_completed(payload.c64()?),
        IRECV_REQUEST => log.receive_posted(event, time, payload.c64()?),
        REQUEST_CANCELLED => log.request_cancelled(payload.c64()?),
        COLLECTIVE_BEGIN => log.collective_begin(event, time),
        COLLECTIVE_REQUEST => log.collective_posted(event, time, payload.c64()?),
        PROBE => match envelope(payload, partners)? {
            Some(probed) => log.message_probed(time, probed, payload.c64()?),
            None => log.unresolved(event),
        },
        MRECV => log.probed_received(event, time, payload.c64()?),
        IMRECV_REQUEST => {
            let message_id = payload.c64()?;
            log.probed_receive_posted(message_id, payload.c64()?);
        }
        IMRECV => log.probed_receive_completed(event, time, payload.c64()?),
        _ => {}
    }
    Ok(())
}

/// Rank, communicator and tag, in this order in all events of messages.
#[inline]
fn envelope(
    payload: &mut Cursor<'_>,
    partners: &mut Partners<'_>,
) -> Result<Option<Message>, WireError> {
    let (rank, comm, tag) = (payload.c32()?, payload.c32()?, payload.c32()?);
    let Some(comm) = partners.comm(comm) else {
        return Ok(None);
    };
    Ok(comm.location(rank).map(|peer| Message {
        communicator: comm.handle,
        peer,
        tag,
    }))
}

#[inline]
fn message(
    code: u8,
    payload: &mut Cursor<'_>,
    (event, time): When,
    partners: &mut Partners<'_>,
    log: &mut LogBuilder,
) -> Result<(), WireError> {
    let message = envelope(payload, partners)?;
    payload.c64()?; // The length of the message.
    let request = match code {
        ISEND | IRECV => Some(payload.c64()?),
        _ => None,
    };
    match (message, code, request) {
        (Some(message), SEND | ISEND, request) => log.send(event, time, message, request),
        (Some(message), IRECV, Some(request)) => {
            log.receive_completed(event, time, message, request);
        }
        (Some(message), ..) => log.receive(event, time, message),
        (None, ..) => {
            log.unresolved(event);
            // Its posting, if there is one, must not wait for it for ever.
            if let (IRECV, Some(request)) = (code, request) {
                log.request_cancelled(request);
            }
        }
    }
    Ok(())
}

fn collective(
    code: u8,
    payload: &mut Cursor<'_>,
    (event, time): When,
    partners: &mut Partners<'_>,
    log: &mut LogBuilder,
) -> Result<(), WireError> {
    let operation = operation(CollectiveOp(payload.u8()?));
    let (comm, root) = (payload.c32()?, root(payload.c32()?));
    let (sent, received) = (payload.c64()? > 0, payload.c64()? > 0);
    let what = Collective {
        // What is not defined must still end what has begun.
        communicator: partners.comm(comm).map_or(UNDEFINED, |comm| comm.handle),
        operation,
        root,
        sent,
        received,
    };
    if code == COLLECTIVE_END {
        log.collective_end(event, time, what);
    } else {
        log.collective_completed(event, time, what, payload.c64()?);
    }
    Ok(())
}

const fn root(code: u32) -> Root {
    match code {
        0xFFFF_FFFF => Root::None,
        0xFFFF_FFFE => Root::Own,
        0xFFFF_FFFD => Root::OwnGroup,
        rank => Root::Rank(rank),
    }
}

const fn operation(op: CollectiveOp) -> Operation {
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
        _ => Operation::Other,
    }
}
