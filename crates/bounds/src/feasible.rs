//! Bounds where nothing contradicts: one walk over the dependencies.
//!
//! Whether facts contradict each other is a question of its own, and takes a list of
//! all dependencies and a [scan](super::screen) of each pair of clocks. Mostly
//! there is no need to ask: if the graph of all facts has a solution, no cycle of them is a
//! contradiction, and none has to be left out. The graph needs only the dependencies that
//! [matter](super::cone) of each route, which one walk finds, part by part. Where it has no
//! solution, the scan looks for what has to be left out.
//!
//! A dependency of a part that another one covers is covered in the whole, so of what parts
//! keep, what [no other covers](maximal) is the same however they are cut.

use super::cone::{Highest, maximal};
use super::facts::Facts;
use super::line::OffsetLine;
use super::link::{Dependency, Kept, Slope};
use rayon::prelude::*;
use retime_causality::edges::{Edge, EdgeIndex, Source, each_part_watched};
use retime_model::{Cancelled, ClockId, Monitor};
use rustc_hash::FxHashMap;

/// The dependencies that matter, by route.
pub(super) fn kept(
    source: &dyn Source,
    facts: &Facts<'_>,
    monitor: &dyn Monitor,
) -> Result<Vec<Kept>, Cancelled> {
    let parts = each_part_watched(source, monitor, |part| {
        let mut open = OpenPart::new(facts);
        source.walk(part, &mut |edge| open.add(&edge));
        open.finish()
    })?;
    Ok(joined(parts.into_iter().flatten().collect(), facts.slope))
}

/// The links of each route that no other links of it imply, by route.
fn joined(mut routes: Vec<Kept>, slope: Slope) -> Vec<Kept> {
    routes.sort_by_key(|it| (it.from, it.to));
    let join = |same: &[Kept]| {
        if let [Kept { from, to, links }] = same
            && let [link] = links[..]
        {
            let (from, to, links) = (*from, *to, vec![link]);
            return Kept { from, to, links };
        }
        let mut links: Vec<Dependency> = same.iter().flat_map(|it| &it.links).copied().collect();
        links.sort_unstable_by_key(|it| (it.time(), it.bound));
        Kept {
            from: same[0].from,
            to: same[0].to,
            links: maximal(&links, slope),
        }
    };
    let same = |a: &Kept, b: &Kept| (a.from, a.to) == (b.from, b.to);
    routes.par_chunk_by(same).map(join).collect()
}

type Clocks = (ClockId, ClockId);

/// A part under way.
struct OpenPart<'a, 'b> {
    facts: &'a Facts<'b>,
    number: FxHashMap<Clocks, u32>,
    routes: Vec<OpenRoute>,
}

/// A route under way.
struct OpenRoute {
    route: Clocks,
    from: OffsetLine,
    to: OffsetLine,
    highest: Highest,
    links: Vec<Dependency>,
}

impl<'a, 'b> OpenPart<'a, 'b> {
    fn new(facts: &'a Facts<'b>) -> Self {
        Self {
            facts,
            number: FxHashMap::default(),
            routes: Vec::new(),
        }
    }

    #[inline]
    fn add(&mut self, edge: &Edge) {
        let route = (edge.from, edge.to);
        // Nearly all are known, and an entry takes twice as long.
        let number = match self.number.get(&route) {
            Some(number) => *number,
            None => self.open(route),
        };
        let Some(ahead) = self.routes.get_mut(number as usize) else {
            return;
        };
        let link = Dependency {
            at_from: self.facts.place(edge.from, edge.sent),
            at_to: self.facts.place(edge.to, edge.received),
            bound: self.facts.bound(edge, &ahead.from, &ahead.to),
            edge: EdgeIndex(0),
        };
        if ahead.highest.rises(&link) {
            ahead.links.push(link);
        }
    }

    /// The number of a route that was not met before.
    #[cold]
    fn open(&mut self, route: Clocks) -> u32 {
        let next = self.routes.len() as u32;
        let number = match OpenRoute::new(route, self.facts) {
            Some(ahead) => {
                self.routes.push(ahead);
                next
            }
            None => u32::MAX,
        };
        self.number.insert(route, number);
        number
    }

    /// The links that are kept.
    fn finish(self) -> Vec<Kept> {
        let facts = self.facts;
        let behind = |ahead: OpenRoute| {
            let mut links = ahead.links;
            links.reverse();
            let mut highest = Highest::backwards(facts.slope);
            links.retain(|link| highest.rises(link));
            let (from, to) = ahead.route;
            Kept {
                from: (from, 0),
                to: (to, 0),
                links,
            }
        };
        self.routes.into_iter().map(behind).collect()
    }
}

impl OpenRoute {
    /// `None` where nothing is known of a clock.
    fn new(route: Clocks, facts: &Facts<'_>) -> Option<Self> {
        let (from, to) = (facts.line(route.0)?, facts.line(route.1)?);
        Some(Self {
            route,
            from: *from,
            to: *to,
            highest: Highest::forwards(facts.slope),
            links: Vec::new(),
        })
    }
}
