//! The bends of other maps among the nodes of a clock.
//!
//! A map that is made of others must hit every node exactly, and bend where they
//! bend in between. Where a node has the raw time of a bend, the node alone says
//! what is there: of steps it knows the side.

use super::{CorrectionError, Point};
use retime_model::Timestamp;

impl Point {
    /// Points rise by raw time; those of one raw time by corrected time.
    pub(crate) fn order(&self) -> impl Ord + use<> {
        (self.raw, self.corrected, self.event)
    }
}

/// Adds to points of nodes, in [order](Point::order), those of bends at whose raw
/// time there is no node, and sorts all. `corrected` tells the time that a bend
/// leads to.
pub(crate) fn add_bends<T>(
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
