//! The events of a location one by one, each at its recorded and at its corrected time.
//!
//! A list, a viewer, a table and a picture show the same times because all of them read
//! events here. An event that is stamped before its predecessor stands where the latest
//! stamp before it stands, as it does in a trace that is [rewritten](super::Rewrite::rewrite):
//!
//! ```text
//! latest(n) = max(latest(n - 1), recorded(n))
//! corrected(n) = map(n, latest(n))
//! ```
//!
//! Where the correction keeps events apart, they are as [`EventTimes`] has them.

use std::path::PathBuf;

use super::{EventRow, EventRows, FormatError, Trace};
use crate::correction::Correction;
use crate::event_times::EventTimes;
use crate::printable::printable_path;
use crate::time::Timestamp;
use crate::trace::LocationIndex;

/// The events of a location on their way from recorded to corrected times.
pub struct CorrectedEvents<'a> {
    trace: &'a dyn Trace,
    rows: Box<dyn EventRows + 'a>,
    times: Option<EventTimes<'a>>,
    location: LocationIndex,
    /// The number of the next event, from 0.
    next: u64,
    latest: Timestamp,
}

/// An event with its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorrectedEvent {
    /// The event as the format lists it, with its time as recorded.
    pub row: EventRow,
    /// Its number in its location, from 0.
    pub number: u64,
    /// The latest recorded time up to this event.
    pub latest: Timestamp,
    /// Its corrected time; `None` where no correction was given.
    pub corrected: Option<Timestamp>,
}

/// A corrected time that is no time stamp.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{}: the corrected time of event {event} (from 0) of location number {location} (from 0) \
     does not fit into 64 bits; give the correction that was made for this trace",
    printable_path(path)
)]
pub struct TimeTooLarge {
    /// The trace.
    pub path: PathBuf,
    /// The index of the location.
    pub location: u32,
    /// The number of the event in it.
    pub event: u64,
}

impl<'a> CorrectedEvents<'a> {
    /// Begins with the first event of a location.
    ///
    /// # Errors
    ///
    /// Those of [`Trace::rows`].
    pub fn open(
        trace: &'a dyn Trace,
        location: LocationIndex,
        correction: Option<&'a Correction>,
    ) -> Result<Self, FormatError> {
        Ok(Self {
            trace,
            rows: trace.rows(location)?,
            times: correction.map(|it| it.events(location)),
            location,
            next: 0,
            latest: Timestamp(0),
        })
    }

    /// How many events have been read.
    pub fn count(&self) -> u64 {
        self.next
    }

    /// Reads the next event, `None` at the end.
    ///
    /// # Errors
    ///
    /// Those of [`EventRows::next_row`]; [`TimeTooLarge`] where the correction leads out of
    /// the times that there are.
    pub fn read(&mut self) -> Result<Option<CorrectedEvent>, FormatError> {
        let Some(row) = self.rows.next_row()? else {
            return Ok(None);
        };
        let number = self.next;
        self.next += 1;
        self.latest = self.latest.max(row.time);
        let corrected = match &mut self.times {
            None => None,
            Some(times) => match times.at(number, self.latest) {
                Some(time) => Some(time),
                None => return Err(self.too_large(number)),
            },
        };
        Ok(Some(CorrectedEvent {
            row,
            number,
            latest: self.latest,
            corrected,
        }))
    }

    #[cold]
    fn too_large(&self, event: u64) -> FormatError {
        FormatError::failed(TimeTooLarge {
            path: self.trace.path().to_owned(),
            location: self.location.0,
            event,
        })
    }
}
