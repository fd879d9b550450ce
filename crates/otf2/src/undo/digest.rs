//! The check sum of the list of files.

use crc32fast::Hasher;

use super::file::{Content, FileUndo};
use super::packed::Packed;

/// The check sum of a list.
pub(super) fn digest(files: &[FileUndo], besides: &[u32]) -> u32 {
    let mut sum = Hasher::new();
    for file in files {
        // Each part in a way that tells where it ends.
        let mut entry = Packed::default();
        entry.bytes(file.path.as_bytes());
        let (kind, id) = match file.content {
            Content::Plain => (0, 0),
            Content::Events(id) => (1, id),
            Content::Snapshots(id) => (2, id),
        };
        for number in [kind, id, file.original.into(), file.corrected.into()] {
            entry.number(number);
        }
        entry.bytes(file.edits.as_bytes());
        entry.bytes(file.stamps.as_bytes());
        // Nothing for none, as it was before there were any.
        if let Some(in_copy) = &file.in_copy {
            entry.bytes(in_copy.as_bytes());
        }
        sum.update(entry.as_bytes());
    }
    // As for names in the copy.
    for beside in besides {
        sum.update(&beside.to_le_bytes());
    }
    sum.finalize()
}
