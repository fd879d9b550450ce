//! The nodes of a clock by time.

use retime_causality::{Causality, EventNode, Ids};
use retime_model::{Cancelled, ClockId, Clocks, Monitor, Timestamp};
use retime_numerics::sorting::sort_by_key;

use crate::times::LogicalTimes;

/// The nodes of a clock in order.
pub(super) enum InTime {
    Range(Ids<EventNode>),
    Sorted(Vec<EventNode>),
}

impl InTime {
    /// The nodes of a clock by raw time; between locations that share a moment
    /// by corrected time, so that each location's order is kept.
    pub(super) fn of(
        causality: &Causality,
        clocks: &Clocks,
        clock: ClockId,
        times: &LogicalTimes,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let nodes = causality.nodes();
        Ok(match clocks.locations(clock) {
            [location] => Self::Range(nodes.of(location.as_usize())),
            locations => {
                let ranges = locations
                    .iter()
                    .map(|location| nodes.of(location.as_usize()));
                let mut all: Vec<EventNode> = ranges.flatten().collect();
                // Locations are listed as nodes are numbered.
                let key = |&node: &EventNode| (nodes.time(node), times.get(node), node);
                sort_by_key(&mut all, key, monitor)?;
                Self::Sorted(all)
            }
        })
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Range(nodes) => nodes.len(),
            Self::Sorted(nodes) => nodes.len(),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = EventNode> {
        (0..self.len()).map_while(|index| self.get(index))
    }

    fn get(&self, index: usize) -> Option<EventNode> {
        match self {
            Self::Range(nodes) => nodes.get(index),
            Self::Sorted(nodes) => nodes.get(index).copied(),
        }
    }
}

/// The last stamp of any event of the clock; the first of the trace if it has none.
pub(super) fn last_stamp(causality: &Causality, clocks: &Clocks, clock: ClockId) -> Timestamp {
    let nodes = causality.nodes();
    let locations = clocks.locations(clock).iter();
    let extents = locations.filter_map(|location| nodes.extent(location.as_usize()));
    let last = extents.map(|extent| extent.last).max();
    last.unwrap_or(nodes.base())
}
