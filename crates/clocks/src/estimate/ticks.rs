//! Means over cycles of messages that the ticks of clocks make negative.
//!
//! A stamp stands for any moment until the clock shows the next one. A clock that advances by `q`
//! at once seems to hold a message for up to `q` longer than it does, and a cycle of messages, which
//! passes each clock once, to take less by that. So of a mean over a cycle
//!
//! ```text
//! - max q <= mean < 0
//! ```
//!
//! says nothing; below that a clock was set, or a stamp is wrong.

use retime_causality::Causality;
use retime_causality::merge::Most;
use retime_model::pace::Pace;
use retime_model::{Cancelled, ClockId, Clocks, Monitor};
use retime_numerics::lattice;
use retime_numerics::parallel;

/// A mean latency over a cycle of clocks, 0 where it is negative by no more than ticks hide.
pub fn but_for_ticks(
    mean: f64,
    causality: &Causality,
    clocks: &Clocks,
    monitor: &dyn Monitor,
) -> Result<f64, Cancelled> {
    if mean >= 0.0 || mean < -(coarsest(causality, clocks, monitor)? as f64) {
        Ok(mean)
    } else {
        Ok(0.0)
    }
}

/// The ticks by which the coarsest clock advances at once.
fn coarsest(
    causality: &Causality,
    clocks: &Clocks,
    monitor: &dyn Monitor,
) -> Result<i64, Cancelled> {
    let nodes = causality.nodes();
    let of = |clock: ClockId| {
        let (mut pace, mut asked) = (Pace::of(monitor), Ok(()));
        let locations = clocks.locations(clock).iter();
        let own = locations.flat_map(|location| nodes.of(location.as_usize()));
        let found = lattice::step(own.map_while(|node| {
            asked = pace.event();
            asked.is_ok().then(|| nodes.time(node).0)
        }));
        asked.map(|()| found)
    };
    let all: Vec<ClockId> = clocks.iter().collect();
    let found: Vec<i64> = parallel::try_map(&all, |it| of(*it))?;
    let here = found.into_iter().max().unwrap_or(1);
    Ok(causality.whole().all_reduce(Most(here)).0)
}

#[cfg(test)]
mod tests {
    use crate::Grouping;
    use crate::estimate::learn_minimal_delay;
    use retime_causality::{Causality, CausalityOptions};
    use retime_model::Ticks;
    use retime_testing::trace;

    /// Two thousand messages each way, of 3 ticks, to a clock that advances by 10 at once and is set by
    /// `step` in the middle.
    fn half_round_trip(step: i64) -> Option<Ticks> {
        let shown = |time: i64| time / 10 * 10 + if time > 205_000 { step } else { 0 };
        let starts = (0..2_000).map(|n| 200 * n + 1_000 + 7 * (n % 10));
        let fine = starts
            .clone()
            .map(|start| format!("send 1 @{start}, receive 1 @{}, ", start + 60));
        let coarse = starts.map(|start| {
            let [received, sent] = [start + 3, start + 57].map(shown);
            format!("receive 0 @{received}, send 0 @{sent}, ")
        });
        let [fine, coarse] = [fine.collect::<String>(), coarse.collect::<String>()];
        let trace = trace(&format!("0 on 0: {fine}\n1 on 1: {coarse}")).unwrap();
        let causality =
            Causality::build(&trace.info, trace.logs, CausalityOptions::default()).unwrap();
        let clocks = Grouping::Auto.clocks(&trace.info, &causality);
        learn_minimal_delay(&causality, &clocks, trace.info.rate, &())
            .unwrap()
            .half_round_trip
    }

    #[test]
    fn a_coarse_clock_is_not_one_that_was_set() {
        assert_eq!(half_round_trip(0), Some(Ticks(0)));
        let set = half_round_trip(5_000).unwrap();
        assert!(set < Ticks(-1_000), "{set:?}");
    }
}
