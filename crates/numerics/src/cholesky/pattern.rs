//! Where a sparse symmetric matrix has entries.
//!
//! ```
//! use retime_numerics::cholesky::Pattern;
//! let pattern = Pattern::new(3, vec![(0, 2)]);
//! assert_eq!(pattern.len(), 4); // with the diagonal
//! assert_eq!(pattern.position(2, 0), Some(1)); // column by column, either way round
//! assert_eq!(pattern.position(0, 1), None);
//! ```

use rayon::prelude::*;

/// Where a symmetric matrix has entries: its lower half, column by column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pub(super) size: usize,
    /// The beginning of each column's rows, the diagonal first.
    pub(super) starts: Vec<usize>,
    pub(super) rows: Vec<u32>,
}

impl Pattern {
    /// With these entries `(column, row)`, all of them `column <= row < size`;
    /// the diagonal comes by itself.
    pub fn new(size: usize, mut entries: Vec<(u32, u32)>) -> Self {
        entries.extend((0..size as u32).map(|at| (at, at)));
        // One number compares faster than two.
        entries.par_sort_unstable_by_key(|&(column, row)| u64::from(column) << 32 | u64::from(row));
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

    /// The number of rows, which is that of columns.
    pub fn size(&self) -> usize {
        self.size
    }

    /// How many entries there are: how many values a matrix of it has.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True if there are none, as there are no unknowns.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Where the value of an entry belongs; `None` if the pattern lacks it.
    pub fn position(&self, column: usize, row: usize) -> Option<usize> {
        let (column, row) = (column.min(row), column.max(row));
        let range = *self.starts.get(column)?..*self.starts.get(column + 1)?;
        let found = self.rows.get(range)?;
        let found = found.binary_search(&u32::try_from(row).ok()?).ok()?;
        Some(self.starts[column] + found)
    }
}
