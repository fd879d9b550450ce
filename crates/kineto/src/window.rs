//! A file from its beginning to its end, and where in it something is wrong.

use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use retime_gzip::{Effort, Refused, content};
use retime_model::format::FormatError;
use retime_model::{Monitor, Watched, open_regular};

use crate::error::KinetoError;

/// The longest event, or value of the header, that is read: thousands of times what
/// profilers write, and a limit to what damaged files can make memory grow to.
pub(crate) const LONGEST: usize = 64 << 20;

/// Compressed files of so many bytes are unpacked on a thread of their own, if there are several.
const LONG: u64 = 1 << 20;

/// A byte order mark, which may precede JSON.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Bytes that are looked at together where lines are counted.
const BLOCK: usize = 1 << 18;

/// A part of a file, in memory.
pub(crate) struct Window<'a> {
    path: &'a Path,
    monitor: &'a dyn Monitor,
    inner: retime_gzip::Window<'a>,
}

impl<'a> Window<'a> {
    pub(crate) fn open(path: &'a Path, monitor: &'a dyn Monitor) -> Result<Self, FormatError> {
        let failed = |source| KinetoError::io(path, source);
        let reader = open_regular(path).map_err(failed)?;
        let is_long = reader.metadata().is_ok_and(|it| it.len() >= LONG);
        let inner = if is_long && rayon::current_num_threads() > 1 {
            retime_gzip::Window::ahead(reader, LONGEST, |bytes| monitor.advance(bytes))
        } else {
            retime_gzip::Window::new(Watched { reader, monitor }, LONGEST)
        };
        let inner = inner.map_err(failed)?;
        Ok(Self {
            path,
            monitor,
            inner,
        })
    }

    /// True if the file is compressed.
    pub(crate) fn is_gzip(&self) -> bool {
        self.inner.is_gzip()
    }

    /// The effort with which the file was compressed; `None` for plain text.
    pub(crate) fn effort(&self) -> Option<Effort> {
        self.inner.effort()
    }

    /// The bytes in the window.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.inner.bytes()
    }

    /// Where in the content of the file that starts.
    pub(crate) fn offset(&self) -> u64 {
        self.inner.offset()
    }

    /// Moves on by so many bytes, which are in the window.
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.inner.advance(bytes);
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
        self.inner.more().map_err(|refused| match refused {
            Refused::TooLong => {
                let most = LONGEST >> 20;
                let what =
                    format!("is longer than {most} MiB; is this a trace in Chrome's format?");
                self.syntax(0, &what)
            }
            Refused::Read(source) if source.raw_os_error().is_none() => KinetoError::Damaged {
                path: self.path.to_owned(),
                byte: self.offset() + self.bytes().len() as u64,
                what: format!("what is compressed is damaged from here on: {source}"),
            }
            .into(),
            Refused::Read(source) => KinetoError::Read {
                path: self.path.to_owned(),
                byte: self.offset() + self.bytes().len() as u64,
                source,
            }
            .into(),
        })
    }

    /// The check sum of all that was read, uncompressed.
    pub(crate) fn crc(&self) -> u32 {
        self.inner.crc()
    }

    /// The error of a mistake in the content, at a byte of the window.
    pub(crate) fn syntax(&self, at: usize, what: &str) -> FormatError {
        syntax(self.path, self.offset() + at as u64, what)
    }
}

/// The error of a mistake in the content of a file, at a byte of it. Lines are only counted now
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
    let (content, _) = content(open_regular(path)?)?;
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
