//! Looking at what lies at a path, with the path in the error; see [`retime_model::presence`].

use std::path::Path;

use retime_model::presence;

use crate::error::{Error, Result};

/// True if a path leads to a file.
pub(crate) fn is_file(path: &Path) -> Result<bool> {
    presence::is_file(path).map_err(|source| Error::io(path, source))
}

/// True if a path leads to a directory.
pub(crate) fn is_dir(path: &Path) -> Result<bool> {
    presence::is_directory(path).map_err(|source| Error::io(path, source))
}
