//! Piecewise linear functions, one per clock, over the common axis.

use super::frame::Seen;

/// A value for each clock at each of `pieces + 1` equidistant knots.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curves {
    pub(super) clocks: usize,
    pub(super) pieces: usize,
    pub(super) span: f64,
    /// Pieces per tick.
    rate: f64,
    /// By knot, then by clock.
    pub(super) values: Vec<f64>,
}

impl Curves {
    /// All zero.
    pub(super) fn flat(clocks: usize, pieces: usize, span: f64) -> Self {
        Self {
            clocks,
            pieces,
            span,
            rate: pieces as f64 / span,
            values: vec![0.0; clocks * (pieces + 1)],
        }
    }

    /// The knot before a time, and how far after it, from 0 to 1. Times outside
    /// count as the ends.
    #[inline]
    pub(super) fn place(&self, time: f64) -> (usize, f64) {
        let place = (time * self.rate).clamp(0.0, self.pieces as f64);
        let knot = (place as usize).min(self.pieces - 1);
        (knot, place - knot as f64)
    }

    /// The value for a clock at a time.
    #[inline]
    pub(super) fn at(&self, clock: usize, time: f64) -> f64 {
        let (knot, part) = self.place(time);
        let before = self.values[knot * self.clocks + clock];
        let after = self.values[(knot + 1) * self.clocks + clock];
        before + (after - before) * part
    }

    /// What the clocks at both ends of a dependency add to its latency.
    #[inline]
    pub(super) fn between(&self, from: usize, to: usize, seen: &Seen) -> f64 {
        self.at(to, seen.received) - self.at(from, seen.sent)
    }

    /// The time of a knot.
    pub(super) fn knot(&self, knot: usize) -> f64 {
        self.span * (knot as f64 / self.pieces as f64)
    }

    /// The same functions with more knots.
    pub(super) fn refined(&self, pieces: usize) -> Self {
        let mut fine = Self::flat(self.clocks, pieces, self.span);
        for knot in 0..=pieces {
            let time = fine.knot(knot);
            for clock in 0..self.clocks {
                fine.values[knot * self.clocks + clock] = self.at(clock, time);
            }
        }
        fine
    }
}
