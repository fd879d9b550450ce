//! What lies at a path, if anything does.
//!
//! Only "not found" means that nothing is there. Whatever else keeps the operating system
//! from an answer (a failing disk, a loop of links, no permission) is an error: a file that
//! was taken for missing would be missing in the copy.

use std::fs::{self, FileType};
use std::io::ErrorKind;
use std::path::Path;

use crate::error::{Error, Result};

/// What a path leads to, links followed; `None` if that does not exist.
pub(crate) fn kind(path: &Path) -> Result<Option<FileType>> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(found.file_type())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::io(path, source)),
    }
}

/// Whether a path leads to a file.
pub(crate) fn is_file(path: &Path) -> Result<bool> {
    Ok(kind(path)?.is_some_and(|it| it.is_file()))
}

/// Whether a path leads to a directory.
pub(crate) fn is_dir(path: &Path) -> Result<bool> {
    Ok(kind(path)?.is_some_and(|it| it.is_dir()))
}
