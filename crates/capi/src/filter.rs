//! The correction as a filter: events in, corrected ones out, while a program runs.

use std::ffi::c_char;

use ::library::clock::TakingPart;
use ::library::{LocationIndex, Timestamp};
use retime_cli::library::{Call, filter_options};
use retime_stream::{Collective, Event, EventKind, MessageId, Prefix};

use crate::border::{giving, guarded, making, place, row, seen, unmade, used, words};
use crate::clock::{CollectiveClass, class};
use crate::failed::{Failed, Status};

/// A filter: events in, corrected ones out.
pub struct Filter(retime_stream::Filter<u64>);

/// A collective operation, as one of its participants sees it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Operation {
    /// The number that all its events have, and no other operation that is under way.
    pub id: u64,
    /// The order that the operation proves: a `retime_class`.
    pub collective_class: i32,
    /// The number of participants.
    pub participants: u32,
    /// The rank of this participant, from 0 on.
    pub rank: u32,
    /// The rank of the root, of an operation from or to one.
    pub root: u32,
    /// The number of participants that give bytes for which others could wait; 0 if all do. Who
    /// gives none is no cause: its entering is an event as for `retime_filter_push()`.
    pub givers: u32,
    /// The number of participants that get bytes and could wait for others; 0 if all do. Who
    /// gets none is no effect: its leaving is an event as for `retime_filter_push()`.
    pub getters: u32,
}

/// The channel of a message without a number.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Channel {
    /// The location at the other end.
    pub peer: u32,
    /// The communicator.
    pub communicator: u32,
    /// The tag.
    pub tag: u32,
}

/// An event that has left a filter.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Corrected {
    /// When it happened, by the clock of its location.
    pub recorded: u64,
    /// When it happened, by the time common to all.
    pub time: u64,
    /// The payload that was given along.
    pub payload: u64,
    /// The location of the event.
    pub location: u32,
}

/// The content of a filter, and its counts so far.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct FilterCounts {
    /// Events taken.
    pub events: u64,
    /// Events given out.
    pub released: u64,
    /// Events in the filter.
    pub held: u64,
    /// Messages of which one end is in the filter.
    pub open_messages: u64,
    /// Operations of which some events are in the filter.
    pub open_operations: u64,
    /// Messages whose receive was stamped before their send.
    pub violated: u64,
    /// Events that were given out before their time was certain.
    pub forced: u64,
    /// Events that came later than the bounds allow.
    pub late: u64,
    /// Receives that went on without their send.
    pub unmatched_receives: u64,
    /// Sends whose receive did not come in time.
    pub unmatched_sends: u64,
    /// Operations of which some events did not come in time.
    pub unfinished_operations: u64,
}

/// The side of an operation that an event is.
#[derive(Clone, Copy)]
enum Side {
    Begin,
    End,
}

impl Channel {
    /// The next message from one location to another.
    fn message(&self, from: u32, to: u32) -> MessageId {
        let [from, to] = [from, to].map(LocationIndex);
        MessageId::channel(from, to, self.communicator, self.tag)
    }
}

impl Operation {
    /// The part that an event of the operation has; none if nobody waits for it and it waits for
    /// nobody.
    fn kind(&self, side: Side) -> Result<EventKind, Failed> {
        let Self {
            participants,
            rank,
            root,
            ..
        } = *self;
        let class = class(self.collective_class)?;
        let is_rooted = matches!(class, CollectiveClass::FromRoot | CollectiveClass::ToRoot);
        let is_known = |rank: u32| rank < participants;
        if !is_known(rank) || is_rooted && !is_known(root) {
            return Err(Failed::argument(format!(
                "operation {}: rank {rank} and root {root} are to be among its {participants} participants, from 0 on",
                self.id
            )));
        }
        let id = MessageId::number(self.id);
        let operation = match class {
            CollectiveClass::AllToAll => Collective::all_to_all(id, participants),
            CollectiveClass::FromRoot => Collective::from_root(id, participants),
            CollectiveClass::ToRoot => Collective::to_root(id, participants),
            CollectiveClass::Prefix => Collective {
                prefix: Some(Prefix {
                    place: rank,
                    before: rank,
                }),
                ..Collective::all_to_all(id, participants)
            },
            CollectiveClass::Unordered => return Ok(EventKind::Internal),
        };
        let operation = Collective {
            begins: fewer(self.givers, operation.begins),
            ends: fewer(self.getters, operation.ends),
            ..operation
        };
        let part = TakingPart::of(class.into(), rank == root);
        Ok(match side {
            Side::Begin if part.gives => EventKind::Begin(operation),
            Side::End if part.gets => EventKind::End(operation),
            Side::Begin | Side::End => EventKind::Internal,
        })
    }
}

