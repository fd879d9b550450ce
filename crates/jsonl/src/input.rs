//! The lines of a file, plain or gzip.

use std::path::Path;

use retime_gzip::{Refused, Window};
use retime_model::format::{FileError, FormatError};
use retime_model::{Monitor, Watched, open_regular};

use crate::error::JsonlError;
use crate::line::LONGEST;

/// Reads a file line by line.
pub(crate) struct Lines<'a> {
    path: &'a Path,
    monitor: &'a dyn Monitor,
    window: Window<'a>,
    /// How much of the window is the line that was given out last.
    given: usize,
    /// The number of that line, from 1.
    pub(crate) number: u64,
}

impl<'a> Lines<'a> {
    pub(crate) fn open(path: &'a Path, monitor: &'a dyn Monitor) -> Result<Self, JsonlError> {
        let failed = |source| FileError::io(path, source);
        let reader = open_regular(path).map_err(failed)?;
        let window = Window::new(Watched { reader, monitor }, LONGEST).map_err(failed)?;
        Ok(Self {
            path,
            monitor,
            window,
            given: 0,
            number: 0,
        })
    }

    /// True if the file is compressed.
    pub(crate) fn is_gzip(&self) -> bool {
        self.window.is_gzip()
    }

    /// The next line with its line end, `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, FormatError> {
        self.window.advance(self.given);
        self.given = 0;
        // Up to here the window is known to hold no line end.
        let mut searched = 0;
        let end = loop {
            let unread = self.window.bytes().get(searched..).unwrap_or_default();
            if let Some(at) = memchr::memchr(b'\n', unread) {
                break searched + at + 1;
            }
            searched = self.window.bytes().len();
            if self.window.is_at_end() {
                break searched;
            }
            self.more()?;
        };
        if end == 0 {
            return Ok(None);
        }
        self.given = end;
        self.number += 1;
        Ok(self.window.bytes().get(..end))
    }

    /// Reads more behind what is not given out yet.
    fn more(&mut self) -> Result<(), FormatError> {
        self.monitor.check()?;
        match self.window.more() {
            Ok(_) => Ok(()),
            Err(Refused::TooLong) => {
                let most = LONGEST >> 20;
                let what = format!("is longer than {most} MiB; is this a file of JSON lines?");
                Err(self.error(self.number + 1, what).into())
            }
            Err(Refused::Read(source)) => Err(JsonlError::Read {
                path: self.path.to_owned(),
                line: self.number,
                source,
            }
            .into()),
        }
    }

    /// The check sum of all that was read, uncompressed.
    pub(crate) fn crc(&self) -> u32 {
        self.window.crc()
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
