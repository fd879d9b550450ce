//! The files of a trace, from opening it to the last byte of its copy.
//!
//! A format that keeps a trace in ordinary files needs of each of them: is it still the one
//! that was opened, copy it, and give a copy what it has of the original.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::error::FormatError;
use crate::copy::{copy_file, resemble};
use crate::log::LogError;
use crate::modified::Modified;
use crate::monitor::Monitor;
use crate::printable::printable_path;
use crate::version::Version;

/// Files as they were when a trace was opened.
#[derive(Debug)]
pub struct OpenedFiles {
    paths: Vec<PathBuf>,
    found: Vec<Metadata>,
}

/// Why a file could not be read, written or restored, whatever its format.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The system refused.
    #[error("{}: {source}", printable_path(path))]
    Io {
        /// The file.
        path: PathBuf,
        /// The answer of the system.
        source: io::Error,
    },
    /// A file is not what it was when it was opened.
    #[error(
        "{}: changed while it was being read; run this again once nothing writes to it any more",
        printable_path(path)
    )]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The events of a location make no log.
    #[error("{}: {source}", printable_path(path))]
    Log {
        /// The file.
        path: PathBuf,
        /// The contradiction among the events.
        source: LogError,
    },
    /// The file is not the one that the caller speaks of.
    #[error("{}: {what}", printable_path(path))]
    Inconsistent {
        /// The file, or the directory of several.
        path: PathBuf,
        /// The fact that does not fit.
        what: String,
    },
    /// The original cannot be restored.
    #[error("{}: cannot be restored: {why}", printable_path(path))]
    NotRestorable {
        /// The corrected file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

impl FileError {
    /// The system refused something about a file.
    pub fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            source,
        }
    }

    /// The events of a location of a file make no log.
    pub fn log(path: &Path, source: LogError) -> Self {
        Self::Log {
            path: path.to_owned(),
            source,
        }
    }

    /// The file is not the one that the caller speaks of, as `what` shows.
    pub fn inconsistent(path: &Path, what: impl Into<String>) -> Self {
        Self::Inconsistent {
            path: path.to_owned(),
            what: what.into(),
        }
    }

    /// The original of a corrected file cannot be restored.
    pub fn not_restorable(path: &Path, why: impl Into<String>) -> Self {
        Self::NotRestorable {
            path: path.to_owned(),
            why: why.into(),
        }
    }
}

impl From<FileError> for FormatError {
    fn from(error: FileError) -> Self {
        Self::failed(error)
    }
}

/// A copy of a file, written but for its access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written<T> {
    /// The result of writing it.
    pub outcome: T,
    /// The time of modification that belongs to its content, if that is an older one.
    pub modified: Option<Modified>,
}

impl OpenedFiles {
    /// Notes what is found at the paths.
    ///
    /// # Errors
    ///
    /// Where nothing is found, or the system refuses.
    pub fn open(paths: Vec<PathBuf>) -> Result<Self, FileError> {
        let found = paths.iter().map(|path| {
            let found = fs::metadata(path);
            found.map_err(|source| FileError::io(path, source))
        });
        Ok(Self {
            found: found.collect::<Result<_, _>>()?,
            paths,
        })
    }

    /// The paths, as given.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// The paths, each with the bytes of its file.
    pub fn sizes(&self) -> Vec<(PathBuf, u64)> {
        let sizes = self.paths.iter().cloned().zip(&self.found);
        sizes.map(|(path, found)| (path, found.len())).collect()
    }

    /// The bytes of all of them.
    pub fn bytes(&self) -> u64 {
        self.found.iter().map(Metadata::len).sum()
    }

    /// The time when a file was modified, if the system knows it.
    pub fn modified(&self, number: usize) -> Option<Modified> {
        self.found.get(number).and_then(Modified::of)
    }

    /// The outcome of reading, unless a file is no longer what it was when it was opened: then
    /// results of different times may not belong together.
    ///
    /// # Errors
    ///
    /// [`FileError::Changed`]; the outcome's own error before that of a file that is gone.
    pub fn unless_changed<T>(&self, outcome: Result<T, FormatError>) -> Result<T, FormatError> {
        for (path, found) in self.paths.iter().zip(&self.found) {
            match fs::metadata(path).map(|now| Version::of(&now) == Version::of(found)) {
                Ok(true) => {}
                Ok(false) => {
                    let path = path.clone();
                    return Err(FileError::Changed { path }.into());
                }
                Err(source) => return outcome.and(Err(FileError::io(path, source).into())),
            }
        }
        outcome
    }

    /// Gives the copy of a file at `to`, once it is written, the access of the original and
    /// the time that belongs to its content.
    ///
    /// # Errors
    ///
    /// Where writing failed, or the system refuses.
    pub fn resembled<T>(
        &self,
        number: usize,
        to: &Path,
        written: Result<Written<T>, FormatError>,
    ) -> Result<T, FormatError> {
        let Written { outcome, modified } = written?;
        if let (Some(path), Some(found)) = (self.paths.get(number), self.found.get(number)) {
            let given = resemble(found, path, to, modified);
            given.map_err(|source| FileError::io(to, source))?;
        }
        Ok(outcome)
    }

    /// Copies a file byte for byte to a new one at `to`, with its access and time.
    ///
    /// # Errors
    ///
    /// Where the system refuses, or `monitor` says to stop.
    pub fn copy(&self, number: usize, to: &Path, monitor: &dyn Monitor) -> Result<(), FormatError> {
        let failed = |path: &Path, source| FormatError::from(FileError::io(path, source));
        let Some(path) = self.paths.get(number) else {
            return Ok(());
        };
        let copied = copy_file(path, to, monitor, failed);
        let written = copied.map(|()| Written {
            outcome: (),
            modified: self.modified(number),
        });
        self.resembled(number, to, written)
    }
}
