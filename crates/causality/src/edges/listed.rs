//! Dependencies that were listed, with what clocks can show.

use std::borrow::Cow;

use retime_model::{Cancelled, ClockId, Monitor};

use super::{Edge, Edges, Source};

/// A list that is walked as a [`Source`] of its own, and knows what the clocks of the trace can
/// show: fewer dependencies would show less.
#[derive(Clone, Debug)]
pub struct ListedEdges {
    /// The list.
    pub edges: Edges,
    /// Per clock: the ticks between its stamps, as [`Source::granularities`] tells.
    pub granularities: Vec<i64>,
}

impl Source for ListedEdges {
    fn clocks(&self) -> usize {
        self.edges.clocks()
    }

    fn extent(&self, clock: ClockId) -> Option<(i64, i64)> {
        self.edges.extent(clock)
    }

    fn granularities(&self, _: &dyn Monitor) -> Result<Vec<i64>, Cancelled> {
        Ok(self.granularities.clone())
    }

    fn parts(&self) -> usize {
        self.edges.parts()
    }

    #[inline]
    fn walk(&self, part: usize, visit: &mut dyn FnMut(Edge)) {
        self.edges.walk(part, visit);
    }

    fn list(&self, monitor: &dyn Monitor) -> Result<Cow<'_, Edges>, Cancelled> {
        self.edges.list(monitor)
    }
}
