//! What it takes to get an original file back from a corrected one: the
//! [originals](retime_model::Originals) of its stamps, and check sums of the content before
//! and after, which make restoring refuse rather than guess; of a compressed file they are
//! those of the lines in it.

use serde::{Deserialize, Serialize};

/// The form of undo data that is written here.
pub(crate) const FORMAT: u32 = 1;

/// What is saved.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Saved {
    pub(crate) format: u32,
    /// Check sum of the original lines.
    pub(crate) original: u32,
    /// Check sum of the corrected lines.
    pub(crate) corrected: u32,
    /// What a [`StampLog`](retime_model::StampLog) has noted.
    pub(crate) stamps: Vec<i64>,
}
