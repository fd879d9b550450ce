//! The drift bound: by how much the rates of clocks wander at most, on which error bounds rest.
//!
//! No trace tells it, but messages refute one that is too low. Unless it is given it is 100 ppm, as quartz
//! drifts between warm and cold, or where several places refute that 500 ppm, by which time services
//! steer. What messages prove is part of what a clock does, and clocks of the best alignment are nearer to
//! that; so where these stray by more, it is no less:
//!
//! ```text
//!  refuted in   clocks stray by   drift bound
//!  no place     any               100 ppm
//!  one          500 ppm at most   100 ppm, and the clock was set there
//!  several      500 ppm at most   500 ppm
//!  any          643 ppm          1000 ppm
//! ```

use retime_bounds::BoundOptions;
use serde::{Deserialize, Serialize};

/// How much work each search for bounds may take, in looks at moments and dependencies: some 20 s.
pub const BOUND_BUDGET: u64 = 2_000_000_000;

/// The premise of error bounds, and the effort that a search for them may take.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundSearch {
    /// The rates of clocks wander by at most this, as a share.
    pub drift: f64,
    /// A larger drift bound, which is taken instead where several places contradict the other and none
    /// contradicts this one: a single number then explains what would take a step at each place. Where
    /// the alignment has clocks stray by more, it is a number above that, and one place is enough.
    pub or_drift: Option<f64>,
    /// A search looks at so many moments and dependencies at most.
    pub steps: u64,
}

impl BoundSearch {
    /// The larger drift bound to try where so many places contradict the one asked for, and the clocks of the
    /// best alignment stray by this share from their mean rates; `None` if there is none.
    pub(super) fn larger(&self, places: usize, stray: f64) -> Option<f64> {
        let usual = self.or_drift.filter(|it| *it > self.drift)?;
        let own = rounded_up(stray);
        let is_own = own > usual && own < LARGEST;
        let (larger, least) = if is_own { (own, 1) } else { (usual, 2) };
        (places >= least).then_some(larger)
    }

    /// With [as many steps](BOUND_BUDGET) as a command takes unless it is told otherwise.
    #[must_use]
    pub fn with_drift(drift: f64) -> Self {
        Self {
            drift,
            or_drift: None,
            steps: BOUND_BUDGET,
        }
    }
}

/// The usual drift bound, as quartz drifts between warm and cold, a share.
pub const DRIFT_BOUND: f64 = 1e-4;

/// The drift bound of clocks that are slewed, a share: time services steer a rate by 500 ppm at most, as the
/// kernel takes no more (`adjtimex(2)`, `freq`).
pub const SLEWED_DRIFT_BOUND: f64 = 5e-4;

/// A clock that strays by as much, as where it is aligned by few messages, is no clock that runs: bounds for
/// that would tell nothing.
const LARGEST: f64 = 0.5;

/// The next larger share of the kind 1, 2 or 5 times a power of ten, as one would give it.
fn rounded_up(share: f64) -> f64 {
    let power = 10_f64.powf(share.max(f64::MIN_POSITIVE).log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|it| it * power);
    let found = steps.into_iter().find(|it| *it >= share);
    found.unwrap_or(10.0 * power)
}

/// How bounds are searched for.
pub(super) fn bound_options(drift: f64) -> BoundOptions {
    BoundOptions {
        drift,
        steps: BOUND_BUDGET,
        ..BoundOptions::default()
    }
}

/// The drift bound that bounds rest on.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Premise {
    pub(super) drift: f64,
    /// The one that was asked for, where several places contradict it and another was tried.
    pub(super) refuted: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_one_is_tried_as_the_table_says() {
        let search = BoundSearch {
            or_drift: Some(SLEWED_DRIFT_BOUND),
            ..BoundSearch::with_drift(DRIFT_BOUND)
        };
        let tried = |places, ppm: f64| {
            search
                .larger(places, ppm * 1e-6)
                .map(|it| (it * 1e6).round())
        };
        assert_eq!(tried(0, 643.0), None);
        assert_eq!(tried(1, 499.0), None);
        assert_eq!(tried(2, 499.0), Some(500.0));
        assert_eq!(tried(2, 0.0), Some(500.0));
        assert_eq!(tried(1, 643.0), Some(1_000.0));
        assert_eq!(tried(9, 1_001.0), Some(2_000.0));
        assert_eq!(tried(1, 600_000.0), None);
        // Whoever gives a drift bound knows the clocks.
        assert_eq!(BoundSearch::with_drift(DRIFT_BOUND).larger(9, 1e-3), None);
    }
}
