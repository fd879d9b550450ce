//! An incomplete factor: `A` is about `L L'`, with only the entries of `L` that tell much.
//!
//! Where clocks exchange messages at random, a few thousand columns of the factor are full in any
//! order, as no small set of clocks lies between two halves of the others. But most of these entries
//! are small. Each column is eliminated as ever, and what is small beside the diagonal
//! of its row and its column, `|l| < small sqrt(A[i,i] A[j,j])`, is dropped. For what is dropped, its
//! absolute value is added to both diagonals, in such shares that both grow by the same factor:
//!
//! ```text
//!           [ 4  .1 ]                         [ 4 + .1   .     ]
//!       A = [ .1  4 ]     eliminated as       [  .      4 + .1 ]
//! ```
//!
//! What that adds to the matrix, `|l| [s, -1; -1, 1/s]` for the sign of `l`, is nowhere negative:
//! so `L L'` is at least `A`, and no diagonal ever becomes negative where those of the complete
//! factor would not.
//!
//! Source: M. A. Ajiz, A. Jennings, *A robust incomplete Choleski-conjugate gradient algorithm*
//! (1984).

use super::graph::Graph;

/// Shares of the roots of both diagonals: an entry below the first one is dropped, or where that
/// leads to nothing, one below the next. For matrices of random graphs, with weights over twelve
/// orders of magnitude, a tenth gives a factor with three to four times the entries and mostly
/// saves but a fifth of the [steps](super::conjugate).
pub(super) const SMALL: [f64; 3] = [1e-2, 1e-3, 1e-4];
/// Nobody is the next.
const NONE: u32 = u32::MAX;

/// The entries of matrices of one pattern, in the order of elimination.
pub(super) struct Columns {
    /// The unknown at each place.
    unknowns: Vec<u32>,
    /// The position of the diagonal at each place.
    diagonal: Vec<u32>,
    /// The beginning of each place's list in `below`: rows, as places, and positions.
    starts: Vec<usize>,
    below: Vec<(u32, u32)>,
}

impl Columns {
    /// Orders the entries of a pattern as the unknowns are eliminated.
    pub(super) fn new(graph: &Graph<'_>, unknowns: &[u32]) -> Self {
        let mut places = vec![0; unknowns.len()];
        for (place, &unknown) in (0..).zip(unknowns) {
            places[unknown as usize] = place;
        }
        let mut columns = Self {
            unknowns: unknowns.to_vec(),
            diagonal: Vec::with_capacity(unknowns.len()),
            starts: vec![0],
            below: Vec::with_capacity(graph.entries()),
        };
        for (place, &unknown) in (0..).zip(unknowns) {
            let unknown = unknown as usize;
            columns.diagonal.push(graph.diagonal(unknown) as u32);
            let all = graph.of(unknown);
            let all = all.map(|(other, position)| (places[other as usize], position));
            columns.below.extend(all.filter(|&(row, _)| row > place));
            columns.starts.push(columns.below.len());
        }
        columns
    }

    fn size(&self) -> usize {
        self.unknowns.len()
    }

    /// The product of a matrix and a vector, both in the order of elimination.
    pub(super) fn product(&self, values: &[f64], x: &[f64], product: &mut [f64]) {
        for (place, at) in self.diagonal.iter().enumerate() {
            product[place] = values[*at as usize] * x[place];
        }
        for place in 0..self.size() {
            let mut sum = 0.0;
            for &(row, at) in &self.below[self.starts[place]..self.starts[place + 1]] {
                let value = values[at as usize];
                sum += value * x[row as usize];
                product[row as usize] += value * x[place];
            }
            product[place] += sum;
        }
    }

    /// A vector in the order of elimination.
    pub(super) fn sorted(&self, of: &[f64]) -> Vec<f64> {
        self.unknowns.iter().map(|&it| of[it as usize]).collect()
    }

    /// A vector in the order of the unknowns.
    pub(super) fn unsorted(&self, of: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; of.len()];
        for (&unknown, value) in self.unknowns.iter().zip(of) {
            all[unknown as usize] = *value;
        }
        all
    }
}

/// The incomplete factor of one matrix, column by column.
pub(super) struct Incomplete {
    /// The inverse of each diagonal.
    inverse: Vec<f64>,
    starts: Vec<usize>,
    rows: Vec<u32>,
    entries: Vec<f64>,
}

