//! Conjugate gradients: a system solved by products with its matrix.
//!
//! Each step goes to the least of the parabola `x' A x / 2 - b' x` in all directions so far, which
//! are made from the residuals `r = b - A x`, as an [incomplete factor](super::incomplete) `M` sees
//! them. How many steps it takes follows from how far `M` is from `A`:
//!
//! ```text
//!   z = M^-1 r,   p = z + (r' z / before) p,   x = x + a p,   r = r - a A p,   a = r' z / p' A p
//! ```
//!
//! Rounding adds up in `r`, which no longer is the residual then; so it is worked out anew where
//! it seems to be small enough, and the steps go on from there if it is not.
//!
//! All sums are taken in one order, by one thread.
//!
//! Source: J. A. Meijerink, H. A. van der Vorst, *An iterative solution method for linear systems of
//! which the coefficient matrix is a symmetric M-matrix* (1977).

use super::incomplete::{Columns, Incomplete};
use retime_model::{Cancelled, Monitor};

/// The residual, as the incomplete factor sees it, in shares of what it is at first: the digits of
/// a step of Newton's method that a complete factor would have right in matrices like these.
const EXACTLY: f64 = 1e-9;
/// More steps than this say that the incomplete factor is of no use.
pub(super) const MOST_STEPS: usize = 400;
/// How often the residual is worked out anew.
const MOST_STARTS: usize = 4;

/// The solution of a system; `None` where it is not found in so many steps.
pub(super) fn solve(
    columns: &Columns,
    values: &[f64],
    factor: &Incomplete,
    right: &[f64],
    monitor: &dyn Monitor,
) -> Result<Option<Vec<f64>>, Cancelled> {
    let right = columns.sorted(right);
    let mut x = vec![0.0; right.len()];
    let mut product = vec![0.0; right.len()];
    let mut wanted = None;
    let mut left = MOST_STEPS;
    for _ in 0..MOST_STARTS {
        columns.product(values, &x, &mut product);
        let mut residual: Vec<f64> = right.iter().zip(&product).map(|(b, a)| b - a).collect();
        let mut seen = residual.clone();
        factor.solve(&mut seen);
        let mut size = dot(&residual, &seen);
        let enough = *wanted.get_or_insert(size * EXACTLY * EXACTLY);
        if size <= enough {
            return Ok(Some(columns.unsorted(&x)));
        }
        let mut direction = seen.clone();
        while size > enough {
            monitor.check()?;
            columns.product(values, &direction, &mut product);
            let along = size / dot(&direction, &product);
            if left == 0 || !(along.is_finite() && along > 0.0) {
                return Ok(None);
            }
            left -= 1;
            add(&mut x, along, &direction);
            add(&mut residual, -along, &product);
            seen.copy_from_slice(&residual);
            factor.solve(&mut seen);
            let before = std::mem::replace(&mut size, dot(&residual, &seen));
            let turn = size / before;
            for (direction, seen) in direction.iter_mut().zip(&seen) {
                *direction = seen + turn * *direction;
            }
        }
    }
    // As near as rounding allows.
    Ok(Some(columns.unsorted(&x)))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut [f64], times: f64, of: &[f64]) {
    for (to, of) in to.iter_mut().zip(of) {
        *to += times * of;
    }
}
