//! Recognising a file that was exported by how it begins.

use std::io::Read;

use flate2::read::GzDecoder;

use crate::{chrome, perfetto};

/// True if a file that begins so, or holds nothing, was exported by this library; the first
/// 4 KiB tell, compressed or not.
pub fn is_export(start: &[u8]) -> bool {
    let mut plain = Vec::new();
    if start.starts_with(&[0x1f, 0x8b]) {
        // That it breaks off is no matter.
        let _ = GzDecoder::new(start).take(64).read_to_end(&mut plain);
    } else {
        plain.extend_from_slice(start);
    }
    plain.is_empty() || chrome::is_start(&plain) || perfetto::is_start(&plain)
}
