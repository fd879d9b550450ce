//! One correction after the other: every event gets exactly what both in turn
//! give it, whatever the maps are made of, as far as the events of one clock can
//! keep their order.

use crate::common;
use crate::common::case::Case;
use crate::common::rng::Rng;
use crate::common::{Spec, cases, gammas, specs};
use proptest::prelude::*;
use retime::causality::{Causality, EventNode};
use retime::clock::{AmortizationRate, Gamma, amortize, controlled, mirror_back, unamortized};
use retime::estimate::{Estimate, Offset};
use retime::{
    ClockId, ClockMap, Clocks, Correction, CorrectionError, Edges, Knot, LocationIndex, MapBuilder,
    Point, Timestamp, compose,
};

/// The stamp of a node under a correction.
fn at(
    correction: &Correction,
    causality: &Causality,
    node: EventNode,
    stamp: Timestamp,
) -> Timestamp {
    let nodes = causality.nodes();
    let location = nodes.location(node);
    let mut cursor = correction.map_of(location).cursor(location);
    cursor.map(nodes.event(node), stamp).unwrap()
}

/// Fails unless both in one do to every node what one does after the other. An
/// event waits only for those that its own clock stamped earlier.
fn assert_composed(causality: &Causality, first: &Correction, second: &Correction) {
    let composed = compose(first, second, causality, &()).unwrap();
    let nodes = causality.nodes();
    let stamp = |node: EventNode| nodes.timestamp(node);
    let in_turn = |node: EventNode| {
        let once = at(first, causality, node, stamp(node));
        at(second, causality, node, once)
    };
    let clocks = composed.clocks();
    for clock in clocks.iter() {
        let of_location = |location: &LocationIndex| nodes.of(location.as_usize());
        let locations = clocks.locations(clock);
        let mut all: Vec<EventNode> = locations.iter().flat_map(of_location).collect();
        all.sort_by_key(|&node| stamp(node));
        let mut waits = Timestamp(0);
        for equal in all.chunk_by(|a, b| stamp(*a) == stamp(*b)) {
            for &node in equal {
                let expected = in_turn(node).max(waits);
                assert_eq!(
                    at(&composed, causality, node, stamp(node)),
                    expected,
                    "node {node:?}"
                );
                assert!(
                    locations.len() > 1 || expected == in_turn(node),
                    "node {node:?} waits"
                );
            }
            waits = equal
                .iter()
                .map(|&node| in_turn(node))
                .max()
                .unwrap()
                .max(waits);
        }
        assert_rises(composed.map(clock), locations);
    }
}

/// No event of a clock may come to lie before one with an earlier stamp.
fn assert_rises(map: &ClockMap, locations: &[LocationIndex]) {
    for &location in locations {
        let mut cursor = map.cursor(location);
        let around = |knot: &Knot| (knot.raw.0.saturating_sub(2)..=knot.raw.0 + 2).map(Timestamp);
        let times = map.knots().iter().flat_map(around);
        let mut rising: Vec<Timestamp> = times.collect();
        rising.sort_unstable();
        let mapped = rising.iter().filter_map(|&raw| cursor.map(u64::MAX, raw));
        assert!(mapped.is_sorted());
    }
}

/// Offsets of clocks as an estimator finds them: bent, and up to a tenth in rate.
pub fn estimate(causality: &Causality, clocks: &Clocks, rng: &mut Rng) -> Correction {
    let edges = Edges::collect(
        causality,
        clocks,
        |node| causality.nodes().time(node).0,
        &(),
    )
    .unwrap();
    let offset = |clock: ClockId| {
        let (first, last) = edges.extent(clock)?;
        let knots = 1 + rng.index(4) as i64;
        let step = ((last - first) / knots).max(1);
        let mut value = rng.around(10_000) as f64;
        let mut point = |number: i64| {
            value += rng.around(step.unsigned_abs() / 10) as f64;
            (first + number * step, value)
        };
        Some(Offset::through((0..=knots).map(&mut point).collect()))
    };
    let estimate = Estimate {
        offsets: clocks.iter().map(offset).collect(),
        reference: ClockId(0),
    };
    estimate.correction(causality, clocks, &edges).unwrap()
}

