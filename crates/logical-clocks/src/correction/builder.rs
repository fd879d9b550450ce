//! From corrected nodes to the fewest knots that reproduce them exactly.
//!
//! The points of a clock come in rising order. A piece from knot `k` may end at
//! point `e` if interpolation, with its rounding, hits every point between:
//! `y <= slope * x < y + 1` for each, so each point narrows the interval of
//! slopes, and `e` fits while its own slope lies inside. The builder extends a
//! piece until the interval is empty and ends it at the last point that fitted.
//! It holds only the points beyond that one, however many there are in all.
//!
//! Where events are kept apart, an event that lies by the least distance behind the one before
//! it needs no knot: the map only must not lie above it (`y < slope * x + 1` falls away).
//!
//! ```
//! use retime_logical_clocks::{MapBuilder, Point};
//! use retime_model::Timestamp;
//! let mut builder = MapBuilder::default();
//! // A tick more every eight ticks, rounded down; then the clock stands still.
//! let corrected = |raw: u64| raw.min(96) + raw.min(96) / 8;
//! for raw in 0..=120 {
//!     let corrected = Timestamp(corrected(raw));
//!     builder.add(Point { raw: Timestamp(raw), corrected, event: None })?;
//! }
//! let map = builder.finish()?;
//! let knots: Vec<_> = map.knots().iter().map(|knot| (knot.raw.0, knot.leave.0)).collect();
//! assert_eq!(knots, [(0, 0), (96, 108), (120, 108)]);
//! # Ok::<(), retime_logical_clocks::CorrectionError>(())
//! ```

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::error::CorrectionError;
use super::point::Point;
use retime_model::{ClockMap, Knot, LocationIndex, MinimalDistance, Step, Timestamp};

/// Points looked at beyond the last one that fitted, so that building stays linear.
const LOOK_AHEAD: usize = 64;

/// Builds a map from points in rising order of raw and corrected stamp.
#[derive(Debug, Default)]
pub struct MapBuilder {
    kept: Vec<Knot>,
    steps: Vec<Step>,
    /// The knot of the latest raw stamp, and its points.
    open: Option<Entry>,
    group: Vec<Point>,
    /// The point that was added last of those that the map goes through.
    before: Option<Point>,
    piece: Piece,
    distance: MinimalDistance,
    /// Kept where there is a least distance.
    last: LastEvents,
}

/// An event of a location, and its corrected time.
type LastEvent = (u64, Timestamp);

/// The event of each location that was added last.
#[derive(Debug, Default)]
struct LastEvents {
    /// The event that was added last, whose location mostly has the next one, too.
    latest: Option<(LocationIndex, LastEvent)>,
    /// The last events of other locations.
    others: FxHashMap<LocationIndex, LastEvent>,
}

impl LastEvents {
    /// Takes up an event; the one before it in its location.
    fn replace(&mut self, location: LocationIndex, event: LastEvent) -> Option<LastEvent> {
        match self.latest.replace((location, event)) {
            Some((same, before)) if same == location => Some(before),
            Some((other, its)) => {
                self.others.insert(other, its);
                self.others.remove(&location)
            }
            None => None,
        }
    }
}

/// A knot that the map has to go through, or at most reach.
#[derive(Clone, Copy, Debug)]
struct Entry {
    knot: Knot,
    is_bound: bool,
}

/// A piece that may still grow: it begins at the last knot kept.
#[derive(Debug, Default)]
struct Piece {
    slopes: Slopes,
    /// The last knot that it can end at.
    fitted: Option<Knot>,
    /// All that comes after that one.
    beyond: VecDeque<Entry>,
}

impl MapBuilder {
    /// For a correction that keeps events apart.
    pub fn keeping(distance: MinimalDistance) -> Self {
        Self {
            distance,
            ..Self::default()
        }
    }

    /// Adds a point; fails if it is out of order.
    pub fn add(&mut self, point: Point) -> Result<(), CorrectionError> {
        self.check_order(point)?;
        self.pass(point);
        self.go_through(point);
        Ok(())
    }

    /// Adds an event that nothing depends on; fails if it is out of order.
    pub fn add_between(&mut self, point: Point) -> Result<(), CorrectionError> {
        self.check_order(point)?;
        if self.pass(point) {
            self.stay_below(point);
        } else {
            self.go_through(point);
        }
        Ok(())
    }

