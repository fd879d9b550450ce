//! Values of options with their units.

use std::str::FromStr;

/// Nanoseconds, written with a unit: `5us`, `1.5ms`, `60s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Time(pub(crate) f64);

/// A deviation of rates, written with a unit: `20ppm`, `5ppb`, `1%`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate(pub(crate) f64);

/// A part of a whole: `20%`, `0.2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share(pub(crate) f64);

/// A whole number, also written as `1e7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) u64);

/// Rows and columns: `4x5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid(pub(crate) u32, pub(crate) u32);

/// One clock that is off: `8:1ms`, `8:-1ms`, `8:50ppm`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wrong {
    pub(crate) rank: u32,
    pub(crate) by: Off,
}

/// How a clock is off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Off {
    /// Nanoseconds ahead.
    Ahead(f64),
    /// Too fast by this part.
    Fast(f64),
}

const TIMES: [(&str, f64); 5] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
];
const RATES: [(&str, f64); 3] = [("ppm", 1e-6), ("ppb", 1e-9), ("%", 1e-2)];
/// A hundred days: beyond, nanoseconds lose their meaning in the arithmetic.
const LONGEST: f64 = 8.64e15;

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong =
            || format!("\"{text}\" is no time: write a number with ns, us, ms or s, such as 5us");
        let time = quantity(text, &TIMES).ok_or_else(wrong)?;
        if time > LONGEST {
            return Err(format!("\"{text}\" is longer than a hundred days"));
        }
        Ok(Self(time))
    }
}

/// A share, plain or as a [`Rate`]; as decimal as it was written: 100 times 1e-6 is not
/// 1e-4.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) => Ok(share),
        Err(_) => Ok((text.parse::<Rate>()?.0 * 1e15).round() / 1e15),
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong =
            || format!("\"{text}\" is no rate: write a number with ppm, ppb or %, such as 20ppm");
        let rate = quantity(text, &RATES).ok_or_else(wrong)?;
        if rate >= 0.5 {
            return Err(format!(
                "\"{text}\" is half of the time or more; no clock is so wrong"
            ));
        }
        Ok(Self(rate))
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (digits, whole) = text
            .strip_suffix('%')
            .map_or((text, 1.0), |digits| (digits, 100.0));
        let part = digits.trim_end().parse::<f64>().ok();
        let part = part.map(|part| part / whole);
        part.filter(|part| (0.0..=1.0).contains(part))
            .map(Self)
            .ok_or_else(|| format!("\"{text}\" is no part of a whole: write 20% or 0.2"))
    }
}

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(exact) = text.parse() {
            return Ok(Self(exact));
        }
        match text.parse::<f64>() {
            Ok(number) if (0.0..1e18).contains(&number) && number.fract() == 0.0 => {
                Ok(Self(number as u64))
            }
            _ => Err(format!(
                "\"{text}\" is no whole number such as 1000000 or 1e6"
            )),
        }
    }
}

impl FromStr for Grid {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let size = |text: &str| text.parse::<u32>().ok().filter(|&size| size > 0);
        let sizes = text.split_once('x');
        sizes
            .and_then(|(rows, columns)| Some(Self(size(rows)?, size(columns)?)))
            .ok_or_else(|| format!("\"{text}\" is no grid: write rows and columns such as 4x5"))
    }
}

impl FromStr for Wrong {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || {
            format!(
                "\"{text}\" names no wrong clock: write rank and error such as 8:1ms, 8:-1ms or 8:50ppm"
            )
        };
        let (rank, value) = text.split_once(':').ok_or_else(wrong)?;
        let rank = rank.parse().map_err(|_| wrong())?;
        let (sign, size) = match value.strip_prefix('-') {
            Some(size) => (-1.0, size),
            None => (1.0, value.strip_prefix('+').unwrap_or(value)),
        };
        let ahead = size.parse().map(|Time(time)| Off::Ahead(sign * time));
        let by = ahead.or_else(|_| size.parse().map(|Rate(rate)| Off::Fast(sign * rate)));
        Ok(Self {
            rank,
            by: by.map_err(|_| wrong())?,
        })
    }
}

/// A number with one of these units; zero needs none.
fn quantity(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    if text == "0" {
        return Some(0.0);
    }
    units.iter().find_map(|(unit, factor)| {
        let digits = text.strip_suffix(unit)?.trim_end();
        if !digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
            return None;
        }
        let number: f64 = digits.parse().ok()?;
        number.is_finite().then_some(number * factor)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_carry_units() {
        assert_eq!("5us".parse(), Ok(Time(5_000.0)));
        assert_eq!("1.5 ms".parse(), Ok(Time(1_500_000.0)));
        assert_eq!("0".parse(), Ok(Time(0.0)));
        assert_eq!("20ppm".parse(), Ok(Rate(20.0 * 1e-6)));
        assert_eq!("20%".parse(), Ok(Share(0.2)));
        assert_eq!("0.3".parse(), Ok(Share(0.3)));
        assert_eq!("1e7".parse(), Ok(Count(10_000_000)));
        assert_eq!("18446744073709551615".parse(), Ok(Count(u64::MAX)));
        assert_eq!("4x5".parse(), Ok(Grid(4, 5)));
        let wrong = |by| Ok(Wrong { rank: 8, by });
        assert_eq!("8:1ms".parse(), wrong(Off::Ahead(1e6)));
        assert_eq!("8:-1ms".parse(), wrong(Off::Ahead(-1e6)));
        assert_eq!("8:+5ppb".parse(), wrong(Off::Fast(5.0 * 1e-9)));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "", "5", "us", "-5us", "5min", "inf s", "nans", "1e300s", "9e15s",
        ] {
            assert!(text.parse::<Time>().is_err(), "{text}");
        }
        for text in ["", "5", "5us", "60%", "-1ppm"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
        for text in ["", "%", "-1%", "101%", "1.5", "nan"] {
            assert!(text.parse::<Share>().is_err(), "{text}");
        }
        for text in ["", "1.5", "-1", "1e30", "nan"] {
            assert!(text.parse::<Count>().is_err(), "{text}");
        }
        for text in ["4", "0x4", "4x", "4x5x6"] {
            assert!(text.parse::<Grid>().is_err(), "{text}");
        }
        for text in ["8", "a:1ms", "8:", "8:--1ms", "8:5"] {
            assert!(text.parse::<Wrong>().is_err(), "{text}");
        }
    }
}
