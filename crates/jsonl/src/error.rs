//! Why a file could not be read or written.

use std::io;
use std::path::PathBuf;

use retime_model::format::{FileError, FormatError};
use retime_model::printable_path;

/// Why a file of JSON lines could not be read, written or restored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JsonlError {
    /// The failure is one that files of other formats have, too.
    #[error(transparent)]
    File(#[from] FileError),
    /// The content ends or is damaged somewhere after a line.
    #[error("{}: after line {line}: {source}", printable_path(path))]
    Read {
        /// The file.
        path: PathBuf,
        /// The last line that was read, from 1.
        line: u64,
        /// The error of the system or of the decompression.
        source: io::Error,
    },
    /// There is nothing in the file.
    #[error(
        "{}: is empty, so it is no trace; was the program killed before it wrote, or the file cut \
         off by a copy?",
        printable_path(path)
    )]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A line cannot be understood.
    #[error("{}: line {line}: {what}", printable_path(path))]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The mistake in the line.
        what: String,
    },
}

impl From<JsonlError> for FormatError {
    fn from(error: JsonlError) -> Self {
        Self::failed(error)
    }
}
