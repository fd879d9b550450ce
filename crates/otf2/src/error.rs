//! Failures of reading and rewriting an archive, said so that a person can act on them.
//!
//! Decoding works on byte slices that do not know which file they came from,
//! so errors have two levels. [`WireError`] is eight bytes, cheap enough for
//! the innermost loop: a position in the buffer and a [`Reason`]. At the file
//! level it becomes an [`Error`] with the path and the offset in the file.
//!
//! ```
//! use retime_otf2::{Error, Reason, WireError};
//! use std::path::Path;
//!
//! let low = WireError { at: 21, reason: Reason::SizeByte };
//! let error = Error::corrupt(Path::new("t/0.evt"), 262_144, low);
//! assert_eq!(
//!     error.to_string(),
//!     "t/0.evt: damaged at byte 262165: impossible size byte of a compressed integer; \
//!      restore the file from the original archive"
//! );
//! ```

use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::{Path, PathBuf};

use retime_model::printable_path;

/// The result of anything that touches an archive.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a sequence of bytes is not what the format allows.
// As wide as the position beside it: what a result holds instead of an error (positions,
// times) is taken apart into as many pieces as the error has, and put together again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[non_exhaustive]
pub enum Reason {
    /// A field or record needs more bytes than its surroundings have.
    PastEnd,
    /// The size byte of a compressed integer is larger than the integer.
    SizeByte,
    /// A string has no closing NUL byte before its record ends.
    UnterminatedString,
    /// A list claims more elements than the record has bytes left.
    Count,
    /// A code that cannot start a record stands where a record must start.
    RecordCode,
    /// A chunk does not start with code 3.
    ChunkCode,
    /// The byte order mark is neither `0x42` nor `0x23`.
    ByteOrder,
    /// The file has no bytes at all.
    Empty,
    /// The last chunk ends without the end-of-file mark.
    NoEndOfFile,
    /// A chunk is full of records and has no end-of-chunk mark.
    NoEndOfChunk,
    /// A timestamp or attribute list is not followed by a record.
    Dangling,
    /// The timestamp record that every chunk must start with is missing.
    NoTimestamp,
    /// A number in the anchor file is outside of what the format allows.
    AnchorValue,
    /// A chunk size outside of 256 KiB to 16 MiB.
    ChunkSize,
    /// Clock offset records of a location whose times do not increase.
    ClockOrder,
}

impl Display for Reason {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PastEnd => "a record or field reaches past the end of its surroundings",
            Self::SizeByte => "impossible size byte of a compressed integer",
            Self::UnterminatedString => "string without end",
            Self::Count => "list with more elements than its record can hold",
            Self::RecordCode => "a code that cannot start a record",
            Self::ChunkCode => "chunk does not start with a chunk header",
            Self::ByteOrder => "byte order mark is neither 0x42 nor 0x23",
            Self::Empty => "the file is empty",
            Self::NoEndOfFile => "the file ends without an end-of-file mark",
            Self::NoEndOfChunk => "chunk without an end mark",
            Self::Dangling => "timestamp or attribute list without a record after it",
            Self::NoTimestamp => "event without a timestamp",
            Self::AnchorValue => "impossible value in the anchor file",
            Self::ChunkSize => "chunk size is not between 262144 and 16777216 bytes",
            Self::ClockOrder => "times of the clock offsets do not increase",
        })
    }
}

/// A decoding error before it is known which file it concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {at}: {reason}")]
pub struct WireError {
    /// Position in the buffer that was decoded. Buffers are chunks, hence 32 bits.
    pub at: u32,
    /// The damage found there.
    pub reason: Reason,
}

impl WireError {
    /// An error at a position of the buffer.
    pub const fn new(at: usize, reason: Reason) -> Self {
        Self {
            at: at as u32,
            reason,
        }
    }
}

