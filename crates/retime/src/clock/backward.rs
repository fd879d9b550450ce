//! A clock run backwards, from the end of the trace to its beginning.
//!
//! Forwards, a receive that comes too early moves later, and with it everything
//! after. Backwards, the *send* moves earlier, and with it everything before: the
//! end of the trace is taken to be right instead of its beginning. It is the
//! same clock over the [mirrored](Causality::mirrored) trace.
//!
//! Source: Rabenseifner 1997, section 7; Rabenseifner 2000, section 7.2.

use crate::causality::Causality;
use crate::clocks::{ClockId, Clocks};
use crate::correction::{Correction, MapBuilder, Point};
use crate::time::Timestamp;

/// Turns the correction of the mirrored trace into one of the trace itself;
/// `None` if an event would move before time 0.
pub fn mirror_back(
    causality: &Causality,
    clocks: &Clocks,
    mirrored: &Correction,
) -> Option<Correction> {
    let maps = clocks.iter().map(|clock| {
        let mut builder = MapBuilder::default();
        for point in points(causality, clocks, mirrored, clock)? {
            builder.add(point);
        }
        Some(builder.finish())
    });
    Some(Correction::new(
        clocks.clone(),
        maps.collect::<Option<_>>()?,
    ))
}

/// All nodes of a clock, and the bends between them, in rising order.
fn points(
    causality: &Causality,
    clocks: &Clocks,
    mirrored: &Correction,
    clock: ClockId,
) -> Option<Vec<Point>> {
    let nodes = causality.nodes();
    let back = |stamp: Timestamp| nodes.mirror_time(stamp);
    let mut points = Vec::new();
    for location in clocks.locations(clock) {
        let mut cursor = mirrored.map(clock).cursor(*location);
        let count = nodes.event_count(location.as_usize());
        for node in nodes.of(location.as_usize()) {
            let (event, raw) = (nodes.event(node), nodes.timestamp(node));
            let corrected = back(cursor.map(count - 1 - event, back(raw)?)?)?;
            points.push(Point {
                raw,
                corrected,
                event: Some((*location, event)),
            });
        }
    }
    let order = |point: &Point| (point.raw, point.corrected, point.event);
    points.sort_unstable_by_key(order);
    let of_nodes = points.len();
    for knot in mirrored.map(clock).knots() {
        let raw = back(knot.raw)?;
        if points[..of_nodes]
            .binary_search_by_key(&raw, |point| point.raw)
            .is_err()
        {
            points.push(Point {
                raw,
                corrected: back(knot.leave)?,
                event: None,
            });
        }
    }
    points.sort_unstable_by_key(order);
    Some(points)
}
