//! How fast a clock drifts from that of process 0.

use std::fmt;

use crate::measured::Measured;

/// The rate at which a clock gained on that of process 0 between two measurements, with sign: what
/// has to be added to it grows by so much of the time that it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drift {
    /// In parts per billion.
    pub parts_per_billion: i64,
    /// The largest error of the drift, given the bounds of both measurements.
    pub within: i64,
}

impl Drift {
    /// Between two measurements of one clock; none if no time went by.
    pub fn between(first: &Measured, second: &Measured) -> Option<Self> {
        let elapsed = second.at.after(first.at);
        if elapsed <= 0 {
            return None;
        }
        let share = |ticks: i128| i64::try_from(ticks * 1_000_000_000 / elapsed).ok();
        let grown = i128::from(second.offset.0) - i128::from(first.offset.0);
        let open = i128::from(second.bound.0) + i128::from(first.bound.0);
        Some(Self {
            parts_per_billion: share(grown)?,
            within: share(open)?,
        })
    }
}

impl fmt::Display for Drift {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ppm = |billionths: i64| billionths as f64 / 1e3;
        let (drift, within) = (ppm(self.parts_per_billion), ppm(self.within));
        write!(out, "{drift:+.2} ±{within:.2} ppm")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime_model::{Ticks, Timestamp};

    #[test]
    fn a_microsecond_in_a_second_is_one_ppm() {
        let at = |at, offset| Measured {
            offset: Ticks(offset),
            bound: Ticks(50),
            ..Measured::reference(Timestamp(at))
        };
        let (first, second) = (at(5_000_000_000, 700), at(6_000_000_000, 1_700));
        let drift = Drift::between(&first, &second).unwrap();
        assert_eq!(drift.to_string(), "+1.00 ±0.10 ppm");
        assert_eq!(Drift::between(&second, &first), None);
    }
}
