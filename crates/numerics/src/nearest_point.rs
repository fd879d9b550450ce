//! The nearest point that satisfies linear inequalities.
//!
//! Among all points with `a . x >= least` for each condition, the dual active-set method finds the one
//! that is nearest to a given point. The point begins where it was given, which violates
//! conditions but is nearest for the ones that are active, at first none. The condition that is
//! violated most becomes active: the point moves along `z`, the part of `a` that the active ones
//! leave free, until the condition holds; an active one whose multiplier falls to zero on the way is
//! dropped:
//!
//! ```text
//! r = (N N')^-1 N a      z = a - N' r           N: the active conditions, as rows
//! x += t z      u -= t r      u_new += t        u: their multipliers, x - given = N' u >= 0
//! t = min( (least - a . x) / z . z,  min over r_j > 0 of u_j / r_j )
//! ```
//!
//! Each step takes the point further away, so no set of active conditions comes again, and the last
//! is the nearest. Where `z = 0` and no `r_j > 0`, the rows `a + sum |r_j| n_j = 0` are a proof
//! (Farkas) that no point satisfies these conditions together.
//!
//! The Cholesky factor of `N N'` is extended by a row with each condition, and made triangular again
//! by Givens rotations where one is dropped, so that a step takes `O(k^2)` for `k` active ones. The
//! square of how far `N` is from dependent rows would be lost in it; so `r` is refined once.
//!
//! Source: D. Goldfarb, A. Idnani, *A numerically stable dual method for solving strictly convex
//! quadratic programs* (Mathematical Programming 27, 1983), section 3, with the unit matrix for `G`.
//!
//! ```
//! use retime_numerics::nearest_point::{Condition, NearestPoint, Outcome};
//!
//! let condition = |terms: &[(usize, f64)], least: f64| Condition { terms: terms.to_vec(), least };
//! let mut nearest = NearestPoint::to(vec![0.0, 0.0]);
//! let near = |found: &NearestPoint, x: f64, y: f64| {
//!     (found.point()[0] - x).abs() < 1e-9 && (found.point()[1] - y).abs() < 1e-9
//! };
//! let mut work = 1000;
//! // The point of x + y >= 2 that is nearest to (0, 0) is (1, 1); with y <= 0.5 it is (1.5, 0.5).
//! let first = condition(&[(0, 1.0), (1, 1.0)], 2.0);
//! assert_eq!(nearest.take([first], 1e-9, &mut work), Outcome::Satisfied);
//! assert!(near(&nearest, 1.0, 1.0));
//! let second = condition(&[(1, -1.0)], -0.5);
//! assert_eq!(nearest.take([second], 1e-9, &mut work), Outcome::Satisfied);
//! assert!(near(&nearest, 1.5, 0.5));
//! // And x <= 1 contradicts both: the sum of all three is 0 >= 0.5.
//! let third = condition(&[(0, -1.0)], -1.0);
//! let Outcome::Contradiction(proof) = nearest.take([third], 1e-9, &mut work) else {
//!     return Err("some point satisfies them");
//! };
//! assert_eq!(proof.iter().map(|it| it.0).collect::<Vec<_>>(), [2, 0, 1]);
//! assert!(proof.iter().all(|it| (it.1 - 1.0).abs() < 1e-9));
//! # Ok::<(), &str>(())
//! ```

/// A row counts as one of those that the active ones combine to below this share of its square: a
/// move along it would be ten million times longer than what it is to make up for.
const DEPENDENT: f64 = 1e-14;
/// Shares below this part of the largest one are rounding.
const NOTHING: f64 = 1e-12;
/// Sums of a few terms are exact to so many units of their largest one.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// A linear inequality: the sum of `factor * x[index]` over its terms is at least `least`.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Indices into the point, each at most once, with their factors.
    pub terms: Vec<(usize, f64)>,
    /// The least that the sum may be.
    pub least: f64,
}

/// The outcome of a search for the nearest point.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The point satisfies all conditions, and none is nearer.
    Satisfied,
    /// No point does: these conditions, by their numbers, add up to `0 >= something positive` with
    /// these weights, which are positive.
    Contradiction(Vec<(usize, f64)>),
    /// All steps were taken, or numbers were too large.
    GivenUp,
}

/// The point, and the conditions that it was to satisfy so far.
#[derive(Clone, Debug)]
pub struct NearestPoint {
    point: Vec<f64>,
    conditions: Vec<Condition>,
    active: Active,
}

impl NearestPoint {
    /// The given point itself, without conditions.
    #[must_use]
    pub fn to(point: Vec<f64>) -> Self {
        Self {
            point,
            conditions: Vec::new(),
            active: Active::default(),
        }
    }

