//! Dependencies by ordered pair of clocks, as bounds on what their clocks add.
//!
//! How fast what is added to a clock may change is an exact fraction.
//!
//! With `y` for what has to be added to a clock, a dependency says
//! `y(to, at_to) - y(from, at_from) >= bound`.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use retime_causality::edges::{Edge, EdgeIndex, Edges};
use retime_model::{ClockId, packed, packed_fields};

/// The minimal delay of a dependency, in ticks.
pub(super) type LeastDelay<'a> = &'a (dyn Fn(&Edge) -> i64 + Sync);

/// One dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Dependency {
    /// Where on the clock of the cause.
    pub(super) at_from: i64,
    /// Where on the clock of the effect.
    pub(super) at_to: i64,
    /// In a unit that the user of the links chooses.
    pub(super) bound: i64,
    /// Position in [`Edges::all`].
    pub(super) edge: EdgeIndex,
}

packed_fields!(Dependency {
    at_from: i64,
    at_to: i64,
    bound: i64,
    edge: EdgeIndex,
});

impl Dependency {
    /// The key that links of a route are sorted by. No two events of a clock share a place, so only
    /// what is listed twice is equal in it.
    pub(super) fn time(&self) -> (i64, i64) {
        (self.at_from.saturating_add(self.at_to), self.at_from)
    }
}

/// A moment of a clock. Pieces are the parts of a clock between its steps;
/// nothing is known from one about another.
pub(super) type Moment = (ClockId, u32, i64);

/// The bound of a link, with its moments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    pub(super) from: Moment,
    pub(super) to: Moment,
    /// The amount by which the value grows at least, in the unit of the link.
    pub(super) least: i64,
    /// Position of the dependency.
    pub(super) edge: EdgeIndex,
}

impl Bound {
    /// The bound of a link between these clocks and pieces.
    pub(super) fn new(link: Dependency, from: (ClockId, u32), to: (ClockId, u32)) -> Self {
        Self {
            from: (from.0, from.1, link.at_from),
            to: (to.0, to.1, link.at_to),
            least: link.bound,
            edge: link.edge,
        }
    }
}

/// Links that are kept of those from a piece of one clock to a piece of another.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) from: (ClockId, u32),
    pub(super) to: (ClockId, u32),
    #[serde(with = "packed")]
    pub(super) links: Vec<Dependency>,
}

impl Kept {
    /// Their bounds.
    pub(super) fn bounds(&self) -> impl Iterator<Item = Bound> + Clone {
        let links = self.links.iter();
        links.map(|link| Bound::new(*link, self.from, self.to))
    }
}

/// All dependencies from one clock to another, as positions in [`Edges::all`].
#[derive(Clone, Debug)]
pub(super) struct Route {
    pub(super) from: ClockId,
    pub(super) to: ClockId,
    pub(super) edges: Vec<EdgeIndex>,
}

/// The routes of a trace, by their clocks.
pub(super) fn routes(edges: &Edges) -> Vec<Route> {
    let mut number: FxHashMap<(ClockId, ClockId), u32> = FxHashMap::default();
    let mut routes: Vec<Route> = Vec::new();
    let mut counts: Vec<usize> = Vec::new();
    // Neighbours in the list mostly take the same route.
    let mut last = None;
    let mut route_of = |key: (ClockId, ClockId), routes: &mut Vec<Route>| {
        if let Some((known, at)) = last
            && known == key
        {
            return at;
        }
        let at = *number.entry(key).or_insert_with(|| {
            let (from, to) = key;
            routes.push(Route {
                from,
                to,
                edges: Vec::new(),
            });
            routes.len() as u32 - 1
        });
        last = Some((key, at));
        at
    };
    for edge in edges.all() {
        let at = route_of((edge.from, edge.to), &mut routes) as usize;
        counts.resize(routes.len(), 0);
        counts[at] += 1;
    }
    for (route, count) in routes.iter_mut().zip(counts) {
        route.edges.reserve_exact(count);
    }
    for (edge, position) in edges.all().iter().zip((0..).map(EdgeIndex)) {
        let at = route_of((edge.from, edge.to), &mut routes) as usize;
        routes[at].edges.push(position);
    }
    let known = |clock: ClockId| clock.as_usize() < edges.clocks();
    routes.retain(|it| it.from != it.to && known(it.from) && known(it.to));
    routes.sort_by_key(|route| (route.from, route.to));
    routes
}

/// A value changes by at most `rise / run` units of a [bound](super::link::Dependency)
/// per tick. Sums along paths are kept in units of `1 / run`, so that nothing
/// is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slope {
    pub(super) rise: i128,
    pub(super) run: i128,
}

impl Slope {
    /// A bound in units of `1 / run`.
    #[inline]
    pub(super) fn scaled(self, bound: i64) -> i128 {
        product(i128::from(bound), self.run)
    }

    /// The most by which values this far apart differ.
    #[inline]
    pub(super) fn over(self, distance: i128) -> i128 {
        product(distance, self.rise)
    }
}

/// The product, or the nearest number that there is to it.
#[inline]
fn product(a: i128, b: i128) -> i128 {
    // Wide products take several times as long, and few are needed.
    match (i64::try_from(a), i64::try_from(b)) {
        (Ok(a), Ok(b)) => i128::from(a) * i128::from(b),
        _ => a.saturating_mul(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_exact_or_the_nearest_that_fit() {
        let all = [
            0,
            1,
            -7,
            1 << 32,
            i64::MAX.into(),
            i64::MIN.into(),
            1 << 64,
            1 << 100,
        ];
        for a in all {
            for b in all {
                assert_eq!(product(a, b), a.saturating_mul(b));
            }
        }
    }
}
