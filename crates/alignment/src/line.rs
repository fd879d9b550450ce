//! A straight line over the common [axis](super::axis), and the one through points that takes no
//! notice of a quarter of them gone wrong.
//!
//! Source: H. Theil, *A rank-invariant method of linear and polynomial regression analysis* (1950);
//! P. K. Sen, *Estimates of the regression coefficient based on Kendall's tau* (1968).

use std::ops::{Add, Neg, Sub};

use serde::{Deserialize, Serialize};

use retime_numerics::median::median;

/// Ticks over the time on the common axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Line {
    /// Ticks at 0.
    pub(super) intercept: f64,
    /// Ticks per tick.
    pub(super) drift: f64,
}

impl Line {
    pub(super) fn at(self, time: f64) -> f64 {
        self.intercept + self.drift * time
    }

    /// Half-way between two lines.
    pub(super) fn midpoint(self, other: Self) -> Self {
        Self {
            intercept: f64::midpoint(self.intercept, other.intercept),
            drift: f64::midpoint(self.drift, other.drift),
        }
    }

    /// The line of the median slope through points of rising `x` (Theil-Sen);
    /// `None` without points.
    pub(super) fn theil_sen(points: &[(f64, f64)]) -> Option<Self> {
        let slope = |a: &(f64, f64), b: &(f64, f64)| (b.1 - a.1) / (b.0 - a.0);
        let pairs = points.iter().enumerate();
        let mut slopes: Vec<f64> = pairs
            .flat_map(|(at, a)| points[at + 1..].iter().map(move |b| slope(a, b)))
            .filter(|it| it.is_finite())
            .collect();
        let drift = median(&mut slopes).unwrap_or(0.0);
        let mut rests: Vec<f64> = points.iter().map(|&(x, y)| y - drift * x).collect();
        Some(Self {
            intercept: median(&mut rests)?,
            drift,
        })
    }
}

impl Add for Line {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            intercept: self.intercept + other.intercept,
            drift: self.drift + other.drift,
        }
    }
}

impl Neg for Line {
    type Output = Self;

    fn neg(self) -> Self {
        Self {
            intercept: -self.intercept,
            drift: -self.drift,
        }
    }
}

impl Sub for Line {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_of_points_gone_wrong_moves_the_line_little() {
        let point = |i: usize| {
            let x = i as f64;
            (
                x,
                if i.is_multiple_of(5) {
                    900.0
                } else {
                    7.0 + 0.25 * x
                },
            )
        };
        let points: Vec<_> = (0..40).map(point).collect();
        let line = Line::theil_sen(&points).unwrap();
        assert!(
            (line.drift - 0.25).abs() < 0.1 && (line.at(20.0) - 12.0).abs() < 2.0,
            "{line:?}"
        );
        assert_eq!(Line::theil_sen(&[]), None);
        let single = Line {
            intercept: 4.0,
            drift: 0.0,
        };
        assert_eq!(Line::theil_sen(&[(3.0, 4.0)]), Some(single));
    }
}
