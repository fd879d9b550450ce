use proptest::prelude::*;

use super::*;

/// Plain Cholesky of a full matrix; `None` if it is not positive definite.
fn dense(matrix: &[Vec<f64>], right: &[f64]) -> Option<Vec<f64>> {
    let size = right.len();
    let mut lower = vec![vec![0.0; size]; size];
    for row in 0..size {
        for column in 0..=row {
            let products = (0..column).map(|at| lower[row][at] * lower[column][at]);
            let rest: f64 = matrix[row][column] - products.sum::<f64>();
            lower[row][column] = if row == column {
                if rest <= 0.0 {
                    return None;
                }
                rest.sqrt()
            } else {
                rest / lower[column][column]
            };
        }
    }
    let mut solution = right.to_vec();
    for row in 0..size {
        let dot: f64 = (0..row).map(|at| lower[row][at] * solution[at]).sum();
        solution[row] = (solution[row] - dot) / lower[row][row];
    }
    for row in (0..size).rev() {
        let dot: f64 = (row + 1..size)
            .map(|at| lower[at][row] * solution[at])
            .sum();
        solution[row] = (solution[row] - dot) / lower[row][row];
    }
    Some(solution)
}

/// A symmetric matrix with these entries off the diagonal, each twice; its diagonal is
/// `share` of the sum of each row, and a little more.
fn matrix(size: usize, entries: &[(usize, usize, f64)], share: f64) -> Vec<Vec<f64>> {
    let mut matrix = vec![vec![0.0; size]; size];
    for &(a, b, value) in entries {
        if a != b {
            matrix[a][b] = value;
            matrix[b][a] = value;
        }
    }
    for (at, row) in matrix.iter_mut().enumerate() {
        row[at] = 0.1 + share * row.iter().map(|it| f64::abs(*it)).sum::<f64>();
    }
    matrix
}

fn solver(pattern: &Pattern) -> SparseCholesky {
    SparseCholesky::new(pattern.clone(), &()).unwrap().unwrap()
}

/// Solves with the pattern that these entries have.
fn solve(matrix: &[Vec<f64>], entries: &[(usize, usize, f64)], right: &[f64]) -> Option<Vec<f64>> {
    let (pattern, values) = sparse(matrix, entries);
    solver(&pattern).solve(&values, right, &()).unwrap()
}

/// Solves by an incomplete factor alone.
fn solve_incompletely(
    matrix: &[Vec<f64>],
    entries: &[(usize, usize, f64)],
    right: &[f64],
) -> Option<Vec<f64>> {
    let (pattern, values) = sparse(matrix, entries);
    let mut solver = solver(&pattern);
    let graph = Graph::new(&pattern).unwrap();
    solver.columns = Some(Columns::new(&graph, &solver.symbolic.unknowns));
    solver.solve_incompletely(&values, right, &()).unwrap()
}

fn sparse(matrix: &[Vec<f64>], entries: &[(usize, usize, f64)]) -> (Pattern, Vec<f64>) {
    let pairs = entries
        .iter()
        .map(|&(a, b, _)| (a.min(b) as u32, a.max(b) as u32));
    let pattern = Pattern::new(matrix.len(), pairs.collect());
    let mut values = vec![0.0; pattern.len()];
    for (column, row) in (0..matrix.len()).flat_map(|a| (a..matrix.len()).map(move |b| (a, b))) {
        if let Some(at) = pattern.position(row, column) {
            values[at] = matrix[row][column];
        }
    }
    (pattern, values)
}

fn right(size: usize) -> Vec<f64> {
    (0..size).map(|at| (at as f64 * 0.7).sin() * 6.0).collect()
}

/// Checks that a matrix with these entries and a dominant diagonal is solved.
fn check(size: usize, entries: &[(usize, usize, f64)]) {
    let (matrix, right) = (matrix(size, entries, 1.0), right(size));
    let found = solve(&matrix, entries, &right).unwrap();
    for (row, wanted) in matrix.iter().zip(right) {
        let sum: f64 = row.iter().zip(&found).map(|(a, x)| a * x).sum();
        assert!((sum - wanted).abs() < 1e-9, "{sum} {wanted}");
    }
}

