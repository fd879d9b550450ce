//! The gentlest correction: the least possible distortion of local intervals.
//!
//! A correction bends clocks, and whatever was measured between two events of one
//! clock changes with it. How little can be enough? Let `x` be the corrected
//! times, `mu` the minimal delay of a dependency `s -> r`, `d` the raw distance
//! of successive events of one clock and `w = max(d, 1 tick)`:
//!
//! ```text
//! x(r) - x(s) >= mu
//! d - eps w <= x(j) - x(j-1) <= d + eps w
//! ```
//!
//! Constraints on differences can be satisfied unless they contradict each other
//! along a cycle (Cormen et al., Introduction to Algorithms, section "Difference
//! constraints and shortest paths"). Along a cycle that crosses dependencies and
//! runs over clocks, forwards over the raw time `F` and backwards over `B`, they
//! do so if `sum mu + F - B > eps sum w`. So the least distortion is
//!
//! ```text
//! eps* = max(0, max over cycles of (sum mu + F - B) / sum w)
//! ```
//!
//! and the cycle where the maximum is taken proves that no correction is
//! gentler. It is found by Newton's method (Dinkelbach 1967): at a given `eps`
//! look for a cycle that contradicts it, take that cycle's ratio for the next
//! `eps`; once there is none, the solution of the constraints is the correction.
//! All sums are integers and `eps` is a fraction, so the result is exact.
//!
//! `eps` rises from 0, and at small `eps` most dependencies are implied by
//! others between the same clocks: only the [upper envelope](maximal) of their cones is
//! searched.
//!
//! ```
//! use retime_causality::{Edge, Edges};
//! use retime_model::ClockId;
//! use retime_bounds::gentlest;
//! let (a, b) = (ClockId(0), ClockId(1));
//! // At its 1000, b is at least 10 behind; at its 2000 at most 4.
//! let edges = vec![
//!     Edge::message(a, 1_000, b, 990),
//!     Edge::message(b, 1_990, a, 1_994),
//!     Edge::message(a, 3_000, b, 3_100),
//! ];
//! let edges = Edges::new(edges, vec![Some((1_000, 3_000)), Some((990, 3_100))]);
//! let gentlest = gentlest(&edges, |_| 0, 1_000_000, &())?;
//! // Six ticks have to go within the 1000 of b and the 994 of a.
//! assert_eq!(gentlest.distortion, 6.0 / 1_994.0);
//! let forced = gentlest.forced_by.as_ref().unwrap();
//! assert_eq!((forced.needed, forced.width), (6, 1_994));
//! let estimate = gentlest.estimate(a)?;
//! let at = |clock: ClockId, stamp| estimate.offsets[clock.as_usize()].as_ref().unwrap().at(stamp);
//! assert!(990.0 + at(b, 990) >= 999.99 + at(a, 1_000));
//! assert!(1_994.0 + at(a, 1_994) >= 1_989.99 + at(b, 1_990));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::cone::maximal;
use super::envelope::Envelope;
use super::graph::{Budget, Graph, Part, PositiveCycle, SolvedGraph, UNBOUNDED};
use super::link::{Bound, Dependency, LeastDelay, Slope, routes};
use super::place::Places;
use retime_causality::edges::{Edge, EdgeIndex, Edges};
use retime_clocks::estimate::{Estimate, NoEstimate, Offset};
use retime_model::pace::Pace;
use retime_model::{Cancelled, ClockId, Monitor, Ticks};
use retime_numerics::parallel;
use retime_numerics::sorting::sort_by_key;

/// Numerator and denominator of `eps` are kept below this.
const LARGEST: i128 = 1 << 60;

/// The least possible distortion, and why there is no lesser one.
#[derive(Clone, Debug, PartialEq)]
pub struct Gentlest {
    /// `eps*`: the largest relative change of a local interval that cannot be
    /// avoided. Infinite where dependencies contradict each other by themselves.
    pub distortion: f64,
    /// The cycle that forces it; `None` if nothing has to change, or nothing is
    /// known yet.
    pub forced_by: Option<ForcingCycle>,
    /// True if it was found; otherwise the steps were used up, and `distortion` is a lower
    /// bound.
    pub complete: bool,
    offsets: Vec<Option<Offset>>,
}

