//! `--min-distance`: given, or from a file.
//!
//! A file has one distance per line, with the location id it holds for; `*` is any location that
//! has no line, `#` starts a comment:
//!
//! ```text
//! # location  distance
//! *           1ns
//! 3           20ns
//! ```

use std::path::Path;
use std::str::FromStr;

use retime::{MinimalDistance, ParseDelayError, Ticks, TraceInfo};

use super::controller::to_ticks;
use crate::error::CliError;
use crate::lines::{lines, location_or_any};
use crate::value_or_file::{ValueOrFile, read_text};

/// The least time between successive events, as the option says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MinDistance(ValueOrFile);

impl FromStr for MinDistance {
    type Err = ParseDelayError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl MinDistance {
    /// For the locations of a trace.
    pub(super) fn resolve(&self, info: &TraceInfo) -> Result<MinimalDistance, CliError> {
        match &self.0 {
            ValueOrFile::Value(distance) => Ok(to_ticks(*distance, info.rate)?.into()),
            ValueOrFile::File(path) => read_table(path, info),
        }
    }
}

fn read_table(path: &Path, info: &TraceInfo) -> Result<MinimalDistance, CliError> {
    let neither = "a value with a unit such as 1ns";
    let text = read_text("--min-distance", neither, path)?;
    let mut of_others = Ticks(0);
    let mut own: Vec<Option<Ticks>> = vec![None; info.locations.len()];
    for line in lines(path, &text) {
        let [whose, distance] = line.words("LOCATION DISTANCE")?;
        let distance = to_ticks(line.span(distance)?, info.rate)?;
        match location_or_any(whose, info).map_err(|what| line.wrong(what))? {
            None => of_others = distance,
            Some(location) => {
                if let Some(own) = own.get_mut(location.as_usize()) {
                    *own = Some(distance);
                }
            }
        }
    }
    let all: Vec<Ticks> = own.iter().map(|it| it.unwrap_or(of_others)).collect();
    Ok(all.into())
}
