//! Why an archive makes no trace of retime.

use std::path::PathBuf;

use retime_model::{Cancelled, LogError, format::FormatError, printable_path};
use retime_otf2::Error;

/// Defects of an archive, or of how its events hang together.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TraceError {
    /// The archive cannot be read or written.
    #[error(transparent)]
    Archive(#[from] Error),

    /// Times without a unit: nothing says how many ticks make a second.
    #[error(
        "{}: no tick rate: the ClockProperties record is missing or says 0 ticks per second",
        printable_path(path)
    )]
    NoTickRate {
        /// The global definitions.
        path: PathBuf,
    },

    /// The events of a location make no log.
    #[error("{}: {source}", printable_path(path))]
    Log {
        /// The file with the events.
        path: PathBuf,
        /// The contradiction among the events.
        source: LogError,
    },

    /// The undo data of a saved correction are not those of an archive.
    #[error(
        "{}: holds no undo data of an OTF2 archive: {source}",
        printable_path(path)
    )]
    BadUndo {
        /// The saved correction.
        path: PathBuf,
        /// The error of the parser.
        source: serde_json::Error,
    },
}

impl From<TraceError> for FormatError {
    fn from(error: TraceError) -> Self {
        match error {
            TraceError::Archive(Error::Cancelled) => Cancelled.into(),
            TraceError::Archive(other) => Self::failed(other),
            other => Self::failed(other),
        }
    }
}

/// Makes an error of the trace one of the format.
pub(crate) fn failed(error: impl Into<TraceError>) -> FormatError {
    error.into().into()
}
