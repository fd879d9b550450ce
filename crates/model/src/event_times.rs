//! The corrected times of the events of a location, in the order in which they come.
//!
//! A correction is a law of two parts: the map of a clock, and the least distance `delta` of
//! successive events. An event lies where its map puts it, and not sooner after the event that
//! was asked for before than the events from that one to it take up:
//!
//! ```text
//! corrected(n) = max( map(n, recorded(n)), corrected(m) + delta (n - m) ),    m < n
//! ```
//!
//! A map alone would need a step for each of many events with one stamp. So a correction has
//! the knots of events that communicate, and its law the rest.
//!
//! ```
//! use retime_model::{Clocks, Correction, LocationIndex, MinimalDistance, Ticks, Timestamp};
//! let correction = Correction::new(Clocks::each_location(1), vec![])
//!     .keeping(MinimalDistance::Uniform(Ticks(10)));
//! let mut times = correction.events(LocationIndex(0));
//! let mut at = |event, recorded| times.at(event, Timestamp(recorded)).map(|time| time.0);
//! // Three events at once, and one that is far enough behind them.
//! assert_eq!([at(0, 100), at(1, 100), at(2, 100)], [Some(100), Some(110), Some(120)]);
//! assert_eq!(at(3, 150), Some(150));
//! ```

use crate::map::MapCursor;
use crate::time::{Ticks, Timestamp};

/// An event that has its corrected time.
#[derive(Clone, Copy, Debug)]
struct Passed {
    event: u64,
    corrected: u64,
}

/// Gives the events of one location their corrected times, one after the other.
#[derive(Clone, Debug)]
pub struct EventTimes<'a> {
    map: MapCursor<'a>,
    distance: u64,
    /// Kept where there is a least distance.
    last: Option<Passed>,
}

impl<'a> EventTimes<'a> {
    pub(crate) fn new(map: MapCursor<'a>, distance: Ticks) -> Self {
        Self {
            map,
            distance: u64::try_from(distance.0).unwrap_or(0),
            last: None,
        }
    }

    /// The corrected time of event number `event` (from 0), stamped `recorded`; `None` if it
    /// lies outside of what 64 bits hold. Numbers rise from call to call.
    #[inline]
    pub fn at(&mut self, event: u64, recorded: Timestamp) -> Option<Timestamp> {
        let mapped = self.map.map(event, recorded)?;
        if self.distance == 0 {
            return Some(mapped);
        }
        self.apart(event, mapped)
    }

    fn apart(&mut self, event: u64, mapped: Timestamp) -> Option<Timestamp> {
        let mut corrected = mapped.0;
        if let Some(last) = self.last {
            let apart = self.distance.checked_mul(event.saturating_sub(last.event));
            let earliest = apart.and_then(|apart| last.corrected.checked_add(apart))?;
            corrected = corrected.max(earliest);
        }
        self.last = Some(Passed { event, corrected });
        Some(Timestamp(corrected))
    }

    /// The corrected time of a stamp that events from number `event` on are not before: none of
    /// these is earlier than it, since a distance only moves them on.
    pub fn before(&mut self, event: u64, recorded: Timestamp) -> Option<Timestamp> {
        self.map.map(event, recorded)
    }

    /// The corrected time of a stamp that belongs to no event: the map alone tells it.
    pub fn of_no_event(&mut self, recorded: Timestamp) -> Option<Timestamp> {
        self.map.map_time(recorded)
    }
}
