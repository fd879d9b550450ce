//! Bytes that are read, with their check sum.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crc32fast::Hasher;

use crate::chunk::{ChunkHeader, ChunkReader, FileKind};
use crate::error::{Error, Result, WireError};
use retime_model::{Monitor, open_regular, open_unlinked};

/// Bytes that are read at once from a file that is not decoded.
pub(crate) const BLOCK: usize = 1 << 20;

/// A file that is read chunk by chunk, perhaps twice.
pub(crate) struct Source<'a> {
    reader: ChunkReader,
    crc: Hasher,
    monitor: &'a dyn Monitor,
    position: u64,
    /// How much the monitor knows of.
    reported: u64,
}

impl<'a> Source<'a> {
    pub(crate) fn new(reader: ChunkReader, monitor: &'a dyn Monitor) -> Self {
        Self {
            reader,
            crc: Hasher::new(),
            monitor,
            position: 0,
            reported: 0,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.reader.path()
    }

    pub(crate) const fn kind(&self) -> FileKind {
        self.reader.kind()
    }

    pub(crate) const fn chunk_size(&self) -> usize {
        self.reader.chunk_size() as usize
    }

    /// Reads the next chunk. The file must not end here: that it does is
    /// known from its end-of-file mark.
    pub(crate) fn next(&mut self, buffer: &mut Vec<u8>) -> Result<ChunkHeader> {
        self.check()?;
        match self.reader.read_into(buffer)? {
            Some(header) => {
                self.account(buffer);
                Ok(header)
            }
            None => Err(self.reader.without_end()),
        }
    }

    /// Reads on behind the end-of-file mark. `false` at the end of the file.
    pub(crate) fn rest(&mut self, buffer: &mut Vec<u8>) -> Result<bool> {
        self.check()?;
        let more = self.reader.read_behind_end(buffer)?;
        self.account(buffer);
        Ok(more)
    }

    /// Starts again.
    pub(crate) fn restart(&mut self) -> Result<()> {
        self.reader.rewind()?;
        self.crc = Hasher::new();
        self.position = 0;
        Ok(())
    }

    /// The check sum of what was read.
    pub(crate) fn crc(&self) -> u32 {
        self.crc.clone().finalize()
    }

    #[cold]
    pub(crate) fn error(&self, header: &ChunkHeader, error: WireError) -> Error {
        self.reader.error(header, error)
    }

    fn check(&self) -> Result<()> {
        if self.monitor.cancelled() {
            return Err(Error::Cancelled);
        }
        Ok(())
    }

    fn account(&mut self, bytes: &[u8]) {
        self.crc.update(bytes);
        self.position += bytes.len() as u64;
        self.monitor
            .advance(self.position.saturating_sub(self.reported));
        self.reported = self.reported.max(self.position);
    }
}

/// A reader that computes a check sum and tells a monitor.
pub(crate) struct Summed<'a> {
    file: File,
    crc: Hasher,
    monitor: &'a dyn Monitor,
}

impl<'a> Summed<'a> {
    pub(crate) fn open(path: &Path, monitor: &'a dyn Monitor) -> Result<Self> {
        Self::of(path, open_regular(path), monitor)
    }

    /// Opens a file that is no link.
    pub(crate) fn open_unlinked(path: &Path, monitor: &'a dyn Monitor) -> Result<Self> {
        Self::of(path, open_unlinked(path), monitor)
    }

    fn of(path: &Path, opened: io::Result<File>, monitor: &'a dyn Monitor) -> Result<Self> {
        Ok(Self {
            file: opened.map_err(|source| Error::io(path, source))?,
            crc: Hasher::new(),
            monitor,
        })
    }

    pub(crate) const fn file(&self) -> &File {
        &self.file
    }

    /// The check sum of what was read.
    pub(crate) fn crc(self) -> u32 {
        self.crc.finalize()
    }
}

impl Read for Summed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.crc.update(buffer.get(..read).unwrap_or_default());
        self.monitor.advance(read as u64);
        Ok(read)
    }
}

/// Reads until the buffer is full or the file at its end, unless the monitor
/// says stop. The buffer is cut to what was read.
pub(crate) fn fill(
    reader: &mut impl Read,
    buffer: &mut Vec<u8>,
    size: usize,
    path: &Path,
    monitor: &dyn Monitor,
) -> Result<()> {
    if monitor.cancelled() {
        return Err(Error::Cancelled);
    }
    buffer.resize(size, 0);
    let mut filled = 0;
    while let Some(free) = buffer.get_mut(filled..).filter(|free| !free.is_empty()) {
        match reader.read(free) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::io(path, error)),
        }
    }
    buffer.truncate(filled);
    Ok(())
}

/// The check sum of a file.
pub(crate) fn crc_of(path: &Path, monitor: &dyn Monitor) -> Result<u32> {
    let mut file = Summed::open(path, monitor)?;
    let mut buffer = Vec::new();
    loop {
        fill(&mut file, &mut buffer, BLOCK, path, monitor)?;
        if buffer.is_empty() {
            return Ok(file.crc());
        }
    }
}
