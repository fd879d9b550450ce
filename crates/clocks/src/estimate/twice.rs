//! The dependencies of a trace and its estimate, each from the other.
//!
//! Of a collective [`Edges::collect`] lists for each end the begin that was the
//! latest and for each begin the earliest end, since these are the tightest. Which
//! they are depends on how clocks differ, and that is what is to be estimated from
//! them. By recorded stamps a clock that is far ahead enters all collectives last,
//! and hides who really did. So:
//!
//! ```text
//! first  = solution for the tightest at recorded times
//! result = solution for the tightest at the times that `first` gives
//! ```
//!
//! Two rounds are enough: after the first, clocks are known to some message delays,
//! and a begin that close to the latest is nearly as tight. Messages are all listed
//! in any case, so a trace without collectives needs one round only.
//!
//! Example: a third clock, a thousand ahead, hides that the second rank is the last
//! to enter a barrier.
//!
//! ```
//! use retime_causality::{Causality, CausalityOptions};
//! use retime_clocks::estimate::{Estimate, NoEstimate, Offset, twice};
//! use retime_causality::Edges;
//! use retime_clocks::Grouping;
//! use retime_model::ClockId;
//! use retime_testing::trace;
//!
//! let trace = trace(
//!     "0 on 0: barrier @10..45
//!      1 on 1: barrier @40..45
//!      2 on 2: barrier @1020..1045",
//! )?;
//! let info = &trace.info;
//! let causality = Causality::build(info, trace.logs, CausalityOptions::default())?;
//! let clocks = Grouping::Auto.clocks(info, &causality);
//!
//! let mut last_to_enter = Vec::new();
//! let solve = |edges: &Edges| -> Result<_, Box<dyn std::error::Error>> {
//!     let tightest = edges.all().iter().find(|edge| edge.to == ClockId(0));
//!     last_to_enter.extend(tightest.map(|edge| edge.from.0));
//!     let offsets = [0.0, 0.0, -1_000.0].map(|ticks| Some(Offset::constant(ticks)));
//!     let estimate = Estimate { offsets: offsets.into(), reference: ClockId(0) };
//!     let correction = estimate.correction(&causality, &clocks, edges);
//!     Ok(correction.map_err(|bad| bad.describe(info, &clocks))?)
//! };
//! let retimed = |correction: &_| Ok(causality.retimed(correction, &())?);
//! twice(&causality, &clocks, solve, retimed, &())?;
//! assert_eq!(last_to_enter, [2, 1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use retime_causality::Causality;
use retime_causality::edges::Edges;
use retime_model::{Cancelled, Clocks, Monitor};

/// Solves for the dependencies that are the tightest as recorded; where there are
/// collectives, once more for those that are at the times of that solution, which
/// `retimed` gives.
///
/// # Errors
///
/// The first of `solve` or `retimed`, or that `monitor` says to give up.
pub fn twice<T, E: From<Cancelled>>(
    causality: &Causality,
    clocks: &Clocks,
    mut solve: impl FnMut(&Edges) -> Result<T, E>,
    retimed: impl FnOnce(&T) -> Result<Causality, E>,
    monitor: &dyn Monitor,
) -> Result<T, E> {
    let mut at_times_of = |times: &Causality| {
        let nodes = times.nodes();
        let time = |node| nodes.time(node).0;
        solve(&Edges::collect(causality, clocks, time, monitor)?)
    };
    let first = at_times_of(causality)?;
    if causality.collectives().instances().is_empty() {
        return Ok(first);
    }
    at_times_of(&retimed(&first)?)
}
