//! Why a file could not be read or written.

use std::io;
use std::path::PathBuf;

use retime_model::LogError;
use retime_model::format::FormatError;

/// Why a file of JSON lines could not be read, written or restored.
#[derive(Debug, thiserror::Error)]
pub enum JsonlError {
    /// The system refused, or compressed data is damaged.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The content ends or is damaged somewhere after a line.
    #[error("{}: after line {line}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The last line that was read, from 1.
        line: u64,
        /// What the system or the decompression says.
        source: io::Error,
    },
    /// The file is not what it was when it was opened.
    #[error(
        "{}: changed while it was being read; run this again once nothing writes to it any more",
        path.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// There is nothing in the file.
    #[error(
        "{}: is empty, so it is no trace; was the program killed before it wrote, or the file cut \
         off by a copy?",
        path.display()
    )]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A line cannot be understood.
    #[error("{}: line {line}: {what}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
    /// The events of a location make no log.
    #[error("{}: {source}", path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: LogError,
    },
    /// The file is not the one that the caller speaks of.
    #[error("{}: {what}", path.display())]
    Inconsistent {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        what: String,
    },
    /// The original cannot be restored.
    #[error("{}: cannot be restored: {why}", path.display())]
    NotRestorable {
        /// The corrected file.
        path: PathBuf,
        /// Why.
        why: String,
    },
}

impl From<JsonlError> for FormatError {
    fn from(error: JsonlError) -> Self {
        Self::failed(error)
    }
}