/// Values that are neither equal nor of one sign.
fn value(a: usize, b: usize) -> f64 {
    ((a * 31 + b * 17) as f64).sin()
}

proptest! {
    #[test]
    fn agrees_with_dense_cholesky(
        size in 1..60_usize,
        picked in proptest::collection::vec((0..60_usize, 0..60_usize, -1.0..1.0), 0..200),
        // Below 1 the matrix may be indefinite.
        share in 0.3..1.0,
    ) {
        let entries: Vec<_> = picked.iter().map(|&(a, b, v)| (a % size, b % size, v)).collect();
        let (matrix, right) = (matrix(size, &entries, share), right(size));
        let found = solve(&matrix, &entries, &right);
        let Some(wanted) = dense(&matrix, &right) else {
            prop_assert_eq!(found, None);
            return Ok(());
        };
        let most = wanted.iter().fold(0.0_f64, |most, it| most.max(it.abs()));
        for (found, wanted) in found.unwrap().iter().zip(wanted) {
            prop_assert!((found - wanted).abs() < 1e-8 * (1.0 + most), "{} {}", found, wanted);
        }
    }

    /// Offsets at knots, as the alignment has them.
    #[test]
    fn solves_what_is_coupled_along_time(
        clocks in 1..12_usize,
        knots in 1..30_usize,
        pairs in proptest::collection::vec((0..12_usize, 0..12_usize), 0..20),
    ) {
        let size = clocks * knots;
        let mut entries = Vec::new();
        let mut add = |a: usize, b: usize| {
            if a.max(b) < size {
                entries.push((a, b, value(a, b)));
            }
        };
        for at in 0..size {
            add(at, at + clocks);
            add(at, at + 2 * clocks);
        }
        for (knot, (a, b)) in (0..knots).flat_map(|it| pairs.iter().map(move |pair| (it, pair))) {
            for (a, b) in [(0, 0), (0, clocks), (clocks, 0), (clocks, clocks)]
                .map(|(x, y)| (knot * clocks + a % clocks + x, knot * clocks + b % clocks + y))
            {
                add(a, b);
            }
        }
        check(size, &entries);
    }
}

#[test]
fn the_example_of_the_module() {
    let pattern = Pattern::new(4, vec![(0, 3), (1, 3), (2, 3)]);
    let mut solver = solver(&pattern);
    // Column by column.
    let values = [4.0, 2.0, 4.0, 2.0, 4.0, 2.0, 4.0];
    let solution = solver.solve(&values, &[6.0, 6.0, 6.0, 10.0], &()).unwrap();
    assert_eq!(solution, Some(vec![1.0; 4]));
}

#[test]
fn sizes_none_and_one() {
    assert_eq!(solve(&[], &[], &[]), Some(vec![]));
    assert_eq!(solve(&[vec![4.0]], &[], &[2.0]), Some(vec![0.5]));
    assert_eq!(solve(&[vec![0.0]], &[], &[2.0]), None);
}

#[test]
fn diagonals_chains_and_stars() {
    check(300, &[]);
    let chain: Vec<_> = (1..2_000).map(|at| (at - 1, at, value(at, 0))).collect();
    check(2_000, &chain);
    let star: Vec<_> = (1..500).map(|at| (0, at, value(0, at))).collect();
    check(500, &star);
}

/// Sizes around those of panels and blocks, and some that threads share.
#[test]
fn dense_matrices() {
    for size in [2, 3, 4, 5, 7, 8, 9, 12, 13, 127, 128, 129, 132, 261, 389] {
        let pairs = (0..size).flat_map(|a| (0..a).map(move |b| (a, b, value(a, b))));
        check(size, &pairs.collect::<Vec<_>>());
    }
}

