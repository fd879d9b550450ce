//! Dependencies by who depends on whom.
//!
//! Everything the alignment reads from a trace is a minimum over the
//! dependencies from one clock to another, over all of them or over a stretch of
//! time. So they are listed once by ordered pair of clocks, as positions: four
//! bytes each.

use rustc_hash::FxHashMap;

use crate::edges::{Edge, Edges};

/// The dependencies from one clock to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    first: usize,
    end: usize,
}

/// The dependencies of a trace by [`Link`].
#[derive(Clone, Debug, Default)]
pub(super) struct Links<'a> {
    edges: &'a [Edge],
    clocks: usize,
    list: Vec<Link>,
    /// Positions of edges, those of a link together and in their order.
    order: Vec<u32>,
}

impl<'a> Links<'a> {
    /// Of dependencies that pass `keep`, which is asked with the position.
    pub(super) fn new(edges: &'a Edges, keep: impl Fn(usize, &Edge) -> bool) -> Self {
        let all = edges.all();
        let clocks = edges.clocks();
        let usable = |at: usize| {
            let edge = &all[at];
            let known = edge.from.as_usize() < clocks && edge.to.as_usize() < clocks;
            known && edge.from != edge.to && keep(at, edge)
        };
        let mut counts: FxHashMap<(u32, u32), usize> = FxHashMap::default();
        let kept = || (0..all.len().min(u32::MAX as usize)).filter(|&at| usable(at));
        for at in kept() {
            *counts.entry((all[at].from.0, all[at].to.0)).or_default() += 1;
        }
        let mut keys: Vec<_> = counts.iter().map(|(&key, &count)| (key, count)).collect();
        keys.sort_unstable();
        let mut list = Vec::with_capacity(keys.len());
        let mut end = 0;
        for ((from, to), count) in keys {
            let (from, to) = (from as usize, to as usize);
            let first = end;
            end += count;
            list.push(Link {
                from,
                to,
                first,
                end,
            });
            counts.insert((from as u32, to as u32), first);
        }
        let mut order = vec![0; end];
        for at in kept() {
            if let Some(next) = counts.get_mut(&(all[at].from.0, all[at].to.0)) {
                order[*next] = at as u32;
                *next += 1;
            }
        }
        Self {
            edges: all,
            clocks,
            list,
            order,
        }
    }

    /// All pairs of clocks with a dependency, ordered by their numbers.
    pub(super) fn list(&self) -> &[Link] {
        &self.list
    }

    /// How many clocks the trace has.
    pub(super) fn clocks(&self) -> usize {
        self.clocks
    }

    /// How many dependencies there are.
    pub(super) fn len(&self) -> usize {
        self.list.iter().map(|link| link.end - link.first).sum()
    }

    /// Positions of the dependencies of a link.
    pub(super) fn positions(&self, link: &Link) -> &[u32] {
        &self.order[link.first..link.end]
    }

    /// The dependencies of a link, with their positions.
    pub(super) fn of(&self, link: &Link) -> impl Iterator<Item = (u32, &'a Edge)> + '_ {
        let positions = self.positions(link).iter();
        positions.map(|&at| (at, &self.edges[at as usize]))
    }

    /// The dependency at a position.
    pub(super) fn edge(&self, at: u32) -> &'a Edge {
        &self.edges[at as usize]
    }

    /// The link the other way.
    pub(super) fn opposite(&self, link: &Link) -> Option<&Link> {
        self.opposite_index(link).map(|at| &self.list[at])
    }

    /// Its place in the list.
    pub(super) fn opposite_index(&self, link: &Link) -> Option<usize> {
        let key = (link.to, link.from);
        let found = self.list.binary_search_by_key(&key, |it| (it.from, it.to));
        found.ok()
    }

    /// Those of links that pass.
    pub(super) fn among(&self, keep: impl Fn(&Link) -> bool) -> Self {
        let list = self
            .list
            .iter()
            .copied()
            .filter(|link| keep(link))
            .collect();
        Self {
            list,
            ..self.clone()
        }
    }

    /// The dependencies that pass, and the rest.
    pub(super) fn split(&self, first_half: impl Fn(&Edge) -> bool) -> (Self, Self) {
        let half = |wanted: bool| {
            let mut order = Vec::with_capacity(self.order.len() / 2 + self.list.len());
            let mut list = Vec::with_capacity(self.list.len());
            for link in &self.list {
                let first = order.len();
                let all = self.of(link);
                order.extend(
                    all.filter(|(_, edge)| first_half(edge) == wanted)
                        .map(|it| it.0),
                );
                let end = order.len();
                list.push(Link {
                    first,
                    end,
                    ..*link
                });
            }
            list.retain(|link| link.first < link.end);
            Self {
                list,
                order,
                ..*self
            }
        };
        (half(true), half(false))
    }

    /// Leaves out dependencies at these positions, given in rising order.
    pub(super) fn without(mut self, left_out: &[u32]) -> Self {
        let mut kept = 0;
        for link in &mut self.list {
            let first = kept;
            for place in link.first..link.end {
                let at = self.order[place];
                if left_out.binary_search(&at).is_err() {
                    self.order[kept] = at;
                    kept += 1;
                }
            }
            (link.first, link.end) = (first, kept);
        }
        self.order.truncate(kept);
        self.list.retain(|link| link.first < link.end);
        self
    }
}
