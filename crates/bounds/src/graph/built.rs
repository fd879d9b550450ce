//! Nodes and arcs of a graph, named clock by clock.
//!
//! Each bound has two ends. They are dealt out to their clocks by counting, and sorted there, so
//! that no list is longer than what one clock does; ends at one moment are one node. Arcs are
//! dealt out to the nodes where they begin in the same way.
//!
//! ```text
//!   bounds       a@3 -> b@7,  b@2 -> a@3
//!   ends by clock         a: 3 3        b: 7 2
//!   nodes                 a: 0@3        b: 1@2, 2@7
//!   arcs                  0 -> 2,  1 -> 0
//! ```
//!
//! Source: H. H. Seward, *Information sorting in the application of electronic digital computers
//! to business operations* (1954), on sorting by counting.

use std::cmp::Reverse;

use crate::link::{Bound, Moment};
use retime_causality::edges::EdgeIndex;
use retime_model::pace::Pace;
use retime_model::{Cancelled, ClockId, Monitor};
use retime_numerics::sorting::sort_by_key;

/// A bound between two nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arc {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) bound: i64,
    pub(super) edge: EdgeIndex,
}

/// The nodes of a graph.
pub(super) struct GraphNodes {
    /// Moments by clock, piece and place.
    pub(super) moments: Vec<Moment>,
    /// Nodes of clock `c` are `first[c]..first[c + 1]`.
    pub(super) first: Vec<u32>,
    /// Per bound: the nodes where it begins and where it ends.
    ends: Vec<[u32; 2]>,
}

/// One end of a bound, among those of its clock.
#[derive(Clone, Copy, Default)]
struct BoundEnd {
    piece: u32,
    at: i64,
    bound: u32,
    side: u32,
}

impl GraphNodes {
    /// The moments of `bounds`, and `more`.
    pub(super) fn of(
        clocks: usize,
        bounds: impl Iterator<Item = Bound> + Clone,
        more: Option<Moment>,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        // The reference of an estimate that knows of fewer clocks is none of them.
        let more = more.filter(|it| it.0.as_usize() < clocks);
        let mut starts = vec![0; clocks + 1];
        let mut count = 0;
        let mut pace = Pace::of(monitor);
        for bound in bounds.clone() {
            pace.event()?;
            count += 1;
            starts[bound.from.0.as_usize() + 1] += 1;
            starts[bound.to.0.as_usize() + 1] += 1;
        }
        if let Some((clock, ..)) = more {
            starts[clock.as_usize() + 1] += 1;
        }
        for clock in 0..clocks {
            starts[clock + 1] += starts[clock];
        }
        let mut ends = vec![BoundEnd::default(); starts[clocks]];
        let mut next = starts.clone();
        let mut deal = |(clock, piece, at): Moment, bound: u32, side: u32| {
            let place = &mut next[clock.as_usize()];
            ends[*place] = BoundEnd {
                piece,
                at,
                bound,
                side,
            };
            *place += 1;
        };
        for (name, bound) in (0..).zip(bounds) {
            pace.event()?;
            deal(bound.from, name, 0);
            deal(bound.to, name, 1);
        }
        if let Some(more) = more {
            deal(more, u32::MAX, 0);
        }
        let mut nodes = Self {
            moments: Vec::with_capacity(ends.len()),
            first: Vec::with_capacity(clocks + 1),
            ends: vec![[0; 2]; count],
        };
        for clock in 0..clocks {
            let own = &mut ends[starts[clock]..starts[clock + 1]];
            nodes.add(ClockId(clock as u32), own, monitor)?;
        }
        nodes.first.push(nodes.moments.len() as u32);
        nodes.moments.shrink_to_fit();
        Ok(nodes)
    }

    /// Names the moments of a clock.
    fn add(
        &mut self,
        clock: ClockId,
        ends: &mut [BoundEnd],
        monitor: &dyn Monitor,
    ) -> Result<(), Cancelled> {
        self.first.push(self.moments.len() as u32);
        sort_by_key(ends, |it| (it.piece, it.at), monitor)?;
        for end in ends {
            let moment = (clock, end.piece, end.at);
            if self.moments.last() != Some(&moment) {
                self.moments.push(moment);
            }
            if let Some(ends) = self.ends.get_mut(end.bound as usize) {
                ends[end.side as usize] = self.moments.len() as u32 - 1;
            }
        }
        Ok(())
    }

    /// The arc of each bound.
    pub(super) fn arcs(&self, bounds: impl Iterator<Item = Bound>) -> Vec<Arc> {
        let both = bounds.zip(&self.ends);
        let arc = |(bound, &[from, to]): (Bound, &[u32; 2])| Arc {
            from,
            to,
            bound: bound.least,
            edge: bound.edge,
        };
        both.map(arc).collect()
    }
}

/// Arcs by the node where they begin, and by node where those of it begin. Between the same nodes
/// only the largest bound counts.
pub(super) fn dealt(
    nodes: usize,
    arcs: &[Arc],
    monitor: &dyn Monitor,
) -> Result<(Vec<Arc>, Vec<u32>), Cancelled> {
    let mut starts = vec![0_u32; nodes + 1];
    let mut pace = Pace::of(monitor);
    for arc in arcs {
        pace.event()?;
        starts[arc.from as usize + 1] += 1;
    }
    for node in 0..nodes {
        starts[node + 1] += starts[node];
    }
    let mut next = starts.clone();
    let mut sorted = arcs.to_vec();
    for &arc in arcs {
        pace.event()?;
        let place = &mut next[arc.from as usize];
        sorted[*place as usize] = arc;
        *place += 1;
    }
    for node in 0..nodes {
        pace.event()?;
        let own = &mut sorted[starts[node] as usize..starts[node + 1] as usize];
        if own.len() > 1 {
            sort_by_key(own, |it| (it.to, Reverse(it.bound), it.edge), monitor)?;
        }
    }
    let all = sorted.len();
    sorted.dedup_by_key(|arc| (arc.from, arc.to));
    if sorted.len() < all {
        starts.fill(0);
        for arc in &sorted {
            starts[arc.from as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
    }
    Ok((sorted, starts))
}
