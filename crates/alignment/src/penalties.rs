//! The cost of curves that the dependencies do not ask for: bends, slopes, and offsets.
//!
//! The terms of the [centre](super::centre) besides those of slacks. Each is half the square
//! of a weighted sum of values at knots, so that its gradient is that sum times its weights
//! and its Hessian the product of the weights, which never changes. Only the wall, beyond
//! which rates are implausible, costs nothing inside and so comes and goes.
//!
//! ```text
//!   1/2 c (a - b)^2         gradient  c (a - b) [1, -1]        Hessian  c [1, 1; -1 beside]
//!   1/2 c (a - 2 b + d)^2   gradient  c (a - 2 b + d) [1, -2, 1]
//! ```

use super::cost::Cost;
use super::curves::Curves;
use super::frame::Frame;
use super::options::OPTIONS;
use retime_numerics::cholesky::Pattern;

/// The penalties of one division, weighed.
pub(super) struct Penalties {
    /// The weight of bends.
    bend: f64,
    /// The weight of slopes, by clock.
    slope: Vec<f64>,
    wall: Wall,
    /// Per clock: how much its offset is pulled,
    pull: Vec<f64>,
    /// and per knot and clock to where.
    rest: Vec<f64>,
    /// The part of the Hessian that never changes.
    constant: Vec<f64>,
    /// Per piece and clock: the entries of its ends.
    slants: Vec<[u32; 3]>,
}

/// Where rates become implausible: beyond it they cost half the square of what they are
/// beyond it by.
#[derive(Clone, Copy)]
struct Wall {
    /// How much an offset may rise in a piece.
    rise: f64,
    weight: f64,
}

impl Wall {
    /// The amount by which an offset rises or falls more than that.
    fn beyond(self, rise: f64) -> f64 {
        rise - rise.clamp(-self.rise, self.rise)
    }
}

impl Penalties {
    /// For curves of this shape, with the weight of slopes by their rates so far.
    pub(super) fn new(shape: &Curves, frame: &Frame, pattern: &Pattern, cost: Cost<'_>) -> Self {
        let width = shape.span / shape.pieces as f64;
        let square = |it: f64| 1.0 / (it * it);
        // Bends and slopes are differences of neighbouring knots over their distance, so
        // their squares are weighed by its square. Slopes count once per knot whatever
        // the division is; their sum is divided by the number of knots for that.
        let mut penalties = Self {
            bend: square(width * cost.sigma),
            slope: slopes(
                shape,
                square(width * cost.drift) / (shape.pieces + 1) as f64,
                cost.drift,
            ),
            wall: Wall {
                rise: width * cost.most_drift,
                weight: square(width * OPTIONS.beyond),
            },
            pull: Vec::new(),
            rest: Vec::new(),
            constant: vec![0.0; pattern.len()],
            slants: slants(shape, pattern),
        };
        penalties.add_pulls(shape, frame, cost);
        penalties.add_constant(shape, pattern);
        penalties
    }

    /// How much each clock is pulled, and to where. Most are pulled to what was
    /// [recorded](super::recorded), and hardly to where they are so far, in terms of the scale of
    /// slacks, so that the result does not depend on the tick; pinned ones to zero alone, unless
    /// dependencies are few.
    ///
    /// Where they are so far, not zero: clocks part within a run by ten thousand times what the
    /// tightest messages leave open, and where these are far apart in time, a pull to zero that
    /// seems weak bends all in between. Curves that are found again and again are in the end pulled
    /// by nothing. Source: the proximal point method, R. T. Rockafellar, *Monotone Operators and
    /// the Proximal Point Algorithm* (1976).
    fn add_pulls(&mut self, shape: &Curves, frame: &Frame, cost: Cost<'_>) {
        let scale = cost.barrier.scale;
        let weight = |pull: f64| (pull / scale) * (pull / scale);
        let recorded = frame.recorded.weight(cost.tight, scale) / (shape.pieces + 1) as f64;
        let pull = weight(OPTIONS.pull) + recorded;
        self.pull = vec![pull; shape.clocks];
        // Two parabolas are one about the mean of their middles.
        let middle = |(at, so_far): (usize, &f64)| {
            let curve = frame.recorded.curve(at % shape.clocks);
            so_far + recorded / pull * (curve - so_far)
        };
        self.rest = shape.values.iter().enumerate().map(middle).collect();
        // Where recorded times hold the mean of all clocks, none is right more than others.
        let pinned = frame.pinned.iter().filter(|_| !frame.recorded.sparse);
        for &clock in pinned.filter(|&&clock| clock < shape.clocks) {
            self.pull[clock] = weight(OPTIONS.hold);
            for knot in 0..=shape.pieces {
                self.rest[knot * shape.clocks + clock] = 0.0;
            }
        }
    }

