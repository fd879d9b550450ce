//! Whether a path holds such traces, by names and first bytes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use retime_gzip::first_bytes;
use retime_model::format::Recognition;
use retime_model::{open_regular, presence};

/// How much of a file is looked at.
const PROBE: u64 = 1 << 16;

/// What the name of a saved correction ends in.
pub(crate) const CORRECTION: &str = ".retime.json";

/// Where the correction of a directory is saved, in it.
pub(crate) const CORRECTION_OF_ALL: &str = "run.retime.json";

pub(crate) fn recognise(path: &Path) -> io::Result<Recognition> {
    let found = presence::kind(path)?;
    Ok(match found {
        Some(kind) if kind.is_dir() => {
            if files_in(path)?.is_empty() {
                Recognition::No
            } else {
                Recognition::Certain
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

/// The traces in a directory, by name.
pub(crate) fn files_in(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if is_named_like_one(&path) && presence::is_file(&path)? && begins_like_one(&path)? {
            files.push(path);
        }
    }
    in_order(&mut files);
    Ok(files)
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

/// Whether a file is called as such traces are.
pub(crate) fn is_named_like_one(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let ends = |with: &str| {
        let end = name
            .len()
            .checked_sub(with.len())
            .and_then(|it| name.get(it..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(with))
    };
    (ends(".json") || ends(".json.gz")) && !ends(CORRECTION)
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

/// Whether the first bytes of a file are those of an object or array with events.
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

/// Whether a directory or file holds nothing but such traces, with a correction.
pub(crate) fn may_replace(target: &Path) -> Result<(), String> {
    let untold = |error: io::Error| format!("cannot be looked at: {error}");
    let found = presence::kind_of_entry(target).map_err(untold)?;
    let own = |path: &Path| -> Result<bool, String> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_file = presence::kind_of_entry(path).map_err(untold)?;
        Ok(is_file.is_some_and(|it| it.is_file())
            && (name.ends_with(CORRECTION) || begins_like_one(path).map_err(untold)?))
    };
    if found.is_some_and(|it| it.is_dir()) {
        for entry in fs::read_dir(target).map_err(untold)? {
            let path = entry.map_err(untold)?.path();
            if !own(&path)? {
                return Err(format!(
                    "holds {}, which is no trace, so --force would delete something else; \
                     remove it yourself or give another directory",
                    path.display()
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
