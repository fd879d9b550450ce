//! The controlled logical clock with a constant control factor.
//!
//! A clock keeps its physical time until a dependency forces it ahead; then it
//! falls back to physical time slowly, by advancing `gamma` times the physical
//! intervals:
//!
//! ```text
//! LC'(e) = max( LC'(s) + mu               over all dependencies s -> e,
//!               LC'(prev) + gamma * (C(e) - C(prev)),
//!               C(e) )
//! ```
//!
//! Between two dependencies that move it, a clock follows in closed form, so
//! only events with edges are visited; everything is integer arithmetic (a clock
//! that is forced loses on from the part of a tick that it has lost, see [`super::Lead`]) and
//! only maxima are taken, so the order of evaluation does not matter: each clock
//! runs until it needs a value of another that is not there yet, and is resumed
//! when it is. If all clocks wait, the events they wait for form a cycle.
//!
//! Locations of one clock are advanced together by raw time. Events of several
//! locations with *equal* raw stamps have no order that the clock could tell;
//! each location passes such a moment on its own, and the clock goes on from the
//! latest. Only a dependency between two of them orders them: an effect then
//! comes no earlier than its cause, or a tie would turn into a violation.
//!
//! Example: the receive at 95 is pushed to the send at 100 plus 2. The next
//! event comes 1000 later; with gamma = 0.99 the lead of 7 has shrunk to nothing.
//!
//! ```
//! use retime_causality::{Causality, CausalityOptions, EventNode};
//! use retime_logical_clocks::{Gamma, controlled};
//! use retime_causality::MinimalDelay;
//! # use retime_model::{Clocks, Ticks};
//! use retime_testing::trace;
//!
//! let trace = trace(
//!     "0: send 1 @100, receive 1 @1200
//!      1: receive 0 @95, send 0 @1095",
//! )?;
//!
//! let causality = Causality::build(&trace.info, trace.logs, CausalityOptions::default())?;
//! let clocks = Clocks::each_location(trace.info.locations.len());
//! let delay = MinimalDelay::Uniform(Ticks(2));
//! let times = controlled(&causality, &clocks, &delay, "0.99".parse()?, &())?;
//! let corrected = |node| causality.nodes().base().0 as i64 + times.get(EventNode(node)).0;
//! assert_eq!([0, 1, 2, 3].map(corrected), [100, 1_200, 102, 1_095]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: Rabenseifner 2000, algorithm 3; Rabenseifner 1997, algorithm 2;
//! Linford 2007, equations 3.3 and 3.4. The event's own begin of a collective
//! is no dependency, and other dependencies within one clock are not enforced: no
//! map of that clock could move their ends apart.

use crate::error::ClockError;
use crate::gamma::Gamma;
use crate::law::Constant;
use crate::part::in_any_order;
use crate::run::Run;
use crate::times::LogicalTimes;
use retime_causality::Causality;
use retime_causality::MinimalDelay;
use retime_model::{Clocks, Monitor};

/// Runs the controlled logical clock over a trace.
///
/// Fails if happened-before has a cycle, naming its events, or if `monitor` says to
/// give up.
pub fn controlled(
    causality: &Causality,
    clocks: &Clocks,
    delay: &MinimalDelay,
    gamma: Gamma,
    monitor: &dyn Monitor,
) -> Result<LogicalTimes, ClockError> {
    let fresh = || Run::new(causality, clocks, delay, Constant(gamma), monitor);
    in_any_order(fresh, 0, monitor).map(|(times, _)| times)
}

/// Guesses before a pass: a guess that is right takes about as many as there are parts between
/// the fastest clock and the slowest.
const GUESSES: u32 = 64;

/// Runs the controlled logical clock as [`controlled`] does, over a trace that hardly needs it:
/// where parts of it are elsewhere, each guesses first what the others come to.
pub fn controlled_by_guess(
    causality: &Causality,
    clocks: &Clocks,
    delay: &MinimalDelay,
    gamma: Gamma,
    monitor: &dyn Monitor,
) -> Result<LogicalTimes, ClockError> {
    let fresh = || Run::new(causality, clocks, delay, Constant(gamma), monitor);
    in_any_order(fresh, GUESSES, monitor).map(|(times, _)| times)
}
