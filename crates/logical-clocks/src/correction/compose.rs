//! One correction after the other.
//!
//! The second is for the trace as the first leaves it
//! ([`Causality::retimed`]):
//!
//! ```text
//! both(stamp) = second(first(stamp))
//! ```
//!
//! Every event with an edge gets exactly that; between them the composition is
//! linear from bend to bend of either. It keeps the distances that the second keeps.
//!
//! One thing no map of a clock can do: where the first lets two stamps fall
//! together, of two locations that share the clock, the second may put them in
//! the other order. The event with the later stamp then waits for the other.

use super::{CorrectionError, MapBuilder, Point, add_bends, add_known, arrives, leaves};
use retime_causality::Causality;
use retime_model::pace::Pace;
use retime_model::{ClockId, Knot, Monitor, Timestamp};
use retime_model::{ClockMap, Correction};
use retime_numerics::parallel;

/// Both in one, for a trace with the given dependencies at recorded times and
/// two corrections of the same clocks; fails where a stamp does not fit
/// into 64 bits, or if `monitor` says to give up.
pub fn compose(
    first: &Correction,
    second: &Correction,
    causality: &Causality,
    monitor: &dyn Monitor,
) -> Result<Correction, CorrectionError> {
    let all: Vec<ClockId> = first.clocks().iter().collect();
    let map = |clock: &ClockId| compose_clock(first, second, causality, *clock, monitor);
    let both = Correction::new(first.clocks().clone(), parallel::try_map(&all, map)?);
    Ok(both.keeping(second.distance().clone()))
}

fn compose_clock(
    first: &Correction,
    second: &Correction,
    causality: &Causality,
    clock: ClockId,
    monitor: &dyn Monitor,
) -> Result<ClockMap, CorrectionError> {
    let nodes = causality.nodes();
    let locations = first.clocks().locations(clock);
    let (once, twice) = (first.map(clock), second.map(clock));
    if twice.is_identity() && second.distance().is_zero() {
        return Ok(once.clone());
    }
    let mut points = Vec::new();
    let mut pace = Pace::of(monitor);
    for &location in locations {
        let (mut to_first, mut to_second) = (first.events(location), second.events(location));
        for node in nodes.of(location.as_usize()) {
            pace.event()?;
            let (number, raw) = (nodes.event(node), nodes.timestamp(node));
            let event = Some((location, number));
            let once = to_first.at(number, raw);
            let twice = once.and_then(|once| to_second.at(number, once));
            points.push(Point {
                raw,
                corrected: twice.ok_or(CorrectionError::TooFar { raw, event })?,
                event,
            });
        }
    }
    points.sort_unstable_by_key(Point::order);
    let mut latest = Timestamp(0);
    for point in &mut points {
        latest = latest.max(point.corrected);
        point.corrected = latest;
    }
    add_ends_of_steps(&mut points, once, twice)?;
    let from_first = once.knots().iter().map(|knot| knot.raw);
    // A bend whose stamp would lie before time 0 or not fit into 64 bits lies
    // before or after all events.
    let from_second = twice.knots().iter();
    let from_second = from_second.filter_map(|knot| once.invert(knot.raw));
    let bends = from_first.chain(from_second).map(|raw| (raw, ()));
    add_bends(&mut points, bends, |raw, ()| {
        let corrected = between_nodes(raw, first, second, clock);
        corrected.ok_or(CorrectionError::TooFar { raw, event: None })
    })?;
    // What bends twice at one moment must not look like a step.
    points.dedup_by(|later, earlier| {
        later.event.is_none() && earlier.event.is_none() && later.raw == earlier.raw
    });
    keep_bends_between_nodes(&mut points);
    let mut builder = MapBuilder::keeping(second.distance().clone());
    for point in points {
        pace.event()?;
        add_known(&mut builder, nodes, point)?;
    }
    builder.finish()
}

/// Where a node lies on a step of either map, the events before it come only so far, and those
/// after it go on from there.
fn add_ends_of_steps(
    points: &mut Vec<Point>,
    once: &ClockMap,
    twice: &ClockMap,
) -> Result<(), CorrectionError> {
    let mut at: Vec<Timestamp> = stepped(once).map(|knot| knot.raw).collect();
    for knot in stepped(twice) {
        // The stamps of several nodes may lead to that of one step.
        let least = once.invert(knot.raw).unwrap_or(Timestamp(u64::MAX));
        let from = points.partition_point(|point| point.raw < least);
        let there = |raw: &Timestamp| arrives(once, *raw).is_some_and(|it| it <= knot.raw);
        at.extend(
            points[from..]
                .iter()
                .map(|point| point.raw)
                .take_while(there),
        );
    }
    at.sort_unstable();
    at.dedup();
    if at.is_empty() {
        return Ok(());
    }
    let nodes: Vec<Timestamp> = points.iter().map(|point| point.raw).collect();
    for raw in at {
        if nodes.binary_search(&raw).is_err() {
            continue;
        }
        let point = |end: fn(&ClockMap, Timestamp) -> Option<Timestamp>| {
            let corrected = end(once, raw).and_then(|once| end(twice, once));
            let corrected = corrected.ok_or(CorrectionError::TooFar { raw, event: None });
            corrected.map(|corrected| Point {
                raw,
                corrected,
                event: None,
            })
        };
        points.push(point(arrives)?);
        // On the way to a node at the same stamp nothing leaves the step yet.
        let next = nodes.get(nodes.partition_point(|node| *node <= raw));
        if next.and_then(|next| arrives(once, *next)) != leaves(once, raw) {
            points.push(point(leaves)?);
        }
    }
    points.sort_unstable_by_key(Point::order);
    Ok(())
}

/// The knots of a map with a step.
fn stepped(map: &ClockMap) -> impl Iterator<Item = &Knot> {
    map.knots().iter().filter(|knot| knot.arrive < knot.leave)
}

/// Stamps that differ may fall together under the first map, on a step of the
/// second: only the nodes themselves say on which side of it they are.
fn keep_bends_between_nodes(points: &mut [Point]) {
    let mut latest = Timestamp(0);
    for point in points.iter_mut() {
        if point.event.is_none() {
            point.corrected = point.corrected.max(latest);
        }
        latest = point.corrected;
    }
    let mut earliest = Timestamp(u64::MAX);
    for point in points.iter_mut().rev() {
        if point.event.is_none() {
            point.corrected = point.corrected.min(earliest);
        }
        earliest = point.corrected;
    }
}

/// The time that both give a stamp at which there is no node; `None` if it does not fit
/// into 64 bits. Every clock has a location: one makes it.
fn between_nodes(
    raw: Timestamp,
    first: &Correction,
    second: &Correction,
    clock: ClockId,
) -> Option<Timestamp> {
    let location = *first.clocks().locations(clock).first()?;
    let once = first.map(clock).cursor(location).map(0, raw)?;
    second.map(clock).cursor(location).map(0, once)
}
