//! Difference constraints against a linear program.

use std::collections::BTreeMap;

use crate::common::constraints::{Event, Run, ends, random_edges};
use microlp::{ComparisonOp, OptimizationDirection, Problem, Variable};
use retime::optimal::{BoundOptions, ForcingPart, Gentlest, gentlest, offset_bounds};
use retime::{ClockId, Edges};

const STEPS: u64 = 6_000_000_000;

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
        let found = gentlest(&edges, |_| least, STEPS, &()).unwrap();
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
                let edge = edges.get(edge).unwrap();
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
            most_difference: 0.0,
            tick_slack: false,
            ..Default::default()
        };
        let bounds = offset_bounds(&run.edges, |_| 5, &run.base, &options, &()).unwrap();
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
