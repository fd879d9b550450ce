//! Between which values the offset of each clock lies, at any time.
//!
//! Let `z` be what has to be added to a clock beyond a straight line that an
//! estimate gives it (see [`offset_bounds`]), and let no clock stray from the
//! rate of its line by more than `rho`. Then everything that a trace tells about
//! its clocks are difference constraints:
//!
//! ```text
//! z(to, received) - z(from, sent) >= line(from, sent) - line(to, received) - latency + mu - tick
//! |z(p, t) - z(p, t')|            <= rho |t - t'|
//! z(reference, t)                  = 0
//! ```
//!
//! Their least and their greatest solution are longest and shortest paths from
//! the reference (Bellman 1958, Ford 1956; Cormen et al., Introduction to
//! Algorithms, section "Difference constraints and shortest paths"). The true
//! offset is a solution, so it lies between them, and both ends are solutions
//! too: whatever a correction adds to a clock, the truth may be half of the
//! interval away from it. No method is better than that in the worst case.
//!
//! A stamp stands for any moment until the clock shows the next one, so each
//! dependency is given one tick of slack, and the result is one tick wider.
//! Messages that go one way only bound a clock on one side; the other is
//! infinite.
//!
//! ```
//! use retime::{ClockId, Edge, Edges};
//! use retime::estimate::{Estimate, Offset};
//! use retime::optimal::{BoundOptions, offset_bounds};
//! let (a, b) = (ClockId(0), ClockId(1));
//! // Clock b is behind: two messages there, one back.
//! let edges = vec![
//!     Edge::message(a, 1_000, b, 995),
//!     Edge::message(b, 2_000, a, 2_050),
//!     Edge::message(a, 3_000, b, 2_960),
//! ];
//! let edges = Edges::new(edges, vec![Some((0, 4_000)), Some((0, 4_000))]);
//! let base = Estimate {
//!     offsets: vec![Some(Offset::constant(0.0)), Some(Offset::constant(0.0))],
//!     reference: a,
//! };
//! let options = BoundOptions { drift: 1e-3, tick_slack: false, ..BoundOptions::default() };
//! let bounds = offset_bounds(&edges, |_| 0, &base, &options);
//! let of_b = bounds.clocks[1].as_ref().unwrap();
//! // Received at 2960 what was sent at 3000: at least 40 is missing there. The
//! // message back: at 2000 at most 50 is. One per thousand ticks more elsewhere.
//! let near = |(low, high): (f64, f64), expected: (f64, f64)| {
//!     (low - expected.0).abs() < 0.01 && (high - expected.1).abs() < 0.01
//! };
//! assert!(near(of_b.at(2_960), (40.0, 50.96)));
//! assert!(near(of_b.at(2_000), (39.04, 50.0)));
//! ```

use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::cone::prune;
use super::envelope::Envelope;
use super::granularity::granularities;
use super::graph::{Bound, Cycle, Graph, Part, Solved, UNBOUNDED};
use super::line::{Line, lines};
use super::link::{Link, Route, routes};
use super::relaxation::{Relaxation, Relaxed};
use super::slope::Slope;
use crate::clocks::ClockId;
use crate::edges::{Edge, Edges};
use crate::estimate::Estimate;

/// Bounds of links are kept in this many parts of a tick.
const UNIT: f64 = 1024.0;
/// Sums along paths, in this many parts of that.
const RUN: i128 = 1 << 32;
/// Contradictions are resolved in this many rounds at most,
const ROUNDS: usize = 64;
/// and after this many all dependencies of a contradiction are left out.
const GENTLE_ROUNDS: usize = 16;
/// No bound is larger, in parts of a tick.
const LARGEST: f64 = (1_u64 << 61) as f64;

/// What is assumed of clocks, and how long the search may last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundOptions {
    /// By how much the rate of a clock strays from its mean rate against the
    /// reference, as a fraction: `1e-4` is 100 ppm.
    pub drift: f64,
    /// Whether a stamp stands for all moments until the next one that the clock
    /// can show; otherwise for exactly one.
    pub tick_slack: bool,
    /// When time is up, bounds are wider than they could be.
    pub budget: Duration,
}

