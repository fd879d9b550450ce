//! A correction of one clock: a line over the run.

use std::ops::{Add, Mul, Sub};

use serde::{Deserialize, Serialize};

/// Ticks to add at the beginning of the run and at its end, linear in between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunLine {
    pub(crate) first: f64,
    pub(crate) last: f64,
}

impl RunLine {
    /// The ticks to add after a share of the run.
    pub(crate) fn at(self, share: f64) -> f64 {
        self.first + (self.last - self.first) * share
    }

    /// The most that it adds or takes away within the run.
    pub(crate) fn largest(self) -> f64 {
        self.first.abs().max(self.last.abs())
    }

    /// True if both ends are numbers.
    pub(crate) fn is_finite(self) -> bool {
        self.first.is_finite() && self.last.is_finite()
    }
}

impl Add for RunLine {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            first: self.first + other.first,
            last: self.last + other.last,
        }
    }
}

impl Sub for RunLine {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + other * -1.0
    }
}

impl Mul<f64> for RunLine {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self {
            first: factor * self.first,
            last: factor * self.last,
        }
    }
}
