//! The dependencies that matter, and what is left out of them.

use rayon::prelude::*;

use super::cone::prune;
use super::facts::{Facts, ticks};
use super::graph::{Graph, Part, PositiveCycle};
use super::link::{Dependency, Kept, Route, routes};
use super::offset_bounds::BoundOptions;
use super::relaxation::Relaxation;
use super::screen::{DifferenceBound, Screened, screen};
use retime_causality::edges::{EdgeIndex, InOrder};
use retime_clocks::estimate::Estimate;
use retime_model::ClockId;
use retime_model::pace::Pace;
use retime_model::{Cancelled, Monitor};
use retime_numerics::sorting::sort_by_key;

/// The dependencies that matter, by route.
pub(super) struct Narrowed<'a> {
    all: &'a InOrder,
    routes: Vec<Narrow>,
}

/// A route, and its links that matter.
struct Narrow {
    route: Route,
    kept: Vec<Kept>,
    /// True if they have to be chosen anew.
    is_stale: bool,
}

impl<'a> Narrowed<'a> {
    pub(super) fn new(all: &'a InOrder, facts: &Facts<'_>) -> Self {
        let mut routes = routes(&all.list.edges);
        routes.retain(|route| facts.line(route.from).is_some() && facts.line(route.to).is_some());
        let narrow = |route| Narrow {
            route,
            kept: Vec::new(),
            is_stale: true,
        };
        Self {
            all,
            routes: routes.into_iter().map(narrow).collect(),
        }
    }

    /// Chooses the links of routes that have changed.
    pub(super) fn prune(
        &mut self,
        facts: &Facts<'_>,
        relaxation: &Relaxation,
        monitor: &dyn Monitor,
    ) -> Result<(), Cancelled> {
        let all = self.all;
        let stale: Vec<&mut Narrow> = self.routes.iter_mut().filter(|it| it.is_stale).collect();
        stale.into_par_iter().try_for_each(|it| {
            monitor.check()?;
            it.kept = narrow(&it.route, all, facts, relaxation, monitor)?;
            it.is_stale = false;
            Ok(())
        })
    }

    /// The links that matter, by route.
    pub(super) fn kept(&self) -> impl Iterator<Item = &Kept> + Clone {
        self.routes.iter().flat_map(|it| &it.kept)
    }

    /// Leaves out misread dependencies and finds the steps of clocks.
    pub(super) fn screen(
        &self,
        facts: &Facts<'_>,
        relaxation: &mut Relaxation,
        monitor: &dyn Monitor,
    ) -> Result<(), Cancelled> {
        let routes = self.routes.iter().map(|it| &it.route);
        let forth = routes.filter(|route| route.from < route.to);
        let pairs = forth.map(|route| [route.from, route.to]);
        let both_ways = pairs.filter(|&[low, high]| find(&self.routes, high, low).is_some());
        let pairs: Vec<[ClockId; 2]> = both_ways.collect();
        let trace = Trace {
            all: self.all,
            facts,
            routes: &self.routes,
        };
        screen(&trace, &pairs, relaxation, monitor)
    }

