//! The bends of other maps among the nodes of a clock.
//!
//! A map that is made of others must hit every node exactly, and bend where they
//! bend in between. Where a node has the raw time of a bend, the node alone says
//! what is there: of steps it knows the side. The map may still come to it from below, or
//! leave it above, where one of the others does.

use super::{CorrectionError, Point};
use retime_model::ClockMap;
use retime_model::{Knot, LocationIndex, Timestamp};

impl Point {
    /// Points rise by raw time; those of one raw time by corrected time.
    pub(crate) fn order(&self) -> impl Ord + use<> {
        (self.raw, self.corrected, self.event)
    }
}

/// The time that a map comes to at a raw time, before any step there.
pub fn arrives(map: &ClockMap, raw: Timestamp) -> Option<Timestamp> {
    at(map, raw).map(|knot| knot.arrive)
}

/// The time that a map goes on from at a raw time, after any step there.
pub fn leaves(map: &ClockMap, raw: Timestamp) -> Option<Timestamp> {
    at(map, raw).map(|knot| knot.leave)
}

/// The knot at a raw time, or what would be one.
fn at(map: &ClockMap, raw: Timestamp) -> Option<Knot> {
    let found = map.knots().binary_search_by_key(&raw, |knot| knot.raw);
    match found.ok().and_then(|at| map.knots().get(at)) {
        Some(&knot) => Some(knot),
        // Apart from knots no location differs from another.
        None => Some(Knot::at(raw, map.cursor(LocationIndex(0)).map_time(raw)?)),
    }
}

/// Adds to points of nodes, in order, those of bends at whose raw
/// time there is no node, and sorts all. `corrected` tells the time that a bend
/// leads to.
pub fn add_bends<T>(
    points: &mut Vec<Point>,
    bends: impl IntoIterator<Item = (Timestamp, T)>,
    corrected: impl Fn(Timestamp, T) -> Result<Timestamp, CorrectionError>,
) -> Result<(), CorrectionError> {
    let nodes = points.len();
    for (raw, bend) in bends {
        let at_node = points[..nodes].binary_search_by_key(&raw, |point| point.raw);
        if at_node.is_err() {
            points.push(Point {
                raw,
                corrected: corrected(raw, bend)?,
                event: None,
            });
        }
    }
    points.sort_unstable_by_key(Point::order);
    Ok(())
}
