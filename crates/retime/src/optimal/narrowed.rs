//! The dependencies that matter, and what is left out of them.
//!
//! Of several processes each looks at the pairs of clocks that are [dealt](InOrder::process) to
//! it. What of these matters, those get to know who [search](super::searchers) for the clocks; and where facts still
//! contradict each other, the first two processes, who look for what has to be left out. Where
//! that is a dependency or lets a clock step, they are told what has changed.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::bounds::BoundOptions;
use super::cone::prune;
use super::facts::{Facts, ticks};
use super::graph::{Cycle, Graph, Part};
use super::link::{Kept, Link, Route, routes};
use super::relaxation::Relaxation;
use super::screen::{Reading, Screened, screen};
use crate::edges::{Edge, EdgeIndex, InOrder};
use crate::estimate::Estimate;
use crate::pace::Pace;
use crate::sorting::sort_by_key;
use retime_model::ClockId;
use retime_model::{Cancelled, Monitor};

/// The dependencies that matter, by route.
pub(super) struct Narrowed<'a> {
    all: &'a InOrder,
    /// Those of this process.
    routes: Vec<Route>,
    /// Which of these have links that have to be chosen anew.
    stale: Vec<bool>,
    /// Those of all, in the first two processes.
    kept: BTreeMap<(ClockId, ClockId), Vec<Kept>>,
}

/// What is kept of a route, as it is told to others.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Chosen {
    route: (ClockId, ClockId),
    pub(super) kept: Vec<Kept>,
}

impl<'a> Narrowed<'a> {
    pub(super) fn new<F: Fn(&Edge) -> i64 + Sync>(all: &'a InOrder, facts: &Facts<'_, F>) -> Self {
        let mut routes = routes(&all.list.edges);
        routes.retain(|route| facts.line(route.from).is_some() && facts.line(route.to).is_some());
        Self {
            all,
            stale: vec![true; routes.len()],
            routes,
            kept: BTreeMap::new(),
        }
    }

    /// Chooses the links of routes of this process that have changed.
    pub(super) fn prune<F: Fn(&Edge) -> i64 + Sync>(
        &mut self,
        facts: &Facts<'_, F>,
        relaxation: &Relaxation,
        monitor: &dyn Monitor,
    ) -> Result<Vec<Chosen>, Cancelled> {
        let all = self.all;
        let stale = self.routes.iter().zip(&mut self.stale);
        let stale = stale.filter_map(|(route, stale)| std::mem::take(stale).then_some(route));
        let chosen = stale.collect::<Vec<_>>().into_par_iter().map(|it| {
            monitor.check()?;
            Ok(Chosen {
                route: (it.from, it.to),
                kept: narrow(it, all, facts, relaxation, monitor)?,
            })
        });
        chosen.collect()
    }

    /// Tells the first two processes what each has chosen.
    pub(super) fn tell(&mut self, chosen: Vec<Chosen>) -> Result<(), Cancelled> {
        let share = self.all.share();
        let chosen = share.collected(chosen, |mut all, more| {
            all.extend(more);
            all
        })?;
        let chosen = share.known_to_second(chosen);
        if self.searches() {
            let by_route = chosen.into_iter().map(|it| (it.route, it.kept));
            self.kept.extend(by_route);
        }
        Ok(())
    }

    /// Whether this process knows what matters of all.
    fn searches(&self) -> bool {
        self.all.share().place().0 < 2
    }

    /// The graph of what was kept, in the processes that know it.
    pub(super) fn graph<F: Fn(&Edge) -> i64 + Sync>(
        &self,
        facts: &Facts<'_, F>,
        monitor: &dyn Monitor,
    ) -> Result<Option<Graph>, Cancelled> {
        let kept = self.kept.values().flatten();
        self.searches()
            .then(|| graph(facts, kept, monitor))
            .transpose()
    }

    /// Leaves out misread dependencies and finds the steps of clocks.
    pub(super) fn screen<F: Fn(&Edge) -> i64 + Sync>(
        &self,
        facts: &Facts<'_, F>,
        relaxation: &mut Relaxation,
        monitor: &dyn Monitor,
    ) -> Result<(), Cancelled> {
        let forth = self.routes.iter().filter(|route| route.from < route.to);
        let pairs = forth.map(|route| [route.from, route.to]);
        let both_ways = pairs.filter(|&[low, high]| self.route(high, low).is_some());
        let pairs: Vec<[ClockId; 2]> = both_ways.collect();
        let trace = Trace {
            all: self.all,
            facts,
            routes: &self.routes[..],
        };
        screen(&trace, &pairs, relaxation, monitor)
    }

