//! By how much a correction has to change local intervals at least, and which events say so.
//!
//! That is what the [gentlest](super::gentlest) correction does, without the correction: its
//! search alone. It looks at the dependencies only through those that matter at a slope, which
//! are few, so of a trace that several processes [share](crate::Share) each keeps its own
//! dependencies. The first process searches, and asks the others at each slope:
//!
//! ```text
//!  process 0     search: ask(slope) -> what matters of what they answer -> cycle -> next slope
//!  process 1, 2  asked <- slope: what matters of their own -> process 0
//! ```
//!
//! What matters of all is what matters of the answers ([`maximal`]), so the search is the same
//! for any number of processes.
//!
//! Where on its clock an event [stands](Places) is told by the process that holds the clock,
//! since it depends on all events there that have dependencies, whoever has listed these.

use std::cell::RefCell;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::cone::maximal;
use super::gentlest::{Listed, Routed, all_links, matter, ratio, search};
use super::graph::{Budget, Cycle, Part};
use super::link::{Link, Slope};
use super::place::Places;
use crate::causality::Place;
use crate::edges::{Edge, EdgeIndex, Edges, Source};
use retime_model::{Cancelled, ClockId, Monitor, Ticks};

/// The least possible distortion, and what forces it.
#[derive(Clone, Debug, PartialEq)]
pub struct LeastDistortion {
    /// The largest relative change of a local interval that cannot be avoided. Infinite where
    /// dependencies contradict each other by themselves.
    pub distortion: f64,
    /// The dependencies of the cycle that forces it; none if nothing has to change, or nothing
    /// is known yet.
    pub forced_by: Vec<Forcing>,
    /// Ticks by which the stamps of that cycle contradict its dependencies.
    pub needed: i128,
    /// Ticks of local intervals over which that can be spread.
    pub width: i128,
    /// Whether it was found; otherwise the steps were used up, and `distortion` is a lower
    /// bound.
    pub complete: bool,
}

/// A dependency that forces a correction to change intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forcing {
    /// Its cause.
    pub cause: Place,
    /// Its effect.
    pub effect: Place,
    /// By how much the clock of the effect has to be set forward against that of the cause.
    pub needed: Ticks,
}

/// Finds it; `least` is the minimal delay of a dependency in ticks. The search ends when it
/// has looked at nodes and arcs of its graphs `steps` times. Of several processes the first
/// gets to know it, the others nothing. It fails only if `monitor` says to give up, or
/// processes do not work together any more.
pub(crate) fn least_distortion(
    source: &impl Source,
    least: impl Fn(&Edge) -> i64 + Sync,
    steps: u64,
    monitor: &dyn Monitor,
) -> Result<Option<LeastDistortion>, Cancelled> {
    let budget = Budget::of(steps, monitor);
    let share = source.share();
    if share.is_whole() {
        let edges = source.list(monitor)?;
        let listed = Listed::new(&edges, least, monitor)?;
        let places = |edge: EdgeIndex| source.places(edges.get(edge)?);
        let at = |slope| listed.at(slope, monitor);
        return found(source.clocks(), at, places, budget).map(Some);
    }
    let own = Own::new(source, least, monitor)?;
    if !share.is_first() {
        while let Some(slope) = share.asked::<Option<(i128, i128)>>()? {
            own.tell_first(source, slope_of(slope), monitor)?;
        }
        return Ok(None);
    }
    // What was told at the last slope, for the cycle that is found in it.
    let told = RefCell::new(Vec::new());
    let at = |slope: Slope| {
        share.ask(Some((slope.rise, slope.run)));
        let all = own.tell_first(source, slope, monitor)?;
        let routed = routed(&all, slope);
        told.replace(all);
        Ok(routed)
    };
    let places = |edge: EdgeIndex| {
        let told = told.borrow();
        told.get(edge.index())
            .map(|it: &Told| (it.cause, it.effect))
    };
    let found = found(source.clocks(), at, places, budget)?;
    share.ask(None::<(i128, i128)>);
    share.check()?;
    Ok(Some(found))
}

fn slope_of((rise, run): (i128, i128)) -> Slope {
    Slope { rise, run }
}

/// Searches, given what matters at a slope, and where the events of that are.
fn found(
    clocks: usize,
    at: impl FnMut(Slope) -> Result<Routed, Cancelled>,
    places: impl Fn(EdgeIndex) -> Option<(Place, Place)>,
    mut budget: Budget<'_>,
) -> Result<LeastDistortion, Cancelled> {
    let forcing = |part: &Part| match *part {
        Part::Stretch { .. } => None,
        Part::Link { edge, bound, .. } => {
            let (cause, effect) = places(edge)?;
            Some(Forcing {
                cause,
                effect,
                needed: Ticks(bound),
            })
        }
    };
    let mut least = LeastDistortion {
        distortion: 0.0,
        forced_by: Vec::new(),
        needed: 0,
        width: 0,
        complete: false,
    };
    let found = search(clocks, at, &mut budget, |cycle: &Cycle| {
        (least.needed, least.width) = (cycle.bound(), cycle.width());
        least.distortion = ratio(least.needed, least.width);
        least.forced_by = cycle.parts.iter().filter_map(forcing).collect();
    })?;
    least.complete = found.complete;
    Ok(least)
}

