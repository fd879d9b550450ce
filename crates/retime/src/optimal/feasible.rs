//! Bounds where nothing contradicts: one walk over the dependencies.
//!
//! Whether facts contradict each other is a question of its own, and takes a list of
//! all dependencies and a [scan](super::screen) of each pair of clocks. Mostly
//! there is no need to ask: if the estimate that the bounds rest on satisfies all facts
//! itself, they are satisfied by something, so no cycle of them is a contradiction.
//! Then the bounds follow from the dependencies that [matter](super::cone) of each
//! route, which one walk finds, part by part.
//!
//! **Nor would the scan find anything.** Let `z` be what the estimate adds to each
//! clock beyond its line. Required is, with margins,
//!
//! ```text
//! z(to, received) - z(from, sent) >= bound + 1/8 tick              for each dependency
//! |z(t) - z(t')|                  <= drift / 2 |t - t'|            for each clock
//! |slope of each line| <= 1/100,  drift <= 1/20,  no steps
//! ```
//!
//! The scan follows `D`, the difference of two such `z` over the time of the
//! reference, which differs from what a clock shows by less than 1/100 and a rounding:
//! per tick each `z` changes by less than `0.51 drift`. A dependency whose ends are `a`
//! apart bounds `D` at the moment between them by `bound - drift a`, while `D` there is at least
//! `bound + 1/8 - 0.51 drift (a + 3)`, the 3 for roundings; so it is kept. Between
//! dependencies the scan lets `D` change by `drift` per tick and clock, which is
//! more than it does. So by induction `D` lies within the interval that the scan
//! keeps, no dependency contradicts the interval, and nothing is left out.
//!
//! A dependency of a part that another one covers is covered in the whole, so what
//! parts keep can be put together and be pruned again.

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::cone::{Highest, prune};
use super::facts::{Facts, as_bound};
use super::graph::Bound;
use super::line::Line;
use super::link::{Link, Slope};
use crate::edges::{Edge, EdgeIndex, Source, each_part_watched};
use retime_model::{Cancelled, Monitor};
use retime_model::{ClockId, packed};

/// By how many ticks an estimate has to satisfy each dependency.
const MARGIN: f64 = 0.125;
/// The share of the drift bound that an estimate may use.
const SHARE: f64 = 0.5;
/// The largest drift bound,
const DRIFT: f64 = 0.05;
/// and the steepest line, for which the proof holds.
const STEEPEST: f64 = 0.01;

/// By clock the least and the most that an estimate adds beyond its line.
struct Beyond(Vec<Option<(f64, f64)>>);

impl Beyond {
    /// `None` where an estimate strays too far from its lines.
    fn of<F: Fn(&Edge) -> i64 + Sync>(facts: &Facts<'_, F>) -> Option<Self> {
        let drift = facts.drift();
        if drift > DRIFT {
            return None;
        }
        let clocks = (0..facts.clocks() as u32).map(ClockId);
        let of = |clock: ClockId| {
            let Some(line) = facts.line(clock) else {
                return Some(None);
            };
            let (first, last) = facts.extent(clock)?;
            let offset = facts.base().offsets.get(clock.as_usize())?.as_ref()?;
            if line.slope.abs() > STEEPEST || !offset.steps().is_empty() {
                return None;
            }
            let is_reference = clock == facts.reference();
            let inside = offset.knots().iter().map(|knot| knot.0);
            let inside = inside.filter(|&at| at > first && at < last);
            let stamps = std::iter::once(first).chain(inside).chain([last]);
            let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
            let mut before: Option<(i64, f64)> = None;
            for at in stamps {
                let beyond = offset.at(at) - line.at(at);
                let rose =
                    |it: (i64, f64)| (beyond - it.1).abs() <= SHARE * drift * (at - it.0) as f64;
                // The time of the reference is the common one.
                if !before.is_none_or(rose) || (is_reference && beyond != 0.0) {
                    return None;
                }
                (least, most) = (least.min(beyond), most.max(beyond));
                before = Some((at, beyond));
            }
            (least.is_finite() && most.is_finite()).then_some(Some((least, most)))
        };
        clocks.map(of).collect::<Option<Vec<_>>>().map(Self)
    }
}

/// The dependencies that matter, by route; `None` if the estimate does not
/// satisfy all facts with a margin. Of several processes the first two get to know those of
/// all.
pub(super) fn kept<F: Fn(&Edge) -> i64 + Sync>(
    source: &impl Source,
    facts: &Facts<'_, F>,
    monitor: &dyn Monitor,
) -> Result<Option<Vec<Vec<Bound>>>, Cancelled> {
    let Some(beyond) = Beyond::of(facts) else {
        return Ok(None);
    };
    let parts = each_part_watched(source, monitor, |part| {
        let mut open = Open::new(facts, &beyond);
        source.walk(part, |edge| open.add(&edge));
        open.finish()
    })?;
    let parts: Option<Vec<Vec<Route>>> = parts.into_iter().collect();
    let own = parts.map(|parts| joined(parts.into_iter().flatten().collect(), facts.slope));
    let both = |a: Option<Vec<Route>>, b: Option<Vec<Route>>| {
        let (a, b) = a.zip(b)?;
        Some(joined([a, b].concat(), facts.slope))
    };
    let share = source.share();
    let all = share.collected(own, both)?;
    if !share.once(|| Ok(all.is_some()))? {
        return Ok(None);
    }
    let all = share.known_to_second(all).unwrap_or_default();
    let bounds = |route: Route| {
        let (from, to) = route.clocks;
        let links = route.links.into_iter();
        links
            .map(|link| Bound::new(link, (from, 0), (to, 0)))
            .collect()
    };
    Ok(Some(all.into_iter().map(bounds).collect()))
}