/// Threads that eliminate branches at a time change no digit.
#[test]
fn branches_change_nothing() {
    const SIDE: u32 = 90;
    let at = |row: u32, column: u32| (row % SIDE) * SIDE + column % SIDE;
    let each = (0..SIDE * SIDE).map(|it| (it / SIDE, it % SIDE));
    let torus = each.flat_map(|(row, column)| {
        let others = [at(row + 1, column), at(row, column + 1)];
        others.map(|it| (it.min(at(row, column)), it.max(at(row, column))))
    });
    let pattern = Pattern::new((SIDE * SIDE) as usize, torus.collect());
    let values: Vec<f64> = (0..pattern.size)
        .flat_map(|column| {
            let entries = pattern.starts[column + 1] - pattern.starts[column];
            (0..entries).map(move |it| {
                if it == 0 {
                    4.5
                } else {
                    value(column, it) / 100.0
                }
            })
        })
        .collect();
    let right = right(pattern.size);
    let mut solver = solver(&pattern);
    assert!(solver.symbolic.branches.len() > 4);
    let together = solver.solve(&values, &right, &()).unwrap().unwrap();
    solver.symbolic.branches.clear();
    assert_eq!(solver.solve(&values, &right, &()).unwrap(), Some(together));
}

/// Two dense halves that a third part separates: fronts with large updates.
#[test]
fn threads_that_share_a_front_change_nothing() {
    const PART: usize = 210;
    let apart = |a: usize, b: usize| a / PART != b / PART && a < 2 * PART && b < 2 * PART;
    let size = 3 * PART;
    let pairs = (0..size).flat_map(|a| (0..a).map(move |b| (a, b, value(a, b))));
    let entries: Vec<_> = pairs.filter(|&(a, b, _)| !apart(a, b)).collect();
    let matrix = matrix(size, &entries, 1.0);
    let right = right(size);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build()
            .unwrap()
            .install(|| solve(&matrix, &entries, &right))
            .unwrap()
    };
    let alone = with(1);
    assert_eq!(with(4), alone);
    let expected = dense(&matrix, &right).unwrap();
    for (ours, theirs) in alone.iter().zip(expected) {
        assert!(
            (ours - theirs).abs() < 1e-9 * theirs.abs().max(1.0),
            "{ours} {theirs}"
        );
    }
}

#[test]
fn long_chains_need_no_deep_stack() {
    let size = 200_000;
    let pattern = Pattern::new(size, (1..size as u32).map(|at| (at - 1, at)).collect());
    let values: Vec<f64> = (0..pattern.len()).map(|at| [2.0, -1.0][at % 2]).collect();
    let mut solver = solver(&pattern);
    // A bent line: its second difference is constant.
    let bent = solver
        .solve(&values, &vec![1.0; size], &())
        .unwrap()
        .unwrap();
    let middle = (size / 2) as f64;
    let wanted = middle * (size as f64 + 1.0 - middle) / 2.0;
    assert!((bent[size / 2 - 1] / wanted - 1.0).abs() < 1e-6);
}

#[test]
fn refuses_what_is_not_positive_definite_or_finite() {
    let pattern = Pattern::new(2, vec![(0, 1)]);
    let mut solver = solver(&pattern);
    assert_eq!(
        solver.solve(&[1.0, 2.0, 1.0], &[1.0, 1.0], &()).unwrap(),
        None
    );
    assert_eq!(
        solver.solve(&[-1.0, 0.0, 1.0], &[1.0, 1.0], &()).unwrap(),
        None
    );
    for wrong in [f64::NAN, f64::INFINITY] {
        assert_eq!(
            solver.solve(&[2.0, 1.0, wrong], &[1.0, 1.0], &()).unwrap(),
            None
        );
        assert_eq!(
            solver.solve(&[2.0, wrong, 2.0], &[1.0, 1.0], &()).unwrap(),
            None
        );
        assert_eq!(
            solver.solve(&[2.0, 1.0, 2.0], &[1.0, wrong], &()).unwrap(),
            None
        );
    }
    // What was refused leaves nothing behind.
    let solution = solver
        .solve(&[2.0, 1.0, 2.0], &[3.0, 3.0], &())
        .unwrap()
        .unwrap();
    assert!(solution.iter().all(|it| (it - 1.0).abs() < 1e-12));
}

