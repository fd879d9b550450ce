//! Repair of what is still violated once clocks are aligned.
//!
//! Aligned clocks disagree only here and there: a stamp taken late, a moment in
//! which a clock wandered faster than it was followed. Such faults are local,
//! so the repair has to be: after a jump the [controlled logical
//! clock](retime_logical_clocks::controlled) goes on at `gamma = 0.5`, so that a lead of
//! `j` is gone after `2 j`; with a `gamma` near 1, right where clocks are not
//! aligned, one late stamp would drag its clock and all that hear from it. The
//! ramps before jumps are as short, `L = largest jump / (1 - gamma)`.
//!
//! Which end of a violated dependency is wrong cannot be seen from it. Forwards
//! the effect moves later, [backwards](retime_logical_clocks::mirror_back) the cause
//! moves earlier. Both are tried, and the one with the smaller total correction
//! is taken,
//!
//! ```text
//! total = sum over events with edges of |corrected - aligned|
//! ```
//!
//! Example: a send stamped 40 too late. Forwards its receive has to move, by 20,
//! and with it the send right after; backwards the culprit alone moves.
//!
//! ```
//! use retime::causality::{Causality, CausalityOptions};
//! use retime::repair::{Direction, repair};
//! use retime::{Grouping, MinimalDelay, Ticks, Timestamp};
//! use retime_testing::trace;
//!
//! // What the first sends at 1040 was sent at 1000 in truth.
//! let trace = trace(
//!     "0: send 1 @1040, receive 1 @1100
//!      1: receive 0 @1020, send 0 @1025",
//! )?;
//!
//! let causality = Causality::build(&trace.info, trace.logs, CausalityOptions::default())?;
//! let clocks = Grouping::Process.clocks(&trace.info, &causality);
//! let repaired = repair(&causality, &clocks, &MinimalDelay::Uniform(Ticks(0)), &())?;
//! assert_eq!(repaired.summary.direction, Some(Direction::Backward));
//! assert_eq!((repaired.summary.largest_jump, repaired.summary.total), (Ticks(20), 20));
//! let times = causality.retimed(&repaired.correction, &()).unwrap();
//! assert_eq!(times.nodes().timestamps(), [1_020, 1_100, 1_020, 1_025].map(Timestamp));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: Rabenseifner 2000, algorithms 3 and 5, for the clock and its
//! amortisation, and section 7.2 for the run backwards.

use rayon::prelude::*;

use crate::pace::Pace;
use retime_causality::MinimalDelay;
use retime_causality::merge::{All, Sum};
use retime_causality::{Causality, EventNode, Ids, Instance};
use retime_logical_clocks::CorrectionError;
use retime_logical_clocks::{
    ClockError, Gamma, LogicalTimes, amortize_with_ramp, controlled_by_guess, mirror_back,
};
use retime_model::Correction;
use retime_model::{Cancelled, Monitor};
use retime_model::{Clocks, LocationIndex, Ticks};

/// The control factor with which a lead of `j` is gone after `2 j`.
const LOCAL: f64 = 0.5;

/// Collectives that are looked at between two questions whether to go on.
const BLOCK: u32 = 1 << 10;

/// Which way the clock ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Events move later only.
    Forward,
    /// Events move earlier only.
    Backward,
}

/// A trace that violates nothing any more.
#[derive(Clone, Debug)]
pub struct RepairedTrace {
    /// For the trace that was given, aligned or not.
    pub correction: Correction,
    /// The counts of the repair.
    pub summary: RepairSummary,
}

/// The counts of a repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepairSummary {
    /// `None` if nothing was violated, and nothing is changed.
    pub direction: Option<Direction>,
    /// Events that were forced ahead of their own clock (or back before it).
    pub jumps: u64,
    /// How far at most.
    pub largest_jump: Ticks,
    /// Sum over all events with edges of how far they moved, in ticks.
    pub total: u128,
}

/// Repairs what dependencies demand at the given minimal delay, locally; fails
/// if happened-before has a cycle, naming its events, or if corrected stamps do not
/// fit into 64 bits whichever way the clock runs, or if `monitor` says to give up.
pub fn repair(
    causality: &Causality,
    clocks: &Clocks,
    delay: &MinimalDelay,
    monitor: &dyn Monitor,
) -> Result<RepairedTrace, ClockError> {
    let gamma = Gamma::from_factor(LOCAL);
    repair_with(causality, clocks, delay, gamma, monitor)
}

