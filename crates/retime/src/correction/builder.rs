//! From corrected nodes to the fewest knots that reproduce them exactly.
//!
//! The points of a clock come in rising order. A piece from knot `k` may end at
//! point `e` if interpolation, with its rounding, hits every point between:
//! `y <= slope * x < y + 1` for each, so each point narrows the interval of
//! slopes, and `e` fits while its own slope lies inside. The builder extends a
//! piece until the interval is empty and ends it at the last point that fitted.

use super::map::{ClockMap, Knot, Step};
use crate::time::Timestamp;
use crate::trace::LocationIndex;

/// Points looked at beyond the last one that fitted, so that building stays linear.
const LOOK_AHEAD: usize = 64;

/// A corrected event.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Stamp as recorded.
    pub raw: Timestamp,
    /// Corrected stamp.
    pub corrected: Timestamp,
    /// Whose event; `None` for a bend of the map without an event.
    pub event: Option<(LocationIndex, u64)>,
}

impl ClockMap {
    /// The map through `points`, given by rising raw and corrected stamp.
    ///
    /// Points out of order are a defect of the caller and are left out.
    pub fn through(points: impl IntoIterator<Item = Point>) -> Self {
        let (knots, steps) = group_by_raw(points);
        let knots = thin_out(&knots);
        // Grouping and thinning keep the order that `new` demands.
        Self::new(knots, steps).unwrap_or_default()
    }
}

/// Joins the points of each raw stamp into one knot, with steps if they differ.
fn group_by_raw(points: impl IntoIterator<Item = Point>) -> (Vec<Knot>, Vec<Step>) {
    let mut knots: Vec<Knot> = Vec::new();
    let mut steps = Vec::new();
    let mut group: Vec<Point> = Vec::new();
    for point in points {
        if let Some(knot) = knots.last_mut() {
            if point.raw < knot.raw || point.corrected < knot.leave {
                debug_assert!(false, "points must rise: {point:?} after {knot:?}");
                continue;
            }
            if point.raw == knot.raw {
                knot.leave = point.corrected;
                group.push(point);
                continue;
            }
            add_steps(&mut group, knot, &mut steps);
        }
        knots.push(Knot::at(point.raw, point.corrected));
        group.clear();
        group.push(point);
    }
    if let Some(knot) = knots.last() {
        add_steps(&mut group, knot, &mut steps);
    }
    (knots, steps)
}

fn add_steps(group: &mut [Point], knot: &Knot, steps: &mut Vec<Step>) {
    if knot.arrive == knot.leave {
        return;
    }
    let of_events = group.iter().filter_map(|point| {
        let (location, event) = point.event?;
        Some(Step {
            raw: point.raw,
            location,
            event,
            corrected: point.corrected,
        })
    });
    let first = steps.len();
    steps.extend(of_events);
    steps[first..].sort_unstable();
}

/// The fewest of `knots` (greedily) that interpolate the rest exactly.
fn thin_out(knots: &[Knot]) -> Vec<Knot> {
    let mut kept = Vec::new();
    let mut at = 0;
    while let Some(&knot) = knots.get(at) {
        kept.push(knot);
        at += reach(&knots[at..]);
    }
    kept
}

/// How many points on a piece from the first of `knots` can end.
fn reach(knots: &[Knot]) -> usize {
    let start = knots[0];
    let mut slopes = Slopes::all();
    let mut fitted = 1;
    for (distance, knot) in knots.iter().enumerate().skip(1) {
        let x = knot.raw.0 - start.raw.0;
        let y = knot.arrive.0 - start.leave.0;
        if slopes.contain(y, x) {
            fitted = distance;
        } else if distance - fitted > LOOK_AHEAD {
            break;
        }
        // A step can only be the end of a piece.
        if knot.arrive != knot.leave || !slopes.narrow(y, x) {
            break;
        }
    }
    fitted
}

/// The slopes `low <= s < high` that a piece may have, as fractions.
struct Slopes {
    low: (u64, u64),
    high: (u64, u64),
}

impl Slopes {
    const fn all() -> Self {
        Self {
            low: (0, 1),
            high: (1, 0),
        }
    }

    /// Whether `y / x` is inside.
    fn contain(&self, y: u64, x: u64) -> bool {
        !less((y, x), self.low) && less((y, x), self.high)
    }

    /// Keeps the slopes that round down to `y` at `x`; false if none is left.
    fn narrow(&mut self, y: u64, x: u64) -> bool {
        if less(self.low, (y, x)) {
            self.low = (y, x);
        }
        let above = (y.saturating_add(1), x);
        if less(above, self.high) {
            self.high = above;
        }
        less(self.low, self.high)
    }
}

/// Whether fraction `a` is smaller than `b`; a denominator of 0 is infinite.
fn less(a: (u64, u64), b: (u64, u64)) -> bool {
    u128::from(a.0) * u128::from(b.1) < u128::from(b.0) * u128::from(a.1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
            let map = ClockMap::through(points.iter().copied());
            let mut cursor = map.cursor(LocationIndex(0));
            for point in &points {
                let (_, event) = point.event.unwrap();
                prop_assert_eq!(cursor.map(event, point.raw), Some(point.corrected));
                prop_assert_eq!(map.cursor(LocationIndex(0)).map(event, point.raw), Some(point.corrected));
            }
        }

        #[test]
        fn maps_are_monotone_and_invert(points in points()) {
            let map = ClockMap::through(points.iter().copied());
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
    fn a_straight_line_needs_two_knots() {
        let line = (0..1000).map(|i| Point {
            raw: Timestamp(10 * i),
            corrected: Timestamp(10 * i + i / 3),
            event: None,
        });
        assert_eq!(ClockMap::through(line).knots().len(), 2);
    }
}
