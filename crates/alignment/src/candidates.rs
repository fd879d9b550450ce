//! The dependencies that the alignment looks at, as few as will do.
//!
//! They are [reduced](super::reduced) over windows no longer than the pieces that
//! are being tried, so that clocks are straight inside: at first over as many as
//! the coarse divisions need, and over more only when the search goes on to finer
//! ones. Clocks of constant drift never pay for a thousand windows.

use rustc_hash::FxHashSet;

use super::axis::Axis;
use super::components::components;
use super::division::Finest;
use super::links::Links;
use super::options::OPTIONS;
use super::reduced::{Cell, Counted, Reduced, Reduction, Same, same};
use retime_causality::edges::{Edge, Source};
use retime_model::{Cancelled, Monitor};

/// The dependencies of a source, without those that were left out.
pub(super) struct Candidates<'a> {
    source: &'a dyn Source,
    monitor: &'a dyn Monitor,
    /// For the shifts of clocks and the span of the run.
    axis: Axis,
    /// The number of dependencies of each link, in the order of links.
    counts: Counted,
    component: Vec<usize>,
    left_out: FxHashSet<Same>,
    outliers: Vec<Edge>,
    /// The finest divisions that may be tried.
    finest: Finest,
    reduced: Reduced,
}

impl<'a> Candidates<'a> {
    /// All of a source, by the time of aligned clocks.
    pub(super) fn new(
        source: &'a dyn Source,
        axis: Axis,
        monitor: &'a dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let mut candidates = Self {
            counts: Counted::new(),
            source,
            monitor,
            axis,
            component: Vec::new(),
            left_out: FxHashSet::default(),
            outliers: Vec::new(),
            finest: Finest::default(),
            reduced: Reduced::default(),
        };
        candidates.reduce(OPTIONS.windows)?;
        candidates.find_components();
        Ok(candidates)
    }

    /// Per clock: the [component](super::components) it belongs to.
    pub(super) fn component(&self) -> &[usize] {
        &self.component
    }

    /// The dependencies that were left out.
    pub(super) fn outliers(&self) -> &[Edge] {
        &self.outliers
    }

    /// The keys by which these are the same as others.
    pub(super) fn left_out(&self) -> &FxHashSet<Same> {
        &self.left_out
    }

    /// The finest divisions that may be tried.
    pub(super) fn finest(&self) -> Finest {
        self.finest
    }

    /// Leaves out some more.
    pub(super) fn leave_out(&mut self, more: Vec<Edge>) -> Result<(), Cancelled> {
        self.left_out.extend(more.iter().map(same));
        self.outliers.extend(more);
        let windows = self.reduced.windows();
        self.reduce(windows)
    }

    /// Takes back all that was left out but what is still to be. False if that is all of it.
    pub(super) fn take_back_but(
        &mut self,
        still: impl Fn(&Edge) -> bool,
    ) -> Result<bool, Cancelled> {
        let count = self.outliers.len();
        self.outliers.retain(still);
        if self.outliers.len() == count {
            return Ok(false);
        }
        self.left_out = self.outliers.iter().map(same).collect();
        let windows = self.reduced.windows();
        self.reduce(windows)?;
        self.find_components();
        Ok(true)
    }

    /// Takes back what was left out.
    pub(super) fn take_back(&mut self) -> Result<(), Cancelled> {
        self.left_out.clear();
        self.outliers.clear();
        let windows = self.reduced.windows();
        self.reduce(windows)?;
        self.find_components();
        Ok(())
    }

    /// Which clocks can be told from each other, by what is not left out.
    pub(super) fn find_components(&mut self) {
        let links: Vec<(usize, usize)> = self.counts.iter().map(|it| it.0).collect();
        self.component = components(self.source.clocks(), &links);
        let inside = |it: &&((usize, usize), usize)| {
            let (from, to) = it.0;
            self.component[from] == self.component[to]
        };
        let inside = self.counts.iter().filter(inside);
        self.finest = Finest::of(inside.copied(), self.axis.span);
    }

    /// All links.
    pub(super) fn links(&self) -> Links {
        Links::new(self.source.clocks(), &self.reduced, |_| true)
    }

    /// The links within components, fit for offsets of so many pieces.
    pub(super) fn inside(&mut self, pieces: usize) -> Result<Links, Cancelled> {
        self.refine(pieces)?;
        Ok(self.some(|_| true))
    }

    fn some(&self, keep: impl Fn(&Cell) -> bool) -> Links {
        let of = |clock: u32| self.component[clock as usize];
        Links::new(self.source.clocks(), &self.reduced, |cell| {
            of(cell.from) == of(cell.to) && keep(cell)
        })
    }

    /// True if what is reduced now fits offsets of so many pieces.
    pub(super) fn are_fine_enough(&self, pieces: usize) -> bool {
        pieces.max(OPTIONS.windows) == self.reduced.windows()
    }

    /// Makes what is reduced fit offsets of so many pieces.
    pub(super) fn refine(&mut self, pieces: usize) -> Result<(), Cancelled> {
        if self.are_fine_enough(pieces) {
            return Ok(());
        }
        self.reduce(pieces.max(OPTIONS.windows))
    }

    fn reduce(&mut self, windows: usize) -> Result<(), Cancelled> {
        let reduction = Reduction {
            axis: self.axis.clone(),
            windows,
            layers: OPTIONS.tightest,
        };
        self.reduced = Reduced::default();
        self.reduced = Reduced::new(self.source, &reduction, &self.left_out, self.monitor)?;
        self.counts = self.reduced.counts();
        Ok(())
    }
}
