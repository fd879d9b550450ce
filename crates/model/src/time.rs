//! Points in time, spans and rates, all in whole ticks of the trace.
//!
//! A trace stamps events with unsigned 64-bit tick counts. [`Timestamp`] is
//! such a stamp, [`Ticks`] a signed span between two of them, [`TickRate`] how
//! many ticks make a second. A [`Delay`] is what a user writes (`"2us"`,
//! `"3ticks"`) before the rate of the trace is known. Seconds appear only when
//! something is printed.
//!
//! ```
//! use retime_model::{Delay, TickRate, Ticks};
//! let rate = TickRate::per_second(1_000_000).unwrap();
//! // A bound given in time is rounded up to whole ticks, never down.
//! assert_eq!("1500ns".parse::<Delay>()?.to_ticks(rate), Some(Ticks(2)));
//! assert_eq!("3ticks".parse::<Delay>()?.to_ticks(rate), Some(Ticks(3)));
//! assert_eq!(rate.format(Ticks(1_500)), "1.5 ms");
//! # Ok::<(), retime_model::ParseDelayError>(())
//! ```

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::packed_fields;

/// A point in time on some clock: ticks since that clock's zero.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(pub u64);

packed_fields!(Timestamp { 0: u64 });
packed_fields!(Ticks { 0: i64 });

impl Timestamp {
    /// How many ticks it lies after another one: as it is told, after what the files of a
    /// trace [call 0](crate::format::Trace::zero).
    ///
    /// ```
    /// use retime_model::Timestamp;
    ///
    /// assert_eq!(Timestamp(70).after(Timestamp(100)), -30);
    /// assert_eq!(Timestamp(u64::MAX).after(Timestamp(0)), u64::MAX.into());
    /// ```
    pub fn after(self, zero: Self) -> i128 {
        i128::from(self.0) - i128::from(zero.0)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A span of time in ticks of the trace; negative where an effect is stamped
/// before its cause.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Ticks(pub i64);

impl fmt::Display for Ticks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Ticks per second of a trace, kept exactly (2,095,197,216 is a real one).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TickRate(NonZeroU64);

const PICOSECONDS_PER_SECOND: u128 = 1_000_000_000_000;

impl TickRate {
    /// A tick of a nanosecond.
    pub const NANOSECONDS: Self = Self(NonZeroU64::MIN.saturating_add(999_999_999));

    /// A rate of `ticks` per second; `None` for zero.
    pub const fn per_second(ticks: u64) -> Option<Self> {
        match NonZeroU64::new(ticks) {
            Some(rate) => Some(Self(rate)),
            None => None,
        }
    }

    /// Ticks in one second.
    pub const fn get(self) -> u64 {
        self.0.get()
    }

    /// The span in seconds, for output only.
    pub fn seconds(self, span: Ticks) -> f64 {
        span.0 as f64 / self.get() as f64
    }

    /// The span with a unit fit for reading: `"312 ns"`, `"-4.71 us"`, `"2.5 s"`.
    pub fn format(self, span: Ticks) -> String {
        format_seconds(self.seconds(span))
    }
}

/// Seconds with a unit fit for reading, three significant digits. The unit is that of the rounded
/// number, so that what is next to a second reads `1 s` and not `1000 ms`.
pub fn format_seconds(seconds: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e9, "ns"), (1e6, "us"), (1e3, "ms"), (1.0, "s")];
    if seconds == 0.0 {
        return "0 s".into();
    }
    let rounded = |&(per_second, unit): &(f64, &'static str)| {
        let scaled = seconds * per_second;
        let decimals = match scaled.abs() {
            size if size < 10.0 => 2,
            size if size < 100.0 => 1,
            _ => 0,
        };
        (scaled, decimals, unit)
    };
    let fits = |&(scaled, _, unit): &(f64, usize, &str)| scaled.abs() < 999.5 || unit == "s";
    let found = UNITS.iter().map(rounded).find(fits);
    let (scaled, decimals, unit) = found.unwrap_or((seconds, 0, "s"));
    let text = format!("{scaled:.decimals$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    format!("{text} {unit}")
}

/// A span as a user gives it: in ticks, or in time of any unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// Whole ticks of the trace.
    Ticks(u64),
    /// Picoseconds, whatever the tick of the trace is.
    Picoseconds(u128),
}

impl Delay {
    /// The span in ticks of `rate`, rounded up; `None` if it does not fit.
    pub fn to_ticks(self, rate: TickRate) -> Option<Ticks> {
        match self {
            Self::Ticks(ticks) => i64::try_from(ticks).ok().map(Ticks),
            Self::Picoseconds(ps) => {
                let ticks = ps
                    .checked_mul(u128::from(rate.get()))?
                    .div_ceil(PICOSECONDS_PER_SECOND);
                i64::try_from(ticks).ok().map(Ticks)
            }
        }
    }
}

