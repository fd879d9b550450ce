//! OTF2 archives in pure Rust: reading without trusting a byte, and the
//! framing that a lossless rewriter needs.
//!
//! ```no_run
//! use retime_otf2::{Archive, Definitions, EventReader, LocalDefinitions};
//!
//! let archive = Archive::open("measurement/traces.otf2")?;
//! let definitions = Definitions::read(&archive)?;
//! let locations = definitions.location_ids();
//! for local in &LocalDefinitions::read_all(&archive, &locations)? {
//!     let mut events = EventReader::mapped(&archive, local)?;
//!     while let Some(event) = events.next()? {
//!         println!("{} {} {}", event.location, event.time, event.name());
//!         for field in event.decode()? {
//!             println!("  {} = {:?}", field.name(), field.value);
//!         }
//!     }
//! }
//! # Ok::<(), retime_otf2::Error>(())
//! ```
//!
//! The layers, from the bottom:
//!
//! * [`Cursor`] reads primitive values from a bounded buffer.
//! * [`Walker`] and [`Records`] find where records begin and end.
//! * [`ChunkReader`] reads a file one chunk at a time.
//! * [`Archive`] knows the anchor and the paths of all files.
//! * [`schema`] says what the records contain; [`Fields`] decodes them.
//! * [`Definitions`] and [`LocalDefinitions`] hold what events refer to.
//! * [`RecordReader`] and [`EventReader`] stream decoded records.
//!
//! [`writer`] makes archives from nothing.

mod anchor;
mod archive;
mod attribute;
mod chunk;
mod clock;
pub mod comms;
mod counts;
pub mod definitions;
mod describe;
mod enums;
mod error;
mod events;
mod fields;
pub mod framing;
mod local;
mod mapping;
mod marker_scope;
mod parts;
mod records;
mod refs;
mod restore;
mod rewrite;
mod scan;
pub mod schema;
mod steps;
mod stream;
mod times;
mod trace;
mod undo;
mod value;
mod walk;
mod wire;
pub mod writer;

pub use anchor::{Anchor, Property};
pub use archive::Archive;
pub use attribute::{Attribute, AttributeValue};
pub use chunk::{
    CHUNK_HEADER, Chunk, ChunkHeader, ChunkReader, FileKind, MAX_CHUNK_SIZE, MIN_CHUNK_SIZE,
    THUMBNAIL_CHUNK_SIZE,
};
pub use clock::{ClockCorrection, ClockCursor};
pub use comms::Members;
pub use counts::EventCounts;
pub use definitions::Definitions;
pub use enums::{
    CollectiveOp, CollectiveRoot, CommFlags, GroupFlags, GroupType, IoAccessMode, IoCreationFlags,
    IoOperationFlags, IoOperationMode, IoSeekOption, IoStatusFlags, LocationGroupType,
    LocationType, LockType, MappingType, MarkerSeverity, MeasurementMode, MetricOccurrence,
    Paradigm, ParadigmClass, ParameterType, RegionFlags, RegionRole, RmaAtomicType, RmaSyncLevel,
    RmaSyncType, RmaWinFlags, SystemTreeDomain, Type,
};
pub use error::{Error, Reason, Result, WireError};
pub use events::{Event, EventReader};
pub use fields::{Attributes, FieldValue, Fields};
pub use framing::{Record, Records, Walker};
pub use local::LocalDefinitions;
pub use mapping::{IdMap, MappingTable, Mappings};
pub use marker_scope::MarkerScope;
pub use parts::MetricValue;
pub use records::{Entry, RecordReader};
pub use refs::{
    AttributeRef, CallingContextRef, CommRef, GroupRef, InterruptGeneratorRef, IoFileRef,
    IoHandleRef, IoParadigmRef, LocationGroupRef, MetricMemberRef, MetricRef, ParameterRef,
    RegionRef, RmaWinRef, SourceCodeLocationRef, StringRef, SystemTreeNodeRef,
};
pub use retime_model::{Monitor, Timestamp};
pub use rewrite::Rewritten;
pub use scan::Scanned;
pub use schema::{EventData, SnapshotData};
pub use times::Timeline;
pub use trace::Otf2Trace;
pub use undo::Undo;
pub use value::Value;
pub use wire::{Cursor, Endian};
