//! What a process has listed of the dependencies of a shared trace.

use retime_model::{Cancelled, ClockId, Monitor};

use super::{Edge, Edges, Source};
use crate::share::Share;

/// A list that is walked as a [`Source`] of its own; each process that shares the trace has
/// some of it.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) edges: Edges,
    pub(crate) share: Share,
    /// By clock, as [`Source::granularities`] tells; all processes know them.
    pub(crate) granularities: Vec<i64>,
}

impl Source for Listed {
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

    fn share(&self) -> &Share {
        &self.share
    }

    #[inline]
    fn walk(&self, part: usize, visit: impl FnMut(Edge)) {
        self.edges.walk(part, visit);
    }
}