/// Clocks that each exchange messages with some others at random, with two unknowns each that
/// hardly differ, and weights over many orders of magnitude.
fn at_random(clocks: usize, partners: usize) -> Vec<([usize; 4], [f64; 4], f64)> {
    let drawn = |at: usize| (at.wrapping_mul(2_654_435_769) >> 7) % 100_003;
    let ends = |at: usize| [at, at + clocks];
    let mut squares = Vec::new();
    for clock in 0..clocks {
        let [a, b] = ends(clock);
        squares.push(([a, b, a, b], [1.0, -1.0, 0.0, 0.0], 5e-3));
        let held = if clock == 0 { 44.0 } else { 4e-13 };
        squares.push(([a, b, a, b], [1.0, 0.0, 0.0, 0.0], held));
        squares.push(([a, b, a, b], [0.0, 1.0, 0.0, 0.0], held));
        for partner in 0..partners {
            let number = clock * partners + partner;
            let other = (clock + 1 + drawn(number) % (clocks - 1)) % clocks;
            let [c, d] = ends(other);
            let share = (number % 7) as f64 / 7.0;
            let slack = 1_500.0 / 10_f64.powf((drawn(number + 17) % 200) as f64 / 100.0);
            let weights = [share - 1.0, -share, 1.0 - share, share];
            squares.push(([a, b, c, d], weights, 6.75e6 / slack.powi(4)));
        }
    }
    squares
}

/// The system of sums of squares.
fn normal(size: usize, squares: &[([usize; 4], [f64; 4], f64)]) -> (Pattern, Vec<f64>) {
    let products = |(at, by, weight): &([usize; 4], [f64; 4], f64)| {
        let (at, by, weight) = (*at, *by, *weight);
        let pairs = (0..4).flat_map(|a| (0..4).map(move |b| (a, b)));
        let lower = pairs.filter(move |&(a, b)| at[a] <= at[b]);
        lower.map(move |(a, b)| ((at[a] as u32, at[b] as u32), weight * by[a] * by[b]))
    };
    let entries = squares.iter().flat_map(products).map(|it| it.0).collect();
    let pattern = Pattern::new(size, entries);
    let mut values = vec![0.0; pattern.len()];
    for ((column, row), value) in squares.iter().flat_map(products) {
        values[pattern.position(column as usize, row as usize).unwrap()] += value;
    }
    (pattern, values)
}

#[test]
fn where_clocks_meet_at_random_an_incomplete_factor_takes_over() {
    let size = 2 * 1_500;
    let (pattern, values) = normal(size, &at_random(1_500, 3));
    let mut solver = solver(&pattern);
    assert!(solver.columns.is_some());
    let right: Vec<f64> = right(size).iter().map(|it| it * 1e-4).collect();
    let found = solver.solve(&values, &right, &()).unwrap().unwrap();
    // It was good enough.
    assert!(solver.columns.take().is_some());
    let complete = solver.solve(&values, &right, &()).unwrap().unwrap();
    let largest = |of: &[f64]| of.iter().fold(0.0_f64, |most, it| most.max(it.abs()));
    let off: Vec<f64> = found.iter().zip(&complete).map(|(a, b)| a - b).collect();
    let (off, all) = (largest(&off), largest(&complete));
    assert!(off < 1e-7 * all, "{off} of {all}");
}

#[test]
fn neighbours_on_a_grid_have_a_complete_factor() {
    let side = 40_u32;
    let beside = (0..side * side - 1).map(|at| (at, at + 1));
    let below = (0..side * (side - 1)).map(|at| (at, at + side));
    let pattern = Pattern::new((side * side) as usize, beside.chain(below).collect());
    assert!(solver(&pattern).columns.is_none());
}

proptest! {
    #[test]
    fn an_incomplete_factor_leads_to_the_solution(
        size in 1..40_usize,
        picked in proptest::collection::vec((0..40_usize, 0..40_usize, -3.0..3.0_f64), 0..160),
        share in 0.9..1.5_f64,
    ) {
        let entries: Vec<_> = picked.iter().map(|&(a, b, it)| (a % size, b % size, it)).collect();
        let (matrix, right) = (matrix(size, &entries, share), right(size));
        let wanted = dense(&matrix, &right);
        if let Some(found) = solve_incompletely(&matrix, &entries, &right) {
            let wanted = wanted.unwrap();
            let largest = wanted.iter().fold(0.0_f64, |most, it| most.max(it.abs()));
            for (found, wanted) in found.iter().zip(&wanted) {
                prop_assert!((found - wanted).abs() <= 1e-6 * largest, "{found} {wanted}");
            }
        } else {
            // What is dominated by its diagonal is never refused.
            prop_assert!(share < 1.0);
        }
    }
}