/// An archive that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("{}: {source}", printable_path(path))]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },

    /// A file is not what it was when it was opened first.
    #[error(
        "{}: changed while it was being read; run this again once nothing writes to the trace \
         any more",
        printable_path(path)
    )]
    Changed {
        /// The file.
        path: PathBuf,
    },

    /// Bytes that the format does not allow.
    #[error(
        "{}: damaged at byte {offset}: {reason}; restore the file from the original archive",
        printable_path(path)
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// Offset in the file.
        offset: u64,
        /// The damage found there.
        reason: Reason,
    },

    /// The file is shorter than its content says.
    #[error(
        "{}: truncated, incomplete from byte {offset} on: {reason}; copy the file again, or record anew if the measurement was stopped",
        printable_path(path)
    )]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Offset in the file of what is not complete.
        offset: u64,
        /// The way in which content is missing: cut off, without an end mark, or none at all.
        reason: Reason,
    },

    /// The file is fine, but of a kind that is not supported.
    #[error("{}: {what}", printable_path(path))]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The feature that is not supported, and the way out.
        what: String,
    },

    /// The path does not lead to an OTF2 archive.
    #[error("{}: {why}", printable_path(path))]
    NotAnArchive {
        /// The path as given.
        path: PathBuf,
        /// The thing that is there instead, and the way out.
        why: String,
    },

    /// A directory with more than one archive.
    #[error(
        "{}: holds several archives, name one of them: {}",
        printable_path(path),
        list(anchors)
    )]
    SeveralArchives {
        /// The directory.
        path: PathBuf,
        /// The anchor files in it, sorted.
        anchors: Vec<PathBuf>,
    },

    /// A file that the archive cannot do without does not exist.
    #[error("{}: this file is missing: {why}", printable_path(path))]
    MissingFile {
        /// The file.
        path: PathBuf,
        /// Why it is needed.
        why: String,
    },

    /// A new time that is negative or too large for the format.
    #[error(
        "{}: the corrected time of {what} does not fit into 64 bits; choose another reference clock or offset",
        printable_path(path)
    )]
    TimeRange {
        /// The file with the old time.
        path: PathBuf,
        /// Whose time it is.
        what: String,
    },

    /// The archive is not the one that was corrected, or not unchanged.
    #[error("{}: cannot be restored: {why}", printable_path(path))]
    NotRestorable {
        /// The file.
        path: PathBuf,
        /// The difference to the archive that was corrected.
        why: String,
    },

    /// The [`Monitor`](crate::Monitor) asked to stop.
    #[error("cancelled")]
    Cancelled,

    /// Definitions that contradict each other so that no reading is sound.
    #[error("{}: {what}", printable_path(path))]
    Inconsistent {
        /// The file with the definitions.
        path: PathBuf,
        /// The contradiction.
        what: String,
    },
}

impl Error {
    /// A failed operation on a file.
    pub fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            source,
        }
    }

    /// A link to a file that is needed, or was there once.
    pub(crate) fn dangling(path: &Path) -> Self {
        Self::MissingFile {
            path: path.to_owned(),
            why: "a symbolic link to it is all that is left".to_owned(),
        }
    }

    /// Damage in a buffer that starts at offset `base` of a file.
    pub fn corrupt(path: &Path, base: u64, error: WireError) -> Self {
        Self::Corrupt {
            path: path.to_owned(),
            offset: base.saturating_add(u64::from(error.at)),
            reason: error.reason,
        }
    }

    /// An error as of [`corrupt`](Self::corrupt), for the last buffer of a file: what
    /// reaches past its end was cut off rather than overwritten.
    pub fn at_file_end(path: &Path, base: u64, error: WireError) -> Self {
        match error.reason {
            Reason::PastEnd | Reason::NoEndOfFile | Reason::Empty => Self::Truncated {
                path: path.to_owned(),
                offset: base.saturating_add(u64::from(error.at)),
                reason: error.reason,
            },
            _ => Self::corrupt(path, base, error),
        }
    }
}

fn list(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(printable_path).collect();
    names.join(", ")
}
