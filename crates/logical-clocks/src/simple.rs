//! The simple logical clock.
//!
//! `LC(e) = max( LC(s) + mu over all dependencies s -> e, LC(prev) + delta, C(e) )`
//!
//! It is the controlled clock with gamma = 0: once ahead, a clock stands still
//! until physical time has caught up. Never is it further ahead than the fastest
//! clock, never further behind than its own (Rabenseifner 2000, theorems 5 and 6),
//! but all local intervals meanwhile are lost.
//!
//! The receive at 95 is pushed to 102; the clock then stands until physical time
//! has reached 102:
//!
//! ```
//! # use retime_causality::{Causality, CausalityOptions, EventNode};
//! # use retime_causality::MinimalDelay;
//! # use retime_model::{Clocks, MinimalDistance, Ticks};
//! use retime_logical_clocks::simple;
//! # let trace = retime_testing::trace("0: send 1 @100
//! #                                    1: receive 0 @95, send 0 @98, send 0 @105")?;
//! # let causality = Causality::build(&trace.info, trace.logs, CausalityOptions::default())?;
//! # let clocks = Clocks::each_location(trace.info.locations.len());
//! let times = simple(&causality, &clocks, &MinimalDelay::Uniform(Ticks(2)), &MinimalDistance::default(), &())?;
//! let corrected = |node| causality.nodes().base().0 as i64 + times.get(EventNode(node)).0;
//! assert_eq!([1, 2, 3].map(corrected), [102, 102, 105]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: Rabenseifner 1997, section 4; Rabenseifner 2000, section 4.2.

use crate::error::ClockError;
use crate::law::{Computed, Law, distance_before};
use crate::lead::Lead;
use crate::part::in_any_order;
use crate::run::Run;
use crate::times::{Between, LogicalTimes};
use retime_causality::MinimalDelay;
use retime_causality::{Causality, EventNode, Nodes};
use retime_model::{ClockId, Clocks, MinimalDistance, Monitor};

/// Runs the simple logical clock, with at least `distance` between successive nodes of a
/// clock: between successive events where all of them are nodes.
///
/// Fails if happened-before has a cycle, naming its events, or if `monitor` says to
/// give up.
pub fn simple(
    causality: &Causality,
    clocks: &Clocks,
    delay: &MinimalDelay,
    distance: &MinimalDistance,
    monitor: &dyn Monitor,
) -> Result<LogicalTimes, ClockError> {
    let law = || StandingClock {
        nodes: causality.nodes(),
        distance,
    };
    let fresh = || Run::new(causality, clocks, delay, law(), monitor);
    let (times, _) = in_any_order(fresh, 0, monitor)?;
    Ok(times.apart(causality, distance))
}

/// A clock that is ahead stands still, but for the least distance.
struct StandingClock<'a> {
    nodes: &'a Nodes,
    distance: &'a MinimalDistance,
}

impl Law for StandingClock<'_> {
    fn between(&mut self) -> Between {
        Between::Stands
    }

    fn left(&self, _: ClockId, lead: Lead, raw: i64) -> Lead {
        lead.advanced(raw, 0)
    }

    #[inline]
    fn alone(&self, _: ClockId, lead: Lead, raw: i64, node: EventNode) -> Lead {
        let distance = distance_before(self.nodes, self.distance, node);
        lead.advanced(raw, distance)
    }

    fn computed(&mut self, _: ClockId, _: Lead, node: Computed) -> Lead {
        Lead::new(node.raw, node.value - node.raw)
    }
}
