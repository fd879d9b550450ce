//! A whole file with times, one chunk in memory, under the eyes of a monitor.

use crate::chunk::ChunkReader;
use crate::error::{Error, Result, WireError};
use crate::steps::Steps;
use retime_model::Monitor;

/// Calls `chunk` for every chunk of a file; it must step to the chunk's end.
pub(crate) fn each_chunk(
    mut reader: ChunkReader,
    monitor: &dyn Monitor,
    mut chunk: impl FnMut(&mut Steps, &[u8]) -> Result<(), WireError>,
) -> Result<()> {
    let mut buffer = Vec::new();
    let mut steps: Option<Steps> = None;
    while let Some(header) = next(&mut reader, &mut buffer, monitor)? {
        let steps = match &mut steps {
            Some(steps) => {
                steps.enter(header);
                steps
            }
            none => none.insert(Steps::new(reader.kind(), header)),
        };
        chunk(steps, &buffer).map_err(|error| reader.error(&header, error))?;
        if steps.ended_file() {
            return Ok(());
        }
    }
    Err(reader.without_end())
}

/// Reads the next chunk unless the monitor says stop.
pub(crate) fn next(
    reader: &mut ChunkReader,
    buffer: &mut Vec<u8>,
    monitor: &dyn Monitor,
) -> Result<Option<crate::chunk::ChunkHeader>> {
    if monitor.cancelled() {
        return Err(Error::Cancelled);
    }
    let header = reader.read_into(buffer)?;
    if header.is_some() {
        monitor.advance(buffer.len() as u64);
    }
    Ok(header)
}
