//! The anchor file: which archive this is and how its files are laid out.
//!
//! It is binary, tiny and not chunked. All integers have their full width.
//!
//! | offset | field |
//! | --- | --- |
//! | 0 | `03`, byte order mark, `OTF2` and NUL |
//! | 7 | anchor format, trace format, writer's version (3 bytes) |
//! | 12 | chunk size of events, chunk size of definitions (8 bytes each) |
//! | 28 | substrate, compression |
//! | 30 | number of locations, number of global definitions (8 bytes each) |
//! | 46 | machine name, creator, description |
//! | … | format ≥ 2: number of properties (4 bytes), names and values; trace id (8 bytes) |
//! | … | format ≥ 3: number of snapshots and of thumbnails (4 bytes each) |
//! | … | `02 01 00` |
//!
//! ```
//! use retime_otf2::Anchor;
//! use std::path::Path;
//!
//! let mut bytes = b"\x03\x42OTF2\0\x01\x02\x03\x00\x02".to_vec();
//! bytes.extend(1_048_576_u64.to_le_bytes());
//! bytes.extend(262_144_u64.to_le_bytes());
//! bytes.extend([1, 1]); // plain files, not compressed
//! bytes.extend(4_u64.to_le_bytes());
//! bytes.extend(97_u64.to_le_bytes());
//! bytes.extend(b"cluster\0tool\0\0\x02\x01\x00");
//! let anchor = Anchor::parse(&bytes, Path::new("traces.otf2"))?;
//! assert_eq!(anchor.event_chunk_size, 1_048_576);
//! assert_eq!(anchor.machine, b"cluster");
//! # Ok::<(), retime_otf2::Error>(())
//! ```

use std::io::ErrorKind::{NotFound, UnexpectedEof};
use std::io::{self, Read};
use std::path::Path;

use retime_model::open_regular;

use crate::chunk::{MAX_CHUNK_SIZE, MIN_CHUNK_SIZE};
use crate::error::{Error, Reason, Result, WireError};
use crate::wire::{Cursor, Endian};

/// The largest anchor file that is read; real ones have a few hundred bytes.
const MAX_ANCHOR: u64 = 16 << 20;
/// The magic string of an anchor file, which follows the byte order mark.
const MAGIC: &[u8] = b"OTF2\0";

/// Name and value of a property.
pub type Property = (Vec<u8>, Vec<u8>);

/// The content of the anchor file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// Byte order of the anchor file.
    pub endian: Endian,
    /// Format of the anchor file, 1 to 3 (later ones only append).
    pub format: u8,
    /// Format of all other files, 1 or 2.
    pub trace_format: u8,
    /// Version of the library that wrote the archive.
    pub version: [u8; 3],
    /// Chunk size of event and snapshot files.
    pub event_chunk_size: u64,
    /// Chunk size of definition and marker files.
    pub definition_chunk_size: u64,
    /// Number of locations, for information.
    pub locations: u64,
    /// Number of global definition records, for information.
    pub definitions: u64,
    /// Where the trace was recorded.
    pub machine: Vec<u8>,
    /// The program that wrote the archive.
    pub creator: Vec<u8>,
    /// A free text on the measurement; may be empty.
    pub description: Vec<u8>,
    /// Names and values of properties.
    pub properties: Vec<Property>,
    /// A random-like number that identifies the trace.
    pub trace_id: Option<u64>,
    /// Number of snapshots of every location.
    pub snapshots: u32,
    /// Number of thumbnail files.
    pub thumbnails: u32,
}