/// A cycle of dependencies and stretches of clocks that forces a distortion of
/// `needed / width`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForcingCycle {
    /// In order, each beginning where the one before it ends.
    pub parts: Vec<ForcingPart>,
    /// Ticks by which the stamps contradict the dependencies.
    pub needed: i128,
    /// Ticks of local intervals over which that can be spread.
    pub width: i128,
}

/// A part of a [`ForcingCycle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForcingPart {
    /// A dependency.
    Dependency {
        /// Its position in [`Edges::all`].
        edge: EdgeIndex,
        /// Minimal delay minus latency: what the clock of the effect needs to
        /// be set forward against that of the cause.
        needed: i64,
    },
    /// From one stamp of a clock to another, later or earlier; ticks since the
    /// base.
    Stretch {
        /// The clock.
        clock: ClockId,
        /// From here
        from: i64,
        /// to here.
        to: i64,
        /// The sum of the weights of its intervals.
        width: u64,
    },
}

impl Gentlest {
    /// The correction that attains the distortion: in the middle between the
    /// least and the greatest solution. The first event of the reference that
    /// depends on others keeps its time. Stamps are rounded when it is applied,
    /// and equal stamps stay equal, so a tick may be missing here and there.
    pub fn estimate(self, reference: ClockId) -> Result<Estimate, NoEstimate> {
        if self.distortion.is_infinite() {
            let cycle = self.forced_by.as_ref();
            let clocks = cycle.map_or_else(Vec::new, ForcingCycle::clocks);
            let needed = cycle.map_or(0, |cycle| i64::try_from(cycle.needed).unwrap_or(i64::MAX));
            return Err(NoEstimate::Infeasible(clocks, Ticks(needed)));
        }
        if !self.complete {
            let why = "the search for the gentlest correction was stopped early";
            return Err(NoEstimate::Missing(why.to_owned()));
        }
        let first = self
            .offsets
            .get(reference.as_usize())
            .and_then(Option::as_ref);
        let shown = first.and_then(|offset| offset.knots().first());
        let common = shown.map_or(0.0, |knot| knot.1);
        let relative = |offset: Offset| {
            let knots = offset.knots().iter();
            Offset::through(knots.map(|&(at, ticks)| (at, ticks - common)).collect())
        };
        Ok(Estimate {
            offsets: self
                .offsets
                .into_iter()
                .map(|it| it.map(relative))
                .collect(),
            reference,
        })
    }
}

impl ForcingCycle {
    /// The clocks it runs over.
    pub fn clocks(&self) -> Vec<ClockId> {
        let clock = |part: &ForcingPart| match part {
            ForcingPart::Stretch { clock, .. } => Some(*clock),
            ForcingPart::Dependency { .. } => None,
        };
        self.parts.iter().filter_map(clock).collect()
    }

    fn new(cycle: &PositiveCycle, places: &Places) -> Self {
        let part = |part: &Part| match *part {
            Part::Dependency { edge, bound, .. } => ForcingPart::Dependency {
                edge,
                needed: bound,
            },
            Part::Stretch { clock, from, to } => ForcingPart::Stretch {
                clock,
                from: places.stamp(clock, from),
                to: places.stamp(clock, to),
                width: from.abs_diff(to),
            },
        };
        Self {
            parts: cycle.parts.iter().map(part).collect(),
            needed: cycle.bound(),
            width: cycle.width(),
        }
    }

    fn ratio(&self) -> f64 {
        ratio(self.needed, self.width)
    }
}

/// The distortion that is needed over a width, in ticks.
pub(super) fn ratio(needed: i128, width: i128) -> f64 {
    // Where a width is next to nothing the search ends as if it were nothing.
    if fraction(needed, width).is_none() {
        return f64::INFINITY;
    }
    needed as f64 / width as f64
}

