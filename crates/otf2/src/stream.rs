//! The records of a whole file, one chunk in memory.
//!
//! This joins the chunks that [`crate::framing`] treats one by one, and for
//! event and snapshot files keeps track of what lies between the records:
//! times and attribute lists. Both readers built on it lend from its buffer.
//!
//! A stream ends for good at the end-of-file mark, whatever lies behind it,
//! and after an error, since what follows damage has no meaning.
//!
//! ```text
//! bytes    05 time=7 | 06 attributes | 0c enter | 0d leave | 05 time=9 | 0c enter
//! events                               0 at 7,a   1 at 7                  2 at 9
//! ```

use crate::chunk::{Chunk, ChunkHeader, ChunkReader, FileKind};
use crate::error::{Error, Reason, Result, WireError};
use crate::framing::{ATTRIBUTE_LIST, Record, TIMESTAMP, Walker};
use crate::wire::Cursor;

/// Records of any file.
pub(crate) struct Stream {
    reader: ChunkReader,
    buffer: Vec<u8>,
    header: ChunkHeader,
    walker: Walker,
    done: bool,
}

impl Stream {
    /// Loads the first chunk.
    pub(crate) fn new(mut reader: ChunkReader) -> Result<Self> {
        let mut buffer = Vec::new();
        let Some(header) = reader.read_into(&mut buffer)? else {
            return Err(reader.without_end());
        };
        Ok(Self {
            walker: Walker::new(reader.kind(), &header),
            reader,
            buffer,
            header,
            done: false,
        })
    }

    pub(crate) const fn kind(&self) -> FileKind {
        self.reader.kind()
    }

    /// The chunk that the last record lies in.
    #[inline]
    pub(crate) fn chunk(&self) -> Chunk<'_> {
        let (path, kind) = (self.reader.path(), self.reader.kind());
        Chunk::new(path, kind, self.header, &self.buffer)
    }

    /// The next record of the chunk.
    #[inline]
    pub(crate) fn step(&mut self) -> Result<Option<Record>, WireError> {
        if self.done {
            return Ok(None);
        }
        self.walker.step(&self.buffer)
    }

    /// Loads the next chunk. `false` after the end of the file.
    #[cold]
    pub(crate) fn next_chunk(&mut self) -> Result<bool> {
        if self.done {
            return Ok(false);
        }
        self.done = true;
        if self.walker.ended_file() {
            return Ok(false);
        }
        let Some(header) = self.reader.read_into(&mut self.buffer)? else {
            return Err(self.reader.without_end());
        };
        self.header = header;
        self.walker = Walker::new(self.reader.kind(), &header);
        self.done = false;
        Ok(true)
    }

    /// Ends the stream and adds the file and the offset in it to an error.
    #[cold]
    pub(crate) fn fail(&mut self, error: WireError) -> Error {
        self.done = true;
        self.reader.error(&self.header, error)
    }
}

/// A record with a time.
#[derive(Clone, Copy)]
pub(crate) struct Timed {
    pub(crate) record: Record,
    pub(crate) time: u64,
    /// Position of the first attribute list, if there is one.
    pub(crate) attributes: Option<u32>,
}

/// Records of an event or snapshot file.
pub(crate) struct TimedStream {
    stream: Stream,
    time: Option<u64>,
}

impl TimedStream {
    pub(crate) fn new(reader: ChunkReader) -> Result<Self> {
        Ok(Self {
            stream: Stream::new(reader)?,
            time: None,
        })
    }

    /// The chunk that the last record lies in.
    #[inline]
    pub(crate) fn chunk(&self) -> Chunk<'_> {
        self.stream.chunk()
    }

    /// The next record that is neither a timestamp nor an attribute list.
    #[inline]
    pub(crate) fn step(&mut self) -> Result<Option<Timed>> {
        loop {
            match self.step_in_chunk() {
                Ok(Some(timed)) => return Ok(Some(timed)),
                Ok(None) if self.stream.next_chunk()? => {}
                Ok(None) => return Ok(None),
                Err(error) => return Err(self.stream.fail(error)),
            }
        }
    }

    #[inline]
    fn step_in_chunk(&mut self) -> Result<Option<Timed>, WireError> {
        let mut attributes = None;
        let mut pending = None;
        while let Some(record) = self.stream.step()? {
            match record.code {
                TIMESTAMP => self.time = Some(self.ticks(record)?),
                ATTRIBUTE_LIST => attributes = attributes.or(Some(record.start)),
                _ => {
                    let time = self.time.ok_or(at(record, Reason::NoTimestamp))?;
                    return Ok(Some(Timed {
                        record,
                        time,
                        attributes,
                    }));
                }
            }
            pending = Some(record);
        }
        pending.map_or(Ok(None), |record| Err(at(record, Reason::Dangling)))
    }

    #[inline]
    fn ticks(&self, record: Record) -> Result<u64, WireError> {
        let endian = self.stream.header.endian;
        Cursor::within(&self.stream.buffer, record.payload_range(), endian).x64()
    }
}

#[inline]
const fn at(record: Record, reason: Reason) -> WireError {
    WireError::new(record.start as usize, reason)
}
