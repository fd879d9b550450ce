//! Where one record ends and the next begins, without knowing what it means.
//!
//! A record is a code, a length and that many bytes of payload. The length is
//! one byte, or `FF` and eight bytes. Two kinds of records have no length:
//!
//! * timestamps in event and snapshot files: `05` and eight bytes;
//! * *singletons*, ten old events whose payload is one compressed integer,
//!   which says by itself how long it is.
//!
//! So unknown records can be skipped, and a tool that changes timestamps
//! needs to know nothing about the rest. Code `00` ends the chunk, `02` the
//! file.
//!
//! ```
//! use retime_otf2::{ChunkHeader, Endian, FileKind, Walker};
//!
//! // Leave region 3; MpiCollectiveBegin with its empty payload; end of file.
//! let bytes = [&[0; 18][..], b"\x0d\x01\x03", b"\x16\x00", b"\x02\x01"].concat();
//! let header = ChunkHeader {
//!     offset: 0,
//!     endian: Endian::Little,
//!     first_event: 1,
//!     last_event: 2,
//!     last_in_file: true,
//! };
//! let mut walker = Walker::new(FileKind::Events, &header);
//! let leave = walker.step(&bytes)?.unwrap();
//! assert_eq!((leave.code, leave.payload_range()), (13, 19..21));
//! let begin = walker.step(&bytes)?.unwrap();
//! assert_eq!((begin.code, begin.payload_range()), (22, 23..23));
//! assert_eq!(walker.step(&bytes)?, None);
//! assert!(walker.ended_file());
//! # Ok::<(), retime_otf2::WireError>(())
//! ```

use std::ops::Range;

use crate::error::{Reason, WireError};
pub use crate::header::CHUNK_CODE;
use crate::header::{CHUNK_HEADER, ChunkHeader, FileKind};
use crate::wire::Endian;

/// Code that ends a chunk.
pub const END_OF_CHUNK: u8 = 0;
/// Code that ends the buffer, behind [`END_OF_FILE`].
pub const END_OF_BUFFER: u8 = 1;
/// Code that ends the file.
pub const END_OF_FILE: u8 = 2;
/// Code of a timestamp record in event and snapshot files.
pub const TIMESTAMP: u8 = 5;
/// Code of an attribute list in event and snapshot files.
pub const ATTRIBUTE_LIST: u8 = 6;

/// The events whose payload is one compressed integer without a length.
pub const SINGLETONS: [u8; 10] = [12, 13, 16, 17, 20, 21, 24, 28, 29, 30];

/// How the extent of a record is found from its code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Length,
    Singleton,
    Timestamp,
    EndOfChunk,
    EndOfFile,
    Forbidden,
}

type Shapes = [Shape; 256];

static EVENTS: Shapes = shapes(true, &SINGLETONS);
static SNAPSHOTS: Shapes = shapes(true, &[]);
static UNTIMED: Shapes = shapes(false, &[]);

const fn shapes(timed: bool, singletons: &[u8]) -> Shapes {
    let mut shapes = [Shape::Length; 256];
    shapes[END_OF_CHUNK as usize] = Shape::EndOfChunk;
    shapes[END_OF_BUFFER as usize] = Shape::Forbidden;
    shapes[END_OF_FILE as usize] = Shape::EndOfFile;
    shapes[CHUNK_CODE as usize] = Shape::Forbidden;
    if timed {
        shapes[TIMESTAMP as usize] = Shape::Timestamp;
    }
    let mut i = 0;
    while i < singletons.len() {
        shapes[singletons[i] as usize] = Shape::Singleton;
        i += 1;
    }
    shapes
}

/// Where a record lies in its chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The kind of record; the meaning of the number depends on the kind of file.
    pub code: u8,
    /// Position of the code.
    pub start: u32,
    /// Position of the payload, behind code and length.
    pub payload: u32,
    /// Position behind the record.
    pub end: u32,
}

impl Record {
    /// Code, length and payload.
    #[inline]
    pub const fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The payload alone.
    #[inline]
    pub const fn payload_range(&self) -> Range<usize> {
        self.payload as usize..self.end as usize
    }
}

/// A position that moves from record to record.
///
/// It does not borrow the chunk, so that the caller can change bytes of a
/// record (a timestamp, say) before taking the next step.
#[derive(Clone, Copy)]
pub struct Walker {
    shapes: &'static Shapes,
    endian: Endian,
    last_in_file: bool,
    ended_file: bool,
    pos: usize,
}

