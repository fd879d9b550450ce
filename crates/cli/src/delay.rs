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

use std::fs;
use std::path::Path;

use retime::estimate::learn_minimal_delay;
use retime::{Clocks, Delay, DelayTable, LocationIndex, MinimalDelay, Ticks, TraceInfo};
use serde::Serialize;

use crate::args::MinDelay;
use crate::error::CliError;
use crate::load::Loaded;

/// The minimal delay to use, and where it comes from.
pub(crate) struct ResolvedDelay {
    pub(crate) delay: MinimalDelay,
    pub(crate) source: DelaySource,
    /// Half of the fastest round trip, if clocks exchange enough to tell.
    pub(crate) half_round_trip: Option<Ticks>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DelaySource {
    Learned,
    Given,
    File,
}

/// Resolves the option for a trace.
pub(crate) fn resolve(
    option: &MinDelay,
    loaded: &Loaded,
    clocks: &Clocks,
) -> Result<ResolvedDelay, CliError> {
    let info = loaded.trace.info();
    // Learned in any case: it tells whether a given delay can be right.
    let learned = learn_minimal_delay(&loaded.causality, clocks);
    let (delay, source) = match option {
        MinDelay::Auto => (
            MinimalDelay::Uniform(learned.enforced),
            DelaySource::Learned,
        ),
        MinDelay::Value(delay) => (
            MinimalDelay::Uniform(ticks(*delay, info)?),
            DelaySource::Given,
        ),
        MinDelay::File(path) => (
            MinimalDelay::PerPair(read_table(path, info)?),
            DelaySource::File,
        ),
    };
    Ok(ResolvedDelay {
        delay,
        source,
        half_round_trip: learned.half_round_trip,
    })
}

impl ResolvedDelay {
    /// Smallest and largest delay in use.
    pub(crate) fn range(&self) -> (Ticks, Ticks) {
        match &self.delay {
            MinimalDelay::Uniform(delay) => (*delay, *delay),
            MinimalDelay::PerPair(table) => table.range().unwrap_or_default(),
        }
    }
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
    let text = fs::read_to_string(path).map_err(|error| {
        if error.kind() == std::io::ErrorKind::NotFound {
            let message = format!(
                "--min-delay: \"{}\" is neither auto, nor a value with a unit such as 2us, nor a file",
                path.display()
            );
            return CliError::Usage(message);
        }
        CliError::io(path, error)
    })?;
    let mut table = DelayTable::default();
    for (number, line) in text.lines().enumerate() {
        let content = line.split('#').next().unwrap_or_default();
        let words: Vec<&str> = content.split_whitespace().collect();
        let wrong = |what: String| CliError::input(path, format!("line {}: {what}", number + 1));
        match words[..] {
            [] => {}
            [from, to, delay] => {
                let from = location(from, info).map_err(wrong)?;
                let to = location(to, info).map_err(wrong)?;
                let delay: Delay = delay
                    .parse()
                    .map_err(|error: retime::ParseDelayError| wrong(error.to_string()))?;
                table.set(from, to, ticks(delay, info)?);
            }
            _ => {
                return Err(wrong(format!(
                    "expected \"FROM TO DELAY\", found \"{}\"",
                    content.trim()
                )));
            }
        }
    }
    Ok(table)
}

fn location(word: &str, info: &TraceInfo) -> Result<Option<LocationIndex>, String> {
    if word == "*" {
        return Ok(None);
    }
    let id: u64 = word
        .parse()
        .map_err(|_| format!("\"{word}\" is no location id; give a number or *"))?;
    let index = info.locations.iter().position(|location| location.id == id);
    let index = index.ok_or_else(|| format!("the trace has no location {id}"))?;
    Ok(Some(LocationIndex(index as u32)))
}
