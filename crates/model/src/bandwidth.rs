//! How many bytes a network takes in a second.
//!
//! ```
//! use retime_model::{Bandwidth, Length, TickRate, Ticks};
//! let bandwidth: Bandwidth = "1.5GB/s".parse()?;
//! // 3 MB take 2 ms; part of a tick is no tick.
//! let ticks = |bytes| bandwidth.ticks(Length::of(bytes), TickRate::NANOSECONDS);
//! assert_eq!((ticks(3_000_000), ticks(1)), (Ticks(2_000_000), Ticks(0)));
//! // Nothing is known of what has no length.
//! assert_eq!(bandwidth.ticks(Length::UNKNOWN, TickRate::NANOSECONDS), Ticks(0));
//! # Ok::<(), retime_model::ParseBandwidthError>(())
//! ```

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::log::Length;
use crate::time::{TickRate, Ticks};

/// Bytes per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bandwidth(NonZeroU64);

impl Bandwidth {
    /// So many bytes per second; `None` for zero.
    pub const fn per_second(bytes: u64) -> Option<Self> {
        match NonZeroU64::new(bytes) {
            Some(bytes) => Some(Self(bytes)),
            None => None,
        }
    }

    /// Bytes in one second.
    pub const fn get(self) -> u64 {
        self.0.get()
    }

    /// The ticks that a message of this length takes besides the latency, rounded down; 0 if
    /// nothing tells its length.
    #[inline]
    pub fn ticks(self, length: Length, rate: TickRate) -> Ticks {
        if !length.is_known() {
            return Ticks(0);
        }
        let ticks = u128::from(length.number()) * u128::from(rate.get()) / u128::from(self.get());
        Ticks(ticks.min(LONGEST) as i64)
    }
}

/// So long no message takes; and no sum with it overflows.
const LONGEST: u128 = 1 << 60;

/// The values of units, the largest that fits first.
const UNITS: [(&str, u64); 7] = [
    ("GB/s", 1_000_000_000),
    ("MB/s", 1_000_000),
    ("kB/s", 1_000),
    ("GiB/s", 1 << 30),
    ("MiB/s", 1 << 20),
    ("KiB/s", 1 << 10),
    ("B/s", 1),
];

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimal = UNITS.iter().take(3).find(|it| self.get() >= it.1);
        let (unit, bytes) = decimal.unwrap_or(&("B/s", 1));
        let text = format!("{:.2}", self.get() as f64 / *bytes as f64);
        let text = text.trim_end_matches('0').trim_end_matches('.');
        write!(f, "{text} {unit}")
    }
}

/// Why a text is no [`Bandwidth`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseBandwidthError {
    /// The unit is missing or not known.
    #[error(
        "\"{0}\" ends with no unit of a bandwidth: use B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s or GiB/s"
    )]
    Unit(String),
    /// The part before the unit is no number that can be used.
    #[error(
        "\"{0}\" is no bandwidth: give a number of bytes, at least one per second, such as 12.5GB/s"
    )]
    BadNumber(String),
}

impl FromStr for Bandwidth {
    type Err = ParseBandwidthError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let trimmed = text.trim();
        let split = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.'));
        let (number, unit) = trimmed.split_at(split.unwrap_or(trimmed.len()));
        let unit = UNITS.iter().find(|it| it.0 == unit.trim());
        let (_, bytes) = unit.ok_or_else(|| ParseBandwidthError::Unit(text.into()))?;
        let whole = decimal_times(number, *bytes).and_then(Self::per_second);
        whole.ok_or_else(|| ParseBandwidthError::BadNumber(text.into()))
    }
}

/// `number * factor` rounded down, without going through floats.
fn decimal_times(number: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    // More digits than this make no difference to any bandwidth.
    let parts: u128 = digits.parse().ok()?;
    let scale = 10_u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    u64::try_from(parts.checked_mul(factor.into())? / scale).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bandwidths_are_read_exactly() {
        let bytes = |text: &str| text.parse().map(Bandwidth::get);
        assert_eq!(bytes("1.5GB/s"), Ok(1_500_000_000));
        assert_eq!(bytes("64 KiB/s"), Ok(65_536));
        assert_eq!(bytes(".5kB/s"), Ok(500));
        for text in ["1GB", "1Gb/s", "GB", "1"] {
            assert!(
                matches!(bytes(text), Err(ParseBandwidthError::Unit(_))),
                "{text}"
            );
        }
        for text in [
            "0B/s",
            "0.4B/s",
            "1.2.3kB/s",
            "B/s",
            "99999999999999999999GB/s",
            "-1B/s",
        ] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn they_are_told_in_the_largest_unit() {
        let told = |bytes| Bandwidth::per_second(bytes).map(|it| it.to_string());
        assert_eq!(told(12_500_000_000), Some("12.5 GB/s".into()));
        assert_eq!(told(999), Some("999 B/s".into()));
        assert_eq!(told(1_000), Some("1 kB/s".into()));
    }

    #[test]
    fn long_messages_over_thin_wires_overflow_nothing() {
        let thin = Bandwidth::per_second(1).unwrap();
        let fast = TickRate::per_second(u64::MAX).unwrap();
        assert_eq!(thin.ticks(Length::of(u64::MAX), fast), Ticks(1 << 60));
    }
}
