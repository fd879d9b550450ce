//! Files that are copied byte for byte.

use std::path::Path;

use super::output::Output;
use super::source::{BLOCK, Summed, fill};
use crate::error::Result;
use retime_model::Monitor;

/// Copies a file; its check sum.
pub(super) fn copy(path: &Path, output: &mut Output, monitor: &dyn Monitor) -> Result<u32> {
    let mut source = Summed::open(path, monitor)?;
    let mut buffer = Vec::new();
    loop {
        fill(&mut source, &mut buffer, BLOCK, path, monitor)?;
        if buffer.is_empty() {
            return Ok(source.crc());
        }
        output.write(&buffer)?;
    }
}
