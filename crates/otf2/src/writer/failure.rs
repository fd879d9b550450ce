//! Failures of writing an archive.

use std::{io, path::PathBuf};

use retime_model::printable_path;

/// Why an archive could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The operating system refused to create or write a file.
    #[error("cannot write {}: {source}", printable_path(path))]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The reason it gave.
        source: io::Error,
    },
    /// The anchor's name does not end in `.otf2`.
    #[error("the anchor {} must have a name that ends in .otf2", printable_path(.0))]
    AnchorName(PathBuf),
    /// Readers refuse archives with such a chunk size.
    #[error("chunks of {0} bytes are not readable, the size must be within 262144..=16777216")]
    ChunkSize(u64),
    /// An event is older than the one before it on the same location.
    #[error(
        "location {location}: event {number} at time {time} comes after one at time {previous}"
    )]
    TimeGoesBack {
        /// Id of the location.
        location: u64,
        /// Number of the refused event, from 0.
        number: u64,
        /// Time of the event before it.
        previous: u64,
        /// Time of the refused event.
        time: u64,
    },
    /// A record does not fit into a chunk, and records cannot be divided.
    #[error("a record with code {code} needs {size} bytes, more than one chunk holds")]
    RecordTooLarge {
        /// Code of the record.
        code: u8,
        /// Bytes it would take, attributes included.
        size: usize,
    },
    /// The code belongs to the framing of the file, not to a record.
    #[error("code {0} is reserved for the framing of the file")]
    ReservedCode(u8),
    /// A record that is known only to exist has no content to write.
    #[error("what an event with code {0} says is not known, so it cannot be written")]
    UnknownEvent(u8),
    /// The payload of this record must be exactly one compressed integer.
    #[error("the payload of an event with code {0} must be one compressed integer")]
    SingletonPayload(u8),
    /// An event would carry the same attribute twice, which readers refuse.
    #[error("attribute {0} is attached twice to the same event")]
    RepeatedAttribute(u32),
    /// Attributes were attached, but no event followed.
    #[error("location {0}: attributes were attached to an event that never came")]
    DanglingAttributes(u64),
    /// More elements than the count field of a record can express.
    #[error("a record with code {code} cannot hold {count} elements")]
    TooManyElements {
        /// Code of the record.
        code: u8,
        /// Number of elements.
        count: usize,
    },
    /// OTF2 text ends at the first NUL byte.
    #[error("{0:?} contains a NUL character, which OTF2 cannot store")]
    NulInText(String),
    /// The largest 64-bit number means "no location".
    #[error("{} is not a valid location id", u64::MAX)]
    LocationId,
    /// Two definitions of a location with the same id.
    #[error("location {0} is defined twice")]
    LocationDefinedTwice(u64),
    /// Events of this location are being written, or were, already.
    #[error("the events of location {0} are written twice")]
    LocationOpenedTwice(u64),
    /// Events were written for a location without a definition.
    #[error("location {0} has events but no definition")]
    LocationUndefined(u64),
    /// A location's writer was not finished, or its summary not handed over.
    #[error("location {0} was opened, but its summary is missing")]
    LocationUnfinished(u64),
}

/// Result of writing.
pub type WriteResult<T = (), E = WriteError> = std::result::Result<T, E>;
