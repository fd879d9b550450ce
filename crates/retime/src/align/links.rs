//! Dependencies by who depends on whom.
//!
//! Everything the alignment reads from a trace is a minimum over the
//! dependencies from one clock to another, over all of them or over a stretch of
//! time. So they are listed once by ordered pair of clocks, as positions: four
//! bytes each.

use std::borrow::Cow;

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
    order: Cow<'a, [u32]>,
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
            order: order.into(),
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

    /// Positions of all dependencies, by link.
    pub(super) fn order(&self) -> &[u32] {
        &self.order
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
    pub(super) fn among(&self, keep: impl Fn(&Link) -> bool) -> Links<'_> {
        if self.list.iter().all(&keep) {
            return Links {
                list: self.list.clone(),
                order: Cow::Borrowed(&self.order),
                ..*self
            };
        }
        let none: &[u32] = &[];
        self.picked(|link| {
            let kept = if keep(link) {
                self.positions(link)
            } else {
                none
            };
            kept.iter().copied()
        })
    }

    /// The dependencies that pass, and the rest.
    pub(super) fn split(&self, first_half: impl Fn(&Edge) -> bool + Copy) -> (Self, Self) {
        let half = |wanted: bool| {
            let picked = move |at: &u32| first_half(self.edge(*at)) == wanted;
            self.picked(|link| self.positions(link).iter().copied().filter(picked))
        };
        (half(true), half(false))
    }

    /// Of each link the dependencies at some of its positions.
    fn picked<I: Iterator<Item = u32>>(&self, of: impl Fn(&Link) -> I) -> Self {
        let mut order = Vec::with_capacity(self.len());
        let mut list = Vec::with_capacity(self.list.len());
        for link in &self.list {
            let first = order.len();
            order.extend(of(link));
            let end = order.len();
            list.push(Link {
                first,
                end,
                ..*link
            });
        }
        order.shrink_to_fit();
        list.retain(|link| link.first < link.end);
        Self {
            list,
            order: order.into(),
            ..*self
        }
    }

    /// Leaves out dependencies at these positions, given in rising order.
    pub(super) fn without(mut self, left_out: &[u32]) -> Self {
        let mut kept = 0;
        let order = self.order.to_mut();
        for link in &mut self.list {
            let first = kept;
            for place in link.first..link.end {
                let at = order[place];
                if left_out.binary_search(&at).is_err() {
                    order[kept] = at;
                    kept += 1;
                }
            }
            (link.first, link.end) = (first, kept);
        }
        order.truncate(kept);
        self.list.retain(|link| link.first < link.end);
        self
    }
}
