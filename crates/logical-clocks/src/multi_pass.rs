//! The controlled logical clock with one gamma for all, found in several passes.
//!
//! Controllers that look at all clocks after every event need the events of all
//! clocks in one place. Where a trace is spread over many processes that is out
//! of reach; but a whole pass with a *constant* gamma, and one number per clock at
//! its end, is not. So:
//!
//! > Run with gamma = 0.99999. While a clock ends too far ahead of its physical
//! > clock, start again from the raw stamps with the next gamma: 0.9999, 0.999,
//! > then nine tenths of the one before.
//!
//! Too far is `max over clocks of |last LC' - C| > threshold * run time`; 5 % is
//! the default. A constant gamma below 1 minus the relative differences
//! of clock rates keeps leads bounded, so passes come to an end unless what the
//! trace asks for is impossible: messages that take longer than `mu` says, there
//! and back. Then no gamma helps, and the last pass is returned with
//! [`Passes::is_within`] false.
//!
//! A sound trace needs one pass:
//!
//! ```
//! # use retime_causality::{Causality, CausalityOptions, EventNode};
//! # use retime_causality::MinimalDelay;
//! # use retime_model::{Clocks, Ticks};
//! use retime_logical_clocks::{multi_pass, MultiPass};
//! # let trace = retime_testing::trace("0: send 1 @500
//! #                                    1: receive 0 @0, send 0 @1000")?;
//! # let causality = Causality::build(&trace.info, trace.logs, CausalityOptions::default())?;
//! # let clocks = Clocks::each_location(trace.info.locations.len());
//! // A receive at 0 of what was sent at 500; the receiver's last event is at 1000,
//! // and so is the end of the run. It may end ahead by 5 % of 1000.
//! let delay = MinimalDelay::Uniform(Ticks(0));
//! let passes = multi_pass(&causality, &clocks, &delay, MultiPass::default(), &())?;
//! // 0.999 * 0.9^6 = 0.5309 loses 469 of the lead of 500; 0.9^5 only 410.
//! assert_eq!(passes.count, 9);
//! assert_eq!(passes.times.get(EventNode(2)).0, 1_031);
//! assert!(passes.is_within());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: the iterative control that Linford 2007, section 4, describes and
//! leaves to future work; it names neither gammas nor a threshold.

use serde::{Deserialize, Serialize};

use crate::controlled::controlled;
use crate::error::ClockError;
use crate::gamma::Gamma;
use crate::times::LogicalTimes;
use retime_causality::Causality;
use retime_causality::MinimalDelay;
use retime_causality::merge::Most;
use retime_model::{Clocks, Monitor};

/// The gammas of the first passes.
const FIRST: [f64; 3] = [0.999_99, 0.999_9, 0.999];
/// The factor by which later passes change the gamma before.
const LATER: f64 = 0.9;

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MultiPass {
    /// Largest lead at the end of a clock, as a share of the run time.
    pub threshold: f64,
    /// Most passes.
    pub passes: u32,
}

impl Default for MultiPass {
    /// 5 %; and a hundred passes, with which gamma falls below 1e-4.
    fn default() -> Self {
        Self {
            threshold: 0.05,
            passes: 100,
        }
    }
}

/// The result of the last pass.
#[derive(Clone, Debug)]
pub struct Passes {
    /// The times.
    pub times: LogicalTimes,
    /// The gamma they were computed with.
    pub gamma: Gamma,
    /// How many passes there were.
    pub count: u32,
    /// Largest lead at the end of a clock, as a share of the run time.
    pub excess: f64,
    threshold: f64,
}

impl Passes {
    /// True if the leads are within the threshold.
    pub fn is_within(&self) -> bool {
        self.excess <= self.threshold
    }
}

/// Runs the controlled logical clock with ever smaller gammas until no clock ends
/// too far ahead. Each pass starts from the raw stamps; there is at least one.
///
/// Fails if happened-before has a cycle, naming its events, or if `monitor` says to
/// give up.
pub fn multi_pass(
    causality: &Causality,
    clocks: &Clocks,
    delay: &MinimalDelay,
    limits: MultiPass,
    monitor: &dyn Monitor,
) -> Result<Passes, ClockError> {
    let run = |gamma| controlled(causality, clocks, delay, gamma, monitor);
    passes(causality, clocks, limits, run)
}

/// Runs a clock with ever smaller gammas until none ends too far ahead.
pub fn passes(
    causality: &Causality,
    clocks: &Clocks,
    limits: MultiPass,
    run: impl Fn(Gamma) -> Result<LogicalTimes, ClockError>,
) -> Result<Passes, ClockError> {
    let mut factor = FIRST[0];
    let mut count = 0;
    loop {
        let gamma = Gamma::from_factor(factor);
        let times = run(gamma)?;
        count += 1;
        let passes = Passes {
            excess: excess(causality, clocks, &times),
            times,
            gamma,
            count,
            threshold: limits.threshold,
        };
        if passes.is_within() || count >= limits.passes {
            return Ok(passes);
        }
        factor = FIRST.get(count as usize).copied().unwrap_or(factor * LATER);
    }
}

/// The largest `|last LC' - C|` of a clock over the run time.
fn excess(causality: &Causality, clocks: &Clocks, times: &LogicalTimes) -> f64 {
    let nodes = causality.nodes();
    let last_lead = |clock| {
        let locations = clocks.locations(clock).iter();
        let last = locations
            .filter_map(|location| nodes.of(location.as_usize()).next_back())
            .max_by_key(|&node| nodes.time(node))?;
        Some((times.get(last).0 - nodes.time(last).0).unsigned_abs())
    };
    let own = clocks.iter().filter_map(last_lead).max().unwrap_or(0);
    let Most(largest) = nodes.whole().all_reduce(Most(own));
    let extents = (0..nodes.locations()).filter_map(|location| nodes.extent(location));
    let run = extents
        .map(|extent| nodes.relative(extent.last).0)
        .max()
        .unwrap_or(0);
    // A run of no length leaves no room for any lead.
    match largest {
        0 => 0.0,
        _ => largest as f64 / run as f64,
    }
}
