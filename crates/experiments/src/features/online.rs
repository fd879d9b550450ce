//! A method as a filter, on events that come as they happen.
//!
//! The setting is the thesis': clocks up to 5 ms apart, ramps of 5 %, and events
//! that are needed 0.2 s after they happened. Events come to the filter in the
//! order of true time, and nothing tells it that a stretch without events is
//! one. An event whose time is not certain when it has to leave counts all the
//! same: it leaves in order, only its ramp is not the one of the whole trace.

use retime::causality::{EventNode, Role, check};
use retime::clock::{CombinedConstants, DegressiveConstants, Gamma};
use retime::{LocationIndex, MinimalDelay, Ticks, Timestamp};
use retime_stream::{Event, EventKind, Filter, FilterControl, FilterOptions, MessageId};

use super::cell::Cell;
use crate::accuracy::{Method, Trace};

/// Nanoseconds.
const WANTED: u64 = 200_000_000;

/// The control of those methods that the filter has.
fn control(method: &Method) -> Option<FilterControl> {
    Some(match method.name.as_str() {
        "clc" => FilterControl::Constant(Gamma::default()),
        "clc, 1997" => FilterControl::Degressive(DegressiveConstants::default()),
        "clc, abcd" => FilterControl::Combined(CombinedConstants::default()),
        _ => return None,
    })
}

/// The longest time that an event spends in the filter.
pub(super) fn online(method: &Method, trace: &Trace) -> Cell {
    let Some(control) = control(method) else {
        return Cell::no("-");
    };
    let MinimalDelay::Uniform(min_delay) = trace.analysis.delay().delay else {
        return Cell::no("-");
    };
    let options = FilterOptions {
        control,
        min_delay,
        ..FilterOptions::new(trace.analysis.info().rate)
    };
    let clocks: Vec<u32> = (0..trace.analysis.info().locations.len() as u32)
        .map(|location| trace.analysis.clocks().of(LocationIndex(location)).0)
        .collect();
    let mut filter = Filter::new(&clocks, options);
    let stamps = match pass(&mut filter, trace) {
        Ok(stamps) => stamps,
        Err(error) => return Cell::no(error.to_string()),
    };
    let none = MinimalDelay::Uniform(Ticks(0));
    let (causality, clocks) = (trace.analysis.causality(), trace.analysis.clocks());
    let Ok(left) = check(causality, clocks, &none, &stamps, &()) else {
        return Cell::no("-");
    };
    let report = filter.report();
    let longest = report.delay.largest();
    let text = format!("{} ms", longest.div_ceil(1_000_000));
    if left.violated() == 0 && report.late == 0 && longest <= WANTED {
        Cell::yes(text)
    } else {
        Cell::no(text)
    }
}

/// Sends all events through the filter as they happen; their corrected times.
fn pass(
    filter: &mut Filter<EventNode>,
    trace: &Trace,
) -> Result<Vec<Timestamp>, retime_stream::FilterError> {
    let nodes = trace.analysis.causality().nodes();
    let mut order: Vec<EventNode> = nodes.all().collect();
    order.sort_by_key(|&node| trace.truth[node.index()]);
    let mut stamps = vec![Timestamp(0); nodes.len()];
    let mut collect = |filter: &mut Filter<EventNode>| {
        while let Some(event) = filter.pop() {
            stamps[event.payload.index()] = event.time;
        }
    };
    for node in order {
        filter.push(Event {
            location: nodes.location(node),
            time: nodes.timestamp(node),
            kind: kind(trace, node),
            payload: node,
        })?;
        collect(filter);
    }
    filter.finish();
    collect(filter);
    Ok(stamps)
}

/// Messages are known by their send; the program has no collectives.
fn kind(trace: &Trace, node: EventNode) -> EventKind {
    let causality = trace.analysis.causality();
    let message = |send: EventNode| MessageId::number(u64::from(send.0));
    match causality.nodes().role(node) {
        Role::Send => EventKind::Send(message(node)),
        Role::Receive => match causality.message_source(node) {
            Some(send) => EventKind::Receive(message(send)),
            None => EventKind::Internal,
        },
        Role::CollectiveBegin | Role::CollectiveEnd => EventKind::Internal,
    }
}
