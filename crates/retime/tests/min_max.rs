//! Min/max, Hofmann & Hilgers, and its extended form.

#![allow(clippy::unwrap_used, reason = "tests only")]

#[path = "common/drifting.rs"]
mod drifting;

use drifting::{corrected, edges};
use proptest::prelude::*;
use retime::estimate::{
    DifferenceBounds, Estimate, Extended, NoEstimate, PairBounds, SubIntervals, extended,
    hofmann_hilgers, min_max,
};
use retime::{ClockId, Edge, Edges};

const A: ClockId = ClockId(0);

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

/// Messages between clocks of constant differences. A round trip is `(clock,
/// clock, when, there, back)`.
#[derive(Clone, Debug)]
struct Run {
    ahead: Vec<i64>,
    trips: Vec<(usize, usize, i64, i64, i64)>,
}

const LEAST: i64 = 5;
const LASTING: i64 = 100_000;

impl Run {
    fn edges(&self) -> Edges {
        let message = |from: usize, to: usize, sent: i64, delay: i64| {
            let (from_ahead, to_ahead) = (self.ahead[from], self.ahead[to]);
            let (from, to) = (ClockId(from as u32), ClockId(to as u32));
            Edge::message(from, sent + from_ahead, to, sent + delay + to_ahead)
        };
        let both = self
            .trips
            .iter()
            .flat_map(|&(one, other, when, there, back)| {
                [
                    message(one, other, when, there),
                    message(other, one, when + there, back),
                ]
            });
        edges(self.ahead.len(), both.collect())
    }

    /// The shortest round trip of a pair, less its minimal delays.
    fn round_trip(&self, one: usize, other: usize) -> Option<i64> {
        let ways = self.trips.iter().flat_map(|&(from, to, _, there, back)| {
            [(from, to, there - LEAST), (to, from, back - LEAST)]
        });
        let fastest = |from: usize, to: usize| {
            let own = ways.clone().filter(|it| (it.0, it.1) == (from, to));
            own.map(|it| it.2).min()
        };
        Some(fastest(one, other)? + fastest(other, one)?)
    }

    /// How far clock 0 really is ahead of another.
    fn truth(&self, clock: usize) -> f64 {
        (self.ahead[0] - self.ahead[clock]) as f64
    }
}

/// All clocks in a ring of round trips, and some more.
fn run(clocks: usize, star: bool) -> impl Strategy<Value = Run> {
    let far = 1_000_000_000_000_i64;
    let delay = || LEAST..200_i64;
    let trip = (1..clocks, 0..clocks, 0..LASTING, delay(), delay());
    let around = prop::collection::vec((0..LASTING, delay(), delay()), clocks);
    let trips = prop::collection::vec(trip, 0..200);
    let ahead = prop::collection::vec(-far..far, clocks);
    (ahead, around, trips).prop_map(move |(ahead, around, more)| {
        let peer = |clock: usize, other: usize| if star { 0 } else { (clock + other) % clocks };
        let ring = around.into_iter().enumerate();
        let ring = ring.map(|(one, (when, there, back))| (one, peer(one, 1), when, there, back));
        let more = more.into_iter();
        let more =
            more.map(|(one, other, when, there, back)| (one, peer(one, other), when, there, back));
        let trips = ring.chain(more).filter(|it| it.0 != it.1).collect();
        Run { ahead, trips }
    })
}

/// By how much messages arrive too early, at most.
fn worst(edges: &Edges, estimate: &Estimate) -> f64 {
    let early = |edge: &Edge| {
        corrected(estimate, edge.from, edge.sent) + LEAST as f64
            - corrected(estimate, edge.to, edge.received)
    };
    edges.all().iter().map(early).fold(f64::MIN, f64::max)
}

/// The thesis' `maxdiff`: nothing is known.
const MAXDIFF: i64 = 1 << 50;

/// `O-(i,k)` at `[i][k]`.
type Matrix = Vec<Vec<i64>>;

/// The loop as printed; `None` without a solution.
fn printed_closure(mut upper: Matrix) -> Option<Matrix> {
    let clocks = upper.len();
    loop {
        let before = upper.clone();
        for i in 0..clocks {
            for k in 0..clocks {
                for z in 0..clocks {
                    let chain = upper[i][z] + upper[z][k];
                    upper[i][k] = upper[i][k].min(chain).min(MAXDIFF);
                }
                if upper[i][k] < -upper[k][i] {
                    return None;
                }
            }
        }
        if before == upper {
            return Some(upper);
        }
    }
}

