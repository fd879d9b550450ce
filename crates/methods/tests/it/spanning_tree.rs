//! Jézéquel's spanning tree.

use crate::drifting::{A, B, RUN, band, clock, corrected, edges};
use proptest::prelude::*;
use retime::estimate::NoEstimate;
use retime::pipeline::PairMethod;
use retime::{ClockId, Edge, Edges, Ticks};
use retime_methods::spanning_tree;

/// The paths to clock 0 in the tree of the lightest pairs (Kruskal), as sums of
/// lags; `lag(a, b)` is what b has to add to show a's time.
fn lags_in_the_lightest_tree(clocks: usize, pairs: &[(u32, u32, i64, i64)]) -> Vec<i64> {
    let mut order: Vec<_> = pairs.to_vec();
    order.sort_by_key(|it| it.3);
    // Every clock knows its lag to the first of its part of the forest.
    let mut part: Vec<(usize, i64)> = (0..clocks).map(|it| (it, 0)).collect();
    for (a, b, lag, _) in order {
        let (to_a, to_b) = (part[a as usize], part[b as usize]);
        if to_a.0 == to_b.0 {
            continue;
        }
        for it in &mut part {
            if it.0 == to_b.0 {
                *it = (to_a.0, it.1 - to_b.1 + lag + to_a.1);
            }
        }
    }
    part.iter().map(|it| it.1 - part[0].1).collect()
}

proptest! {
    #[test]
    fn the_tree_is_of_the_best_pairs(
        lags in prop::collection::vec(-1000..1000_i64, 10),
        order in Just((0..10_i64).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let all = (0..5_u32).flat_map(|b| (0..b).map(move |a| (a, b)));
        let pairs = all.zip(lags.iter().zip(&order));
        let pairs: Vec<_> = pairs.map(|((a, b), (lag, width))| (a, b, *lag, 1 + width)).collect();
        let messages = pairs.iter().flat_map(|it| band(ClockId(it.0), ClockId(it.1), it.2, it.3));
        let extents = vec![Some((0, RUN)); 5];
        let edges = Edges::new(messages.collect(), extents);
        let estimate = spanning_tree(&edges, |_| 0, PairMethod::ConvexHull, A, &()).unwrap();
        for (clock, lag) in lags_in_the_lightest_tree(5, &pairs).into_iter().enumerate() {
            let offset = estimate.offsets[clock].as_ref().unwrap();
            prop_assert!((offset.at(RUN / 2) - lag as f64).abs() < 1e-3, "{clock}: {offset:?} {lag}");
        }
    }

    #[test]
    fn rates_add_up_along_the_tree(
        clocks in prop::collection::vec(clock(1_000_000), 2..7),
        parents in prop::collection::vec(any::<prop::sample::Index>(), 6),
        reference in any::<prop::sample::Index>(),
        delay in 0..1_000_i64,
    ) {
        // Every clock exchanges messages with one before it. At its own steps true
        // time is in whole ticks, so the other's stamp is good to half a tick.
        let stamp_at = |clock: usize, time: i64| {
            let it = clocks[clock];
            let rate = 1.0 + it.per_10_000 as f64 / 1e4;
            ((time - it.lag) as f64 / rate).round() as i64
        };
        let mut messages = Vec::new();
        for child in 1..clocks.len() {
            let parent = parents[child - 1].index(child);
            let [parent_id, child_id] = [parent, child].map(|it| ClockId(it as u32));
            for step in 0..100 {
                let (stamp, time) = clocks[child].at(1_000_000 * step);
                let [early, late] = [time - delay, time + delay].map(|it| stamp_at(parent, it));
                messages.push(Edge::message(parent_id, early, child_id, stamp));
                messages.push(Edge::message(child_id, stamp, parent_id, late));
            }
        }
        let edges = edges(clocks.len(), messages);
        let reference = ClockId(reference.index(clocks.len()) as u32);
        for method in [PairMethod::Regression, PairMethod::ConvexHull] {
            let estimate = spanning_tree(&edges, |_| -1, method, reference, &()).unwrap();
            for (clock, it) in clocks.iter().enumerate() {
                for step in [1_000_000, 50_000_000, 98_000_000] {
                    let (stamp, time) = it.at(step);
                    let wanted = stamp_at(reference.as_usize(), time) - stamp;
                    let error = estimate.offsets[clock].as_ref().unwrap().at(stamp) - wanted as f64;
                    // A tick that the hulls allow and half a one of rounding per clock.
                    prop_assert!(error.abs() < 1.5 * clocks.len() as f64, "{clock}: {error}");
                }
            }
        }
    }
}

#[test]
fn the_tree_goes_around_a_pair_without_a_line() {
    let c = ClockId(2);
    let mut messages = [band(A, B, 5, 40), band(B, c, 7, 40), band(A, c, 90, 1)].concat();
    let connected = edges(3, messages.clone());
    let direct = spanning_tree(&connected, |_| 0, PairMethod::ConvexHull, A, &()).unwrap();
    assert!((corrected(&direct, c, 0) - 90.0).abs() < 1e-9);
    // Now a and c know messages that no two steady clocks can have exchanged.
    messages.extend(band(A, c, 70, 1));
    let around = spanning_tree(
        &edges(3, messages.clone()),
        |_| 0,
        PairMethod::ConvexHull,
        A,
        &(),
    );
    assert!((corrected(&around.unwrap(), c, 0) - 12.0).abs() < 1e-9);
    messages.retain(|it| it.from != B && it.to != B);
    let cut = spanning_tree(&edges(3, messages), |_| 0, PairMethod::ConvexHull, A, &());
    assert_eq!(cut, Err(NoEstimate::Infeasible(vec![A, c], Ticks(18))));
}

#[test]
fn regression_prefers_pairs_with_steady_delays() {
    let c = ClockId(2);
    let noisy = |x, y, lag: i64, noise: i64| {
        let message = move |step: i64| {
            let (at, late) = (1000 * step, noise * (step % 3));
            [
                Edge::message(x, at + lag - late, y, at),
                Edge::message(y, at, x, at + lag + late),
            ]
        };
        (0..30).flat_map(message).collect::<Vec<_>>()
    };
    for (direct, wanted) in [(1, 90.0), (5, 90.0), (20, 12.0)] {
        let messages = [
            noisy(A, B, 5, 10),
            noisy(B, c, 7, 10),
            noisy(A, c, 90, direct),
        ];
        let edges = edges(3, messages.concat());
        let estimate = spanning_tree(&edges, |_| 0, PairMethod::Regression, A, &()).unwrap();
        assert!(
            (corrected(&estimate, c, 0) - wanted).abs() < 1e-6,
            "{direct}"
        );
    }
}
