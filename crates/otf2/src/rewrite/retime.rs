//! New times for the events of one location.

use retime_model::{EventTimes, Timestamp};
use serde::{Deserialize, Serialize};

use crate::clock::{ClockCorrection, ClockCursor};

/// Maps the times of a location in the order of its events.
pub(super) struct Retimer<'a> {
    offsets: ClockCursor,
    times: EventTimes<'a>,
    latest: u64,
    /// Number of the next event.
    event: u64,
    extent: Option<Extent>,
}

/// First and last event before and after, each in the time of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Extent {
    pub(super) old: (u64, u64),
    pub(super) new: (u64, u64),
}

impl Extent {
    /// The smallest extent that contains both.
    pub(super) fn join(self, other: Self) -> Self {
        let join = |a: (u64, u64), b: (u64, u64)| (a.0.min(b.0), a.1.max(b.1));
        Self {
            old: join(self.old, other.old),
            new: join(self.new, other.new),
        }
    }
}

impl<'a> Retimer<'a> {
    pub(super) fn new(times: EventTimes<'a>, offsets: &ClockCorrection) -> Self {
        Self {
            offsets: offsets.cursor(),
            times,
            latest: 0,
            event: 0,
            extent: None,
        }
    }

    /// The new time of the next event; `None` if it does not fit. An event
    /// stamped before its predecessor is taken to be as late as that.
    #[inline]
    pub(super) fn event(&mut self, raw: u64) -> Option<u64> {
        self.latest = self.latest.max(self.offsets.correct(raw));
        let new = self.times.at(self.event, Timestamp(self.latest))?.0;
        self.event += 1;
        match &mut self.extent {
            Some(extent) => {
                extent.old.1 = self.latest;
                extent.new.1 = new;
            }
            none => {
                *none = Some(Extent {
                    old: (self.latest, self.latest),
                    new: (new, new),
                });
            }
        }
        Some(new)
    }

    /// The new time of the end of a flush, which moves the offsets on as it
    /// does in every OTF2 tool.
    pub(super) fn flush_end(&mut self, raw: u64) -> Option<u64> {
        let old = self.offsets.correct(raw);
        self.times.of_no_event(Timestamp(old)).map(|new| new.0)
    }

    /// Number of events so far.
    pub(super) const fn events(&self) -> u64 {
        self.event
    }

    /// The new times between which all events so far lie; `None` before the first.
    pub(super) const fn extent(&self) -> Option<Extent> {
        self.extent
    }
}