/// The bounds of a sub-interval, without and with those of (b1).
fn printed_bounds(edges: &Edges, pieces: &SubIntervals, piece: usize) -> (Matrix, Matrix) {
    let clocks = edges.clocks();
    let mut upper = vec![vec![MAXDIFF; clocks]; clocks];
    for (i, row) in upper.iter_mut().enumerate() {
        row[i] = 0;
    }
    for it in edges.all() {
        if pieces.of(it.from, it.sent) == piece || pieces.of(it.to, it.received) == piece {
            let bound = &mut upper[it.to.as_usize()][it.from.as_usize()];
            *bound = (*bound).min(it.received - it.sent - LEAST);
        }
    }
    let mut least = MAXDIFF;
    let mut guessed = upper.clone();
    let pairs = || (0..clocks).flat_map(|i| (0..clocks).map(move |k| (i, k)));
    for (i, k) in pairs().filter(|(i, k)| i != k) {
        if upper[i][k] != MAXDIFF && upper[k][i] != MAXDIFF {
            least = least.min(upper[i][k] + upper[k][i]);
        }
    }
    for (i, k) in pairs().filter(|_| least != MAXDIFF) {
        if upper[i][k] == MAXDIFF && upper[k][i] != MAXDIFF {
            guessed[i][k] = 3 * least - upper[k][i];
        }
    }
    (upper, guessed)
}

/// The extended method as printed, but for (b2): the clock of the smallest widths,
/// and what to add to each clock on each boundary; `None` where that needs (b2).
fn printed_scheme(edges: &Edges, pieces: &SubIntervals) -> Option<(ClockId, Vec<Vec<f64>>)> {
    let clocks = edges.clocks();
    let bounds: Vec<_> = (0..pieces.len())
        .map(|piece| printed_bounds(edges, pieces, piece))
        .collect();
    let tighter = |one: &Matrix, other: &Matrix| -> Matrix {
        let rows = one.iter().zip(other);
        rows.map(|(one, other)| one.iter().zip(other).map(|(a, b)| *a.min(b)).collect())
            .collect()
    };
    let mut closed = Vec::new();
    for boundary in 0..=pieces.len() {
        let before = &bounds[boundary.saturating_sub(1)];
        let after = &bounds[boundary.min(pieces.len() - 1)];
        let known = printed_closure(tighter(&before.0, &after.0)).unwrap();
        let guessed = printed_closure(tighter(&before.1, &after.1));
        closed.push(guessed.unwrap_or(known));
    }
    if closed
        .iter()
        .flatten()
        .flatten()
        .any(|bound| *bound > MAXDIFF / 2)
    {
        return None;
    }
    let widths = |r: usize| -> i64 {
        let all = closed.iter();
        all.map(|at| (0..clocks).map(|k| at[r][k] + at[k][r]).sum::<i64>())
            .sum()
    };
    let base = (0..clocks).min_by_key(|&r| widths(r))?;
    let corrections = |k: usize| {
        let all = closed.iter();
        all.map(|at| (at[base][k] - at[k][base]) as f64 / 2.0)
            .collect()
    };
    Some((ClockId(base as u32), (0..clocks).map(corrections).collect()))
}

