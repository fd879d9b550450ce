//! All events of a location at a glance: what a scanner looks at.
//!
//! A scanner passes over every event and looks into few. So an event is only
//! its number, time and code here; what it says is decoded when asked for. The
//! numbers that it names are the location's own, for a scanner knows better how
//! to send them through the mapping tables than once for each event.

use retime_model::Monitor;

use crate::chunk::ChunkReader;
use crate::clock::ClockCursor;
use crate::counts::EventCounts;
use crate::error::{Result, WireError};
use crate::parts::Decoder;
use crate::schema::{EventData, event_code};
use crate::steps::read_time;
use crate::walk::each_chunk;
use crate::wire::Cursor;

/// An event that is passed by.
#[derive(Clone, Copy, Debug)]
pub struct Glance<'a> {
    /// Its number in the file, from 0.
    pub number: u64,
    /// Its time, after the clock offsets of the location.
    pub time: u64,
    /// Its code; see [`event_code`].
    pub code: u8,
    /// The encoded content.
    pub payload: Cursor<'a>,
}

impl Glance<'_> {
    /// Decodes the content of the event, with the location's own ids and times.
    pub fn data(&self) -> Result<EventData, WireError> {
        self.read(self.code)
    }

    /// Decodes the content of an event with the code `CODE`. As that is known to the compiler, only
    /// the decoding of that record is left, which is several times as fast.
    #[inline]
    pub fn data_of<const CODE: u8>(&self) -> Result<EventData, WireError> {
        self.read(CODE)
    }

    /// Fails if a field cannot be read, as it does for every tool that shows the event.
    // By value, so that the events that nobody checks can live in registers.
    #[inline(never)]
    pub fn check(self) -> Result<(), WireError> {
        match self.code {
            event_code::Metric => check_metric(self.payload),
            _ => self.data().map(drop),
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "see `data_of`")]
    fn read(&self, code: u8) -> Result<EventData, WireError> {
        let mut from = Decoder {
            cursor: self.payload,
            mappings: None,
            stop_time: None,
        };
        EventData::read(code, &mut from)
    }
}

/// Checks what decoding it checks, but for the list: there are traces of nothing but metrics.
fn check_metric(mut payload: Cursor<'_>) -> Result<(), WireError> {
    payload.c32()?;
    for _ in 0..payload.u8()? {
        payload.u8()?;
        payload.c64()?;
    }
    Ok(())
}

/// Passes by all events of a file, and counts them.
pub(crate) fn each(
    reader: ChunkReader,
    mut clock: ClockCursor,
    monitor: &dyn Monitor,
    mut look: impl FnMut(Glance<'_>) -> Result<(), WireError>,
) -> Result<EventCounts> {
    let mut counts = EventCounts::default();
    let mut number = 0;
    each_chunk(reader, monitor, |steps, bytes| {
        let mut walk = *steps;
        let endian = walk.header().endian;
        let (before, begin) = (number, walk.position());
        while let Some(step) = walk.step(bytes)? {
            counts.add(&step);
            if step.lists > 0 {
                let within = step.first..step.record.start;
                counts.lists(step.lists, bytes, walk.header(), within);
            }
            let code = step.record.code;
            let time = clock.correct(step.raw);
            if code == event_code::BufferFlush {
                // Its end moves the clock on, as it does in every OTF2 tool.
                let stop = read_time(bytes, step.record, walk.header())?;
                clock.correct(stop);
            }
            look(Glance {
                number,
                time,
                code,
                payload: Cursor::within(bytes, step.record.payload_range(), endian),
            })?;
            number += 1;
        }
        // Nothing but events and what belongs to them lies before the end.
        counts.chunk(walk.header(), before..number, begin..walk.position());
        *steps = walk;
        Ok(())
    })?;
    Ok(counts)
}