impl Default for BoundOptions {
    fn default() -> Self {
        Self {
            drift: 1e-4,
            tick_slack: true,
            budget: Duration::from_secs(60),
        }
    }
}

/// Bounds on what has to be added to each clock to show the time of
/// `reference`.
#[derive(Clone, Debug, PartialEq)]
pub struct OffsetBounds {
    /// By clock; `None` where nothing relates a clock to the reference.
    pub clocks: Vec<Option<ClockBounds>>,
    /// The clock whose time is the common one.
    pub reference: ClockId,
    /// What contradicts the rest under the drift bound, and was left out.
    pub relaxed: Vec<Relaxed>,
    /// Whether the bounds are as narrow as they can be; otherwise time was up,
    /// or too many facts contradict each other.
    pub complete: bool,
}

/// Bounds on what has to be added to one clock.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockBounds {
    pub(super) line: Line,
    pub(super) low: Envelope,
    pub(super) high: Envelope,
    /// How far the clock can be beyond its stamp.
    pub(super) tick: f64,
}

impl ClockBounds {
    /// The least and the most ticks that have to be added at a stamp, given in
    /// ticks since the base; infinite where nothing bounds them.
    pub fn at(&self, stamp: i64) -> (f64, f64) {
        let line = self.line.at(stamp);
        let (low, high) = (line + self.low.at(stamp), line + self.high.at(stamp));
        (low, high + self.tick)
    }

    /// Whether there is a lower and an upper bound at all.
    pub fn sides(&self) -> (bool, bool) {
        let any = |side: &Envelope| side.knots.iter().any(|knot| knot.1.is_finite());
        (any(&self.low), any(&self.high))
    }

    /// The stamps between which both bounds are linear.
    pub fn stamps(&self) -> Vec<i64> {
        let knots = self.low.knots.iter().chain(&self.high.knots);
        let mut stamps: Vec<i64> = knots.map(|knot| knot.0).collect();
        stamps.sort_unstable();
        stamps.dedup();
        stamps
    }
}

/// The bounds that the dependencies and a drift bound put on each clock.
///
/// `least` is the minimal delay of a dependency in ticks; 0 is always right.
/// Of `base` only the reference and the overall line of each clock count: the
/// rate of each clock is taken to stay within `options.drift` of the rate of
/// that line, so that constant drifts may be larger than the bound. A wrong line
/// is as if clocks drifted by as much more.
pub fn offset_bounds(
    edges: &Edges,
    least: impl Fn(&Edge) -> i64 + Sync,
    base: &Estimate,
    options: &BoundOptions,
) -> OffsetBounds {
    let deadline = Instant::now() + options.budget.min(Duration::from_secs(1 << 30));
    let facts = Facts::new(edges, least, base, options);
    let mut relaxation = Relaxation::new(edges.clocks());
    let mut narrowed = Narrowed::new(&facts);
    for round in 0..ROUNDS {
        narrowed.prune(&facts, &relaxation);
        let graph = narrowed.graph(&facts);
        let reversed = graph.reversed();
        let source = graph.node(&(base.reference, 0, 0));
        let solve = |graph: &Graph| graph.solve(source, deadline);
        match rayon::join(|| solve(&graph), || solve(&reversed)) {
            (Solved::Cycles(mut cycles), other) | (other, Solved::Cycles(mut cycles)) => {
                if let Solved::Cycles(more) = other {
                    cycles.extend(more);
                }
                for cycle in &cycles {
                    narrowed.relax(&facts, &mut relaxation, cycle, round >= GENTLE_ROUNDS);
                }
            }
            (Solved::Least(low), Solved::Least(high)) => {
                return facts.bounds(&graph, &low, &high, &relaxation, true);
            }
            (
                Solved::Least(low) | Solved::Stopped(low),
                Solved::Least(high) | Solved::Stopped(high),
            ) => return facts.bounds(&graph, &low, &high, &relaxation, false),
        }
        if Instant::now() >= deadline {
            break;
        }
    }
    OffsetBounds {
        clocks: vec![None; edges.clocks()],
        reference: base.reference,
        relaxed: relaxation.list(),
        complete: false,
    }
}

