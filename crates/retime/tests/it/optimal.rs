//! What always holds of bounds, midpoints and gentlest corrections.

use crate::common::constraints::{Extents, Run, extents, random_edges};
use proptest::prelude::*;
use retime::edges::EdgeIndex;
use retime::estimate::{Estimate, NoEstimate, Offset};
use retime::optimal::{BoundOptions, gentlest, midpoint, offset_bounds};
use retime::{ClockId, Edge, Edges};

const STEPS: u64 = 6_000_000_000;

proptest! {
    #[test]
    fn the_truth_is_inside(seed: u64, messages in 1_u64..300) {
        let run = Run::new(seed, messages);
        let bounds = run.bounds();
        prop_assert!(bounds.complete && bounds.relaxed.is_empty(), "{:?}", bounds.relaxed);
        for (clock, events) in bounds.clocks.iter().zip(&run.truth) {
            let Some(clock) = clock else { continue };
            for &(stamp, added) in events {
                let (low, high) = clock.at(stamp);
                // The event's moment is up to a tick after its stamp.
                prop_assert!(low <= added + 1.0 && added <= high, "{low} {added} {high}");
            }
        }
    }

    #[test]
    fn the_midpoint_satisfies_every_dependency(seed: u64, messages in 1_u64..300) {
        let run = Run::new(seed, messages);
        let bounds = run.bounds();
        let middle = midpoint(&bounds);
        let bounded = |clock: ClockId| {
            bounds.clocks[clock.as_usize()].as_ref().is_some_and(|it| it.sides() == (true, true))
        };
        let at = |clock: ClockId, stamp| middle.at(clock, stamp);
        for edge in run.edges.all().iter().filter(|it| bounded(it.from) && bounded(it.to)) {
            let delay = edge.latency() as f64 + at(edge.to, edge.received) - at(edge.from, edge.sent);
            // A tick may be missing by the slack, half of one by the width.
            prop_assert!(delay >= 5.0 - 1.5 - 0.05, "{edge:?} {delay}");
        }
    }

    #[test]
    fn more_dependencies_never_loosen(seed: u64, messages in 2_u64..100) {
        let run = Run::new(seed, messages);
        let fewer = run.edges.all()[..messages as usize / 2].to_vec();
        let extents = (0..run.edges.clocks() as u32).map(|clock| run.edges.extent(ClockId(clock)));
        let fewer = Run { edges: Edges::new(fewer, extents.collect()), ..Run::new(seed, 1) };
        let fewer = Run { rho: run.rho, base: run.base.clone(), ..fewer };
        let (narrow, wide) = (run.bounds(), fewer.bounds());
        for (clock, events) in run.truth.iter().enumerate() {
            let Some(wide) = &wide.clocks[clock] else { continue };
            let narrow = narrow.clocks[clock].as_ref().unwrap();
            for &(stamp, _) in events {
                let (inner, outer) = (narrow.at(stamp), wide.at(stamp));
                prop_assert!(outer.0 <= inner.0 + 0.05 && inner.1 <= outer.1 + 0.05);
            }
        }
    }

    #[test]
    fn distortion_never_falls_with_more_dependencies(seed: u64, cause: usize, effect: usize) {
        let edges = random_edges(seed);
        let mut more = edges.all().to_vec();
        // Between events that are there already, so that intervals stay.
        let (cause, effect) = (more[cause % more.len()], more[effect % more.len()]);
        prop_assume!(cause.from != effect.to);
        more.push(Edge { from: cause.from, sent: cause.sent, cause: cause.cause, ..effect });
        let extents = (0..edges.clocks() as u32).map(|clock| edges.extent(ClockId(clock)));
        let more = gentlest(&Edges::new(more, extents.collect()), |_| 0, STEPS, &()).unwrap();
        prop_assert!(more.distortion >= gentlest(&edges, |_| 0, STEPS, &()).unwrap().distortion);
    }

    #[test]
    fn the_gentlest_correction_satisfies_every_dependency(seed: u64, messages in 1_u64..100) {
        let run = Run::new(seed, messages);
        let found = gentlest(&run.edges, |_| 0, STEPS, &()).unwrap();
        let eps = found.distortion;
        let estimate = found.estimate(ClockId(0)).unwrap();
        let at = |clock: ClockId, stamp| estimate.at(clock, stamp);
        for edge in run.edges.all() {
            let delay = edge.latency() as f64 + at(edge.to, edge.received) - at(edge.from, edge.sent);
            prop_assert!(delay >= -0.01 - 2.0 * eps, "{edge:?} {delay}");
        }
        for offset in estimate.offsets.iter().flatten() {
            for pair in offset.knots().windows(2) {
                let run = (pair[1].0 - pair[0].0) as f64;
                let change = (pair[1].1 - pair[0].1).abs();
                prop_assert!(change <= eps * (run + 1.0) + 1e-6, "{change} {run} {eps}");
            }
        }
    }
}

