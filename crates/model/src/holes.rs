//! Holes of sparse files, which a copy has in the same places.
//!
//! Everything is read, holes as the zeros that they stand for. A part is left out of the copy
//! only if zeros were read and the file system says that there is a hole, so a copy has the
//! bytes that were read, whatever happens to the file meanwhile.
//!
//! ```
//! use retime_model::{Holes, Part};
//! use std::io::Read;
//!
//! let mut file = std::fs::File::open(std::env::current_exe()?)?;
//! let (mut holes, mut bytes) = (Holes::default(), [0; 4096]);
//! file.read_exact(&mut bytes)?;
//! // It starts with the name of its format.
//! assert_eq!(holes.parts(&file, &bytes)?, [Part::Data(&bytes)]);
//! # Ok::<(), std::io::Error>(())
//! ```

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;

/// Bytes that are looked at together, at multiples of it: blocks of file systems are not
/// smaller as a rule, and holes are made of blocks.
const PIECE: u64 = 4096;

/// All that is known of the holes of a file that is read from its start to its end.
#[derive(Debug, Default)]
pub struct Holes {
    /// Bytes that were read before.
    at: u64,
    /// The data found last; between what was asked for and its start is a hole.
    data: Range<u64>,
}

/// A part of the bytes that were read from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// Bytes that the file system stores.
    Data(&'a [u8]),
    /// Zeros that it does not.
    Hole(&'a [u8]),
}

impl<'a> Part<'a> {
    /// Its bytes, which are zeros in a hole.
    pub const fn bytes(self) -> &'a [u8] {
        match self {
            Self::Data(bytes) | Self::Hole(bytes) => bytes,
        }
    }

    /// Writes it to the end of a file, which is also its position.
    pub fn write(self, to: &mut File) -> io::Result<()> {
        match self {
            Self::Data(bytes) => to.write_all(bytes),
            Self::Hole(bytes) => {
                let end = to.seek(SeekFrom::Current(bytes.len() as i64))?;
                to.set_len(end)
            }
        }
    }
}

impl Holes {
    /// Divides the bytes that were read next from the file, the position of which is behind
    /// them, and stays there.
    pub fn parts<'a>(&mut self, file: &File, bytes: &'a [u8]) -> io::Result<Vec<Part<'a>>> {
        let behind = self.at + bytes.len() as u64;
        let mut parts = Vec::new();
        // Where the part begins that is not among them yet, and whether it is a hole.
        let (mut begin, mut in_hole) = (0, false);
        let mut rest = bytes;
        while !rest.is_empty() {
            let until_next = PIECE - self.at % PIECE;
            let (piece, after) = rest.split_at(rest.len().min(until_next as usize));
            let piece_end = self.at + piece.len() as u64;
            let is_hole = piece.iter().all(|&byte| byte == 0)
                && self.is_hole(file, self.at..piece_end, behind)?;
            let end = bytes.len() - rest.len();
            if is_hole != in_hole {
                parts.extend(part(bytes.get(begin..end), in_hole));
                (begin, in_hole) = (end, is_hole);
            }
            self.at = piece_end;
            rest = after;
        }
        parts.extend(part(bytes.get(begin..), in_hole));
        Ok(parts)
    }

    fn is_hole(&mut self, file: &File, piece: Range<u64>, position: u64) -> io::Result<bool> {
        if self.data.end <= piece.start {
            self.data = next_data(file, piece.start)?;
            let mut file = file;
            file.seek(SeekFrom::Start(position))?;
        }
        Ok(piece.end <= self.data.start)
    }
}

fn part(bytes: Option<&[u8]>, is_hole: bool) -> Option<Part<'_>> {
    let bytes = bytes.filter(|it| !it.is_empty())?;
    Some(if is_hole {
        Part::Hole(bytes)
    } else {
        Part::Data(bytes)
    })
}

/// The first data at a place of a file or behind it. All is data where the file system does
/// not know of holes.
#[cfg(target_os = "linux")]
fn next_data(file: &File, from: u64) -> io::Result<Range<u64>> {
    use rustix::fs::{SeekFrom, seek};
    use rustix::io::Errno;

    let start = match seek(file, SeekFrom::Data(from)) {
        // A hole reaches to the end.
        Err(Errno::NXIO) => return Ok(u64::MAX..u64::MAX),
        Err(Errno::INVAL | Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(from..u64::MAX),
        found => found?,
    };
    match seek(file, SeekFrom::Hole(start)) {
        // It was cut meanwhile.
        Err(Errno::NXIO) => Ok(start..u64::MAX),
        end => Ok(start..end?),
    }
}

#[cfg(not(target_os = "linux"))]
fn next_data(_: &File, from: u64) -> io::Result<Range<u64>> {
    Ok(from..u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Read;

    /// Copies with reads of a given size.
    fn copied(from: &std::path::Path, to: &std::path::Path, size: usize) -> io::Result<()> {
        let (mut file, mut copy) = (File::open(from)?, File::create(to)?);
        let (mut holes, mut buffer) = (Holes::default(), vec![0; size]);
        loop {
            let count = file.read(&mut buffer)?;
            if count == 0 {
                return Ok(());
            }
            for part in holes.parts(&file, buffer.get(..count).unwrap_or_default())? {
                part.write(&mut copy)?;
            }
        }
    }

    #[test]
    fn a_copy_has_the_bytes_for_any_holes_and_reads() -> io::Result<()> {
        let dir = std::env::temp_dir().join(format!("retime-holes-{}", std::process::id()));
        fs::create_dir_all(&dir)?;
        let (from, to) = (dir.join("from"), dir.join("to"));
        // Data with a hole before, between or behind, zeros that are stored, and only a hole.
        let data: [(&[(u64, u8)], u64); 5] = [
            (&[(1 << 20, 7)], (1 << 20) + 9_000),
            (&[(0, 1), (1 << 19, 2)], 1 << 21),
            (&[(8_192, 0), (100_000, 0)], 200_001),
            (&[], 1 << 20),
            (&[(0, 1), (3_000, 3), (6_000, 0)], 9_001),
        ];
        for (written, len) in data {
            let mut file = File::create(&from)?;
            for &(at, byte) in written {
                file.seek(SeekFrom::Start(at))?;
                file.write_all(&[byte; 3_000])?;
            }
            file.set_len(len)?;
            file.sync_all()?;
            for size in [1_000, 4_096, 1 << 18] {
                copied(&from, &to, size)?;
                assert!(fs::read(&from)? == fs::read(&to)?, "{written:?} {size}");
            }
            assert_as_large(&from, &to)?;
        }
        fs::remove_dir_all(&dir)
    }

    /// The copy takes no more of the disk than the original, where file systems know.
    #[cfg(target_os = "linux")]
    fn assert_as_large(from: &std::path::Path, to: &std::path::Path) -> io::Result<()> {
        use std::os::unix::fs::MetadataExt;
        File::open(to)?.sync_all()?;
        let (from, to) = (fs::metadata(from)?, fs::metadata(to)?);
        assert!(to.blocks() <= from.blocks(), "{from:?} {to:?}");
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    fn assert_as_large(_: &std::path::Path, _: &std::path::Path) -> io::Result<()> {
        Ok(())
    }
}
