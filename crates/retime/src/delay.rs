//! How long an effect needs at least after its cause.
//!
//! `mu(s, r) >= 0` bounds every dependency from below: a message cannot arrive
//! sooner than the network allows. One value for the whole trace is the common
//! case; a table gives values per pair of locations.

use rustc_hash::FxHashMap;

use retime_model::{LocationIndex, Ticks};

/// The minimal delay of each dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MinimalDelay {
    /// One delay for all dependencies.
    Uniform(Ticks),
    /// One entry per pair of locations.
    PerPair(DelayTable),
}

impl MinimalDelay {
    /// The delay of a dependency from an event of `from` to one of `to`.
    #[inline]
    pub fn between(&self, from: LocationIndex, to: LocationIndex) -> Ticks {
        match self {
            Self::Uniform(delay) => *delay,
            Self::PerPair(table) => table.between(from, to),
        }
    }

    /// These delays for the [mirrored](crate::Causality::mirrored) trace.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        match self {
            Self::Uniform(delay) => Self::Uniform(*delay),
            Self::PerPair(table) => Self::PerPair(DelayTable {
                mirrored: !table.mirrored,
                ..table.clone()
            }),
        }
    }
}

/// Delays by pair of locations; the more specific entry wins.
///
/// ```
/// use retime::{DelayTable, LocationIndex, Ticks};
/// let mut table = DelayTable::default();
/// table.set(None, None, Ticks(5));
/// table.set(Some(LocationIndex(0)), None, Ticks(7));
/// table.set(Some(LocationIndex(0)), Some(LocationIndex(2)), Ticks(9));
/// let between = |from, to| table.between(LocationIndex(from), LocationIndex(to)).0;
/// assert_eq!((between(1, 2), between(0, 1), between(0, 2)), (5, 7, 9));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DelayTable {
    entries: FxHashMap<(Option<LocationIndex>, Option<LocationIndex>), Ticks>,
    /// For a mirrored trace, in which effects are causes.
    mirrored: bool,
}

impl DelayTable {
    /// Sets the delay from one location to another; `None` means any.
    pub fn set(&mut self, from: Option<LocationIndex>, to: Option<LocationIndex>, delay: Ticks) {
        self.entries.insert((from, to), delay);
    }

    /// The delay of a pair: its own entry, else that of its source, else that
    /// of its destination, else the general one, else 0.
    pub fn between(&self, from: LocationIndex, to: LocationIndex) -> Ticks {
        let (from, to) = if self.mirrored {
            (to, from)
        } else {
            (from, to)
        };
        let candidates = [
            (Some(from), Some(to)),
            (Some(from), None),
            (None, Some(to)),
            (None, None),
        ];
        let found = candidates.iter().find_map(|key| self.entries.get(key));
        found.copied().unwrap_or(Ticks(0))
    }

    /// Smallest and largest delay given; `None` without entries.
    pub fn range(&self) -> Option<(Ticks, Ticks)> {
        let smallest = self.entries.values().min()?;
        Some((*smallest, *self.entries.values().max()?))
    }
}