#[test]
fn contradictions_are_named_and_left_out() {
    let mut run = Run::new(7, 300);
    let mut edges = run.edges.all().to_vec();
    for at in [50, 150, 250] {
        edges[at].received -= 20_000;
    }
    let extents = extents(&edges, run.edges.clocks() as u32);
    run.edges = Edges::new(edges, extents);
    let bounds = run.bounds();
    let mut named: Vec<EdgeIndex> = bounds
        .relaxed
        .iter()
        .map(|relaxed| match relaxed {
            retime::optimal::Relaxed::Edge { edge, .. } => *edge,
            step @ retime::optimal::Relaxed::Step { .. } => panic!("{step:?}"),
        })
        .collect();
    named.sort_unstable();
    assert_eq!(named, [50, 150, 250].map(EdgeIndex));
    assert!(bounds.complete);
}

#[test]
fn what_goes_one_way_is_bounded_on_one_side() {
    let edges = (0..10).map(|at| Edge::message(ClockId(0), 100 * at, ClockId(1), 100 * at + 30));
    let edges = Edges::new(edges.collect(), vec![Some((0, 900)), Some((30, 930))]);
    let base = Estimate {
        offsets: vec![Some(Offset::constant(0.0)); 2],
        reference: ClockId(0),
    };
    let bounds = offset_bounds(&edges, |_| 0, &base, &BoundOptions::default(), &()).unwrap();
    let of_receiver = bounds.clocks[1].as_ref().unwrap();
    assert_eq!(of_receiver.sides(), (true, false));
    let (low, high) = of_receiver.at(530);
    assert!((low + 31.0).abs() < 0.1, "{low}");
    assert!(high.is_infinite());
}

/// Inputs that no trace should have.
#[test]
fn odd_inputs_are_survived() {
    let (a, b) = (ClockId(0), ClockId(1));
    let far = 1 << 61;
    let base = |clocks: usize| Estimate {
        offsets: vec![Some(Offset::constant(0.0)); clocks],
        reference: a,
    };
    let cases: Vec<(Vec<Edge>, Extents)> = vec![
        (vec![], vec![]),
        (vec![], vec![None]),
        (vec![], vec![Some((0, 0)), None]),
        (
            vec![Edge::message(a, 5, b, 5), Edge::message(b, 5, a, 5)],
            vec![Some((5, 5)); 2],
        ),
        (
            vec![Edge::message(a, 0, b, far), Edge::message(b, far, a, 0)],
            vec![Some((0, far)); 2],
        ),
        (vec![Edge::message(a, 5, a, 3)], vec![Some((3, 5))]),
        (vec![Edge::message(a, 5, ClockId(9), 3)], vec![Some((3, 5))]),
    ];
    for (edges, extents) in cases {
        let clocks = extents.len();
        let edges = Edges::new(edges, extents);
        for drift in [0.0, 1e-4, -1.0, 7.0, f64::NAN, f64::INFINITY] {
            for least in [0, i64::MAX / 4] {
                let options = BoundOptions {
                    drift,
                    most_difference: 0.0,
                    ..BoundOptions::default()
                };
                let bounds =
                    offset_bounds(&edges, |_| least, &base(clocks), &options, &()).unwrap();
                let middle = midpoint(&bounds);
                assert_eq!(middle.offsets.len(), clocks);
                for clock in bounds.clocks.iter().flatten() {
                    let (low, high) = clock.at(far);
                    assert!(!low.is_nan() && !high.is_nan());
                }
                // An estimate that knows of fewer clocks.
                offset_bounds(&edges, |_| least, &base(0), &options, &()).unwrap();
            }
        }
        let found = gentlest(&edges, |_| 0, STEPS, &()).unwrap();
        assert!(found.complete);
        assert!(gentlest(&edges, |_| 0, 0, &()).unwrap().distortion <= found.distortion);
    }
}

#[test]
fn events_that_are_their_own_causes_fit_no_correction() {
    let (a, b) = (ClockId(0), ClockId(1));
    let both = vec![Edge::message(a, 5, b, 5), Edge::message(b, 5, a, 5)];
    let edges = Edges::new(both, vec![Some((5, 5)); 2]);
    let found = gentlest(&edges, |_| 3, STEPS, &()).unwrap();
    assert!(found.distortion.is_infinite());
    assert!(matches!(found.estimate(a), Err(NoEstimate::Infeasible(..))));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let run = Run::new(3, 2_000);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            (
                run.bounds(),
                gentlest(&run.edges, |_| 0, STEPS, &()).unwrap(),
            )
        })
    };
    assert_eq!(on(1), on(4));
}
