//! Recognising a file that was merged by how it begins.

use retime_gzip::first_bytes;

use crate::manifest::MANIFEST;
use crate::{chrome, perfetto};

/// The bytes at the beginning of a file, which may be compressed, that tell its kind.
const PLAIN: u64 = 128;

/// True if a file that begins so, or holds nothing, was merged by this library; the first 4 KiB
/// tell, compressed or not.
///
/// ```
/// use retime_merge::{is_merged, manifest};
///
/// assert!(is_merged(manifest(&[]).as_bytes()) && is_merged(b""));
/// assert!(!is_merged(b"{\"traceEvents\": []}"));
/// ```
pub fn is_merged(start: &[u8]) -> bool {
    // That it breaks off is no matter.
    let plain = first_bytes(start, PLAIN).unwrap_or_default();
    let is_manifest = plain.starts_with(b"{\n  \"perfetto_manifest\"");
    // The head of an archive's first member begins with its name.
    let is_archive = plain.starts_with(MANIFEST.as_bytes());
    plain.is_empty()
        || is_manifest
        || is_archive
        || chrome::is_start(&plain)
        || perfetto::is_start(&plain)
}