    fn route(&self, from: ClockId, to: ClockId) -> Option<&Route> {
        find(&self.routes, from, to)
    }

    /// Leaves out what the estimate misses most of each contradiction, or all of
    /// its dependencies. All processes leave out the same.
    pub(super) fn relax<F: Fn(&Edge) -> i64 + Sync>(
        &mut self,
        facts: &Facts<'_, F>,
        relaxation: &mut Relaxation,
        cycles: &[Cycle],
        all: bool,
    ) {
        for missed in self.missed(facts, cycles) {
            let worst = missed.iter().max_by(|a, b| a.0.total_cmp(&b.0));
            let links = missed.iter();
            let links = links.filter(|(_, part)| all && matches!(part, Part::Link { .. }));
            for &(by, part) in links.chain(worst) {
                match part {
                    Part::Link { clocks, edge, .. } => {
                        let process = self.all.process(clocks.0, clocks.1) as u32;
                        relaxation.drop_edge((process, edge), by);
                        self.outdate(|route| {
                            let ends = (route.from, route.to);
                            ends == clocks || ends == (clocks.1, clocks.0)
                        });
                    }
                    Part::Stretch { clock, from, to } => {
                        relaxation.cut(clock, from, to, by);
                        self.outdate(|route| route.from == clock || route.to == clock);
                    }
                }
            }
        }
    }

    /// By how much the estimate misses each part of contradictions.
    fn missed<F: Fn(&Edge) -> i64 + Sync>(
        &self,
        facts: &Facts<'_, F>,
        cycles: &[Cycle],
    ) -> Vec<Vec<(f64, Part)>> {
        let parts = cycles.iter().flat_map(|cycle| &cycle.parts);
        let own = parts.map(|part| facts.missed(part, self.all));
        let either = |a: Vec<Option<f64>>, b: Vec<Option<f64>>| {
            let both = a.into_iter().zip(b);
            both.map(|(a, b)| a.or(b)).collect()
        };
        let mut missed = self.all.share().merged(own.collect(), either).into_iter();
        let mut next = |part: &Part| (missed.next().flatten().unwrap_or(0.0), *part);
        let cycles = cycles.iter();
        cycles
            .map(|cycle| cycle.parts.iter().map(&mut next).collect())
            .collect()
    }

    fn outdate(&mut self, which: impl Fn(&Route) -> bool) {
        for (route, stale) in self.routes.iter().zip(&mut self.stale) {
            *stale |= which(route);
        }
    }
}

/// The graph of what was kept, with the reference as its source.
pub(super) fn graph<'a, F: Fn(&Edge) -> i64 + Sync>(
    facts: &Facts<'_, F>,
    kept: impl Iterator<Item = &'a Kept> + Clone,
    monitor: &dyn Monitor,
) -> Result<Graph, Cancelled> {
    let source = (facts.reference(), 0, 0);
    let bounds = kept.flat_map(Kept::bounds);
    Graph::new(facts.clocks(), bounds, Some(source), facts.slope, monitor)
}

/// The links of a route that tell something that no other tells.
fn narrow<F: Fn(&Edge) -> i64 + Sync>(
    route: &Route,
    all: &InOrder,
    facts: &Facts<'_, F>,
    relaxation: &Relaxation,
    monitor: &dyn Monitor,
) -> Result<Vec<Kept>, Cancelled> {
    let (Some(from), Some(to)) = (facts.line(route.from), facts.line(route.to)) else {
        return Ok(Vec::new());
    };
    let process = all.process(route.from, route.to) as u32;
    let link = |&position: &EdgeIndex| {
        let edge = all.list.edges.get(position)?;
        let pieces = (
            relaxation.piece(route.from, edge.sent)?,
            relaxation.piece(route.to, edge.received)?,
        );
        let link = Link {
            at_from: facts.place(route.from, edge.sent),
            at_to: facts.place(route.to, edge.received),
            bound: facts.bound(edge, from, to),
            edge: position,
        };
        (!relaxation.is_dropped((process, position))).then_some((pieces, link))
    };
    let mut links: Vec<((u32, u32), Link)> = Vec::with_capacity(route.edges.len());
    let mut pace = Pace::of(monitor);
    for position in &route.edges {
        pace.event()?;
        links.extend(link(position));
    }
    let key = |&(pieces, link): &((u32, u32), Link)| {
        (pieces, link.at_from.saturating_add(link.at_to), link.edge)
    };
    sort_by_key(&mut links, key, monitor)?;
    let of_pieces = links.chunk_by(|a, b| a.0 == b.0).map(|chunk| {
        let (before, after) = chunk[0].0;
        let mut links = prune(chunk.iter().map(|(_, link)| link), facts.slope);
        links.shrink_to_fit();
        Kept {
            from: (route.from, before),
            to: (route.to, after),
            links,
        }
    });
    Ok(of_pieces.collect())
}

