//! An archive of documents with their manifest: TAR, as viewers read it.
//!
//! Members are plain, also of compressed files: a reader takes a compressed member for an
//! archive of its own, of which a manifest says nothing. So a compressed file is read twice,
//! as the size of a member stands before it.

use std::io::{self, Read, Write};
use std::path::Path;

use retime_gzip::content;
use retime_model::format::FormatError;
use retime_model::{Monitor, open_regular};
use tar::{Builder, EntryType, Header};

use crate::error::MergeError;
use crate::manifest::{MANIFEST, manifest};
use crate::member::Member;

/// Bytes that are copied between two questions whether to stop.
const BLOCK: u64 = 1 << 20;

/// Writes the files as members, after the manifest.
pub fn archive<'a>(
    members: &[Member],
    files: impl Iterator<Item = &'a Path>,
    out: &mut (dyn Write + Send),
    monitor: &dyn Monitor,
) -> Result<u64, MergeError> {
    let mut builder = Builder::new(Counted { out, bytes: 0 });
    let text = manifest(members);
    let head = header(text.len() as u64);
    append(&mut builder, head, MANIFEST, text.as_bytes())?;
    for (member, path) in members.iter().zip(files) {
        let (plain, is_gzip) = content(open_regular(path)?)?;
        let size = if is_gzip {
            length(plain, monitor)?
        } else {
            std::fs::metadata(path)?.len()
        };
        let (plain, _) = content(open_regular(path)?)?;
        let watched = Stoppable { plain, monitor };
        append(&mut builder, header(size), &member.name, watched)?;
        monitor.check().map_err(FormatError::from)?;
    }
    Ok(builder.into_inner()?.bytes)
}

fn append<W: Write>(
    builder: &mut Builder<W>,
    mut header: Header,
    name: &str,
    content: impl Read,
) -> io::Result<()> {
    header.set_path(name)?;
    header.set_cksum();
    builder.append(&header, content)
}

/// The head of a member: readable, of nobody, and of no time, so that the same files give the
/// same archive.
fn header(size: u64) -> Header {
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o644);
    header.set_mtime(0);
    header.set_size(size);
    header
}

fn length(mut plain: impl Read, monitor: &dyn Monitor) -> Result<u64, MergeError> {
    let mut length = 0;
    loop {
        let copied = io::copy(&mut (&mut plain).take(BLOCK), &mut io::sink())?;
        length += copied;
        monitor.check().map_err(FormatError::from)?;
        if copied == 0 {
            return Ok(length);
        }
    }
}

/// A reader that ends when somebody says to stop.
struct Stoppable<'a, R> {
    plain: R,
    monitor: &'a dyn Monitor,
}

impl<R: Read> Read for Stoppable<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.monitor.check().map_err(io::Error::other)?;
        self.plain.read(buffer)
    }
}

/// Counts what is written.
struct Counted<'a> {
    out: &'a mut (dyn Write + Send),
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let count = self.out.write(buffer)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
