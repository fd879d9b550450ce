//! All dependencies of a trace in one order, whoever has them.
//!
//! What is told by dependencies one after the other must not depend on who has listed them.
//! So they are sorted by clocks and stamps, and those that are equal in these by their
//! events. Of several processes the first gets those of all; the others get none.
//!
//! Events that share a stamp are told apart by their nodes, which come in the order of
//! locations and events. What others send has no nodes in the first process, so it gets
//! numbers in the same order: of nodes only equality and order count here.

use rayon::prelude::*;

use super::{Edge, EdgeIndex, Edges, Source};
use crate::causality::{EventNode, PackedOption, Place};
use retime_model::{Cancelled, ClockId, Monitor};

/// All dependencies of a trace by clocks, stamps and events.
pub(crate) struct InOrder {
    /// In this order. Of several processes their nodes are numbers of places.
    pub(crate) edges: Edges,
    /// At which positions [`Source::list`] has them; of several processes there is no such list.
    pub(crate) positions: Vec<EdgeIndex>,
}

/// A dependency as it is sent: its clocks, stamps and events.
type Sent = (ClockId, ClockId, i64, i64, Option<(Place, Place)>);

impl InOrder {
    /// All that a source has; fails only if `monitor` says to give up.
    pub(crate) fn new(source: &impl Source, monitor: &dyn Monitor) -> Result<Self, Cancelled> {
        let extents = (0..source.clocks() as u32).map(|clock| source.extent(ClockId(clock)));
        let extents = extents.collect();
        if !source.share().is_whole() {
            return Self::of_several(source, extents, monitor);
        }
        let list = source.list(monitor)?;
        let numbered = list.all().iter().copied().zip((0..).map(EdgeIndex));
        let mut all: Vec<(Edge, EdgeIndex)> = numbered.collect();
        all.par_sort_unstable_by_key(|(it, at)| {
            let events = (it.cause, it.effect);
            (it.from, it.to, it.sent, it.received, events, *at)
        });
        let (edges, positions) = all.into_iter().unzip();
        Ok(Self {
            edges: Edges::new(edges, extents),
            positions,
        })
    }

    fn of_several(
        source: &impl Source,
        extents: Vec<Option<(i64, i64)>>,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let own = Edges::own(source, monitor)?;
        let sent = |it: &Edge| (it.from, it.to, it.sent, it.received, source.places(it));
        let mut to: Vec<Vec<Sent>> = vec![Vec::new(); source.share().place().1];
        to[0] = own.all().iter().map(sent).collect();
        let mut all = source.share().exchanged(to).concat();
        monitor.check()?;
        all.par_sort_unstable();
        let places = all.iter().filter_map(|it| it.4);
        let mut events: Vec<Place> = places.flat_map(|it| [it.0, it.1]).collect();
        events.par_sort_unstable();
        events.dedup();
        let node = |place: Place| -> PackedOption<EventNode> {
            let number = events.binary_search(&place).ok();
            let number = number.and_then(|it| u32::try_from(it).ok());
            number.map_or(PackedOption::NONE, |it| EventNode(it).into())
        };
        let edge = |&(from, to, sent, received, places): &Sent| {
            let message = Edge::message(from, sent, to, received);
            places.map_or(message, |(cause, effect)| Edge {
                cause: node(cause),
                effect: node(effect),
                ..message
            })
        };
        Ok(Self {
            edges: Edges::new(all.par_iter().map(edge).collect(), extents),
            positions: Vec::new(),
        })
    }
}
