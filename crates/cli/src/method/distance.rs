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

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use retime::{Delay, MinimalDistance, ParseDelayError, Ticks, TraceInfo, printable_path};

use super::controller::to_ticks;
use crate::error::CliError;
use crate::lines::{lines, location};
use crate::pipe;

/// The least time between successive events, as the option says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MinDistance {
    Value(Delay),
    File(PathBuf),
}

impl FromStr for MinDistance {
    type Err = ParseDelayError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let path = PathBuf::from(text);
        match text.parse() {
            Ok(distance) => Ok(Self::Value(distance)),
            // A number without a good unit is a slip, not a file.
            Err(error)
                if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') && !path.exists() =>
            {
                Err(error)
            }
            Err(_) => Ok(Self::File(path)),
        }
    }
}

impl MinDistance {
    /// For the locations of a trace.
    pub(super) fn resolve(&self, info: &TraceInfo) -> Result<MinimalDistance, CliError> {
        match self {
            Self::Value(distance) => Ok(to_ticks(*distance, info.rate)?.into()),
            Self::File(path) => read_table(path, info),
        }
    }

    /// True if it may be more than nothing.
    pub(super) fn is_given(&self) -> bool {
        let none = Delay::from_str("0ticks").map(Self::Value);
        none.as_ref() != Ok(self)
    }
}

fn read_table(path: &Path, info: &TraceInfo) -> Result<MinimalDistance, CliError> {
    let text = pipe::read_text(path).map_err(|error| match error {
        CliError::Io { source, .. } if source.kind() == ErrorKind::NotFound => {
            let message = format!(
                "--min-distance: \"{}\" is neither a value with a unit such as 1ns, nor a file",
                printable_path(path)
            );
            CliError::Usage(message)
        }
        error => error,
    })?;
    let mut of_others = Ticks(0);
    let mut own: Vec<Option<Ticks>> = vec![None; info.locations.len()];
    for line in lines(path, &text) {
        let [whose, distance] = line.words("LOCATION DISTANCE")?;
        let distance: Result<Delay, ParseDelayError> = distance.parse();
        let distance = to_ticks(distance.map_err(|error| line.wrong(error))?, info.rate)?;
        if whose == "*" {
            of_others = distance;
            continue;
        }
        let location = location(whose, info, "a number or *").map_err(|what| line.wrong(what))?;
        if let Some(own) = own.get_mut(location.as_usize()) {
            *own = Some(distance);
        }
    }
    let all: Vec<Ticks> = own.iter().map(|it| it.unwrap_or(of_others)).collect();
    Ok(all.into())
}
