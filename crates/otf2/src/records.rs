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
//! let mut records = RecordReader::new(file)?;
//! let string = records.next()?.unwrap();
//! assert_eq!(string.name(), "String");
//! assert_eq!(string.unsigned("self")?, 5);
//! assert_eq!(string.text("string")?, b"main");
//! assert!(records.next()?.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::chunk::{Chunk, ChunkReader, FileKind};
use crate::error::{Error, Result, WireError};
use crate::fields::{FieldValue, Fields};
use crate::framing::Record;
use crate::schema::{self, RecordSchema};
use crate::stream::Stream;
use crate::value::Value;
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

    /// The kind of the record in the schema; `None` if its code is not known.
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
        Ok(value.and_then(Value::unsigned).unwrap_or(0))
    }

    /// A string field by name; empty if there is no such field.
    pub fn text(&self, name: &str) -> Result<&'a [u8]> {
        let value = self.fields().get(name).map_err(|e| self.error(e))?;
        Ok(value.and_then(Value::text).unwrap_or_default())
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
    stream: Stream,
    unknown: u64,
}

impl RecordReader {
    /// A reader at the first record of a file without timestamps.
    pub fn new(reader: ChunkReader) -> Result<Self> {
        Ok(Self {
            stream: Stream::new(reader)?,
            unknown: 0,
        })
    }

    /// The kind of file.
    pub const fn kind(&self) -> FileKind {
        self.stream.kind()
    }

    /// How many records were not known so far.
    pub const fn unknown(&self) -> u64 {
        self.unknown
    }

    /// The next record, `None` at the end of the file and after an error.
    #[allow(clippy::should_implement_trait)] // It lends from the buffer.
    pub fn next(&mut self) -> Result<Option<Entry<'_>>> {
        loop {
            match self.stream.step() {
                Ok(Some(record)) => {
                    let entry = Entry::new(self.stream.chunk(), record);
                    self.unknown += u64::from(entry.schema.is_none());
                    return Ok(Some(entry));
                }
                Ok(None) if self.stream.next_chunk()? => {}
                Ok(None) => return Ok(None),
                Err(error) => return Err(self.stream.fail(error)),
            }
        }
    }
}
