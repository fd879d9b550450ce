//! Sparse symmetric positive definite systems.
//!
//! A matrix `A` is the product of a lower triangle and its transpose, `A = L L'`. Each
//! column of `L` is what is left of a column of `A`, divided by the root of its
//! diagonal; it is then subtracted from all columns in which it has entries:
//!
//! ```text
//! L[i,j] = A[i,j] / sqrt(A[j,j]),  then  A[i,k] = A[i,k] - L[i,j] L[k,j]    for i >= k > j
//! ```
//!
//! That adds entries where `A` has none. How many depends on the order:
//!
//! ```text
//! pattern          where a matrix has entries
//! graph            which unknowns share an entry
//! minimum_degree   an order for sparse graphs
//! elimination      what an order leads to: the next column each one changes, a tree;
//!                    how many entries each gets; the better of two orders
//! supernodes       columns of (nearly) the same pattern, eliminated together
//! symbolic         where every entry goes: all that depends on the pattern alone
//!   node           a supernode, and where its entries lie
//!   branches       which parts can be eliminated at a time
//! numeric          the factor of one matrix, supernode by supernode
//!   front          dense elimination
//!   update         what a supernode hands up the tree
//! substitution     the solution
//! incomplete       only the entries of the factor that tell much
//! conjugate        the solution by these and products with the matrix
//! ```
//!
//! The columns of a supernode and all rows in which they have entries make a dense
//! *front*. Its columns are eliminated, and what that subtracts from the other rows, its
//! *update*, is added to the front of the supernode next up the tree. So nearly all
//! arithmetic is in dense blocks (the multifrontal method).
//!
//! Where unknowns share entries at random no order helps: the factor of 10,000 of them is full in
//! thousands of columns, whose elimination takes 10^10 products and more for a matrix of 10^5
//! entries. There the incomplete factor takes the place of the complete one, whenever that would
//! take more than some thousand products for each entry of the matrix, and conjugate gradients make
//! up for what it lacks.
//!
//! The pattern is analysed once and serves for all matrices of that pattern. Whatever adds
//! to a sum does so in a fixed order, however many threads there are, and without fused
//! operations, so that results are the same on all machines.
//!
//! Sources: I. S. Duff, J. K. Reid, *The multifrontal solution of indefinite sparse
//! symmetric linear equations* (1983); J. W. H. Liu, *The role of elimination trees in
//! sparse factorization* (1990); E. G. Ng, B. W. Peyton, *Block sparse Cholesky algorithms
//! on advanced uniprocessor computers* (1993); T. A. Davis, *Direct Methods for Sparse
//! Linear Systems* (2006), chapter 4.
//!
//! For example:
//!
//! ```text
//!     [4 . . 2]       [2 . . .]
//! A = [. 4 . 2]   L = [. 2 . .]   L L' x = (6, 6, 6, 10)  for  x = (1, 1, 1, 1)
//!     [. . 4 2]       [. . 2 .]
//!     [2 2 2 4]       [1 1 1 1]
//! ```
//!
//! The first three columns change the last one only, they are the leaves of the tree.
//! Each hands up `-1 * 1`, so the last column is the root of `4 - 1 - 1 - 1`. The other
//! way round, with the last unknown first, all of `L` would be filled.
//!
//! ```
//! use retime_numerics::cholesky::{Pattern, SparseCholesky};
//! let pattern = Pattern::new(4, vec![(0, 3), (1, 3), (2, 3)]);
//! let mut values = vec![2.0; pattern.len()];
//! for at in 0..4 {
//!     values[pattern.position(at, at).ok_or("no diagonal")?] = 4.0;
//! }
//! let mut solver = SparseCholesky::new(pattern, &())?.ok_or("too large")?;
//! let found = solver.solve(&values, &[6.0, 6.0, 6.0, 10.0], &())?.ok_or("not definite")?;
//! assert!(found.iter().all(|x| (x - 1.0_f64).abs() < 1e-12));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod branches;
mod conjugate;
mod elimination;
mod front;
mod graph;
mod incomplete;
mod minimum_degree;
mod node;
mod numeric;
mod pattern;
mod substitution;
mod supernodes;
mod symbolic;
mod update;

