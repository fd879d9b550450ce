//! A correction as it is saved: plain data, by location id, stable across runs.
//!
//! Every clock lists the ids of its locations, its knots as
//! `[raw, corrected]` (`[raw, arrive, leave]` where there is a step) and its
//! steps as `[raw, location id, event, corrected]`; all numbers are ticks. A
//! clock without `locations` stands for all locations that no other clock names;
//! a location that no clock names keeps its times. So the identity is an empty
//! list of clocks, and one clock with the knot `[0, 1000]` shifts a whole trace.
//!
//! With a `distance` successive events of a location are that far apart at least, as
//! [`EventTimes`](crate::EventTimes) says: one for all locations of the clock, or
//! `[location id, distance]` for each that has one.
//!
//! ```
//! use retime_model::{SavedClock, SavedDistance};
//! let knots = vec![[0, 1_000].into()];
//! let clock = SavedClock { locations: None, knots, steps: vec![], distance: None };
//! assert_eq!(clock.to_map(|_| None)?.knots().len(), 1);
//! let read = |text| serde_json::from_str::<SavedClock>(text).map(|it| it.distance);
//! let same = read(r#"{ "knots": [], "distance": 5 }"#);
//! assert_eq!(same.ok(), Some(Some(SavedDistance::Same(5))));
//! let each = read(r#"{ "knots": [], "distance": [[3, 5]] }"#);
//! assert_eq!(each.ok(), Some(Some(SavedDistance::PerLocation(vec![[3, 5]]))));
//! # Ok::<(), retime_model::SavedError>(())
//! ```

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::clocks::Clocks;
use crate::correction::Correction;
use crate::distance::MinimalDistance;
use crate::map::{ClockMap, Knot, MapError, Step};
use crate::time::{Ticks, Timestamp};
use crate::trace::{LocationIndex, TraceInfo};

/// A knot: `[raw, corrected]`, or `[raw, arrive, leave]` with a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "a knot must be [raw, corrected] or [raw, arrive, leave], in stamps from 0 up to 2^64 - 1"
)]
pub enum SavedKnot {
    /// Without a step.
    Plain([u64; 2]),
    /// With a step.
    Stepped([u64; 3]),
}

impl From<[u64; 2]> for SavedKnot {
    fn from(knot: [u64; 2]) -> Self {
        Self::Plain(knot)
    }
}

impl From<Knot> for SavedKnot {
    fn from(knot: Knot) -> Self {
        if knot.arrive == knot.leave {
            Self::Plain([knot.raw.0, knot.leave.0])
        } else {
            Self::Stepped([knot.raw.0, knot.arrive.0, knot.leave.0])
        }
    }
}

impl From<SavedKnot> for Knot {
    fn from(saved: SavedKnot) -> Self {
        let (raw, arrive, leave) = match saved {
            SavedKnot::Plain([raw, corrected]) => (raw, corrected, corrected),
            SavedKnot::Stepped([raw, arrive, leave]) => (raw, arrive, leave),
        };
        Self {
            raw: Timestamp(raw),
            arrive: Timestamp(arrive),
            leave: Timestamp(leave),
        }
    }
}

/// One clock of a saved correction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedClock {
    /// Ids of the locations that read it; none given: all the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locations: Option<Vec<u64>>,
    /// Knots by rising raw stamp.
    pub knots: Vec<SavedKnot>,
    /// `[raw, location id, event, corrected]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<[u64; 4]>,
    /// The least ticks between successive events of a location; none given: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distance: Option<SavedDistance>,
}

/// The least distance of events of the locations of a clock, in ticks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "a distance must be ticks, from 0 up to 2^60, or [location id, ticks] for each location that has one"
)]
pub enum SavedDistance {
    /// One for all.
    Same(u64),
    /// `[location id, ticks]`.
    PerLocation(Vec<[u64; 2]>),
}

/// A longer distance than this cannot be meant, and overflows nothing.
const LONGEST: u64 = 1 << 60;

impl SavedDistance {
    /// The distance of the locations with these ids; `None` if none has any.
    fn of(distance: &MinimalDistance, locations: &[(LocationIndex, u64)]) -> Option<Self> {
        let ticks = |it: &(LocationIndex, u64)| distance.of(it.0).0.unsigned_abs();
        let first = locations.first().map_or(0, ticks);
        if locations.iter().all(|it| ticks(it) == first) {
            return (first > 0).then_some(Self::Same(first));
        }
        let all = locations.iter().map(|it| [it.1, ticks(it)]);
        Some(Self::PerLocation(all.filter(|it| it[1] > 0).collect()))
    }

    /// The ticks for a location with this id.
    fn ticks(&self, id: u64) -> Result<Ticks, SavedError> {
        let ticks = match self {
            Self::Same(ticks) => *ticks,
            Self::PerLocation(all) => all.iter().find(|it| it[0] == id).map_or(0, |it| it[1]),
        };
        if ticks > LONGEST {
            return Err(SavedError::DistanceTooLarge(ticks));
        }
        Ok(Ticks(ticks as i64))
    }
}

