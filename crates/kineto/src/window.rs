//! A file from its beginning to its end, plain or gzip, through a window that moves.
//!
//! What is looked at lies in one piece in memory: an event is read whole, however the
//! system cuts the file. So the window grows to the longest event, and no further.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crc32fast::Hasher;
use flate2::bufread::MultiGzDecoder;
use retime_model::Monitor;
use retime_model::format::FormatError;

use crate::error::KinetoError;

/// Bytes that are read at a time: enough that calls of the system do not count, few enough
/// that they are still in a core's cache when they are looked at.
const BLOCK: usize = 1 << 18;

/// The longest event, or value of the header, that is read: thousands of times what
/// profilers write, and a limit to what damaged files can make memory grow to.
pub(crate) const LONGEST: usize = 64 << 20;

/// How gzip data begins.
const GZIP: [u8; 2] = [0x1F, 0x8B];

/// A byte order mark, which may precede JSON.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A part of a file, in memory.
pub(crate) struct Window<'a> {
    path: &'a Path,
    source: Box<dyn Read + Send + 'a>,
    monitor: &'a dyn Monitor,
    /// Whether the file is compressed.
    pub(crate) is_gzip: bool,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Where in the content of the file the window starts.
    offset: u64,
    at_end: bool,
    crc: Hasher,
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

/// The content of a file, and whether it is compressed.
fn content<'a>(file: impl Read + Send + 'a) -> io::Result<(Box<dyn Read + Send + 'a>, bool)> {
    let mut file = BufReader::with_capacity(BLOCK, file);
    // Bytes that are read before an interrupt comes stay in the buffer.
    while let Err(error) = file.fill_buf() {
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(if file.buffer().starts_with(&GZIP) {
        (Box::new(MultiGzDecoder::new(file)), true)
    } else {
        (Box::new(file), false)
    })
}

/// The first bytes of the content of a file, no more than so many. Where compressed data
/// is damaged, what comes before that.
pub(crate) fn first_bytes(path: &Path, count: u64) -> io::Result<Vec<u8>> {
    let (content, is_gzip) = content(File::open(path)?)?;
    let mut bytes = Vec::new();
    match content.take(count).read_to_end(&mut bytes) {
        Err(error) if !is_gzip || error.raw_os_error().is_some() => Err(error),
        _ => Ok(bytes),
    }
}

impl<'a> Window<'a> {
    pub(crate) fn open(path: &'a Path, monitor: &'a dyn Monitor) -> Result<Self, FormatError> {
        let failed = |source| KinetoError::io(path, source);
        let file = File::open(path).map_err(failed)?;
        let (source, is_gzip) = content(Watched { file, monitor }).map_err(failed)?;
        Ok(Self {
            path,
            source,
            monitor,
            is_gzip,
            buffer: vec![0; 2 * BLOCK],
            start: 0,
            end: 0,
            offset: 0,
            at_end: false,
            crc: Hasher::new(),
        })
    }

    /// What is in the window.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// Where in the content of the file that starts.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Moves on by so many bytes, which are in the window.
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.start += bytes;
        self.offset += bytes as u64;
    }

    /// Skips a byte order mark at the beginning.
    pub(crate) fn skip_byte_order_mark(&mut self) -> Result<(), FormatError> {
        while self.bytes().len() < BYTE_ORDER_MARK.len() && self.more()? {}
        if self.bytes().starts_with(BYTE_ORDER_MARK) {
            self.advance(BYTE_ORDER_MARK.len());
        }
        Ok(())
    }

    /// Reads more behind what is in the window; whether there was more.
    pub(crate) fn more(&mut self) -> Result<bool, FormatError> {
        self.monitor.check()?;
        if self.at_end {
            return Ok(false);
        }
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end > LONGEST {
            let what = format!(
                "is longer than {} MiB; is this a trace in Chrome's format?",
                LONGEST >> 20
            );
            return Err(self.syntax(0, &what));
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
        let count = read.map_err(|source| KinetoError::Read {
            path: self.path.to_owned(),
            byte: self.offset + self.end as u64,
            source,
        })?;
        self.crc.update(room.get(..count).unwrap_or_default());
        self.end += count;
        self.at_end = count == 0;
        Ok(count > 0)
    }

    /// The check sum of all that was read, uncompressed.
    pub(crate) fn crc(&self) -> u32 {
        self.crc.clone().finalize()
    }

    /// What is wrong with the content, so many bytes into the window.
    pub(crate) fn syntax(&self, at: usize, what: &str) -> FormatError {
        syntax(self.path, self.offset + at as u64, what)
    }
}

/// What is wrong with the content of a file at a byte of it. Lines are only counted now
/// that one has to be told.
pub(crate) fn syntax(path: &Path, byte: u64, what: &str) -> FormatError {
    KinetoError::Syntax {
        path: PathBuf::from(path),
        line: line_of(path, byte).unwrap_or_default(),
        byte,
        what: what.to_owned(),
    }
    .into()
}

/// The line in which a byte stands, from 1.
fn line_of(path: &Path, byte: u64) -> io::Result<u64> {
    let (content, _) = content(File::open(path)?)?;
    let mut before = BufReader::with_capacity(BLOCK, content.take(byte));
    let mut line = 1;
    loop {
        let bytes = before.fill_buf()?;
        if bytes.is_empty() {
            return Ok(line);
        }
        line += memchr::memchr_iter(b'\n', bytes).count() as u64;
        let count = bytes.len();
        before.consume(count);
    }
}