/// The count that a number stands for: 0 for `all`.
fn fewer(count: u32, all: u32) -> u32 {
    if count == 0 { all } else { count.min(all) }
}

/// Makes a filter for so many locations, which read the clocks with the given numbers, from 0 on:
/// two with one number read one clock. `options` are words for `retime stream`, such as
/// `--min-delay`, `2us`, `--ticks-per-second`, `1000000`, up to a NULL; or NULL for none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_filter_make(
    clocks: *const u32,
    locations: usize,
    options: *const *const c_char,
    filter: *mut *mut Filter,
) -> Status {
    let make = || {
        let mut line = vec!["stream".into()];
        // SAFETY: words, as the header asks for.
        line.extend(unsafe { words(options) }?);
        let options = filter_options(&Call {
            words: line,
            program: Vec::new(),
            watch: None,
        })?;
        // SAFETY: so many, as the header asks for.
        let clocks = unsafe { row(clocks, locations, "the clocks of locations") }?;
        if clocks.is_empty() {
            return Err(Failed::argument("give at least one location"));
        }
        // Clocks are counted, so one far beyond the others would take memory for nothing.
        if let Some(far) = clocks.iter().find(|&&it| it as usize >= clocks.len()) {
            return Err(Failed::argument(format!(
                "there is no clock {far}: number them from 0, for {locations} locations"
            )));
        }
        Ok(Filter(retime_stream::Filter::new(clocks, options)))
    };
    // SAFETY: room for a handle, as the header asks for.
    unsafe { making(filter, "the place for the filter", make) }
}

/// Frees a filter with all that is in it; NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_filter_free(filter: *mut Filter) {
    // SAFETY: a handle, as the header asks for.
    unsafe { unmade(filter) }
}

/// Takes an event that has nothing to do with other locations. `payload` comes back with its
/// corrected time. Events of one location come in order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_filter_push(
    filter: *mut Filter,
    location: u32,
    time: u64,
    payload: u64,
) -> Status {
    let internal = || Ok(EventKind::Internal);
    // SAFETY: a handle, as the header asks for.
    unsafe { taken(filter, location, time, payload, internal) }
}

/// Takes the event of sending a message, whose number its receive has too.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_filter_send(
    filter: *mut Filter,
    location: u32,
    time: u64,
    message: u64,
    payload: u64,
) -> Status {
    let send = || Ok(EventKind::Send(MessageId::number(message)));
    // SAFETY: a handle, as the header asks for.
    unsafe { taken(filter, location, time, payload, send) }
}

/// Takes the event of receiving a message.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_filter_receive(
    filter: *mut Filter,
    location: u32,
    time: u64,
    message: u64,
    payload: u64,
) -> Status {
    let receive = || Ok(EventKind::Receive(MessageId::number(message)));
    // SAFETY: a handle, as the header asks for.
    unsafe { taken(filter, location, time, payload, receive) }
}

/// Takes the event of sending a message that has no number. Such messages do not overtake each other:
/// of those from one location to another with one communicator and tag the first that is sent is the
/// first that is received.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_filter_send_to(
    filter: *mut Filter,
    location: u32,
    time: u64,
    channel: *const Channel,
    payload: u64,
) -> Status {
    let send = || {
        // SAFETY: a channel, as the header asks for.
        let to = unsafe { seen(channel, "the channel") }?;
        Ok(EventKind::Send(to.message(location, to.peer)))
    };
    // SAFETY: a handle, as the header asks for.
    unsafe { taken(filter, location, time, payload, send) }
}

/// Takes the event of receiving a message that has no number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_filter_receive_from(
    filter: *mut Filter,
    location: u32,
    time: u64,
    channel: *const Channel,
    payload: u64,
) -> Status {
    let receive = || {
        // SAFETY: a channel, as the header asks for.
        let from = unsafe { seen(channel, "the channel") }?;
        Ok(EventKind::Receive(from.message(from.peer, location)))
    };
    // SAFETY: a handle, as the header asks for.
    unsafe { taken(filter, location, time, payload, receive) }
}