/// Why a text is no [`Delay`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseDelayError {
    /// No unit follows the number.
    #[error("\"{0}\" lacks a unit: write for example 2us, 500ns, 1.5ms or 3ticks")]
    MissingUnit(String),
    /// The unit is not known.
    #[error("unknown unit \"{unit}\" in \"{text}\": use ps, ns, us, ms, s or ticks")]
    UnknownUnit {
        /// The text that was given.
        text: String,
        /// The part that is no unit.
        unit: String,
    },
    /// Less than nothing.
    #[error("\"{0}\" is negative; a span of time, such as a delay, is 0 or more")]
    Negative(String),
    /// The part before the unit is no number that can be used.
    #[error(
        "\"{0}\" does not start with a number of zero or more (digits, with a decimal point at most)"
    )]
    BadNumber(String),
}

impl FromStr for Delay {
    type Err = ParseDelayError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let trimmed = text.trim();
        let after_minus = trimmed.strip_prefix('-');
        if after_minus.is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit() || c == '.')) {
            return Err(ParseDelayError::Negative(text.into()));
        }
        let split = trimmed
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(split);
        let bad_number = || ParseDelayError::BadNumber(text.into());
        if number.is_empty() {
            return Err(bad_number());
        }
        let exponent = match unit.trim() {
            "" if number == "0" => return Ok(Self::Ticks(0)),
            "" => return Err(ParseDelayError::MissingUnit(text.into())),
            "tick" | "ticks" => return number.parse().map(Self::Ticks).map_err(|_| bad_number()),
            "ps" => 0,
            "ns" => 3,
            "us" | "µs" | "μs" => 6,
            "ms" => 9,
            "s" => 12,
            unit => {
                return Err(ParseDelayError::UnknownUnit {
                    text: text.into(),
                    unit: unit.into(),
                });
            }
        };
        decimal_times_power_of_ten(number, exponent)
            .map(Self::Picoseconds)
            .ok_or_else(bad_number)
    }
}

/// `number * 10^exponent` rounded up to an integer, without going through floats.
fn decimal_times_power_of_ten(number: &str, exponent: usize) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let kept: String = fraction.chars().take(exponent).collect();
    let rounds_up = fraction.chars().skip(exponent).any(|digit| digit != '0');
    format!("{whole}{kept:0<exponent$}")
        .parse::<u128>()
        .ok()?
        .checked_add(u128::from(rounds_up))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(text: &str, rate: u64) -> Option<i64> {
        let rate = TickRate::per_second(rate).unwrap();
        text.parse::<Delay>().unwrap().to_ticks(rate).map(|t| t.0)
    }

    #[test]
    fn delays_round_up_to_whole_ticks() {
        assert_eq!(ticks("2us", 1_000_000_000), Some(2_000));
        assert_eq!(ticks("0.0005ns", 1_000_000_000_000), Some(1));
        assert_eq!(ticks("1us", 2_095_197_216), Some(2_096));
        assert_eq!(ticks("1.25 ms", 1_000), Some(2));
        assert_eq!(ticks("0", 7), Some(0));
        assert_eq!(ticks("99999999999s", u64::MAX), None);
    }

    #[test]
    fn bad_delays_say_why() {
        let message = |text: &str| text.parse::<Delay>().unwrap_err().to_string();
        assert_eq!(
            message("2"),
            "\"2\" lacks a unit: write for example 2us, 500ns, 1.5ms or 3ticks"
        );
        assert_eq!(
            message("2min"),
            "unknown unit \"min\" in \"2min\": use ps, ns, us, ms, s or ticks"
        );
        assert_eq!(
            message("-2us"),
            "\"-2us\" is negative; a span of time, such as a delay, is 0 or more"
        );
        for text in ["", "-us", "us", "1.2.3us", ".us", "1.5ticks"] {
            assert!(
                matches!(text.parse::<Delay>(), Err(ParseDelayError::BadNumber(_))),
                "{text}"
            );
        }
    }

    #[test]
    fn spans_print_with_a_fitting_unit() {
        for (seconds, text) in [
            (0.0, "0 s"),
            (176e-9, "176 ns"),
            (-4.712e-6, "-4.71 us"),
            (0.0675, "67.5 ms"),
            (12.0, "12 s"),
            (1234.5, "1234 s"),
            (999.4e-3, "999 ms"),
            (999.986e-3, "1 s"),
            (-999.7e-6, "-1 ms"),
            (999.9e-9, "1 us"),
            (9.996e-3, "10 ms"),
        ] {
            assert_eq!(format_seconds(seconds), text);
        }
    }
}
