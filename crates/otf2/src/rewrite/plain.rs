//! Files that are copied byte for byte.

use std::path::Path;

use super::files::{ArchiveFile, FileRole};
use super::output::Output;
use super::source::{BLOCK, Summed, fill};
use crate::error::{Error, Result};
use retime_model::{Holes, Monitor};

/// Copies a file; its check sum. What is no part of the trace is not looked for behind a link
/// that has taken its place.
pub(super) fn copy(file: &ArchiveFile, output: &mut Output, monitor: &dyn Monitor) -> Result<u32> {
    let path = &file.path;
    let source = match file.role {
        FileRole::Outdated | FileRole::Other => Summed::open_unlinked(path, monitor)?,
        _ => Summed::open(path, monitor)?,
    };
    copy_read(source, path, output, monitor)
}

/// Copies what is read from a file that was opened, holes as holes; its check sum.
pub(crate) fn copy_read(
    mut source: Summed<'_>,
    path: &Path,
    output: &mut Output,
    monitor: &dyn Monitor,
) -> Result<u32> {
    let (mut holes, mut buffer) = (Holes::default(), Vec::new());
    loop {
        fill(&mut source, &mut buffer, BLOCK, path, monitor)?;
        if buffer.is_empty() {
            return Ok(source.crc());
        }
        let parts = holes.parts(source.file(), &buffer);
        for part in parts.map_err(|error| Error::io(path, error))? {
            output.write_part(part)?;
        }
    }
}
