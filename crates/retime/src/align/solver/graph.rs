//! Which unknowns share an entry of the matrix.

use super::Pattern;

/// The entries off the diagonal, seen from either end.
pub(super) struct Graph<'a> {
    pattern: &'a Pattern,
    /// By row, the entries to its left: column and position.
    starts: Vec<usize>,
    before: Vec<(u32, u32)>,
}

impl<'a> Graph<'a> {
    pub(super) fn new(pattern: &'a Pattern) -> Self {
        let mut starts = vec![0; pattern.size + 1];
        for &row in &pattern.rows {
            starts[row as usize + 1] += 1;
        }
        for column in 0..pattern.size {
            // The diagonal is no edge.
            starts[column + 1] = starts[column] + starts[column + 1] - 1;
        }
        let mut next = starts.clone();
        let mut before = vec![(0, 0); starts[pattern.size]];
        for column in 0..pattern.size {
            for (row, position) in pattern.below(column) {
                before[next[row as usize]] = (column as u32, position);
                next[row as usize] += 1;
            }
        }
        Self {
            pattern,
            starts,
            before,
        }
    }

    pub(super) fn size(&self) -> usize {
        self.pattern.size
    }

    /// Where its value on the diagonal lies.
    pub(super) fn diagonal(&self, node: usize) -> usize {
        self.pattern.starts[node]
    }

    /// The neighbours of an unknown in rising order, and where the values lie.
    pub(super) fn of(&self, node: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
        let before = &self.before[self.starts[node]..self.starts[node + 1]];
        before.iter().copied().chain(self.pattern.below(node))
    }
}
