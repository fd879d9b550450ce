//! The correction of one clock: a monotone, piecewise linear map of its stamps.
//!
//! A map is a list of knots `(raw, corrected)`. Between two knots stamps are
//! interpolated, rounded down; before the first and after the last they are
//! shifted like that knot. Without knots the map is the identity.
//!
//! ```text
//! corrected                     .-'
//!     |                     .-'        knot C: slope 1 from here on
//!     |              o----'
//!     |             :                  knot B: a step, equal raw stamps
//!     |         .--o                           are told apart by event number
//!     |     .-'
//!     |   o                            knot A
//!     +----------------------------> raw
//! ```
//!
//! On a clock coarser than the delays, cause and effect can share one raw stamp
//! and must still come apart. Such a knot has a *step*: it arrives at one value
//! and leaves at another, and [`Step`]s say from which event of which location
//! on which value holds.
//!
//! ```
//! use retime_model::{ClockMap, Knot, LocationIndex, Timestamp};
//! let map = ClockMap::new(
//!     vec![Knot::at(Timestamp(100), Timestamp(150)), Knot::at(Timestamp(200), Timestamp(350))],
//!     vec![],
//! )?;
//! let mut cursor = map.cursor(LocationIndex(0));
//! let mut at = |raw| cursor.map(0, Timestamp(raw)).map(|corrected| corrected.0);
//! assert_eq!(at(150), Some(250)); // half-way
//! assert_eq!(at(90), Some(140)); // before: shifted like the first knot
//! assert_eq!(at(210), Some(360)); // after: shifted like the last
//! assert_eq!(map.invert(Timestamp(250)), Some(Timestamp(150)));
//! # Ok::<(), retime_model::MapError>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::near::partition_point_near;
use crate::time::Timestamp;
use crate::trace::LocationIndex;

/// A break point of a [`ClockMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knot {
    /// Stamp as recorded.
    pub raw: Timestamp,
    /// Corrected stamp at which the piece before it ends.
    pub arrive: Timestamp,
    /// Corrected stamp at which the piece after it begins; larger than
    /// `arrive` where there is a step.
    pub leave: Timestamp,
}

impl Knot {
    /// A knot without a step.
    pub const fn at(raw: Timestamp, corrected: Timestamp) -> Self {
        Self {
            raw,
            arrive: corrected,
            leave: corrected,
        }
    }
}

/// From which event on a stepped knot has which value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Step {
    /// The raw stamp of the knot.
    pub raw: Timestamp,
    /// The location the event is of.
    pub location: LocationIndex,
    /// The first event, counted from 0 within the location, with this value.
    pub event: u64,
    /// The value.
    pub corrected: Timestamp,
}

/// Why knots and steps make no [`ClockMap`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// Raw stamps must rise from knot to knot.
    #[error("knot {0} does not lie after the knot before it")]
    KnotsNotRising(usize),
    /// Corrected stamps must not fall.
    #[error("the corrected time falls at knot {0}")]
    CorrectedFalls(usize),
    /// A step that no knot has, or outside of its values, or out of order.
    #[error(
        "step {0} (raw time, location, event, corrected time) fits no knot, or is out of order"
    )]
    MisplacedStep(usize),
}

/// The monotone, piecewise linear correction of one clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClockMap {
    knots: Vec<Knot>,
    steps: Vec<Step>,
}

impl ClockMap {
    /// A map through `knots` with `steps` (sorted by raw stamp, location, event).
    pub fn new(knots: Vec<Knot>, steps: Vec<Step>) -> Result<Self, MapError> {
        for (index, knot) in knots.iter().enumerate() {
            let previous = index.checked_sub(1).map(|before| knots[before]);
            if previous.is_some_and(|previous| previous.raw >= knot.raw) {
                return Err(MapError::KnotsNotRising(index));
            }
            if knot.arrive > knot.leave
                || previous.is_some_and(|previous| previous.leave > knot.arrive)
            {
                return Err(MapError::CorrectedFalls(index));
            }
        }
        let mut at = 0;
        for (index, step) in steps.iter().enumerate() {
            at = partition_point_near(&knots, at, |knot| knot.raw < step.raw);
            let knot = knots.get(at).filter(|knot| knot.raw == step.raw);
            let inside =
                knot.is_some_and(|knot| (knot.arrive..=knot.leave).contains(&step.corrected));
            let ordered = index.checked_sub(1).is_none_or(|before| {
                let before = &steps[before];
                let same = (before.raw, before.location) == (step.raw, step.location);
                *before < *step
                    && (!same || before.event < step.event && before.corrected <= step.corrected)
            });
            if !inside || !ordered {
                return Err(MapError::MisplacedStep(index));
            }
        }
        Ok(Self { knots, steps })
    }

    /// The knots, by rising raw stamp.
    pub fn knots(&self) -> &[Knot] {
        &self.knots
    }

    /// The steps, by raw stamp, location and event.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// True if every stamp stays as it is.
    pub fn is_identity(&self) -> bool {
        self.knots
            .iter()
            .all(|knot| knot.raw == knot.arrive && knot.raw == knot.leave)
    }