/// A dependency that matters, as it is told to the first process.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Told {
    from: ClockId,
    to: ClockId,
    at_from: i64,
    at_to: i64,
    bound: i64,
    cause: Place,
    effect: Place,
}

/// What matters at a slope of what all have told, by route; links are numbered by place in
/// `all`, which is sorted by them.
fn routed(all: &[Told], slope: Slope) -> Routed {
    let numbered: Vec<(u32, &Told)> = (0..).zip(all).collect();
    let routes = numbered.chunk_by(|a, b| (a.1.from, a.1.to) == (b.1.from, b.1.to));
    let of_route = |route: &[(u32, &Told)]| {
        let link = |&(number, it): &(u32, &Told)| Link {
            at_from: it.at_from,
            at_to: it.at_to,
            bound: it.bound,
            edge: EdgeIndex(number),
        };
        let links: Vec<Link> = route.iter().map(link).collect();
        let (_, first) = route[0];
        (first.from, first.to, maximal(&links, slope))
    };
    routes.map(of_route).collect()
}

/// The dependencies that one of several processes has listed.
struct Own {
    edges: Edges,
    /// By route, sorted by time.
    links: Routed,
}

impl Own {
    fn new<S: Source>(
        source: &S,
        least: impl Fn(&Edge) -> i64 + Sync,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let edges = Edges::own(source, monitor)?;
        let stands = Stands::new(source, &edges, monitor)?;
        let place = |edge: &Edge| {
            let events = source.places(edge);
            events.map_or((edge.sent, edge.received), |(cause, effect)| {
                (
                    stands.of((edge.from, edge.sent, cause)),
                    stands.of((edge.to, edge.received, effect)),
                )
            })
        };
        let links = all_links(&edges, place, least, monitor)?;
        Ok(Self { edges, links })
    }

    /// Tells the first process what of it matters. The first hears that of all, by route and
    /// time.
    fn tell_first(
        &self,
        source: &impl Source,
        slope: Slope,
        monitor: &dyn Monitor,
    ) -> Result<Vec<Told>, Cancelled> {
        let own = matter(&self.links, slope, monitor)?;
        let told = |(from, to, links): (ClockId, ClockId, Vec<Link>)| {
            links.into_iter().filter_map(move |link| {
                let (cause, effect) = source.places(self.edges.get(link.edge)?)?;
                Some(Told {
                    from,
                    to,
                    at_from: link.at_from,
                    at_to: link.at_to,
                    bound: link.bound,
                    cause,
                    effect,
                })
            })
        };
        let to_first: Vec<Told> = own.into_iter().flat_map(told).collect();
        let mut all = source.share().exchanged(vec![to_first]).concat();
        source.share().check()?;
        all.sort_by_key(|it| {
            let along = it.at_from.saturating_add(it.at_to);
            (it.from, it.to, along, it.at_from)
        });
        Ok(all)
    }
}

/// An event as any process names it: its clock, stamp and place.
type Named = (ClockId, i64, Place);

/// Where on their clocks the events of own dependencies stand.
struct Stands {
    /// Of the clocks that this process holds.
    own: Places<Place>,
    /// On the clocks of others, as those say.
    others: FxHashMap<Place, i64>,
}

impl Stands {
    fn new(source: &impl Source, edges: &Edges, monitor: &dyn Monitor) -> Result<Self, Cancelled> {
        let (rank, size) = source.share().place();
        let mut asked: Vec<Vec<Named>> = vec![Vec::new(); size];
        let mut events: Vec<Vec<(i64, Place)>> = vec![Vec::new(); edges.clocks()];
        let holders = (0..edges.clocks() as u32).map(|it| source.holder(ClockId(it)));
        let holders: Vec<usize> = holders.collect();
        for edge in edges.all() {
            let Some((cause, effect)) = source.places(edge) else {
                continue;
            };
            let ends = [
                (edge.from, edge.sent, cause),
                (edge.to, edge.received, effect),
            ];
            for (clock, stamp, place) in ends {
                match holders[clock.as_usize()] {
                    holder if holder == rank => events[clock.as_usize()].push((stamp, place)),
                    holder => asked[holder].push((clock, stamp, place)),
                }
            }
        }
        for of in &mut asked {
            monitor.check()?;
            of.sort_unstable();
            of.dedup();
        }
        let named: Vec<Place> = asked.iter().flatten().map(|it| it.2).collect();
        let questions = source.share().exchanged(asked);
        for &(clock, stamp, place) in questions.iter().flatten() {
            if let Some(of) = events.get_mut(clock.as_usize()) {
                of.push((stamp, place));
            }
        }
        let own = Places::of_events(events, monitor)?;
        let stand = |&(clock, stamp, place): &Named| own.of(clock, stamp, place);
        let answers = questions.iter().map(|it| it.iter().map(stand).collect());
        let answers = source.share().exchanged_columns(answers.collect());
        source.share().check()?;
        let others = named.into_iter().zip(answers.into_iter().flatten());
        Ok(Self {
            others: others.collect(),
            own,
        })
    }

    fn of(&self, (clock, stamp, place): Named) -> i64 {
        let other = self.others.get(&place).copied();
        other.unwrap_or_else(|| self.own.of(clock, stamp, place))
    }
}
