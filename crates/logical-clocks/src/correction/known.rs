//! Points of a map, as they are known to the trace.

use super::builder::MapBuilder;
use super::error::CorrectionError;
use super::point::Point;
use retime_causality::Nodes;

/// Adds a point to a map: that of an event between others as one that nothing depends on.
pub fn add_known(
    builder: &mut MapBuilder,
    nodes: &Nodes,
    point: Point,
) -> Result<(), CorrectionError> {
    match point.event {
        Some((location, event)) if nodes.has_between(location, event) => builder.add_between(point),
        _ => builder.add(point),
    }
}
