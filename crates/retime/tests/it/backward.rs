//! The clock run backwards, and over a stretch of time only.

use crate::common::case::Case;
use crate::common::{Sharing, Spec, cases, gammas, specs};
use proptest::prelude::*;
use retime::causality::EventNode;
use retime::clock::{AmortizationRate, Gamma, amortize, controlled, mirror_back};
use retime::{Causality, ClockMap, Correction, CorrectionError, Knot, LocationIndex, Timestamp};

/// Corrects the mirrored trace and mirrors the correction.
fn backward(case: &Case, gamma: Gamma) -> Result<Correction, CorrectionError> {
    let mirror = case.causality.mirrored();
    let delay = case.delay.mirrored();
    let times = controlled(&mirror, &case.clocks, &delay, gamma, &()).unwrap();
    let correction = amortize(
        &mirror,
        &case.clocks,
        &delay,
        AmortizationRate::default(),
        &times,
        &(),
    )?;
    mirror_back(&case.causality, &case.clocks, &correction, &())
}

/// Sources of messages and effects of collectives, by node.
fn dependencies(causality: &Causality) -> Vec<(EventNode, EventNode)> {
    let mut all = Vec::new();
    for node in causality.nodes().all() {
        all.extend(causality.message_source(node).map(|source| (source, node)));
    }
    let collectives = causality.collectives();
    for instance in collectives.instances() {
        let participants = collectives.participants(instance);
        collectives.each_dependency(instance, |from, to| {
            all.extend(participants[from].cause().zip(participants[to].effect()));
        });
    }
    all.sort_unstable();
    all
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn the_mirror_of_the_mirror_is_the_trace(spec in specs(300)) {
        let case = Case::new(&spec);
        let twice = case.causality.mirrored().mirrored();
        prop_assert_eq!(dependencies(&twice), dependencies(&case.causality));
        prop_assert_eq!(twice.nodes().timestamps(), case.causality.nodes().timestamps());
    }

    #[test]
    fn every_dependency_is_reversed_in_the_mirror(spec in specs(300)) {
        let case = Case::new(&spec);
        let mirror = case.causality.mirrored();
        let nodes = case.causality.nodes();
        let of_location = |node: EventNode| {
            let range = nodes.of(nodes.location(node).as_usize()).range();
            EventNode((range.start + range.end - 1 - node.index()) as u32)
        };
        let mut expected: Vec<(EventNode, EventNode)> =
            dependencies(&case.causality).into_iter().map(|(cause, effect)| (of_location(effect), of_location(cause))).collect();
        expected.sort_unstable();
        prop_assert_eq!(dependencies(&mirror), expected);
    }

    #[test]
    fn backwards_causes_move_to_earlier_times(spec in specs(300), gamma in gammas()) {
        let case = Case::new(&spec);
        let correction = backward(&case, gamma).unwrap();
        let mapped = case.mapped(&correction);
        for (cause, effect) in case.plain.across() {
            let least = mapped[cause.index()] + case.plain.delay(&case.delay, (cause, effect));
            prop_assert!(mapped[effect.index()] >= least, "{cause:?} -> {effect:?}");
        }
        let nodes = case.causality.nodes();
        // Events move earlier only, but for a shift of all that keeps them at or
        // after time 0.
        let moved = nodes.all().map(|node| mapped[node.index()] - nodes.time(node).0);
        if moved.max().unwrap_or(0) > 0 {
            let first = (0..nodes.locations()).filter_map(|location| {
                let index = LocationIndex(location as u32);
                let extent = nodes.extent(location)?;
                correction.map_of(index).cursor(index).map(0, extent.first)
            });
            prop_assert_eq!(first.min(), Some(Timestamp(0)));
        }
        for location in 0..nodes.locations() {
            let range = nodes.of(location);
            let times = &mapped[range.range()];
            prop_assert!(times.is_sorted(), "location {location} out of order");
        }
    }

    #[test]
    fn outside_of_the_window_nothing_is_enforced(spec in specs(300), gamma in gammas(), window in (0.0..1.0_f64, 0.0..1.0_f64)) {
        let mut case = Case::new(&spec);
        let nodes = case.causality.nodes();
        let stamps = || nodes.timestamps().iter().map(|stamp| stamp.0);
        let (first, last) = (stamps().min().unwrap_or(0), stamps().max().unwrap_or(0));
        let at = |share: f64| Timestamp(first + ((last - first) as f64 * share) as u64);
        let (from, to) = (at(window.0.min(window.1)), at(window.0.max(window.1)));
        let all = dependencies(&case.causality);
        case.causality.limit_to(from, to);
        let nodes = case.causality.nodes();
        let inside = |node: EventNode| (from..=to).contains(&nodes.timestamp(node));
        let expected: Vec<(EventNode, EventNode)> = all.into_iter().filter(|&(cause, effect)| inside(cause) && inside(effect)).collect();
        prop_assert_eq!(dependencies(&case.causality), expected.clone());

        let mapped = case.mapped(&case.amortize(gamma, AmortizationRate::default()));
        for (cause, effect) in expected {
            if case.clocks.of(nodes.location(cause)) != case.clocks.of(nodes.location(effect)) {
                let least = mapped[cause.index()] + case.plain.delay(&case.delay, (cause, effect));
                prop_assert!(mapped[effect.index()] >= least, "{cause:?} -> {effect:?}");
            }
        }
    }
}

#[test]
fn a_mirror_image_that_does_not_fit_is_an_error() {
    let case = Case::new(&Spec {
        locations: 3,
        steps: 40,
        seed: 5,
        threads: false,
        tick: 1,
        offset: 4_000,
        drift_ppm: 0,
        sharing: Sharing::Location,
    });
    let map = ClockMap::new(vec![Knot::at(Timestamp(0), Timestamp(u64::MAX))], vec![]).unwrap();
    let far = Correction::new(case.clocks.clone(), vec![map; case.clocks.len()]);
    let refused = mirror_back(&case.causality, &case.clocks, &far, &());
    assert!(matches!(refused, Err(CorrectionError::TooFar { .. })));
}
