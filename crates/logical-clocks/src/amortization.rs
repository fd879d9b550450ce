//! Backward amortisation: no jump is left where a ramp can take its place.
//!
//! The controlled clock jumps at receives. Moving the events *before* a jump
//! forward turns it into a ramp, as long as no message they sent arrives too
//! early then. Per clock, over its events with edges in order:
//!
//! - `S(e)` is the sum of the jumps up to `e`, and `b = LC' - S` the clock
//!   without them. The amortised clock is `b + s` with `s >= S`: events only
//!   move later.
//! - A send-like event may move until its effect would come too early, its
//!   *limit*: `min over its effects r of LC'(r) - mu - LC'(e)`.
//! - No ramp begins more than `L = largest jump / rate` before its jump.
//!
//! So `S <= s <= up` with `up(e) = min(S at b + L, S(e) + limit(e))`, and the
//! gentlest such `s` is the [taut string](retime_numerics::taut_string) through that
//! corridor. It costs time linear in the number of events with edges, however
//! many jumps lie within `L`, and its largest slope is the least possible.
//!
//! ```
//! use retime_logical_clocks::AmortizationRate;
//! use retime_numerics::taut_string::{Gate, taut_string};
//! // One jump of 10 at b = 1000, ramped at 1 % (L = 1000); a send at b = 900
//! // may move by 6 only.
//! let rate: AmortizationRate = "1%".parse()?;
//! assert_eq!(rate.ramp(10), 1_000);
//! let gates = [
//!     Gate { x: 0, low: 0, high: 6 }, // the first event: no higher than what follows
//!     Gate { x: 900, low: 0, high: 6 }, // the send
//!     Gate { x: 1_000, low: 10, high: 10 }, // the receive
//! ];
//! assert_eq!(taut_string(&gates), [6, 6, 10]);
//! # Ok::<(), retime_logical_clocks::RateError>(())
//! ```
//!
//! Source: Rabenseifner 2000, algorithm 5 and section 4.5; Linford 2007,
//! section 3.3. Theorem 9 of the former says why limits may be taken from the
//! clock before amortisation: it moves effects later only.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicI64, Ordering};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::correction::{CorrectionError, MapBuilder, Point, add_known};
use crate::in_time::{InTime, last_stamp};
use crate::lead::Lead;
use crate::operations::limits_of_begins;
use crate::printed::printed_ramps;
use crate::times::{Between, LogicalTimes};
use retime_causality::MinimalDelay;
use retime_causality::{Causality, EventNode, Ids, Instance, Role, Slot};
use retime_model::pace::Pace;
use retime_model::{Cancelled, Monitor};
use retime_model::{ClockId, Clocks, LocationIndex};
use retime_model::{ClockMap, Correction};
use retime_model::{Ticks, Timestamp};
use retime_numerics::parallel;
use retime_numerics::taut_string::{Gate, interpolate, taut_string};

/// How fast a correction may grow while it is ramped up: a share of local time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AmortizationRate {
    /// Millionths.
    ppm: u32,
}

/// Not a rate of amortisation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no amortisation rate: give a percentage above 0 and up to 100, such as 0.5%")]
pub struct RateError(String);

impl AmortizationRate {
    /// The length of local time over which `jump` ticks are ramped up; `i64::MAX`,
    /// longer than any trace, for what is longer still.
    pub fn ramp(self, jump: i64) -> i64 {
        let length = i128::from(jump) * 1_000_000 / i128::from(self.ppm);
        i64::try_from(length).unwrap_or(i64::MAX)
    }

    /// 5 %, with which times are given out soon (the default is gentler).
    pub const fn five_percent() -> Self {
        Self { ppm: 50_000 }
    }

    /// The rate as a factor, for output only.
    pub fn factor(self) -> f64 {
        f64::from(self.ppm) / 1e6
    }
}

impl Default for AmortizationRate {
    fn default() -> Self {
        Self { ppm: 5_000 }
    }
}

impl FromStr for AmortizationRate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        let error = || RateError(text.into());
        let percent: f64 = text
            .trim()
            .strip_suffix('%')
            .ok_or_else(error)?
            .trim()
            .parse()
            .map_err(|_| error())?;
        let ppm = (percent * 1e4).round();
        if !(1.0..=1e6).contains(&ppm) {
            return Err(error());
        }
        Ok(Self { ppm: ppm as u32 })
    }
}