    /// The point found last; the nearest one where all conditions were satisfied.
    #[must_use]
    pub fn point(&self) -> &[f64] {
        &self.point
    }

    /// Takes conditions in and moves on to the nearest point that satisfies all, each up to `exact`.
    /// `work` is a number of multiplications to spend at most, and falls by what was spent. Indices
    /// beyond the point are terms of zero; what asks for no number is given up.
    pub fn take(
        &mut self,
        conditions: impl IntoIterator<Item = Condition>,
        exact: f64,
        work: &mut usize,
    ) -> Outcome {
        let length = self.point.len();
        self.conditions.extend(conditions.into_iter().map(|mut it| {
            it.terms.retain(|term| term.0 < length);
            it
        }));
        if !self.conditions.iter().all(Condition::is_finite) {
            return Outcome::GivenUp;
        }
        loop {
            let Some(violated) = self.most_violated(exact) else {
                return Outcome::Satisfied;
            };
            let mut multiplier = 0.0;
            loop {
                let rows = self.active.rows.len();
                let Some(left) = work.checked_sub(self.conditions.len() + length + rows * rows)
                else {
                    return Outcome::GivenUp;
                };
                *work = left;
                match self.step(violated, &mut multiplier) {
                    Step::Satisfied => break,
                    Step::Dropped => {}
                    Step::Ended(outcome) => return outcome,
                }
            }
        }
    }

    /// The condition that is furthest from the point, if any is violated by more than `exact`.
    fn most_violated(&self, exact: f64) -> Option<usize> {
        let mut most = (0.0, None);
        for (number, condition) in self.conditions.iter().enumerate() {
            let missing = condition.missing(&self.point);
            // What sums of large numbers lose is not missing.
            if missing > exact + condition.rounding(&self.point) {
                let distance = missing / condition.square().sqrt();
                if distance > most.0 {
                    most = (distance, Some(number));
                }
            }
        }
        most.1
    }

    /// Moves the point until the condition holds, or until an active one is no longer needed.
    fn step(&mut self, violated: usize, multiplier: &mut f64) -> Step {
        let condition = &self.conditions[violated];
        let missing = condition.missing(&self.point);
        let length = self.point.len();
        let split = self.active.split(condition, &self.conditions, length);
        let full = if split.square > DEPENDENT * condition.square() {
            missing.max(0.0) / split.square
        } else {
            f64::INFINITY
        };
        let (partial, least) = self.active.first_to_vanish(&split.shares);
        let by = full.min(partial);
        if by == f64::INFINITY {
            let weights = self.active.rows.iter().zip(&split.shares);
            let weights = weights.map(|(&row, share)| (row, -share));
            let proof = [(violated, 1.0)].into_iter().chain(weights);
            return Step::Ended(Outcome::Contradiction(
                proof.filter(|it| it.1 > 0.0).collect(),
            ));
        }
        // Along a row that the active ones combine to, only multipliers change.
        if full < f64::INFINITY {
            for (value, along) in self.point.iter_mut().zip(&split.free) {
                *value += by * along;
            }
        }
        for (value, share) in self.active.multipliers.iter_mut().zip(&split.shares) {
            *value = (*value - by * share).max(0.0);
        }
        *multiplier += by;
        if !(by.is_finite() && self.point.iter().all(|it| it.is_finite())) {
            return Step::Ended(Outcome::GivenUp);
        }
        if full <= partial {
            self.active.add(violated, *multiplier, split);
            return Step::Satisfied;
        }
        self.active.drop(least);
        Step::Dropped
    }
}

enum Step {
    Satisfied,
    Dropped,
    Ended(Outcome),
}

impl Condition {
    fn is_finite(&self) -> bool {
        self.least.is_finite() && self.terms.iter().all(|it| it.1.is_finite())
    }

    fn missing(&self, point: &[f64]) -> f64 {
        let terms = self.terms.iter();
        self.least - terms.map(|&(at, factor)| factor * point[at]).sum::<f64>()
    }

    /// The most that rounding may have lost of the sum of its terms.
    fn rounding(&self, point: &[f64]) -> f64 {
        let terms = self.terms.iter();
        let large = terms.map(|&(at, factor)| (factor * point[at]).abs());
        ROUNDING * large.fold(self.least.abs(), f64::max)
    }

    fn square(&self) -> f64 {
        // A sum of nothing would be the negative zero.
        self.terms.iter().fold(0.0, |sum, it| sum + it.1 * it.1)
    }

    /// Adds its row to a vector, `by` times.
    fn add_to(&self, vector: &mut [f64], by: f64) {
        for &(at, factor) in &self.terms {
            vector[at] += by * factor;
        }
    }

