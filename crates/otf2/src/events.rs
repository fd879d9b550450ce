//! The events of a location, in file order, with one chunk in memory.
//!
//! A reader works in one of two ways: *raw* gives times and ids as they are
//! in the file; *mapped* sends ids through the mapping tables of the location
//! and times through its clock offsets, as every OTF2 tool shows them.
//! Snapshots are read in the same way but never mapped: what wrote them has
//! applied both already.
//!
//! ```
//! use retime_otf2::{Archive, EventReader};
//!
//! fn count(archive: &Archive, location: u64) -> retime_otf2::Result<u64> {
//!     let mut events = EventReader::raw(archive, location)?;
//!     let mut count = 0;
//!     while let Some(event) = events.next()? {
//!         assert_eq!(event.location, location);
//!         count += 1;
//!     }
//!     Ok(count)
//! }
//! ```

use crate::archive::Archive;
use crate::attribute::Attribute;
use crate::chunk::FileKind;
use crate::clock::{ClockCorrection, ClockCursor};
use crate::error::{Error, Result, WireError};
use crate::fields::{Attributes, FieldValue, Fields};
use crate::framing::{Record, Walker};
use crate::local::LocalDefinitions;
use crate::mapping::Mappings;
use crate::parts::Decoder;
use crate::records::Entry;
use crate::schema::{self, EventData, SnapshotData, event_code};
use crate::stream::TimedStream;

/// An event, or a record of a snapshot.
#[derive(Clone, Copy)]
pub struct Event<'a> {
    /// The location it happened at.
    pub location: u64,
    /// Its number in the file, from 0.
    pub number: u64,
    /// Its time.
    pub time: u64,
    /// Its code; see [`crate::schema`].
    pub code: u8,
    stream: &'a TimedStream,
    record: Record,
    attributes: Option<u32>,
    mappings: Option<&'a Mappings>,
    stop_time: Option<u64>,
}

impl<'a> Event<'a> {
    /// Its name, `Unknown` if its code is not known.
    pub fn name(&self) -> &'static str {
        self.entry().name()
    }

    /// True if its code is known.
    pub fn is_known(&self) -> bool {
        self.entry().schema().is_some()
    }

    /// The record in its chunk, as written.
    #[inline]
    pub fn entry(&self) -> Entry<'a> {
        Entry::new(self.stream.chunk(), self.record)
    }

    /// Decodes the content of the event. A record of a snapshot comes out as unknown: see
    /// [`snapshot`](Self::snapshot).
    #[inline]
    pub fn data(&self) -> Result<EventData> {
        self.typed(FileKind::Events, EventData::read, |code| {
            EventData::Unknown { code }
        })
    }

    /// Decodes the content of a record of a snapshot. An event comes out as unknown: see
    /// [`data`](Self::data).
    pub fn snapshot(&self) -> Result<SnapshotData> {
        self.typed(FileKind::Snapshots, SnapshotData::read, |code| {
            SnapshotData::Unknown { code }
        })
    }

    #[inline]
    fn typed<T>(
        &self,
        kind: FileKind,
        read: impl FnOnce(u8, &mut Decoder<'_>) -> Result<T, WireError>,
        unknown: impl FnOnce(u8) -> T,
    ) -> Result<T> {
        let entry = self.entry();
        if entry.chunk().kind() != kind {
            return Ok(unknown(self.code));
        }
        let mut from = Decoder {
            cursor: entry.payload(),
            mappings: self.mappings,
            stop_time: self.stop_time,
        };
        read(self.code, &mut from).map_err(|error| entry.error(error))
    }

    /// Its fields; none if it is not known.
    pub fn fields(&self) -> Fields<'a> {
        self.entry()
            .fields()
            .mapped(self.mappings)
            .with_stop_time(self.stop_time)
    }

    /// All its fields, or the error with its place in the file.
    pub fn decode(&self) -> Result<Vec<FieldValue<'a>>> {
        self.fields()
            .collect::<Result<_, _>>()
            .map_err(|error| self.error(error))
    }

    /// Its attributes.
    pub fn attributes(&self) -> Attributes<'a> {
        let chunk = self.stream.chunk();
        let end = self.record.start as usize;
        let start = self.attributes.map_or(end, |start| start as usize);
        let lists = Walker::at(chunk.kind(), &chunk.header(), start);
        Attributes::new(chunk.bytes(), lists, end, self.mappings)
    }

    /// All its attributes, or the error with its place in the file.
    pub fn decode_attributes(&self) -> Result<Vec<Attribute>> {
        self.attributes()
            .collect::<Result<_, _>>()
            .map_err(|error| self.error(error))
    }

    /// Adds the file and the offset in it to a decoding error.
    #[cold]
    pub fn error(&self, error: WireError) -> Error {
        self.entry().error(error)
    }
}

