//! The functions that the shim calls (`shim/session.h` declares them), and the only unsafe
//! code: pointers that C hands over become values, and nothing else is done here.
//!
//! The shim calls `retime_session_begin` first, by one thread; all others afterwards, by any
//! thread. Pointers are to as many words as the header says, and not kept.

use std::convert::Infallible;
use std::ffi::c_int;
use std::io::{Write as _, stderr};
use std::sync::OnceLock;

use retime_logical_clocks::{PiggybackStamp, PiggybackStamps};
use retime_measure::{Exchange, Measured, Tree, Words, measure};
use retime_model::{Class, Timestamp};

use crate::operation::Operation;
use crate::rider::{Carried, Rider};
use crate::session::Session;
use crate::settings::Settings;

static SESSION: OnceLock<Session> = OnceLock::new();

/// The functions of the shim, which take MPI or the processor.
#[repr(C)]
pub(crate) struct Shim {
    send: extern "C" fn(to: c_int, words: *const i64),
    receive: extern "C" fn(from: c_int, words: *mut i64),
    counter: extern "C" fn() -> u64,
}

/// The stamp that a message carries besides its data.
#[repr(C)]
pub(crate) struct Stamp {
    simple: i64,
    controlled: i64,
    message: i64,
}

/// A collective operation.
#[repr(C)]
pub(crate) struct Joined {
    communicator: u64,
    number: u64,
    class: c_int,
    is_root: c_int,
    rank: c_int,
    participants: c_int,
}

const FAILED: c_int = -1;
const RIDES: c_int = 1;
const MEASURES_ON_THE_WAY: c_int = 2;

/// A message is left out where nobody listens.
fn say(message: &dyn std::fmt::Display) {
    let _ = writeln!(stderr(), "retime: {message}");
}

fn done(result: Result<c_int, impl std::fmt::Display>) -> c_int {
    result.unwrap_or_else(|error| {
        say(&error);
        FAILED
    })
}

fn with_rider<T>(work: impl FnOnce(&mut Rider) -> T) -> Option<T> {
    SESSION.get()?.rider().as_mut().map(work)
}

static COUNTER: OnceLock<extern "C" fn() -> u64> = OnceLock::new();

fn counter() -> u64 {
    COUNTER.get().map_or(0, |read| read())
}

/// Begins the session of the process of that rank; which of the flags of the header hold, or -1.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn retime_session_begin(
    rank: c_int,
    size: c_int,
    counts: extern "C" fn() -> u64,
) -> c_int {
    COUNTER.get_or_init(|| counts);
    done(
        Settings::new(|name| std::env::var(name).ok()).map(|settings| {
            let new = || Session::new(settings, rank as u32, size as u32, counter);
            let session = SESSION.get_or_init(new);
            let rides = c_int::from(session.rides()) * RIDES;
            rides + c_int::from(session.measures_on_the_way()) * MEASURES_ON_THE_WAY
        }),
    )
}

/// This process among all others.
struct Processes {
    shim: Shim,
    rank: usize,
}

impl Exchange for Processes {
    type Error = Infallible;

    fn rank(&self) -> usize {
        self.rank
    }

    fn send(&mut self, to: usize, words: Words) -> Result<(), Infallible> {
        (self.shim.send)(to as c_int, words.as_ptr());
        Ok(())
    }

    fn receive(&mut self, from: usize) -> Result<Words, Infallible> {
        let mut words = Words::default();
        (self.shim.receive)(from as c_int, words.as_mut_ptr());
        Ok(words)
    }

    fn now(&mut self) -> Timestamp {
        SESSION.get().map_or(Timestamp(0), |it| it.clock().now())
    }
}

/// Measures the clock of this process, while all others do the same; what came out as 7 words.
///
/// # Safety
///
/// `shim` can be read, `nodes` has `size` numbers, `measured` room for 7.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn retime_session_measure(
    shim: *const Shim,
    rank: c_int,
    size: c_int,
    nodes: *const c_int,
    measured: *mut i64,
) {
    // SAFETY: as the caller promises.
    let (shim, nodes) = unsafe {
        (
            shim.read(),
            std::slice::from_raw_parts(nodes, size as usize),
        )
    };
    let nodes: Vec<usize> = nodes.iter().map(|it| *it as usize).collect();
    let rank = rank as usize;
    let Ok(found) = measure(&mut Processes { shim, rank }, &Tree::new(&nodes));
    // SAFETY: as the caller promises.
    unsafe { measured.cast::<[i64; 7]>().write(Measured::to_words(found)) };
}

/// Writes what all processes have measured, 7 words each.
///
/// # Safety
///
/// `measured` has 7 words for each of `size` processes.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn retime_session_add(measured: *const i64, size: c_int) {
    let Some(session) = SESSION.get() else { return };
    // SAFETY: as the caller promises; arrays of words lie as words do.
    let ranks = unsafe { std::slice::from_raw_parts(measured.cast::<[i64; 7]>(), size as usize) };
    let ranks: Vec<_> = ranks.iter().map(|it| Measured::from_words(*it)).collect();
    if let Err(error) = session.add(&ranks) {
        say(&error);
    }
}