    /// Leaves out the part of each contradiction that the estimate misses most, or all of
    /// its dependencies.
    pub(super) fn relax(
        &mut self,
        facts: &Facts<'_>,
        relaxation: &mut Relaxation,
        cycles: &[PositiveCycle],
        all: bool,
    ) {
        for cycle in cycles {
            let parts = cycle.parts.iter();
            let missed: Vec<(f64, Part)> = parts
                .map(|part| (facts.missed(part, self.all), *part))
                .collect();
            let worst = missed.iter().max_by(|a, b| a.0.total_cmp(&b.0));
            let links = missed.iter();
            let links = links.filter(|(_, part)| all && matches!(part, Part::Dependency { .. }));
            for &(by, part) in links.chain(worst) {
                match part {
                    Part::Dependency { clocks, edge, .. } => {
                        relaxation.drop_edge(edge, by);
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

    fn outdate(&mut self, which: impl Fn(&Route) -> bool) {
        for it in &mut self.routes {
            it.is_stale |= which(&it.route);
        }
    }
}

/// The graph of what was kept, with the reference as its source.
pub(super) fn graph<'a>(
    facts: &Facts<'_>,
    kept: impl Iterator<Item = &'a Kept> + Clone,
    monitor: &dyn Monitor,
) -> Result<Graph, Cancelled> {
    let source = (facts.reference(), 0, 0);
    let bounds = kept.flat_map(Kept::bounds);
    Graph::new(facts.clocks(), bounds, Some(source), facts.slope, monitor)
}

/// The links of a route that tell something that no other tells.
fn narrow(
    route: &Route,
    all: &InOrder,
    facts: &Facts<'_>,
    relaxation: &Relaxation,
    monitor: &dyn Monitor,
) -> Result<Vec<Kept>, Cancelled> {
    let (Some(from), Some(to)) = (facts.line(route.from), facts.line(route.to)) else {
        return Ok(Vec::new());
    };
    let link = |&position: &EdgeIndex| {
        let edge = all.list.edges.get(position)?;
        let pieces = (
            relaxation.piece(route.from, edge.sent)?,
            relaxation.piece(route.to, edge.received)?,
        );
        let link = Dependency {
            at_from: facts.place(route.from, edge.sent),
            at_to: facts.place(route.to, edge.received),
            bound: facts.bound(edge, from, to),
            edge: position,
        };
        (!relaxation.is_dropped(position)).then_some((pieces, link))
    };
    let mut links: Vec<((u32, u32), Dependency)> = Vec::with_capacity(route.edges.len());
    let mut pace = Pace::of(monitor);
    for position in &route.edges {
        pace.event()?;
        links.extend(link(position));
    }
    let key = |&(pieces, link): &((u32, u32), Dependency)| {
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

fn find(routes: &[Narrow], from: ClockId, to: ClockId) -> Option<&Route> {
    let found = routes.binary_search_by_key(&(from, to), |it| (it.route.from, it.route.to));
    routes.get(found.ok()?).map(|it| &it.route)
}

/// The trace, as the screen has to know it.
struct Trace<'a, 'b> {
    all: &'a InOrder,
    facts: &'a Facts<'b>,
    routes: &'a [Narrow],
}

impl Trace<'_, '_> {
    /// The readings of one route; with dependencies from the first clock to the
    /// second, bounds of the difference are lower ones.
    fn add(&self, from: ClockId, to: ClockId, difference_bounds: &mut Vec<DifferenceBound>) {
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
            Some(DifferenceBound {
                at: i64::midpoint(sent, received),
                bound: if is_upper { -bound } else { bound },
                is_upper,
                edge: position,
            })
        });
        difference_bounds.extend(of_route);
    }
}

impl Screened for Trace<'_, '_> {
    fn all(&self) -> &InOrder {
        self.all
    }

    fn reference(&self) -> ClockId {
        self.facts.reference()
    }

    fn drift(&self) -> f64 {
        self.facts.drift()
    }

    fn difference_bounds(&self, [low, high]: [ClockId; 2]) -> Vec<DifferenceBound> {
        let both = [find(self.routes, low, high), find(self.routes, high, low)];
        let count = both.iter().flatten().map(|route| route.edges.len()).sum();
        let mut difference_bounds = Vec::with_capacity(count);
        self.add(low, high, &mut difference_bounds);
        self.add(high, low, &mut difference_bounds);
        difference_bounds.sort_unstable_by_key(|reading| (reading.at, reading.edge));
        difference_bounds
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

/// Finds per clock the open intervals of stamps in which it stepped, in order and disjoint,
/// told apart from misreadings. Of `base` only the overall line of each clock counts; rates stray
/// from it by `drift`, or as much as is usual.
pub fn steps(
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
    let facts = Facts::new(&all.list, &|_| 0, base, &options, 0.0, monitor)?;
    let mut relaxation = Relaxation::new(facts.clocks());
    Narrowed::new(all, &facts).screen(&facts, &mut relaxation, monitor)?;
    Ok(relaxation.into_cuts())
}