/// Reads the events or snapshots of a location.
pub struct EventReader {
    location: u64,
    records: TimedStream,
    number: u64,
    mappings: Option<Mappings>,
    clock: ClockCursor,
    unknown: u64,
}

impl EventReader {
    /// The events as they are in the file.
    pub fn raw(archive: &Archive, location: u64) -> Result<Self> {
        let records = TimedStream::new(archive.open_events(location)?)?;
        Ok(Self::unmapped(location, records))
    }

    /// The events with global ids and global times.
    pub fn mapped(archive: &Archive, local: &LocalDefinitions) -> Result<Self> {
        let mut reader = Self::raw(archive, local.location)?;
        reader.clock = local.clock.cursor();
        if !local.mappings.is_empty() {
            reader.mappings = Some(local.mappings.clone());
        }
        Ok(reader)
    }

    /// The records of the snapshots of a location, whose ids and times are
    /// global already; `None` if the archive has no snapshots.
    pub fn snapshots(archive: &Archive, location: u64) -> Result<Option<Self>> {
        let Some(reader) = archive.open_snapshots(location)? else {
            return Ok(None);
        };
        let records = TimedStream::new(reader)?;
        Ok(Some(Self::unmapped(location, records)))
    }

    fn unmapped(location: u64, records: TimedStream) -> Self {
        Self {
            location,
            records,
            number: 0,
            mappings: None,
            clock: ClockCorrection::default().cursor(),
            unknown: 0,
        }
    }

    /// The location.
    pub const fn location(&self) -> u64 {
        self.location
    }

    /// How many events had unknown codes so far.
    pub const fn unknown(&self) -> u64 {
        self.unknown
    }

    /// The next event, `None` at the end of the file and after an error.
    #[inline]
    #[allow(clippy::should_implement_trait)] // It lends from the buffer.
    pub fn next(&mut self) -> Result<Option<Event<'_>>> {
        let Some(timed) = self.records.step()? else {
            return Ok(None);
        };
        let number = self.number;
        self.number += 1;
        let code = timed.record.code;
        let known = schema::lookup(self.records.chunk().kind(), code).is_some();
        self.unknown += u64::from(!known);
        let time = self.clock.correct(timed.time);
        let stop_time =
            if code == event_code::BufferFlush && self.records.chunk().kind() == FileKind::Events {
                Some(self.stop_time(timed.record)?)
            } else {
                None
            };
        Ok(Some(Event {
            location: self.location,
            number,
            time,
            code,
            stream: &self.records,
            record: timed.record,
            attributes: timed.attributes,
            mappings: self.mappings.as_ref(),
            stop_time,
        }))
    }

    /// The corrected end of a flush. Moves the cursor of the clock on, as it
    /// does in every OTF2 tool.
    #[cold]
    fn stop_time(&mut self, record: Record) -> Result<u64> {
        let flush = Entry::new(self.records.chunk(), record);
        let stop = flush.payload().x64().map_err(|error| flush.error(error))?;
        Ok(self.clock.correct(stop))
    }
}
