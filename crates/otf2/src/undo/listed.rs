//! Checking that undo data list every file of the original.
//!
//! Check sums of the files say whether each is restored as it was, and nothing of one
//! whose entry is gone: that would silently be missing. So the list itself has a check
//! sum, over all that the entries say, in their order. And whatever list there is has to
//! name the files that the definitions speak of; they are found by looking at the
//! corrected archive, which has the files of the original.

use std::collections::HashSet;
use std::path::Path;

use retime_model::SavedName;

use super::Undo;
use super::digest::digest;
use crate::error::{Error, Result};
use crate::rewrite::files::{self, FileRole, Reach};
use crate::trace::Trace;

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
    let others = |role| {
        matches!(
            role,
            FileRole::Other | FileRole::Outdated | FileRole::Markers
        )
    };
    let needed = |role| intact == Some(false) || !others(role);
    let files = files::list(archive, &ids, Reach::Archive)?.files;
    let is_listed = |name: &Path| listed.contains(&SavedName::of(name));
    let is_renamed = !files.iter().any(|it| is_listed(&it.name));
    let mut files = files.into_iter();
    let unlisted = files.find(|file| needed(file.role) && !is_listed(&file.name));
    let (path, why) = match unlisted {
        Some(_) if is_renamed && !listed.is_empty() => (
            archive.anchor_path().to_owned(),
            "the undo data name no file of it: if the archive was renamed, give its files the names \
             that they had when it was corrected",
        ),
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