/// Takes the event of entering a collective operation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_filter_enter(
    filter: *mut Filter,
    location: u32,
    time: u64,
    operation: *const Operation,
    payload: u64,
) -> Status {
    // SAFETY: an operation, as the header asks for.
    let begin = || unsafe { seen(operation, "the operation") }?.kind(Side::Begin);
    // SAFETY: a handle, as the header asks for.
    unsafe { taken(filter, location, time, payload, begin) }
}

/// Takes the event of leaving a collective operation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_filter_leave(
    filter: *mut Filter,
    location: u32,
    time: u64,
    operation: *const Operation,
    payload: u64,
) -> Status {
    // SAFETY: an operation, as the header asks for.
    let end = || unsafe { seen(operation, "the operation") }?.kind(Side::End);
    // SAFETY: a handle, as the header asks for.
    unsafe { taken(filter, location, time, payload, end) }
}

/// Nothing comes from a location before a time any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_filter_heartbeat(
    filter: *mut Filter,
    location: u32,
    time: u64,
) -> Status {
    guarded(|| {
        // SAFETY: a handle, as the header asks for.
        let filter = unsafe { used(filter, "the filter") }?;
        filter
            .0
            .heartbeat(LocationIndex(location), Timestamp(time))?;
        Ok(Status::Ok)
    })
}

/// Nothing comes from a location any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_filter_close(filter: *mut Filter, location: u32) -> Status {
    guarded(|| {
        // SAFETY: a handle, as the header asks for.
        let filter = unsafe { used(filter, "the filter") }?;
        filter.0.end(LocationIndex(location))?;
        Ok(Status::Ok)
    })
}

/// Nothing comes any more: all that is left can be taken out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_filter_finish(filter: *mut Filter) -> Status {
    guarded(|| {
        // SAFETY: a handle, as the header asks for.
        unsafe { used(filter, "the filter") }?.0.finish();
        Ok(Status::Ok)
    })
}

/// Takes the next event out, in the order of corrected times; `RETIME_STATUS_EMPTY`, which is no failure,
/// if none can leave yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_filter_pop(filter: *mut Filter, event: *mut Corrected) -> Status {
    guarded(|| {
        // SAFETY: a handle, as the header asks for.
        let filter = unsafe { used(filter, "the filter") }?;
        // SAFETY: room for an event, as the header asks for.
        let room = unsafe { place(event, "the place for the event") }?;
        let Some(left) = filter.0.pop() else {
            return Ok(Status::Empty);
        };
        room.write(Corrected {
            recorded: left.raw.0,
            time: left.time.0,
            payload: left.payload,
            location: left.location.0,
        });
        Ok(Status::Ok)
    })
}

/// The counts of a filter so far.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_filter_counts(
    filter: *const Filter,
    counts: *mut FilterCounts,
) -> Status {
    let count = || {
        // SAFETY: a handle, as the header asks for.
        let filter = &unsafe { seen(filter, "the filter") }?.0;
        let [held, messages, operations] = filter.load();
        let report = filter.report();
        Ok(FilterCounts {
            events: report.events,
            released: report.released,
            held: held as u64,
            open_messages: messages as u64,
            open_operations: operations as u64,
            violated: report.violated,
            forced: report.forced,
            late: report.late,
            unmatched_receives: report.unmatched_receives,
            unmatched_sends: report.unmatched_sends,
            unfinished_operations: report.unfinished_collectives,
        })
    };
    // SAFETY: room for the counts, as the header asks for.
    unsafe { giving(counts, "the place for the counts", count) }
}

/// Takes an event.
///
/// # Safety
///
/// `filter` is NULL or a filter that nobody else uses meanwhile.
unsafe fn taken(
    filter: *mut Filter,
    location: u32,
    time: u64,
    payload: u64,
    kind: impl FnOnce() -> Result<EventKind, Failed>,
) -> Status {
    guarded(|| {
        // SAFETY: as the caller promises.
        let filter = unsafe { used(filter, "the filter") }?;
        filter.0.push(Event {
            location: LocationIndex(location),
            time: Timestamp(time),
            kind: kind()?,
            payload,
        })?;
        Ok(Status::Ok)
    })
}
