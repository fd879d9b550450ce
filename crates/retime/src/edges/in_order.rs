//! All dependencies of a trace in one order, those between two clocks in one process.
//!
//! What is told by dependencies one after the other must not depend on who has listed them.
//! So they are sorted by clocks and stamps, and those that are equal in these by their
//! events. Of several processes each gets those of some pairs of clocks: of two clocks that
//! one process holds that process, of others any. Those are dealt out by their numbers, in no
//! order that a program could have too, so that the many pairs of a clock that all others talk
//! to are spread over all processes.
//!
//! Events that share a stamp are told apart by their nodes, which come in the order of
//! locations and events. What others send has no nodes here, but [places](InOrder::events) in
//! the same order.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Edge, EdgeIndex, Edges, Listed, Source, each_part_watched};
use crate::causality::{EventNode, PackedOption, Place};
use crate::share::Share;
use retime_model::{Cancelled, ClockId, LocationIndex, Monitor, packed_fields};

/// All dependencies of a trace by clocks, stamps and events.
pub(crate) struct InOrder {
    /// In this order. Of several processes those of the pairs that are [dealt](Self::process) to
    /// this one, without nodes.
    pub(crate) list: Listed,
    /// At which positions [`Source::list`] has them; of several processes there is no such list.
    pub(crate) positions: Vec<EdgeIndex>,
    /// Where the cause and the effect of each are, if there are several processes.
    events: Vec<Ends>,
    deal: Deal,
}

/// The events of a cause and of an effect.
type Ends = (Place, Place);

/// A dependency as it is sent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Dealt {
    from: ClockId,
    to: ClockId,
    sent: i64,
    received: i64,
    cause: Place,
    effect: Place,
}

packed_fields!(Dealt {
    from: ClockId,
    to: ClockId,
    sent: i64,
    received: i64,
    cause: Place,
    effect: Place,
});

impl InOrder {
    /// All that a source has; fails only if `monitor` says to give up, or processes do not work
    /// together any more.
    pub(crate) fn new(source: &impl Source, monitor: &dyn Monitor) -> Result<Self, Cancelled> {
        let deal = Deal::of(source);
        let (edges, positions, events) = if source.share().is_whole() {
            let (edges, positions) = of_one(source, monitor)?;
            (edges, positions, Vec::new())
        } else {
            let (edges, events) = of_several(source, &deal, monitor)?;
            (edges, Vec::new(), events)
        };
        let extents = (0..source.clocks() as u32).map(|clock| source.extent(ClockId(clock)));
        Ok(Self {
            list: Listed {
                edges: Edges::new(edges, extents.collect()),
                share: source.share().clone(),
                granularities: source.granularities(monitor)?,
            },
            positions,
            events,
            deal,
        })
    }

    /// Who else has dependencies of the trace.
    pub(crate) fn share(&self) -> &Share {
        &self.list.share
    }

    /// Which process holds a clock.
    pub(crate) fn holder(&self, clock: ClockId) -> usize {
        self.deal.holder(clock)
    }

    /// Which process has the dependencies between two clocks, either way.
    pub(crate) fn process(&self, one: ClockId, other: ClockId) -> usize {
        self.deal.to(one, other)
    }

    /// What all processes call the cause and the effect of a dependency.
    pub(crate) fn events(&self, edge: EdgeIndex) -> [Option<Place>; 2] {
        if !self.share().is_whole() {
            let events = self.events.get(edge.index());
            return events.map_or([None; 2], |it| [Some(it.0), Some(it.1)]);
        }
        // One process alone may call them by their numbers.
        let event = |node: PackedOption<EventNode>| {
            Some(Place {
                location: LocationIndex(0),
                event: node.get()?.0.into(),
            })
        };
        let edge = self.list.edges.get(edge);
        edge.map_or([None; 2], |it| [event(it.cause), event(it.effect)])
    }
}

/// Which process has the dependencies between two clocks.
struct Deal {
    /// By clock, who holds it.
    holders: Vec<usize>,
    processes: usize,
}

