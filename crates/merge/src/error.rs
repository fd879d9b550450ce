//! Why documents were not put together.

use std::io;

use retime_model::format::FormatError;

/// Why no file was made of documents.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A document could not be read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The file could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
}
