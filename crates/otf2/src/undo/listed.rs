//! Whether undo data list every file that there was.
//!
//! Check sums of the files say whether each is restored as it was, and nothing of one
//! whose entry is gone: that would silently be missing. So the list itself has a check
//! sum, over all that the entries say, in their order. And whatever list there is has to
//! name the files that the definitions speak of; they are found by looking at the
//! corrected archive, which has the files of the original.

use std::collections::HashSet;

use crc32fast::Hasher;
use retime_model::SavedName;

use super::packed::Packed;
use super::{Content, FileUndo, Undo};
use crate::error::{Error, Result};
use crate::rewrite::files::{self, Role};
use crate::trace::Trace;

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
        sum.update(entry.as_bytes());
    }
    // Nothing for none, as it was before there were any.
    for beside in besides {
        sum.update(&beside.to_le_bytes());
    }
    sum.finalize()
}

/// Fails if a file of the original has no entry. Undo data of before lists had a check
/// sum are compared with the definitions alone.
pub(crate) fn check(undo: &Undo, corrected: &Trace) -> Result<()> {
    let intact = undo
        .digest
        .map(|sum| sum == digest(&undo.files, &undo.besides));
    let archive = corrected.archive();
    let ids: Vec<u64> = corrected.location_ids().collect();
    let listed: HashSet<&SavedName> = undo.files.iter().map(|it| &it.path).collect();
    // Others may have been put there since; whether they were is told by the check sum.
    let needed = |role| intact == Some(false) || !matches!(role, Role::Other | Role::Markers);
    let unlisted = files::list(archive, &ids, false)?
        .files
        .into_iter()
        .find(|file| needed(file.role) && !listed.contains(&SavedName::of(&file.name)));
    let (path, why) = match unlisted {
        Some(file) => (file.path, "the undo data have lost its entry"),
        None if intact == Some(false) => (
            archive.anchor_path().to_owned(),
            "the list of files in the undo data is not the one that the correction wrote: an \
             entry is missing or was changed",
        ),
        None => return Ok(()),
    };
    Err(Error::NotRestorable {
        path,
        why: why.to_owned(),
    })
}
