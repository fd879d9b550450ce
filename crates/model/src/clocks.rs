//! Which locations read the same physical clock.
//!
//! All times of one clock are corrected by one map, so what threads of one
//! process measured between each other stays exact.
//!
//! ```
//! use retime_model::{ClockId, Clocks, LocationIndex};
//! // Three locations; the first and the last are of one node.
//! let (clocks, nodes) = Clocks::from_owners(&["node 7", "node 9", "node 7"]);
//! assert_eq!(clocks.of(LocationIndex(2)), ClockId(0));
//! assert_eq!(clocks.locations(ClockId(0)), [LocationIndex(0), LocationIndex(2)]);
//! assert_eq!(nodes, ["node 7", "node 9"]);
//! ```

use std::hash::Hash;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::packed_fields;
use crate::trace::{LocationIndex, TraceInfo};

/// A physical clock, by its position in [`Clocks`].
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct ClockId(pub u32);

packed_fields!(ClockId { 0: u32 });

impl ClockId {
    /// The position as an index into slices.
    pub const fn as_usize(self) -> usize {
        self.0 as usize
    }
}

/// The clocks of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clocks {
    of_location: Vec<ClockId>,
    locations: Vec<Vec<LocationIndex>>,
    refuted: usize,
}

impl Clocks {
    /// One clock per location.
    pub fn each_location(count: usize) -> Self {
        Self::from_owners(&(0..count).collect::<Vec<_>>()).0
    }

    /// Clocks numbered in the order in which locations name their owners, and
    /// the owner of each.
    pub fn from_owners<O: Copy + Eq + Hash>(owners: &[O]) -> (Self, Vec<O>) {
        let mut number = FxHashMap::default();
        let mut order = Vec::new();
        let mut clocks = Self {
            of_location: Vec::new(),
            locations: Vec::new(),
            refuted: 0,
        };
        for (index, owner) in owners.iter().enumerate() {
            let clock = *number.entry(*owner).or_insert(order.len());
            if clock == order.len() {
                order.push(*owner);
                clocks.locations.push(Vec::new());
            }
            clocks.locations[clock].push(LocationIndex(index as u32));
            clocks.of_location.push(ClockId(clock as u32));
        }
        (clocks, order)
    }

    /// These clocks, after so many groups that should have shared a clock were split.
    #[must_use]
    pub fn with_refuted(self, refuted: usize) -> Self {
        Self { refuted, ..self }
    }

    /// Number of clocks.
    pub fn len(&self) -> usize {
        self.locations.len()
    }

    /// True if the trace has no location.
    pub fn is_empty(&self) -> bool {
        self.locations.is_empty()
    }

    /// The clock a location reads.
    #[inline]
    pub fn of(&self, location: LocationIndex) -> ClockId {
        self.of_location[location.as_usize()]
    }

    /// The clock of each location, in order.
    pub fn by_location(&self) -> &[ClockId] {
        &self.of_location
    }

    /// The locations that read a clock, in order.
    pub fn locations(&self, clock: ClockId) -> &[LocationIndex] {
        &self.locations[clock.as_usize()]
    }

    /// All clocks.
    pub fn iter(&self) -> impl Iterator<Item = ClockId> + use<> {
        (0..self.locations.len() as u32).map(ClockId)
    }

    /// The name of a clock in messages: that of its first location, and how many
    /// others read it.
    pub fn describe(&self, info: &TraceInfo, clock: ClockId) -> String {
        match self.locations(clock) {
            [] => format!("clock #{}", clock.0),
            [one] => info.describe(*one),
            [first, others @ ..] => format!(
                "the clock of {} and {} more",
                info.describe(*first),
                others.len()
            ),
        }
    }

    /// How many groups of locations were split because a dependency between
    /// them was violated.
    pub fn refuted(&self) -> usize {
        self.refuted
    }
}
