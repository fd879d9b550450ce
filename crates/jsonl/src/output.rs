//! A new file, plain or gzip, with the check sum of its content.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crc32fast::Hasher;
use flate2::Compression;
use flate2::write::GzEncoder;

use retime_model::format::FileError;

use crate::error::JsonlError;

/// Bytes that are written at a time.
const BLOCK: usize = 1 << 16;

/// How hard to compress. On lines of traces files get 8 % larger than by gzip with its
/// default of 6, and the same library takes 2.4 times as long at 6.
const LEVEL: u32 = 3;

/// A file that is written.
pub(crate) struct Output {
    path: PathBuf,
    target: Target,
    crc: Hasher,
    buffer: Vec<u8>,
}

enum Target {
    Plain(File),
    Gzip(GzEncoder<File>),
}

impl Output {
    /// Creates a file that does not exist yet.
    pub(crate) fn create(path: &Path, is_gzip: bool) -> Result<Self, JsonlError> {
        let file = File::create_new(path).map_err(|source| FileError::io(path, source))?;
        Ok(Self {
            path: path.to_owned(),
            target: if is_gzip {
                Target::Gzip(GzEncoder::new(file, Compression::new(LEVEL)))
            } else {
                Target::Plain(file)
            },
            crc: Hasher::new(),
            buffer: Vec::with_capacity(BLOCK),
        })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), JsonlError> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= BLOCK {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes the digits of a number.
    pub(crate) fn number(&mut self, mut number: u64) -> Result<(), JsonlError> {
        // As many as 2^64 - 1 has.
        let mut digits = [0; 20];
        let mut used = 0;
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
            used += 1;
            if number == 0 {
                break;
            }
        }
        self.write(&digits[digits.len() - used..])
    }

    fn flush(&mut self) -> Result<(), JsonlError> {
        self.crc.update(&self.buffer);
        let written = match &mut self.target {
            Target::Plain(file) => file.write_all(&self.buffer),
            Target::Gzip(encoder) => encoder.write_all(&self.buffer),
        };
        self.buffer.clear();
        written.map_err(|source| self.failed(source))
    }

    /// Writes what is left; the check sum of all content, uncompressed.
    pub(crate) fn finish(mut self) -> Result<u32, JsonlError> {
        self.flush()?;
        if let Target::Gzip(encoder) = &mut self.target
            && let Err(source) = encoder.try_finish()
        {
            return Err(self.failed(source));
        }
        Ok(self.crc.finalize())
    }

    fn failed(&self, source: io::Error) -> JsonlError {
        FileError::io(&self.path, source).into()
    }
}