/// Finds the least possible distortion; `least` is the minimal delay of a
/// dependency in ticks. The search ends when it has looked at nodes and arcs of
/// its graphs `steps` times; a core does so some 10^8 times per second. It fails only if
/// `monitor` says to give up.
pub fn gentlest(
    edges: &Edges,
    least: impl Fn(&Edge) -> i64 + Sync,
    steps: u64,
    monitor: &dyn Monitor,
) -> Result<Gentlest, Cancelled> {
    let mut budget = Budget::of(steps, monitor);
    let listed = ListedLinks::new(edges, &least, monitor)?;
    let mut forced_by: Option<ForcingCycle> = None;
    let found = search(edges.clocks(), &listed, &mut budget, &mut |cycle| {
        forced_by = Some(ForcingCycle::new(cycle, &listed.places));
    })?;
    let offsets = match &found.solved {
        Some((graph, least)) => {
            let clocks = edges.clocks();
            listed.offsets(clocks, graph, least, found.slope, &mut budget)?
        }
        None => Vec::new(),
    };
    Ok(Gentlest {
        distortion: forced_by.as_ref().map_or(0.0, ForcingCycle::ratio),
        forced_by,
        complete: found.complete,
        offsets,
    })
}

/// Per route: the links that matter at a slope, by time.
type Routed = Vec<(ClockId, ClockId, Vec<Dependency>)>;

/// The result of a search.
pub(super) struct SearchResult {
    /// True if it ended by itself.
    pub(super) complete: bool,
    slope: Slope,
    /// The constraints at that slope and their least solution, if there is one.
    solved: Option<(Graph, Vec<i128>)>,
}

/// Newton's method; `forced` gets to know each cycle that forces a larger slope.
pub(super) fn search(
    clocks: usize,
    listed: &ListedLinks,
    budget: &mut Budget<'_>,
    forced: &mut dyn FnMut(&PositiveCycle),
) -> Result<SearchResult, Cancelled> {
    let monitor = budget.monitor();
    let mut slope = Slope { rise: 0, run: 1 };
    let ended = |complete, slope, solved| {
        Ok(SearchResult {
            complete,
            slope,
            solved,
        })
    };
    // Each cycle has a larger ratio than the one before.
    loop {
        monitor.check()?;
        let graph = graph(clocks, &listed.at(slope, monitor)?, slope, monitor)?;
        let cycles = match graph.solve(None, budget)? {
            SolvedGraph::Cycles(cycles) => cycles,
            SolvedGraph::Stopped(_) => return ended(false, slope, None),
            SolvedGraph::Least(least) => return ended(true, slope, Some((graph, least))),
        };
        let Some(worst) = worst(&cycles, slope) else {
            return ended(false, slope, None);
        };
        forced(worst);
        match fraction(worst.bound(), worst.width()) {
            Some(next) if !budget.is_used_up() => slope = next,
            next => return ended(next.is_none(), slope, None),
        }
    }
}

/// The constraints that matter at a slope.
fn graph(
    clocks: usize,
    links: &Routed,
    slope: Slope,
    monitor: &dyn Monitor,
) -> Result<Graph, Cancelled> {
    let bounds = links.iter().flat_map(|&(from, to, ref links)| {
        let links = links.iter();
        links.map(move |link| Bound::new(*link, (from, 0), (to, 0)))
    });
    Graph::new(clocks, bounds, None, slope, monitor)
}

/// The cycle of the largest ratio, if that is larger than `slope`.
fn worst(cycles: &[PositiveCycle], slope: Slope) -> Option<&PositiveCycle> {
    let mut worst: Option<&PositiveCycle> = None;
    let mut most = slope;
    for cycle in cycles {
        let (bound, width) = (cycle.bound(), cycle.width());
        if bound.saturating_mul(most.run) > most.rise.saturating_mul(width) {
            worst = Some(cycle);
            match fraction(bound, width) {
                Some(ratio) => most = ratio,
                None => return worst,
            }
        }
    }
    worst
}

/// In lowest terms; larger numbers than can be computed with are rounded, and up:
/// else the same cycle would be found again and again.
fn fraction(rise: i128, run: i128) -> Option<Slope> {
    let (mut a, mut b) = (rise, run);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    let divisor = a.max(1);
    let (mut rise, mut run) = (rise / divisor, run / divisor);
    while rise > LARGEST || run > LARGEST {
        (rise, run) = (rise / 2 + rise % 2, run / 2);
    }
    (run > 0).then_some(Slope { rise, run })
}

/// The dependencies of a list.
pub(super) struct ListedLinks {
    places: Places,
    /// Per route: its links, sorted by time.
    links: Routed,
}

