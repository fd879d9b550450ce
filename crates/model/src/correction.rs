//! The result of every method: one map per clock.
//!
//! A [`Correction`] is all that a method produces. Whatever carries a time in
//! the trace is then sent through the map of its clock: the events, parallel
//! and in a stream, and everything else the format knows of.

use crate::clocks::{ClockId, Clocks};
use crate::map::ClockMap;
use crate::trace::LocationIndex;

/// One map per clock of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    clocks: Clocks,
    maps: Vec<ClockMap>,
}

impl Correction {
    /// Joins clocks with their maps; a clock without a map stays as it is.
    pub fn new(clocks: Clocks, mut maps: Vec<ClockMap>) -> Self {
        maps.resize_with(clocks.len(), ClockMap::default);
        Self { clocks, maps }
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

    /// True if no stamp changes.
    pub fn is_identity(&self) -> bool {
        self.maps.iter().all(ClockMap::is_identity)
    }

    /// Number of knots of all maps.
    pub fn knots(&self) -> usize {
        self.maps.iter().map(|map| map.knots().len()).sum()
    }
}
