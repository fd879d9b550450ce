//! What goes from one [component](super::components) of clocks to another.

use super::curves::Curves;
use super::frame::{Frame, FramedDependency};
use super::line::Line;
use super::links::{Link, Links};

/// Components of clocks, and what goes across.
#[derive(Clone, Copy)]
pub(super) struct Across<'a> {
    pub(super) links: &'a Links,
    /// Per clock: the name of its component.
    pub(super) component: &'a [usize],
    pub(super) frame: &'a Frame,
    pub(super) curves: &'a Curves,
    /// The minimal delay.
    pub(super) least: f64,
}

impl<'a> Across<'a> {
    /// Per component the links that join it to others.
    pub(super) fn by_component(self) -> Vec<Vec<&'a Link>> {
        let mut across = vec![Vec::new(); self.component.len()];
        for link in self.links.list() {
            let (from, to) = self.ends(link);
            if from != to {
                across[from].push(link);
                across[to].push(link);
            }
        }
        across
    }

    /// The components that a link leads from and to.
    pub(super) fn ends(self, link: &Link) -> (usize, usize) {
        (self.component[link.from], self.component[link.to])
    }

    /// The dependencies of a link, each with its latency beyond the minimal delay while the clocks of
    /// every component agree with each other.
    pub(super) fn seen(self, link: &'a Link) -> impl Iterator<Item = FramedDependency> {
        self.links.of(link).iter().map(move |point| {
            let seen = self.frame.see(link, point);
            let own = self.curves.between(link.from, link.to, &seen);
            FramedDependency {
                latency: seen.latency + own - self.least,
                ..seen
            }
        })
    }

    /// Per component the line that puts its clocks back to where they were recorded, on average, as
    /// the axis counts from the clock `root`.
    pub(super) fn recorded(self, root: usize) -> Vec<Line> {
        let (axis, span) = (&self.frame.axis, self.frame.axis.span);
        let mut sums = vec![(0.0, 0.0, 0.0); self.component.len()];
        for (clock, &component) in self.component.iter().enumerate() {
            let shift = axis.shifts[clock].saturating_sub(axis.shifts[root]) as f64;
            let moved =
                |time: f64| shift + self.frame.lines[clock].at(time) + self.curves.at(clock, time);
            let (first, last, count) = &mut sums[component];
            (*first, *last, *count) = (*first - moved(0.0), *last - moved(span), *count + 1.0);
        }
        let line = |(first, last, count): (f64, f64, f64)| Line {
            intercept: first / f64::max(count, 1.0),
            drift: (last - first) / f64::max(count, 1.0) / span,
        };
        sums.into_iter().map(line).collect()
    }

    /// The ticks by which recorded clocks contradict each other at most: an effect comes too early by
    /// as much, or takes by as much longer than the run lasts. At least the finest grain.
    pub(super) fn contradiction(self) -> f64 {
        let links = self.links.list().iter();
        let least = |link: &Link| {
            let latencies = self.links.of(link).iter().map(|it| it.latency() as f64);
            latencies.fold(f64::INFINITY, f64::min) + self.frame.grains.between(link.from, link.to)
        };
        let worst = |least: f64| (-least).max(least - self.frame.axis.span);
        let worst = links
            .map(|link| worst(least(link)))
            .filter(|it| it.is_finite());
        worst.fold(self.frame.grains.finest(), f64::max)
    }
}
