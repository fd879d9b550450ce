//! The header of a chunk, and what kinds of files have chunks.

use crate::error::{Reason, WireError};
use crate::wire::{Cursor, Endian};

/// Bytes of a chunk header.
pub const CHUNK_HEADER: usize = 18;
/// Code of a chunk header.
pub const CHUNK_CODE: u8 = 3;

/// The content of a file, which decides how its records are framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileKind {
    /// `NAME/<id>.evt`: timestamps, attribute lists, records without length.
    Events,
    /// `NAME/<id>.snap`: timestamps and attribute lists.
    Snapshots,
    /// `NAME.def`.
    GlobalDefinitions,
    /// `NAME/<id>.def`.
    LocalDefinitions,
    /// `NAME.marker`.
    Markers,
    /// `NAME.<k>.thumb`.
    Thumbnail,
}

/// The header of a chunk, and the place of the chunk in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkHeader {
    /// Offset of the chunk in its file.
    pub offset: u64,
    /// Byte order of the chunk.
    pub endian: Endian,
    /// Number of the first event, as stored: counted from 1 over the file.
    pub first_event: u64,
    /// Number of the last event; `first_event - 1` if there is none.
    pub last_event: u64,
    /// True if the file has no bytes behind this chunk.
    pub last_in_file: bool,
}

impl ChunkHeader {
    /// Reads the header at the start of a chunk.
    pub fn parse(bytes: &[u8], offset: u64, last_in_file: bool) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(bytes, Endian::Little);
        if cursor.u8()? != CHUNK_CODE {
            return Err(WireError::new(0, Reason::ChunkCode));
        }
        let endian = Endian::from_mark(cursor.u8()?).ok_or(WireError::new(1, Reason::ByteOrder))?;
        let mut cursor = Cursor::within(bytes, 2..CHUNK_HEADER, endian);
        Ok(Self {
            offset,
            endian,
            first_event: cursor.x64()?,
            last_event: cursor.x64()?,
            last_in_file,
        })
    }
}
