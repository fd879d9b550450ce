//! Difference constraints against a linear program, and what must always hold.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::float_cmp,
    reason = "tests only"
)]

mod common;

use std::collections::BTreeMap;
use std::time::Duration;

use common::rng::Rng;
use microlp::{ComparisonOp, OptimizationDirection, Problem, Variable};
use proptest::prelude::*;
use retime::estimate::{Estimate, NoEstimate, Offset};
use retime::optimal::{
    BoundOptions, ForcingPart, Gentlest, OffsetBounds, gentlest, midpoint, offset_bounds,
};
use retime::{ClockId, Edge, Edges};

const BUDGET: Duration = Duration::from_secs(60);

/// An event: its clock, stamp and node.
type Event = (ClockId, i64, u32);

fn ends(edge: &Edge) -> [Event; 2] {
    [
        (edge.from, edge.sent, edge.cause),
        (edge.to, edge.received, edge.effect),
    ]
}

fn extents(edges: &[Edge], clocks: u32) -> Extents {
    let extent = |clock: u32| {
        let of = edges.iter().flat_map(ends);
        let stamps = of.filter(|it| it.0 == ClockId(clock)).map(|it| it.1);
        Some((stamps.clone().min()?, stamps.max()?))
    };
    (0..clocks).map(extent).collect()
}

/// Dependencies at random, with stamps that may coincide and need not fit.
fn random_edges(seed: u64) -> Edges {
    let mut rng = Rng::new(seed);
    let clocks = 2 + rng.below(3) as u32;
    let span = [12, 200, 5_000][rng.below(3) as usize];
    let error = 1 + span / 4;
    let mut node = 0;
    let edges = (0..=rng.below(14)).map(|_| {
        let from = rng.below(u64::from(clocks)) as u32;
        let to = (from + 1 + rng.below(u64::from(clocks) - 1) as u32) % clocks;
        let sent = rng.below(span) as i64;
        let received = sent + rng.below(error) as i64 - (error / 3) as i64;
        node += 2;
        Edge {
            cause: node,
            effect: node + 1,
            ..Edge::message(ClockId(from), sent, ClockId(to), received)
        }
    });
    let edges: Vec<Edge> = edges.collect();
    let extents = extents(&edges, clocks);
    Edges::new(edges, extents)
}

/// All events with their variables, in order of clock and time.
fn variables(edges: &Edges, mut variable: impl FnMut() -> Variable) -> BTreeMap<Event, Variable> {
    let mut events: Vec<Event> = edges.all().iter().flat_map(ends).collect();
    events.sort_unstable();
    events.dedup();
    events
        .into_iter()
        .map(|event| (event, variable()))
        .collect()
}

/// Successive events of one clock.
fn intervals(events: &BTreeMap<Event, Variable>) -> Vec<[(Event, Variable); 2]> {
    let all: Vec<(Event, Variable)> = events.iter().map(|(&event, &x)| (event, x)).collect();
    let pairs = all.windows(2).filter(|pair| pair[0].0.0 == pair[1].0.0);
    pairs.map(|pair| [pair[0], pair[1]]).collect()
}