impl fmt::Display for AmortizationRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", f64::from(self.ppm) / 1e4)
    }
}

/// Turns logical times into clock maps, with their jumps spread backwards; fails
/// if a corrected stamp does not fit into 64 bits, or if `monitor` says to give up.
pub fn amortize(
    causality: &Causality,
    clocks: &Clocks,
    delay: &MinimalDelay,
    rate: AmortizationRate,
    times: &LogicalTimes,
    monitor: &dyn Monitor,
) -> Result<Correction, CorrectionError> {
    let ramp = Ticks(rate.ramp(times.largest_jump().0));
    amortize_with_ramp(causality, clocks, delay, ramp, times, monitor)
}

/// Amortises with ramps as the source [prints](crate::printed_ramps) them, jump by jump, to compare.
/// They are as long as the largest jump so far takes, from the beginning as long as `ramp.expected`
/// does.
pub fn amortize_as_printed(
    causality: &Causality,
    clocks: &Clocks,
    delay: &MinimalDelay,
    ramp: PrintedRamp,
    times: &LogicalTimes,
    monitor: &dyn Monitor,
) -> Result<Correction, CorrectionError> {
    let shape = Shape::Printed(ramp);
    Ramps::new(causality, clocks, delay, shape, times, monitor)?.correction()
}

/// Spreads jumps over a ramp of given length, where a bound on the jumps is known
/// rather than the largest one, as in the filter of `retime-stream`.
pub fn amortize_with_ramp(
    causality: &Causality,
    clocks: &Clocks,
    delay: &MinimalDelay,
    ramp: Ticks,
    times: &LogicalTimes,
    monitor: &dyn Monitor,
) -> Result<Correction, CorrectionError> {
    let shape = Shape::Gentlest(ramp);
    Ramps::new(causality, clocks, delay, shape, times, monitor)?.correction()
}

/// How jumps become ramps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AmortizationMethod {
    /// All at once, such that the steepest part is as gentle as it can be.
    #[default]
    Gentlest,
    /// Jump by jump, as the source prints it.
    Printed,
}

/// The shape of ramps.
#[derive(Clone, Copy)]
enum Shape {
    /// The gentlest, which begin so far ahead of a jump at most.
    Gentlest(Ticks),
    /// The ramps of algorithm 5, as it is printed.
    Printed(PrintedRamp),
}

/// How long a ramp of algorithm 5 takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintedRamp {
    /// How fast it grows.
    pub rate: AmortizationRate,
    /// The difference of clocks that the user expects at the beginning: smaller jumps get ramps
    /// as long as this one's.
    pub expected: Ticks,
}

impl PrintedRamp {
    /// The length of local time after a largest jump of so many ticks.
    fn length(self, largest: i64) -> i64 {
        self.rate.ramp(largest.max(self.expected.0))
    }
}

/// Relative times are never negative, and neither a clock without its jumps nor
/// the sum of these exceeds the clock itself: differences and sums of them fit
/// into 64 bits as logical times do.
struct Ramps<'a> {
    causality: &'a Causality,
    clocks: &'a Clocks,
    delay: &'a MinimalDelay,
    times: &'a LogicalTimes,
    limits: CollectiveLimits,
    shape: Shape,
    monitor: &'a dyn Monitor,
}

impl<'a> Ramps<'a> {
    fn new(
        causality: &'a Causality,
        clocks: &'a Clocks,
        delay: &'a MinimalDelay,
        shape: Shape,
        times: &'a LogicalTimes,
        monitor: &'a dyn Monitor,
    ) -> Result<Self, Cancelled> {
        Ok(Self {
            causality,
            clocks,
            delay,
            times,
            limits: CollectiveLimits::new(causality, clocks, delay, times, monitor)?,
            shape,
            monitor,
        })
    }

    fn correction(&self) -> Result<Correction, CorrectionError> {
        let all: Vec<ClockId> = self.clocks.iter().collect();
        let maps = parallel::try_map(&all, |clock| self.map(*clock))?;
        let distance = self.times.distance.clone();
        Ok(Correction::new(self.clocks.clone(), maps).keeping(distance))
    }

