//! Why a trace cannot be exported.

use std::io;

use retime::Cancelled;
use retime::format::FormatError;

/// A failed export.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The trace cannot be read, or the caller asked to stop.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The output cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Corrected stamps that are no stamps.
    #[error("corrected time stamps do not fit into 64 bits, or lie too far apart")]
    TooFar,
    /// Viewers count nanoseconds in 63 bits.
    #[error(
        "the trace takes {seconds} seconds, but viewers count nanoseconds in 63 bits, which \
         is 292 years: its tick rate or a time stamp is wrong"
    )]
    TooLong {
        /// How long it takes.
        seconds: u64,
    },
}

impl From<Cancelled> for ExportError {
    fn from(cancelled: Cancelled) -> Self {
        Self::Format(cancelled.into())
    }
}
