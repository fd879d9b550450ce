//! A clock run backwards, from the end of the trace to its beginning.
//!
//! Forwards, a receive that comes too early moves later, and with it everything
//! after. Backwards, the *send* moves earlier, and with it everything before: the
//! end of the trace is taken to be right instead of its beginning. It is the
//! same clock over the [mirrored](Causality::mirrored) trace:
//!
//! ```text
//! corrected(stamp) = mirror(clock(mirror(stamp)) - shift)
//! ```
//!
//! Where an event would move before time 0, all events of the trace move later
//! by as much as it takes: a shift common to all means nothing.
//!
//! Source: Rabenseifner 1997, section 7; Rabenseifner 2000, section 7.2.

use crate::correction::{CorrectionError, MapBuilder, Point, add_bends, add_known};
use retime_causality::merge::Most;
use retime_causality::{Causality, Nodes};
use retime_model::Correction;
use retime_model::pace::Pace;
use retime_model::{ClockId, Clocks, Monitor};
use retime_model::{LocationIndex, Timestamp};
use retime_numerics::sorting::sort_by_key;

/// Turns the correction of the mirrored trace into one of the trace itself;
/// fails if its stamps would not fit into 64 bits, or if `monitor` says to give up.
pub fn mirror_back(
    causality: &Causality,
    clocks: &Clocks,
    mirrored: &Correction,
    monitor: &dyn Monitor,
) -> Result<Correction, CorrectionError> {
    let shift = needed_shift(causality.nodes(), mirrored)?;
    let maps = clocks.iter().map(|clock| {
        let mut builder = MapBuilder::keeping(mirrored.distance().clone());
        for point in points(causality, clocks, mirrored, clock, shift, monitor)? {
            add_known(&mut builder, causality.nodes(), point)?;
        }
        builder.finish()
    });
    let maps = maps.collect::<Result<_, _>>()?;
    Ok(Correction::new(clocks.clone(), maps).keeping(mirrored.distance().clone()))
}

/// How far the latest event of the corrected mirror lies beyond what mirrors to 0.
fn needed_shift(nodes: &Nodes, mirrored: &Correction) -> Result<u64, CorrectionError> {
    // If that does not fit into 64 bits, nothing that does lies beyond.
    let zero = nodes
        .mirror_time(Timestamp(0))
        .map_or(u64::MAX, |stamp| stamp.0);
    let mut shift = 0;
    for location in (0..nodes.locations()).filter(|&it| nodes.whole().has(it)) {
        let Some(extent) = nodes.extent(location) else {
            continue;
        };
        let index = LocationIndex(location as u32);
        let raw = extent.first;
        let last = nodes.mirror_time(raw);
        let latest = last.and_then(|it| latest(nodes, mirrored, index, it));
        let latest = latest.ok_or(CorrectionError::TooFar { raw, event: None })?;
        // What lies before that needs no shift.
        shift = shift.max(latest.0.saturating_sub(zero));
    }
    Ok(nodes.whole().all_reduce(Most(shift)).0)
}

/// Where the corrected mirror puts the last event of a location, which is stamped `last` there.
fn latest(
    nodes: &Nodes,
    mirrored: &Correction,
    location: LocationIndex,
    last: Timestamp,
) -> Option<Timestamp> {
    if !nodes.are_all_events() {
        return mirrored
            .map_of(location)
            .cursor(location)
            .map(u64::MAX, last);
    }
    let mut times = mirrored.events(location);
    let count = nodes.event_count(location.as_usize());
    let all = nodes.of(location.as_usize()).rev();
    all.map(|node| {
        times.at(
            count - 1 - nodes.event(node),
            nodes.mirror_time(nodes.timestamp(node))?,
        )
    })
    .last()?
}

/// All nodes of a clock, and the bends between them, in rising order.
fn points(
    causality: &Causality,
    clocks: &Clocks,
    mirrored: &Correction,
    clock: ClockId,
    shift: u64,
    monitor: &dyn Monitor,
) -> Result<Vec<Point>, CorrectionError> {
    let nodes = causality.nodes();
    let back = |stamp: Timestamp| nodes.mirror_time(stamp);
    // Shifted first: the mirror of what lies beyond the end would be negative.
    let corrected_back = |stamp: Timestamp| match stamp.0.checked_sub(shift) {
        Some(stamp) => back(Timestamp(stamp)),
        None => back(Timestamp(0))?
            .0
            .checked_add(shift - stamp.0)
            .map(Timestamp),
    };
    let mut points = Vec::new();
    let mut pace = Pace::of(monitor);
    for location in clocks.locations(clock) {
        let mut times = mirrored.events(*location);
        let count = nodes.event_count(location.as_usize());
        // In the order of the mirror, where each event waits for those after it.
        for node in nodes.of(location.as_usize()).rev() {
            pace.event()?;
            let (number, raw) = (nodes.event(node), nodes.timestamp(node));
            let event = Some((*location, number));
            let mirrored = back(raw).and_then(|it| times.at(count - 1 - number, it));
            let corrected = mirrored.and_then(corrected_back);
            points.push(Point {
                raw,
                corrected: corrected.ok_or(CorrectionError::TooFar { raw, event })?,
                event,
            });
        }
    }
    if !mirrored.distance().is_zero() {
        // Where events are kept apart the map alone says where none lies, and each is a node.
        sort_by_key(&mut points, Point::order, monitor)?;
        return Ok(points);
    }
    let too_far = |raw| CorrectionError::TooFar { raw, event: None };
    let knots = mirrored.map(clock).knots().iter();
    // The mirror comes to a step from where the clock goes on after it.
    for knot in knots.clone().filter(|knot| knot.arrive < knot.leave) {
        let raw = back(knot.raw).ok_or(too_far(knot.raw))?;
        points.push(Point {
            raw,
            corrected: corrected_back(knot.arrive).ok_or(too_far(raw))?,
            event: None,
        });
    }
    sort_by_key(&mut points, Point::order, monitor)?;
    let bends: Result<Vec<_>, CorrectionError> = knots
        .map(|knot| Ok((back(knot.raw).ok_or(too_far(knot.raw))?, knot.leave)))
        .collect();
    add_bends(&mut points, bends?, |raw, leave| {
        corrected_back(leave).ok_or(too_far(raw))
    })?;
    if points.is_empty() {
        // A clock that nothing is known of still moves with the others.
        let raw = nodes.base();
        points.push(Point {
            raw,
            corrected: back(raw).and_then(corrected_back).ok_or(too_far(raw))?,
            event: None,
        });
    }
    Ok(points)
}
