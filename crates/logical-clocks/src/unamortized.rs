//! Logical times as they are, jumps and all.
//!
//! An event without a dependency is moved by its own clock only:
//!
//! ```text
//! LC'(e) = max( LC'(prev) + gamma * (C(e) - C(prev)), C(e) )
//! ```
//!
//! So the map of a clock goes to where the clock alone brings each node, bends where its
//! lead runs out before that, and has a step where a dependency forces the node further.
//!
//! ```
//! # use retime_causality::{Causality, CausalityOptions};
//! # use retime_causality::MinimalDelay;
//! # use retime_model::{Clocks, LocationIndex, Ticks, Timestamp};
//! use retime_logical_clocks::{controlled, unamortized};
//! # let trace = retime_testing::trace("0: send 1 @100, send 1 @1000
//! #                                    1: receive 0 @95, internal @900, receive 0 @990")?;
//! # let causality = Causality::build(&trace.info, trace.logs, CausalityOptions::default())?;
//! # let clocks = Clocks::each_location(trace.info.locations.len());
//! // Receives at 95 and 990 of what was sent at 100 and 1000, and an event at 900.
//! let delay = MinimalDelay::Uniform(Ticks(2));
//! let times = controlled(&causality, &clocks, &delay, "0.99".parse()?, &())?;
//! let correction = unamortized(&causality, &clocks, &times, &())?;
//! let mut map = correction.map_of(LocationIndex(1)).cursor(LocationIndex(1));
//! let mut at = |event, raw| map.map(event, Timestamp(raw)).map(|corrected| corrected.0);
//! assert_eq!(at(0, 95), Some(102));
//! assert_eq!(at(1, 900), Some(900)); // 1 % of 805 ticks is more than the lead of 7
//! assert_eq!(at(2, 990), Some(1_002));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! After the last node of a clock under control its lead stays, since no event says by
//! which gamma it would go on.
//!
//! Source: Rabenseifner 2000, equation 4.11.

use crate::correction::{CorrectionError, MapBuilder, Point, add_known};
use crate::in_time::{InTime, last_stamp};
use crate::lead::Lead;
use crate::times::{Between, LogicalTimes};
use retime_causality::{Causality, EventNode};
use retime_model::pace::Pace;
use retime_model::{ClockId, Clocks, Monitor, Ticks, Timestamp};
use retime_model::{ClockMap, Correction};
use retime_numerics::parallel;

/// Turns logical times into clock maps as they are; fails if a corrected stamp does not fit
/// into 64 bits, or if `monitor` says to give up.
pub fn unamortized(
    causality: &Causality,
    clocks: &Clocks,
    times: &LogicalTimes,
    monitor: &dyn Monitor,
) -> Result<Correction, CorrectionError> {
    let work = JumpWalk {
        causality,
        clocks,
        times,
        monitor,
    };
    let all: Vec<ClockId> = clocks.iter().collect();
    let maps = parallel::try_map(&all, |clock| work.map(*clock))?;
    Ok(Correction::new(clocks.clone(), maps).keeping(times.distance.clone()))
}

struct JumpWalk<'a> {
    causality: &'a Causality,
    clocks: &'a Clocks,
    times: &'a LogicalTimes,
    monitor: &'a dyn Monitor,
}

/// The node that a clock has passed last.
#[derive(Clone, Copy)]
struct Passed {
    raw: i64,
    value: i64,
    /// The amount by which the clock leads from there on, if gamma is constant.
    lead: Lead,
}

