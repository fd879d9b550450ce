#![doc = include_str!("../README.md")]
//!
//! # Where things are
//!
//! | | |
//! |---|---|
//! | [`Trace`] | an opened archive with its definitions: the way in |
//! | [`EventReader`], [`Event`] | all events of a location; [`Event::data`] is typed, [`Event::fields`] follows the schema |
//! | [`EventData`], [`SnapshotData`] | what records say, read and written alike |
//! | [`Trace::glance`], [`Trace::times`] | the fast passes, where only a few events are looked into |
//! | [`Definitions`], [`LocalDefinitions`] | what events refer to, for all locations and for one |
//! | [`comms`] | from ranks to locations |
//! | [`Trace::rewrite`], [`Trace::restore`] | other times, and the original back |
//! | [`writer`] | archives from nothing |
//! | [`schema`] | what every record contains, as data |
//!
//! Below, from the bottom: [`Cursor`] reads primitive values from a bounded
//! buffer, [`Walker`] and [`Records`] find where records begin and end,
//! [`ChunkReader`] reads a file one chunk at a time, [`Archive`] knows the anchor
//! and the paths of all files, [`RecordReader`] streams the records of files
//! without times, and [`Fields`] decodes them by the schema.
//!
//! Events, locations and all else are counted from 0.

mod anchor;
mod archive;
mod attribute;
mod chunk;
mod clock;
pub mod comms;
mod counts;
pub mod definitions;
mod enums;
mod error;
mod events;
mod fields;
pub mod framing;
mod glance;
mod header;
mod local;
mod locals;
mod mapping;
mod marker_scope;
mod parts;
mod presence;
mod records;
mod refs;
mod restore;
mod rewrite;
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
pub use archive::{Archive, Whereabouts};
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
pub use glance::Glance;
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
pub use rewrite::{Experiment, PartRewritten, Rewritten};
pub use schema::{EventData, SnapshotData};
pub use times::Timeline;
pub use trace::Trace;
pub use undo::Undo;
pub use value::Value;
pub use wire::{Cursor, Endian};