impl ListedLinks {
    pub(super) fn new(
        edges: &Edges,
        least: LeastDelay<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let places = Places::new(edges, monitor)?;
        let place = |edge: &Edge| {
            (
                places.of(edge.from, edge.sent, edge.cause),
                places.of(edge.to, edge.received, edge.effect),
            )
        };
        let links = all_links(edges, &place, least, monitor)?;
        Ok(Self { places, links })
    }

    /// The dependencies that matter at a slope.
    fn at(&self, slope: Slope, monitor: &dyn Monitor) -> Result<Routed, Cancelled> {
        let of_route = |(from, to, links): &(ClockId, ClockId, Vec<Dependency>)| {
            monitor.check()?;
            Ok((*from, *to, maximal(links, slope)))
        };
        parallel::try_map(&self.links, of_route)
    }

    /// The middle between the least and the greatest solution.
    fn offsets(
        &self,
        clocks: usize,
        graph: &Graph,
        least: &[i128],
        slope: Slope,
        budget: &mut Budget<'_>,
    ) -> Result<Vec<Option<Offset>>, Cancelled> {
        let (low, high) = extremes(graph, least, budget)?;
        let ticks = |value: i128| value as f64 / slope.run as f64;
        let eps = slope.rise as f64 / slope.run as f64;
        let offset = |clock: u32| {
            let clock = ClockId(clock);
            let side = |values: &[i128], side: f64| {
                let moment = |node: usize| (0, graph.moment(node).2, ticks(values[node]));
                let moments: Vec<_> = graph.nodes(clock).map(moment).collect();
                Envelope::new(&moments, &[], side, eps)
            };
            let (low, high) = (side(&low, -1.0), side(&high, 1.0));
            let mut places: Vec<i64> = low.knots.iter().chain(&high.knots).map(|it| it.0).collect();
            places.sort_unstable();
            places.dedup();
            let middle = |&place: &i64| {
                let middle = f64::midpoint(low.at(place), high.at(place));
                (self.places.stamp(clock, place), middle)
            };
            (!places.is_empty()).then(|| Offset::through(places.iter().map(middle).collect()))
        };
        Ok((0..clocks as u32).map(offset).collect())
    }
}

/// All dependencies of a list by route, sorted by time; `place` tells where cause and effect
/// stand.
fn all_links(
    edges: &Edges,
    place: &(dyn Fn(&Edge) -> (i64, i64) + Sync),
    least: LeastDelay<'_>,
    monitor: &dyn Monitor,
) -> Result<Routed, Cancelled> {
    let link = |&position: &EdgeIndex| {
        let edge = edges.get(position)?;
        let (at_from, at_to) = place(edge);
        Some(Dependency {
            at_from,
            at_to,
            bound: least(edge).saturating_sub(edge.latency()),
            edge: position,
        })
    };
    parallel::try_map(&routes(edges), |route| {
        let mut pace = Pace::of(monitor);
        let mut links: Vec<Dependency> = Vec::with_capacity(route.edges.len());
        for edge in &route.edges {
            pace.event()?;
            links.extend(link(edge));
        }
        sort_by_key(&mut links, Dependency::time, monitor)?;
        Ok((route.from, route.to, links))
    })
}

/// Least and greatest solution, relative to the first node; where that does
/// not bound all others, those nearest to leaving all clocks alone.
fn extremes(
    graph: &Graph,
    least: &[i128],
    budget: &mut Budget<'_>,
) -> Result<(Vec<i128>, Vec<i128>), Cancelled> {
    let reversed = graph.reversed(budget.monitor())?;
    let mut solve = |source: Option<usize>| {
        let (low, high) = budget.both(
            |budget| graph.solve(source, budget),
            |budget| reversed.solve(source, budget),
        );
        let (SolvedGraph::Least(low), SolvedGraph::Least(mut high)) = (low?, high?) else {
            return Ok(None);
        };
        let bounded = !low.contains(&UNBOUNDED) && !high.contains(&UNBOUNDED);
        for value in &mut high {
            *value = value.saturating_neg();
        }
        Ok(bounded.then_some((low, high)))
    };
    let found = match least {
        [] => None,
        _ => solve(Some(0))?,
    };
    let found = match found {
        None => solve(None)?,
        some => some,
    };
    Ok(found.unwrap_or_else(|| (least.to_vec(), least.to_vec())))
}
