//! What Rabenseifner 2000 proves of the simple logical clock, on random programs
//! whose true times are known.

use crate::common::program::LEAST_DELAY;
use crate::common::{Sharing, Spec, Trace, cases, specs};
use proptest::prelude::*;
use retime::causality::{EventNode, Ids};
use retime::clock::{CombinedConstants, Control, Regulation, regulated, simple};
use retime::{Clocks, MinimalDelay, Ticks};

/// Stamps and truth by node, in quarters of a unit from a common zero.
struct Known {
    trace: Trace,
    causality: retime::Causality,
    clocks: Clocks,
    truth: Vec<i64>,
}

impl Known {
    /// Each location has a clock of its own without coarse ticks, so that every
    /// stamp is what its clock showed.
    fn new(spec: &Spec) -> Self {
        let spec = Spec {
            tick: 1,
            sharing: Sharing::Location,
            ..spec.clone()
        };
        let trace = spec.trace();
        let causality = trace.causality();
        let clocks = Clocks::each_location(trace.events.len());
        let truth = trace.truth().iter().map(|&time| 4 * time as i64).collect();
        Self {
            trace,
            causality,
            clocks,
            truth,
        }
    }

    /// Recorded minus true time, but for a constant.
    fn error(&self, node: EventNode) -> i64 {
        self.causality.nodes().time(node).0 - self.truth[node.index()]
    }

    fn nodes(&self) -> Ids<EventNode> {
        self.causality.nodes().all()
    }

    /// The simple clock's times minus the true ones, with the same constant.
    fn simple(&self, mu: i64) -> Vec<i64> {
        let delay = MinimalDelay::Uniform(Ticks(mu));
        let times = simple(&self.causality, &self.clocks, &delay, Ticks(0), &()).unwrap();
        let error = |node: EventNode| times.get(node).0 - self.truth[node.index()];
        self.nodes().map(error).collect()
    }
}

/// The least delay of the programs in quarters.
const MU: i64 = 4 * LEAST_DELAY as i64;

proptest! {
    #![proptest_config(cases(600))]

    /// Theorem 5.
    #[test]
    fn the_simple_clock_is_never_further_ahead_than_the_fastest(spec in specs(400), mu in 0..=MU) {
        let known = Known::new(&spec);
        let fastest = known.nodes().map(|node| known.error(node)).max();
        prop_assert_eq!(known.simple(mu).into_iter().max(), fastest);
    }

    /// Theorem 5 says no more, but its proof does: what moves an event are errors
    /// of events that happened before it.
    #[test]
    fn nor_further_than_the_fastest_that_it_can_have_heard_of(spec in specs(300), mu in 0..=MU) {
        let known = Known::new(&spec);
        let mut order: Vec<EventNode> = known.nodes().collect();
        let nodes = known.causality.nodes();
        let causes = known.trace.edges();
        let mut heard: Vec<i64> = known.nodes().map(|node| known.error(node)).collect();
        // In true order every cause is done before its effects.
        order.sort_by_key(|&node| (known.truth[node.index()], node));
        for node in order {
            let own = nodes.of(nodes.location(node).as_usize());
            let before = own.take_while(|&it| it < node).last().into_iter();
            let of_edges = causes.iter().filter(|edge| edge.1 == node).map(|edge| edge.0);
            let most = before.chain(of_edges).map(|cause| heard[cause.index()]).max();
            heard[node.index()] = most.map_or(heard[node.index()], |most| most.max(heard[node.index()]));
        }
        for (error, heard) in known.simple(mu).into_iter().zip(heard) {
            prop_assert!(error <= heard);
        }
    }

    /// Theorem 6; it holds for every controlled clock, too.
    #[test]
    fn no_clock_is_ever_further_behind_than_its_own(spec in specs(400), mu in 0..=MU, gamma in 0.0..1.0) {
        let known = Known::new(&spec);
        for (node, error) in known.nodes().zip(known.simple(mu)) {
            prop_assert!(error >= known.error(node));
        }
        for control in [Control::Constant(gamma), Control::Combined(CombinedConstants::default())] {
            let regulation = Regulation {
                delay: MinimalDelay::Uniform(Ticks(mu)),
                distance: Ticks(0),
                control,
            };
            let rate = known.trace.info.rate;
            let times = regulated(&known.causality, &known.clocks, rate, &regulation, &()).unwrap();
            for node in known.nodes() {
                prop_assert!(times.get(node).0 >= known.causality.nodes().time(node).0);
            }
        }
    }

    /// Under more than the least delay theorem 5 fails: it is the condition that
    /// makes it hold.
    #[test]
    fn the_least_delay_is_what_theorem_5_needs(seed: u64) {
        let spec = Spec { locations: 4, steps: 300, seed, threads: false, tick: 1, offset: 0, drift_ppm: 0, sharing: Sharing::Location };
        let known = Known::new(&spec);
        prop_assert_eq!(known.simple(MU).into_iter().max(), known.nodes().map(|node| known.error(node)).max());
        prop_assert!(known.simple(1_000 * MU).into_iter().max() > known.nodes().map(|node| known.error(node)).max());
    }
}
