//! The update that a supernode hands up the tree.
//!
//! An update is the lower half of a symmetric matrix, column by column without gaps. Each
//! of its rows goes to a row of the parent's front, and each column to the column of the same
//! number. Rows that follow each other mostly do so there too, so whole stretches are
//! added at once.
//!
//! ```text
//! update of a child   rows 3 5 6    front of the parent   rows 3 4 5 6
//!   column 3          a b c           column 3            +a . +b +c
//!   column 5            d e           column 5                 +d +e
//!   column 6              f           column 6                    +f
//! ```

use super::front::{self, Front};

/// The room for an update of so many rows.
pub(super) fn len(rows: usize) -> Option<usize> {
    Some(rows.checked_mul(rows.checked_add(1)?)? / 2)
}

/// Where a column begins, with its entry on the diagonal.
pub(super) fn start(column: usize, rows: usize) -> usize {
    column * (2 * rows + 1 - column) / 2
}

/// Adds an update to the front of the parent, given for each row its row there.
pub(super) fn add(update: &[f64], rows: &[u32], parent: &mut Front<'_>) {
    let ends = ends(rows);
    let (columns, below) = (parent.columns, parent.rows - parent.columns);
    let mut rest = update;
    for (at, &column) in rows.iter().enumerate() {
        let (values, others) = rest.split_at(rows.len() - at);
        rest = others;
        let column = column as usize;
        if column < columns {
            for (value, &row) in values.iter().zip(&rows[at..]) {
                parent.entries[front::place(columns, column, row as usize)] += value;
            }
            continue;
        }
        let place = start(column - columns, below);
        let mut from = at;
        while let Some(&end) = ends.get(from) {
            let target = place + rows[from] as usize - column;
            let target = &mut parent.update[target..][..end - from];
            for (sum, value) in target.iter_mut().zip(&values[from - at..]) {
                *sum += value;
            }
            from = end;
        }
    }
}

/// The end of the stretch of rows without gaps that each row is in.
fn ends(rows: &[u32]) -> Vec<usize> {
    let mut ends = vec![rows.len(); rows.len()];
    for at in (1..rows.len()).rev() {
        let follows = rows[at - 1] + 1 == rows[at];
        ends[at - 1] = if follows { ends[at] } else { at };
    }
    ends
}
