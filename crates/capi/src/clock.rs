//! A logical clock that a program carries along: a stamp rides on each message and in each
//! collective operation.

use ::library::TickRate;
use ::library::causality::Class;
use ::library::clock::{PiggybackClock, PiggybackStamp, PiggybackStamps, TakingPart};

use crate::border::{giving, making, row, seen, unmade, used};
use crate::failed::{Failed, Status};

/// A clock that a process carries along. Times are ticks of its physical clock.
pub struct Clock(PiggybackClock);

/// The clock that a program carries along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum ClockKind {
    /// While it is ahead of the physical clock it stands still.
    Simple = 0,
    /// While it is ahead it goes on more slowly, as the controller of 1997 says.
    Controlled = 1,
}

/// The order that a collective operation proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum CollectiveClass {
    /// Nobody leaves before all have entered: barrier, allreduce, allgather, alltoall.
    AllToAll = 0,
    /// Nobody leaves before the root has entered: bcast, scatter.
    FromRoot = 1,
    /// The root does not leave before all have entered: reduce, gather.
    ToRoot = 2,
    /// Nobody leaves before all lower ranks have entered: scan, exscan.
    Prefix = 3,
    /// Nothing: alltoallv, alltoallw.
    Unordered = 4,
}

/// The logical times that a message carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Stamp {
    /// The time of the simple logical clock.
    pub simple: i64,
    /// The time of the clock that the program asked for.
    pub controlled: i64,
}

/// The stamps of several participants, as far as each of them has to know these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Stamps {
    /// The largest time of each clock.
    pub latest: Stamp,
    /// The largest time of each clock among the others.
    pub second: Stamp,
}

impl From<CollectiveClass> for Class {
    fn from(class: CollectiveClass) -> Self {
        match class {
            CollectiveClass::AllToAll => Self::AllToAll,
            CollectiveClass::FromRoot => Self::OneToAll,
            CollectiveClass::ToRoot => Self::AllToOne,
            CollectiveClass::Prefix => Self::Prefix,
            CollectiveClass::Unordered => Self::None,
        }
    }
}

impl From<PiggybackStamp> for Stamp {
    fn from(PiggybackStamp { simple, controlled }: PiggybackStamp) -> Self {
        Self { simple, controlled }
    }
}

impl From<Stamp> for PiggybackStamp {
    fn from(Stamp { simple, controlled }: Stamp) -> Self {
        Self { simple, controlled }
    }
}

impl From<PiggybackStamps> for Stamps {
    fn from(PiggybackStamps { latest, second }: PiggybackStamps) -> Self {
        Self {
            latest: latest.into(),
            second: second.into(),
        }
    }
}

impl From<Stamps> for PiggybackStamps {
    fn from(Stamps { latest, second }: Stamps) -> Self {
        Self {
            latest: latest.into(),
            second: second.into(),
        }
    }
}

/// The class with a number that C gave.
pub(crate) fn class(number: i32) -> Result<CollectiveClass, Failed> {
    let all = [
        CollectiveClass::AllToAll,
        CollectiveClass::FromRoot,
        CollectiveClass::ToRoot,
        CollectiveClass::Prefix,
        CollectiveClass::Unordered,
    ];
    let found = all.into_iter().find(|it| *it as i32 == number);
    found.ok_or_else(|| {
        Failed::argument(format!(
            "there is no class {number} of operations: give one of retime_class"
        ))
    })
}

fn part(number: i32, is_root: i32) -> Result<TakingPart, Failed> {
    Ok(TakingPart::of(class(number)?.into(), is_root != 0))
}

/// Makes a clock for a process whose physical clock has so many ticks in a second, in a network
/// whose messages take at least `min_delay` ticks. `kind` is a `retime_clock_kind`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_clock_make(
    kind: i32,
    ticks_per_second: u64,
    min_delay: i64,
    clock: *mut *mut Clock,
) -> Status {
    let make = || {
        let rate = TickRate::per_second(ticks_per_second)
            .ok_or_else(|| Failed::argument("give ticks per second above 0, such as 1000000000"))?;
        if min_delay < 0 {
            return Err(Failed::argument("no message takes less than 0 ticks"));
        }
        Ok(Clock(match kind {
            _ if kind == ClockKind::Simple as i32 => PiggybackClock::simple(min_delay),
            _ if kind == ClockKind::Controlled as i32 => PiggybackClock::new(rate, min_delay),
            _ => {
                return Err(Failed::argument(format!(
                    "there is no clock {kind}: give one of retime_clock_kind"
                )));
            }
        }))
    };
    // SAFETY: room for a handle, as the header asks for.
    unsafe { making(clock, "the place for the clock", make) }
}

/// Frees a clock; NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_clock_free(clock: *mut Clock) {
    // SAFETY: a handle, as the header asks for.
    unsafe { unmade(clock) }
}

/// The logical time at a physical one, which is no event: the clock goes on as if nobody had asked.
/// It never falls, and no later event comes before it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_clock_now(
    clock: *const Clock,
    physical: i64,
    time: *mut i64,
) -> Status {
    let now = || {
        // SAFETY: a handle, as the header asks for.
        let clock = unsafe { seen(clock, "the clock") }?;
        Ok(clock.0.now(physical))
    };
    // SAFETY: room for a time, as the header asks for.
    unsafe { giving(time, "the place for the time", now) }
}

/// The logical time of an event that has nothing to do with other processes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_clock_local(
    clock: *mut Clock,
    physical: i64,
    time: *mut i64,
) -> Status {
    let local = || {
        // SAFETY: a handle, as the header asks for.
        let clock = unsafe { used(clock, "the clock") }?;
        Ok(clock.0.local(physical))
    };
    // SAFETY: room for a time, as the header asks for.
    unsafe { giving(time, "the place for the time", local) }
}