/// Any monotone map of the nodes: it stretches, stands still, and takes steps
/// where stamps are equal.
fn steps(causality: &Causality, clocks: &Clocks, rng: &mut Rng) -> Correction {
    let maps = clocks.iter().map(|clock| {
        let nodes = causality.nodes();
        let of_location = |location: &LocationIndex| nodes.of(location.as_usize());
        let mut all: Vec<EventNode> = clocks
            .locations(clock)
            .iter()
            .flat_map(of_location)
            .collect();
        all.sort_by_key(|&node| nodes.timestamp(node));
        let mut builder = MapBuilder::default();
        // Far enough from 0 for what comes before the first node.
        let mut next = (1 << 30) + rng.below(1 << 30);
        for equal in all.chunk_by(|a, b| nodes.timestamp(*a) == nodes.timestamp(*b)) {
            let mut points = points_of_one_stamp(causality, equal, next, rng);
            points.sort_by_key(|point| (point.corrected, point.event));
            next = points.last().map_or(next, |point| point.corrected.0) + rng.below(50);
            for point in points {
                builder.add(point).unwrap();
            }
        }
        builder.finish().unwrap()
    });
    let maps = maps.collect();
    Correction::new(clocks.clone(), maps)
}

/// Nodes that share a stamp, location by location, from `least` on.
fn points_of_one_stamp(
    causality: &Causality,
    equal: &[EventNode],
    least: u64,
    rng: &mut Rng,
) -> Vec<Point> {
    let nodes = causality.nodes();
    let mut of_location = (None, least);
    let mut point = |&node: &EventNode| {
        let location = nodes.location(node);
        let from = match of_location {
            (Some(same), from) if same == location => from,
            _ => least,
        };
        let rise = if rng.once_in(2) { rng.below(20) } else { 0 };
        of_location = (Some(location), from + rise);
        Point {
            raw: nodes.timestamp(node),
            corrected: Timestamp(from + rise),
            event: Some((location, nodes.event(node))),
        }
    };
    equal.iter().map(&mut point).collect()
}