    /// A cursor for the events of one location.
    pub fn cursor(&self, location: LocationIndex) -> MapCursor<'_> {
        MapCursor {
            map: self,
            location,
            piece: Piece::nowhere(),
            after: 0,
            step: 0,
        }
    }

    /// The smallest raw stamp whose corrected stamp is `corrected` or later;
    /// `None` if it would lie outside of what 64 bits hold.
    pub fn invert(&self, corrected: Timestamp) -> Option<Timestamp> {
        let after = self.knots.partition_point(|knot| knot.leave < corrected);
        match (
            after.checked_sub(1).map(|before| self.knots[before]),
            self.knots.get(after),
        ) {
            (None, None) => Some(corrected),
            (None, Some(next)) if corrected <= next.arrive => {
                shift(next.raw, corrected, next.arrive)
            }
            (Some(previous), None) => shift(previous.raw, corrected, previous.leave),
            (_, Some(next)) if corrected >= next.arrive => Some(next.raw),
            (Some(previous), Some(next)) => {
                let rise = next.arrive.0 - previous.leave.0;
                let run = next.raw.0 - previous.raw.0;
                let above = corrected.0 - previous.leave.0;
                let along = (u128::from(above) * u128::from(run)).div_ceil(u128::from(rise));
                previous.raw.0.checked_add(along as u64).map(Timestamp)
            }
            (None, Some(next)) => Some(next.raw),
        }
    }
}

/// `of`, moved as far as `to` lies from `from`.
fn shift(of: Timestamp, to: Timestamp, from: Timestamp) -> Option<Timestamp> {
    let moved = i128::from(of.0) + i128::from(to.0) - i128::from(from.0);
    u64::try_from(moved).ok().map(Timestamp)
}

/// The linear piece a cursor stands on: `start..end` of raw stamps.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: u64,
    /// Exclusive, so that the knot at the end begins the next piece.
    end: u64,
    value: u64,
    run: u64,
    rise: u64,
}

impl Piece {
    const fn nowhere() -> Self {
        Self {
            start: 1,
            end: 0,
            value: 0,
            run: 1,
            rise: 0,
        }
    }
}

/// Maps the events of one location; fast when raw stamps mostly rise.
#[derive(Clone, Debug)]
pub struct MapCursor<'a> {
    map: &'a ClockMap,
    location: LocationIndex,
    piece: Piece,
    /// The first knot after the stamp for which the last piece was sought.
    after: usize,
    /// The first step after the event that was last found on one.
    step: usize,
}

impl MapCursor<'_> {
    /// The corrected stamp of event number `event` (from 0) stamped `raw`;
    /// `None` if it lies outside of what 64 bits hold.
    #[inline]
    pub fn map(&mut self, event: u64, raw: Timestamp) -> Option<Timestamp> {
        let Piece {
            start,
            end,
            value,
            run,
            rise,
        } = self.piece;
        if raw.0 > start && raw.0 < end {
            let along = raw.0 - start;
            if rise == run {
                return Some(Timestamp(value + along));
            }
            return Some(Timestamp(value + scale(along, rise, run)));
        }
        self.seek(event, raw)
    }

    /// The corrected time of a stamp that belongs to no event.
    pub fn map_time(&mut self, raw: Timestamp) -> Option<Timestamp> {
        self.map(0, raw)
    }

    #[cold]
    fn seek(&mut self, event: u64, raw: Timestamp) -> Option<Timestamp> {
        let knots = &self.map.knots;
        let after = partition_point_near(knots, self.after, |knot| knot.raw <= raw);
        self.after = after;
        let Some(before) = after.checked_sub(1) else {
            return match knots.first() {
                Some(first) => shift(first.arrive, raw, first.raw),
                None => Some(raw),
            };
        };
        let knot = knots[before];
        let Some(next) = knots.get(after) else {
            return if knot.raw == raw {
                Some(self.at_knot(knot, event))
            } else {
                shift(knot.leave, raw, knot.raw)
            };
        };
        self.piece = Piece {
            start: knot.raw.0,
            end: next.raw.0,
            value: knot.leave.0,
            run: next.raw.0 - knot.raw.0,
            rise: next.arrive.0 - knot.leave.0,
        };
        Some(if knot.raw == raw {
            self.at_knot(knot, event)
        } else {
            Timestamp(knot.leave.0 + scale(raw.0 - knot.raw.0, self.piece.rise, self.piece.run))
        })
    }

    fn at_knot(&mut self, knot: Knot, event: u64) -> Timestamp {
        if knot.arrive == knot.leave {
            return knot.leave;
        }
        let steps = &self.map.steps;
        let key = (knot.raw, self.location, event);
        let is_before = |step: &Step| (step.raw, step.location, step.event) <= key;
        let after = partition_point_near(steps, self.step, is_before);
        self.step = after;
        match after.checked_sub(1).map(|last| steps[last]) {
            Some(step) if (step.raw, step.location) == (knot.raw, self.location) => step.corrected,
            _ => knot.arrive,
        }
    }
}

/// `along * rise / run`, rounded down; `along <= run` keeps it within `rise`.
#[inline]
fn scale(along: u64, rise: u64, run: u64) -> u64 {
    match along.checked_mul(rise) {
        Some(product) => product / run,
        None => (u128::from(along) * u128::from(rise) / u128::from(run)) as u64,
    }
}
