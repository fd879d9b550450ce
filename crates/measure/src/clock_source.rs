//! Clocks of the operating system.

use std::str::FromStr;

use retime_model::Timestamp;
use rustix::time::{ClockId, clock_gettime};

/// A clock that can be measured. Its ticks are nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockSource {
    /// `CLOCK_MONOTONIC`, which most tracers and the steady clocks of languages read. NTP
    /// steers its rate.
    #[default]
    Monotonic,
    /// `CLOCK_MONOTONIC_RAW`, which nothing steers.
    MonotonicRaw,
    /// `CLOCK_REALTIME`, the time of day. It may be set while a program runs.
    Realtime,
}

/// No clock has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{name}\" is no clock; give monotonic, monotonic_raw or realtime")]
pub struct UnknownClock {
    name: String,
}

impl ClockSource {
    /// The name of the clock, as [`FromStr`] takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Monotonic => "monotonic",
            Self::MonotonicRaw => "monotonic_raw",
            Self::Realtime => "realtime",
        }
    }

    /// The time that the clock shows; 0 before 1970.
    pub fn now(self) -> Timestamp {
        let clock = match self {
            Self::Monotonic => ClockId::Monotonic,
            Self::MonotonicRaw => ClockId::MonotonicRaw,
            Self::Realtime => ClockId::Realtime,
        };
        let time = clock_gettime(clock);
        let ns = time.tv_sec.saturating_mul(1_000_000_000) + time.tv_nsec;
        Timestamp(u64::try_from(ns).unwrap_or(0))
    }
}

impl FromStr for ClockSource {
    type Err = UnknownClock;

    fn from_str(name: &str) -> Result<Self, UnknownClock> {
        let all = [Self::Monotonic, Self::MonotonicRaw, Self::Realtime];
        let found = all.into_iter().find(|it| it.name() == name);
        found.ok_or_else(|| UnknownClock {
            name: name.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_there_and_back() {
        for name in ["monotonic", "monotonic_raw", "realtime"] {
            let clock: ClockSource = name.parse().unwrap();
            assert_eq!(clock.name(), name);
            assert!(clock.now() <= clock.now(), "{name}");
        }
        let error = "tsc".parse::<ClockSource>().unwrap_err().to_string();
        assert!(
            error.starts_with("\"tsc\" is no clock; give mono"),
            "{error}"
        );
    }
}
