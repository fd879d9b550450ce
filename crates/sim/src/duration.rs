//! How long something takes: at least so long, and a random part on top.
//!
//! Messages have a least delay, which the hardware sets, and an excess, which
//! depends on what else goes on. The shape of the excess decides how well a
//! correction can do: few messages come near the least if it is uniform, most
//! do if it is exponential, and a heavy tail has messages that are late by a
//! hundred times the average.
//!
//! ```
//! use retime_sim::{Duration, Random};
//!
//! let mut random = Random::new(1, 0);
//! let exact = Duration::constant(250_000);
//! assert_eq!(exact.draw(&mut random), 250_000);
//! let between = Duration::uniform(100, 200);
//! assert!((100..=200).contains(&between.draw(&mut random)));
//! assert_eq!(between.mean(), 150.0);
//! ```

use crate::random::Random;

/// A random duration: at least so long, and on average so much longer. In
/// nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Duration {
    /// The least it can be.
    pub least: u64,
    /// The average of what is added.
    pub tail: f64,
    /// How what is added is distributed.
    pub shape: Tail,
}

/// Distribution of the random part of a [`Duration`] with mean `m`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Tail {
    /// From 0 to `2m`, all equally likely.
    Uniform,
    /// More than `x` with probability `exp(-x/m)`.
    #[default]
    Exponential,
    /// A Pareto distribution: more than `x` with probability `(1 + x/s)^-index`
    /// where `s = m (index - 1)`.
    Heavy {
        /// The tail index, above 1. The smaller the heavier: up to 2 there is a mean,
        /// but no variance.
        index: f64,
    },
}

impl Duration {
    /// Always the same.
    pub const fn constant(nanoseconds: u64) -> Self {
        Self::exponential(nanoseconds, 0.0)
    }

    /// Anything between two limits.
    pub const fn uniform(least: u64, most: u64) -> Self {
        Self {
            least,
            tail: most.saturating_sub(least) as f64 / 2.0,
            shape: Tail::Uniform,
        }
    }

    /// With an exponential tail of the given mean.
    pub const fn exponential(least: u64, mean: f64) -> Self {
        Self {
            least,
            tail: mean,
            shape: Tail::Exponential,
        }
    }

    /// With a heavy tail of the given mean, and tail index 2.
    pub const fn heavy(least: u64, mean: f64) -> Self {
        Self {
            least,
            tail: mean,
            shape: Tail::Heavy { index: 2.0 },
        }
    }

    /// The average, in nanoseconds.
    pub fn mean(self) -> f64 {
        self.least as f64 + self.tail
    }

    /// One such duration, in nanoseconds.
    pub fn draw(self, random: &mut Random) -> u64 {
        let excess = match self.shape {
            Tail::Uniform => random.uniform() * 2.0 * self.tail,
            Tail::Exponential => random.exponential(self.tail),
            Tail::Heavy { index } => random.pareto(index) * (index - 1.0) * self.tail,
        };
        self.least.saturating_add(excess as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share_above(duration: Duration, limit: u64) -> f64 {
        let mut random = Random::new(3, 4);
        let above = (0..100_000).filter(|_| duration.draw(&mut random) > limit);
        above.count() as f64 / 100_000.0
    }

    #[test]
    fn tails_are_as_heavy_as_they_say() {
        let near = |share: f64, expected: f64| assert!((share - expected).abs() < 0.005, "{share}");
        near(share_above(Duration::uniform(1_000, 3_000), 2_500), 0.25);
        near(
            share_above(Duration::exponential(1_000, 1e6), 2_001_000),
            0.135,
        );
        near(
            share_above(Duration::heavy(1_000, 1e6), 2_001_000),
            1.0 / 9.0,
        );
        near(share_above(Duration::heavy(0, 1e6), 9_000_000), 0.01);
        let heavier = Duration {
            least: 0,
            tail: 1e6,
            shape: Tail::Heavy { index: 1.5 },
        };
        // (1 + 12)^-1.5 and (1 + 2)^-1.5
        near(share_above(heavier, 6_000_000), 0.0213);
        near(share_above(heavier, 1_000_000), 0.1925);
        near(share_above(Duration::constant(5), 4), 1.0);
        near(share_above(Duration::constant(5), 5), 0.0);
    }

    #[test]
    fn nothing_takes_less_than_the_least() {
        let mut random = Random::new(1, 1);
        for shape in [Tail::Uniform, Tail::Exponential, Tail::Heavy { index: 1.2 }] {
            let duration = Duration {
                least: 70,
                tail: 30.0,
                shape,
            };
            let least = (0..10_000).map(|_| duration.draw(&mut random)).min();
            assert_eq!(least, Some(70));
        }
    }
}
