//! The controlled logical clock against a slow computation from its formula,
//! and against what it promises.

mod common;

use std::sync::Arc;

use common::oracle::Plain;
use common::program::LEAST_DELAY;
use common::{Call, Spec, Trace, cases, gammas, specs};
use proptest::prelude::*;
use retime::causality::Causality;
use retime::clock::{Gamma, LogicalTimes, controlled};
use retime::{Clocks, LocationIndex, Members, MinimalDelay, Ticks};

/// A trace with all that the clock needs.
struct Case {
    trace: Trace,
    causality: Causality,
    clocks: Clocks,
    delay: MinimalDelay,
    plain: Plain,
}

impl Case {
    fn new(spec: &Spec) -> Self {
        Self::of(spec, spec.trace())
    }

    fn of(spec: &Spec, trace: Trace) -> Self {
        let causality = trace.causality();
        let clocks = Clocks::group(&trace.info, &causality, spec.grouping());
        Self {
            plain: Plain::new(&trace, &clocks),
            delay: spec.delay(),
            trace,
            causality,
            clocks,
        }
    }

    fn run(&self, gamma: Gamma) -> LogicalTimes {
        controlled(&self.causality, &self.clocks, &self.delay, gamma).unwrap()
    }

    fn values(&self, gamma: Gamma) -> Vec<i64> {
        let times = self.run(gamma);
        let nodes = 0..self.causality.nodes().len() as u32;
        nodes.map(|node| times.get(node).0).collect()
    }
}

fn gamma(text: &str) -> Gamma {
    text.parse().unwrap()
}

proptest! {
    #![proptest_config(cases(1_500))]

    #[test]
    fn it_equals_the_formula(spec in specs(400), gamma in gammas()) {
        let case = Case::new(&spec);
        let expected = case.plain.controlled(&case.delay, gamma);
        prop_assert_eq!(Some(case.values(gamma)), expected);
    }

    #[test]
    fn every_effect_comes_late_enough_and_nothing_moves_back(spec in specs(400), gamma in gammas()) {
        let case = Case::new(&spec);
        let values = case.values(gamma);
        let value = |node: u32| values[node as usize];
        for (cause, effect) in case.plain.across() {
            prop_assert!(value(effect) >= value(cause) + case.plain.delay(&case.delay, (cause, effect)));
        }
        for (corrected, raw) in values.iter().zip(&case.plain.raw) {
            prop_assert!(corrected >= raw);
        }
        for location in 0..case.causality.nodes().locations() {
            let of = case.causality.nodes().of(location);
            prop_assert!(values[of.start as usize..of.end as usize].is_sorted());
        }
    }

    #[test]
    fn jumps_are_counted_and_the_largest_is_known(spec in specs(200)) {
        // With this gamma a lead is gone at the next tick, so the jumps are
        // what is left to see.
        let case = Case::new(&spec);
        let times = case.run(gamma("0"));
        let ahead = case.values(gamma("0")).iter().zip(&case.plain.raw)
            .map(|(corrected, raw)| corrected - raw).max().unwrap_or(0);
        prop_assert_eq!(times.jumps() > 0, ahead > 0);
        prop_assert!(times.largest_jump().0 <= ahead);
        prop_assert_eq!(times.largest_jump().0 > 0, ahead > 0);
    }

    #[test]
    fn a_sound_trace_stays_as_it_is(spec in specs(300), gamma in gammas()) {
        // One true clock for all, and no more delay than the program had.
        let spec = Spec { offset: 0, drift_ppm: 0, ..spec };
        let mut case = Case::new(&spec);
        let least = (4 * LEAST_DELAY / spec.tick) as i64;
        for delay in [0, least] {
            case.delay = MinimalDelay::Uniform(Ticks(delay));
            prop_assert_eq!(&case.values(gamma), &case.plain.raw);
            prop_assert_eq!(case.run(gamma).jumps(), 0);
        }
    }

    #[test]
    fn a_corrected_trace_stays_as_it_is(spec in specs(300), first in gammas(), again in gammas()) {
        let spec = Spec { threads: false, ..spec };
        let case = Case::new(&spec);
        let values = case.values(first);
        let base = case.plain.base;
        let stamps: Vec<u64> = values.iter().map(|value| base.wrapping_add_signed(*value)).collect();
        let repeated = Case::of(&spec, case.trace.restamped(&stamps));
        prop_assert_eq!(&repeated.values(again), &repeated.plain.raw);
    }

    #[test]
    fn the_order_of_locations_does_not_matter(spec in specs(300), gamma in gammas(), turn in 1..8_usize) {
        let case = Case::new(&spec);
        let turned = permuted(&case.trace, turn);
        let other = Case::of(&spec, turned.trace.clone());
        let delay = MinimalDelay::Uniform(Ticks(3));
        let by_location = |case: &Case, clocks: &Clocks| {
            let times = controlled(&case.causality, clocks, &delay, gamma).unwrap();
            let nodes = case.causality.nodes();
            let of = |location: usize| -> Vec<i64> {
                nodes.of(location).map(|node| times.get(node).0).collect()
            };
            (0..nodes.locations()).map(of).collect::<Vec<_>>()
        };
        let own = by_location(&case, &case.clocks);
        let others = by_location(&other, &other.clocks);
        for (location, values) in own.iter().enumerate() {
            prop_assert_eq!(values, &others[turned.new_of[location]]);
        }
    }
}

/// A trace whose locations were read in another order.
struct Permuted {
    trace: Trace,
    new_of: Vec<usize>,
}

fn permuted(trace: &Trace, turn: usize) -> Permuted {
    let locations = trace.events.len();
    // Turned and mirrored: every pair of neighbours changes places somewhere.
    let new_of: Vec<usize> = (0..locations)
        .map(|old| (locations - 1 - old + turn) % locations)
        .collect();
    let moved = |index: LocationIndex| LocationIndex(new_of[index.as_usize()] as u32);
    let mut result = trace.clone();
    for (old, &new) in new_of.iter().enumerate() {
        let mut location = trace.info.locations[old].clone();
        location.endpoint = moved(location.endpoint);
        result.info.locations[new] = location;
        result.physical[new] = new_of[trace.physical[old]];
        result.events[new].clone_from(&trace.events[old]);
        for event in &mut result.events[new] {
            match &mut event.call {
                Call::Send(message, _)
                | Call::Receive(message)
                | Call::Complete(message, _)
                | Call::Probe(message, _) => message.peer = moved(message.peer),
                _ => {}
            }
        }
    }
    for communicator in &mut result.info.communicators {
        let all = |ranks: &Arc<[LocationIndex]>| -> Arc<[LocationIndex]> {
            ranks.iter().map(|&rank| moved(rank)).collect()
        };
        communicator.members = match &communicator.members {
            Members::Own => Members::Own,
            Members::Ranks(ranks) => Members::Ranks(all(ranks)),
            Members::Inter { a, b } => Members::Inter {
                a: all(a),
                b: all(b),
            },
        };
    }
    Permuted {
        trace: result,
        new_of,
    }
}
