//! Lamport's clock: order without time.
//!
//! A counter per location: 0 at its first event, one more at each further event,
//! and at a receive at least one more than the sender's:
//! `max(own + 1, sender + 1)`. It orders events such that causes come before
//! effects, and says nothing about how long anything took. Counters have no rate that
//! locations could share, so each counts for itself, also one that reads the clock of
//! another: without messages it has `0, 1, 2, ...`, concurrent with all others.
//!
//! ```
//! use retime_causality::{Causality, CausalityOptions};
//! use retime_logical_clocks::lamport;
//! use retime_testing::trace;
//!
//! // The first sends with its fifth event, and the second receives that with its second.
//! let trace = trace(
//!     "0: internal @1, internal @1, internal @1, internal @1, send 1 @100
//!      1: internal @1, receive 0 @95, internal @95, send 0 @96",
//! )?;
//! let causality = Causality::build(&trace.info, trace.logs, CausalityOptions::default())?;
//! assert_eq!(lamport(&causality, &())?, [4, 5, 7]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: Lamport 1978; Rabenseifner 1997, section 4; Rabenseifner 2000,
//! section 4.1.

use crate::correction::{CorrectionError, MapBuilder, Point, add_known};
use crate::error::ClockError;
use crate::law::{Computed, Law};
use crate::lead::Lead;
use crate::part::in_any_order;
use crate::run::Run;
use crate::times::Between;
use retime_causality::MinimalDelay;
use retime_causality::{Causality, EventNode, Nodes};
use retime_model::Correction;
use retime_model::pace::Pace;
use retime_model::{ClockId, Clocks, MinimalDistance, Monitor, Ticks, Timestamp};

/// The counter of every node.
///
/// Fails if happened-before has a cycle, naming its events, or if `monitor` says to
/// give up.
pub fn lamport(causality: &Causality, monitor: &dyn Monitor) -> Result<Vec<u64>, ClockError> {
    let nodes = causality.nodes();
    // Counting needs no clock; every location counts for itself.
    let clocks = Clocks::each_location(nodes.locations());
    let law = || Counting {
        nodes,
        last: vec![None; nodes.locations()],
    };
    let delay = MinimalDelay::Uniform(Ticks(1));
    let fresh = || Run::new(causality, &clocks, &delay, law(), monitor);
    let (times, _) = in_any_order(fresh, 0, monitor)?;
    Ok(times.values.into_iter().map(i64::unsigned_abs).collect())
}

/// Turns the counters into a correction: the time of an event is the smallest
/// stamp of the trace plus its counter, also of events that are no nodes: each is one more
/// than the event before it. For a trace that is to be read for the order of its events alone.
pub fn lamport_order(
    causality: &Causality,
    monitor: &dyn Monitor,
) -> Result<Correction, ClockError> {
    let nodes = causality.nodes();
    let counters = lamport(causality, monitor)?;
    let distance = MinimalDistance::Uniform(Ticks(1));
    let maps = (0..nodes.locations()).map(|location| {
        let mut builder = MapBuilder::keeping(distance.clone());
        let mut add = |raw, counter: u64, event| {
            let corrected = nodes.base().0.checked_add(counter).map(Timestamp);
            let point = Point {
                raw,
                corrected: corrected.ok_or(CorrectionError::TooFar { raw, event })?,
                event,
            };
            add_known(&mut builder, nodes, point)
        };
        let range = nodes.of(location);
        let extent = nodes.extent(location);
        let mut before = 0;
        if let Some(extent) = extent {
            add(extent.first, before, None)?;
        }
        let mut pace = Pace::of(monitor);
        for node in range.clone() {
            pace.event()?;
            let counter = counters[node.index()];
            let event = Some((nodes.location(node), nodes.event(node)));
            if !nodes.is_between(node) {
                // Events between count on from the node before.
                add(nodes.timestamp(node), before, None)?;
                before = counter;
            }
            add(nodes.timestamp(node), counter, event)?;
        }
        if let Some(extent) = extent {
            add(extent.last, before, None)?;
        }
        builder.finish()
    });
    let maps = maps.collect::<Result<_, CorrectionError>>()?;
    let clocks = Clocks::each_location(nodes.locations());
    Ok(Correction::new(clocks, maps).keeping(distance))
}

struct Counting<'a> {
    nodes: &'a Nodes,
    /// Event number and count of the last node of each location.
    last: Vec<Option<(u64, i64)>>,
}

impl Law for Counting<'_> {
    fn between(&mut self) -> Between {
        Between::Varies(Vec::new())
    }

    fn left(&self, _: ClockId, _: Lead, raw: i64) -> Lead {
        Lead::new(raw, 0)
    }

    fn alone(&self, clock: ClockId, _: Lead, raw: i64, node: EventNode) -> Lead {
        let event = self.nodes.event(node);
        let counter = match self.last[clock.as_usize()] {
            Some((before, count)) => count + (event - before) as i64,
            None => event as i64,
        };
        Lead::new(raw, counter - raw)
    }

    fn computed(&mut self, clock: ClockId, lead: Lead, node: Computed) -> Lead {
        self.last[clock.as_usize()] = Some((self.nodes.event(node.node), node.value));
        lead
    }
}
