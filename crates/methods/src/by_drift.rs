//! Sub-intervals short enough for how fast clocks drift.
//!
//! On a boundary the bounds of both its sides count, so these must have something in common. Two
//! clocks whose rates are wrong by up to `rho` part by `2 rho T` within a sub-interval of length
//! `T`, and bounds leave room for what a message takes at least, `mu`, and back:
//!
//! ```text
//! T < mu / (2 rho)
//! ```
//!
//! The source asks for "some shorter" ones; ours are at most half as long. By default the number
//! follows from how many messages there are, and is raised where bounds contradict each other, which
//! needs neither `mu` nor `rho`.
//!
//! Source: Rabenseifner 2000, remark 3 to table 7.1.

use crate::traffic::Traffic;
use retime::estimate::NoEstimate;
use retime::pipeline::{Input, IntervalNumber};

/// The number of sub-intervals that the options ask for; `None` if messages are to tell.
pub(crate) fn number(input: &Input<'_>) -> Result<Option<u32>, NoEstimate> {
    match input.options.intervals {
        IntervalNumber::ByMessages => Ok(None),
        IntervalNumber::Given(number) => Ok(Some(number)),
        IntervalNumber::ByDrift => {
            let least = input.edges.all().iter().map(input.least()).min();
            let traffic = Traffic::of(input.edges, input.problem.monitor)?;
            let extents = traffic.extents().iter().flatten();
            let span = extents
                .map(|(first, last)| last.saturating_sub(*first))
                .max();
            let longest = longest(least.unwrap_or(0), input.options.drift);
            enough(span.unwrap_or(0), longest).map(Some)
        }
    }
}

/// The length in ticks that sub-intervals have to stay below, for a least delay in ticks and a
/// drift as a share.
fn longest(least: i64, drift: f64) -> f64 {
    least as f64 / (2.0 * drift)
}

/// So many that each lasts at most half of `longest`.
fn enough(span: i64, longest: f64) -> Result<u32, NoEstimate> {
    if longest > 0.0 {
        // Conversion saturates.
        let whole = (2.0 * span as f64 / longest).floor() as u32;
        Ok(whole.saturating_add(1))
    } else {
        Err(NoEstimate::Missing(
            "sub-intervals by drift are short by how long messages take at least, and that is \
             given as 0; give another --min-delay, or a number of sub-intervals"
                .into(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures of the remark: 10 s for 200 us and 1e-5, half a second for 10 us, a second for 2 us
    /// and 1e-6.
    #[test]
    fn the_periods_of_the_source() {
        for (nanoseconds, drift, seconds) in [
            (200_000, 1e-5, 10.0),
            (10_000, 1e-5, 0.5),
            (2_000, 1e-6, 1.0),
        ] {
            assert!((longest(nanoseconds, drift) / 1e9 - seconds).abs() < 1e-9);
        }
    }

    #[test]
    fn each_lasts_half_of_that_at_most() {
        assert_eq!(enough(1_000, 500.0), Ok(5));
        assert_eq!(enough(999, 500.0), Ok(4));
        assert_eq!(enough(0, 500.0), Ok(1));
        assert_eq!(enough(i64::MAX, 1e-9), Ok(u32::MAX));
        assert!(matches!(enough(1_000, 0.0), Err(NoEstimate::Missing(_))));
        assert!(matches!(
            enough(1_000, longest(-3, 1e-4)),
            Err(NoEstimate::Missing(_))
        ));
    }
}