fn find(routes: &[Route], from: ClockId, to: ClockId) -> Option<&Route> {
    let found = routes.binary_search_by_key(&(from, to), |route| (route.from, route.to));
    routes.get(found.ok()?)
}

/// What the screen has to know.
struct Trace<'a, 'b, F> {
    all: &'a InOrder,
    facts: &'a Facts<'b, F>,
    routes: &'a [Route],
}

impl<F: Fn(&Edge) -> i64 + Sync> Trace<'_, '_, F> {
    /// The readings of one route; with dependencies from the first clock to the
    /// second, bounds of the difference are lower ones.
    fn add(&self, from: ClockId, to: ClockId, readings: &mut Vec<Reading>) {
        let Some(route) = find(self.routes, from, to) else {
            return;
        };
        let (Some(before), Some(after)) = (self.facts.line(from), self.facts.line(to)) else {
            return;
        };
        let is_upper = from > to;
        let of_route = route.edges.iter().filter_map(|&position| {
            let edge = self.all.list.edges.get(position)?;
            let sent = before.on_reference(edge.sent);
            let received = after.on_reference(edge.received);
            // At one moment between its ends, a dependency says a little less.
            let apart = self.facts.drift() * sent.abs_diff(received) as f64;
            let bound = ticks(self.facts.bound(edge, before, after)) - apart;
            Some(Reading {
                at: i64::midpoint(sent, received),
                bound: if is_upper { -bound } else { bound },
                is_upper,
                edge: position,
            })
        });
        readings.extend(of_route);
    }
}

impl<F: Fn(&Edge) -> i64 + Sync> Screened for Trace<'_, '_, F> {
    fn all(&self) -> &InOrder {
        self.all
    }

    fn reference(&self) -> ClockId {
        self.facts.reference()
    }

    fn drift(&self) -> f64 {
        self.facts.drift()
    }

    fn readings(&self, [low, high]: [ClockId; 2]) -> Vec<Reading> {
        let both = [find(self.routes, low, high), find(self.routes, high, low)];
        let count = both.iter().flatten().map(|route| route.edges.len()).sum();
        let mut readings = Vec::with_capacity(count);
        self.add(low, high, &mut readings);
        self.add(high, low, &mut readings);
        readings.sort_unstable_by_key(|reading| (reading.at, reading.edge));
        readings
    }

    fn stamps(&self, edge: EdgeIndex, [low, _]: [ClockId; 2]) -> [i64; 2] {
        let edge = self.all.list.edges.get(edge);
        edge.map_or([0; 2], |edge| {
            if edge.from == low {
                [edge.sent, edge.received]
            } else {
                [edge.received, edge.sent]
            }
        })
    }
}

/// By clock the open intervals of stamps in which it stepped, in order and
/// disjoint, as [told apart](super::screen) from misreadings. Of `base` only the
/// overall line of each clock counts; rates stray from it by `drift`, or as much
/// as is usual.
pub(crate) fn steps(
    all: &InOrder,
    base: &Estimate,
    drift: Option<f64>,
    monitor: &dyn Monitor,
) -> Result<Vec<Vec<(i64, i64)>>, Cancelled> {
    let usual = BoundOptions::default();
    let options = BoundOptions {
        drift: drift.unwrap_or(usual.drift),
        ..usual
    };
    let facts = Facts::new(&all.list, |_| 0, base, (&options, 0.0), monitor)?;
    let mut relaxation = Relaxation::new(facts.clocks());
    Narrowed::new(all, &facts).screen(&facts, &mut relaxation, monitor)?;
    Ok(relaxation.into_cuts())
}
