//! Why documents were not put together.

use std::io;
use std::path::PathBuf;

use retime_model::format::FormatError;
use retime_model::printable_path;

/// Why no file was made of documents.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// A document could not be read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The times of a file are by a clock that a manifest has no name for.
    #[error(
        "{}: its times are by a clock of a program's own, number {number}, which a manifest has no \
         name for; -o NAME.pftrace takes its packets",
        printable_path(path)
    )]
    UnnamedClock {
        /// The file.
        path: PathBuf,
        /// The number of the clock.
        number: u32,
    },
    /// The file could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}
