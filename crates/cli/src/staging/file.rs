//! A single file as the output.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::{Staging, sync_tree};
use crate::error::CliError;

impl Staging {
    /// As [`Staging::new`], for a target that is a file of events.
    pub(crate) fn for_file(target: &Path, force: bool, input: &Path) -> Result<Self, CliError> {
        Self::prepare(target, input, || may_replace(target, force))
    }

    /// The file to write.
    pub(crate) fn file(&self) -> PathBuf {
        self.directory.join("events")
    }

    /// Syncs the file and puts it in the place of the target.
    pub(crate) fn commit_file(self) -> Result<(), CliError> {
        sync_tree(&self.directory).map_err(|error| CliError::io(&self.directory, error))?;
        if !self.replace && fs::symlink_metadata(&self.target).is_ok() {
            return may_replace(&self.target, false);
        }
        fs::rename(self.file(), &self.target).map_err(|error| CliError::io(&self.target, error))?;
        let synced = File::open(&self.parent).and_then(|parent| parent.sync_all());
        synced.map_err(|error| CliError::io(&self.parent, error))
    }
}

/// With `force` an older file of events may be replaced.
fn may_replace(target: &Path, force: bool) -> Result<(), CliError> {
    if !force {
        let message = "exists already; give a new file, or --force to replace it";
        return Err(CliError::input(target, message));
    }
    let mut start = Vec::new();
    let is_file = fs::symlink_metadata(target).is_ok_and(|it| it.is_file());
    let mut read = || File::open(target)?.take(64).read_to_end(&mut start);
    if is_file && read().is_ok() && start.starts_with(b"{\"retime-stream\":") {
        return Ok(());
    }
    let message = "is no file of events; --force replaces only files that retime wrote";
    Err(CliError::input(target, message))
}
