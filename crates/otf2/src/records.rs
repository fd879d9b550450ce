//! Decoded records, and a reader for the files without timestamps.
//!
//! An [`Entry`] is a record in its chunk together with its schema; its fields
//! are decoded when asked for. [`RecordReader`] streams the entries of a
//! definition, marker or thumbnail file.
//!
//! ```
//! use retime_otf2::{ChunkReader, FileKind, RecordReader};
//!
//! let mut bytes = b"\x03\x42\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0".to_vec();
//! bytes.extend(b"\x0a\x07\x01\x05main\0"); // string 5
//! bytes.extend(b"\x02\x01");
//! let dir = tempfile::tempdir()?;
//! let path = dir.path().join("t.def");
//! std::fs::write(&path, bytes)?;
//!
//! let file = ChunkReader::open(&path, FileKind::GlobalDefinitions, 262_144)?;
//! let mut records = RecordReader::new(file);
//! let string = records.next()?.unwrap();
//! assert_eq!(string.name(), "String");
//! assert_eq!(string.unsigned("self")?, 5);
//! assert_eq!(string.text("string")?, b"main");
//! assert!(records.next()?.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::chunk::{Chunk, ChunkHeader, ChunkReader, FileKind};
use crate::error::{Error, Reason, Result, WireError};
use crate::fields::{FieldValue, Fields};
use crate::framing::{Record, Walker};
use crate::schema::{self, RecordSchema};
use crate::wire::Cursor;

/// The name of records that are not known.
const UNKNOWN: &str = "Unknown";

/// A record in its chunk.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    chunk: Chunk<'a>,
    record: Record,
    schema: Option<&'static RecordSchema>,
}

impl<'a> Entry<'a> {
    /// A record found in a chunk.
    #[inline]
    pub fn new(chunk: Chunk<'a>, record: Record) -> Self {
        Self {
            chunk,
            record,
            schema: schema::lookup(chunk.kind(), record.code),
        }
    }

    /// What the record is; `None` if its code is not known.
    pub const fn schema(&self) -> Option<&'static RecordSchema> {
        self.schema
    }

    /// The name of the record, `Unknown` if its code is not known.
    pub fn name(&self) -> &'static str {
        self.schema.map_or(UNKNOWN, |schema| schema.name)
    }

    /// Where it lies in its chunk.
    pub const fn record(&self) -> Record {
        self.record
    }

    /// The chunk it lies in.
    pub const fn chunk(&self) -> &Chunk<'a> {
        &self.chunk
    }

    /// Its offset in the file.
    pub const fn offset(&self) -> u64 {
        self.chunk.header().offset + self.record.start as u64
    }

    /// The bytes of the payload.
    pub fn payload(&self) -> Cursor<'a> {
        let endian = self.chunk.header().endian;
        Cursor::within(self.chunk.bytes(), self.record.payload_range(), endian)
    }

    /// Its fields as written; none if the record is not known.
    pub fn fields(&self) -> Fields<'a> {
        match self.schema {
            Some(schema) => Fields::new(schema, self.payload()),
            None => Fields::none(self.payload()),
        }
    }

    /// All fields as written, or the error with its place in the file.
    pub fn decode(&self) -> Result<Vec<FieldValue<'a>>> {
        self.fields()
            .collect::<Result<_, _>>()
            .map_err(|error| self.error(error))
    }

    /// An unsigned field by name; zero if there is no such field.
    pub fn unsigned(&self, name: &str) -> Result<u64> {
        let value = self.fields().get(name).map_err(|e| self.error(e))?;
        Ok(value.and_then(super::Value::unsigned).unwrap_or(0))
    }

    /// A string field by name; empty if there is no such field.
    pub fn text(&self, name: &str) -> Result<&'a [u8]> {
        let value = self.fields().get(name).map_err(|e| self.error(e))?;
        Ok(value.and_then(super::Value::text).unwrap_or_default())
    }

    /// Adds the file and the offset in it to a decoding error.
    #[cold]
    pub fn error(&self, error: WireError) -> Error {
        // The record itself is complete: a field that does not fit into it is
        // damage, not truncation.
        Error::corrupt(self.chunk.path(), self.chunk.header().offset, error)
    }
}

/// Streams the records of a file, one chunk in memory.
pub struct RecordReader {
    reader: ChunkReader,
    buffer: Vec<u8>,
    header: Option<ChunkHeader>,
    walker: Option<Walker>,
    unknown: u64,
}