proptest! {
    #[test]
    fn the_extended_form_is_the_printed_scheme(run in run(4, false), count in 1..5_u32) {
        let edges = run.edges();
        let pieces = SubIntervals::divide(&edges, count);
        if let Some((base, printed)) = printed_scheme(&edges, &pieces) {
            let options = Extended {
                intervals: Some(count),
                factor: Some(3.0),
                ..Extended::default()
            };
            let estimate = extended(&edges, |_| LEAST, &options, base).unwrap();
            for (clock, corrections) in printed.iter().enumerate() {
                let offset = estimate.offsets[clock].as_ref().unwrap();
                for (boundary, correction) in corrections.iter().enumerate() {
                    let stamp = pieces.boundary(ClockId(clock as u32), boundary);
                    prop_assert!((offset.at(stamp) - correction).abs() < 1e-3);
                }
            }
        }
    }

    #[test]
    fn closure_is_all_shortest_paths(bounds in bounds(7)) {
        let mut closed = matrix(7, &bounds);
        let result = closed.close();
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
        if let Err(cycle) = closed.close() {
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
        let pieces = SubIntervals::divide(&edges, count);
        let bounds = PairBounds::collect(&edges, &|_| LEAST, &pieces);
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
        let estimate = min_max(&run.edges(), |_| LEAST, Some(1), A).unwrap();
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
        let lines = hofmann_hilgers(&edges, |_| LEAST, Some(1), reference).unwrap();
        prop_assert!(worst(&edges, &lines) < 0.01, "{}", worst(&edges, &lines));
        // With one sub-interval the extended form has the same on both boundaries.
        let options = Extended { intervals: Some(1), ..Extended::default() };
        let pieces = extended(&edges, |_| LEAST, &options, reference).unwrap();
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
        let estimate = extended(&edges, |_| LEAST, &options, A);
        prop_assert!(!matches!(estimate, Err(NoEstimate::Infeasible(..))), "{:?}", estimate);
        let lines = hofmann_hilgers(&edges, |_| LEAST, Some(count), A);
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
            min_max(&edges, least, count, reference),
            hofmann_hilgers(&edges, least, count, reference),
            extended(&edges, least, &options, reference),
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
    let apart = min_max(&run.edges(), |_| LEAST, Some(1), A);
    let unrelated = NoEstimate::Unrelated(vec![ClockId(2), ClockId(3)]);
    assert_eq!(apart, Err(unrelated));
    let estimate = hofmann_hilgers(&run.edges(), |_| LEAST, Some(1), A).unwrap();
    for clock in 1..4 {
        let offset = estimate.offsets[clock].as_ref().unwrap().at(0);
        // Half of at most three round trips of 4 more than they must take.
        assert!(
            (offset - run.truth(clock)).abs() <= 6.0,
            "{clock}: {offset}"
        );
    }
}

#[test]
fn one_direction_is_named_or_guessed() {
    let mut messages = Vec::new();
    for n in 0..64 {
        let when = 100 * n;
        messages.push(Edge::message(A, when, ClockId(1), when + 10));
        messages.push(Edge::message(ClockId(1), when + 20, A, when + 30));
        // Clock 2 is 1000 ahead, and only sends.
        messages.push(Edge::message(ClockId(2), when + 1_000, A, when + 10));
    }
    let all = edges(3, messages.clone());
    let missing = Err(NoEstimate::OneDirection(ClockId(2), A));
    assert_eq!(min_max(&all, |_| 0, None, A), missing);
    assert_eq!(hofmann_hilgers(&all, |_| 0, None, A), missing);
    // The tightest pair has a width of 20, so clock 2 gets one of 40: 990 + 20.
    let guessed = extended(&all, |_| 0, &Extended::default(), A).unwrap();
    let offset = guessed.offsets[2].as_ref().unwrap();
    assert!((offset.at(3_000) + 1_010.0).abs() < 1e-6, "{offset:?}");
    // Without the other pair nothing says how wide.
    messages.retain(|it| it.from == ClockId(2));
    let alone = edges(3, messages);
    let unknown = extended(&alone, |_| 0, &Extended::default(), A);
    assert_eq!(unknown, missing);
}

#[test]
fn sub_intervals_without_messages_are_bridged() {
    // Clock 1 gains 1 in 10,000; it talks in the first and last tenth only,
    // clocks 0 and 2 throughout.
    let shows = |time: i64| time + 300 + time / 10_000;
    let mut messages = Vec::new();
    for n in 0..1_000 {
        let when = 1_000 * n;
        messages.push(Edge::message(A, when, ClockId(2), when + 20));
        messages.push(Edge::message(ClockId(2), when + 30, A, when + 50));
        if !(100..900).contains(&n) {
            messages.push(Edge::message(A, when, ClockId(1), shows(when + 20)));
            messages.push(Edge::message(ClockId(1), shows(when + 30), A, when + 50));
        }
    }
    let options = Extended {
        intervals: Some(20),
        ..Extended::default()
    };
    let estimate = extended(&edges(3, messages), |_| 0, &options, A).unwrap();
    let offset = estimate.offsets[1].as_ref().unwrap();
    for time in [0, 50_000, 250_000, 500_000, 750_000, 999_000] {
        let error = offset.at(shows(time)) + (shows(time) - time) as f64;
        assert!(error.abs() < 20.0, "{time}: {error}");
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let run = Run {
        ahead: vec![5, -7_000, 44_000, 0, 91],
        trips: (0..4_000)
            .map(|n| {
                let (one, other) = (n % 5, (n * 7 + 1) % 5);
                let delays = (LEAST + (n * 31 % 97) as i64, LEAST + (n * 17 % 89) as i64);
                (one, other, 25 * n as i64, delays.0, delays.1)
            })
            .filter(|it| it.0 != it.1)
            .collect(),
    };
    let edges = run.edges();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let options = Extended::default();
            (
                hofmann_hilgers(&edges, |_| LEAST, Some(13), A).unwrap(),
                extended(&edges, |_| LEAST, &options, A).unwrap(),
            )
        })
    };
    assert_eq!(with(1), with(4));
}