    fn check_order(&self, point: Point) -> Result<(), CorrectionError> {
        match self.before {
            Some(before) if point.raw < before.raw || point.corrected < before.corrected => {
                Err(CorrectionError::Unordered { point, before })
            }
            _ => Ok(()),
        }
    }

    /// Passes a point. True if it lies by the least distance behind the event before it, so
    /// that this says where it is.
    fn pass(&mut self, point: Point) -> bool {
        let Some((location, event)) = point.event.filter(|_| !self.distance.is_zero()) else {
            return false;
        };
        let distance = self.distance.of(location).0.unsigned_abs();
        let last = self.last.replace(location, (event, point.corrected));
        last.is_some_and(|(before, corrected)| {
            event == before + 1 && Some(point.corrected.0) == corrected.0.checked_add(distance)
        })
    }

    fn go_through(&mut self, point: Point) {
        match &mut self.open {
            Some(Entry { knot, is_bound }) if point.raw == knot.raw => {
                if *is_bound {
                    knot.arrive = knot.arrive.min(point.corrected);
                }
                knot.leave = point.corrected;
                *is_bound = false;
            }
            _ => self.open_group(point, false),
        }
        self.before = Some(point);
        self.group.push(point);
    }

    fn stay_below(&mut self, point: Point) {
        // The first of a stamp is the lowest.
        if self.open.is_none_or(|it| it.knot.raw != point.raw) {
            self.open_group(point, true);
        }
    }

    fn open_group(&mut self, point: Point, is_bound: bool) {
        self.close_group();
        self.open = Some(Entry {
            knot: Knot::at(point.raw, point.corrected),
            is_bound,
        });
    }

    /// The map through all points; fails if events of one location that share a
    /// stamp are not in their order, or one was added twice with different times.
    pub fn finish(mut self) -> Result<ClockMap, CorrectionError> {
        self.close_group();
        while let Some(end) = self.piece.fitted.take() {
            self.end_piece(end);
        }
        Ok(ClockMap::new(self.kept, self.steps)?)
    }

    /// Joins the points of the latest raw stamp into a knot, with steps if they
    /// differ.
    fn close_group(&mut self) {
        let Some(entry) = self.open.take() else {
            return;
        };
        let knot = entry.knot;
        if knot.arrive != knot.leave {
            let steps = self.group.iter().filter_map(|point| {
                let (location, event) = point.event?;
                Some(Step {
                    raw: point.raw,
                    location,
                    event,
                    corrected: point.corrected,
                })
            });
            let first = self.steps.len();
            self.steps.extend(steps);
            self.steps[first..].sort_unstable();
        }
        self.group.clear();
        self.grow(entry);
    }

    /// Extends the piece to a knot, or ends it before.
    fn grow(&mut self, entry: Entry) {
        let Entry { knot, is_bound } = entry;
        let Some(start) = self.kept.last() else {
            self.kept.push(knot);
            return;
        };
        let piece = &mut self.piece;
        let x = knot.raw.0 - start.raw.0;
        let y = knot.arrive.0 - start.leave.0;
        if piece.slopes.contain(y, x) {
            piece.fitted = Some(knot);
            piece.beyond.clear();
        } else {
            piece.beyond.push_back(entry);
        }
        let is_left = if is_bound {
            piece.slopes.lower(y, x)
        } else {
            piece.slopes.narrow(y, x)
        };
        // A step can only be the end of a piece.
        let ends = knot.arrive != knot.leave || !is_left || piece.beyond.len() > LOOK_AHEAD;
        if ends && let Some(end) = piece.fitted.take() {
            self.end_piece(end);
        }
    }

    fn end_piece(&mut self, end: Knot) {
        self.kept.push(end);
        let beyond = std::mem::take(&mut self.piece).beyond;
        for entry in beyond {
            self.grow(entry);
        }
    }
}

/// The slopes `low <= s < high` that a piece may have, as fractions.
#[derive(Debug)]
struct Slopes {
    low: Fraction,
    high: Fraction,
}

impl Default for Slopes {
    fn default() -> Self {
        Self {
            low: Fraction { y: 0, x: 1 },
            high: Fraction { y: 1, x: 0 },
        }
    }
}

impl Slopes {
    /// True if `y / x` is inside.
    fn contain(&self, y: u64, x: u64) -> bool {
        let slope = Fraction { y, x };
        !slope.is_below(self.low) && slope.is_below(self.high)
    }

    /// Keeps the slopes that round down to `y` at `x`; false if none is left.
    fn narrow(&mut self, y: u64, x: u64) -> bool {
        let slope = Fraction { y, x };
        if self.low.is_below(slope) {
            self.low = slope;
        }
        self.lower(y, x)
    }

