//! The lines of a file, plain or gzip.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use crc32fast::Hasher;
use flate2::bufread::MultiGzDecoder;
use retime_model::Monitor;
use retime_model::format::FormatError;

use crate::error::JsonlError;
use crate::line::LONGEST;

/// Bytes that are read at a time.
const BLOCK: usize = 1 << 16;

/// How gzip data begins.
pub(crate) const GZIP: [u8; 2] = [0x1F, 0x8B];

/// The first bytes of a reader, which are not taken from it.
pub(crate) fn start_of(reader: &mut BufReader<impl Read>) -> io::Result<&[u8]> {
    // Bytes that are read before an interrupt comes stay in the buffer.
    while let Err(error) = reader.fill_buf() {
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(reader.buffer())
}

/// Reads a file line by line.
pub(crate) struct Lines<'a> {
    path: &'a Path,
    source: Box<dyn Read + 'a>,
    monitor: &'a dyn Monitor,
    /// Whether the file is compressed.
    pub(crate) is_gzip: bool,
    buffer: Vec<u8>,
    /// What of the buffer is not given out yet, and how much of that is known to
    /// hold no line end.
    start: usize,
    searched: usize,
    end: usize,
    at_end: bool,
    crc: Hasher,
    /// The line that was given out last, from 1.
    pub(crate) number: u64,
}

/// A file whose progress is watched.
struct Watched<'a> {
    file: File,
    monitor: &'a dyn Monitor,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.monitor.advance(count as u64);
        Ok(count)
    }
}

impl<'a> Lines<'a> {
    pub(crate) fn open(path: &'a Path, monitor: &'a dyn Monitor) -> Result<Self, JsonlError> {
        let failed = |source| JsonlError::Io {
            path: path.to_owned(),
            source,
        };
        let file = File::open(path).map_err(failed)?;
        let mut file = BufReader::with_capacity(BLOCK, Watched { file, monitor });
        let is_gzip = start_of(&mut file).map_err(failed)?.starts_with(&GZIP);
        let source: Box<dyn Read + 'a> = if is_gzip {
            Box::new(MultiGzDecoder::new(file))
        } else {
            Box::new(file)
        };
        Ok(Self {
            path,
            source,
            monitor,
            is_gzip,
            buffer: vec![0; 2 * BLOCK],
            start: 0,
            searched: 0,
            end: 0,
            at_end: false,
            crc: Hasher::new(),
            number: 0,
        })
    }

    /// The next line with its line end, `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, FormatError> {
        let end = loop {
            let from = self.start + self.searched;
            let unread = self.buffer.get(from..self.end).unwrap_or_default();
            if let Some(at) = memchr::memchr(b'\n', unread) {
                break from + at + 1;
            }
            self.searched = self.end - self.start;
            if self.at_end {
                break self.end;
            }
            self.fill()?;
        };
        let line = self.start..end;
        self.start = end;
        self.searched = 0;
        if line.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        Ok(self.buffer.get(line))
    }

    /// Reads more behind what is not given out yet.
    fn fill(&mut self) -> Result<(), FormatError> {
        self.monitor.check()?;
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end > LONGEST {
            let what = format!(
                "is longer than {} MiB; is this a file of JSON lines?",
                LONGEST >> 20
            );
            return Err(self.error(self.number + 1, what).into());
        }
        if self.buffer.len() < self.end + BLOCK {
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        let read = loop {
            match self.source.read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        let count = read.map_err(|source| JsonlError::Read {
            path: self.path.to_owned(),
            line: self.number,
            source,
        })?;
        self.crc.update(room.get(..count).unwrap_or_default());
        self.end += count;
        self.at_end = count == 0;
        Ok(())
    }

    /// The check sum of all that was read, uncompressed.
    pub(crate) fn crc(&self) -> u32 {
        self.crc.clone().finalize()
    }

    pub(crate) fn path(&self) -> &'a Path {
        self.path
    }

    pub(crate) fn error(&self, line: u64, what: String) -> JsonlError {
        JsonlError::Line {
            path: self.path.to_owned(),
            line,
            what,
        }
    }
}
