//! Checking that processes on several machines mean the same trace by a path.
//!
//! Where a directory is not shared, each machine may have another trace there, or an older
//! state of it. Their definitions or the sizes of their files differ then.

use std::fmt::{self, Write};
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

use retime_model::format::FormatError;
use retime_model::{TraceInfo, printable_path};

/// The mark that tells a trace from others: a hash of its description, and of its sizes by
/// location. All processes of one program get the same, as they are of one build.
pub(crate) fn mark(info: &TraceInfo, sizes: &[u64]) -> u64 {
    hash(&(info, sizes))
}

/// The mark of a trace that is worked on by files: a hash of their paths and sizes.
pub(crate) fn mark_of_files(files: &[(PathBuf, u64)]) -> u64 {
    hash(&files)
}

fn hash(value: &dyn fmt::Debug) -> u64 {
    let mut hashed = Hashed(DefaultHasher::new());
    // Hashing takes whatever it is given.
    let _ = write!(hashed, "{value:?}");
    hashed.0.finish()
}

/// Fails if the trace at a path has another mark.
pub(crate) fn refuse_another(path: &Path, mark: u64, expected: u64) -> Result<(), FormatError> {
    if mark == expected {
        return Ok(());
    }
    Err(FormatError::failed(Another(path.to_owned())))
}

/// A path leads to different traces.
#[derive(Debug, thiserror::Error)]
#[error(
    "{} is not the trace that process 0 has there; it has to be on a file system that all share",
    printable_path(.0)
)]
struct Another(PathBuf);

/// A hash of the text that is written to it.
struct Hashed(DefaultHasher);

impl Write for Hashed {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}
