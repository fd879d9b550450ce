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
//! Columns are taken in blocks of [`BLOCK`], so that what is summed over stays in the cache: of a
//! block first the rows on its diagonal, then those below, each panel by itself, and then all
//! that follows is brought up to date, again each panel by itself. So several threads share the
//! panels of a large front, and each sum has the same order whoever computes it.
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

use rayon::prelude::*;

use retime_model::Monitor;

/// So many rows lie together,
pub(super) const LANES: usize = 8;
/// so many columns are computed at a time,
const WIDE: usize = 4;
/// and so many before what follows is brought up to date: 8 KiB of each of two panels,
/// which fits into first-level caches of 32 KiB.
const BLOCK: usize = 128;

/// Several threads share a block that takes so many products and sums, at the speed of
/// registers some tenths of a millisecond; less is hardly worth waking them.
const SHARED: usize = 1 << 22;

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
    /// The entries of the columns to eliminate, in panels.
    pub(super) entries: &'a mut [f64],
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// The rest, without gaps.
    pub(super) update: &'a mut [f64],
}

/// Eliminates the columns; `None` if the matrix is not positive definite, or if `monitor`
/// says to give up.
pub(super) fn factorise(front: Front<'_>, monitor: &dyn Monitor) -> Option<()> {
    let Front {
        entries,
        columns,
        rows,
        update,
    } = front;
    let panels = entries.as_chunks_mut().0;
    let panels = &mut panels[..rows.div_ceil(LANES) * columns];
    let is_shared = columns.min(BLOCK) * rows * rows >= SHARED;
    // A small one is done before anybody could have asked again.
    let is_wanted = || (!is_shared || !monitor.cancelled()).then_some(());
    for start in (0..columns).step_by(BLOCK) {
        let block = start..columns.min(start + BLOCK);
        let below = block.end.div_ceil(LANES) * columns;
        let (above, below) = panels.split_at_mut(below);
        let above = &mut above[start / LANES * columns..];
        diagonal(above, columns, &block)?;
        each(below.chunks_exact_mut(columns), is_shared, |panel| {
            divide(panel, above, columns, &block);
            is_wanted()
        })?;
        if block.end < columns {
            // Threads that write to later columns of a panel need those of the block in all others.
            let known = below.chunks_exact(columns);
            let known: Vec<Column> = known.flat_map(|it| &it[block.clone()]).copied().collect();
            let numbered = below.chunks_exact_mut(columns).enumerate();
            each(numbered, is_shared, |(at, panel)| {
                subtract_from_panel(panel, at, &known, &block);
                is_wanted()
            })?;
        }
        let known = Known {
            panels,
            columns,
            block,
        };
        each(strips(update, columns, rows), is_shared, |strip| {
            subtract_from_update(strip, &known);
            is_wanted()
        })?;
    }
    Some(())
}

/// Does something to each of some parts, by several threads if there is enough to do.
fn each<T: Send>(
    parts: impl Iterator<Item = T>,
    is_shared: bool,
    work: impl Fn(T) -> Option<()> + Send + Sync,
) -> Option<()> {
    if is_shared {
        let parts: Vec<T> = parts.collect();
        parts.into_par_iter().try_for_each(work)
    } else {
        { parts }.try_for_each(work)
    }
}

// The sums of a tile take up half of the registers of AVX, but all of those that every
// x86-64 has. Neither version fuses products and sums, so the results are the same.

/// Computes the columns of a block in the panels on its diagonal, which come first.
#[multiversion::multiversion(targets("x86_64+avx"))]
fn diagonal(panels: &mut [Column], columns: usize, block: &Range<usize>) -> Option<()> {
    for at in block.clone().step_by(WIDE) {
        let (known, own) = (block.start..at, at..block.end.min(at + WIDE));
        let from = (at - block.start) / LANES * columns;
        let (_, rest) = panels.split_at_mut(from);
        let (top, others) = rest.split_at_mut(columns);
        let mut tile = rest_of(top, top, &known, &own);
        let pivot = Pivot::new(&mut tile, at % LANES, own.len())?;
        store(top, &own, &tile);
        for panel in others.chunks_exact_mut(columns) {
            let mut tile = rest_of(panel, top, &known, &own);
            pivot.divide(&mut tile);
            store(panel, &own, &tile);
        }
    }
    Some(())
}

/// Computes the columns of a block in a panel below the diagonal.
#[multiversion::multiversion(targets("x86_64+avx"))]
fn divide(panel: &mut [Column], diagonal: &[Column], columns: usize, block: &Range<usize>) {
    for at in block.clone().step_by(WIDE) {
        let (known, own) = (block.start..at, at..block.end.min(at + WIDE));
        let top = &diagonal[(at - block.start) / LANES * columns..][..columns];
        let mut tile = rest_of(panel, top, &known, &own);
        Pivot::of(&top[own.clone()], at % LANES).divide(&mut tile);
        store(panel, &own, &tile);
    }
}

