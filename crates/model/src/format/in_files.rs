//! A trace of several files, each of which is read and written by itself, maybe elsewhere.
//!
//! ```text
//!  the process with the trace         the holder of a file, which has opened the trace, too
//!  FileHolders::each ----- task ---->  InFiles::work, on the file it is for
//!                    <---- answer ---
//! ```
//!
//! What is in a file only counts once all files are joined, so one side has no parts of an
//! analysis as with [`InParts`](super::InParts): it gets what joining takes, and all else about a
//! file is asked for. Tasks and answers are plain data that the format alone understands.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{FormatError, Trace};
use crate::monitor::Monitor;

/// A trace whose files can be read and written apart.
pub trait InFiles: Send + Sync {
    /// The files, each with its bytes, in the order in which they have numbers.
    fn files(&self) -> Vec<(PathBuf, u64)>;

    /// Does a task on a file of this number. Those of one file come one after the other, those of
    /// several at a time.
    fn work(&self, file: usize, task: &[u8], monitor: &dyn Monitor)
    -> Result<Vec<u8>, FormatError>;

    /// The trace with its files in other hands.
    fn in_hands(self: Box<Self>, hands: Arc<dyn FileHolders>) -> Box<dyn Trace>;

    /// The trace with all of its files in the hands of this process.
    fn in_own_hands(self: Box<Self>) -> Box<dyn Trace>;
}

/// The holders of the files of a trace, who work on them.
pub trait FileHolders: Send + Sync {
    /// Has a task done on each file, and gets the answers or what went wrong, in order of files;
    /// it fails if there are no answers at all.
    fn each(
        &self,
        tasks: Vec<Vec<u8>>,
        monitor: &dyn Monitor,
    ) -> Result<Vec<Result<Vec<u8>, FormatError>>, FormatError>;

    /// The holders of the files of a copy at another path.
    fn of_copy(
        &self,
        path: &Path,
        monitor: &dyn Monitor,
    ) -> Result<Arc<dyn FileHolders>, FormatError>;
}
