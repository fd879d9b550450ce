//! Why a file of packets could not be read or written.

use std::io;
use std::path::{Path, PathBuf};

use retime_model::format::{FileError, FormatError};
use retime_model::printable_path;

/// Why a file of packets could not be read, written or restored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PerfettoError {
    /// The failure is one that files of other formats have, too.
    #[error(transparent)]
    File(#[from] FileError),
    /// The system refused somewhere in the content.
    #[error("{}: after byte {byte} of its content: {source}", printable_path(path))]
    Read {
        /// The file.
        path: PathBuf,
        /// The bytes read, uncompressed.
        byte: u64,
        /// The error of the system.
        source: io::Error,
    },
    /// The content is no sequence of packets.
    #[error("{}: byte {byte}: {what}", printable_path(path))]
    Packet {
        /// The file.
        path: PathBuf,
        /// The place in the uncompressed content at which the packet begins.
        byte: u64,
        /// The mistake in it.
        what: String,
    },
    /// The file cannot be written with other times.
    #[error("{}: byte {byte}: {what}; {WAY_OUT}", printable_path(path))]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The place in the uncompressed content at which the packet begins.
        byte: u64,
        /// The reason.
        what: String,
    },
    /// The packets of the file cannot be put together with those of others.
    #[error(
        "{}: byte {byte}: a packet begins here that has {what}, with times within it, and cannot \
         stand beside those of other files; -o NAME.tar puts such files together as they are, and \
         retime export makes packets of what it shows of one",
        printable_path(path)
    )]
    Unmerged {
        /// The file.
        path: PathBuf,
        /// The place in the uncompressed content at which the packet begins.
        byte: u64,
        /// What is in it, in words.
        what: &'static str,
    },
    /// A directory holds profiles that are not of one kind.
    #[error(
        "{}: holds profiles of both kinds, files in Chrome's JSON (*.json) and traces of Perfetto \
         (*.pftrace), and a trace is of one: the others would keep their times beside corrected \
         ones. Move one kind elsewhere, or say by --format (kineto, perfetto) which is the trace",
        printable_path(path)
    )]
    BothKinds {
        /// The directory.
        path: PathBuf,
    },
    /// Files that are given as one trace are not of one kind.
    #[error(
        "{}: is a trace of Perfetto, and {} a file in Chrome's JSON, and a trace is of one kind; \
         give the files of each kind alone, or put both together by retime merge, which corrects \
         each kind by itself",
        printable_path(packets),
        printable_path(json)
    )]
    FilesOfBothKinds {
        /// The first file of packets.
        packets: PathBuf,
        /// The first file of JSON.
        json: PathBuf,
    },
}

/// The way out where a file can be read but not be written.
const WAY_OUT: &str = "retime check and compare take it as it is, and retime export writes what it \
                       shows at corrected times";

impl PerfettoError {
    /// The system refused something about a file.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        FileError::io(path, source).into()
    }

    /// A mistake in a packet.
    pub(crate) fn packet(path: &Path, byte: u64, what: impl Into<String>) -> FormatError {
        Self::Packet {
            path: path.to_owned(),
            byte,
            what: what.into(),
        }
        .into()
    }
}

impl From<PerfettoError> for FormatError {
    fn from(error: PerfettoError) -> Self {
        Self::failed(error)
    }
}