/// The least distortion by linear programming, over corrected times.
fn least_distortion(edges: &Edges, least: i64) -> Option<f64> {
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let eps = problem.add_var(1.0, (0.0, f64::INFINITY));
    let events = variables(edges, || {
        problem.add_var(0.0, (f64::NEG_INFINITY, f64::INFINITY))
    });
    for edge in edges.all() {
        let [sent, received] = ends(edge).map(|event| events[&event]);
        problem.add_constraint(
            [(received, 1.0), (sent, -1.0)],
            ComparisonOp::Ge,
            least as f64,
        );
    }
    for [(before, from), (after, to)] in intervals(&events) {
        let distance = (after.1 - before.1) as f64;
        let weight = distance.max(1.0);
        let terms = [(to, 1.0), (from, -1.0), (eps, weight)];
        problem.add_constraint(terms, ComparisonOp::Ge, distance);
        let terms = [(to, 1.0), (from, -1.0), (eps, -weight)];
        problem.add_constraint(terms, ComparisonOp::Le, distance);
    }
    match problem.solve() {
        Ok(outcome) => Some(outcome.into_solution().unwrap().objective()),
        Err(microlp::Error::Infeasible) => None,
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn the_least_distortion_is_that_of_a_linear_program() {
    let mut positive = 0;
    for seed in 0..200 {
        let edges = random_edges(seed);
        let least = (seed % 3) as i64;
        let found = gentlest(&edges, |_| least, BUDGET);
        assert!(found.complete, "{seed}");
        match least_distortion(&edges, least) {
            Some(expected) => {
                let error = (found.distortion - expected).abs();
                assert!(
                    error <= 1e-6 * expected.max(1e-3),
                    "{seed}: {found:?} {expected}"
                );
            }
            None => assert!(found.distortion.is_infinite(), "{seed}: {found:?}"),
        }
        positive += u32::from(found.distortion > 0.0 && found.distortion.is_finite());
        check_cycle(&edges, least, &found);
    }
    assert!(
        positive >= 50,
        "only {positive} traces have anything to distort"
    );
}

/// The cycle is one, in the trace, and its ratio is the distortion.
fn check_cycle(edges: &Edges, least: i64, found: &Gentlest) {
    let Some(cycle) = &found.forced_by else {
        assert_eq!(found.distortion, 0.0);
        return;
    };
    let (mut needed, mut width) = (0, 0);
    let mut walk = Vec::new();
    for part in &cycle.parts {
        match *part {
            ForcingPart::Dependency { edge, needed: of } => {
                let edge = edges.all()[edge as usize];
                assert_eq!(of, least - edge.latency());
                needed += i128::from(of);
                walk.push((edge.from, edge.sent, edge.to, edge.received));
            }
            ForcingPart::Stretch {
                clock,
                from,
                to,
                width: of,
            } => {
                assert!(of >= from.abs_diff(to));
                width += i128::from(of);
                walk.push((clock, from, clock, to));
            }
        }
    }
    for (at, part) in walk.iter().enumerate() {
        let next = walk[(at + 1) % walk.len()];
        assert_eq!((part.2, part.3), (next.0, next.1), "{cycle:?}");
    }
    assert_eq!((needed, width), (cycle.needed, cycle.width));
    if width > 0 {
        assert_eq!(found.distortion, needed as f64 / width as f64);
    } else {
        assert!(found.distortion.is_infinite());
    }
}

/// Clocks whose rates stay within `rho` of their mean, and true messages.
struct Run {
    edges: Edges,
    rho: f64,
    base: Estimate,
    /// By clock, stamps and what has to be added there.
    truth: Vec<Vec<(i64, f64)>>,
}

impl Run {
    fn new(seed: u64, messages: u64) -> Self {
        let mut rng = Rng::new(seed);
        let clocks = 2 + rng.below(3) as u32;
        let rho = [1e-3, 1e-2][rng.below(2) as usize];
        let shapes: Vec<[f64; 4]> = (0..clocks)
            .map(|clock| shape(clock, rho, &mut rng))
            .collect();
        let mut truth = vec![Vec::new(); clocks as usize];
        let mut stamp = |clock: u32, time: f64| {
            let shown = shown(&shapes[clock as usize], time);
            truth[clock as usize].push((shown as i64, time - shown));
            shown as i64
        };
        let mut edges = Vec::new();
        for _ in 0..messages {
            let from = rng.below(u64::from(clocks)) as u32;
            let to = (from + 1 + rng.below(u64::from(clocks) - 1) as u32) % clocks;
            let sent = rng.below(100_000) as f64;
            let received = sent + 5.0 + rng.below(300) as f64;
            let (sent, received) = (stamp(from, sent), stamp(to, received));
            edges.push(Edge::message(ClockId(from), sent, ClockId(to), received));
        }
        let extents = extents(&edges, clocks);
        let line = |shape: &[f64; 4]| {
            let at = |time: f64| {
                let straight = shape[0] + time * (1.0 + shape[1]);
                (straight as i64, time - straight)
            };
            Some(Offset::line(at(0.0), at(100_000.0)))
        };
        let base = Estimate {
            offsets: shapes.iter().map(line).collect(),
            reference: ClockId(0),
        };
        let edges = Edges::new(edges, extents);
        Self {
            edges,
            rho,
            base,
            truth,
        }
    }

    fn bounds(&self) -> OffsetBounds {
        // Lines are estimated between rounded stamps: a little is lost.
        let options = BoundOptions {
            drift: self.rho * 1.01,
            ..BoundOptions::default()
        };
        offset_bounds(&self.edges, |_| 5, &self.base, &options)
    }
}

/// Offset, drift, and amplitude and phase of a wander that changes the rate by
/// less than `rho`. The first clock is right.
fn shape(clock: u32, rho: f64, rng: &mut Rng) -> [f64; 4] {
    if clock == 0 {
        return [0.0; 4];
    }
    let mut uniform = || rng.below(1 << 20) as f64 / f64::from(1 << 20);
    let period = 100_000.0 / std::f64::consts::TAU;
    [
        1_000.0 * uniform(),
        0.01 * (uniform() - 0.5),
        0.9 * rho * period * uniform(),
        uniform(),
    ]
}

fn shown([offset, drift, amplitude, phase]: &[f64; 4], time: f64) -> f64 {
    let turn = std::f64::consts::TAU * (time / 100_000.0 + phase);
    offset + time * (1.0 + drift) + amplitude * turn.sin()
}

/// The least and the most that can be added to an event, by linear programming.
fn extremes(run: &Run, of: usize) -> [Option<f64>; 2] {
    let bound = |direction: OptimizationDirection| {
        let mut problem = Problem::new(direction);
        let mut at = 0;
        let events = variables(&run.edges, || {
            at += 1;
            let weight = if at == of + 1 { 1.0 } else { 0.0 };
            problem.add_var(weight, (f64::NEG_INFINITY, f64::INFINITY))
        });
        let line = |event: &Event| {
            let offset = run.base.offsets[event.0.as_usize()].as_ref().unwrap();
            if event.0 == ClockId(0) {
                0.0
            } else {
                offset.at(event.1)
            }
        };
        for (event, &x) in events.iter().filter(|(event, _)| event.0 == ClockId(0)) {
            problem.add_constraint([(x, 1.0)], ComparisonOp::Eq, line(event));
        }
        for edge in run.edges.all() {
            let [sent, received] = ends(edge).map(|event| events[&event]);
            let least = (5 - edge.latency()) as f64;
            problem.add_constraint([(received, 1.0), (sent, -1.0)], ComparisonOp::Ge, least);
        }
        for [(before, from), (after, to)] in intervals(&events) {
            let straight = line(&after) - line(&before);
            let free = run.rho * (after.1 - before.1) as f64;
            let terms = [(to, 1.0), (from, -1.0)];
            problem.add_constraint(terms, ComparisonOp::Ge, straight - free);
            problem.add_constraint(terms, ComparisonOp::Le, straight + free);
        }
        match problem.solve() {
            Ok(outcome) => Some(outcome.into_solution().unwrap().objective()),
            Err(microlp::Error::Unbounded) => None,
            Err(other) => panic!("{other}"),
        }
    };
    [
        bound(OptimizationDirection::Minimize),
        bound(OptimizationDirection::Maximize),
    ]
}

#[test]
fn bounds_are_those_of_a_linear_program() {
    let mut compared = 0;
    for seed in 0..40 {
        let run = Run::new(seed, 3 + seed % 9);
        let events: Vec<Event> = {
            let mut events: Vec<Event> = run.edges.all().iter().flat_map(ends).collect();
            events.sort_unstable();
            events.dedup();
            events
        };
        let options = BoundOptions {
            drift: run.rho,
            tick_slack: false,
            ..Default::default()
        };
        let bounds = offset_bounds(&run.edges, |_| 5, &run.base, &options);
        // Stamps are rounded, so a tight trace may contradict itself without slack.
        if !bounds.relaxed.is_empty() {
            continue;
        }
        assert!(bounds.complete);
        for (at, &(clock, stamp, _)) in events.iter().enumerate() {
            let [low, high] = extremes(&run, at);
            let found = bounds.clocks[clock.as_usize()]
                .as_ref()
                .map(|it| it.at(stamp));
            let (least, most) = found.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
            let same = |found: f64, expected: Option<f64>| match expected {
                None => found.is_infinite(),
                Some(expected) => (found - expected).abs() < 0.05,
            };
            let context = || format!("{seed} {clock:?} {stamp}: {least} {most} {low:?} {high:?}");
            assert!(same(least, low) && same(most, high), "{}", context());
            compared += 1;
        }
    }
    assert!(compared > 200, "{compared}");
}

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
        let at = |clock: ClockId, stamp| {
            middle.offsets[clock.as_usize()].as_ref().map_or(0.0, |offset| offset.at(stamp))
        };
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
        let more = gentlest(&Edges::new(more, extents.collect()), |_| 0, BUDGET);
        prop_assert!(more.distortion >= gentlest(&edges, |_| 0, BUDGET).distortion);
    }

    #[test]
    fn the_gentlest_correction_satisfies_every_dependency(seed: u64, messages in 1_u64..100) {
        let run = Run::new(seed, messages);
        let found = gentlest(&run.edges, |_| 0, BUDGET);
        let eps = found.distortion;
        let estimate = found.estimate(ClockId(0)).unwrap();
        let at = |clock: ClockId, stamp| {
            estimate.offsets[clock.as_usize()].as_ref().map_or(0.0, |offset| offset.at(stamp))
        };
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
    let mut named: Vec<u32> = bounds
        .relaxed
        .iter()
        .map(|relaxed| match relaxed {
            retime::optimal::Relaxed::Edge { edge, .. } => *edge,
            step @ retime::optimal::Relaxed::Step { .. } => panic!("{step:?}"),
        })
        .collect();
    named.sort_unstable();
    assert_eq!(named, [50, 150, 250]);
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
    let bounds = offset_bounds(&edges, |_| 0, &base, &BoundOptions::default());
    let of_receiver = bounds.clocks[1].as_ref().unwrap();
    assert_eq!(of_receiver.sides(), (true, false));
    let (low, high) = of_receiver.at(530);
    assert!((low + 31.0).abs() < 0.1, "{low}");
    assert!(high.is_infinite());
}

/// First and last stamp by clock.
type Extents = Vec<Option<(i64, i64)>>;

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
                    ..BoundOptions::default()
                };
                let bounds = offset_bounds(&edges, |_| least, &base(clocks), &options);
                let middle = midpoint(&bounds);
                assert_eq!(middle.offsets.len(), clocks);
                for clock in bounds.clocks.iter().flatten() {
                    let (low, high) = clock.at(far);
                    assert!(!low.is_nan() && !high.is_nan());
                }
                // An estimate that knows of fewer clocks.
                offset_bounds(&edges, |_| least, &base(0), &options);
            }
        }
        let found = gentlest(&edges, |_| 0, BUDGET);
        assert!(found.complete);
        assert!(gentlest(&edges, |_| 0, Duration::ZERO).distortion <= found.distortion);
    }
}

#[test]
fn events_that_are_their_own_causes_fit_no_correction() {
    let (a, b) = (ClockId(0), ClockId(1));
    let both = vec![Edge::message(a, 5, b, 5), Edge::message(b, 5, a, 5)];
    let edges = Edges::new(both, vec![Some((5, 5)); 2]);
    let found = gentlest(&edges, |_| 3, BUDGET);
    assert!(found.distortion.is_infinite());
    assert!(matches!(found.estimate(a), Err(NoEstimate::Infeasible(..))));
}
