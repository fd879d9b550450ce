//! The causality of simulated events: from events to logs.
//!
//! The counterpart of a scan: each event with a role is handed to the
//! [`LogBuilder`] of its location. All communication is among the ranks of
//! [`WORLD`](crate::WORLD), whose handle is 0.

use retime_causality::{Collective, Length, LogBuilder, Message, Operation, Root};
use retime_model::{LocationIndex, Timestamp};
use retime_otf2::CollectiveOp;
use retime_otf2::writer;

use crate::event::Event;

/// Hands an event, with its number and stamp, to the log of its location; where
/// ranks have threads, the peers of messages still count as ranks.
pub(crate) fn report(
    event: Event,
    number: u64,
    time: Timestamp,
    threads: u32,
    log: &mut LogBuilder,
) {
    let message = |it: writer::Message| message(it, threads);
    let send = |log: &mut LogBuilder, it: writer::Message, request| {
        log.send(number, time, message(it), request);
        log.sent(Length::of(it.length));
    };
    match event {
        Event::Send(it) => send(log, it, None),
        Event::Isend(it, request) => send(log, it, Some(request)),
        Event::IsendComplete(request) => {
            log.send_completed(number, request);
        }
        Event::Recv(it) => {
            log.receive(number, time, message(it));
            log.received(Length::of(it.length));
        }
        Event::IrecvRequest(request) => log.receive_posted(number, time, request),
        Event::Irecv(it, request) => {
            log.receive_completed(number, time, message(it), request);
            log.received(Length::of(it.length));
        }
        Event::RequestCancelled(request) => log.request_cancelled(request),
        Event::CollectiveBegin => log.collective_begin(number, time),
        Event::CollectiveEnd(it) => log.collective_end(number, time, collective(it)),
        Event::NonBlockingCollectiveRequest(request) => {
            log.collective_posted(number, time, request);
        }
        Event::NonBlockingCollectiveComplete(it, request) => {
            log.collective_completed(number, time, collective(it), request);
        }
        Event::Enter(_) | Event::Leave(_) | Event::RequestTest(_) => {}
    }
}

/// A rank communicates as its first thread.
fn message(message: writer::Message, threads: u32) -> Message {
    Message {
        communicator: message.comm.0,
        peer: LocationIndex(message.peer * threads),
        tag: message.tag,
    }
}

fn collective(it: writer::Collective) -> Collective {
    Collective {
        communicator: it.comm.0,
        operation: operation(it.op),
        root: match it.root {
            retime_otf2::CollectiveRoot::Rank(rank) => Root::Rank(rank),
            _ => Root::None,
        },
        sent: it.sent > 0,
        received: it.received > 0,
    }
}

/// Scenarios have no other operations.
fn operation(op: CollectiveOp) -> Operation {
    match op {
        CollectiveOp::BARRIER => Operation::Barrier,
        CollectiveOp::ALLREDUCE => Operation::Allreduce,
        _ => Operation::Other,
    }
}
