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
//! A step need not be whole: a timer that advances 1024 times a second, or 250 times and is
//! disciplined by a time service, is stamped in whole nanoseconds nevertheless. Its distances are
//! multiples of the least of them, if it is read often, to a point or two, but for what is unknown of
//! that, which becomes less with each. Of distances that are no multiples of `s` five in `s` are as near
//! by chance, so that 64 that all are mean something from steps of 64 points on. These are looked at
//! first, the least before the others.
//!
//! ```
//! use retime_numerics::lattice::step;
//! let seen = (0..200_i64).map(|at| 7 + 10 * (at * at % 97));
//! assert_eq!(step(seen.clone()), 10);
//! assert_eq!(step(seen.take(20)), 1); // too few to say more
//! // Every 976 562.5 ns.
//! let timer = (0..1_000_i64).map(|at| 1_953_125 * (at + at * at % 7) / 2);
//! assert_eq!(step(timer), 976_563);
//! ```
//!
//! Source: Euclid, *Elements*, book VII, proposition 2; that `n` random numbers have no
//! common divisor with probability `1 / zeta(n)`: J. E. Nymann, *On the probability that k
//! positive integers are relatively prime* (1972).

/// Distances that have to be seen for their divisor to say anything.
const FEWEST: u32 = 64;
/// A step that is not whole is so many points at least,
const LEAST: u64 = 64;
/// and of which each is a multiple to so many points, as both of its ends are rounded down,
const ROUNDED: f64 = 2.0;
/// and to this share of itself: a disciplined timer changes its rate.
const DISCIPLINED: f64 = 1e-6;

/// The step of the lattice on which some points lie, rounded up; at least 1, and 1 if there are too
/// few of them to tell.
pub fn step(points: impl Iterator<Item = i64>) -> i64 {
    let mut lattice = Lattice::default();
    for point in points {
        lattice.add(point);
        if lattice.is_refuted() {
            return 1;
        }
    }
    lattice.step()
}

/// The points of a lattice seen so far.
#[derive(Clone, Debug, Default)]
pub struct Lattice {
    last: Option<i64>,
    /// Common divisor of the distances.
    divisor: u64,
    /// How many distances were not 0.
    distances: u32,
    fractional: FractionalStep,
}

impl Lattice {
    /// Takes a point.
    #[inline]
    pub fn add(&mut self, point: i64) {
        if self.is_refuted() {
            return;
        }
        if let Some(last) = self.last.replace(point)
            && last != point
        {
            let distance = last.abs_diff(point);
            self.divisor = divisor(self.divisor, distance);
            self.distances = self.distances.saturating_add(1);
            self.fractional.add(distance);
        }
    }

    /// True if the points are sure to lie on no lattice.
    fn is_refuted(&self) -> bool {
        self.divisor == 1 && matches!(self.fractional, FractionalStep::None)
    }

    /// The step, rounded up; at least 1, and 1 if there were too few points to tell.
    pub fn step(&self) -> i64 {
        if self.distances < FEWEST {
            return 1;
        }
        let whole = i64::try_from(self.divisor).unwrap_or(1).max(1);
        match self.fractional {
            FractionalStep::Known {
                points,
                length,
                seen,
            } if seen >= FEWEST => whole.max((points / length).ceil() as i64),
            _ => whole,
        }
    }
}

/// A step that need not be whole, as far as it is known.
#[derive(Clone, Debug)]
enum FractionalStep {
    /// The distances that were seen: too few so far.
    Unknown(Vec<u64>),
    /// So many distances that are `points` long in sum, and `length` steps.
    Known {
        points: f64,
        length: f64,
        seen: u32,
    },
    None,
}

impl Default for FractionalStep {
    fn default() -> Self {
        Self::Unknown(Vec::new())
    }
}

impl FractionalStep {
    #[inline]
    fn add(&mut self, distance: u64) {
        match self {
            Self::None => {}
            Self::Known { .. } => self.refine(distance),
            Self::Unknown(seen) => {
                seen.push(distance);
                if seen.len() < FEWEST as usize {
                    return;
                }
                let mut seen = std::mem::take(seen);
                seen.sort_unstable();
                *self = match seen[0] {
                    least if least >= LEAST => Self::Known {
                        points: least as f64,
                        length: 1.0,
                        seen: 0,
                    },
                    _ => Self::None,
                };
                for distance in seen {
                    self.refine(distance);
                }
                // Most have to be comparable, or the least is no step.
                if matches!(self, Self::Known { seen, .. } if *seen < FEWEST / 2) {
                    *self = Self::None;
                }
            }
        }
    }

    /// Sees whether a distance is a multiple, too, and how long that makes a step.
    fn refine(&mut self, distance: u64) {
        let Self::Known {
            points,
            length,
            seen,
        } = self
        else {
            return;
        };
        let distance = distance as f64;
        let steps = (distance * (*length / *points)).round();
        // A multiple of more steps than are known is off by more than both ends are rounded by.
        if steps > *length {
            return;
        }
        let rest = (distance - steps * (*points / *length)).abs();
        if rest > ROUNDED + DISCIPLINED * distance {
            *self = Self::None;
            return;
        }
        *points += distance;
        *length += steps;
        *seen = seen.saturating_add(1);
    }
}

fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stamps of a timer that advances every `period` points, read twelve times in seven periods or so.
    fn read(period: f64, count: i64) -> impl Iterator<Item = i64> {
        let read_at = (0..count).map(|at| (at * 7 + at * at % 29) as f64 / 12.0);
        read_at.map(move |time| (time.floor() * period) as i64)
    }

    #[test]
    fn a_timer_whose_period_is_no_whole_number_is_found() {
        for period in [100.3, 1_024.4, 4_000_040.7 / 64.0] {
            let found = step(read(period, 5_000));
            assert!((found as f64 - period).abs() < 1.1, "{period}: {found}");
        }
    }

    #[test]
    fn a_fine_clock_that_is_read_rarely_has_no_step() {
        let fine = (0..5_000_i64).map(|at| at * 7_919 + at * at % 104_729);
        assert_eq!(step(fine), 1);
        // The least distance is no step of what is longer by far.
        let sparse = (0..5_000_i64).map(|at| 100_000 * at + (at * at * at) % 100_003);
        assert_eq!(step(sparse), 1);
        // Every 100 000 ticks or so.
        let nearly_even = (0..5_000_i64).map(|at| 100_000 * at + at * at % 1_009);
        assert_eq!(step(nearly_even), 1);
    }
}
