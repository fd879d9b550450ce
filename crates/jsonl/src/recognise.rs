//! Recognising a file of JSON lines by its first bytes and its name.

use std::io;
use std::path::Path;

use retime_gzip::first_bytes;
use retime_model::format::Recognition;
use retime_model::{open_regular, presence};

use crate::line::{Fields, Header};

/// How much of a file is looked at.
const PROBE: u64 = 1 << 16;

/// Names that say what is in a file.
const NAMES: [&str; 2] = ["jsonl", "ndjson"];

pub(crate) fn recognise(path: &Path) -> io::Result<Recognition> {
    if is_named_otherwise(path) {
        return Ok(Recognition::No);
    }
    let found = presence::kind(path)?;
    Ok(match found.map(|it| it.is_file()) {
        // A pipe or a device would be changed by looking at it.
        Some(false) => Recognition::No,
        Some(true) if begins_like_one(path)? => Recognition::Certain,
        _ if is_named_like_one(path) => Recognition::Possible,
        _ => Recognition::No,
    })
}

/// True if the name is that of an anchor file of OTF2, which is text as well.
fn is_named_otherwise(path: &Path) -> bool {
    let extension = path.extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case("otf2"))
}

fn is_named_like_one(path: &Path) -> bool {
    let extension = |path: &Path| {
        let extension = path.extension()?.to_str()?;
        Some(extension.to_ascii_lowercase())
    };
    let outer = extension(path);
    let inner = match outer.as_deref() {
        Some("gz") => path.file_stem().and_then(|stem| extension(stem.as_ref())),
        _ => outer,
    };
    inner.is_some_and(|it| NAMES.contains(&&*it))
}

/// True if the first line of the file is an object with a location, or a header.
pub(crate) fn begins_like_one(path: &Path) -> io::Result<bool> {
    let probe = first_bytes(open_regular(path)?, PROBE)?;
    let is_cut = probe.len() as u64 == PROBE;
    let start = probe.trim_ascii_start();
    let end = memchr::memchr(b'\n', start);
    let line = start.get(..end.unwrap_or(start.len())).unwrap_or_default();
    // The last character may be cut in two.
    let text = String::from_utf8_lossy(line);
    let text = text.trim();
    if end.is_none() && is_cut {
        return Ok(text.starts_with('{') && text.contains("\"location\":"));
    }
    Ok(match Header::of(text) {
        Ok(None) => Fields::of(text).is_ok_and(|fields| fields.location().is_ok()),
        // What is wrong with a header is said when it is opened.
        Ok(Some(_)) | Err(_) => text.starts_with('{'),
    })
}
