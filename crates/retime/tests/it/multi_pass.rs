//! Control in several passes, on random programs.

use crate::common::case::Case;
use crate::common::{Spec, cases, specs};
use proptest::prelude::*;
use retime::clock::{Gamma, MultiPass, Passes, multi_pass};

fn passes(case: &Case, limits: MultiPass) -> Passes {
    multi_pass(&case.causality, &case.clocks, &case.delay, limits, &()).unwrap()
}

/// The gamma of a pass, counted from 1.
fn gamma(pass: u32) -> Gamma {
    Gamma::from_factor(match pass {
        1 => 0.999_99,
        2 => 0.999_9,
        3 => 0.999,
        _ => (3..pass).fold(0.999, |gamma, _| gamma * 0.9),
    })
}

/// The largest lead at the end of a clock over the run time, from the values.
fn excess(case: &Case, values: &[i64]) -> f64 {
    let nodes = case.causality.nodes();
    let last = |clock| {
        let locations = case.clocks.locations(clock).iter();
        let last = locations.filter_map(|location| nodes.of(location.as_usize()).next_back());
        last.max_by_key(|&node| (nodes.time(node), node))
    };
    let leads = case.clocks.iter().filter_map(last);
    let largest = leads
        .map(|node| values[node.index()] - nodes.time(node).0)
        .max();
    let last = case
        .trace
        .events
        .iter()
        .flatten()
        .map(|event| event.raw)
        .max();
    match largest {
        None | Some(0) => 0.0,
        Some(largest) => largest as f64 / (last.unwrap() - case.plain.base) as f64,
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn it_stops_at_the_first_gamma_that_is_enough(spec in specs(200), threshold in 0.0..0.2) {
        let case = Case::new(&Spec { threads: false, ..spec });
        let limits = MultiPass { threshold, passes: 40 };
        let last = passes(&case, limits);
        prop_assert_eq!(last.gamma, gamma(last.count));
        prop_assert_eq!(&last.times, &case.run(last.gamma));
        prop_assert_eq!(last.is_within(), last.excess <= threshold);
        prop_assert!(last.is_within() || last.count == limits.passes);
        for pass in 1..last.count {
            prop_assert!(excess(&case, &case.values(gamma(pass))) > threshold);
        }
        prop_assert_eq!(last.excess, excess(&case, &case.values(last.gamma)));
    }

    #[test]
    fn a_sound_trace_needs_one_pass(spec in specs(200)) {
        let spec = Spec { offset: 0, drift_ppm: 0, ..spec };
        let mut case = Case::new(&spec);
        case.delay = retime::MinimalDelay::Uniform(retime::Ticks(0));
        let first = passes(&case, MultiPass { threshold: 0.0, ..MultiPass::default() });
        prop_assert_eq!((first.count, first.excess, first.is_within()), (1, 0.0, true));
    }
}
