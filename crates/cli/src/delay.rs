//! `--min-delay`: learned, given, or from a file.
//!
//! A file has one delay per line, with the location ids it holds for; `*` is
//! any location, the more specific line wins, `#` starts a comment:
//!
//! ```text
//! # from  to  delay
//! *       *   500ns
//! 0       *   1us
//! 0       3   1.5us
//! ```

use std::io::ErrorKind;
use std::path::Path;

use retime::{
    Delay, DelayTable, LocationIndex, MinimalDelay, ParseDelayError, Ticks, TraceInfo,
    printable_path,
};
use serde::Serialize;

use crate::args::MinDelay;
use crate::error::CliError;
use crate::lines::{lines, location};
use crate::pipe;

/// Where the minimal delay comes from, as reports say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DelaySource {
    Learned,
    Given,
    File,
}

impl DelaySource {
    /// True if what is faster contradicts the clocks: a learned delay is a guess.
    pub(crate) fn is_given(self) -> bool {
        self != Self::Learned
    }
}

impl From<&MinDelay> for DelaySource {
    fn from(option: &MinDelay) -> Self {
        match option {
            MinDelay::Auto => Self::Learned,
            MinDelay::Value(_) => Self::Given,
            MinDelay::File(_) => Self::File,
        }
    }
}

/// Reads the minimal delay that the option gives for a trace; `None` if it is to be learned.
pub(crate) fn given(option: &MinDelay, info: &TraceInfo) -> Result<Option<MinimalDelay>, CliError> {
    Ok(match option {
        MinDelay::Auto => None,
        MinDelay::Value(delay) => Some(MinimalDelay::Uniform(ticks(*delay, info)?)),
        MinDelay::File(path) => Some(MinimalDelay::PerPair(read_table(path, info)?)),
    })
}

/// A longer delay than a day cannot be meant, and overflows nothing.
fn ticks(delay: Delay, info: &TraceInfo) -> Result<Ticks, CliError> {
    let day = i64::try_from(info.rate.get().saturating_mul(86_400))
        .unwrap_or(i64::MAX)
        .min(1 << 60);
    let ticks = delay.to_ticks(info.rate).filter(|ticks| ticks.0 <= day);
    ticks.ok_or_else(|| {
        CliError::Usage("--min-delay: longer than a day; this cannot be a minimal delay".into())
    })
}

fn read_table(path: &Path, info: &TraceInfo) -> Result<DelayTable, CliError> {
    let text = pipe::read_text(path).map_err(|error| match error {
        CliError::Io { source, .. } if source.kind() == ErrorKind::NotFound => {
            let message = format!(
                "--min-delay: \"{}\" is neither auto, nor a value with a unit such as 2us, nor a file",
                printable_path(path)
            );
            CliError::Usage(message)
        }
        error => error,
    })?;
    let mut table = DelayTable::default();
    for line in lines(path, &text) {
        let [from, to, delay] = line.words("FROM TO DELAY")?;
        let from = location_or_any(from, info).map_err(|what| line.wrong(what))?;
        let to = location_or_any(to, info).map_err(|what| line.wrong(what))?;
        let delay: Result<Delay, ParseDelayError> = delay.parse();
        let delay = delay.map_err(|error| line.wrong(error))?;
        table.set(from, to, ticks(delay, info)?);
    }
    Ok(table)
}

fn location_or_any(word: &str, info: &TraceInfo) -> Result<Option<LocationIndex>, String> {
    if word == "*" {
        return Ok(None);
    }
    location(word, info, "a number or *").map(Some)
}
