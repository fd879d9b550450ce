//! The dependencies that matter, and what is left out of them.

use rayon::prelude::*;

use super::bounds::BoundOptions;
use super::cone::prune;
use super::facts::{Facts, ticks};
use super::graph::{Bound, Cycle, Graph, Part};
use super::link::{Link, Route, routes};
use super::relaxation::Relaxation;
use super::screen::{Reading, Screened, screen};
use super::still::moving;
use crate::edges::{Edge, EdgeIndex, Edges};
use crate::estimate::Estimate;
use crate::pace::Pace;
use crate::sorting::sort_by_key;
use retime_model::ClockId;
use retime_model::{Cancelled, Monitor};

/// The dependencies that matter, by route.
pub(super) struct Narrowed<'a> {
    edges: &'a Edges,
    routes: Vec<Route>,
    kept: Vec<Vec<Bound>>,
    /// Routes whose links have to be chosen anew.
    stale: Vec<bool>,
}

impl<'a> Narrowed<'a> {
    pub(super) fn new<F: Fn(&Edge) -> i64 + Sync>(edges: &'a Edges, facts: &Facts<'_, F>) -> Self {
        let mut routes = routes(edges);
        routes.retain(|route| facts.line(route.from).is_some() && facts.line(route.to).is_some());
        Self {
            kept: vec![Vec::new(); routes.len()],
            stale: vec![true; routes.len()],
            routes,
            edges,
        }
    }

    pub(super) fn prune<F: Fn(&Edge) -> i64 + Sync>(
        &mut self,
        facts: &Facts<'_, F>,
        relaxation: &Relaxation,
        monitor: &dyn Monitor,
    ) -> Result<(), Cancelled> {
        let edges = self.edges;
        let routes = self
            .routes
            .par_iter()
            .zip(&mut self.kept)
            .zip(&mut self.stale);
        routes.try_for_each(|((route, kept), stale)| {
            if std::mem::take(stale) {
                monitor.check()?;
                *kept = narrow(route, edges, facts, relaxation, monitor)?;
            }
            Ok(())
        })
    }

    pub(super) fn graph<F: Fn(&Edge) -> i64 + Sync>(
        &self,
        facts: &Facts<'_, F>,
        monitor: &dyn Monitor,
    ) -> Result<Graph, Cancelled> {
        graph(facts, &self.kept, monitor)
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
        let (edges, routes) = (self.edges, &self.routes[..]);
        let trace = Trace {
            edges,
            facts,
            routes,
        };
        screen(&trace, &pairs, relaxation, monitor)
    }

    fn route(&self, from: ClockId, to: ClockId) -> Option<&Route> {
        find(&self.routes, from, to)
    }

    /// Leaves out what the estimate misses most of a contradiction, or all of
    /// its dependencies.
    pub(super) fn relax<F: Fn(&Edge) -> i64 + Sync>(
        &mut self,
        facts: &Facts<'_, F>,
        relaxation: &mut Relaxation,
        cycle: &Cycle,
        all: bool,
    ) {
        let missed = |part: &Part| (facts.missed(part, self.edges), *part);
        let parts = cycle.parts.iter().map(missed);
        let worst = parts.clone().max_by(|a, b| a.0.total_cmp(&b.0));
        let links = parts.filter(|(_, part)| all && matches!(part, Part::Link { .. }));
        for (by, part) in links.chain(worst) {
            match part {
                Part::Link { edge, .. } => {
                    relaxation.drop_edge(edge, by);
                    let ends = self.edges.get(edge).map(|it| (it.from, it.to));
                    self.outdate(|route| Some((route.from, route.to)) == ends);
                }
                Part::Stretch { clock, from, to } => {
                    relaxation.cut(clock, from, to, by);
                    self.outdate(|route| route.from == clock || route.to == clock);
                }
            }
        }
    }

    fn outdate(&mut self, which: impl Fn(&Route) -> bool) {
        for (route, stale) in self.routes.iter().zip(&mut self.stale) {
            *stale |= which(route);
        }
    }
}

/// The graph of what was kept, with the reference as its source.
pub(super) fn graph<F: Fn(&Edge) -> i64 + Sync>(
    facts: &Facts<'_, F>,
    kept: &[Vec<Bound>],
    monitor: &dyn Monitor,
) -> Result<Graph, Cancelled> {
    let source = (facts.reference(), 0, 0);
    Graph::new(facts.clocks(), kept, Some(source), facts.slope, monitor)
}

/// The links of a route that tell something that no other tells.
fn narrow<F: Fn(&Edge) -> i64 + Sync>(
    route: &Route,
    edges: &Edges,
    facts: &Facts<'_, F>,
    relaxation: &Relaxation,
    monitor: &dyn Monitor,
) -> Result<Vec<Bound>, Cancelled> {
    let (Some(from), Some(to)) = (facts.line(route.from), facts.line(route.to)) else {
        return Ok(Vec::new());
    };
    let link = |&position: &EdgeIndex| {
        let edge = edges.get(position)?;
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
        (!relaxation.is_dropped(position)).then_some((pieces, link))
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
    let mut kept = Vec::new();
    for chunk in links.chunk_by(|a, b| a.0 == b.0) {
        let links = chunk.iter().map(|(_, link)| link);
        let (before, after) = chunk[0].0;
        let (from, to) = ((route.from, before), (route.to, after));
        let pruned = prune(links, facts.slope).into_iter();
        kept.extend(pruned.map(|link| Bound::new(link, from, to)));
    }
    kept.shrink_to_fit();
    Ok(kept)
}

fn find(routes: &[Route], from: ClockId, to: ClockId) -> Option<&Route> {
    let found = routes.binary_search_by_key(&(from, to), |route| (route.from, route.to));
    routes.get(found.ok()?)
}

/// What the screen has to know.
struct Trace<'a, 'b, F> {
    edges: &'a Edges,
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
            let edge = self.edges.get(position)?;
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
        let edge = self.edges.get(edge);
        edge.map_or([0; 2], |edge| {
            if edge.from == low {
                [edge.sent, edge.received]
            } else {
                [edge.received, edge.sent]
            }
        })
    }
    fn moving(&self, stretches: Vec<(ClockId, i64, i64)>) -> Vec<(i64, i64)> {
        moving(self.edges, &stretches)
    }
}

/// By clock the open intervals of stamps in which it stepped, in order and
/// disjoint, as [told apart](super::screen) from misreadings. Of `base` only the
/// overall line of each clock counts; rates stray from it by `drift`, or as much
/// as is usual.
pub(crate) fn steps(
    edges: &Edges,
    base: &Estimate,
    drift: Option<f64>,
    monitor: &dyn Monitor,
) -> Result<Vec<Vec<(i64, i64)>>, Cancelled> {
    let usual = BoundOptions::default();
    let options = BoundOptions {
        drift: drift.unwrap_or(usual.drift),
        ..usual
    };
    let facts = Facts::new(edges, |_| 0, base, (&options, 0.0), monitor)?;
    let mut relaxation = Relaxation::new(edges.clocks());
    Narrowed::new(edges, &facts).screen(&facts, &mut relaxation, monitor)?;
    Ok(relaxation.into_cuts())
}
