//! The task of moving the times of a location, and its outcome for a file.

use retime_model::{ClockMap, Correction, LocationIndex};

use super::retime::{Extent, Retimer};
use crate::local::LocalDefinitions;
use crate::undo::guess::Guess;
use crate::undo::packed::Packed;

/// The task of moving the times of a location: the map of its clock, and the offsets that its
/// stamps have before it.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    correction: &'a Correction,
    pub(crate) map: &'a ClockMap,
    pub(crate) location: LocationIndex,
    pub(crate) local: &'a LocalDefinitions,
}

impl<'a> Job<'a> {
    pub(crate) fn new(
        correction: &'a Correction,
        location: LocationIndex,
        local: &'a LocalDefinitions,
    ) -> Self {
        Self {
            correction,
            map: correction.map_of(location),
            location,
            local,
        }
    }

    pub(super) fn retimer(&self) -> Retimer<'a> {
        Retimer::new(self.correction.events(self.location), &self.local.clock)
    }

    /// Guesses the raw stamps of events.
    pub(crate) fn guess(&self) -> Guess<'a> {
        Guess::new(self.map, &self.local.clock_offsets)
    }

    /// Guesses stamps without offsets, as those of snapshots are.
    pub(crate) fn guess_global(&self) -> Guess<'a> {
        Guess::new(self.map, &[])
    }
}

/// The changes that a correction made to a file.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) edits: Packed,
    pub(super) stamps: Packed,
    pub(super) extent: Option<Extent>,
    /// True if time records were added, so that the chunks changed.
    pub(super) laid_out: bool,
}
