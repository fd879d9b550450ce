//! Files and directories for a while, in the directory for such.

use std::env;
use std::fs::{self, File};
use std::io;

use retime::printable_path;
use tempfile::TempDir;

use crate::error::CliError;

const WAY_OUT: &str = "TMPDIR names a directory for temporary files";

/// A file without a name.
pub(crate) fn file() -> io::Result<File> {
    tempfile::tempfile().map_err(|error| {
        let directory = printable_path(env::temp_dir());
        io::Error::new(error.kind(), format!("{directory}: {error}; {WAY_OUT}"))
    })
}

/// A directory that goes with what is returned.
pub(crate) fn directory() -> Result<TempDir, CliError> {
    tempfile::tempdir().map_err(|error| {
        // The error names a path that nobody has given; the directory that was given says it as well.
        let parent = env::temp_dir();
        let error = fs::read_dir(&parent).err().unwrap_or(error);
        let error = io::Error::new(error.kind(), format!("{error}; {WAY_OUT}"));
        CliError::io(&parent, error)
    })
}