/// Lets the clock begin to ride, given what was measured; -1 if that fails.
///
/// # Safety
///
/// `measured` has 7 words.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn retime_session_ride(measured: *const i64) -> c_int {
    // SAFETY: as the caller promises.
    let measured = unsafe { measured.cast::<[i64; 7]>().read() };
    let measured = Measured::from_words(measured);
    SESSION
        .get()
        .map_or(FAILED, |session| done(session.ride(measured).map(|()| 0)))
}

/// 1 if it is time to measure for the `times`th time.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn retime_session_is_due(times: c_int) -> c_int {
    SESSION
        .get()
        .map_or(0, |it| c_int::from(it.is_due(times as u32)))
}

/// Stamps a message that is sent now.
///
/// # Safety
///
/// `stamp` can be written.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn retime_session_sent(stamp: *mut Stamp) {
    if let Some(Carried {
        stamp: own,
        message,
    }) = with_rider(Rider::send)
    {
        let PiggybackStamp { simple, controlled } = own;
        // SAFETY: as the caller promises.
        unsafe {
            stamp.write(Stamp {
                simple,
                controlled,
                message,
            });
        };
    }
}

/// A message with that stamp is there.
///
/// # Safety
///
/// `stamp` can be read.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn retime_session_received(stamp: *const Stamp) {
    // SAFETY: as the caller promises.
    let Stamp {
        simple,
        controlled,
        message,
    } = unsafe { stamp.read() };
    let stamp = PiggybackStamp { simple, controlled };
    with_rider(|rider| rider.receive(Carried { stamp, message }));
}

impl Joined {
    fn operation(&self) -> Operation {
        Operation {
            communicator: self.communicator,
            number: self.number,
            class: match self.class {
                0 => Class::AllToAll,
                1 => Class::OneToAll,
                2 => Class::AllToOne,
                _ => Class::Prefix,
            },
            is_root: self.is_root != 0,
            rank: self.rank as u32,
            participants: self.participants as u32,
        }
    }
}

/// The process enters a collective operation, and gives `own`.
///
/// # Safety
///
/// `joined` can be read, `own` has room for 2 words.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn retime_session_enter(joined: *const Joined, own: *mut i64) {
    // SAFETY: as the caller promises.
    let operation = unsafe { (*joined).operation() };
    let stamp = with_rider(|rider| rider.enter(&operation));
    let PiggybackStamp { simple, controlled } = stamp.unwrap_or(PiggybackStamp::NOTHING);
    // SAFETY: as the caller promises.
    unsafe { own.cast::<[i64; 2]>().write([simple, controlled]) };
}

fn stamps(words: [i64; 4]) -> PiggybackStamps {
    let [latest, latest_controlled, second, second_controlled] = words;
    let stamp = |simple, controlled| PiggybackStamp { simple, controlled };
    PiggybackStamps {
        latest: stamp(latest, latest_controlled),
        second: stamp(second, second_controlled),
    }
}

/// The process leaves a collective operation, having heard 4 words.
///
/// # Safety
///
/// `joined` can be read, `own` has 2 words, `heard` 4.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn retime_session_leave(
    joined: *const Joined,
    own: *const i64,
    heard: *const i64,
) {
    // SAFETY: as the caller promises.
    let (operation, own, heard) = unsafe {
        let own = own.cast::<[i64; 2]>().read();
        ((*joined).operation(), own, heard.cast::<[i64; 4]>().read())
    };
    let [simple, controlled] = own;
    let own = PiggybackStamp { simple, controlled };
    with_rider(|rider| rider.leave(&operation, own, stamps(heard)));
}

/// Merges `count` times 4 words into others, as a reduction of MPI does it.
///
/// # Safety
///
/// Both have 4 words for each of `count` elements.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn retime_session_merge(
    from: *const i64,
    into: *mut i64,
    count: c_int,
) {
    let count = count as usize;
    // SAFETY: as the caller promises; arrays of words lie as words do.
    let (from, into) = unsafe {
        let from = std::slice::from_raw_parts(from.cast::<[i64; 4]>(), count);
        (
            from,
            std::slice::from_raw_parts_mut(into.cast::<[i64; 4]>(), count),
        )
    };
    for (from, into) in from.iter().zip(into) {
        let PiggybackStamps { latest, second } = stamps(*from).merged(stamps(*into));
        *into = [
            latest.simple,
            latest.controlled,
            second.simple,
            second.controlled,
        ];
    }
}

/// The time of the program in nanoseconds.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn retime_session_now() -> i64 {
    SESSION.get().map_or(0, Session::now)
}

/// The clock rides no more, and all of its events are written.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn retime_session_finish() {
    with_rider(Rider::finish);
    if let Some(session) = SESSION.get() {
        *session.rider() = None;
    }
}
