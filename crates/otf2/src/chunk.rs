//! Files as sequences of chunks, one chunk in memory at a time.
//!
//! All files but the anchor consist of chunks of a fixed size; the last one
//! is cut where its content ends. A chunk is
//!
//! | offset | bytes |
//! | --- | --- |
//! | 0 | `03` |
//! | 1 | byte order mark |
//! | 2 | number of the first event, 8 bytes |
//! | 10 | number of the last event, 8 bytes |
//! | 18 | records, see [`crate::framing`] |
//!
//! and ends with `00` up to the chunk size or, in the last chunk, with
//! `02 01`. A file that stops without `02` is truncated, and said to be so.
//!
//! ```
//! use retime_otf2::{Chunk, ChunkHeader, FileKind};
//! use std::path::Path;
//!
//! let mut bytes = vec![0x03, 0x42, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
//! bytes.extend([0x05, 7, 0, 0, 0, 0, 0, 0, 0]); // time 7
//! bytes.extend([0x0c, 0x01, 0x03]); // enter region 3
//! bytes.extend([0x02, 0x01]);
//! let header = ChunkHeader::parse(&bytes, 0, true)?;
//! let chunk = Chunk::new(Path::new("0.evt"), FileKind::Events, header, &bytes);
//! let codes: Vec<u8> = chunk.records().flatten().map(|record| record.code).collect();
//! assert_eq!(codes, [5, 12]);
//! # Ok::<(), retime_otf2::WireError>(())
//! ```

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::error::{Error, Reason, Result, WireError};
use crate::framing::{Records, Walker};
pub use crate::header::{CHUNK_HEADER, ChunkHeader, FileKind};
use retime_model::{Version, open_regular};

/// The smallest chunk size that the format allows.
pub const MIN_CHUNK_SIZE: u64 = 256 << 10;
/// The largest chunk size that the format allows.
pub const MAX_CHUNK_SIZE: u64 = 16 << 20;
/// The chunk size of thumbnail files.
pub const THUMBNAIL_CHUNK_SIZE: u64 = 1 << 20;

/// One chunk in memory.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    path: &'a Path,
    kind: FileKind,
    header: ChunkHeader,
    bytes: &'a [u8],
}

impl<'a> Chunk<'a> {
    /// A view of the bytes of a chunk, header included.
    pub const fn new(path: &'a Path, kind: FileKind, header: ChunkHeader, bytes: &'a [u8]) -> Self {
        Self {
            path,
            kind,
            header,
            bytes,
        }
    }

    /// The file it belongs to.
    pub const fn path(&self) -> &'a Path {
        self.path
    }

    /// The kind of the file that the chunk is from.
    pub const fn kind(&self) -> FileKind {
        self.kind
    }

    /// Its header.
    pub const fn header(&self) -> ChunkHeader {
        self.header
    }

    /// All bytes, header included.
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The records.
    #[inline]
    pub fn records(&self) -> Records<'a> {
        Records::new(self.bytes, Walker::new(self.kind, &self.header))
    }

    /// Adds the file and the offset in it to a decoding error.
    #[cold]
    pub fn error(&self, error: WireError) -> Error {
        located(self.path, &self.header, error)
    }
}

#[cold]
fn located(path: &Path, header: &ChunkHeader, error: WireError) -> Error {
    if header.last_in_file {
        Error::at_file_end(path, header.offset, error)
    } else {
        Error::corrupt(path, header.offset, error)
    }
}

/// Reads a file chunk by chunk.
#[derive(Debug)]
pub struct ChunkReader {
    path: PathBuf,
    file: File,
    kind: FileKind,
    chunk_size: u64,
    file_size: u64,
    version: Version,
    next: u64,
    buffer: Vec<u8>,
}