    fn dot(&self, vector: &[f64]) -> f64 {
        let terms = self.terms.iter();
        terms.map(|&(at, factor)| factor * vector[at]).sum()
    }
}

/// A row as `N' r + z`, by the active ones.
struct Split {
    /// Its shares `r` of them.
    shares: Vec<f64>,
    /// The part `z` that they leave free,
    free: Vec<f64>,
    /// and its square.
    square: f64,
    /// `L^-1 N` times it: its row of the factor, but for the diagonal.
    factor: Vec<f64>,
}

/// The active conditions, their multipliers, and the factor of their products.
#[derive(Clone, Debug, Default)]
struct Active {
    rows: Vec<usize>,
    multipliers: Vec<f64>,
    /// `N N' = L L'`, each row of `L` up to its diagonal.
    factor: Vec<Vec<f64>>,
}

impl Active {
    /// A row by the active ones and what they leave free.
    fn split(&self, row: &Condition, all: &[Condition], length: usize) -> Split {
        let mut free = vec![0.0; length];
        row.add_to(&mut free, 1.0);
        let mut shares = vec![0.0; self.rows.len()];
        let mut factor = None;
        // Twice: the first time leaves what the factor has lost.
        for _ in 0..2 {
            let products = self.rows.iter().map(|&active| all[active].dot(&free));
            let forward = self.forward(products.collect());
            factor.get_or_insert_with(|| forward.clone());
            let more = self.backward(forward);
            for ((share, more), &active) in shares.iter_mut().zip(more).zip(&self.rows) {
                *share += more;
                all[active].add_to(&mut free, -more);
            }
        }
        Split {
            square: free.iter().map(|it| it * it).sum(),
            free,
            shares,
            factor: factor.unwrap_or_default(),
        }
    }

    /// `L'^-1` times a vector.
    fn backward(&self, mut vector: Vec<f64>) -> Vec<f64> {
        for at in (0..vector.len()).rev() {
            let below = (at + 1..vector.len()).map(|row| self.factor[row][at] * vector[row]);
            vector[at] = (vector[at] - below.sum::<f64>()) / self.factor[at][at];
        }
        vector
    }

    /// `L^-1` times a vector.
    fn forward(&self, mut vector: Vec<f64>) -> Vec<f64> {
        for (at, row) in self.factor.iter().enumerate() {
            let before = row[..at].iter().zip(&vector[..at]);
            let before: f64 = before.map(|(factor, value)| factor * value).sum();
            vector[at] = (vector[at] - before) / row[at];
        }
        vector
    }

    /// After how long a move the first multiplier is zero, and which; never if none falls.
    fn first_to_vanish(&self, shares: &[f64]) -> (f64, usize) {
        let largest = shares.iter().fold(0.0_f64, |most, it| most.max(it.abs()));
        let mut first = (f64::INFINITY, 0);
        for (at, (multiplier, &share)) in self.multipliers.iter().zip(shares).enumerate() {
            if share > NOTHING * largest && multiplier / share < first.0 {
                first = (multiplier / share, at);
            }
        }
        first
    }

    /// Takes a condition in, whose row the active ones leave something of.
    fn add(&mut self, number: usize, multiplier: f64, split: Split) {
        let mut row = split.factor;
        row.push(split.square.sqrt());
        self.factor.push(row);
        self.rows.push(number);
        self.multipliers.push(multiplier);
    }

