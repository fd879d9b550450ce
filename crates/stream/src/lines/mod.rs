//! A stream of lines through the filter: JSON in, the same JSON with corrected times out.
//!
//! ```text
//! line --> what it says --> labels (who that is) --> Filter --> the line with its time
//! ```
//!
//! The format is that of `docs/STREAM.md`, and its parser that of `retime-jsonl`. Whoever
//! owns the input and the output hands each line to [`Lines::take`] and then lets
//! [`Lines::give`] write what has left the filter; this module neither reads nor waits, and
//! is told what time it is.
//!
//! ```
//! use retime_model::TickRate;
//! use retime_stream::FilterOptions;
//! use retime_stream::lines::Lines;
//!
//! let options = |ticks_per_second: Option<u64>| {
//!     let rate = TickRate::per_second(ticks_per_second.unwrap_or(1_000_000_000));
//!     rate.map(FilterOptions::new).ok_or_else(|| "no ticks".to_owned())
//! };
//! let (mut lines, mut out) = (Lines::default(), Vec::new());
//! for line in [
//!     r#"{"location":0,"time":1000,"type":"send","message":1}"#,
//!     r#"{"location":1,"time":900,"type":"receive","message":1}"#,
//! ] {
//!     lines.take(line.as_bytes(), 0, options, &mut out)?;
//! }
//! lines.finish();
//! lines.give(0, &mut out)?;
//! assert_eq!(String::from_utf8(out)?, concat!(
//!     r#"{"location":0,"time":1000,"type":"send","message":1,"raw_time":1000}"#, "\n",
//!     r#"{"location":1,"time":1000,"type":"receive","message":1,"raw_time":900}"#, "\n",
//! ));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod event;
mod labels;
mod record;
mod segments;

use std::io::{self, Write};

use retime_jsonl::line::{Header, What};
use retime_model::Timestamp;

use crate::control::FilterControl;
use crate::event::Event;
use crate::filter::Filter;
use crate::options::FilterOptions;
use crate::spread::Spread;
use labels::Labels;
use record::{fields_of, text_of, too_long};

pub use record::{Record, Refused};
pub use segments::SegmentLines;

/// The filter and what the lines have said so far. Times of reading and writing are
/// microseconds since any moment, and matter only to [`Lines::stay`].
#[derive(Debug, Default)]
pub struct Lines {
    filter: Option<Filter<Record>>,
    labels: Labels,
    stay: Spread,
}

impl Lines {
    /// The filter; `None` before the first line.
    pub fn filter(&self) -> Option<&Filter<Record>> {
        self.filter.as_ref()
    }

    /// How long lines stayed from reading to writing, in microseconds.
    pub fn stay(&self) -> &Spread {
        &self.stay
    }

    /// Takes a line that was read at `read`.
    ///
    /// The first one opens the filter with the options for the ticks per second of its
    /// header, if it says so; a header is written to `out` again, since it belongs to the
    /// format of the output, too. Fails if the line cannot be understood, or `options`
    /// refuses the header.
    pub fn take(
        &mut self,
        line: &[u8],
        read: u64,
        options: impl FnOnce(Option<u64>) -> Result<FilterOptions, String>,
        out: &mut impl Write,
    ) -> Result<(), Refused> {
        let text = text_of(line)?;
        if text.is_empty() {
            return Ok(());
        }
        if self.filter.is_none() {
            let header = Header::of(text).map_err(Refused::Stream)?;
            let given = header.is_some();
            let header = header.unwrap_or_default();
            let options = options(header.ticks_per_second).map_err(Refused::Stream)?;
            let filter = self.open(&header, options).map_err(Refused::Stream)?;
            self.filter = Some(filter);
            if given {
                let written = writeln!(out, "{text}");
                return written.map_err(|error| Refused::Stream(error.to_string()));
            }
        }
        self.take_event(text, read)
    }

    fn take_event(&mut self, text: &str, read: u64) -> Result<(), Refused> {
        let Some(filter) = &mut self.filter else {
            return Ok(());
        };
        let fields = fields_of(text)?;
        let labels = &mut self.labels;
        let location = labels.index(fields.location()?, filter)?;
        let what = fields.what(|name| labels.index(name, filter))?;
        let taken = match event::event(&what, location) {
            None if what == What::End => filter.end(location),
            None => filter.heartbeat(location, Timestamp(fields.time()?.0)),
            Some(kind) => {
                let (time, place) = fields.time()?;
                let event = Event {
                    location,
                    time: Timestamp(time),
                    kind,
                    payload: Record::new(text, place, read),
                };
                filter.push(event)
            }
        };
        taken.map_err(|error| Refused::Line(error.to_string()))
    }

    /// Why a line that begins with `start` at byte `from` of the input, and is longer than
    /// [`LONGEST`](retime_jsonl::line::LONGEST), is not taken.
    pub fn too_long(&self, start: &[u8], from: u64) -> Refused {
        too_long(self.filter.is_none(), start, from)
    }

    /// No line comes any more: [`Self::give`] then writes all that is left.
    pub fn finish(&mut self) {
        if let Some(filter) = &mut self.filter {
            filter.finish();
        }
    }

    /// Writes at time `now` the lines that have left the filter.
    pub fn give(&mut self, now: u64, out: &mut impl Write) -> io::Result<()> {
        let Some(filter) = &mut self.filter else {
            return Ok(());
        };
        while let Some(corrected) = filter.pop() {
            let record = &corrected.payload;
            self.stay.add(now.saturating_sub(record.read));
            record.write(out, corrected.time, corrected.raw)?;
        }
        Ok(())
    }

    /// The filter for a stream with the given header.
    fn open(
        &mut self,
        header: &Header<'_>,
        options: FilterOptions,
    ) -> Result<Filter<Record>, String> {
        let clocks = &header.clocks;
        self.labels.declare(header);
        let is_constant = matches!(options.control, FilterControl::Constant(_));
        if !is_constant && clocks.is_empty() {
            return Err("a controller needs a first line with all locations".into());
        }
        let mut filter = Filter::new(clocks, options);
        if clocks.is_empty() {
            // Stands for locations that nobody knows yet: it keeps the output
            // back until none can come that is earlier.
            filter.add_location();
        }
        self.labels.is_closed = !is_constant;
        Ok(filter)
    }
}
