//! Dependencies by the pair of clocks that they connect.
//!
//! Everything the alignment reads from a trace is a minimum over the
//! dependencies from one clock to another, over all of them or over a stretch of
//! time. So they are listed by ordered pair of clocks, those of a pair together:
//! either all of them or the [few that can be the tightest](super::reduced). How
//! many there are in truth is known all the same.

use super::reduced::{Cell, LinkPoint, Reduced};
use retime_numerics::parallel;

/// The dependencies from one clock to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    /// How many there are, listed or not.
    pub(super) count: usize,
    /// Its stretches,
    cells: (usize, usize),
    /// and its points.
    first: usize,
    end: usize,
}

/// A stretch of time of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LinkStretch {
    window: u32,
    count: u32,
    end: usize,
}

/// The place of a link that there is not.
const NONE: u32 = u32::MAX;

/// The dependencies of a trace by [`Link`].
#[derive(Clone, Debug, Default)]
pub(super) struct Links {
    clocks: usize,
    windows: usize,
    list: Vec<Link>,
    /// Per link: the place of the one the other way, or [`NONE`].
    opposites: Vec<u32>,
    stretches: Vec<LinkStretch>,
    points: Vec<LinkPoint>,
}

impl Links {
    /// The links of the cells that pass.
    pub(super) fn new(clocks: usize, reduced: &Reduced, keep: impl Fn(&Cell) -> bool) -> Self {
        let mut links = Self {
            clocks,
            windows: reduced.windows(),
            ..Self::default()
        };
        let kept = |(_, cell): &(usize, &Cell)| keep(cell);
        let cells = || reduced.cells().iter().enumerate().filter(kept);
        let points = cells().map(|(at, _)| reduced.of(at).len());
        links.points.reserve_exact(points.sum());
        for (at, cell) in cells() {
            links.add(cell, reduced.of(at));
        }
        // Each pass over the links asks for it, and they are many where all meet in collectives.
        let list = &links.list;
        links.opposites = parallel::numbers(list.len(), |at| {
            let key = (list[at].to, list[at].from);
            let found = list.binary_search_by_key(&key, |it| (it.from, it.to));
            found.map_or(NONE, |it| it as u32)
        });
        links
    }

    /// Adds a stretch of the last link or of a new one.
    fn add(&mut self, cell: &Cell, points: &[LinkPoint]) {
        let (from, to) = (cell.from as usize, cell.to as usize);
        let (stretches, first) = (self.stretches.len(), self.points.len());
        self.points.extend_from_slice(points);
        let end = self.points.len();
        self.stretches.push(LinkStretch {
            window: cell.window,
            count: cell.count,
            end,
        });
        match self.list.last_mut() {
            Some(last) if (last.from, last.to) == (from, to) => {
                last.count += cell.count as usize;
                (last.cells.1, last.end) = (stretches + 1, end);
            }
            _ => self.list.push(Link {
                from,
                to,
                count: cell.count as usize,
                cells: (stretches, stretches + 1),
                first,
                end,
            }),
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

    /// Into how many windows the run is cut.
    pub(super) fn windows(&self) -> usize {
        self.windows
    }

    /// How many dependencies there are, listed or not.
    pub(super) fn count(&self) -> usize {
        self.list.iter().map(|link| link.count).sum()
    }

    /// The dependencies of a link that are listed.
    pub(super) fn of(&self, link: &Link) -> &[LinkPoint] {
        &self.points[link.first..link.end]
    }

    /// The place of the first of them among all.
    pub(super) fn first(link: &Link) -> u32 {
        link.first as u32
    }

    /// The stretches of a link, each with its window, how many dependencies there are in
    /// truth, and those that are listed.
    pub(super) fn stretches(&self, link: &Link) -> impl Iterator<Item = (u32, u32, &[LinkPoint])> {
        let mut first = link.first;
        let stretches = self.stretches[link.cells.0..link.cells.1].iter();
        stretches.map(move |stretch| {
            let points = &self.points[first..stretch.end];
            first = stretch.end;
            (stretch.window, stretch.count, points)
        })
    }

    /// The place in the list of the link the other way, for that at a place.
    pub(super) fn opposite(&self, at: usize) -> Option<usize> {
        let found = self.opposites.get(at).filter(|&&it| it != NONE);
        found.map(|&it| it as usize)
    }

    /// All dependencies of a list.
    #[cfg(test)]
    pub(super) fn of_list(edges: &retime_causality::edges::Edges) -> Self {
        let reduction = super::reduced::Reduction {
            axis: super::axis::Axis::new(edges, vec![0; edges.clocks()]),
            windows: 1,
            layers: usize::MAX,
        };
        let nothing = rustc_hash::FxHashSet::default();
        let reduced = Reduced::new(edges, &reduction, &nothing, &()).unwrap();
        Self::new(edges.clocks(), &reduced, |_| true)
    }
}
