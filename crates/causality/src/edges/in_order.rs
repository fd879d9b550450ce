//! All dependencies of a trace by clocks, stamps and events.
//!
//! Whatever is told by dependencies one after the other must not depend on how they were
//! listed. So they are sorted by clocks and stamps, and those that are equal in these by their
//! events.

use rayon::prelude::*;

use super::{Edge, EdgeIndex, Edges, ListedEdges, Source};
use retime_model::{Cancelled, ClockId, Monitor};

/// All dependencies of a trace by clocks, stamps and events.
pub struct InOrder {
    /// In this order.
    pub list: ListedEdges,
    /// At which positions [`Source::list`] has them.
    pub positions: Vec<EdgeIndex>,
}

impl InOrder {
    /// All that a source has; fails only if `monitor` says to give up.
    pub fn new(source: &dyn Source, monitor: &dyn Monitor) -> Result<Self, Cancelled> {
        let list = source.list(monitor)?;
        let numbered = list.all().iter().copied().zip((0..).map(EdgeIndex));
        let mut all: Vec<(Edge, EdgeIndex)> = numbered.collect();
        all.par_sort_unstable_by_key(|(it, at)| {
            let events = (it.cause, it.effect);
            (it.from, it.to, it.sent, it.received, events, *at)
        });
        let (edges, positions) = all.into_iter().unzip();
        let extents = (0..source.clocks() as u32).map(|clock| source.extent(ClockId(clock)));
        Ok(Self {
            list: ListedEdges {
                edges: Edges::new(edges, extents.collect()),
                granularities: source.granularities(monitor)?,
            },
            positions,
        })
    }
}
