//! Bounds of sub-intervals, their closure, min/max, and Hofmann & Hilgers.

use crate::drifting::A;
use crate::round_trips::{LASTING, LEAST, Run, run, worst};
use proptest::prelude::*;
use retime::estimate::{Estimate, NoEstimate};
use retime::{ClockId, Edge, Edges};
use retime_methods::{
    DifferenceBounds, Extended, PairBounds, SubIntervals, extended, hofmann_hilgers, min_max,
};

/// Bounds between some clocks: `(i, k, C_i - C_k is at most)`.
type Bounds = Vec<(u32, u32, i64)>;

fn bounds(clocks: u32) -> impl Strategy<Value = Bounds> {
    // Seldom below 0, so that about half of the systems have a solution.
    let bound = (0..clocks, 0..clocks, -40..150_i64);
    prop::collection::vec(bound, 0..30)
}

fn matrix(clocks: u32, bounds: &Bounds) -> DifferenceBounds {
    let mut matrix = DifferenceBounds::new(clocks as usize);
    for &(i, k, limit) in bounds {
        matrix.at_most(ClockId(i), ClockId(k), limit);
    }
    matrix
}

/// Shortest paths from `source` by Bellman and Ford, one clock at a time; `None`
/// for a cycle below 0.
fn bellman_ford(clocks: u32, bounds: &Bounds, source: u32) -> Option<Vec<Option<i64>>> {
    let mut reached: Vec<Option<i64>> = vec![None; clocks as usize];
    reached[source as usize] = Some(0);
    for _ in 0..=clocks {
        let before = reached.clone();
        for &(i, k, limit) in bounds.iter().filter(|(i, k, _)| i != k) {
            let Some(first) = reached[i as usize] else {
                continue;
            };
            let to = &mut reached[k as usize];
            *to = Some(to.map_or(first + limit, |known| known.min(first + limit)));
        }
        if before == reached {
            return Some(reached);
        }
    }
    None
}