/// Repairs with a control factor of the caller's: a `gamma` near 1 suits clocks
/// that are not aligned.
pub fn repair_with(
    causality: &Causality,
    clocks: &Clocks,
    delay: &MinimalDelay,
    gamma: Gamma,
    monitor: &dyn Monitor,
) -> Result<RepairedTrace, ClockError> {
    if keeps_all(causality, clocks, delay, monitor)? {
        return Ok(nothing(clocks));
    }
    let times = controlled_by_guess(causality, clocks, delay, gamma, monitor)?;
    if times.jumps() == 0 {
        return Ok(nothing(clocks));
    }
    let forward = || amortized(causality, clocks, delay, gamma, &times, monitor);
    let backward = || backward(causality, clocks, delay, gamma, monitor);
    let (forward, backward) = if causality.whole().is_here() {
        rayon::join(forward, backward)
    } else {
        // Parts of a trace go on together, so all do so in one order.
        (forward(), backward())
    };
    gentler(forward, backward)
}

/// The repair that moves events less, forwards if both do as much. One whose stamps
/// do not fit into 64 bits is none as long as the other is.
fn gentler(
    forward: Result<RepairedTrace, ClockError>,
    backward: Result<RepairedTrace, ClockError>,
) -> Result<RepairedTrace, ClockError> {
    let is_too_far = |error: &ClockError| {
        matches!(
            error,
            ClockError::Correction(CorrectionError::TooFar { .. })
        )
    };
    match (forward, backward) {
        (Err(ClockError::Cancelled(cancelled)), _) | (_, Err(ClockError::Cancelled(cancelled))) => {
            Err(cancelled.into())
        }
        (Ok(forward), Ok(backward)) if backward.summary.total < forward.summary.total => {
            Ok(backward)
        }
        (Ok(forward), Ok(_)) => Ok(forward),
        (Ok(one), Err(error)) | (Err(error), Ok(one)) if is_too_far(&error) => Ok(one),
        (Err(error), _) | (_, Err(error)) => Err(error),
    }
}

/// Nothing was violated.
fn nothing(clocks: &Clocks) -> RepairedTrace {
    RepairedTrace {
        correction: Correction::new(clocks.clone(), Vec::new()),
        summary: RepairSummary {
            direction: None,
            jumps: 0,
            largest_jump: Ticks(0),
            total: 0,
        },
    }
}

/// True if the logical clock leaves each event where it is, and meets no cycle. It
/// need not be run to know that: it does if
///
/// - no location's time runs backwards,
/// - each effect comes later than its causes on other locations, whatever clock these read,
/// - and by the minimal delay at least, if that is another clock.
///
/// For then no clock is ever ahead of itself: as long as all causes are where they
/// were stamped, no bound exceeds the own time of an effect, and it stays where it was.
/// And whatever an event waits for is stamped before it or is the event before
/// it on its location, so that nothing waits for itself.
fn keeps_all(
    causality: &Causality,
    clocks: &Clocks,
    delay: &MinimalDelay,
    monitor: &dyn Monitor,
) -> Result<bool, Cancelled> {
    let nodes = causality.nodes();
    let time = |node: EventNode| nodes.time(node).0;
    let clock = |node: EventNode| clocks.of(nodes.location(node));
    let location_keeps = |location: usize| {
        let to = LocationIndex(location as u32);
        let mut before = i64::MIN;
        let mut pace = Pace::of(monitor);
        for node in nodes.of(location) {
            pace.event()?;
            let now = time(node);
            let advances = now >= std::mem::replace(&mut before, now);
            let keeps = advances
                && causality.message_source(node).is_none_or(|send| {
                    let from = nodes.location(send);
                    let latency = now - time(send);
                    let is_own = clocks.of(from) == clocks.of(to);
                    from == to
                        || (latency > 0
                            && (is_own || latency >= causality.message_delay(delay, send, node).0))
                });
            if !keeps {
                return Ok(false);
            }
        }
        Ok(true)
    };
    let instance_keeps = |instance: Instance| {
        let participants = causality.collectives().participants(instance);
        let (mut keeps, mut crosses_clocks) = (true, true);
        let strictly = |cause: EventNode, effect: EventNode| {
            keeps &= time(effect) > time(cause);
            crosses_clocks &=
                clock(cause) != clock(effect) && time(effect) - time(cause) >= delay_of(delay);
        };
        let collectives = causality.collectives();
        collectives.latest_causes(
            instance,
            0..participants.len(),
            time,
            |place| place,
            strictly,
        );
        if keeps && !crosses_clocks {
            let enough = |_, _, slack| keeps &= slack >= 0;
            causality.tightest_causes(instance, |it| clocks.of(it), delay, time, enough);
        }
        keeps
    };
    let instances = causality.collectives().instances();
    let blocks: Vec<Ids<Instance>> = instances.chunks(BLOCK).collect();
    let block_keeps = |mut block: Ids<Instance>| {
        monitor.check()?;
        Ok(block.all(instance_keeps))
    };
    let both = |one, other| Ok(one && other);
    let locations = (0..nodes.locations()).into_par_iter().map(location_keeps);
    let blocks = blocks.into_par_iter().map(block_keeps);
    let own = locations.try_reduce(|| true, both)? && blocks.try_reduce(|| true, both)?;
    Ok(causality.whole().all_reduce(All(own)).0)
}