impl ChunkReader {
    /// Opens a file with chunks of the given size.
    ///
    /// A file that does not exist is an [`Error::Io`] of kind `NotFound`; an
    /// empty one is truncated.
    pub fn open(path: &Path, kind: FileKind, chunk_size: u64) -> Result<Self> {
        if !(MIN_CHUNK_SIZE..=MAX_CHUNK_SIZE).contains(&chunk_size) {
            let error = WireError::new(0, Reason::ChunkSize);
            return Err(Error::corrupt(path, 0, error));
        }
        let file = open_regular(path).map_err(|source| Error::io(path, source))?;
        let found = file.metadata();
        let found = found.map_err(|source| Error::io(path, source))?;
        let file_size = found.len();
        if file_size == 0 {
            let error = WireError::new(0, Reason::Empty);
            return Err(Error::at_file_end(path, 0, error));
        }
        Ok(Self {
            path: path.to_owned(),
            file,
            kind,
            chunk_size,
            file_size,
            version: Version::of(&found),
            next: 0,
            buffer: Vec::new(),
        })
    }

    /// The file being read.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The kind of the file that is read.
    pub const fn kind(&self) -> FileKind {
        self.kind
    }

    /// The size of the file when it was opened.
    pub const fn file_size(&self) -> u64 {
        self.file_size
    }

    /// The version of the file when it was opened.
    pub(crate) const fn version(&self) -> Version {
        self.version
    }

    /// The size of a chunk.
    pub const fn chunk_size(&self) -> u64 {
        self.chunk_size
    }

    /// Reads the next chunk into the reader's own buffer.
    ///
    /// `None` after the last chunk of the file. Stop earlier when a chunk's
    /// records end with the end-of-file mark, see
    /// [`Walker::ended_file`]: what lies behind it is no data.
    pub fn next_chunk(&mut self) -> Result<Option<Chunk<'_>>> {
        let mut buffer = std::mem::take(&mut self.buffer);
        let header = self.read_into(&mut buffer);
        self.buffer = buffer;
        Ok(header?.map(|header| Chunk::new(&self.path, self.kind, header, &self.buffer)))
    }

    /// Reads the next chunk into a buffer of the caller, who may then change
    /// it. The buffer is resized to the bytes of the chunk.
    pub fn read_into(&mut self, buffer: &mut Vec<u8>) -> Result<Option<ChunkHeader>> {
        let left = self.file_size - self.next;
        if left == 0 {
            return Ok(None);
        }
        let size = left.min(self.chunk_size);
        buffer.resize(size as usize, 0);
        self.file.read_exact(buffer).map_err(|e| self.short(e))?;
        let offset = self.next;
        self.next += size;
        match ChunkHeader::parse(buffer, offset, size == left) {
            Ok(header) => Ok(Some(header)),
            Err(error) if size == left => Err(Error::at_file_end(&self.path, offset, error)),
            Err(error) => Err(Error::corrupt(&self.path, offset, error)),
        }
    }

    /// Reads the bytes of the next chunk without looking at them: for what
    /// lies behind the end-of-file mark. `false` at the end of the file.
    pub(crate) fn read_behind_end(&mut self, buffer: &mut Vec<u8>) -> Result<bool> {
        let size = (self.file_size - self.next).min(self.chunk_size);
        buffer.resize(size as usize, 0);
        self.file.read_exact(buffer).map_err(|e| self.short(e))?;
        self.next += size;
        Ok(size > 0)
    }

    /// Starts again with the first chunk.
    pub fn rewind(&mut self) -> Result<()> {
        use std::io::Seek;
        self.file
            .rewind()
            .map_err(|source| Error::io(&self.path, source))?;
        self.next = 0;
        Ok(())
    }

    /// Adds the file and the offset in it to an error in a chunk that was
    /// read with [`read_into`](Self::read_into).
    #[cold]
    pub fn error(&self, header: &ChunkHeader, error: WireError) -> Error {
        located(&self.path, header, error)
    }

    /// The error of a file whose chunks end before its end-of-file mark.
    #[cold]
    pub(crate) fn without_end(&self) -> Error {
        let error = WireError::new(0, Reason::NoEndOfFile);
        Error::at_file_end(&self.path, self.next, error)
    }

    #[cold]
    fn short(&self, source: std::io::Error) -> Error {
        if source.kind() == ErrorKind::UnexpectedEof {
            return self.without_end();
        }
        Error::io(&self.path, source)
    }
}
