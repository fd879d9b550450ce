//! Time of the linear systems of the alignment.
//!
//! ```text
//! cargo bench -p retime --bench solver [-- <repetitions>]
//! ```
//!
//! The systems have the patterns of offsets at knots: each is coupled to those of the
//! same clock up to two knots away, and around each piece to those of the clocks that
//! exchange messages there. One in sixteen messages ends in the piece after the one it began
//! in. Every pattern is analysed once for some ten matrices.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a report, and no library code"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

// The solver is private to the library.
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the solver needs a part of it, which is public in the library"
)]
#[path = "../src/pace.rs"]
mod pace;
#[allow(dead_code, unused_imports, reason = "what its tests use comes along")]
#[path = "../src/align/solver/mod.rs"]
mod solver;

use solver::{Pattern, Solver};

/// Clocks, pieces and who sends to whom.
struct Case {
    name: &'static str,
    clocks: usize,
    pieces: usize,
    pairs: Vec<(usize, usize)>,
}

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|it| it.parse().ok());
    let repeat: usize = numbers.next().unwrap_or(3);
    println!("best of {repeat}");
    println!("clocks                   pieces  unknowns    entries  analyse [ms]  solve [ms]");
    for case in cases() {
        let (clocks, pieces) = (case.clocks, case.pieces);
        let (pattern, values) = system(&case);
        let size = clocks * (pieces + 1);
        let right: Vec<f64> = (0..size).map(|at| (at as f64 * 0.7).sin()).collect();
        let analyse = best(repeat, || {
            drop(black_box(Solver::new(pattern.clone(), &())));
        });
        let mut solver = Solver::new(pattern.clone(), &()).unwrap().unwrap();
        let solve = best(repeat, || {
            black_box(solver.solve(&values, &right, &()).unwrap());
        });
        println!(
            "{:24} {pieces:6} {size:9} {:10} {:13.3} {:11.3}",
            case.name,
            pattern.len(),
            analyse.as_secs_f64() * 1e3,
            solve.as_secs_f64() * 1e3
        );
    }
}

fn cases() -> Vec<Case> {
    let all = |clocks: usize| {
        let pairs = (0..clocks).flat_map(|a| (0..clocks).map(move |b| (a, b)));
        pairs.filter(|(a, b)| a != b).collect()
    };
    // Neighbours on a torus of 16 by 16, and a ring through all.
    let halo = (0..256).flat_map(|at| {
        let (x, y) = (at % 16, at / 16);
        let neighbours = [(x + 1, y), (x + 15, y), (x, y + 1), (x, y + 15)];
        let neighbours = neighbours.map(|(x, y)| (at, y % 16 * 16 + x % 16));
        neighbours.into_iter().chain([(at, (at + 1) % 256)])
    });
    let ring = (0..256).flat_map(|at| [(at, (at + 1) % 256), ((at + 1) % 256, at)]);
    let case = |name, clocks, pieces, pairs| Case {
        name,
        clocks,
        pieces,
        pairs,
    };
    vec![
        case("4, all pairs", 4, 1, all(4)),
        case("16, all pairs", 16, 1024, all(16)),
        case("256, all pairs", 256, 16, all(256)),
        case("256, all pairs", 256, 64, all(256)),
        case("256, ring", 256, 256, ring.collect()),
        case("256, halo and ring", 256, 16, halo.clone().collect()),
        case("256, halo and ring", 256, 1024, halo.collect()),
    ]
}

/// The pattern and a positive definite matrix: sums of squares of differences.
fn system(case: &Case) -> (Pattern, Vec<f64>) {
    let (clocks, pieces) = (case.clocks, case.pieces);
    let size = clocks * (pieces + 1);
    let mut squares: Vec<[(usize, f64); 4]> = Vec::new();
    for at in 0..size.saturating_sub(2 * clocks) {
        squares.push([
            (at, 1.0),
            (at + clocks, -2.0),
            (at + 2 * clocks, 1.0),
            (at, 0.0),
        ]);
    }
    for at in 0..size - clocks {
        squares.push([(at, 0.1), (at + clocks, -0.1), (at, 0.0), (at, 0.0)]);
    }
    for (place, &(from, to)) in case.pairs.iter().enumerate() {
        for piece in 0..pieces {
            let late = (place + piece) % 16 == 0 && piece + 1 < pieces;
            let (sent, received) = (
                piece * clocks + from,
                (piece + usize::from(late)) * clocks + to,
            );
            let share = (place * 7 + piece * 3) as f64 * 0.1 % 1.0;
            let weights = [share - 1.0, -share, share, 1.0 - share];
            let ends = [sent, sent + clocks, received, received + clocks];
            squares.push([0, 1, 2, 3].map(|it| (ends[it], weights[it])));
        }
    }
    let products = |square: &[(usize, f64); 4]| {
        let square = *square;
        (0..4).flat_map(move |a| {
            (a..4).map(move |b| (square[a].0, square[b].0, square[a].1 * square[b].1))
        })
    };
    let entries = squares.iter().flat_map(products);
    let entries = entries.map(|(a, b, _)| (a.min(b) as u32, a.max(b) as u32));
    let pattern = Pattern::new(size, entries.collect());
    let mut values = vec![0.0; pattern.len()];
    for at in 0..size {
        values[pattern.position(at, at).unwrap()] += 1e-3;
    }
    for (a, b, value) in squares.iter().flat_map(products) {
        values[pattern.position(a, b).unwrap()] += value;
    }
    (pattern, values)
}

fn best(repeat: usize, mut work: impl FnMut()) -> Duration {
    let times = (0..repeat).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}
