//! Why a run could not be read or written.

use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use retime_model::format::{FileError, FormatError};
use retime_model::{group_digits, printable_path};

/// Why files of a run could not be read, written or restored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KinetoError {
    /// The failure is one that files of other formats have, too.
    #[error(transparent)]
    File(#[from] FileError),
    /// The system refused somewhere in the content.
    #[error("{}: after byte {byte} of its content: {source}", printable_path(path))]
    Read {
        /// The file.
        path: PathBuf,
        /// How much was read, uncompressed.
        byte: u64,
        /// The error of the system.
        source: io::Error,
    },
    /// It is not JSON, or an event has no time that can be understood.
    #[error("{}: line {line}, byte {byte}: {what}", printable_path(path))]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The byte of the content, uncompressed, from 0.
        byte: u64,
        /// The mistake found there.
        what: String,
    },
    /// A file is called like a trace, and what is in it is nothing that anybody writes.
    #[error(
        "{}: byte {byte}: {what}; without this profile its events would be missing: restore it, or \
         move it elsewhere to leave it out",
        printable_path(path)
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The byte of the content, uncompressed, from 0.
        byte: u64,
        /// The damage found there.
        what: String,
    },
    /// Several files cannot be read.
    #[error("{}", several(directory, failures))]
    Several {
        /// Where they lie.
        directory: PathBuf,
        /// Why, of each.
        failures: Vec<KinetoError>,
    },
    /// Files do not belong to one run.
    #[error("{}: {what}", printable_path(path))]
    NotOneRun {
        /// One of them.
        path: PathBuf,
        /// The fact that speaks against one run, and the way out.
        what: String,
    },
    /// A file could not be read, as whoever has it in hands says.
    #[error("{0}")]
    Elsewhere(FormatError),
    /// Whoever works on the same run sends what nobody has asked for.
    #[error(
        "processes that work on these profiles do not understand each other; run the same \
             retime in all of them"
    )]
    Garbled,
    /// Nothing in a directory is a trace.
    #[error("{}: holds no {what}", printable_path(path))]
    NoTrace {
        /// The directory.
        path: PathBuf,
        /// A trace as it could hold, in words.
        what: &'static str,
    },
}

impl KinetoError {
    /// The system refused something about a file.
    pub(crate) fn io(path: &std::path::Path, source: io::Error) -> Self {
        FileError::io(path, source).into()
    }
}

/// How many files that cannot be read are named.
const NAMED: usize = 5;

/// Several failures, one a line.
fn several(directory: &Path, failures: &[KinetoError]) -> String {
    let mut text = format!(
        "{}: {} files cannot be read; without these profiles their events would be missing: \
         restore them, or move them elsewhere to leave them out",
        printable_path(directory),
        group_digits(failures.len() as u64)
    );
    for failure in failures.iter().take(NAMED) {
        let _ = match failure {
            // The way out is said above.
            KinetoError::Damaged { path, byte, what } => {
                write!(text, "\n  {}: byte {byte}: {what}", printable_path(path))
            }
            other => write!(text, "\n  {other}"),
        };
    }
    if let Some(more @ 1..) = failures.len().checked_sub(NAMED) {
        let _ = write!(text, "\n  and {} more", group_digits(more as u64));
    }
    text
}

impl KinetoError {
    /// The failure of a directory in which so many files fail; that of the file if it is one.
    pub(crate) fn of_all(directory: &Path, mut failures: Vec<Self>) -> Option<Self> {
        match failures.len() {
            0 | 1 => failures.pop(),
            _ => Some(Self::Several {
                directory: directory.to_owned(),
                failures,
            }),
        }
    }
}

/// All results, or the first error in their order, whichever was met first.
pub(crate) fn first_error<T: Send, E: Send>(
    all: impl IndexedParallelIterator<Item = Result<T, E>>,
) -> Result<Vec<T>, E> {
    let all: Vec<Result<T, E>> = all.collect();
    all.into_iter().collect()
}

impl From<KinetoError> for FormatError {
    fn from(error: KinetoError) -> Self {
        Self::failed(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_errors_the_first_is_told() {
        let read = |number: u32| {
            if number == 3 {
                // Long enough for the other half to have failed.
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            if number % 37 == 3 {
                Err(number)
            } else {
                Ok(number)
            }
        };
        assert_eq!(first_error((0..64_u32).into_par_iter().map(read)), Err(3));
        let sound = first_error((4..9_u32).into_par_iter().map(read));
        assert_eq!(sound, Ok(vec![4, 5, 6, 7, 8]));
    }
}