#[cfg(test)]
mod tests;

pub use pattern::Pattern;

use graph::Graph;
use incomplete::{Columns, Incomplete, SMALL};
use numeric::factorise;
use retime_model::{Cancelled, Monitor};
use substitution::substitute;
use symbolic::Symbolic;

/// So many products of dense blocks take as long as solving by an incomplete factor takes for each
/// entry of the matrix: some 50 steps with as many entries in the matrix and a few times as many in
/// the factor, each of which takes ten times as long as in a dense block.
const WORTH: u128 = 5_000;
/// An incomplete factor of more than so many times the entries of the matrix is worth less than a
/// complete one.
const MOST_FILL: usize = 32;

/// Solves systems of one pattern.
#[allow(missing_debug_implementations, reason = "factors are large")]
pub struct SparseCholesky {
    pattern: Pattern,
    symbolic: Symbolic,
    /// Room for a factor. Memory that is new for each has to be cleared by the system first.
    factor: Vec<f64>,
    /// Where an incomplete factor is worth it, and as long as one is good enough.
    columns: Option<Columns>,
    /// How many of the [shares](incomplete::SMALL) below which entries are dropped were too large.
    too_large: usize,
}

impl SparseCholesky {
    /// Analyses a pattern; `None` if memory does not suffice. Fails only if `monitor` says to
    /// give up.
    pub fn new(pattern: Pattern, monitor: &dyn Monitor) -> Result<Option<Self>, Cancelled> {
        let symbolic = Symbolic::new(&pattern, monitor)?;
        Ok(symbolic.map(|symbolic| {
            let is_worth_it = symbolic.work > WORTH * pattern.len() as u128;
            let graph = is_worth_it.then(|| Graph::new(&pattern)).flatten();
            let columns = graph.map(|graph| Columns::new(&graph, &symbolic.unknowns));
            Self {
                pattern,
                symbolic,
                factor: Vec::new(),
                columns,
                too_large: 0,
            }
        }))
    }

    /// Where the matrices have entries that it solves.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// The solution for a right side; `None` if the matrix is not positive definite, or if
    /// memory does not suffice. Fails only if `monitor` says to give up.
    pub fn solve(
        &mut self,
        values: &[f64],
        right: &[f64],
        monitor: &dyn Monitor,
    ) -> Result<Option<Vec<f64>>, Cancelled> {
        if let Some(found) = self.solve_incompletely(values, right, monitor)? {
            return Ok(Some(found));
        }
        let Self {
            symbolic, factor, ..
        } = self;
        let done = factorise(symbolic, values, factor, monitor)?;
        let solution = done.map(|()| substitute(symbolic, factor, right));
        Ok(solution.filter(|it| it.iter().all(|it| it.is_finite())))
    }

    /// The solution by an incomplete factor, if one is worth it and good enough. What was not is not
    /// tried again for matrices like it.
    fn solve_incompletely(
        &mut self,
        values: &[f64],
        right: &[f64],
        monitor: &dyn Monitor,
    ) -> Result<Option<Vec<f64>>, Cancelled> {
        let Some(columns) = &self.columns else {
            return Ok(None);
        };
        while let Some(&small) = SMALL.get(self.too_large) {
            let factor = Incomplete::of(columns, values, small, MOST_FILL * values.len());
            let Some(factor) = factor else { break };
            let found = conjugate::solve(columns, values, &factor, right, monitor)?;
            if let Some(found) = found.filter(|it| it.iter().all(|it| it.is_finite())) {
                return Ok(Some(found));
            }
            self.too_large += 1;
        }
        self.columns = None;
        Ok(None)
    }
}
