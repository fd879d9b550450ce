//! Families of clocks: how much their rates wander, and in how many pieces that is followed.
//!
//! Rates are random walks that change by `q sqrt(t)` within a time `t`; which `q` suits a
//! trace, the [selection](super::selection) finds out.
//!
//! **Pieces** follow from it. Of such a clock the middle of a stretch `h` lies off the
//! straight line between its ends by
//!
//! ```text
//! q h^(3/2) / sqrt(48)
//! ```
//!
//! (the standard deviation of an integrated random walk whose ends are known), and that
//! shall be no more than a nanosecond: a stretch of 0.8 s for the first `q`, of 8 ms for 10 ppm. None is so
//! short that [too few dependencies](Filled) are left in it.

use rustc_hash::FxHashSet;

use super::options::OPTIONS;

/// A family of clocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Division {
    /// The amount by which rates are taken to wander in a second, as a fraction.
    pub(super) wander: f64,
    /// Straight pieces of each offset.
    pub(super) pieces: usize,
    /// The amount by which rates change from one piece to the next, as a fraction.
    pub(super) bend: f64,
    /// The amount by which rates of clocks differ, as a fraction,
    pub(super) drift: f64,
    /// and hardly by more than this.
    pub(super) most_drift: f64,
}

impl Division {
    /// Clocks whose rates wander by `wander` in a second, as a fraction, for so many
    /// seconds; in no more than `finest` pieces.
    pub(super) fn of(wander: f64, seconds: f64, finest: usize) -> Self {
        let longest = (48_f64.sqrt() * OPTIONS.straight / wander).powf(2.0 / 3.0);
        let fit = |pieces: &usize| *pieces as f64 * longest >= seconds || *pieces >= finest;
        let pieces = OPTIONS.pieces.into_iter().find(fit).unwrap_or(finest);
        Self {
            wander,
            pieces,
            bend: wander * (seconds / pieces as f64).sqrt(),
            drift: OPTIONS.rho,
            most_drift: OPTIONS.proven,
        }
    }
}

/// The dependencies that each piece has to hold on average.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Filled {
    /// Enough of each pair of clocks and direction: the tightest of few are not tight.
    #[default]
    PerPair,
    /// Enough of each clock with all others together. The pairs of many clocks are more than what has to be
    /// known of them, so that a clock can be known where hardly any pair of its is.
    PerClock,
}

/// The finest divisions of offsets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Finest {
    per_pair: Option<usize>,
    per_clock: Option<usize>,
}

impl Finest {
    /// The finest divisions of a run that lasts `span` ticks, by the pairs of clocks with their numbers of
    /// dependencies.
    pub(super) fn of(pairs: impl Iterator<Item = ((usize, usize), usize)>, span: f64) -> Self {
        let mut clocks = FxHashSet::default();
        let (mut dependencies, mut links) = (0, 0);
        for ((from, to), of_pair) in pairs {
            clocks.extend([from, to]);
            dependencies += of_pair;
            links += 1;
        }
        Self {
            per_pair: finest(dependencies, links, span),
            // Each has an end at two clocks.
            per_clock: finest(2 * dependencies, clocks.len(), span),
        }
    }

    /// The most pieces, if there are enough dependencies for any.
    pub(super) fn pieces(&self, filled: Filled) -> Option<usize> {
        match filled {
            Filled::PerPair => self.per_pair,
            Filled::PerClock => self.per_clock,
        }
    }
}

/// The most pieces for which so many dependencies are enough for each of so many pairs or clocks.
fn finest(dependencies: usize, of: usize, span: f64) -> Option<usize> {
    let allowed =
        |pieces: &usize| dependencies >= OPTIONS.fewest * of * pieces && span >= *pieces as f64;
    OPTIONS.pieces.into_iter().rfind(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_as_short_as_rates_wander() {
        let pieces = |wander, seconds| Division::of(wander, seconds, 1024).pieces;
        // Straight for (sqrt(48) 1e-9 / 1e-7)^(2/3) = 0.169 s.
        assert_eq!(pieces(1e-7, 0.168), 1);
        assert_eq!(pieces(1e-7, 0.170), 4);
        assert_eq!(pieces(1e-7, 4.0 * 0.168), 4);
        assert_eq!(pieces(1e-5, 1.6), 256);
        assert_eq!(pieces(1e-4, 3_600.0), 1024);
        let few = Division::of(1e-7, 64.0, 16);
        assert_eq!((few.pieces, few.bend), (16, 2e-7));
    }

    /// Each of two clocks has as many dependencies as its pair has both ways; each of three twice as many.
    #[test]
    fn clocks_allow_more_pieces_than_pairs() {
        let each = |clocks: usize, dependencies: usize| {
            let pairs = (0..clocks * clocks).map(move |it| (it / clocks, it % clocks));
            let pairs = pairs.filter(|(from, to)| from != to);
            let finest = Finest::of(pairs.map(|pair| (pair, dependencies)), 1e9);
            [Filled::PerPair, Filled::PerClock].map(|it| finest.pieces(it))
        };
        assert_eq!(each(2, 7), [None, Some(1)]);
        assert_eq!(each(2, 8 * 64), [Some(64), Some(64)]);
        assert_eq!(each(3, 8 * 4), [Some(4), Some(16)]);
        assert_eq!(each(16, 20), [Some(1), Some(64)]);
    }
}