proptest! {
    #[test]
    fn closure_is_all_shortest_paths(bounds in bounds(7)) {
        let mut closed = matrix(7, &bounds);
        let result = closed.close(&()).unwrap();
        let oracle: Option<Vec<_>> = (0..7).map(|i| bellman_ford(7, &bounds, i)).collect();
        prop_assert_eq!(result.is_ok(), oracle.is_some());
        for (i, row) in (0..7).zip(oracle.unwrap_or_default()) {
            for (k, distance) in (0..7).zip(row) {
                prop_assert_eq!(closed.upper(ClockId(i), ClockId(k)), distance);
            }
        }
    }

    #[test]
    fn a_contradiction_is_a_real_cycle(bounds in bounds(6)) {
        let given = matrix(6, &bounds);
        let mut closed = given.clone();
        if let Err(cycle) = closed.close(&()).unwrap() {
            prop_assert_eq!(&closed, &given);
            prop_assert!(cycle.clocks.len() >= 2 && cycle.missing > 0);
            let next = cycle.clocks.iter().cycle().skip(1);
            // Messages go from k to i; they bound C_i - C_k from above.
            let around = cycle.clocks.iter().zip(next).map(|(&k, &i)| given.upper(i, k));
            let sum: Option<i64> = around.sum();
            prop_assert_eq!(sum, Some(-cycle.missing));
            let mut distinct = cycle.clocks.clone();
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert_eq!(distinct.len(), cycle.clocks.len());
        }
    }

    #[test]
    fn bounds_are_those_of_a_plain_search(run in run(4, false), count in 1..9_u32) {
        let edges = run.edges();
        let pieces = SubIntervals::divide(&edges, count, &()).unwrap();
        let bounds = PairBounds::collect(&edges, &|_| LEAST, &pieces, &()).unwrap();
        let all = (0..4).flat_map(|i| (0..4).map(move |k| (ClockId(i), ClockId(k))));
        for (i, k) in all.filter(|(i, k)| i != k) {
            for piece in 0..pieces.len() {
                let touches = |it: &&Edge| {
                    pieces.of(it.from, it.sent) == piece || pieces.of(it.to, it.received) == piece
                };
                let own = edges.all().iter().filter(touches);
                let there = own.clone().filter(|it| (it.from, it.to) == (i, k));
                let back = own.filter(|it| (it.from, it.to) == (k, i));
                let lower = there.map(|it| it.sent - it.received + LEAST).max();
                let upper = back.map(|it| it.received - it.sent - LEAST).min();
                prop_assert_eq!(bounds.lower(piece, i, k), lower);
                prop_assert_eq!(bounds.upper(piece, i, k), upper);
            }
        }
    }

    #[test]
    fn min_max_is_right_to_half_a_round_trip(run in run(4, true)) {
        let estimate = min_max(&run.edges(), |_| LEAST, Some(1), A, &()).unwrap();
        for clock in 1..4 {
            let offset = estimate.offsets[clock].as_ref().unwrap().at(0);
            let half = run.round_trip(0, clock).unwrap() as f64 / 2.0;
            prop_assert!((offset - run.truth(clock)).abs() <= half + 1e-3);
        }
        // Right clocks and a constant between true bounds: no message is early.
        prop_assert!(worst(&run.edges(), &estimate) < 0.01);
    }

    #[test]
    fn true_minimal_delays_and_constant_clocks_have_a_solution(
        run in run(5, false),
        reference in 0..5_u32,
    ) {
        let (edges, reference) = (run.edges(), ClockId(reference));
        let lines = hofmann_hilgers(&edges, |_| LEAST, Some(1), reference, &()).unwrap();
        prop_assert!(worst(&edges, &lines) < 0.01, "{}", worst(&edges, &lines));
        // With one sub-interval the extended form has the same on both boundaries.
        let options = Extended { intervals: Some(1), ..Extended::default() };
        let pieces = extended(&edges, |_| LEAST, &options, reference, &()).unwrap();
        for clock in 0..5 {
            let at = |it: &Estimate| it.offsets[clock].as_ref().unwrap().at(0);
            prop_assert!((at(&lines) - at(&pieces)).abs() < 0.01);
        }
        let own = lines.offsets[reference.as_usize()].as_ref().unwrap();
        prop_assert!(own.at(0).abs() < 1e-9 && own.at(LASTING).abs() < 1e-9);
    }

    #[test]
    fn finer_division_of_exact_clocks_stays_feasible(run in run(5, false), count in 2..20_u32) {
        let edges = run.edges();
        let options = Extended { intervals: Some(count), ..Extended::default() };
        let estimate = extended(&edges, |_| LEAST, &options, A, &());
        prop_assert!(!matches!(estimate, Err(NoEstimate::Infeasible(..))), "{:?}", estimate);
        let lines = hofmann_hilgers(&edges, |_| LEAST, Some(count), A, &());
        prop_assert!(!matches!(lines, Err(NoEstimate::Infeasible(..))), "{:?}", lines);
    }

    #[test]
    fn nothing_panics(
        messages in prop::collection::vec(
            (0..4_u32, any::<i64>(), 0..4_u32, any::<i64>()), 0..12),
        clocks in 0..5_usize,
        least in any::<i64>(),
        count in prop::option::of(any::<u32>()),
        reference in 0..5_u32,
        factor in prop::option::of(any::<f64>()),
        drift in any::<f64>(),
    ) {
        let far = |stamp: i64| stamp >> 2;
        let edges = messages.iter().map(|&(from, sent, to, received)| {
            Edge::message(ClockId(from), far(sent), ClockId(to), far(received))
        });
        let edges = Edges::new(edges.collect(), vec![Some((0, 1 << 61)); clocks]);
        let (least, reference) = (|_: &Edge| least, ClockId(reference));
        let options = Extended { intervals: count, factor, drift };
        for estimate in [
            min_max(&edges, least, count, reference, &()),
            hofmann_hilgers(&edges, least, count, reference, &()),
            extended(&edges, least, &options, reference, &()),
        ].into_iter().flatten() {
            prop_assert_eq!(estimate.offsets.len(), clocks);
        }
    }
}

#[test]
fn hofmann_and_hilgers_relate_clocks_through_others() {
    // Clocks 0 and 3 never meet.
    let run = Run {
        ahead: vec![0, 70, -900, 12_345],
        trips: vec![(0, 1, 10, 6, 8), (1, 2, 40, 7, 7), (2, 3, 70, 5, 9)],
    };
    let apart = min_max(&run.edges(), |_| LEAST, Some(1), A, &());
    let unrelated = NoEstimate::NotDirect(vec![ClockId(2), ClockId(3)], A);
    assert_eq!(apart, Err(unrelated));
    let estimate = hofmann_hilgers(&run.edges(), |_| LEAST, Some(1), A, &()).unwrap();
    for clock in 1..4 {
        let offset = estimate.offsets[clock].as_ref().unwrap().at(0);
        // Half of at most three round trips of 4 more than they must take.
        assert!(
            (offset - run.truth(clock)).abs() <= 6.0,
            "{clock}: {offset}"
        );
    }
}
