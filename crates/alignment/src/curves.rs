//! Piecewise linear functions, one per clock, over the common axis, and from there to
//! what has to be added to each clock.
//!
//! The centre leaves the common time open; it is that of the reference. A clock
//! `p` that shows `v` on the common axis has the time `T = v + y_p(v)`; the
//! reference shows the `w` with `w + y_ref(w) = T`, found by going back and forth,
//! since `y_ref` is nearly constant; and `w - v` is what has to be added.

use serde::{Deserialize, Serialize};

use super::frame::{Frame, FramedDependency};
use retime_clocks::estimate::{Estimate, Offset};
use retime_model::ClockId;

/// A value for each clock at each of `pieces + 1` equidistant knots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Curves {
    pub(super) clocks: usize,
    pub(super) pieces: usize,
    pub(super) span: f64,
    /// Pieces per tick.
    rate: f64,
    /// The values of all clocks at the first knot, then at the next.
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

    /// The ticks that the clocks at both ends of a dependency add to its latency.
    #[inline]
    pub(super) fn between(&self, from: usize, to: usize, seen: &FramedDependency) -> f64 {
        self.at(to, seen.received) - self.at(from, seen.sent)
    }

    /// The functions of two clocks, if they have one piece.
    pub(super) fn lines_of(&self, from: usize, to: usize) -> Option<TwoLines> {
        let ends = |clock: usize| [self.values[clock], self.values[self.clocks + clock]];
        (self.pieces == 1).then(|| TwoLines {
            rate: self.rate,
            from: ends(from),
            to: ends(to),
        })
    }

    /// The mean drift of a clock from the first knot to the last, of either sign, as a fraction.
    pub(super) fn mean_drift(&self) -> f64 {
        self.drifts().map(f64::abs).sum::<f64>() / self.clocks as f64
    }

    /// The largest difference between the drifts of two clocks, as a fraction.
    pub(super) fn widest_drift(&self) -> f64 {
        let (least, most) = { self.drifts() }
            .fold((f64::INFINITY, f64::NEG_INFINITY), |all, it| {
                (all.0.min(it), all.1.max(it))
            });
        (most - least).max(0.0)
    }

    /// The drift of each clock from the first knot to the last, as a fraction.
    fn drifts(&self) -> impl Iterator<Item = f64> + '_ {
        let last = self.values[self.pieces * self.clocks..].iter();
        last.zip(&self.values)
            .map(|(last, first)| (last - first) / self.span)
    }

    /// The time of a knot.
    pub(super) fn knot(&self, knot: usize) -> f64 {
        self.span * (knot as f64 / self.pieces as f64)
    }

    /// The constants that these functions are on average.
    pub(super) fn level(&self) -> Self {
        let mut level = Self::flat(self.clocks, 1, self.span);
        for knot in 0..=self.pieces {
            // By the trapezoidal rule the first and the last knot count for half.
            let is_end = knot == 0 || knot == self.pieces;
            let weight = if is_end { 0.5 } else { 1.0 } / self.pieces as f64;
            let values = &self.values[knot * self.clocks..];
            for (sum, value) in level.values[..self.clocks].iter_mut().zip(values) {
                *sum += weight * value;
            }
        }
        let (first, last) = level.values.split_at_mut(self.clocks);
        last.copy_from_slice(first);
        level
    }

    /// These functions with more knots.
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

/// The functions of the clocks at both ends of a link, by their values at the first knot and the
/// last.
pub(super) struct TwoLines {
    rate: f64,
    from: [f64; 2],
    to: [f64; 2],
}

impl TwoLines {
    /// The ticks that the clocks at both ends of a dependency add to its latency: to the last bit
    /// those of [`Curves::between`].
    #[inline]
    pub(super) fn between(&self, seen: &FramedDependency) -> f64 {
        let at = |[first, last]: [f64; 2], time: f64| {
            first + (last - first) * (time * self.rate).clamp(0.0, 1.0)
        };
        at(self.to, seen.received) - at(self.from, seen.sent)
    }
}

/// `y` changes by far less than what it is read off by: each round adds digits.
const ROUNDS: usize = 8;

/// Offsets against the root of each clock's part of the trace; none for a clock
/// that nothing is tied to, unless it is the reference.
pub(super) fn estimate(
    frame: &Frame,
    curves: &Curves,
    root: &[usize],
    reference: ClockId,
) -> Estimate {
    let mut size = vec![0_usize; root.len()];
    for &root in root {
        size[root] += 1;
    }
    let clocks = root.iter().enumerate();
    let offset = |(clock, &root): (usize, &usize)| {
        let related = size[root] > 1 || root == reference.as_usize();
        related.then(|| offset(frame, curves, clock, root))
    };
    Estimate {
        offsets: clocks.map(offset).collect(),
        reference,
    }
}

fn offset(frame: &Frame, curves: &Curves, clock: usize, root: usize) -> Offset {
    if clock == root {
        return Offset::constant(0.0);
    }
    let add = |clock: usize, time: f64| frame.lines[clock].at(time) + curves.at(clock, time);
    let shift = frame.axis.shifts[clock].saturating_sub(frame.axis.shifts[root]) as f64;
    let knot = |knot: usize| {
        let time = curves.knot(knot);
        let common = time + add(clock, time);
        let shown = (0..ROUNDS).fold(time, |shown, _| common - add(root, shown));
        (frame.axis.stamp(clock, time), (shown - time) + shift)
    };
    Offset::through((0..=curves.pieces).map(knot).collect())
}
