//! The times of chosen events, to verify a correction.
//!
//! After a correction the trace is read once more: the events with a role in
//! happened-before must have exactly the times that were computed, no event
//! may lie before its predecessor, and nothing but times may have changed.
//! Which events have a role is known by then, so nothing is decoded.

use std::path::Path;

use retime_model::Timestamp;

use crate::chunk::ChunkReader;
use crate::clock::ClockCursor;
use crate::counts::EventCounts;
use crate::error::{Error, Result, WireError};
use crate::steps::{BUFFER_FLUSH, Steps, read_time};
use crate::walk::each_chunk;
use retime_model::Monitor;

/// What [`Otf2Trace::node_times`](crate::Otf2Trace::node_times) finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// The times of the events asked for.
    pub times: Vec<Timestamp>,
    /// What there is besides times.
    pub counts: EventCounts,
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
    let mut times = Times::new(clock, events);
    each_chunk(reader, monitor, |steps, bytes| times.chunk(steps, bytes))?;
    times.finish(&path)
}

struct Times<'a> {
    clock: ClockCursor,
    wanted: std::slice::Iter<'a, u32>,
    next_wanted: u64,
    /// Number of the next event.
    event: u64,
    previous: u64,
    least: u64,
    greatest: u64,
    timeline: Timeline,
}

impl<'a> Times<'a> {
    fn new(clock: ClockCursor, events: &'a [u32]) -> Self {
        let mut times = Self {
            clock,
            wanted: events.iter(),
            next_wanted: 0,
            event: 0,
            previous: 0,
            least: u64::MAX,
            greatest: 0,
            timeline: Timeline::default(),
        };
        times.timeline.times.reserve(events.len());
        times.next_wanted = times.want();
        times
    }

    fn want(&mut self) -> u64 {
        self.wanted.next().map_or(u64::MAX, |&event| event.into())
    }

    fn chunk(&mut self, steps: &mut Steps, bytes: &[u8]) -> Result<(), WireError> {
        let mut walk = *steps;
        while let Some(step) = walk.step(bytes)? {
            self.timeline.counts.add(&step);
            let time = self.clock.correct(step.raw);
            if step.record.code == BUFFER_FLUSH {
                let stop = read_time(bytes, step.record, walk.header())?;
                self.clock.correct(stop);
            }
            self.timeline.backwards += u64::from(time < self.previous);
            self.previous = time;
            self.least = self.least.min(time);
            self.greatest = self.greatest.max(time);
            if self.event == self.next_wanted {
                self.timeline.times.push(Timestamp(time));
                self.next_wanted = self.want();
            }
            self.event += 1;
        }
        *steps = walk;
        Ok(())
    }

    fn finish(mut self, path: &Path) -> Result<Timeline> {
        if self.next_wanted != u64::MAX {
            return Err(Error::Inconsistent {
                path: path.to_owned(),
                what: format!(
                    "has {} events, but number {} (from 0) is asked for",
                    self.event, self.next_wanted
                ),
            });
        }
        if self.event > 0 {
            self.timeline.range = Some((Timestamp(self.least), Timestamp(self.greatest)));
        }
        Ok(self.timeline)
    }
}
