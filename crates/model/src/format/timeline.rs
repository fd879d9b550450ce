//! The times of chosen events of a location, by which a copy is verified.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::contents::Contents;
use super::error::FormatError;
use super::rows::EventRows;
use crate::printable::printable_path;
use crate::time::Timestamp;

/// The times of chosen events of a location.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// The times of the events asked for.
    pub times: Vec<Timestamp>,
    /// Its contents besides times.
    pub contents: Contents,
    /// How many events there are, asked for or not.
    pub events: u64,
    /// The stamp of the first of them and the largest, as
    /// [`LogColumns::range`](crate::LogColumns::range); `None` without events.
    pub range: Option<(Timestamp, Timestamp)>,
    /// Number of events stamped before their predecessor.
    pub backwards: u64,
}

/// How the timeline of a copy is not the one that was to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Difference {
    /// There are other events.
    OtherEvents,
    /// So many are stamped before their predecessor.
    Backwards(u64),
    /// An event has another time than computed.
    OtherTime,
}

impl Timeline {
    /// Counts the next event of the location, whether or not it was asked for.
    pub fn count(&mut self, time: Timestamp) {
        self.events += 1;
        let (first, last) = self.range.unwrap_or((time, time));
        self.range = Some((first, last.max(time)));
    }

    /// How it is not the one of these contents and times.
    pub fn difference(&self, contents: &Contents, times: &[Timestamp]) -> Option<Difference> {
        if self.contents != *contents {
            Some(Difference::OtherEvents)
        } else if self.backwards > 0 {
            Some(Difference::Backwards(self.backwards))
        } else if self.times != times {
            Some(Difference::OtherTime)
        } else {
            None
        }
    }
}

/// Events that are asked for and that a location does not have.
#[derive(Debug, thiserror::Error)]
#[error(
    "{}: event {event} (from 0) of a location is asked for, which has {events}; it has changed \
     while it was read, so run this again",
    printable_path(path)
)]
struct Missing {
    path: PathBuf,
    event: u32,
    events: u64,
}

/// The timeline of a location by its rows: no contents are verified.
pub(super) fn of_rows(
    rows: &mut dyn EventRows,
    wanted: &[u32],
    path: &Path,
) -> Result<Timeline, FormatError> {
    let mut timeline = Timeline::default();
    let mut wanted = wanted.iter().copied().peekable();
    let mut previous = Timestamp(0);
    while let Some(row) = rows.next_row()? {
        timeline.backwards += u64::from(row.time < previous);
        previous = row.time;
        if wanted
            .next_if(|&it| u64::from(it) == timeline.events)
            .is_some()
        {
            timeline.times.push(row.time);
        }
        timeline.count(row.time);
    }
    if let Some(event) = wanted.next() {
        return Err(FormatError::failed(Missing {
            path: path.to_owned(),
            event,
            events: timeline.events,
        }));
    }
    Ok(timeline)
}
