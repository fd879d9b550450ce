//! What the environment asks for.

use std::path::PathBuf;

use retime_measure::ClockSource;
use retime_model::{Delay, ParseDelayError};

/// The clock that rides along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RidingClock {
    Simple,
    Controlled,
}

/// The clock that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MeasuredClock {
    System(ClockSource),
    Counter,
}

/// All variables that begin with `RETIME_`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub(crate) offsets_file: PathBuf,
    /// Seconds between measurements at collective operations; none if not asked for.
    pub(crate) offsets_every: Option<u32>,
    pub(crate) measured: MeasuredClock,
    pub(crate) riding: Option<RidingClock>,
    /// True if offsets measured at the start are added to the clock that rides along.
    pub(crate) adds_offsets: bool,
    pub(crate) min_delay: Delay,
    pub(crate) events: Option<PathBuf>,
}

/// A variable of the environment that says nothing that can be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongSetting(String);

impl std::fmt::Display for WrongSetting {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for WrongSetting {}

fn wrong(name: &str, value: &str, allowed: &str) -> WrongSetting {
    WrongSetting(format!("{name}={value}: give {allowed}"))
}

impl Settings {
    /// The settings of the variables, of which `value` gives each by its name; empty is not set.
    ///
    /// # Errors
    ///
    /// The first variable that says nothing that can be done.
    pub fn new(value: impl Fn(&str) -> Option<String>) -> Result<Self, WrongSetting> {
        let value = |name: &str| value(name).filter(|it| !it.is_empty());
        let riding = match value("RETIME_CLOCK").as_deref() {
            None => None,
            Some("simple") => Some(RidingClock::Simple),
            Some("controlled") => Some(RidingClock::Controlled),
            Some(other) => return Err(wrong("RETIME_CLOCK", other, "simple or controlled")),
        };
        let events = value("RETIME_EVENTS").map(PathBuf::from);
        if events.is_some() && riding.is_none() {
            let message = "RETIME_EVENTS needs the clock that rides along: give RETIME_CLOCK=simple or controlled too";
            return Err(WrongSetting(message.to_owned()));
        }
        let file = value("RETIME_OFFSETS_FILE");
        Ok(Self {
            offsets_file: file
                .unwrap_or_else(|| "retime-offsets.txt".to_owned())
                .into(),
            offsets_every: value("RETIME_OFFSETS_EVERY")
                .map(|it| seconds(&it))
                .transpose()?,
            measured: measured(value("RETIME_CLOCK_SOURCE"))?,
            riding,
            adds_offsets: match value("RETIME_CLOCK_OFFSETS").as_deref() {
                None | Some("measured") => true,
                Some("none") => false,
                Some(other) => {
                    return Err(wrong("RETIME_CLOCK_OFFSETS", other, "measured or none"));
                }
            },
            min_delay: min_delay(value("RETIME_MIN_DELAY"))?,
            events,
        })
    }
}

fn seconds(value: &str) -> Result<u32, WrongSetting> {
    let number = value.parse().ok().filter(|it| *it > 0);
    number.ok_or_else(|| wrong("RETIME_OFFSETS_EVERY", value, "whole seconds, from 1 on"))
}

fn measured(value: Option<String>) -> Result<MeasuredClock, WrongSetting> {
    const ALLOWED: &str = "monotonic, monotonic_raw, realtime or, on x86-64, tsc";
    match value {
        None => Ok(MeasuredClock::System(ClockSource::default())),
        Some(name) if name == "tsc" && cfg!(target_arch = "x86_64") => Ok(MeasuredClock::Counter),
        Some(name) => {
            let clock = name.parse().map(MeasuredClock::System);
            clock.map_err(|_| wrong("RETIME_CLOCK_SOURCE", &name, ALLOWED))
        }
    }
}

/// One tick, unless given: so that no effect has the time of its cause.
fn min_delay(value: Option<String>) -> Result<Delay, WrongSetting> {
    value.map_or(Ok(Delay::Ticks(1)), |value| {
        value.parse().map_err(|error: ParseDelayError| {
            WrongSetting(format!("RETIME_MIN_DELAY={value}: {error}"))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(variables: &[(&str, &str)]) -> Result<Settings, String> {
        let value = |name: &str| {
            let found = variables.iter().find(|it| it.0 == name);
            found.map(|it| it.1.to_owned())
        };
        Settings::new(value).map_err(|error| error.to_string())
    }

    #[test]
    fn nothing_set_measures_at_both_ends() {
        let settings = settings(&[("RETIME_CLOCK", "")]).unwrap();
        assert_eq!(settings.offsets_file, PathBuf::from("retime-offsets.txt"));
        assert_eq!((settings.riding, settings.offsets_every), (None, None));
        assert_eq!(
            settings.measured,
            MeasuredClock::System(ClockSource::Monotonic)
        );
    }

    #[test]
    fn what_is_wrong_names_the_variable() {
        for (variable, message) in [
            (
                ("RETIME_CLOCK", "on"),
                "RETIME_CLOCK=on: give simple or controlled",
            ),
            (
                ("RETIME_OFFSETS_EVERY", "0"),
                "RETIME_OFFSETS_EVERY=0: give whole seconds, from 1 on",
            ),
            (
                ("RETIME_CLOCK_SOURCE", "sun"),
                "RETIME_CLOCK_SOURCE=sun: give monotonic, monotonic_raw, realtime or, on x86-64, tsc",
            ),
            (
                ("RETIME_CLOCK_OFFSETS", "all"),
                "RETIME_CLOCK_OFFSETS=all: give measured or none",
            ),
            (
                ("RETIME_MIN_DELAY", "2"),
                "RETIME_MIN_DELAY=2: \"2\" lacks a unit: write for example 2us, 500ns, 1.5ms or 3ticks",
            ),
            (
                ("RETIME_EVENTS", "dir"),
                "RETIME_EVENTS needs the clock that rides along: give RETIME_CLOCK=simple or controlled too",
            ),
        ] {
            assert_eq!(settings(&[variable]), Err(message.to_owned()));
        }
    }
}