    /// Drops a condition: its row goes, and the ones below are turned until they end at their diagonals.
    fn drop(&mut self, at: usize) {
        self.rows.remove(at);
        self.multipliers.remove(at);
        self.factor.remove(at);
        for column in at..self.factor.len() {
            let (own, beyond) = (self.factor[column][column], self.factor[column][column + 1]);
            let length = own.hypot(beyond);
            let (cos, sin) = (own / length, beyond / length);
            for row in &mut self.factor[column..] {
                let (own, beyond) = (row[column], row[column + 1]);
                row[column] = cos * own + sin * beyond;
                row[column + 1] = cos * beyond - sin * own;
            }
            self.factor[column].truncate(column + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const UNKNOWNS: usize = 6;
    const EXACT: f64 = 1e-7;

    fn conditions(many: usize) -> impl Strategy<Value = Vec<Condition>> {
        let terms = prop::collection::btree_map(0..UNKNOWNS, -2.0..2.0_f64, 1..4);
        let one = (terms, -5.0..5.0_f64).prop_map(|(terms, least)| Condition {
            terms: terms.into_iter().collect(),
            least,
        });
        prop::collection::vec(one, 0..many)
    }

    fn points() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(-10.0..10.0_f64, UNKNOWNS)
    }

    /// The nearest point by Hildreth's method: each condition moves the point as little as satisfies
    /// it, and takes back what others have made unnecessary.
    fn hildreth(given: &[f64], conditions: &[Condition]) -> Vec<f64> {
        let mut point = given.to_vec();
        let mut moved = vec![0.0_f64; conditions.len()];
        for _ in 0..200_000 {
            for (condition, moved) in conditions.iter().zip(&mut moved) {
                let by = (condition.missing(&point) / condition.square()).max(-*moved);
                *moved += by;
                condition.add_to(&mut point, by);
            }
        }
        point
    }

    proptest! {
        /// Every outcome is proven: the nearest point is the given one and non-negative multiples of
        /// rows that hold exactly, and a contradiction is a sum of rows.
        #[test]
        fn outcomes_are_proven(given in points(), first in conditions(8), second in conditions(30)) {
            let mut nearest = NearestPoint::to(given.clone());
            let mut work = 1_000_000;
            let mut outcome = nearest.take(first, EXACT, &mut work);
            if outcome == Outcome::Satisfied {
                outcome = nearest.take(second, EXACT, &mut work);
            }
            match outcome {
                Outcome::Satisfied => {
                    let mut sum = given;
                    for (&row, &by) in nearest.active.rows.iter().zip(&nearest.active.multipliers) {
                        prop_assert!(by >= 0.0);
                        let row = &nearest.conditions[row];
                        prop_assert!(row.missing(nearest.point()).abs() <= 1e-4, "{row:?}");
                        row.add_to(&mut sum, by);
                    }
                    for condition in &nearest.conditions {
                        let missing = condition.missing(nearest.point());
                        prop_assert!(missing <= EXACT + condition.rounding(nearest.point()));
                    }
                    for (sum, found) in sum.iter().zip(nearest.point()) {
                        prop_assert!((sum - found).abs() <= 1e-4 * (1.0 + found.abs()));
                    }
                }
                Outcome::Contradiction(proof) => {
                    let (mut rows, mut least, mut weight) = (vec![0.0; UNKNOWNS], 0.0, 0.0_f64);
                    for (number, by) in proof {
                        prop_assert!(by > 0.0);
                        nearest.conditions[number].add_to(&mut rows, by);
                        least += by * nearest.conditions[number].least;
                        weight = weight.max(by);
                    }
                    prop_assert!(rows.iter().all(|it| it.abs() <= 1e-5 * weight), "{rows:?}");
                    prop_assert!(least > 0.0);
                }
                Outcome::GivenUp => prop_assert!(false, "given up"),
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

        #[test]
        fn it_is_the_one_of_hildreth(given in points(), conditions in conditions(6)) {
            let mut nearest = NearestPoint::to(given.clone());
            let outcome = nearest.take(conditions.clone(), EXACT, &mut 1_000_000);
            if outcome == Outcome::Satisfied {
                let other = hildreth(&given, &conditions);
                let apart = other.iter().zip(nearest.point()).map(|(a, b)| (a - b).abs());
                prop_assert!(apart.fold(0.0, f64::max) <= 1e-3, "{other:?} {:?}", nearest.point());
            }
        }
    }

    #[test]
    fn large_numbers_and_no_terms_come_to_an_end() {
        let condition = |terms: &[(usize, f64)], least: f64| Condition {
            terms: terms.to_vec(),
            least,
        };
        let huge = [
            condition(&[(0, 1.0), (1, -1.0)], 1e300),
            condition(&[(1, 1.0), (0, -1.0)], -1e300),
            condition(&[(0, 0.5), (1, 0.5)], 3e299),
        ];
        let mut nearest = NearestPoint::to(vec![0.0, 0.0]);
        let outcome = nearest.take(huge, 1e-3, &mut 1000);
        assert_eq!(outcome, Outcome::Satisfied);
        let outcome = nearest.take([condition(&[(5, 1.0)], 1.0)], 1e-3, &mut 1000);
        assert_eq!(outcome, Outcome::Contradiction(vec![(3, 1.0)]));
        let mut nearest = NearestPoint::to(vec![f64::NAN, 0.0]);
        assert_eq!(nearest.take([], 1e-3, &mut 1000), Outcome::Satisfied);
        let mut nearest = NearestPoint::to(vec![0.0]);
        let outcome = nearest.take([condition(&[(0, 1.0)], f64::INFINITY)], 1e-3, &mut 1000);
        assert_eq!(outcome, Outcome::GivenUp);
        let outcome = nearest.take([condition(&[(0, 1.0)], 7.0)], 1e-3, &mut 0);
        assert_eq!(outcome, Outcome::GivenUp);
    }
}