/// The stamp that a message sent at a physical time has to carry; the logical time of sending it is
/// the stamp's `controlled`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_clock_send(
    clock: *mut Clock,
    physical: i64,
    stamp: *mut Stamp,
) -> Status {
    let send = || {
        // SAFETY: a handle, as the header asks for.
        let clock = unsafe { used(clock, "the clock") }?;
        Ok(clock.0.send(physical).into())
    };
    // SAFETY: room for a stamp, as the header asks for.
    unsafe { giving(stamp, "the place for the stamp", send) }
}

/// The logical time of receiving a message with a stamp at a physical time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_clock_receive(
    clock: *mut Clock,
    physical: i64,
    message: *const Stamp,
    time: *mut i64,
) -> Status {
    let receive = || {
        // SAFETY: a handle, as the header asks for.
        let clock = unsafe { used(clock, "the clock") }?;
        // SAFETY: a stamp, as the header asks for.
        let message = *unsafe { seen(message, "the stamp of the message") }?;
        Ok(clock.0.receive(physical, message.into()))
    };
    // SAFETY: room for a time, as the header asks for.
    unsafe { giving(time, "the place for the time", receive) }
}

/// The stamp that a process gives when it enters a collective operation at a physical time:
/// `RETIME_NO_TIME` in both if nobody waits for it. `collective_class` is a `retime_class`; `is_root`
/// is other than 0 for the root. Who gives no bytes to an operation that carries data is waited for
/// by nobody: let it enter as `RETIME_CLASS_UNORDERED`, and give what that gives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_clock_enter(
    clock: *mut Clock,
    physical: i64,
    collective_class: i32,
    is_root: i32,
    stamp: *mut Stamp,
) -> Status {
    let enter = || {
        let part = part(collective_class, is_root)?;
        // SAFETY: a handle, as the header asks for.
        let clock = unsafe { used(clock, "the clock") }?;
        Ok(clock.0.enter(physical, part).into())
    };
    // SAFETY: room for a stamp, as the header asks for.
    unsafe { giving(stamp, "the place for the stamp", enter) }
}

/// The logical time of leaving a collective operation at a physical time. `others` are the merged
/// stamps of those for which the process waits, without its own: of the root, of lower ranks, or of
/// all others (`retime_stamps_besides`); or NULL if it waits for nobody.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_clock_leave(
    clock: *mut Clock,
    physical: i64,
    collective_class: i32,
    is_root: i32,
    others: *const Stamp,
    time: *mut i64,
) -> Status {
    let leave = || {
        let part = part(collective_class, is_root)?;
        let others = if others.is_null() {
            PiggybackStamp::NOTHING
        } else {
            // SAFETY: a stamp, as the header asks for.
            (*unsafe { seen(others, "the stamp of the others") }?).into()
        };
        // SAFETY: a handle, as the header asks for.
        let clock = unsafe { used(clock, "the clock") }?;
        Ok(clock.0.leave(physical, part, others))
    };
    // SAFETY: room for a time, as the header asks for.
    unsafe { giving(time, "the place for the time", leave) }
}

/// The latest of two stamps, clock by clock: what `MPI_MAX` makes of two `MPI_INT64_T`.
#[unsafe(no_mangle)]
pub extern "C" fn retime_stamp_merged(one: Stamp, other: Stamp) -> Stamp {
    PiggybackStamp::from(one).merged(other.into()).into()
}

/// The stamps of several participants: of an array of stamps, merged.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_stamps_of(
    stamps: *const Stamp,
    count: usize,
    merged: *mut Stamps,
) -> Status {
    let merge = || {
        // SAFETY: so many, as the header asks for.
        let stamps = unsafe { row(stamps, count, "the stamps") }?;
        let each = stamps.iter().map(|it| PiggybackStamps::of((*it).into()));
        Ok(each
            .fold(PiggybackStamps::NOTHING, PiggybackStamps::merged)
            .into())
    };
    // SAFETY: room for stamps, as the header asks for.
    unsafe { giving(merged, "the place for the stamps", merge) }
}

/// The stamps of these and of other participants, in any order: for reductions of one's own.
#[unsafe(no_mangle)]
pub extern "C" fn retime_stamps_merged(these: Stamps, others: Stamps) -> Stamps {
    PiggybackStamps::from(these).merged(others.into()).into()
}

/// The stamps of all but the participant that gave `own`, merged.
#[unsafe(no_mangle)]
pub extern "C" fn retime_stamps_besides(all: Stamps, own: Stamp) -> Stamp {
    PiggybackStamps::from(all).besides(own.into()).into()
}

/// Writes a stamp as the `RETIME_STAMP_BYTES` bytes that are the same on all machines.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_stamp_to_bytes(stamp: Stamp, bytes: *mut u8) -> Status {
    let write = || Ok(PiggybackStamp::from(stamp).to_bytes());
    // SAFETY: room for so many bytes, as the header asks for.
    unsafe { giving(bytes.cast(), "the place for the bytes", write) }
}

/// Reads a stamp from its `RETIME_STAMP_BYTES` bytes; any are one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn retime_stamp_from_bytes(bytes: *const u8, stamp: *mut Stamp) -> Status {
    let read = || {
        // SAFETY: so many bytes, as the header asks for.
        let bytes: &[u8; PiggybackStamp::BYTES] = unsafe { seen(bytes.cast(), "the bytes") }?;
        Ok(PiggybackStamp::from_bytes(*bytes).into())
    };
    // SAFETY: room for a stamp, as the header asks for.
    unsafe { giving(stamp, "the place for the stamp", read) }
}
