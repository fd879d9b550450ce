//! Dense elimination: the columns of a supernode, and what they subtract from the rest.
//!
//! A front has `c` columns to eliminate and `r >= c` rows. Eight rows lie together in a
//! *panel*, column by column, so that whatever is done to a column is done to eight rows
//! at once. Four columns are computed at a time from all before them: thirty-two sums that
//! stay in registers while they run over those columns.
//!
//! ```text
//! tile[k][i] = sum over j  L[i,j] L[k,j]     for 8 rows i and 4 columns k
//! ```
//!
//! After every [`BLOCK`] columns all that follows is brought up to date, so that what is
//! summed over stays in the cache.
//!
//! Rows that fill up the last panel hold zeros. The diagonal holds the inverses of the
//! roots; what lies above it is zero.

#![allow(
    clippy::inline_always,
    reason = "what `factorise` calls has to be part of it to use the same instructions"
)]
#![allow(
    clippy::needless_range_loop,
    reason = "sums stay in registers only where all indices are known: ten times as fast"
)]

use std::ops::Range;
use std::slice::ChunksExact;

use super::update;
use retime_model::Monitor;

/// So many rows lie together,
pub(super) const LANES: usize = 8;
/// so many columns are computed at a time,
const WIDE: usize = 4;
/// and so many before what follows is brought up to date: 8 KiB of each of two panels,
/// which fits into first-level caches of 32 KiB.
const BLOCK: usize = 128;

/// After so many panels a front asks whether it is still wanted: with ten thousand rows
/// a few hundredths of a second later.
const PANELS: usize = 16;

/// A column of a panel.
type Column = [f64; LANES];
/// Some columns of a panel.
type Tile = [Column; WIDE];

/// The room for the columns of a front.
pub(super) fn len(columns: usize, rows: usize) -> Option<usize> {
    rows.checked_next_multiple_of(LANES)?.checked_mul(columns)
}

/// Where an entry lies.
pub(super) fn place(columns: usize, column: usize, row: usize) -> usize {
    (row / LANES * columns + column) * LANES + row % LANES
}

/// The panels of a front of so many rows, from where its entries begin.
pub(super) fn panels(
    entries: &[f64],
    columns: usize,
    rows: usize,
) -> ChunksExact<'_, [f64; LANES]> {
    let all = entries.as_chunks().0;
    all[..rows.div_ceil(LANES) * columns].chunks_exact(columns)
}

/// A front.
pub(super) struct Front<'a> {
    /// Of the columns to eliminate, in panels.
    pub(super) entries: &'a mut [f64],
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// The rest, without gaps.
    pub(super) update: &'a mut [f64],
}

/// Eliminates the columns; `None` if the matrix is not positive definite, or if `monitor`
/// says to give up.
// The sums of a tile take up half of the registers of AVX, but all of those that every
// x86-64 has. Neither version fuses products and sums, so the results are the same.
#[multiversion::multiversion(targets("x86_64+avx"))]
pub(super) fn factorise(mut front: Front<'_>, monitor: &dyn Monitor) -> Option<()> {
    let columns = front.columns;
    for start in (0..columns).step_by(BLOCK) {
        let end = columns.min(start + BLOCK);
        for at in (start..end).step_by(WIDE) {
            front.eliminate(start..at, end.min(at + WIDE))?;
        }
        front.subtract(start..end, monitor)?;
    }
    Some(())
}