impl Deal {
    fn of(source: &impl Source) -> Self {
        let clocks = (0..source.clocks() as u32).map(ClockId);
        Self {
            holders: clocks.map(|it| source.holder(it)).collect(),
            processes: source.share().place().1,
        }
    }

    fn holder(&self, clock: ClockId) -> usize {
        self.holders.get(clock.as_usize()).copied().unwrap_or(0)
    }

    fn to(&self, one: ClockId, other: ClockId) -> usize {
        if self.holder(one) == self.holder(other) {
            return self.holder(one);
        }
        // Multiples of the golden ratio are spread evenly between whole numbers, whatever is
        // regular in the factors: Knuth, The Art of Computer Programming 3, section 6.4.
        let pair = (u64::from(one.0.min(other.0)) << 32) | u64::from(one.0.max(other.0));
        let spread = pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        ((spread * self.processes as u64) >> 32) as usize
    }
}

/// Those of a trace in one process, and where its list has them.
fn of_one(
    source: &impl Source,
    monitor: &dyn Monitor,
) -> Result<(Vec<Edge>, Vec<EdgeIndex>), Cancelled> {
    let list = source.list(monitor)?;
    let numbered = list.all().iter().copied().zip((0..).map(EdgeIndex));
    let mut all: Vec<(Edge, EdgeIndex)> = numbered.collect();
    all.par_sort_unstable_by_key(|(it, at)| {
        let events = (it.cause, it.effect);
        (it.from, it.to, it.sent, it.received, events, *at)
    });
    Ok(all.into_iter().unzip())
}

/// Those of one of several processes, and where their events are.
fn of_several(
    source: &impl Source,
    deal: &Deal,
    monitor: &dyn Monitor,
) -> Result<(Vec<Edge>, Vec<Ends>), Cancelled> {
    let dealt = each_part_watched(source, monitor, |part| {
        let mut to: Vec<Vec<Dealt>> = vec![Vec::new(); deal.processes];
        source.walk(part, |it| {
            // What is shared is of a trace, and has events.
            let Some((cause, effect)) = source.places(&it) else {
                return;
            };
            to[deal.to(it.from, it.to)].push(Dealt {
                from: it.from,
                to: it.to,
                sent: it.sent,
                received: it.received,
                cause,
                effect,
            });
        });
        to
    })?;
    let mut to: Vec<Vec<Dealt>> = vec![Vec::new(); deal.processes];
    for part in dealt {
        for (all, part) in to.iter_mut().zip(part) {
            all.extend(part);
        }
    }
    let received = source.share().exchanged_columns(to);
    source.share().check()?;
    let mut all: Vec<Dealt> = Vec::with_capacity(received.iter().map(Vec::len).sum());
    for of_one in received {
        all.extend(of_one);
    }
    monitor.check()?;
    all.par_sort_unstable();
    let edges = all.iter();
    let edges = edges.map(|it| Edge::message(it.from, it.sent, it.to, it.received));
    let events = all.iter().map(|it| (it.cause, it.effect));
    Ok((edges.collect(), events.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thousand clocks in ten processes: what one process holds stays there, and what is
    /// between two, of a clock that all talk to as of a ring, is spread evenly.
    #[test]
    fn pairs_are_spread_over_all_processes() {
        let deal = Deal {
            holders: (0..1_000).map(|clock| clock / 100).collect(),
            processes: 10,
        };
        let between = |pairs: &mut dyn Iterator<Item = (u32, u32)>| {
            let mut counts = vec![0; 10];
            for (one, other) in pairs {
                let (one, other) = (ClockId(one), ClockId(other));
                let process = deal.to(one, other);
                assert_eq!(process, deal.to(other, one));
                counts[process] += 1;
            }
            counts
        };
        assert_eq!(between(&mut (0..99).map(|it| (it, it + 1)))[0], 99);
        let star = between(&mut (100..1_000).map(|it| (0, it)));
        let across = between(&mut (0..900).map(|it| (it, it + 100)));
        for counts in [star, across] {
            assert!(counts.iter().all(|it| (60..120).contains(it)), "{counts:?}");
        }
    }
}