/// What is known before anything is computed.
struct Facts<'a, F> {
    edges: &'a Edges,
    least: F,
    base: &'a Estimate,
    lines: Vec<Option<Line>>,
    granularities: Vec<i64>,
    slope: Slope,
}

impl<'a, F: Fn(&Edge) -> i64 + Sync> Facts<'a, F> {
    fn new(edges: &'a Edges, least: F, base: &'a Estimate, options: &BoundOptions) -> Self {
        // What is no number is no bound on drift: as large as makes sense.
        let drift = if options.drift >= 0.0 {
            options.drift.min(1.0)
        } else {
            1.0
        };
        Self {
            lines: lines(base, edges),
            granularities: if options.tick_slack {
                granularities(edges)
            } else {
                vec![0; edges.clocks()]
            },
            slope: Slope {
                rise: (drift * UNIT * RUN as f64).ceil() as i128,
                run: RUN,
            },
            edges,
            least,
            base,
        }
    }

    fn line(&self, clock: ClockId) -> Option<&Line> {
        self.lines.get(clock.as_usize())?.as_ref()
    }

    fn granularity(&self, clock: ClockId) -> i64 {
        self.granularities
            .get(clock.as_usize())
            .copied()
            .unwrap_or(1)
    }

    /// Least ticks from cause to effect by what their clocks show.
    fn shown_delay(&self, edge: &Edge) -> f64 {
        let slack = self.granularity(edge.from).max(self.granularity(edge.to));
        (self.least)(edge).saturating_sub(slack) as f64 - edge.latency() as f64
    }

    /// The bound of a dependency between clocks with lines, rounded down.
    fn bound(&self, edge: &Edge, from: &Line, to: &Line) -> i64 {
        let ticks = self.shown_delay(edge) + from.at(edge.sent) - to.at(edge.received);
        (ticks * UNIT).floor().clamp(-LARGEST, LARGEST) as i64
    }

    /// All of the reference is one place, since nothing is added to it.
    fn place(&self, clock: ClockId, stamp: i64) -> i64 {
        if clock == self.base.reference {
            0
        } else {
            stamp
        }
    }

    /// By how many ticks the estimate itself misses a part of a contradiction.
    fn missed(&self, part: &Part) -> f64 {
        let offset = |clock: ClockId, stamp: i64| {
            let offset = self
                .base
                .offsets
                .get(clock.as_usize())
                .and_then(Option::as_ref);
            let reference = clock == self.base.reference;
            offset
                .filter(|_| !reference)
                .map_or(0.0, |offset| offset.at(stamp))
        };
        match *part {
            Part::Link { edge, .. } => self.edges.all().get(edge as usize).map_or(0.0, |edge| {
                self.shown_delay(edge) + offset(edge.from, edge.sent)
                    - offset(edge.to, edge.received)
            }),
            Part::Stretch { clock, from, to } => {
                let line = |stamp: i64| self.line(clock).map_or(0.0, |line| line.at(stamp));
                let beyond = |stamp: i64| offset(clock, stamp) - line(stamp);
                (beyond(to) - beyond(from)).abs() - self.drift() * from.abs_diff(to) as f64
            }
        }
    }

    fn drift(&self) -> f64 {
        self.slope.rise as f64 / self.slope.run as f64 / UNIT
    }

    /// From the solution of the graph and that of the reversed one.
    fn bounds(
        &self,
        graph: &Graph,
        low: &[i128],
        high: &[i128],
        relaxation: &Relaxation,
        complete: bool,
    ) -> OffsetBounds {
        let clock = |clock: u32| {
            let clock = ClockId(clock);
            let line = *self.line(clock)?;
            let side = |values: &[i128], side: f64| {
                let moments = graph.nodes(clock).map(|node| {
                    let ((_, piece, at), value) = (graph.moment(node), values[node]);
                    let ticks = if value == UNBOUNDED {
                        f64::INFINITY
                    } else {
                        -(value as f64 / RUN as f64 / UNIT)
                    };
                    (piece, at, ticks * side)
                });
                Envelope::new(&moments.collect::<Vec<_>>(), side, self.drift())
            };
            let pinned = clock == self.base.reference;
            let of = ClockBounds {
                line,
                low: if pinned {
                    Envelope::zero(-1.0)
                } else {
                    side(low, -1.0)
                },
                high: if pinned {
                    Envelope::zero(1.0)
                } else {
                    side(high, 1.0)
                },
                tick: self.granularity(clock) as f64,
            };
            (of.sides() != (false, false)).then_some(of)
        };
        OffsetBounds {
            clocks: (0..self.edges.clocks() as u32).map(clock).collect(),
            reference: self.base.reference,
            relaxed: relaxation.list(),
            complete,
        }
    }
}

