//! Which unknowns share an entry of the matrix.

use super::pattern::Pattern;

/// Stands for no unknown.
pub(super) const NONE: u32 = u32::MAX;

/// The entries off the diagonal, seen from either end.
pub(super) struct Graph<'a> {
    pattern: &'a Pattern,
    /// The beginning of each row's list in `left`: columns left of the diagonal, and positions.
    starts: Vec<usize>,
    left: Vec<(u32, u32)>,
}

impl<'a> Graph<'a> {
    /// The graph of a pattern; `None` if its positions exceed 32 bits.
    pub(super) fn new(pattern: &'a Pattern) -> Option<Self> {
        u32::try_from(pattern.len()).ok()?;
        let mut starts = vec![0; pattern.size + 1];
        for &row in &pattern.rows {
            starts[row as usize + 1] += 1;
        }
        for row in 0..pattern.size {
            // The diagonal is no edge.
            starts[row + 1] += starts[row];
            starts[row + 1] -= 1;
        }
        let mut next = starts.clone();
        let mut left = vec![(0, 0); starts[pattern.size]];
        for column in 0..pattern.size {
            for (row, position) in below(pattern, column) {
                left[next[row as usize]] = (column as u32, position);
                next[row as usize] += 1;
            }
        }
        Some(Self {
            pattern,
            starts,
            left,
        })
    }

    /// How many unknowns there are.
    pub(super) fn size(&self) -> usize {
        self.pattern.size
    }

    /// How many entries the lower half of the matrix has.
    pub(super) fn entries(&self) -> usize {
        self.pattern.len()
    }

    /// How many neighbours an unknown has.
    pub(super) fn degree(&self, unknown: usize) -> usize {
        let below = self.pattern.starts[unknown + 1] - self.pattern.starts[unknown] - 1;
        self.starts[unknown + 1] - self.starts[unknown] + below
    }

    /// The neighbours of an unknown in rising order, and the positions of the entries.
    pub(super) fn of(&self, unknown: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
        let left = &self.left[self.starts[unknown]..self.starts[unknown + 1]];
        left.iter().copied().chain(below(self.pattern, unknown))
    }

    /// The position of an unknown's entry on the diagonal.
    pub(super) fn diagonal(&self, unknown: usize) -> usize {
        self.pattern.starts[unknown]
    }
}

/// Rows and positions of a column's entries below the diagonal.
fn below(pattern: &Pattern, column: usize) -> impl Iterator<Item = (u32, u32)> + '_ {
    let (start, end) = (pattern.starts[column] + 1, pattern.starts[column + 1]);
    let rows = pattern.rows[start..end].iter().copied();
    rows.zip(start as u32..)
}
