//! Times in the bytes of a chunk.

use std::path::Path;

use crate::chunk::{ChunkHeader, FileKind};
use crate::error::{Error, WireError};
use crate::framing::{Record, TIMESTAMP, Walker};
use crate::schema::event_code;
use crate::steps::read_time;
use crate::wire::Endian;

/// Snapshot records that say when what they recall happened.
const ORIGINAL_EVENT_TIME: std::ops::RangeInclusive<u8> = 12..=29;

/// True if the payload of a record starts with a time.
#[inline]
pub(crate) fn has_time(kind: FileKind, code: u8) -> bool {
    code == TIMESTAMP
        || match kind {
            FileKind::Events => code == event_code::BufferFlush,
            FileKind::Snapshots => ORIGINAL_EVENT_TIME.contains(&code),
            _ => false,
        }
}

/// Writes a time to a position that was read before.
#[inline]
pub(crate) fn put(bytes: &mut [u8], at: u32, endian: Endian, time: u64) {
    let rest = bytes.get_mut(at as usize..).unwrap_or_default();
    if let Some(field) = rest.first_chunk_mut() {
        *field = endian.bytes(time);
    }
}

/// Sends every time between the walker and the end of its chunk, or the
/// position `end`, through `f`.
pub(crate) fn each_time(
    kind: FileKind,
    header: &ChunkHeader,
    walker: &mut Walker,
    end: usize,
    bytes: &mut [u8],
    mut f: impl FnMut(u64) -> Option<u64>,
) -> Result<(), Trouble> {
    while walker.position() < end
        && let Some(record) = walker.step(bytes)?
    {
        if has_time(kind, record.code) {
            let new = f(read_time(bytes, record, header)?);
            put(
                bytes,
                record.payload,
                header.endian,
                new.ok_or(Trouble::range(record))?,
            );
        }
    }
    Ok(())
}

/// Why a chunk cannot be rewritten.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trouble {
    /// It is damaged.
    Wire(WireError),
    /// A new time is out of range, for the record at this position.
    Range(u32),
}

impl Trouble {
    pub(crate) const fn range(record: Record) -> Self {
        Self::Range(record.start)
    }

    /// The error, in the chunk of a file.
    #[cold]
    pub(crate) fn located(
        self,
        path: &Path,
        header: &ChunkHeader,
        damage: impl FnOnce(WireError) -> Error,
    ) -> Error {
        match self {
            Self::Wire(error) => damage(error),
            Self::Range(at) => Error::TimeRange {
                path: path.to_owned(),
                what: format!("the record at byte {}", header.offset + u64::from(at)),
            },
        }
    }
}

impl From<WireError> for Trouble {
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}