/// The largest delay between any two locations, if it is the same for all;
/// else more than any.
fn delay_of(delay: &MinimalDelay) -> i64 {
    delay.of_any_pair().map_or(i64::MAX, |it| it.0)
}

/// The clock's jumps with ramps before them, run forwards.
fn amortized(
    causality: &Causality,
    clocks: &Clocks,
    delay: &MinimalDelay,
    gamma: Gamma,
    times: &LogicalTimes,
    monitor: &dyn Monitor,
) -> Result<RepairedTrace, ClockError> {
    let largest_jump = times.largest_jump();
    let ramp = gamma.time_to_lose(largest_jump.0.unsigned_abs());
    let ramp = ramp.and_then(|ramp| i64::try_from(ramp).ok());
    // No trace is as long as what 64 bits do not hold.
    let ramp = Ticks(ramp.unwrap_or(i64::MAX));
    let correction = amortize_with_ramp(causality, clocks, delay, ramp, times, monitor)?;
    let summary = RepairSummary {
        direction: Some(Direction::Forward),
        jumps: times.jumps(),
        largest_jump,
        total: moved(causality, &correction, monitor)?,
    };
    Ok(RepairedTrace {
        correction,
        summary,
    })
}

/// The clock's jumps with ramps before them, run over the mirrored trace.
fn backward(
    causality: &Causality,
    clocks: &Clocks,
    delay: &MinimalDelay,
    gamma: Gamma,
    monitor: &dyn Monitor,
) -> Result<RepairedTrace, ClockError> {
    let mirror = causality.mirrored();
    let delay = delay.mirrored();
    let run = || {
        let times = controlled_by_guess(&mirror, clocks, &delay, gamma, monitor)?;
        amortized(&mirror, clocks, &delay, gamma, &times, monitor)
    };
    let mirrored = run().map_err(|error| error.mirrored(causality))?;
    Ok(RepairedTrace {
        correction: mirror_back(causality, clocks, &mirrored.correction, monitor)?,
        summary: RepairSummary {
            direction: Some(Direction::Backward),
            ..mirrored.summary
        },
    })
}

/// How far a correction moves all events with edges, together.
pub(crate) fn moved(
    causality: &Causality,
    correction: &Correction,
    monitor: &dyn Monitor,
) -> Result<u128, CorrectionError> {
    let nodes = causality.nodes();
    let locations = (0..nodes.locations()).into_par_iter();
    let of_location = |location: usize| {
        let index = LocationIndex(location as u32);
        let mut times = correction.events(index);
        let mut pace = Pace::of(monitor);
        let distance = |node: EventNode| {
            pace.event()?;
            let (event, raw) = (nodes.event(node), nodes.timestamp(node));
            let corrected = times.at(event, raw);
            let corrected = corrected.ok_or(CorrectionError::TooFar {
                raw,
                event: Some((index, event)),
            })?;
            Ok::<u128, CorrectionError>(u128::from(corrected.0.abs_diff(raw.0)))
        };
        nodes.of(location).map(distance).sum::<Result<u128, _>>()
    };
    let own = locations.map(of_location).sum::<Result<u128, _>>()?;
    Ok(causality.whole().all_reduce(Sum(own)).0)
}
