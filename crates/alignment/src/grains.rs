//! How far clocks advance at once.
//!
//! Stamps are rounded down to ticks of their clock, which may be coarser than those
//! of the trace: the *grain* `q` of a clock is the greatest common divisor of all
//! differences of its stamps. A stamp stands for the middle of its tick, from which the
//! moment is up to `q / 2` away, so a latency may be longer than it looks by
//!
//! ```text
//! (q_from + q_to) / 2
//! ```
//!
//! Where clocks advance every 10 us, latencies would without that all seem to be 0 or less;
//! and what a coarse clock stamps would contradict each finer one.

use serde::{Deserialize, Serialize};

/// The ticks by which each clock advances at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Grains(Vec<i64>);

impl Grains {
    /// From the grain of each clock.
    pub(super) fn new(of_clocks: Vec<i64>) -> Self {
        Self(of_clocks)
    }

    /// The least of any clock.
    pub(super) fn finest(&self) -> f64 {
        self.0.iter().copied().min().unwrap_or(1) as f64
    }

    /// The ticks by which a latency between two clocks may be longer than it looks.
    #[inline]
    pub(super) fn between(&self, from: usize, to: usize) -> f64 {
        let of = |clock: usize| self.0.get(clock).copied().unwrap_or(1) as f64;
        0.5 * (of(from) + of(to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_is_rounded_at_both_ends() {
        let grains = Grains::new(vec![10, 1, 10]);
        let is = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-12, "{found}");
        is(grains.finest(), 1.0);
        is(grains.between(0, 2), 10.0);
        is(grains.between(0, 1), 5.5);
        is(grains.between(1, 0), 5.5);
        is(grains.between(1, 1), 1.0);
    }
}
