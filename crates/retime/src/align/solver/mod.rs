//! Sparse symmetric positive definite systems.
//!
//! Multifrontal Cholesky factorisation: columns of the same pattern are eliminated
//! together in a dense front, what they add to later columns is handed to the next
//! front up the elimination tree. The pattern of the matrix is analysed once and
//! serves for all matrices of that pattern. All runs on one thread, so that results do
//! not depend on how many there are.

mod front;
mod graph;
mod numeric;
mod ordering;
mod supernodes;
mod symbolic;
mod tree;

use numeric::Numeric;
use symbolic::Symbolic;

/// Where a symmetric matrix has entries: its lower half, column by column.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    size: usize,
    starts: Vec<usize>,
    rows: Vec<u32>,
}

impl Pattern {
    /// With these entries `(column, row)`, all of them `column <= row < size`;
    /// the diagonal comes by itself.
    pub(super) fn new(size: usize, mut entries: Vec<(u32, u32)>) -> Self {
        entries.extend((0..size as u32).map(|at| (at, at)));
        entries.sort_unstable();
        entries.dedup();
        let mut starts = vec![0; size + 1];
        for &(column, _) in &entries {
            starts[column as usize + 1] += 1;
        }
        for column in 0..size {
            starts[column + 1] += starts[column];
        }
        Self {
            size,
            starts,
            rows: entries.into_iter().map(|(_, row)| row).collect(),
        }
    }

    /// How many entries there are.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Where the value of an entry belongs; `None` if the pattern lacks it.
    pub(super) fn position(&self, column: usize, row: usize) -> Option<usize> {
        let (column, row) = (column.min(row), column.max(row));
        let range = *self.starts.get(column)?..*self.starts.get(column + 1)?;
        let found = self.rows.get(range)?.binary_search(&(row as u32)).ok()?;
        Some(self.starts[column] + found)
    }
}

impl Pattern {
    /// Rows and positions of a column's entries below the diagonal.
    fn below(&self, column: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
        let (start, end) = (self.starts[column] + 1, self.starts[column + 1]);
        let rows = self.rows[start..end].iter().copied();
        rows.zip(start as u32..)
    }
}

/// Solves systems of one pattern.
pub(super) struct Solver {
    analysed: Symbolic,
}

impl Solver {
    /// Analyses a pattern; `None` if memory does not suffice.
    pub(super) fn new(pattern: &Pattern) -> Option<Self> {
        Some(Self {
            analysed: Symbolic::new(pattern)?,
        })
    }

    /// The solution for a right side; `None` if the matrix is not positive
    /// definite.
    pub(super) fn solve(&self, values: &[f64], right: &[f64]) -> Option<Vec<f64>> {
        let solution = Numeric::new(&self.analysed, values)?.solve(right);
        solution.iter().all(|it| it.is_finite()).then_some(solution)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Plain Cholesky of a full matrix.
    fn dense(matrix: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
        let size = right.len();
        let mut lower = vec![vec![0.0; size]; size];
        for row in 0..size {
            for column in 0..=row {
                let dot: f64 = (0..column)
                    .map(|at| lower[row][at] * lower[column][at])
                    .sum();
                let rest: f64 = matrix[row][column] - dot;
                lower[row][column] = if row == column {
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
        solution
    }

    proptest! {
        #[test]
        fn agrees_with_dense_cholesky(
            size in 1..40_usize,
            picked in proptest::collection::vec((0..40_u32, 0..40_u32, -1.0..1.0), 0..120),
            right in proptest::collection::vec(-10.0..10.0, 40),
        ) {
            let right = &right[..size];
            let mut matrix = vec![vec![0.0_f64; size]; size];
            let mut entries = Vec::new();
            for &(a, b, value) in &picked {
                let (a, b) = (a % size as u32, b % size as u32);
                entries.push((a.min(b), a.max(b)));
                if a != b {
                    matrix[a as usize][b as usize] = value;
                    matrix[b as usize][a as usize] = value;
                }
            }
            // A dominant diagonal makes it positive definite.
            for (at, row) in matrix.iter_mut().enumerate() {
                row[at] = 1.0 + row.iter().map(|it| it.abs()).sum::<f64>();
            }
            let pattern = Pattern::new(size, entries);
            let mut values = vec![0.0; pattern.len()];
            for (column, row) in (0..size).flat_map(|a| (a..size).map(move |b| (a, b))) {
                if let Some(at) = pattern.position(column, row) {
                    values[at] = matrix[row][column];
                }
            }
            let found = Solver::new(&pattern).unwrap().solve(&values, right).unwrap();
            for (found, wanted) in found.iter().zip(dense(&matrix, right)) {
                prop_assert!((found - wanted).abs() < 1e-9, "{} {}", found, wanted);
            }
        }
    }

    #[test]
    fn refuses_what_is_not_positive_definite() {
        let pattern = Pattern::new(2, vec![(0, 1)]);
        let solver = Solver::new(&pattern).unwrap();
        assert_eq!(solver.solve(&[1.0, 2.0, 1.0], &[1.0, 1.0]), None);
        assert_eq!(
            solver
                .solve(&[2.0, 1.0, 2.0], &[3.0, 3.0])
                .map(|it| it[0].round()),
            Some(1.0)
        );
    }
}