impl Front<'_> {
    /// Computes the columns from where those known in their block end.
    #[inline(always)]
    fn eliminate(&mut self, known: Range<usize>, end: usize) -> Option<()> {
        let own = known.end..end;
        let diagonal = own.start / LANES;
        let mut tile = self.rest(diagonal, &known, &own);
        let pivot = Pivot::new(&mut tile, own.start % LANES, own.len())?;
        self.store(diagonal, &own, &tile);
        for panel in diagonal + 1..self.rows.div_ceil(LANES) {
            let mut tile = self.rest(panel, &known, &own);
            pivot.divide(&mut tile);
            self.store(panel, &own, &tile);
        }
        Some(())
    }

    /// Subtracts what columns contribute to all that follow.
    #[inline(always)]
    fn subtract(&mut self, known: Range<usize>, monitor: &dyn Monitor) -> Option<()> {
        let first = known.end / WIDE * WIDE;
        for panel in known.end / LANES..self.rows.div_ceil(LANES) {
            if panel.is_multiple_of(PANELS) && monitor.cancelled() {
                return None;
            }
            let until = self.rows.min((panel + 1) * LANES);
            for at in (first..until).step_by(WIDE) {
                let tile = self.product(panel, at, &known);
                for (column, sums) in (at..until).zip(&tile) {
                    if column >= self.columns {
                        self.subtract_from_update(panel, column, sums);
                    } else if column >= known.end {
                        subtract(&mut self.panel_mut(panel)[column], sums);
                    }
                }
            }
        }
        Some(())
    }

    #[inline(always)]
    fn subtract_from_update(&mut self, panel: usize, column: usize, sums: &Column) {
        let top = panel * LANES;
        let (from, until) = (top.max(column), self.rows.min(top + LANES));
        let place = update::start(column - self.columns, self.rows - self.columns);
        let values = &mut self.update[place + from - column..place + until - column];
        if let Ok(values) = <&mut Column>::try_from(&mut *values) {
            subtract(values, sums);
        } else {
            for (value, sum) in values.iter_mut().zip(&sums[from - top..]) {
                *value -= sum;
            }
        }
    }

    /// What is left of columns after those known.
    #[inline(always)]
    fn rest(&self, panel: usize, known: &Range<usize>, own: &Range<usize>) -> Tile {
        let sums = self.product(panel, own.start, known);
        let mut tile = [[0.0; LANES]; WIDE];
        let values = &self.panel(panel)[own.clone()];
        for column in 0..own.len().min(WIDE) {
            tile[column] = values[column];
            subtract(&mut tile[column], &sums[column]);
        }
        tile
    }

    #[inline(always)]
    fn store(&mut self, panel: usize, own: &Range<usize>, tile: &Tile) {
        let values = &mut self.panel_mut(panel)[own.clone()];
        values.copy_from_slice(&tile[..own.len()]);
    }

    /// Sums over columns, for the rows of a panel and four from `row`.
    #[inline(always)]
    fn product(&self, panel: usize, row: usize, over: &Range<usize>) -> Tile {
        let left = &self.panel(panel)[over.clone()];
        let right = &self.panel(row / LANES)[over.clone()];
        if row.is_multiple_of(LANES) {
            product::<0>(left, right)
        } else {
            product::<WIDE>(left, right)
        }
    }

    #[inline(always)]
    fn panel(&self, at: usize) -> &[Column] {
        let len = self.columns * LANES;
        self.entries[at * len..][..len].as_chunks().0
    }

    #[inline(always)]
    fn panel_mut(&mut self, at: usize) -> &mut [Column] {
        let len = self.columns * LANES;
        self.entries[at * len..][..len].as_chunks_mut().0
    }
}

#[inline(always)]
fn product<const FROM: usize>(left: &[Column], right: &[Column]) -> Tile {
    let mut tile = [[0.0; LANES]; WIDE];
    let len = left.len().min(right.len());
    let (left, right) = (&left[..len], &right[..len]);
    for at in 0..len {
        let (left, right) = (&left[at], &right[at]);
        for column in 0..WIDE {
            let factor = right[FROM + column];
            for lane in 0..LANES {
                tile[column][lane] += left[lane] * factor;
            }
        }
    }
    tile
}

#[inline(always)]
fn subtract(from: &mut Column, what: &Column) {
    for lane in 0..LANES {
        from[lane] -= what[lane];
    }
}

/// The triangle on the diagonal of some columns.
struct Pivot {
    /// One over the diagonal.
    inverses: [f64; WIDE],
    /// By column the rows below it.
    factors: [[f64; WIDE]; WIDE],
}

impl Pivot {
    /// Factorises some columns of a tile, whose diagonal begins at row `offset`; `None` if it
    /// is not positive definite.
    #[inline(always)]
    fn new(tile: &mut Tile, offset: usize, columns: usize) -> Option<Self> {
        let mut pivot = Self {
            inverses: [0.0; WIDE],
            factors: [[0.0; WIDE]; WIDE],
        };
        for column in 0..columns {
            let square = tile[column][offset + column];
            if !(square > 0.0 && square.is_finite()) {
                return None;
            }
            pivot.inverses[column] = 1.0 / square.sqrt();
            for next in column + 1..columns {
                pivot.factors[column][next] = tile[column][offset + next] * pivot.inverses[column];
            }
            pivot.divide_column(tile, column);
        }
        for (column, values) in tile.iter_mut().enumerate().take(columns) {
            values[..offset + column].fill(0.0);
            values[offset + column] = pivot.inverses[column];
        }
        Some(pivot)
    }

    /// Divides rows by the triangle.
    #[inline(always)]
    fn divide(&self, tile: &mut Tile) {
        for column in 0..WIDE {
            self.divide_column(tile, column);
        }
    }

    #[inline(always)]
    fn divide_column(&self, tile: &mut Tile, column: usize) {
        for lane in 0..LANES {
            tile[column][lane] *= self.inverses[column];
        }
        let own = tile[column];
        for next in column + 1..WIDE {
            let factor = self.factors[column][next];
            for lane in 0..LANES {
                tile[next][lane] -= factor * own[lane];
            }
        }
    }
}
