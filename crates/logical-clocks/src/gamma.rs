//! How much of a local interval the clock keeps while it waits to be caught up.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// The control factor gamma, `0 <= gamma < 1`: a clock that runs ahead of its
/// physical clock advances by `gamma` times the physical interval, so that its
/// lead shrinks by `1 - gamma` of it.
///
/// Kept as the exact binary fraction `1 - loss / 2^64`, so that every result is
/// an integer and the same on every machine.
///
/// ```
/// use retime_logical_clocks::Gamma;
/// let gamma: Gamma = "0.99".parse()?;
/// assert_eq!(gamma.lost_over(1_000) >> 64, 10); // a lead shrinks by 10 ticks in 1000
/// # Ok::<(), retime_logical_clocks::GammaError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gamma {
    loss: u64,
}

/// A gamma outside of its range, or no number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is no control factor: give a number from 0 up to but not including 1, such as 0.99998"
)]
pub struct GammaError(String);

impl Gamma {
    /// `1 - loss` for a loss in parts per million; the sources' `gamma_max` is
    /// `1 - 2e-5`, 20 ppm. Rates beyond 1,000,000 ppm mean 0.
    pub const fn minus_ppm(ppm: u32) -> Self {
        let per_million = u64::MAX / 1_000_000;
        Self {
            loss: per_million.saturating_mul(ppm as u64),
        }
    }

    /// The factor nearest to `factor`; beyond its range the ends of the range.
    pub fn from_factor(factor: f64) -> Self {
        // Conversion saturates; NaN becomes the largest loss.
        let loss = (1.0 - factor) * 2_f64.powi(64);
        let loss = if loss.is_nan() {
            u64::MAX
        } else {
            loss.round() as u64
        };
        Self { loss: loss.max(1) }
    }

    /// The factor, for output only.
    pub fn factor(self) -> f64 {
        1.0 - self.loss as f64 / 2_f64.powi(64)
    }

    /// How much a lead shrinks over `interval` ticks, exactly, in parts of `2^-64` ticks.
    #[inline]
    pub fn lost_over(self, interval: u64) -> u128 {
        u128::from(interval) * u128::from(self.loss)
    }

    /// The first interval over which a lead of `lead` ticks has shrunk to
    /// nothing; `None` beyond 64 bits.
    pub fn time_to_lose(self, lead: u64) -> Option<u64> {
        self.time_to_lose_parts(u128::from(lead) << 64)
    }

    /// The first interval over which a lead of so many parts of `2^-64` ticks has shrunk
    /// to nothing; `None` beyond 64 bits.
    pub(super) fn time_to_lose_parts(self, lead: u128) -> Option<u64> {
        u64::try_from(lead.div_ceil(u128::from(self.loss.max(1)))).ok()
    }
}

impl Default for Gamma {
    fn default() -> Self {
        Self::minus_ppm(20)
    }
}

impl FromStr for Gamma {
    type Err = GammaError;

    fn from_str(text: &str) -> Result<Self, GammaError> {
        let factor: f64 = text.trim().parse().map_err(|_| GammaError(text.into()))?;
        if !(0.0..1.0).contains(&factor) {
            return Err(GammaError(text.into()));
        }
        Ok(Self::from_factor(factor))
    }
}

impl fmt::Display for Gamma {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Nine digits tell 1 - 1e-6 from 1 - 2e-6 and hide the binary fraction.
        let text = format!("{:.9}", self.factor());
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

impl Serialize for Gamma {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64((self.factor() * 1e12).round() / 1e12)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lead_is_gone_exactly_when_it_says() {
        for gamma in ["0", "0.5", "0.99", "0.99998", "0.999999"] {
            let gamma: Gamma = gamma.parse().unwrap();
            for lead in [1, 2, 17, 230_000] {
                let gone = gamma.time_to_lose(lead).unwrap();
                let parts = u128::from(lead) << 64;
                assert!(gamma.lost_over(gone) >= parts, "{gamma} {lead}");
                assert!(gamma.lost_over(gone - 1) < parts, "{gamma} {lead}");
            }
        }
    }

    #[test]
    fn out_of_range_says_so() {
        for text in ["1", "-0.1", "nan", "inf", "", "0,9"] {
            assert!(text.parse::<Gamma>().is_err(), "{text}");
        }
        assert_eq!(Gamma::default().to_string(), "0.99998");
    }
}
