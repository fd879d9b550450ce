//! Rules of thumb for the minimal delay, from how long an empty call takes mostly.
//!
//! A process calls another, which answers at once. The time from the call to the answer is
//! measured by one clock, and that which the other spends between by one clock, so that how
//! clocks differ does not matter:
//!
//! ```text
//! round trip = (answer received - call sent) - (answer sent - call received)
//!
//! mu = 1/4 of the most frequent round trip
//! mu = 90 % of that
//! ```
//!
//! The paper found that the fastest message takes longer than a quarter of the most frequent
//! round trip of an empty remote procedure call, on an Ethernet and an FDDI ring; the thesis
//! adds that messages as fast as the minimum are so rare that 90 % of it usually do. Both are
//! guesses: a network that is faster in rare cases than mostly breaks them, and what is faster
//! than a guess contradicts nothing.
//!
//! Calls in a trace are pairs of messages between two clocks: nothing else that communicates
//! lies between call and answer on either side, and the one that is called spends no longer
//! between than both messages take. Empty are the shortest of them, by both lengths
//! together where these are recorded: so many as have the least, and where those are fewer than
//! eight, those next to them as well. The most frequent is found without bins,
//! [`half_sample_mode`].
//!
//! ```
//! use retime_causality::{Causality, CausalityOptions};
//! use retime_clocks::estimate::empty_calls;
//! use retime_clocks::Grouping;
//! use retime_model::Ticks;
//! // Clock 1 is 5000 ahead. Most calls take 40 there and 60 back, and 7 between.
//! let (mut caller, mut called) = (String::new(), String::new());
//! for n in 0..20 {
//!     let (start, waits) = (1_000 * n, if n % 5 == 0 { 300 } else { n % 2 });
//!     caller += &format!("send 1 @{start}, receive 1 @{}, ", start + 107 + waits);
//!     called += &format!("receive 0 @{}, send 0 @{}, ", start + 5_040 + waits, start + 5_047 + waits);
//! }
//! let trace = retime_testing::trace(&format!("0: {caller}\n1: {called}"))?;
//! let causality = Causality::build(&trace.info, trace.logs, CausalityOptions::default())?;
//! let clocks = Grouping::Process.clocks(&trace.info, &causality);
//! let found = empty_calls(&causality, &clocks, &())?.ok_or("no calls")?;
//! assert_eq!((found.calls, found.most_frequent), (20, Ticks(100)));
//! assert_eq!((found.quarter(), found.ninety_percent_of_quarter()), (Ticks(25), Ticks(22)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Sources: Rabenseifner 1997, section 7 (a quarter); Rabenseifner 2000, section 7.2 (90 % of it).

use rayon::prelude::*;

use super::drift::FEWEST_MESSAGES;
use retime_causality::{Causality, EventNode, Length, Role};
use retime_model::pace::Pace;
use retime_model::{Cancelled, Clocks, Monitor, Ticks};
use retime_numerics::mode::half_sample_mode;
use retime_numerics::parallel;

/// How long empty calls took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmptyCalls {
    /// How many there are.
    pub calls: u64,
    /// The most frequent round trip.
    pub most_frequent: Ticks,
}

impl EmptyCalls {
    /// A quarter of the most frequent round trip, rounded down.
    pub fn quarter(&self) -> Ticks {
        Ticks(self.most_frequent.0.max(0) / 4)
    }

    /// 90 % of a quarter of it, rounded down.
    pub fn ninety_percent_of_quarter(&self) -> Ticks {
        Ticks((i128::from(self.most_frequent.0.max(0)) * 9 / 40) as i64)
    }
}

/// A call, and its answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct AnsweredCall {
    /// Bytes of both messages, as far as they are known.
    bytes: u64,
    round_trip: i64,
}

/// The empty calls of a trace; `None` where there are fewer than eight calls. Fails only if
/// `monitor` says to give up.
pub fn empty_calls(
    causality: &Causality,
    clocks: &Clocks,
    monitor: &dyn Monitor,
) -> Result<Option<EmptyCalls>, Cancelled> {
    let of = |location| calls_of(causality, clocks, location, monitor);
    let calls: Vec<Vec<AnsweredCall>> = parallel::try_numbers(causality.nodes().locations(), of)?;
    let mut calls = calls.concat();
    if calls.len() < FEWEST_MESSAGES as usize {
        return Ok(None);
    }
    calls.par_sort_unstable();
    let longest = calls[FEWEST_MESSAGES as usize - 1].bytes;
    let empty = calls.iter().take_while(|it| it.bytes <= longest);
    let mut trips: Vec<i64> = empty.map(|it| it.round_trip).collect();
    let most_frequent = half_sample_mode(&mut trips);
    Ok(most_frequent.map(|ticks| EmptyCalls {
        calls: trips.len() as u64,
        most_frequent: Ticks(ticks),
    }))
}

/// The calls of a location that were answered.
fn calls_of(
    causality: &Causality,
    clocks: &Clocks,
    location: usize,
    monitor: &dyn Monitor,
) -> Result<Vec<AnsweredCall>, Cancelled> {
    let nodes = causality.nodes();
    let mut pace = Pace::of(monitor);
    let mut before: Option<EventNode> = None;
    let mut calls = Vec::new();
    for node in nodes.of(location) {
        pace.event()?;
        let call = before.and_then(|sent| answered(causality, clocks, sent, node));
        calls.extend(call);
        before = Some(node);
    }
    Ok(calls)
}

/// The call that `sent` makes, if `answer` is its answer.
fn answered(
    causality: &Causality,
    clocks: &Clocks,
    sent: EventNode,
    answer: EventNode,
) -> Option<AnsweredCall> {
    let nodes = causality.nodes();
    let clock = |node: EventNode| clocks.of(nodes.location(node));
    let called = causality.message_target(sent)?;
    let answering = causality.message_source(answer)?;
    // The two follow each other there, too; and a synchronous send that is complete is no answer.
    let follows = answering.index() == called.index() + 1
        && nodes.location(answering) == nodes.location(called)
        && nodes.role(answering) == Role::Send
        && causality.message_target(answering) == Some(answer);
    if !follows || clock(sent) == clock(called) {
        return None;
    }
    let between = |from: EventNode, to: EventNode| nodes.time(to).0 - nodes.time(from).0;
    let bytes = |length: Length| {
        if length.is_known() {
            length.number().into()
        } else {
            0_u64
        }
    };
    let spent = between(called, answering);
    let round_trip = between(sent, answer).saturating_sub(spent);
    (spent <= round_trip).then(|| AnsweredCall {
        bytes: bytes(causality.length(sent, called)) + bytes(causality.length(answering, answer)),
        round_trip,
    })
}
