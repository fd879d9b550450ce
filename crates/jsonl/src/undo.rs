//! Data that give an original file back from a corrected one: the
//! [originals](retime_model::Originals) of its stamps, and check sums of the content before
//! and after, which make restoring refuse rather than guess; of a compressed file they are
//! those of the lines in it.

use retime_model::Modified;
use retime_model::format::{FormatError, Undo};
use serde::{Deserialize, Serialize};

/// The form of undo data that is written here.
pub(crate) const FORMAT: u32 = 1;

/// The undo data of a file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Saved {
    pub(crate) format: u32,
    /// Check sum of the original lines.
    pub(crate) original: u32,
    /// Check sum of the corrected lines.
    pub(crate) corrected: u32,
    /// When the original was modified; earlier undo data do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) modified: Option<Modified>,
    /// The notes of a [`StampLog`](retime_model::StampLog).
    pub(crate) stamps: Vec<i64>,
}

impl Saved {
    /// True if the correction has changed nothing.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.original == self.corrected
    }

    /// The undo data as a trace gives them out.
    pub(crate) fn undo(&self) -> Result<Undo, FormatError> {
        let json = serde_json::to_string(self).map_err(FormatError::failed)?;
        Ok(Undo(json))
    }
}
