//! The commands for other programs, in their own process: what they take and refuse, what
//! they do and report is that of the command `retime`, since it is the same code; but
//! nothing is printed.
//!
//! ```text
//! Call: words --> parsed --> ask      does it: Answer with the report
//!                        \-> Study    an analysed, maybe corrected trace in memory
//! ```
//!
//! Each takes a [`Call`], whose words are a command line, and whose watcher hears of
//! progress and says when to stop. Several may be under way at a time.

mod answer;
mod failure;
mod json;
mod options;
mod study;
mod summary;

pub use crate::call::{Call, Watch};
pub use crate::collectives::{CollectiveFacts, CollectiveRow, CollectiveRows};
pub use answer::{Answer, ask};
pub use failure::{Failure, FailureKind};
pub use options::{OptionHelp, filter_options, options};
pub use study::{Study, UnusedKind};
pub use summary::{Standing, Summary};

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use retime::TraceInfo;
use retime::format::Trace;

use crate::command_line::{self, Cli, Command};
use crate::error::CliError;
use crate::formats::{self, FormatName, RankFrom};
use crate::{call, load};

/// The format in which a trace is read.
#[derive(Clone, Copy, Debug, Default)]
pub enum AskedFormat<'a> {
    /// The one that its path shows.
    #[default]
    Shown,
    /// The one of this name.
    Named(&'a str),
    /// Profiles of a training job whose ranks this regular expression takes from their paths.
    RankFrom(&'a str),
}

impl AskedFormat<'_> {
    fn format(self) -> Result<Option<FormatName>, CliError> {
        match self {
            Self::Shown => Ok(None),
            Self::Named(name) => {
                let format = FormatName::from_str(name, false).map_err(|_| {
                    let known = formats::names();
                    CliError::Usage(format!("there is no such format; formats are {known}"))
                })?;
                Ok(Some(format))
            }
            Self::RankFrom(pattern) => {
                let ranks: Result<RankFrom, _> = pattern.parse();
                let ranks = ranks.map_err(|error| CliError::Usage(error.to_string()))?;
                Ok(Some(ranks.format()))
            }
        }
    }
}

/// Opens a trace; `others` are further files of it, where a format takes several.
pub fn open(
    path: &Path,
    others: &[PathBuf],
    asked: AskedFormat<'_>,
) -> Result<Box<dyn Trace>, Failure> {
    let failed = |error| Failure::of(&error, &[]);
    let format = asked.format().map_err(failed)?;
    let format = formats::of(path, format).map_err(failed)?;
    let opened = if others.is_empty() {
        formats::open(path, format, None, false)
    } else {
        formats::open_files(path, others, format)
    };
    opened.map_err(failed)
}

/// Describes a trace; where its format cannot do so at once, its events are read for it.
pub fn describe(trace: &dyn Trace, call: Call) -> Result<TraceInfo, Failure> {
    call::within(call, || {
        load::with_threads(None, || load::describe(trace, true))
            .map_err(|error| Failure::of(&error, &[]))
    })
}

/// Does `work` on as many threads as there are cores, for a call.
pub fn in_parallel<T: Send>(call: Call, work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    call::within(call, || {
        load::with_threads(None, || Ok(work())).map_err(|error| Failure::of(&error, &[]))
    })
}

/// The command that the words of a call stand for.
fn parsed(call: &Call) -> Result<Command, Failure> {
    let words = std::iter::once(OsStr::new("retime")).chain(call.words.iter().map(AsRef::as_ref));
    Ok(command_line::parsed::<Cli>(words)
        .map_err(|error| Failure::of_words(&error))?
        .command)
}