impl Anchor {
    /// True if a path leads to a file that begins as an anchor file does.
    pub fn is_at(path: &Path) -> io::Result<bool> {
        let mut start = [0; 2 + MAGIC.len()];
        let read = open_regular(path).and_then(|mut file| file.read_exact(&mut start));
        match read {
            Ok(()) => Ok(check_magic(&start, path).is_ok()),
            Err(error) if matches!(error.kind(), NotFound | UnexpectedEof) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Reads an anchor file.
    pub fn read(path: &Path) -> Result<Self> {
        let file = open_regular(path).map_err(|source| Error::io(path, source))?;
        let mut bytes = Vec::new();
        file.take(MAX_ANCHOR)
            .read_to_end(&mut bytes)
            .map_err(|source| Error::io(path, source))?;
        Self::parse(&bytes, path)
    }

    /// Decodes the bytes of an anchor file; `path` is for messages only.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self> {
        let endian = check_magic(bytes, path)?;
        let mut cursor = Cursor::within(bytes, 2 + MAGIC.len()..bytes.len(), endian);
        let fixed = Fixed::parse(&mut cursor).map_err(|e| Error::at_file_end(path, 0, e))?;
        fixed.check_supported(path)?;
        Self::parse_rest(&fixed, &mut cursor).map_err(|e| Error::at_file_end(path, 0, e))
    }

    fn parse_rest(fixed: &Fixed, cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        fixed.check_chunk_sizes()?;
        let mut anchor = Self {
            endian: cursor.endian(),
            format: fixed.format,
            trace_format: fixed.trace_format,
            version: fixed.version,
            event_chunk_size: fixed.event_chunk_size,
            definition_chunk_size: fixed.definition_chunk_size,
            locations: cursor.x64()?,
            definitions: cursor.x64()?,
            machine: cursor.str()?.to_vec(),
            creator: cursor.str()?.to_vec(),
            description: cursor.str()?.to_vec(),
            properties: Vec::new(),
            trace_id: None,
            snapshots: 0,
            thumbnails: 0,
        };
        if anchor.format >= 2 {
            anchor.properties = properties(cursor)?;
            anchor.trace_id = Some(cursor.x64()?);
        }
        if anchor.format >= 3 {
            anchor.snapshots = cursor.x32()?;
            anchor.thumbnails = cursor.x32()?;
        }
        if anchor.format <= 3 && cursor.u8()? != 0x02 {
            return Err(cursor.error(Reason::AnchorValue));
        }
        Ok(anchor)
    }
}

/// Tells a damaged anchor from a file that never was one.
fn check_magic(bytes: &[u8], path: &Path) -> Result<Endian> {
    let not_an_archive = |why: &str| Error::NotAnArchive {
        path: path.to_owned(),
        why: why.to_owned(),
    };
    let (mark, rest) = match bytes {
        [] => return Err(not_an_archive("the file is empty, not an OTF2 anchor file")),
        [0x03, mark, rest @ ..] => (*mark, rest),
        _ => {
            return Err(not_an_archive(
                "not an OTF2 anchor file; give the .otf2 file of an archive, or its directory",
            ));
        }
    };
    if !rest.starts_with(MAGIC) {
        return Err(not_an_archive(
            "not an OTF2 anchor file; it may be another file of an archive: \
             give the .otf2 file, or the directory that holds it",
        ));
    }
    let error = WireError::new(1, Reason::ByteOrder);
    Endian::from_mark(mark).ok_or_else(|| Error::corrupt(path, 0, error))
}

/// The fields up to the strings that decide whether we can go on.
struct Fixed {
    format: u8,
    trace_format: u8,
    version: [u8; 3],
    event_chunk_size: u64,
    definition_chunk_size: u64,
    substrate: u8,
    compression: u8,
}

impl Fixed {
    fn parse(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        Ok(Self {
            format: cursor.u8()?,
            trace_format: cursor.u8()?,
            version: [cursor.u8()?, cursor.u8()?, cursor.u8()?],
            event_chunk_size: cursor.x64()?,
            definition_chunk_size: cursor.x64()?,
            substrate: cursor.u8()?,
            compression: cursor.u8()?,
        })
    }

    fn check_supported(&self, path: &Path) -> Result<()> {
        let what = if self.format == 0 {
            "anchor format 0 does not exist; the file is damaged".to_owned()
        } else if !(1..=2).contains(&self.trace_format) {
            format!(
                "trace format {} is not supported, only 1 and 2 (OTF2 1.x to 3.x)",
                self.trace_format
            )
        } else if self.substrate == 2 {
            "SION container archives are not supported; convert the archive to plain files \
             with the OTF2 tools"
                .to_owned()
        } else if self.substrate != 1 {
            format!(
                "file substrate {} is not supported, only plain files (1)",
                self.substrate
            )
        } else if self.compression == 2 {
            "zlib-compressed archives are not supported; record or copy the trace without \
             compression"
                .to_owned()
        } else if self.compression != 1 {
            format!("compression {} is not supported", self.compression)
        } else {
            return Ok(());
        };
        Err(Error::Unsupported {
            path: path.to_owned(),
            what,
        })
    }

    fn check_chunk_sizes(&self) -> Result<(), WireError> {
        let allowed = MIN_CHUNK_SIZE..=MAX_CHUNK_SIZE;
        if !allowed.contains(&self.event_chunk_size) {
            return Err(WireError::new(12, Reason::ChunkSize));
        }
        if !allowed.contains(&self.definition_chunk_size) {
            return Err(WireError::new(20, Reason::ChunkSize));
        }
        Ok(())
    }
}

fn properties(cursor: &mut Cursor<'_>) -> Result<Vec<Property>, WireError> {
    let count = cursor.x32()?;
    let count = cursor.check_count(u64::from(count), 2)?;
    let mut properties = Vec::new();
    for _ in 0..count {
        properties.push((cursor.str()?.to_vec(), cursor.str()?.to_vec()));
    }
    Ok(properties)
}
