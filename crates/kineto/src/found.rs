//! Listing the traces and other files of a directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use retime_model::presence::{self, kind_in_words};

use crate::document::{Document, is_named_like_one};
use crate::error::KinetoError;
use crate::outline::Look;

/// The files of a directory.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The traces, by name.
    pub(crate) traces: Vec<PathBuf>,
    /// Files that are called like traces and are none, with the reason.
    pub(crate) others: Vec<(PathBuf, String)>,
    /// Traces that are other recordings of a rank than those that are taken, with what each
    /// is in words.
    pub(crate) other_recordings: Vec<(PathBuf, String)>,
    /// Files that may have been traces and cannot be read any more.
    pub(crate) damaged: Vec<KinetoError>,
    /// All files that are no traces, whatever they are called, by name.
    pub(crate) beside: Vec<PathBuf>,
    /// Symbolic links that lead to no trace.
    pub(crate) links: Vec<PathBuf>,
    /// Entries that are not copied, and what each is in words.
    pub(crate) left_out: Vec<(PathBuf, &'static str)>,
}

impl Found {
    /// True if some trace lies there, be it a damaged one.
    pub(crate) fn holds_any(&self) -> bool {
        !self.traces.is_empty() || !self.damaged.is_empty()
    }

    /// Adds what lies in another directory.
    pub(crate) fn append(&mut self, other: Self) {
        self.traces.extend(other.traces);
        self.others.extend(other.others);
        self.other_recordings.extend(other.other_recordings);
        self.damaged.extend(other.damaged);
        self.beside.extend(other.beside);
        self.links.extend(other.links);
        self.left_out.extend(other.left_out);
    }

    /// Looks at all files of one directory. Directories in it are left alone. A trace may lie
    /// behind a link; what is only copied may not.
    pub(crate) fn in_one(directory: &Path, document: &dyn Document) -> io::Result<Self> {
        let mut found = Self::default();
        let entries = fs::read_dir(directory)?.map(|entry| Ok(entry?.path()));
        let mut paths = entries.collect::<io::Result<Vec<PathBuf>>>()?;
        in_order(&mut paths);
        for path in paths {
            let Some(kind) = presence::kind_of_entry(&path)? else {
                continue;
            };
            if !presence::is_file(&path)? {
                if kind.is_symlink() {
                    found.links.push(path);
                } else {
                    found.left_out.push((path, kind_in_words(kind)));
                }
                continue;
            }
            let beside = if kind.is_symlink() {
                &mut found.links
            } else {
                &mut found.beside
            };
            if !is_named_like_one(document, &path) {
                beside.push(path);
                continue;
            }
            match document.look(&path)? {
                Look::Trace => found.traces.push(path),
                Look::Other(what) => {
                    found.others.push((path.clone(), what));
                    beside.push(path);
                }
                // Systems write files of their own beside others, under hidden names.
                Look::Damaged { what, .. } if is_hidden(&path) => {
                    found.others.push((path.clone(), what));
                    beside.push(path);
                }
                Look::Damaged { byte, what } => {
                    found
                        .damaged
                        .push(KinetoError::Damaged { path, byte, what });
                }
            }
        }
        Ok(found)
    }
}

fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(b".")
}

/// Sorts files by their names, numbers in them by what they count: `rank10` after `rank2`.
pub(crate) fn in_order(files: &mut [PathBuf]) {
    files.sort_by_cached_key(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut parts: Vec<(String, u64)> = Vec::new();
        let mut text = String::new();
        let mut digits = String::new();
        for letter in name.chars().chain(['\0']) {
            if letter.is_ascii_digit() {
                digits.push(letter);
                continue;
            }
            if !digits.is_empty() {
                // What no number holds is too long to be one that counts files.
                let number = digits.parse().unwrap_or(u64::MAX);
                parts.push((std::mem::take(&mut text), number));
                digits.clear();
            }
            text.push(letter);
        }
        (parts, text, path.clone())
    });
}