fn case(spec: &Spec) -> (Case, Rng) {
    (Case::new(spec), Rng::new(spec.seed ^ 0x0c0))
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn a_clock_after_an_estimate(spec in specs(300), gamma in gammas(), amortised in any::<bool>()) {
        let (case, mut rng) = case(&spec);
        let first = estimate(&case.causality, &case.clocks, &mut rng);
        let aligned = case.causality.retimed(&first, &()).unwrap();
        // Clocks of which a thread is stamped late may wait for each other.
        let times = controlled(&aligned, &case.clocks, &case.delay, gamma, &());
        prop_assume!(times.is_ok());
        let times = times.unwrap();
        let second = if amortised {
            amortize(&aligned, &case.clocks, &case.delay, AmortizationRate::default(), &times, &()).unwrap()
        } else {
            unamortized(&aligned, &case.clocks, &times, &()).unwrap()
        };
        assert_composed(&case.causality, &first, &second);
        // So nothing is violated by both in one either.
        if case.clocks.len() == spec.locations {
            let mapped = case.mapped(&compose(&first, &second, &case.causality, &()).unwrap());
            for (cause, effect) in case.plain.across() {
                let least = mapped[cause.index()] + case.plain.delay(&case.delay, (cause, effect));
                prop_assert!(mapped[effect.index()] >= least, "{cause:?} -> {effect:?}");
            }
        }
    }

    #[test]
    fn a_clock_run_backwards_after_an_estimate(spec in specs(200)) {
        let (case, mut rng) = case(&spec);
        let first = estimate(&case.causality, &case.clocks, &mut rng);
        let aligned = case.causality.retimed(&first, &()).unwrap();
        let (mirror, delay) = (aligned.mirrored(), case.delay.mirrored());
        let times = controlled(&mirror, &case.clocks, &delay, Gamma::from_factor(0.5), &());
        prop_assume!(times.is_ok());
        let mirrored = unamortized(&mirror, &case.clocks, &times.unwrap(), &()).unwrap();
        let second = mirror_back(&aligned, &case.clocks, &mirrored, &()).unwrap();
        assert_composed(&case.causality, &first, &second);
    }

    #[test]
    fn any_map_after_any_other(spec in specs(200), estimated in any::<bool>()) {
        let (case, mut rng) = case(&spec);
        let make = if estimated { estimate } else { steps };
        let first = make(&case.causality, &case.clocks, &mut rng);
        let moved = case.causality.retimed(&first, &()).unwrap();
        let second = steps(&moved, &case.clocks, &mut rng);
        assert_composed(&case.causality, &first, &second);
        // Three in one: it does not matter which two are joined first.
        let third = estimate(&moved.retimed(&second, &()).unwrap(), &case.clocks, &mut rng);
        let early = compose(&first, &second, &case.causality, &()).unwrap();
        assert_composed(&case.causality, &early, &third);
        let late = compose(&second, &third, &moved, &()).unwrap();
        let stamps = |all: &Correction| case.trace.corrected(all);
        let joined = |all: Result<Correction, CorrectionError>| stamps(&all.unwrap());
        prop_assert_eq!(
            joined(compose(&early, &third, &case.causality, &())),
            joined(compose(&first, &late, &case.causality, &()))
        );
    }

    #[test]
    fn between_events_the_maps_follow_each_other(spec in specs(200)) {
        let (case, mut rng) = case(&spec);
        let first = estimate(&case.causality, &case.clocks, &mut rng);
        let moved = case.causality.retimed(&first, &()).unwrap();
        let second = estimate(&moved, &case.clocks, &mut rng);
        let both = compose(&first, &second, &case.causality, &()).unwrap();
        let nodes = case.causality.nodes();
        for location in 0..nodes.locations() {
            let Some(extent) = nodes.extent(location) else { continue };
            let index = LocationIndex(location as u32);
            let map = |correction: &Correction, raw| correction.map_of(index).cursor(index).map_time(raw).unwrap();
            let span = extent.last.0 - extent.first.0;
            for number in 0..=20 {
                let raw = Timestamp(extent.first.0 + span * number / 20);
                let twice = map(&second, map(&first, raw));
                // Each of three roundings loses less than a tick, stretched by a tenth.
                prop_assert!(map(&both, raw).0.abs_diff(twice.0) <= 4, "{raw:?} of location {location}");
            }
        }
    }
}

#[test]
fn nothing_after_nothing_is_nothing() {
    let spec = Spec {
        locations: 3,
        steps: 40,
        seed: 5,
        threads: false,
        tick: 1,
        offset: 4_000,
        drift_ppm: 0,
        sharing: common::Sharing::Location,
    };
    let case = Case::new(&spec);
    let nothing = Correction::new(case.clocks.clone(), Vec::new());
    assert!(
        compose(&nothing, &nothing, &case.causality, &())
            .unwrap()
            .is_identity()
    );
    let shift = |by: u64| {
        let map = ClockMap::new(vec![Knot::at(Timestamp(0), Timestamp(by))], vec![]).unwrap();
        Correction::new(case.clocks.clone(), vec![map; case.clocks.len()])
    };
    let both = compose(&shift(7), &shift(5), &case.causality, &()).unwrap();
    assert_eq!(
        case.trace.corrected(&both),
        case.trace.corrected(&shift(12))
    );
    // What does not fit into 64 bits is no correction.
    let too_far = compose(&shift(7), &shift(u64::MAX), &case.causality, &());
    assert!(matches!(
        too_far,
        Err(CorrectionError::TooFar { event: Some(_), .. })
    ));
}
