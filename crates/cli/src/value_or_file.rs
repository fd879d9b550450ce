//! A span of time on the command line, or a file that has one for each of several.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use retime::{Delay, ParseDelayError, printable_path};

use crate::error::CliError;
use crate::pipe;

/// One span for all, or the file that says more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ValueOrFile {
    Value(Delay),
    File(PathBuf),
}

impl FromStr for ValueOrFile {
    type Err = ParseDelayError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let path = PathBuf::from(text);
        match text.parse() {
            Ok(span) => Ok(Self::Value(span)),
            // A number without a good unit is a slip, not a file; so is an option.
            Err(error)
                if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') && !path.exists() =>
            {
                Err(error)
            }
            Err(_) => Ok(Self::File(path)),
        }
    }
}

/// The text of the file that an option names; `neither` says what else could have been given.
pub(crate) fn read_text(option: &str, neither: &str, path: &Path) -> Result<String, CliError> {
    pipe::read_text(path).map_err(|error| match error {
        CliError::Io { source, .. } if source.kind() == ErrorKind::NotFound => {
            let name = printable_path(path);
            CliError::Usage(format!(
                "{option}: \"{name}\" is neither {neither}, nor a file"
            ))
        }
        error => error,
    })
}