impl Incomplete {
    /// Factorises a matrix without what is `small`; `None` if it is not positive definite, or would
    /// get more than `most` entries.
    pub(super) fn of(columns: &Columns, values: &[f64], small: f64, most: usize) -> Option<Self> {
        let mut factor = Self {
            inverse: Vec::with_capacity(columns.size()),
            starts: vec![0],
            rows: Vec::new(),
            entries: Vec::new(),
        };
        let mut under_way = UnderWay::new(columns, values, small);
        for place in 0..columns.size() {
            under_way.gather(place, &factor);
            under_way.finish(place, &mut factor)?;
            if factor.rows.len() > most {
                return None;
            }
        }
        Some(factor)
    }

    /// Solves `L L' x = b`, in place.
    pub(super) fn solve(&self, x: &mut [f64]) {
        for place in 0..x.len() {
            let value = x[place] * self.inverse[place];
            x[place] = value;
            for at in self.starts[place]..self.starts[place + 1] {
                x[self.rows[at] as usize] -= self.entries[at] * value;
            }
        }
        for place in (0..x.len()).rev() {
            let mut value = x[place];
            for at in self.starts[place]..self.starts[place + 1] {
                value -= self.entries[at] * x[self.rows[at] as usize];
            }
            x[place] = value * self.inverse[place];
        }
    }
}

/// The column at hand, and what those before it have left of the diagonals.
struct UnderWay<'a> {
    columns: &'a Columns,
    values: &'a [f64],
    small: f64,
    diagonal: Vec<f64>,
    /// The values of the column at hand by row, and the rows that have one.
    column: Vec<f64>,
    is_listed: Vec<bool>,
    listed: Vec<u32>,
    /// For each row the first column whose next entry is there; `other` has for each column the
    /// next one of the same row, and `next` its next entry.
    first: Vec<u32>,
    other: Vec<u32>,
    next: Vec<usize>,
}

impl<'a> UnderWay<'a> {
    fn new(columns: &'a Columns, values: &'a [f64], small: f64) -> Self {
        let size = columns.size();
        Self {
            columns,
            values,
            small,
            diagonal: { columns.diagonal.iter() }
                .map(|&at| values[at as usize])
                .collect(),
            column: vec![0.0; size],
            is_listed: vec![false; size],
            listed: Vec::new(),
            first: vec![NONE; size],
            other: vec![NONE; size],
            next: vec![0; size],
        }
    }

    /// Takes up a column of the matrix and subtracts what those before it give.
    fn gather(&mut self, place: usize, factor: &Incomplete) {
        let own = self.columns.starts[place]..self.columns.starts[place + 1];
        for &(row, at) in &self.columns.below[own] {
            self.add(row, self.values[at as usize]);
        }
        let mut before = std::mem::replace(&mut self.first[place], NONE);
        while before != NONE {
            let column = before as usize;
            before = self.other[column];
            let (at, end) = (self.next[column], factor.starts[column + 1]);
            let here = factor.entries[at];
            for at in at + 1..end {
                self.add(factor.rows[at], -here * factor.entries[at]);
            }
            self.go_on(column, at + 1, factor);
        }
        self.listed.sort_unstable();
    }

    fn add(&mut self, row: u32, value: f64) {
        let at = row as usize;
        if !std::mem::replace(&mut self.is_listed[at], true) {
            self.listed.push(row);
            self.column[at] = 0.0;
        }
        self.column[at] += value;
    }

    /// A column has its next entry somewhere.
    fn go_on(&mut self, column: usize, at: usize, factor: &Incomplete) {
        self.next[column] = at;
        if at < factor.starts[column + 1] {
            let row = factor.rows[at] as usize;
            self.other[column] = std::mem::replace(&mut self.first[row], column as u32);
        }
    }

    /// Drops what is small, and divides the rest by the root of the diagonal.
    fn finish(&mut self, place: usize, factor: &mut Incomplete) -> Option<()> {
        let mut kept = Vec::with_capacity(self.listed.len());
        for row in self.listed.drain(..) {
            let at = row as usize;
            self.is_listed[at] = false;
            let value = self.column[at];
            let (own, other) = (self.diagonal[place], self.diagonal[at]);
            if value * value > self.small * self.small * own * other {
                kept.push(row);
                continue;
            }
            let share = (own / other).sqrt();
            if share.is_finite() && share > 0.0 {
                self.diagonal[place] += value.abs() * share;
                self.diagonal[at] += value.abs() / share;
            }
        }
        let own = self.diagonal[place];
        let inverse = 1.0 / own.sqrt();
        if !(own > 0.0 && inverse.is_finite()) {
            return None;
        }
        for row in kept {
            let entry = self.column[row as usize] * inverse;
            self.diagonal[row as usize] -= entry * entry;
            factor.rows.push(row);
            factor.entries.push(entry);
        }
        factor.inverse.push(inverse);
        let start = factor.starts[place];
        factor.starts.push(factor.rows.len());
        self.go_on(place, start, factor);
        Some(())
    }
}
