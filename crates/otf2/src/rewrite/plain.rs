//! Files that are copied byte for byte.

use super::files::{ArchiveFile, Role};
use super::output::Output;
use super::source::{BLOCK, Summed, fill};
use crate::error::Result;
use retime_model::Monitor;

/// Copies a file; its check sum. What is no part of the trace is not looked for behind a link
/// that has taken its place.
pub(super) fn copy(file: &ArchiveFile, output: &mut Output, monitor: &dyn Monitor) -> Result<u32> {
    let path = &file.path;
    let mut source = match file.role {
        Role::Other => Summed::open_unlinked(path, monitor)?,
        _ => Summed::open(path, monitor)?,
    };
    let mut buffer = Vec::new();
    loop {
        fill(&mut source, &mut buffer, BLOCK, path, monitor)?;
        if buffer.is_empty() {
            return Ok(source.crc());
        }
        output.write(&buffer)?;
    }
}