impl Walker {
    /// A walker that stands on the first record of a chunk.
    pub const fn new(kind: FileKind, header: &ChunkHeader) -> Self {
        Self {
            shapes: match kind {
                FileKind::Events => &EVENTS,
                FileKind::Snapshots => &SNAPSHOTS,
                _ => &UNTIMED,
            },
            endian: header.endian,
            last_in_file: header.last_in_file,
            ended_file: false,
            pos: CHUNK_HEADER,
        }
    }

    /// A walker that stands on a record inside of a chunk.
    pub(crate) const fn at(kind: FileKind, header: &ChunkHeader, pos: usize) -> Self {
        let mut walker = Self::new(kind, header);
        walker.pos = pos;
        walker
    }

    /// The byte order of the chunk.
    pub(crate) const fn endian(&self) -> Endian {
        self.endian
    }

    /// The position of the next record or end mark.
    #[inline]
    pub const fn position(&self) -> usize {
        self.pos
    }

    /// True if the end-of-file mark was reached.
    #[inline]
    pub const fn ended_file(&self) -> bool {
        self.ended_file
    }

    /// The next record, `None` at the end of the chunk.
    ///
    /// All positions in the result are inside of `bytes`, with at least one
    /// more byte behind the record.
    #[inline]
    pub fn step(&mut self, bytes: &[u8]) -> Result<Option<Record>, WireError> {
        let start = self.pos;
        let Some(&code) = bytes.get(start) else {
            return Err(self.without_end(start));
        };
        let (payload, end) = match self.shapes[usize::from(code)] {
            Shape::Timestamp => (start + 1, start + 9),
            Shape::Singleton => (start + 1, singleton_end(bytes, start + 1)?),
            Shape::Length => self.lengthed(bytes, start + 1)?,
            _ => return self.finish(code, start).map(|()| None),
        };
        if end >= bytes.len() {
            return Err(WireError::new(start, Reason::PastEnd));
        }
        self.pos = end;
        Ok(Some(Record {
            code,
            start: start as u32,
            payload: payload as u32,
            end: end as u32,
        }))
    }

    #[inline]
    fn lengthed(&self, bytes: &[u8], at: usize) -> Result<(usize, usize), WireError> {
        match bytes.get(at) {
            Some(0xFF) => self.long_form(bytes, at + 1),
            Some(&length) => Ok((at + 1, at + 1 + usize::from(length))),
            None => Err(WireError::new(at, Reason::PastEnd)),
        }
    }

    #[cold]
    fn long_form(&self, bytes: &[u8], at: usize) -> Result<(usize, usize), WireError> {
        let too_long = WireError::new(at - 2, Reason::PastEnd);
        let field = bytes.get(at..).and_then(<[u8]>::first_chunk);
        let length = self.endian.u64(*field.ok_or(too_long)?);
        if length > bytes.len() as u64 {
            return Err(too_long);
        }
        Ok((at + 8, at + 8 + length as usize))
    }

    #[cold]
    fn finish(&mut self, code: u8, at: usize) -> Result<(), WireError> {
        match code {
            END_OF_FILE => {
                self.ended_file = true;
                Ok(())
            }
            END_OF_CHUNK if self.last_in_file => Err(WireError::new(at, Reason::NoEndOfFile)),
            END_OF_CHUNK => Ok(()),
            _ => Err(WireError::new(at, Reason::RecordCode)),
        }
    }

    #[cold]
    fn without_end(&self, at: usize) -> WireError {
        if self.last_in_file {
            WireError::new(at, Reason::NoEndOfFile)
        } else {
            WireError::new(at, Reason::NoEndOfChunk)
        }
    }
}

#[inline]
fn singleton_end(bytes: &[u8], at: usize) -> Result<usize, WireError> {
    match bytes.get(at) {
        Some(&size) if size <= 8 => Ok(at + 1 + usize::from(size)),
        Some(0xFF) => Ok(at + 1),
        Some(_) => Err(WireError::new(at, Reason::SizeByte)),
        None => Err(WireError::new(at, Reason::PastEnd)),
    }
}

/// The records of a chunk. Ends for good after an error.
#[derive(Clone)]
pub struct Records<'a> {
    bytes: &'a [u8],
    walker: Walker,
    done: bool,
}

impl<'a> Records<'a> {
    pub(crate) const fn new(bytes: &'a [u8], walker: Walker) -> Self {
        Self {
            bytes,
            walker,
            done: false,
        }
    }

    /// True if the end-of-file mark was reached.
    pub const fn ended_file(&self) -> bool {
        self.walker.ended_file()
    }
}

impl Iterator for Records<'_> {
    type Item = Result<Record, WireError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let step = self.walker.step(self.bytes).transpose();
        self.done = !matches!(step, Some(Ok(_)));
        step
    }
}