/// The links of each route that no other links of it imply, by route.
fn joined(mut routes: Vec<Route>, slope: Slope) -> Vec<Route> {
    routes.sort_by_key(|it| it.clocks);
    let join = |same: &[Route]| {
        let mut links: Vec<Link> = same.iter().flat_map(|it| &it.links).copied().collect();
        links
            .sort_unstable_by_key(|it| (it.at_from.saturating_add(it.at_to), it.bound, it.at_from));
        Route {
            clocks: same[0].clocks,
            links: prune(links.iter(), slope),
        }
    };
    let same = |a: &Route, b: &Route| a.clocks == b.clocks;
    routes.par_chunk_by(same).map(join).collect()
}

type Clocks = (ClockId, ClockId);

/// What is kept of a route.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Route {
    clocks: Clocks,
    #[serde(with = "packed")]
    links: Vec<Link>,
}

/// A part under way.
struct Open<'a, 'b, F> {
    facts: &'a Facts<'b, F>,
    beyond: &'a Beyond,
    number: FxHashMap<Clocks, u32>,
    routes: Vec<Ahead>,
    is_satisfied: bool,
}

/// A route under way.
struct Ahead {
    route: Clocks,
    from: Line,
    to: Line,
    /// By how much the estimate adds at least to the latencies of lines.
    added: f64,
    highest: Highest,
    links: Vec<Link>,
}

impl<'a, 'b, F: Fn(&Edge) -> i64 + Sync> Open<'a, 'b, F> {
    fn new(facts: &'a Facts<'b, F>, beyond: &'a Beyond) -> Self {
        Self {
            facts,
            beyond,
            number: FxHashMap::default(),
            routes: Vec::new(),
            is_satisfied: true,
        }
    }

    #[inline]
    fn add(&mut self, edge: &Edge) {
        let known = self.routes.len() as u32;
        let route = (edge.from, edge.to);
        let number = self.number.entry(route).or_insert(known);
        if *number == known {
            match Ahead::new(route, self.facts, self.beyond) {
                Some(ahead) => self.routes.push(ahead),
                None => *number = u32::MAX,
            }
        }
        let Some(ahead) = self.routes.get_mut(*number as usize) else {
            return;
        };
        let ticks = self.facts.bound_in_ticks(edge, &ahead.from, &ahead.to);
        if ahead.added - ticks < MARGIN {
            self.is_satisfied &= satisfies(self.facts, edge, ahead, ticks);
        }
        let link = Link {
            at_from: self.facts.place(edge.from, edge.sent),
            at_to: self.facts.place(edge.to, edge.received),
            bound: as_bound(ticks),
            edge: EdgeIndex(0),
        };
        if ahead.highest.rises(&link) {
            ahead.links.push(link);
        }
    }

    /// What is kept; `None` if a dependency is not satisfied.
    fn finish(self) -> Option<Vec<Route>> {
        let facts = self.facts;
        let behind = |ahead: Ahead| {
            let mut links = ahead.links;
            links.reverse();
            let mut highest = Highest::backwards(facts.slope);
            links.retain(|link| highest.rises(link));
            Route {
                clocks: ahead.route,
                links,
            }
        };
        self.is_satisfied
            .then(|| self.routes.into_iter().map(behind).collect())
    }
}

impl Ahead {
    /// `None` where nothing is known of a clock.
    fn new<F: Fn(&Edge) -> i64 + Sync>(
        route: Clocks,
        facts: &Facts<'_, F>,
        beyond: &Beyond,
    ) -> Option<Self> {
        let (from, to) = (facts.line(route.0)?, facts.line(route.1)?);
        let beyond = |clock: ClockId| *beyond.0.get(clock.as_usize())?;
        let ((_, most), (least, _)) = (beyond(route.0)?, beyond(route.1)?);
        Some(Self {
            route,
            from: *from,
            to: *to,
            added: least - most,
            highest: Highest::forwards(facts.slope),
            links: Vec::new(),
        })
    }
}

/// Whether an estimate satisfies a dependency, whose bound on lines is `ticks`.
#[cold]
fn satisfies<F: Fn(&Edge) -> i64 + Sync>(
    facts: &Facts<'_, F>,
    edge: &Edge,
    ahead: &Ahead,
    ticks: f64,
) -> bool {
    let base = facts.base();
    let received = base.at(edge.to, edge.received) - ahead.to.at(edge.received);
    let sent = base.at(edge.from, edge.sent) - ahead.from.at(edge.sent);
    received - sent >= ticks + MARGIN
}
