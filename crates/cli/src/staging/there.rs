//! Looking if anything lies at a path.

use std::path::Path;

use retime::presence;

use crate::error::CliError;

/// True if anything lies at a path, be it a link to nowhere.
pub(super) fn lies_there(path: &Path) -> Result<bool, CliError> {
    let found = presence::kind_of_entry(path);
    Ok(found.map_err(|error| CliError::io(path, error))?.is_some())
}