/// Why a saved correction does not fit a trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SavedError {
    /// A clock whose knots make no map.
    #[error("clock {clock} of the correction: {source}")]
    BadMap {
        /// Its position.
        clock: usize,
        /// The fault of its knots.
        source: MapError,
    },
    /// Two clocks for one location.
    #[error("location {0} is listed by two clocks of the correction")]
    ListedTwice(u64),
    /// Several clocks that stand for all other locations.
    #[error(
        "clock {0} of the correction lists no locations, like one before it; only one may stand for the rest"
    )]
    SecondRest(usize),
    /// A distance that cannot be meant.
    #[error(
        "events cannot be {0} ticks apart at least, as a clock of the correction asks; give at most 2^60"
    )]
    DistanceTooLarge(u64),
}

impl SavedClock {
    /// The map; `index` finds a location by its id. Steps of locations that it
    /// does not find are left out.
    pub fn to_map(
        &self,
        index: impl Fn(u64) -> Option<LocationIndex>,
    ) -> Result<ClockMap, SavedError> {
        let knots = self.knots.iter().map(|&knot| knot.into()).collect();
        let steps = self
            .steps
            .iter()
            .filter_map(|&[raw, location, event, corrected]| {
                let location = index(location)?;
                Some(Step {
                    raw: Timestamp(raw),
                    location,
                    event,
                    corrected: Timestamp(corrected),
                })
            });
        let mut steps: Vec<Step> = steps.collect();
        steps.sort_unstable();
        ClockMap::new(knots, steps).map_err(|source| SavedError::BadMap { clock: 0, source })
    }
}

impl Correction {
    /// The correction as it is saved.
    pub fn save(&self, info: &TraceInfo) -> Vec<SavedClock> {
        let id = |location: &LocationIndex| {
            info.locations
                .get(location.as_usize())
                .map_or(u64::MAX, |it| it.id)
        };
        let saved = self.clocks().iter().map(|clock| {
            let map = self.map(clock);
            let locations = self.clocks().locations(clock).iter();
            let locations: Vec<_> = locations.map(|it| (*it, id(it))).collect();
            SavedClock {
                distance: SavedDistance::of(self.distance(), &locations),
                locations: Some(locations.iter().map(|it| it.1).collect()),
                knots: map.knots().iter().map(|&knot| knot.into()).collect(),
                steps: map
                    .steps()
                    .iter()
                    .map(|step| [step.raw.0, id(&step.location), step.event, step.corrected.0])
                    .collect(),
            }
        });
        saved.collect()
    }

    /// A saved correction, for the locations of a trace.
    pub fn restore(saved: &[SavedClock], info: &TraceInfo) -> Result<Self, SavedError> {
        let by_id: FxHashMap<u64, LocationIndex> = info
            .locations
            .iter()
            .zip(0..)
            .map(|(location, index)| (location.id, LocationIndex(index)))
            .collect();
        let mut maps = Vec::new();
        let mut clock_of: Vec<Option<usize>> = vec![None; info.locations.len()];
        let mut rest = None;
        for (number, clock) in saved.iter().enumerate() {
            let map = clock
                .to_map(|id| by_id.get(&id).copied())
                .map_err(|error| match error {
                    SavedError::BadMap { source, .. } => SavedError::BadMap {
                        clock: number,
                        source,
                    },
                    other => other,
                })?;
            maps.push(map);
            match &clock.locations {
                None if rest.replace(number).is_some() => {
                    return Err(SavedError::SecondRest(number));
                }
                None => {}
                Some(ids) => {
                    for id in ids {
                        let Some(location) = by_id.get(id) else {
                            continue;
                        };
                        if clock_of[location.as_usize()].replace(number).is_some() {
                            return Err(SavedError::ListedTwice(*id));
                        }
                    }
                }
            }
        }
        let distances = clock_of
            .iter()
            .zip(&info.locations)
            .map(|(clock, location)| {
                let clock = clock.or(rest).and_then(|it| saved.get(it));
                let distance = clock.and_then(|it| it.distance.as_ref());
                distance.map_or(Ok(Ticks(0)), |it| it.ticks(location.id))
            });
        let distances = distances.collect::<Result<Vec<_>, _>>()?;
        let correction = Self::from_parts(&clock_of, rest, &maps);
        Ok(correction.keeping(MinimalDistance::from(distances)))
    }

    /// Numbers the clocks anew in the order in which locations name them.
    fn from_parts(clock_of: &[Option<usize>], rest: Option<usize>, maps: &[ClockMap]) -> Self {
        let owners: Vec<usize> = clock_of
            .iter()
            .enumerate()
            // A location without a clock gets one of its own, past the saved ones.
            .map(|(location, clock)| clock.or(rest).unwrap_or(maps.len() + location))
            .collect();
        let (clocks, order) = Clocks::from_owners(&owners);
        let map = |owner: &usize| maps.get(*owner).cloned().unwrap_or_default();
        Self::new(clocks, order.iter().map(map).collect())
    }
}