/// Subtracts what a block contributes to the later columns of the panel of this number below it.
#[multiversion::multiversion(targets("x86_64+avx"))]
fn subtract_from_panel(
    panel: &mut [Column],
    number: usize,
    known: &[Column],
    block: &Range<usize>,
) {
    let wide = block.len();
    let until = panel.len().min(block.end + (number + 1) * LANES);
    for at in (block.end..until).step_by(WIDE) {
        let right = &known[(at - block.end) / LANES * wide..][..wide];
        let tile = product_at(&panel[block.clone()], right, at % LANES);
        for (value, sums) in panel[at..until].iter_mut().zip(&tile) {
            subtract(value, sums);
        }
    }
}

/// The panels of a front in which a block is known.
struct Known<'a> {
    panels: &'a [Column],
    columns: usize,
    block: Range<usize>,
}

impl Known<'_> {
    /// The columns of the block in one panel.
    #[inline(always)]
    fn of(&self, panel: usize) -> &[Column] {
        &self.panels[panel * self.columns..][self.block.clone()]
    }
}

/// Columns of the update that are computed at a time.
struct Strip<'a> {
    /// The rows of their diagonal in the front, which has `rows` rows.
    columns: Range<usize>,
    rows: usize,
    /// One after the other, each from its diagonal on.
    values: &'a mut [f64],
}

/// All columns of an update, whose rows come after so many columns.
fn strips(mut rest: &mut [f64], columns: usize, rows: usize) -> impl Iterator<Item = Strip<'_>> {
    let first = columns / WIDE * WIDE;
    (first..rows).step_by(WIDE).map(move |at| {
        let own = at.max(columns)..rows.min(at + WIDE);
        let len = own.clone().map(|column| rows - column).sum();
        let (values, others) = std::mem::take(&mut rest).split_at_mut(len);
        rest = others;
        Strip {
            columns: own,
            rows,
            values,
        }
    })
}

#[multiversion::multiversion(targets("x86_64+avx"))]
fn subtract_from_update(strip: Strip<'_>, known: &Known<'_>) {
    let Strip {
        columns,
        rows,
        values,
    } = strip;
    let at = columns.start / WIDE * WIDE;
    let right = known.of(at / LANES);
    for panel in at / LANES..rows.div_ceil(LANES) {
        let tile = product_at(known.of(panel), right, at % LANES);
        let top = panel * LANES;
        let mut start = 0;
        for column in columns.clone() {
            let sums = &tile[column - at];
            let (from, until) = (top.max(column), rows.min(top + LANES));
            let own = &mut values[start..][..rows - column];
            start += rows - column;
            if from >= until {
                continue;
            }
            let own = &mut own[from - column..until - column];
            if let Ok(own) = <&mut Column>::try_from(&mut *own) {
                subtract(own, sums);
            } else {
                for (value, sum) in own.iter_mut().zip(&sums[from - top..]) {
                    *value -= sum;
                }
            }
        }
    }
}

/// The rest of columns once the known ones are subtracted, for the rows of a panel; `top` is the
/// panel of their diagonal.
#[inline(always)]
fn rest_of(panel: &[Column], top: &[Column], known: &Range<usize>, own: &Range<usize>) -> Tile {
    let (left, right) = (&panel[known.clone()], &top[known.clone()]);
    let sums = product_at(left, right, own.start % LANES);
    let mut tile = [[0.0; LANES]; WIDE];
    let values = &panel[own.clone()];
    for column in 0..own.len().min(WIDE) {
        tile[column] = values[column];
        subtract(&mut tile[column], &sums[column]);
    }
    tile
}

#[inline(always)]
fn store(panel: &mut [Column], own: &Range<usize>, tile: &Tile) {
    panel[own.clone()].copy_from_slice(&tile[..own.len()]);
}

/// Sums over columns, for the rows of a panel and four of another.
#[inline(always)]
fn product_at(left: &[Column], right: &[Column], from: usize) -> Tile {
    if from == 0 {
        product::<0>(left, right)
    } else {
        product::<WIDE>(left, right)
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
    /// The entries below the diagonal: by column, then by row.
    factors: [[f64; WIDE]; WIDE],
}

impl Pivot {
    /// Takes the triangle from columns that were computed, whose diagonal begins at row `offset`.
    #[inline(always)]
    fn of(columns: &[Column], offset: usize) -> Self {
        let mut pivot = Self {
            inverses: [0.0; WIDE],
            factors: [[0.0; WIDE]; WIDE],
        };
        for column in 0..columns.len().min(WIDE) {
            pivot.inverses[column] = columns[column][offset + column];
            for next in column + 1..columns.len().min(WIDE) {
                pivot.factors[column][next] = columns[column][offset + next];
            }
        }
        pivot
    }

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