/// The dependencies that matter, by route.
struct Narrowed {
    routes: Vec<Route>,
    kept: Vec<Vec<Bound>>,
    /// Routes whose links have to be chosen anew.
    stale: Vec<bool>,
}

impl Narrowed {
    fn new<F: Fn(&Edge) -> i64 + Sync>(facts: &Facts<'_, F>) -> Self {
        let mut routes = routes(facts.edges);
        routes.retain(|route| facts.line(route.from).is_some() && facts.line(route.to).is_some());
        Self {
            kept: vec![Vec::new(); routes.len()],
            stale: vec![true; routes.len()],
            routes,
        }
    }

    fn prune<F: Fn(&Edge) -> i64 + Sync>(&mut self, facts: &Facts<'_, F>, relaxation: &Relaxation) {
        let routes = self
            .routes
            .par_iter()
            .zip(&mut self.kept)
            .zip(&mut self.stale);
        routes.for_each(|((route, kept), stale)| {
            if std::mem::take(stale) {
                *kept = narrow(route, facts, relaxation);
            }
        });
    }

    fn graph<F: Fn(&Edge) -> i64 + Sync>(&self, facts: &Facts<'_, F>) -> Graph {
        let reference = facts.base.reference;
        Graph::new(
            facts.edges.clocks(),
            &self.kept.concat(),
            std::iter::once((reference, 0, 0)),
            facts.slope,
        )
    }

    /// Leaves out what the estimate misses most of a contradiction, or all of
    /// its dependencies.
    fn relax<F: Fn(&Edge) -> i64 + Sync>(
        &mut self,
        facts: &Facts<'_, F>,
        relaxation: &mut Relaxation,
        cycle: &Cycle,
        all: bool,
    ) {
        let missed = |part: &Part| (facts.missed(part), *part);
        let parts = cycle.parts.iter().map(missed);
        let worst = parts.clone().max_by(|a, b| a.0.total_cmp(&b.0));
        let links = parts.filter(|(_, part)| all && matches!(part, Part::Link { .. }));
        for (by, part) in links.chain(worst) {
            match part {
                Part::Link { edge, .. } => {
                    relaxation.drop_edge(edge, by);
                    let ends = facts
                        .edges
                        .all()
                        .get(edge as usize)
                        .map(|it| (it.from, it.to));
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

/// The links of a route that tell something that no other tells.
fn narrow<F: Fn(&Edge) -> i64 + Sync>(
    route: &Route,
    facts: &Facts<'_, F>,
    relaxation: &Relaxation,
) -> Vec<Bound> {
    let (Some(from), Some(to)) = (facts.line(route.from), facts.line(route.to)) else {
        return Vec::new();
    };
    let link = |&position: &u32| {
        let edge = facts.edges.all().get(position as usize)?;
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
    let mut links: Vec<((u32, u32), Link)> = route.edges.iter().filter_map(link).collect();
    links.sort_unstable_by_key(|&(pieces, link)| {
        (pieces, link.at_from.saturating_add(link.at_to), link.edge)
    });
    let mut kept = Vec::new();
    for chunk in links.chunk_by(|a, b| a.0 == b.0) {
        let links: Vec<Link> = chunk.iter().map(|&(_, link)| link).collect();
        let (before, after) = chunk[0].0;
        kept.extend(prune(&links, facts.slope).into_iter().map(|link| Bound {
            from: (route.from, before, link.at_from),
            to: (route.to, after, link.at_to),
            link,
        }));
    }
    kept
}
