//! A report as JSON.

use std::io;
use std::path::Path;

use serde::Serialize;

use crate::error::CliError;

/// A report as JSON.
pub(super) fn json(report: &impl Serialize) -> Result<String, CliError> {
    let text = serde_json::to_string(report);
    text.map_err(|error| CliError::io(Path::new("report"), io::Error::from(error)))
}
