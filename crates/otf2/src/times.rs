//! The times of chosen events, to verify a correction.
//!
//! After a correction the trace is read once more: the events with a role in
//! happened-before must have exactly the times that were computed, no event
//! may lie before its predecessor, and nothing but times may have changed.
//! Which events have a role is known by then, so nothing is decoded.

use std::path::Path;

use retime_model::{Monitor, Timestamp, plural};

use crate::chunk::ChunkReader;
use crate::clock::ClockCursor;
use crate::counts::EventCounts;
use crate::error::{Error, Result};
use crate::glance::{self, Glance};

/// The result of [`Trace::times`](crate::Trace::times).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// The times of the events asked for.
    pub times: Vec<Timestamp>,
    /// The content of the events besides their times, counted.
    pub counts: EventCounts,
    /// Time of the first event, which is the smallest if none is stamped backwards.
    pub first: Option<Timestamp>,
    /// Smallest and largest time; `None` without events.
    pub range: Option<(Timestamp, Timestamp)>,
    /// Number of events stamped before their predecessor.
    pub backwards: u64,
}

/// Reads the times of `events`, given by rising number.
pub(crate) fn read(
    reader: ChunkReader,
    clock: ClockCursor,
    events: &[u32],
    monitor: &dyn Monitor,
) -> Result<Timeline> {
    let path = reader.path().to_owned();
    let mut times = Times::new(events);
    let counts = glance::each(reader, clock, monitor, |event| {
        times.note(event);
        Ok(())
    })?;
    times.finish(counts, &path)
}

struct Times<'a> {
    wanted: std::slice::Iter<'a, u32>,
    next_wanted: u64,
    previous: u64,
    first: Option<Timestamp>,
    least: u64,
    greatest: u64,
    found: Vec<Timestamp>,
    backwards: u64,
}

impl<'a> Times<'a> {
    fn new(events: &'a [u32]) -> Self {
        let mut times = Self {
            wanted: events.iter(),
            next_wanted: 0,
            previous: 0,
            first: None,
            least: u64::MAX,
            greatest: 0,
            found: Vec::with_capacity(events.len()),
            backwards: 0,
        };
        times.next_wanted = times.want();
        times
    }

    fn want(&mut self) -> u64 {
        self.wanted.next().map_or(u64::MAX, |&event| event.into())
    }

    #[inline]
    fn note(&mut self, event: Glance<'_>) {
        let time = event.time;
        self.backwards += u64::from(time < self.previous);
        self.previous = time;
        self.first = self.first.or(Some(Timestamp(time)));
        self.least = self.least.min(time);
        self.greatest = self.greatest.max(time);
        if event.number == self.next_wanted {
            self.found.push(Timestamp(time));
            self.next_wanted = self.want();
        }
    }

    fn finish(self, counts: EventCounts, path: &Path) -> Result<Timeline> {
        let events = counts.total();
        if self.next_wanted != u64::MAX {
            return Err(Error::Inconsistent {
                path: path.to_owned(),
                what: format!(
                    "has {}, but number {} (from 0) is asked for",
                    plural(events, "event"),
                    self.next_wanted
                ),
            });
        }
        Ok(Timeline {
            times: self.found,
            counts,
            first: self.first,
            range: (events > 0).then_some((Timestamp(self.least), Timestamp(self.greatest))),
            backwards: self.backwards,
        })
    }
}
