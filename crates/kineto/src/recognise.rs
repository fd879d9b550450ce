//! Recognising paths that hold profiles of a kind, by names and first bytes.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use retime_model::format::{CORRECTION, Recognition, is_correction};
use retime_model::presence;
use retime_model::printable_path;

use crate::document::{Document, is_named_like_one};
use crate::nested;

/// Where the correction of files in a directory is saved, but for its ending.
const ALL: &str = "run";

/// Where the correction of the file at a path is saved.
pub(crate) fn correction_of_file(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".");
    name.push(CORRECTION);
    name.into()
}

/// Where the correction of the files in a directory is saved.
pub(crate) fn correction_of_all(directory: &Path) -> PathBuf {
    directory.join(ALL).with_extension(CORRECTION)
}

/// The certainty with which a path holds profiles of a kind.
pub fn recognise(document: &dyn Document, path: &Path) -> io::Result<Recognition> {
    let found = presence::kind(path)?;
    Ok(match found {
        Some(kind) if kind.is_dir() => {
            let (found, _) = nested::found(path, document, None)?;
            if !found.traces.is_empty() {
                Recognition::Certain
            } else if !found.damaged.is_empty() {
                // Opening it says what is wrong.
                Recognition::Possible
            } else {
                Recognition::No
            }
        }
        Some(kind) if kind.is_file() && is_named_like_one(document, path) => {
            if document.begins_like_one(path)? {
                Recognition::Certain
            } else {
                Recognition::Possible
            }
        }
        None if is_named_like_one(document, path) => Recognition::Possible,
        // A pipe or a device would be changed by looking at it.
        _ => Recognition::No,
    })
}

/// Fails unless a directory or file holds nothing but such traces, with a correction and copies of
/// what lies in `input`; the error says what else it holds.
pub fn may_replace(document: &dyn Document, target: &Path, input: &Path) -> Result<(), String> {
    let untold = |error: io::Error| format!("cannot be looked at: {error}");
    let found = presence::kind_of_entry(target).map_err(untold)?;
    let own = |path: &Path| -> Result<bool, String> {
        let name = path.file_name().unwrap_or_default();
        let is_file = presence::kind_of_entry(path).map_err(untold)?;
        Ok(is_file.is_some_and(|it| it.is_file())
            && (is_correction(name) || document.begins_like_one(path).map_err(untold)?))
    };
    if found.is_some_and(|it| it.is_dir()) {
        let takes_all = presence::is_directory(input).map_err(untold)?;
        let is_copy = |path: &Path| -> Result<bool, String> {
            let beside = input.join(path.file_name().unwrap_or_default());
            let kind = |it: &Path| presence::kind_of_entry(it).map_err(untold);
            let (Some(kind), Some(original)) = (kind(path)?, kind(&beside)?) else {
                return Ok(false);
            };
            let is_like = kind == original || kind.is_file() && original.is_symlink();
            Ok(takes_all && is_like && !kind.is_dir())
        };
        for entry in fs::read_dir(target).map_err(untold)? {
            let path = entry.map_err(untold)?.path();
            if !own(&path)? && !is_copy(&path)? {
                return Err(format!(
                    "holds {}, which is no trace, so --force would delete something else; \
                     remove it yourself or give another directory",
                    printable_path(&path)
                ));
            }
        }
        return Ok(());
    }
    if found.is_some_and(|it| it.is_file()) && own(target)? {
        return Ok(());
    }
    Err("is no trace that retime wrote; remove it yourself or give another path".into())
}
