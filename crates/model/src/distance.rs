//! How far successive events of a location are apart at least.
//!
//! `delta >= 0` keeps events that follow each other from falling together. One value for all
//! locations is the common case; a table gives each its own.

use serde::{Deserialize, Serialize};

use crate::time::Ticks;
use crate::trace::LocationIndex;

/// The least time between successive events of each location.
///
/// ```
/// use retime_model::{LocationIndex, MinimalDistance, Ticks};
/// let distance = MinimalDistance::PerLocation(vec![Ticks(0), Ticks(3)]);
/// assert_eq!(distance.of(LocationIndex(1)), Ticks(3));
/// assert!(!distance.is_zero() && MinimalDistance::default().is_zero());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MinimalDistance {
    /// One for all locations.
    Uniform(Ticks),
    /// One for each location, 0 for those beyond the end.
    PerLocation(Vec<Ticks>),
}

impl Default for MinimalDistance {
    /// Order is kept, and equal stamps may stay equal.
    fn default() -> Self {
        Self::Uniform(Ticks(0))
    }
}

impl From<Ticks> for MinimalDistance {
    /// One for all locations.
    fn from(distance: Ticks) -> Self {
        Self::Uniform(distance)
    }
}

impl From<Vec<Ticks>> for MinimalDistance {
    /// One for each location; of those that are all alike one for all.
    fn from(all: Vec<Ticks>) -> Self {
        match all.first() {
            Some(first) if all.iter().any(|it| it != first) => Self::PerLocation(all),
            first => Self::Uniform(first.copied().unwrap_or_default()),
        }
    }
}

impl MinimalDistance {
    /// The least time between successive events of a location.
    #[inline]
    pub fn of(&self, location: LocationIndex) -> Ticks {
        match self {
            Self::Uniform(distance) => *distance,
            Self::PerLocation(all) => all.get(location.as_usize()).copied().unwrap_or_default(),
        }
    }

    /// True if no location has any.
    pub fn is_zero(&self) -> bool {
        match self {
            Self::Uniform(distance) => distance.0 == 0,
            Self::PerLocation(all) => all.iter().all(|it| it.0 == 0),
        }
    }
}