    /// The map of one clock.
    fn map(&self, clock: ClockId) -> Result<ClockMap, CorrectionError> {
        let (causality, clocks, times) = (self.causality, self.clocks, self.times);
        let order = InTime::of(causality, clocks, clock, times, self.monitor)?;
        let mut gates = self.corridor(clock, &order)?;
        let heights = match self.shape {
            Shape::Printed(ramp) => printed_ramps(&gates, |jump| ramp.length(jump), self.monitor)?,
            Shape::Gentlest(ramp) => {
                lower_to_ramp(&mut gates, ramp.0);
                self.monitor.check()?;
                taut_string(&gates)
            }
        };
        self.through(clock, &order, &gates, &heights)
    }

    /// The gates `[S, up]` at `b` of all nodes in `order`.
    fn corridor(&self, clock: ClockId, order: &InTime) -> Result<Vec<Gate>, Cancelled> {
        let nodes = self.causality.nodes();
        let mut gates = Vec::with_capacity(order.len());
        let mut sum = 0;
        let mut previous: Option<EventNode> = None;
        let is_alone = self.clocks.locations(clock).len() == 1;
        let mut jumps = self.times.jumps_in_order();
        let mut pace = Pace::of(self.monitor);
        for node in order.iter() {
            pace.event()?;
            let value = self.times.get(node).0;
            sum += match previous {
                Some(previous) if nodes.time(previous) == nodes.time(node) => {
                    // Within a moment whatever lies between two nodes is a jump, unless it keeps
                    // them apart.
                    if self.times.distance.is_zero() {
                        value - self.times.get(previous).0
                    } else if is_alone {
                        jumps.of(node)
                    } else {
                        0
                    }
                }
                _ => jumps.of(node),
            };
            previous = Some(node);
            // Beyond 64 bits there is nothing that it could limit.
            let high = self
                .limit(clock, node)
                .map_or(i64::MAX, |limit| sum.saturating_add(limit.max(0)));
            gates.push(Gate {
                x: value - sum,
                low: sum,
                high,
            });
        }
        Ok(gates)
    }

    /// How far a send-like node may move without an effect coming too early.
    fn limit(&self, clock: ClockId, node: EventNode) -> Option<i64> {
        let nodes = self.causality.nodes();
        match nodes.role(node) {
            Role::Send => {
                let receive = self.causality.message_target(node)?;
                let to = nodes.location(receive);
                if self.clocks.of(to) == clock {
                    return None;
                }
                let delay = self.causality.message_delay(self.delay, node, receive);
                // What is no limit in 64 bits, or less than none, stays so.
                let arrives = self.times.get(receive).0.saturating_sub(delay.0);
                Some(arrives.saturating_sub(self.times.get(node).0))
            }
            Role::CollectiveBegin => self.limits.of(self.causality.slot(node)?),
            Role::Receive | Role::CollectiveEnd => None,
        }
    }

    /// The map through the corrected nodes, which bends where a lead has run
    /// out between two of them.
    fn through(
        &self,
        clock: ClockId,
        order: &InTime,
        gates: &[Gate],
        heights: &[i64],
    ) -> Result<ClockMap, CorrectionError> {
        let nodes = self.causality.nodes();
        let mut builder = MapBuilder::keeping(self.times.distance.clone());
        let mut add = |raw: Timestamp, corrected: i64, event| {
            let corrected = nodes.absolute(Ticks(corrected));
            let point = Point {
                raw,
                corrected: corrected.ok_or(CorrectionError::TooFar { raw, event })?,
                event,
            };
            add_known(&mut builder, nodes, point)
        };
        let end = last_stamp(self.causality, self.clocks, clock);
        let last = nodes.relative(end).0;
        let mut lead = Lead::default();
        let mut ahead = order.iter().peekable();
        let mut pace = Pace::of(self.monitor);
        // There are as many gates, and heights, as nodes.
        for (index, (gate, &height)) in gates.iter().zip(heights).enumerate() {
            let Some(node) = ahead.next() else { break };
            pace.event()?;
            let (stamp, raw) = (nodes.timestamp(node), nodes.time(node).0);
            add(
                stamp,
                gate.x + height,
                Some((nodes.location(node), nodes.event(node))),
            )?;
            // With a factor that changes, only the nodes themselves are known.
            let Between::Loses(gamma) = self.times.between else {
                continue;
            };
            if index == 0 || gates[index - 1].low < gate.low {
                lead = lead.after(raw, gamma).forced(self.times.get(node).0 - raw);
            }
            let next = ahead.peek().map_or(last, |&next| nodes.time(next).0);
            if let Some(gone) = lead.gone_between(raw, next, gamma) {
                // Physical time again from here on, apart from the heights.
                let along = gone - gate.low - gate.x;
                let climbed = gates
                    .get(index + 1)
                    .filter(|next| next.x > gate.x)
                    .map_or(0, |next| {
                        interpolate(along, heights[index + 1] - height, next.x - gate.x)
                    });
                // Between the stamps of two events, so that it fits.
                let at = Timestamp(stamp.0 + gone.abs_diff(raw));
                add(at, gone - gate.low + height + climbed, None)?;
                lead = Lead::default();
            } else if ahead.peek().is_none() && last > raw {
                add(end, last + lead.at(last, gamma), None)?;
            }
        }
        builder.finish()
    }
}

