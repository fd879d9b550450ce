//! Data that give the original files back from corrected ones: the
//! [originals](retime_model::Originals) of their times, how they were written, and check
//! sums of the content before and after, which make restoring refuse rather than guess; of
//! a compressed file they are those of what is in it.

use retime_model::{Modified, SavedName};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The form of undo data that is written here.
pub(crate) const FORMAT: u32 = 1;

/// The undo data of a run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Saved {
    pub(crate) format: u32,
    /// How many nanoseconds before 0 its times were [counted from](crate::columns::BELOW_ZERO).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) origin: u64,
    pub(crate) files: Vec<SavedFile>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The undo data of a file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedFile {
    pub(crate) name: SavedName,
    /// Check sum of the original content.
    pub(crate) original: u32,
    /// Check sum of the corrected content.
    pub(crate) corrected: u32,
    /// When the original was modified; earlier undo data do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) modified: Option<Modified>,
    /// How many events have another length, too.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) lengths: u64,
    /// The notes of a [`StampLog`](retime_model::StampLog).
    pub(crate) stamps: Vec<i64>,
    /// The forms in which stamps were written, as the kind of file says it. They can be as many as
    /// its events, and stay text: as a tree of values they would take ten times as much.
    pub(crate) forms: Box<RawValue>,
}

impl SavedFile {
    /// True if the correction has changed nothing in it.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.original == self.corrected
    }
}
