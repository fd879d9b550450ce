//! The events of one location.
//!
//! An event record is preceded by its attributes, if it has any, and by its
//! time, unless the event before it happened at the same time.

use std::path::{Path, PathBuf};

use super::{
    attributes::Pending,
    chunked::{ChunkedFile, FRAME_SIZE, Numbering, frame},
    encode::Payload,
    failure::{WriteError, WriteResult},
    local_tables::LocalDefinitionsWriter,
    options::WriteOptions,
    summary::LocationSummary,
};
use crate::attribute::AttributeValue;
use crate::framing::{ATTRIBUTE_LIST, SINGLETONS, TIMESTAMP};
use crate::parts::TooMany;
use crate::refs::{AttributeRef, RegionRef};
use crate::schema::EventData;

const TIMESTAMP_SIZE: usize = 9;
const FIRST_EVENT_CODE: u8 = 10;

/// Writes the events of one location, in the order of their times.
///
/// Holds one chunk in memory, whatever the length of the trace. Made by
/// [`ArchiveWriter::location`](super::ArchiveWriter::location);
/// [`finish`](Self::finish) returns what the archive must know at its end.
#[derive(Debug)]
#[must_use = "the file is complete only after `finish`"]
pub struct LocationWriter {
    location: u64,
    file: ChunkedFile,
    local_path: PathBuf,
    local_chunk: u64,
    allow_disorder: bool,
    local: LocalDefinitionsWriter,
    pending: Pending,
    /// The payload of the record that is being made.
    payload: Payload,
    /// The record that is being made as a whole, with attributes.
    body: Payload,
    previous: u64,
    times: Option<(u64, u64)>,
}

impl LocationWriter {
    pub(super) fn create(
        location: u64,
        directory: &Path,
        options: &WriteOptions,
    ) -> WriteResult<Self> {
        let path = directory.join(format!("{location}.evt"));
        Ok(Self {
            location,
            file: ChunkedFile::create(path, options.event_chunk, Numbering::Events)?,
            local_path: directory.join(format!("{location}.def")),
            local_chunk: options.definition_chunk,
            allow_disorder: options.allow_disorder,
            local: LocalDefinitionsWriter::default(),
            pending: Pending::default(),
            payload: Payload::new(),
            body: Payload::new(),
            previous: 0,
            times: None,
        })
    }

    /// Id of the location.
    pub fn location(&self) -> u64 {
        self.location
    }

    /// Number of events so far.
    pub fn events(&self) -> u64 {
        self.file.records()
    }

    /// The local definitions.
    pub fn local(&mut self) -> &mut LocalDefinitionsWriter {
        &mut self.local
    }

    /// Attaches an attribute to the event that comes next.
    pub fn attach(&mut self, attribute: AttributeRef, value: AttributeValue) -> WriteResult {
        self.pending.attach(attribute, value)
    }

    /// An event.
    pub fn event(&mut self, time: u64, data: &EventData) -> WriteResult {
        if let EventData::Unknown { code } = data {
            return Err(WriteError::UnknownEvent(*code));
        }
        let code = data.code();
        data.write(self.start())
            .map_err(|TooMany(count)| WriteError::TooManyElements { code, count })?;
        self.commit(time, code)?;
        if let EventData::BufferFlush { stop_time } = data {
            // Its end is a time of the trace, too.
            self.note_time(stop_time.0);
        }
        Ok(())
    }

    /// A region is entered.
    pub fn enter(&mut self, time: u64, region: RegionRef) -> WriteResult {
        self.event(time, &EventData::Enter { region })
    }

    /// A region is left.
    pub fn leave(&mut self, time: u64, region: RegionRef) -> WriteResult {
        self.event(time, &EventData::Leave { region })
    }

    /// An event that is not known here, by its code and encoded payload.
    pub fn event_raw(&mut self, time: u64, code: u8, payload: &[u8]) -> WriteResult {
        if code < FIRST_EVENT_CODE {
            return Err(WriteError::ReservedCode(code));
        }
        if is_singleton(code) && !is_one_integer(payload) {
            return Err(WriteError::SingletonPayload(code));
        }
        self.start().raw(payload);
        self.commit(time, code)
    }

    /// Completes the location's files.
    pub fn finish(self) -> WriteResult<LocationSummary> {
        if !self.pending.is_empty() {
            return Err(WriteError::DanglingAttributes(self.location));
        }
        let events = self.file.records();
        let mut bytes = self.local.write(self.local_path, self.local_chunk)?;
        bytes += self.file.finish()?;
        Ok(LocationSummary {
            location: self.location,
            events,
            times: self.times,
            bytes,
        })
    }

    /// Begins a record; the caller adds its fields.
    fn start(&mut self) -> &mut Payload {
        self.payload.clear();
        &mut self.payload
    }

    /// Writes the record begun by [`start`](Self::start).
    fn commit(&mut self, time: u64, code: u8) -> WriteResult {
        self.check_order(time)?;
        self.assemble(code);
        let need = self.body.len();
        if need + TIMESTAMP_SIZE > self.file.capacity() {
            return Err(WriteError::RecordTooLarge { code, size: need });
        }
        let stamp_size = if self.needs_stamp(time) {
            TIMESTAMP_SIZE
        } else {
            0
        };
        if !self.file.has_room(need + stamp_size) {
            self.file.next_chunk()?;
        }
        // A chunk just opened needs the time in any case.
        if self.needs_stamp(time) {
            self.push_stamp(time);
        }
        self.file.push(self.body.as_bytes());
        self.file.count_record();
        self.note_time(time);
        self.previous = time;
        Ok(())
    }

    /// Extends the range of times.
    fn note_time(&mut self, time: u64) {
        self.times = Some(match self.times {
            Some((first, last)) => (first.min(time), last.max(time)),
            None => (time, time),
        });
    }

    fn check_order(&self, time: u64) -> WriteResult {
        if time < self.previous && !self.allow_disorder {
            return Err(WriteError::TimeGoesBack {
                location: self.location,
                number: self.events(),
                previous: self.previous,
                time,
            });
        }
        Ok(())
    }

    /// Puts the record together: attributes, code, length, fields.
    fn assemble(&mut self, code: u8) {
        self.body.clear();
        let mut start = [0; FRAME_SIZE];
        if !self.pending.is_empty() {
            let mut list = Payload::new();
            self.pending.take(&mut list);
            self.body.raw(frame(&mut start, ATTRIBUTE_LIST, list.len()));
            self.body.raw(list.as_bytes());
        }
        if is_singleton(code) {
            self.body.u8(code);
        } else {
            self.body.raw(frame(&mut start, code, self.payload.len()));
        }
        self.body.raw(self.payload.as_bytes());
    }

    /// True if the event at `time` needs a timestamp record.
    ///
    /// libotf2 starts from time 0 and takes "0 again" for "not written yet",
    /// hence a record of its own for every event at time 0.
    fn needs_stamp(&self, time: u64) -> bool {
        self.file.at_chunk_start() || time != self.previous || time == 0
    }

    fn push_stamp(&mut self, time: u64) {
        let mut stamp = [TIMESTAMP; TIMESTAMP_SIZE];
        stamp[1..].copy_from_slice(&time.to_le_bytes());
        self.file.push(&stamp);
    }
}

fn is_singleton(code: u8) -> bool {
    SINGLETONS.contains(&code)
}

/// True if the bytes are one compressed integer and nothing else.
fn is_one_integer(payload: &[u8]) -> bool {
    match payload {
        [0xFF] => true,
        [size @ 0..=8, rest @ ..] => rest.len() == usize::from(*size),
        _ => false,
    }
}
