//! Bytes that are written, with their check sum.

use std::fs::{File, Metadata};
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};

use crc32fast::Hasher;
use retime_model::{Modified, Part, resemble_opened};

use crate::error::{Error, Result};

/// A new file.
pub(crate) struct Output {
    path: PathBuf,
    file: File,
    crc: Hasher,
}

impl Output {
    /// Creates a file that does not exist yet.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let file = File::create_new(path).map_err(|source| Error::io(path, source))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            crc: Hasher::new(),
        })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.crc.update(bytes);
        self.file
            .write_all(bytes)
            .map_err(|source| Error::io(&self.path, source))
    }

    /// Writes what was read from a file that may have holes.
    pub(crate) fn write_part(&mut self, part: Part<'_>) -> Result<()> {
        self.crc.update(part.bytes());
        part.write(&mut self.file)
            .map_err(|source| Error::io(&self.path, source))
    }

    /// Starts again with an empty file.
    pub(crate) fn restart(&mut self) -> Result<()> {
        self.crc = Hasher::new();
        self.file
            .set_len(0)
            .and_then(|()| self.file.rewind())
            .map_err(|source| Error::io(&self.path, source))
    }

    /// Gives the file what it has of the `original` at `path` besides its content, and the
    /// time that belongs to that.
    pub(crate) fn resemble(
        &self,
        original: &Metadata,
        path: &Path,
        time: Option<Modified>,
    ) -> Result<()> {
        let given = resemble_opened(original, path, &self.file, time);
        given.map_err(|source| Error::io(&self.path, source))
    }

    /// Waits until the disk has what was written.
    pub(crate) fn sync(&self) -> Result<()> {
        let synced = self.file.sync_all();
        synced.map_err(|source| Error::io(&self.path, source))
    }

    /// The check sum of what was written.
    pub(crate) fn crc(&self) -> u32 {
        self.crc.clone().finalize()
    }
}