impl RecordReader {
    /// A reader at the first record of a file without timestamps.
    pub fn new(reader: ChunkReader) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            header: None,
            walker: None,
            unknown: 0,
        }
    }

    /// The kind of file.
    pub const fn kind(&self) -> FileKind {
        self.reader.kind()
    }

    /// How many records were not known so far.
    pub const fn unknown(&self) -> u64 {
        self.unknown
    }

    /// The next record, `None` at the end of the file.
    #[allow(clippy::should_implement_trait)] // It lends from the buffer.
    pub fn next(&mut self) -> Result<Option<Entry<'_>>> {
        let Some((header, record)) = self.find()? else {
            return Ok(None);
        };
        let kind = self.reader.kind();
        let chunk = Chunk::new(self.reader.path(), kind, header, &self.buffer);
        let entry = Entry::new(chunk, record);
        self.unknown += u64::from(entry.schema.is_none());
        Ok(Some(entry))
    }

    fn find(&mut self) -> Result<Option<(ChunkHeader, Record)>> {
        loop {
            if let (Some(walker), Some(header)) = (&mut self.walker, self.header) {
                match walker.step(&self.buffer) {
                    Ok(Some(record)) => return Ok(Some((header, record))),
                    Ok(None) if walker.ended_file() => return Ok(None),
                    Ok(None) => {}
                    Err(error) => return Err(self.reader.error(&header, error)),
                }
            }
            self.header = self.reader.read_into(&mut self.buffer)?;
            let Some(header) = self.header else {
                return Err(self.reader.without_end());
            };
            self.walker = Some(Walker::new(self.reader.kind(), &header));
        }
    }
}

/// Streams the records of an event or snapshot file and keeps track of what
/// belongs to them: their time, their number and their attributes.
pub(crate) struct TimedReader {
    reader: ChunkReader,
    buffer: Vec<u8>,
    header: Option<ChunkHeader>,
    walker: Option<Walker>,
    time: Option<u64>,
    number: u64,
}

/// A record with a time.
#[derive(Clone, Copy)]
pub(crate) struct Timed {
    pub(crate) record: Record,
    pub(crate) time: u64,
    /// Counted from 1.
    pub(crate) number: u64,
    /// Position of the first attribute list, if there is one.
    pub(crate) attributes: Option<u32>,
}

impl TimedReader {
    pub(crate) fn new(reader: ChunkReader) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            header: None,
            walker: None,
            time: None,
            number: 0,
        }
    }

    /// The chunk that the last record lies in.
    #[inline]
    pub(crate) fn chunk(&self, header: ChunkHeader) -> Chunk<'_> {
        Chunk::new(self.reader.path(), self.reader.kind(), header, &self.buffer)
    }

    /// The next record and the header of its chunk.
    #[inline]
    pub(crate) fn step(&mut self) -> Result<Option<(ChunkHeader, Timed)>> {
        loop {
            if let Some(header) = self.header {
                match self.step_in_chunk() {
                    Ok(Some(timed)) => return Ok(Some((header, timed))),
                    Ok(None) => {}
                    Err(error) => return Err(self.reader.error(&header, error)),
                }
            }
            if !self.next_chunk()? {
                return Ok(None);
            }
        }
    }

    /// Loads the next chunk. `false` after the end of the file.
    fn next_chunk(&mut self) -> Result<bool> {
        if self.walker.is_some_and(|walker| walker.ended_file()) {
            return Ok(false);
        }
        self.header = self.reader.read_into(&mut self.buffer)?;
        let Some(header) = self.header else {
            return Err(self.reader.without_end());
        };
        self.walker = Some(Walker::new(self.reader.kind(), &header));
        Ok(true)
    }

    #[inline]
    fn step_in_chunk(&mut self) -> Result<Option<Timed>, WireError> {
        let Some(walker) = &mut self.walker else {
            return Ok(None);
        };
        let mut attributes = None;
        let mut pending = None;
        while let Some(record) = walker.step(&self.buffer)? {
            match record.code {
                crate::framing::TIMESTAMP => {
                    let range = record.payload_range();
                    self.time = Some(Cursor::within(&self.buffer, range, walker.endian()).x64()?);
                }
                crate::framing::ATTRIBUTE_LIST => {
                    attributes = attributes.or(Some(record.start));
                }
                _ => {
                    self.number += 1;
                    return Ok(Some(Timed {
                        record,
                        time: self.time.ok_or(error_at(record, Reason::NoTimestamp))?,
                        number: self.number,
                        attributes,
                    }));
                }
            }
            pending = Some(record);
        }
        match pending {
            Some(record) => Err(error_at(record, Reason::Dangling)),
            None => Ok(None),
        }
    }
}

#[inline]
fn error_at(record: Record, reason: Reason) -> WireError {
    WireError {
        at: record.start,
        reason,
    }
}
