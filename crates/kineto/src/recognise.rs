//! Whether a path holds such traces, by names and first bytes.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use retime_gzip::first_bytes;
use retime_model::format::{CORRECTION, Recognition, is_correction};
use retime_model::presence::{self, kind_in_words};
use retime_model::{open_regular, printable_path};

use crate::error::KinetoError;
use crate::outline::{Look, look};

/// How much of a file is looked at.
const PROBE: u64 = 1 << 16;

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

pub(crate) fn recognise(path: &Path) -> io::Result<Recognition> {
    let found = presence::kind(path)?;
    Ok(match found {
        Some(kind) if kind.is_dir() => {
            let found = Found::in_directory(path)?;
            if !found.traces.is_empty() {
                Recognition::Certain
            } else if !found.damaged.is_empty() {
                // Opening it says what is wrong.
                Recognition::Possible
            } else {
                Recognition::No
            }
        }
        Some(kind) if kind.is_file() && is_named_like_one(path) => {
            if begins_like_one(path)? {
                Recognition::Certain
            } else {
                Recognition::Possible
            }
        }
        None if is_named_like_one(path) => Recognition::Possible,
        // A pipe or a device would be changed by looking at it.
        _ => Recognition::No,
    })
}

/// The files of a directory.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The traces, by name.
    pub(crate) traces: Vec<PathBuf>,
    /// What is called like one and is none, with the reason.
    pub(crate) others: Vec<(PathBuf, String)>,
    /// Traces that are other recordings of a rank than those that are taken, with what each
    /// is in words.
    pub(crate) other_recordings: Vec<(PathBuf, String)>,
    /// What may have been a trace and cannot be read any more.
    pub(crate) damaged: Vec<KinetoError>,
    /// All files that are no traces, whatever they are called, by name.
    pub(crate) beside: Vec<PathBuf>,
    /// Symbolic links that lead to no trace.
    pub(crate) links: Vec<PathBuf>,
    /// Of what else lies there no copy is made; what it is in words.
    pub(crate) left_out: Vec<(PathBuf, &'static str)>,
}

impl Found {
    /// Looks at all files of a directory. Directories in it are left alone. A trace may lie
    /// behind a link; what is only copied may not.
    pub(crate) fn in_directory(directory: &Path) -> io::Result<Self> {
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
            if !is_named_like_one(&path) {
                beside.push(path);
                continue;
            }
            match look(&path)? {
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

/// True if a file is called as such traces are.
pub(crate) fn is_named_like_one(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let text = name.to_string_lossy();
    let ends = |with: &str| {
        let end = text
            .len()
            .checked_sub(with.len())
            .and_then(|it| text.get(it..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(with))
    };
    (ends(".json") || ends(".json.gz")) && !is_correction(name)
}

/// Keys of which one stands near the beginning of every object with events; headers can be
/// so long that the events begin later.
const KEYS: [&[u8]; 5] = [
    b"\"traceEvents\"",
    b"\"baseTimeNanoseconds\"",
    b"\"schemaVersion\"",
    b"\"deviceProperties\"",
    b"\"distributedInfo\"",
];

/// True if the first bytes of a file are those of an object or array with events.
pub(crate) fn begins_like_one(path: &Path) -> io::Result<bool> {
    let bytes = first_bytes(open_regular(path)?, PROBE)?;
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    let text = text.trim_ascii_start();
    let holds = |what: &[u8]| memchr::memmem::find(text, what).is_some();
    Ok(match text.first() {
        Some(b'{') => KEYS.into_iter().any(holds),
        Some(b'[') => holds(b"\"ph\"") && holds(b"\"ts\""),
        _ => false,
    })
}

/// Whether a directory or file holds nothing but such traces, with a correction and copies
/// of what lies in `input`.
pub(crate) fn may_replace(target: &Path, input: &Path) -> Result<(), String> {
    let untold = |error: io::Error| format!("cannot be looked at: {error}");
    let found = presence::kind_of_entry(target).map_err(untold)?;
    let own = |path: &Path| -> Result<bool, String> {
        let name = path.file_name().unwrap_or_default();
        let is_file = presence::kind_of_entry(path).map_err(untold)?;
        Ok(is_file.is_some_and(|it| it.is_file())
            && (is_correction(name) || begins_like_one(path).map_err(untold)?))
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
