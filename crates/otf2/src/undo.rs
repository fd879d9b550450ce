//! The data from which a corrected archive becomes the original again.
//!
//! A correction hardly loses anything: stamps of a clock that was stretched or
//! shifted can be computed back, all other bytes are still there. [`Undo`]
//! holds the small rest, and a check sum of every file before and after and of
//! the list of files, so that a restored archive is the original byte for byte
//! or an error.
//!
//! Per file there are up to two parts:
//!
//! * *edits*, where bytes were added or removed: records that changed their
//!   size, borders of chunks that moved, time records that were needed;
//! * *stamps*, where the original is not what the map, computed backwards,
//!   gives: where time was compressed or stood still.
//!
//! ```
//! use retime_otf2::Undo;
//!
//! // A file that was copied, and one in which the sixth stamp must be put
//! // 3 ticks later than the map says.
//! let json = r#"{"format": 1, "files": [
//!     {"path": "traces.otf2", "content": "plain",
//!      "original": 305419896, "corrected": 305419896},
//!     {"path": "traces/0.evt", "content": {"events": 0},
//!      "original": 1, "corrected": 2, "stamps": "BQY="}
//! ]}"#;
//! let undo: Undo = serde_json::from_str(json)?;
//! assert_eq!(undo.files(), 2);
//! # Ok::<(), serde_json::Error>(())
//! ```

mod digest;
pub(crate) mod edits;
mod file;
pub(crate) mod guess;
pub(crate) mod listed;
pub(crate) mod packed;
pub(crate) mod stamps;

use serde::{Deserialize, Serialize};

pub(crate) use self::file::{Content, FileUndo};

/// The form of undo data that is written here.
pub(crate) const FORMAT: u32 = 1;

/// The data that [`Trace::restore`](crate::Trace::restore) needs besides the corrected archive and
/// the correction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    pub(crate) format: u32,
    pub(crate) files: Vec<FileUndo>,
    /// Check sum of the list; there was none at first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) digest: Option<u32>,
    /// Check sums of links and empty directories, which the corrected archive has too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) besides: Vec<u32>,
}

impl Undo {
    pub(crate) fn new(files: Vec<FileUndo>, besides: Vec<u32>) -> Self {
        Self {
            format: FORMAT,
            digest: Some(digest::digest(&files, &besides)),
            files,
            besides,
        }
    }

    /// The number of files of the archive.
    pub const fn files(&self) -> usize {
        self.files.len()
    }
}
