//! What a supernode hands up the tree.
//!
//! An update is the lower half of a symmetric matrix, column by column without gaps. It
//! is added to the front of the parent: where a row of it goes there, is known from the
//! lists of rows. Rows that follow each other mostly do so there too.

use super::front;

/// The room for an update of so many rows.
pub(super) fn len(rows: usize) -> Option<usize> {
    Some(rows.checked_mul(rows.checked_add(1)?)? / 2)
}

/// Where a column begins, with its entry on the diagonal.
pub(super) fn start(column: usize, rows: usize) -> usize {
    column * (2 * rows + 1 - column) / 2
}

/// Where the rows of an update go in the front of the parent.
#[derive(Default)]
pub(super) struct Destination {
    rows: Vec<usize>,
    /// By row, the next one that does not follow right after the one before.
    ends: Vec<usize>,
}

impl Destination {
    pub(super) fn set(&mut self, rows: impl Iterator<Item = usize>) {
        self.rows.clear();
        self.rows.extend(rows);
        self.ends.clear();
        self.ends.resize(self.rows.len(), self.rows.len());
        for at in (1..self.rows.len()).rev() {
            let follows = self.rows[at - 1] + 1 == self.rows[at];
            self.ends[at - 1] = if follows { self.ends[at] } else { at };
        }
    }

    /// Adds an update to the front of the parent: its columns to eliminate, and its own
    /// update of so many rows.
    pub(super) fn add(
        &self,
        update: &[f64],
        entries: &mut [f64],
        columns: usize,
        above: &mut [f64],
        below: usize,
    ) {
        let mut rest = update;
        for (at, &column) in self.rows.iter().enumerate() {
            let (values, others) = rest.split_at(self.rows.len() - at);
            rest = others;
            if column < columns {
                for (value, &row) in values.iter().zip(&self.rows[at..]) {
                    entries[front::place(columns, column, row)] += value;
                }
                continue;
            }
            let place = start(column - columns, below);
            let mut from = at;
            while let Some(&end) = self.ends.get(from) {
                let target = &mut above[place + self.rows[from] - column..][..end - from];
                for (sum, value) in target.iter_mut().zip(&values[from - at..]) {
                    *sum += value;
                }
                from = end;
            }
        }
    }
}
