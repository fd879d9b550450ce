//! Failures of a format.

use std::error::Error;

use crate::monitor::Cancelled;

/// Why a format could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// The caller asked to stop.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// Anything else, in the words of the format: file, place, what is wrong, and
    /// the way out.
    #[error(transparent)]
    Failed(Box<dyn Error + Send + Sync>),
}

impl FormatError {
    /// An error of a format.
    pub fn failed(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Failed(Box::new(error))
    }
}
