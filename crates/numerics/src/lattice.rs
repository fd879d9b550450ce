//! The step of a lattice of which only some points are seen.
//!
//! A clock that shows every tenth tick only has stamps that are congruent modulo 10. All
//! points of a lattice with step `s` differ by multiples of `s`, so that their distances have
//! a common divisor, and the greatest of these is `s` but for chance: that of `n` random
//! multiples of `s` is larger with a probability of about `2^-n`. So a divisor counts from 64
//! distances on.
//!
//! ```text
//! s = the greatest common divisor of |x[i + 1] - x[i]|
//! ```
//!
//! ```
//! use retime_numerics::lattice::step;
//! let seen = (0..200_i64).map(|at| 7 + 10 * (at * at % 97));
//! assert_eq!(step(seen.clone()), 10);
//! assert_eq!(step(seen.take(20)), 1); // too few to say more
//! ```
//!
//! Source: Euclid, *Elements*, book VII, proposition 2; that `n` random numbers have no
//! common divisor with probability `1 / zeta(n)`: J. E. Nymann, *On the probability that k
//! positive integers are relatively prime* (1972).

/// Distances that have to be seen for their divisor to say anything.
const FEWEST: u32 = 64;

/// The step of the lattice on which some points lie; at least 1, and 1 if there are too few
/// of them to tell.
pub fn step(points: impl Iterator<Item = i64>) -> i64 {
    let mut lattice = Lattice::default();
    for point in points {
        lattice.add(point);
        // No common divisor is smaller.
        if lattice.divisor == 1 {
            return 1;
        }
    }
    lattice.step()
}

/// The points of a lattice seen so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lattice {
    last: Option<i64>,
    /// Common divisor of the distances.
    divisor: u64,
    /// How many distances were not 0.
    distances: u32,
}

impl Lattice {
    /// Takes a point.
    #[inline]
    pub fn add(&mut self, point: i64) {
        if self.divisor == 1 {
            return;
        }
        if let Some(last) = self.last.replace(point)
            && last != point
        {
            self.divisor = divisor(self.divisor, last.abs_diff(point));
            self.distances = self.distances.saturating_add(1);
        }
    }

    /// The step; at least 1, and 1 if there were too few points to tell.
    pub fn step(&self) -> i64 {
        if self.distances < FEWEST {
            return 1;
        }
        i64::try_from(self.divisor).unwrap_or(1).max(1)
    }
}

fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