impl JumpWalk<'_> {
    /// The map of one clock.
    fn map(&self, clock: ClockId) -> Result<ClockMap, CorrectionError> {
        let (causality, clocks, times) = (self.causality, self.clocks, self.times);
        let nodes = causality.nodes();
        let order = InTime::of(causality, clocks, clock, times, self.monitor)?;
        let mut builder = MapBuilder::keeping(times.distance.clone());
        let mut last: Option<Passed> = None;
        let mut jumps = times.jumps_in_order();
        let mut pace = Pace::of(self.monitor);
        for node in order.iter() {
            pace.event()?;
            let (raw, value) = (nodes.time(node).0, times.get(node).0);
            let jump = match last {
                // Within a moment whatever lies between two nodes is a jump.
                Some(last) if last.raw == raw => value - last.value,
                _ => {
                    let jump = jumps.of(node);
                    let bend = last.and_then(|last| self.bend(last, raw, Some(node)));
                    self.bend_at(bend, &mut builder)?;
                    if jump > 0 {
                        builder.add(self.point(raw, value - jump, None)?)?;
                    }
                    jump
                }
            };
            add_known(&mut builder, nodes, self.point(raw, value, Some(node))?)?;
            let lead = self.lead(last, raw, (jump > 0).then_some(value - raw));
            last = Some(Passed { raw, value, lead });
        }
        if let Some(last) = last {
            let end = nodes.relative(last_stamp(causality, clocks, clock)).0;
            self.end(last, end, &mut builder)?;
        }
        builder.finish()
    }

    /// Where the lead runs out on the way from the node passed last to `node` at `raw`, or to
    /// the end of the clock.
    fn bend(&self, last: Passed, raw: i64, node: Option<EventNode>) -> Option<i64> {
        match &self.times.between {
            Between::Loses(gamma) => last.lead.gone_between(last.raw, raw, *gamma),
            Between::Stands => Some(last.value).filter(|it| (last.raw + 1..raw).contains(it)),
            Between::Varies(bends) => {
                let node = node?;
                let found = bends.binary_search_by_key(&node, |bend| bend.node);
                let found = found.ok().and_then(|at| bends.get(at));
                found
                    .map(|bend| bend.raw)
                    .filter(|it| (last.raw + 1..raw).contains(it))
            }
        }
    }

    /// From a bend on a clock is its physical clock.
    fn bend_at(&self, bend: Option<i64>, builder: &mut MapBuilder) -> Result<(), CorrectionError> {
        match bend {
            Some(raw) => builder.add(self.point(raw, raw, None)?),
            None => Ok(()),
        }
    }

    /// The lead of the clock from a node on, to which it was forced if it jumped there.
    fn lead(&self, last: Option<Passed>, raw: i64, jumped: Option<i64>) -> Lead {
        let lead = last.map_or(Lead::default(), |last| last.lead);
        match (&self.times.between, jumped) {
            (Between::Loses(gamma), Some(amount)) => lead.after(raw, *gamma).forced(amount),
            _ => lead,
        }
    }

    /// How the clock goes on from its last node to the end of its events.
    fn end(&self, last: Passed, end: i64, builder: &mut MapBuilder) -> Result<(), CorrectionError> {
        let bend = self.bend(last, end, None);
        self.bend_at(bend, builder)?;
        if bend.is_some() || end <= last.raw {
            return Ok(());
        }
        match &self.times.between {
            Between::Loses(gamma) => {
                builder.add(self.point(end, end + last.lead.at(end, *gamma), None)?)
            }
            Between::Stands => builder.add(self.point(end, last.value.max(end), None)?),
            Between::Varies(_) => Ok(()),
        }
    }

    /// A point of the map: of a node, or where the map bends.
    fn point(
        &self,
        raw: i64,
        corrected: i64,
        node: Option<EventNode>,
    ) -> Result<Point, CorrectionError> {
        let nodes = self.causality.nodes();
        let event = node.map(|node| (nodes.location(node), nodes.event(node)));
        // Between the stamps of two events, so that it fits.
        let raw = Timestamp(nodes.base().0.wrapping_add_signed(raw));
        let corrected = nodes.absolute(Ticks(corrected));
        Ok(Point {
            raw,
            corrected: corrected.ok_or(CorrectionError::TooFar { raw, event })?,
            event,
        })
    }
}
