//! The latencies of dependencies between aligned clocks.
//!
//! A clock that was set back stands still in the trace until its time has come up with what it showed,
//! since stamps never fall. All that happens [meanwhile](Standstill) happened at any of the times that the
//! offsets before and behind the step make of its stamps:
//!
//! ```text
//! shown   1 2 3 4 4 4 4 5 6 7            set back by 3
//! time    1 2 3 4 5 6 7 8 9 10           4 is any of 4 to 7
//! ```
//!
//! A dependency of such an event is as long as it can be: no offset is wrong because it seems to be shorter.

use crate::ClockStep;
use retime_causality::edges::Edge;
use retime_clocks::Standstill;
use retime_clocks::estimate::Estimate;
use retime_model::ClockId;

/// The latencies of dependencies by an estimate, each as long as it can be.
pub(super) struct LongestLatencies<'a> {
    estimate: &'a Estimate,
    /// The steps at whose stamps clocks stand still.
    still: Vec<StandsStill>,
}

/// A clock shows hardly anything while its offset goes from one to another.
struct StandsStill {
    clock: ClockId,
    /// Between these stamps.
    after: i64,
    until: i64,
    /// The offset at `after`, and the larger one at `until`.
    offsets: [f64; 2],
}

impl<'a> LongestLatencies<'a> {
    /// Latencies by an estimate in which clocks are set like this.
    pub(super) fn new(estimate: &'a Estimate, steps: &[ClockStep]) -> Self {
        let still = steps.iter().filter_map(|step| {
            let [before, behind] = [step.after, step.until].map(|it| estimate.at(step.clock, it));
            let still = Standstill::of_core(behind - before, &[]);
            let can_be_still = still.can_show(step.until.abs_diff(step.after));
            can_be_still.then_some(StandsStill {
                clock: step.clock,
                after: step.after,
                until: step.until,
                offsets: [before, behind],
            })
        });
        Self {
            estimate,
            still: still.collect(),
        }
    }

    /// The ticks between cause and effect.
    pub(super) fn of(&self, edge: &Edge) -> f64 {
        let [earliest, _] = self.offsets(edge.from, edge.sent);
        let [_, latest] = self.offsets(edge.to, edge.received);
        edge.latency() as f64 + (latest - earliest)
    }

    /// The least and the largest ticks to add to a stamp.
    fn offsets(&self, clock: ClockId, stamp: i64) -> [f64; 2] {
        let is_still =
            |it: &&StandsStill| it.clock == clock && it.after < stamp && stamp < it.until;
        match self.still.iter().find(is_still) {
            Some(still) => still.offsets,
            None => [self.estimate.at(clock, stamp); 2],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime_clocks::estimate::Offset;

    #[test]
    fn a_clock_that_stands_still_is_where_it_has_to_be() {
        let [a, b] = [ClockId(0), ClockId(1)];
        // Set back by 30 at 100: what it shows before is right, and 30 are to be added from 102 on.
        let steps = [ClockStep {
            clock: b,
            after: 99,
            until: 102,
            by: -30.0,
            alternatives: Vec::new(),
        }];
        let estimate = Estimate {
            offsets: vec![
                Some(Offset::constant(0.0)),
                Some(Offset::through(vec![(99, 0.0), (102, 30.0)])),
            ],
            reference: a,
        };
        let latencies = LongestLatencies::new(&estimate, &steps);
        let is = |edge: Edge, wanted: f64| {
            let found = latencies.of(&edge);
            assert!((found - wanted).abs() < 1e-9, "{edge:?} {found}");
        };
        is(Edge::message(a, 120, b, 100), 10.0);
        is(Edge::message(b, 101, a, 105), 4.0);
        is(Edge::message(a, 120, b, 102), 12.0);
        is(Edge::message(a, 120, b, 99), -21.0);
    }
}