/// Lowers the highs such that no ramp begins more than `ramp` ahead of its
/// jump, and that they rise like the lows.
fn lower_to_ramp(gates: &mut [Gate], ramp: i64) {
    let mut beyond = 0;
    for index in 0..gates.len() {
        // No gate lies beyond 64 bits.
        let horizon = gates[index].x.saturating_add(ramp);
        // A gate lies within its own horizon; one exactly `ramp` ahead does not.
        while beyond <= index || beyond < gates.len() && gates[beyond].x < horizon {
            beyond += 1;
        }
        let reached = gates[beyond - 1].low;
        gates[index].high = gates[index].high.min(reached);
    }
    let mut lowest = i64::MAX;
    for gate in gates.iter_mut().rev() {
        lowest = lowest.min(gate.high);
        gate.high = lowest;
    }
}

/// Collectives whose limits are one task: it takes long beside handing it out.
const BLOCK: u32 = 1 << 10;

/// Limits of the begins of collectives, by slot. Operations note them side by side;
/// a least value does not depend on their order.
struct CollectiveLimits {
    by_slot: Vec<AtomicI64>,
}

impl CollectiveLimits {
    fn new(
        causality: &Causality,
        clocks: &Clocks,
        delay: &MinimalDelay,
        times: &LogicalTimes,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let collectives = causality.collectives();
        let slots = collectives.slots();
        let limits = Self {
            by_slot: slots.map(|_| AtomicI64::new(i64::MAX)).collect(),
        };
        let note = |cause: EventNode, limit: i64| {
            if let Some(slot) = causality.slot(cause) {
                limits.by_slot[slot.index()].fetch_min(limit, Ordering::Relaxed);
            }
        };
        let (domain, time) = (
            |it: LocationIndex| clocks.of(it),
            |node: EventNode| times.values[node.index()],
        );
        // Fixed blocks, so that it is asked equally often whether to go on.
        let blocks: Vec<Ids<Instance>> = collectives.known_instances().chunks(BLOCK).collect();
        blocks.into_par_iter().try_for_each(|block| {
            let mut pace = Pace::of(monitor);
            for instance in block {
                pace.events(collectives.participants(instance).len())?;
                causality.tightest_effects(instance, domain, delay, time, &mut &note);
            }
            Ok(())
        })?;
        limits.hear(causality, delay, times, monitor)?;
        Ok(limits)
    }

    /// Takes up what is known of ends elsewhere where operations are joined.
    fn hear(
        &self,
        causality: &Causality,
        delay: &MinimalDelay,
        times: &LogicalTimes,
        monitor: &dyn Monitor,
    ) -> Result<(), Cancelled> {
        let Some(rest) = causality.whole().rest().filter(|it| it.joins_apart()) else {
            return Ok(());
        };
        let own = limits_of_begins(causality, delay, &times.values, monitor)?;
        for (slot, limit) in rest.of_joined_elsewhere(&own) {
            self.by_slot[slot.index()].fetch_min(limit, Ordering::Relaxed);
        }
        Ok(())
    }

    fn of(&self, slot: Slot) -> Option<i64> {
        let limit = self.by_slot[slot.index()].load(Ordering::Relaxed);
        Some(limit).filter(|&limit| limit != i64::MAX)
    }
}
