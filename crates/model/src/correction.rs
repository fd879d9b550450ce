//! The result of every method: one map per clock, and how far events stay apart.
//!
//! A [`Correction`] is all that a method produces. Whatever carries a time in
//! the trace is then sent through the map of its clock: the events, parallel
//! and in a stream, and everything else the format knows of. Where a method keeps a least
//! distance, events take their times one after the other ([`EventTimes`]).

use crate::clocks::{ClockId, Clocks};
use crate::distance::MinimalDistance;
use crate::event_times::EventTimes;
use crate::map::ClockMap;
use crate::trace::LocationIndex;

/// One map per clock of a trace, and the least distance of its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    clocks: Clocks,
    maps: Vec<ClockMap>,
    distance: MinimalDistance,
}

impl Correction {
    /// Joins clocks with their maps; a clock without a map stays as it is.
    pub fn new(clocks: Clocks, mut maps: Vec<ClockMap>) -> Self {
        maps.resize_with(clocks.len(), ClockMap::default);
        Self {
            clocks,
            maps,
            distance: MinimalDistance::default(),
        }
    }

    /// This correction, with successive events of a location so far apart at least.
    #[must_use]
    pub fn keeping(self, distance: MinimalDistance) -> Self {
        Self { distance, ..self }
    }

    /// The least time between successive events of a location.
    pub fn distance(&self) -> &MinimalDistance {
        &self.distance
    }

    /// The corrected times of the events of a location, in their order.
    pub fn events(&self, location: LocationIndex) -> EventTimes<'_> {
        EventTimes::new(
            self.map_of(location).cursor(location),
            self.distance.of(location),
        )
    }

    /// Which locations share a clock.
    pub fn clocks(&self) -> &Clocks {
        &self.clocks
    }

    /// The map of a clock.
    pub fn map(&self, clock: ClockId) -> &ClockMap {
        &self.maps[clock.as_usize()]
    }

    /// The map of the clock a location reads.
    pub fn map_of(&self, location: LocationIndex) -> &ClockMap {
        self.map(self.clocks.of(location))
    }

    /// True if no stamp can change.
    pub fn is_identity(&self) -> bool {
        self.distance.is_zero() && self.maps.iter().all(ClockMap::is_identity)
    }

    /// Number of knots of all maps.
    pub fn knots(&self) -> usize {
        self.maps.iter().map(|map| map.knots().len()).sum()
    }
}