    fn add_constant(&mut self, shape: &Curves, pattern: &Pattern) {
        let (bend, clocks) = (self.bend, shape.clocks);
        let mut add = |a: usize, b: usize, value: f64| {
            if let Some(at) = pattern.position(a, b) {
                self.constant[at] += value;
            }
        };
        for (clock, (&pull, &slope)) in self.pull.iter().zip(&self.slope).enumerate() {
            let at = |knot: usize| knot * clocks + clock;
            for knot in 0..=shape.pieces {
                add(at(knot), at(knot), pull);
            }
            // (b - a)^2 = a^2 + b^2 - 2 a b, half of it in the function: 1, 1 and -1.
            for knot in 0..shape.pieces {
                add(at(knot), at(knot), slope);
                add(at(knot + 1), at(knot + 1), slope);
                add(at(knot), at(knot + 1), -slope);
            }
            // The second derivative of half the square of a weighted sum is the product
            // of the weights; each pair is added once, as only the lower half is kept.
            for knot in 1..shape.pieces {
                let stencil = [(knot - 1, 1.0), (knot, -2.0), (knot + 1, 1.0)];
                for (place, &(a, x)) in stencil.iter().enumerate() {
                    for &(b, y) in &stencil[place..] {
                        add(at(a), at(b), bend * x * y);
                    }
                }
            }
        }
    }

    /// The cost of the curves.
    pub(super) fn value(&self, curves: &Curves) -> f64 {
        let (z, clocks) = (&curves.values, curves.clocks);
        let mut sum = 0.0;
        for at in 0..z.len() {
            let off = z[at] - self.rest[at];
            sum += self.pull[at % clocks] * off * off;
            if let Some(after) = z.get(at + clocks) {
                sum += self.slope[at % clocks] * (after - z[at]) * (after - z[at]);
                sum += self.wall.weight * self.wall.beyond(after - z[at]).powi(2);
                if let Some(last) = z.get(at + 2 * clocks) {
                    let turn = z[at] - 2.0 * after + last;
                    sum += self.bend * turn * turn;
                }
            }
        }
        0.5 * sum
    }

    /// How that grows with each value.
    pub(super) fn gradient(&self, curves: &Curves) -> Vec<f64> {
        let (z, clocks) = (&curves.values, curves.clocks);
        let off = z.iter().zip(&self.rest).map(|(it, rest)| it - rest);
        let pulled = off.zip(self.pull.iter().cycle());
        let mut gradient: Vec<f64> = pulled.map(|(off, pull)| pull * off).collect();
        for at in 0..z.len() {
            let Some(after) = z.get(at + clocks) else {
                break;
            };
            let rise = self.slope[at % clocks] * (after - z[at])
                + self.wall.weight * self.wall.beyond(after - z[at]);
            gradient[at] -= rise;
            gradient[at + clocks] += rise;
            if let Some(last) = z.get(at + 2 * clocks) {
                let turn = self.bend * (z[at] - 2.0 * after + last);
                gradient[at] += turn;
                gradient[at + clocks] -= 2.0 * turn;
                gradient[at + 2 * clocks] += turn;
            }
        }
        gradient
    }

    /// How the gradient does.
    pub(super) fn hessian(&self, curves: &Curves) -> Vec<f64> {
        let mut hessian = self.constant.clone();
        let Curves { clocks, values, .. } = curves;
        for (at, &[before, after, both]) in self.slants.iter().enumerate() {
            if self.wall.beyond(values[at + clocks] - values[at]) != 0.0 {
                hessian[before as usize] += self.wall.weight;
                hessian[after as usize] += self.wall.weight;
                hessian[both as usize] -= self.wall.weight;
            }
        }
        hessian
    }
}

/// Per piece and clock: the entries of the Hessian that belong to both its ends.
fn slants(shape: &Curves, pattern: &Pattern) -> Vec<[u32; 3]> {
    let entry = |a: usize, b: usize| pattern.position(a, b).unwrap_or(0) as u32;
    let of = |at: usize| {
        let after = at + shape.clocks;
        [entry(at, at), entry(after, after), entry(at, after)]
    };
    (0..shape.pieces * shape.clocks).map(of).collect()
}

/// The weight of each clock's slopes: less for a clock whose rate is beyond what is usual,
/// so that it is drawn by no more than one at the edge of that. By the rates of the curves so
/// far: the curves that minimise the function, found again and again, are those with
/// Huber's function of the rate in the place of its square. Clocks that are [known](super::drift_test)
/// to drift less than usual keep the square: nothing is to draw them away from that.
fn slopes(curves: &Curves, usual: f64, drift: f64) -> Vec<f64> {
    let rate = |clock: usize| {
        let last = curves.values[curves.pieces * curves.clocks + clock];
        ((last - curves.values[clock]) / curves.span).abs()
    };
    let weight = |clock: usize| {
        if drift < OPTIONS.rho {
            usual
        } else {
            usual * (drift / rate(clock).max(drift))
        }
    };
    (0..curves.clocks).map(weight).collect()
}
