//! The extended form of Hofmann & Hilgers, beside the scheme as printed.

use crate::drifting::{A, edges};
use crate::round_trips::{LEAST, Run, run};
use proptest::prelude::*;
use retime::estimate::NoEstimate;
use retime::{ClockId, Edge, Edges};
use retime_methods::{Extended, SubIntervals, extended, hofmann_hilgers, min_max};

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
        let pieces = SubIntervals::divide(&edges, count, &()).unwrap();
        if let Some((base, printed)) = printed_scheme(&edges, &pieces) {
            let options = Extended {
                intervals: Some(count),
                factor: Some(3.0),
                ..Extended::default()
            };
            let estimate = extended(&edges, |_| LEAST, &options, base, &()).unwrap();
            for (clock, corrections) in printed.iter().enumerate() {
                let offset = estimate.offsets[clock].as_ref().unwrap();
                for (boundary, correction) in corrections.iter().enumerate() {
                    let stamp = pieces.boundary(ClockId(clock as u32), boundary);
                    prop_assert!((offset.at(stamp) - correction).abs() < 1e-3);
                }
            }
        }
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
    assert_eq!(min_max(&all, |_| 0, None, A, &()), missing);
    assert_eq!(hofmann_hilgers(&all, |_| 0, None, A, &()), missing);
    // The tightest pair has a width of 20, so clock 2 gets one of 40: 990 + 20.
    let guessed = extended(&all, |_| 0, &Extended::default(), A, &()).unwrap();
    let offset = guessed.offsets[2].as_ref().unwrap();
    assert!((offset.at(3_000) + 1_010.0).abs() < 1e-6, "{offset:?}");
    // Without the other pair nothing says how wide.
    messages.retain(|it| it.from == ClockId(2));
    let alone = edges(3, messages);
    let unknown = extended(&alone, |_| 0, &Extended::default(), A, &());
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
    let estimate = extended(&edges(3, messages), |_| 0, &options, A, &()).unwrap();
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
                hofmann_hilgers(&edges, |_| LEAST, Some(13), A, &()).unwrap(),
                extended(&edges, |_| LEAST, &options, A, &()).unwrap(),
            )
        })
    };
    assert_eq!(with(1), with(4));
}
