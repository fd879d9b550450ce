//! Lines of hosts that send segments, put on the clock of one of them.
//!
//! ```text
//! line --> what it says --> Segments --> the line with its new time
//! ```
//!
//! The format is that of `docs/STREAM.md`; its first line has to list all locations, since nothing
//! can be put in order before each of them has sent something. Whoever owns input and output hands
//! over each line, and where [`SegmentLines::is_due`] says so takes the passages and tells the
//! shifts that follow from them.
//!
//! ```
//! use retime_model::TickRate;
//! use retime_stream::SegmentOptions;
//! use retime_stream::lines::SegmentLines;
//!
//! let options = |ticks_per_second: Option<u64>| {
//!     let rate = TickRate::per_second(ticks_per_second.unwrap_or(1_000_000_000));
//!     rate.map(SegmentOptions::new).ok_or_else(|| "no ticks".to_owned())
//! };
//! let (mut lines, mut out) = (SegmentLines::default(), Vec::new());
//! for line in [
//!     r#"{"retime-stream":1,"locations":["a","b"]}"#,
//!     r#"{"location":"a","time":1000,"type":"send","message":1}"#,
//!     r#"{"location":"b","time":900,"type":"receive","message":1}"#,
//! ] {
//!     lines.take(line.as_bytes(), 0, options, &mut out)?;
//! }
//! lines.finish();
//! let segments = lines.segments_mut().unwrap();
//! let took: Vec<i128> = segments.passages().map(|passage| passage.took).collect();
//! assert_eq!(took, [-100]);
//! segments.shift(&[Some(0), Some(-100)])?;
//! lines.give(0, &mut out)?;
//! assert_eq!(String::from_utf8(out)?, concat!(
//!     r#"{"retime-stream":1,"locations":["a","b"]}"#, "\n",
//!     r#"{"location":"a","time":1000,"type":"send","message":1,"raw_time":1000}"#, "\n",
//!     r#"{"location":"b","time":1000,"type":"receive","message":1,"raw_time":900}"#, "\n",
//! ));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io::{self, Write};

use retime_jsonl::line::{Header, What};
use retime_jsonl::{Id, IdMap};
use retime_model::{LocationIndex, Timestamp};

use super::event;
use super::record::{Record, Refused, fields_of, text_of, too_long};
use crate::event::Event;
use crate::segments::{SegmentOptions, Segments};
use crate::spread::Spread;

/// The segments, and what the lines have said so far. Times of reading and writing are
/// microseconds since any moment, and matter only to [`SegmentLines::stay`].
#[derive(Debug, Default)]
pub struct SegmentLines {
    segments: Option<Segments<Record>>,
    known: IdMap<LocationIndex>,
    /// The name of each location, as its line has it.
    names: Vec<String>,
    stay: Spread,
}

impl SegmentLines {
    /// The segments; `None` before the first line.
    pub fn segments(&self) -> Option<&Segments<Record>> {
        self.segments.as_ref()
    }

    /// The segments, to be shifted.
    pub fn segments_mut(&mut self) -> Option<&mut Segments<Record>> {
        self.segments.as_mut()
    }

    /// True if segments of all hosts are there.
    pub fn is_due(&self) -> bool {
        self.segments.as_ref().is_some_and(Segments::is_due)
    }

    /// The names of locations as the first line has them, strings without their quotes.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How long lines stayed from reading to writing, in microseconds.
    pub fn stay(&self) -> &Spread {
        &self.stay
    }

    /// Takes a line that was read at `read`. The first one has to list the locations, and is
    /// written to `out` again.
    ///
    /// # Errors
    ///
    /// The line cannot be understood, the first one lists no locations, or `options` refuses it.
    pub fn take(
        &mut self,
        line: &[u8],
        read: u64,
        options: impl FnOnce(Option<u64>) -> Result<SegmentOptions, String>,
        out: &mut impl Write,
    ) -> Result<(), Refused> {
        let text = text_of(line)?;
        if text.is_empty() {
            return Ok(());
        }
        if self.segments.is_some() {
            return self.take_event(text, read);
        }
        let header = Header::of(text).map_err(Refused::Stream)?;
        let header = header.filter(|header| !header.locations.is_empty());
        let header = header.ok_or_else(|| {
            Refused::Stream("pseudo-synchronisation needs a first line with all locations".into())
        })?;
        let options = options(header.ticks_per_second).map_err(Refused::Stream)?;
        for (&id, index) in header.locations.iter().zip(0..) {
            self.known.insert(id, LocationIndex(index));
            self.names.push(name(id));
        }
        self.segments = Some(Segments::new(&header.clocks, options));
        writeln!(out, "{text}").map_err(|error| Refused::Stream(error.to_string()))
    }

    fn take_event(&mut self, text: &str, read: u64) -> Result<(), Refused> {
        let Some(segments) = &mut self.segments else {
            return Ok(());
        };
        let known = &self.known;
        let index = |id: Id<'_>| {
            let index = known.get(id).copied();
            index.ok_or_else(|| format!("location {id} is not in the first line"))
        };
        let fields = fields_of(text)?;
        let location = index(fields.location()?)?;
        let what = fields.what(index)?;
        let taken = match event::event(&what, location) {
            None if what == What::End => segments.end(location),
            None => segments.heartbeat(location, Timestamp(fields.time()?.0)),
            Some(kind) => {
                let (time, place) = fields.time()?;
                segments.push(Event {
                    location,
                    time: Timestamp(time),
                    kind,
                    payload: Record::new(text, place, read),
                })
            }
        };
        taken.map_err(|error| Refused::Line(error.to_string()))
    }

    /// Why a line that begins with `start` at byte `from` of the input, and is longer than
    /// [`LONGEST`](retime_jsonl::line::LONGEST), is not taken.
    pub fn too_long(&self, start: &[u8], from: u64) -> Refused {
        too_long(self.segments.is_none(), start, from)
    }

    /// No line comes any more.
    pub fn finish(&mut self) {
        if let Some(segments) = &mut self.segments {
            segments.finish();
        }
    }

    /// Writes at time `now` the lines that have left.
    pub fn give(&mut self, now: u64, out: &mut impl Write) -> io::Result<()> {
        let Some(segments) = &mut self.segments else {
            return Ok(());
        };
        while let Some(corrected) = segments.pop() {
            let record = &corrected.payload;
            self.stay.add(now.saturating_sub(record.read));
            record.write(out, corrected.time, corrected.raw)?;
        }
        Ok(())
    }
}

/// The name of a location as a user writes it.
fn name(id: Id<'_>) -> String {
    match id {
        Id::Number(number) => number.to_string(),
        Id::Text(text) => id.string().unwrap_or(text).to_owned(),
    }
}
