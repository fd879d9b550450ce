//! The data from which one file gets its original content back.

use retime_model::{Modified, SavedName};
use serde::{Deserialize, Serialize};

use super::packed::Packed;

/// The undo data of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileUndo {
    /// Relative to the directory of the anchor file.
    pub(crate) path: SavedName,
    /// The path in the corrected archive, if it is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) in_copy: Option<SavedName>,
    /// The kind of stamps in the file that went through a map.
    pub(crate) content: Content,
    /// Check sum of the original file.
    pub(crate) original: u32,
    /// Check sum of the corrected file.
    pub(crate) corrected: u32,
    /// When the original file was modified; earlier undo data do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) modified: Option<Modified>,
    /// Where bytes were added and removed.
    #[serde(default, skip_serializing_if = "Packed::is_empty")]
    pub(crate) edits: Packed,
    /// Stamps that are not what the map says.
    #[serde(default, skip_serializing_if = "Packed::is_empty")]
    pub(crate) stamps: Packed,
}

/// The kind of stamps in a file that went through a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Content {
    /// None, or they are covered by the edits.
    Plain,
    /// The events of the location with this id.
    Events(u64),
    /// The snapshots of the location with this id.
    Snapshots(u64),
}