    /// Keeps the slopes that round down to `y` at most at `x`; false if none is left.
    fn lower(&mut self, y: u64, x: u64) -> bool {
        // At the end of 64 bits the interval is empty, and the piece only ends early.
        let above = Fraction {
            y: y.saturating_add(1),
            x,
        };
        if above.is_below(self.high) {
            self.high = above;
        }
        self.low.is_below(self.high)
    }
}

/// The fraction `y / x`, infinite where `x` is 0.
#[derive(Clone, Copy, Debug)]
struct Fraction {
    y: u64,
    x: u64,
}

impl Fraction {
    fn is_below(self, other: Self) -> bool {
        u128::from(self.y) * u128::from(other.x) < u128::from(other.y) * u128::from(self.x)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use retime_model::MapError;

    use super::*;
    use retime_model::{LocationIndex, Timestamp};

    fn through(points: impl IntoIterator<Item = Point>) -> ClockMap {
        let mut builder = MapBuilder::default();
        for point in points {
            builder.add(point).unwrap();
        }
        builder.finish().unwrap()
    }

    fn point(raw: u64, corrected: u64, event: u64) -> Point {
        Point {
            raw: Timestamp(raw),
            corrected: Timestamp(corrected),
            event: Some((LocationIndex(3), event)),
        }
    }

    fn points() -> impl Strategy<Value = Vec<Point>> {
        let gaps = proptest::collection::vec(
            (
                0_u64..50,
                prop_oneof![Just(None), (0_u64..60).prop_map(Some)],
            ),
            1..200,
        );
        gaps.prop_map(|gaps| {
            let (mut raw, mut corrected) = (1_000, 2_000);
            let mut all = Vec::new();
            for (number, (gap, rise)) in gaps.into_iter().enumerate() {
                raw += gap;
                corrected += rise.unwrap_or(gap);
                all.push(Point {
                    raw: Timestamp(raw),
                    corrected: Timestamp(corrected),
                    event: Some((LocationIndex(0), 10 * number as u64)),
                });
            }
            all
        })
    }

    proptest! {
        #[test]
        fn every_point_is_hit_exactly(points in points()) {
            let map = through(points.iter().copied());
            let mut cursor = map.cursor(LocationIndex(0));
            for point in &points {
                let (_, event) = point.event.unwrap();
                prop_assert_eq!(cursor.map(event, point.raw), Some(point.corrected));
                prop_assert_eq!(map.cursor(LocationIndex(0)).map(event, point.raw), Some(point.corrected));
            }
        }

        #[test]
        fn maps_are_monotone_and_invert(points in points()) {
            let map = through(points.iter().copied());
            let mut cursor = map.cursor(LocationIndex(0));
            let mut previous = Timestamp(0);
            for raw in 990..points.last().unwrap().raw.0 + 10 {
                let corrected = cursor.map(u64::MAX, Timestamp(raw)).unwrap();
                prop_assert!(corrected >= previous);
                let back = map.invert(corrected).unwrap();
                prop_assert!(back <= Timestamp(raw));
                prop_assert_eq!(map.cursor(LocationIndex(0)).map(u64::MAX, back), Some(corrected));
                previous = corrected;
            }
        }
    }

    #[test]
    fn points_out_of_order_are_refused() {
        let before = point(10, 20, 0);
        for point in [point(9, 20, 1), point(10, 19, 1), point(11, 19, 1)] {
            let mut builder = MapBuilder::default();
            builder.add(before).unwrap();
            let refused = builder.add(point).unwrap_err();
            assert_eq!(refused, CorrectionError::Unordered { point, before });
            assert!(refused.to_string().contains("event 1 of location #3"));
        }
    }

    #[test]
    fn events_of_one_stamp_out_of_their_order_make_no_map() {
        let mut builder = MapBuilder::default();
        for point in [point(10, 20, 1), point(10, 30, 0)] {
            builder.add(point).unwrap();
        }
        let refused = builder.finish().unwrap_err();
        assert_eq!(refused, CorrectionError::NoMap(MapError::MisplacedStep(1)));
    }

    #[test]
    fn a_straight_line_needs_two_knots() {
        let line = (0..1000).map(|i| Point {
            raw: Timestamp(10 * i),
            corrected: Timestamp(10 * i + i / 3),
            event: None,
        });
        assert_eq!(through(line).knots().len(), 2);
    }
}
