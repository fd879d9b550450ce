//! OTF2 archives in pure Rust: reading without trusting a byte, and the
//! framing that a lossless rewriter needs.
//!
//! The layers, from the bottom:
//!
//! * [`Cursor`] reads primitive values from a bounded buffer.
//! * [`Walker`] and [`Records`] find where records begin and end.
//! * [`ChunkReader`] reads a file one chunk at a time.
//! * [`Archive`] knows the anchor and the paths of all files.

mod anchor;
mod archive;
mod chunk;
mod error;
pub mod framing;
mod wire;

pub use anchor::{Anchor, Property};
pub use archive::Archive;
pub use chunk::{
    CHUNK_HEADER, Chunk, ChunkHeader, ChunkReader, FileKind, MAX_CHUNK_SIZE, MIN_CHUNK_SIZE,
    THUMBNAIL_CHUNK_SIZE,
};
pub use error::{Error, Reason, Result, WireError};
pub use framing::{Record, Records, Walker};
pub use wire::{Cursor, Endian};
