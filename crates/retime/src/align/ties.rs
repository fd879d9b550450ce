//! Clocks that others bound on one side only.
//!
//! Between [components](super::components) dependencies go one way, and nobody
//! can tell a long delay from a clock that is ahead. So a component is tied to
//! those already tied as a whole, by one line for all its clocks, as if the
//! fastest messages took the minimal delay: the offset is wrong by what they
//! really took, but rates are right and no message is reversed. The line is the
//! one below all latencies, in the middle of the run; the side of the lower hull
//! of the points (time, latency) that spans it. Where two tied components bound a
//! third from both sides, the mean of both lines is taken.
//!
//! Where fewer than sixteen dependencies join a component to the others, nothing says that the
//! fastest of them is fast: it may have waited for seconds. Then the component stays as recorded,
//! relative to the reference, but for a constant that is as small as those dependencies demand. That
//! is never further from the truth, as far as the component is a clock of constant rate.
//!
//! Source: the hull of message clouds is Duda's (Duda, Harrus, Haddad, Bernard
//! 1987), here for one cloud.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::curves::Curves;
use super::frame::Frame;
use super::line::Line;
use super::links::{Link, Links};
use super::options::OPTIONS;
use retime_model::{Cancelled, Monitor};
use retime_numerics::hull::lower_hull;

/// A point of a cloud: time and aligned latency.
type LinkPoint = (f64, f64);

/// How components hang together.
pub(super) struct ComponentTies {
    /// Per clock: what is to be added to all clocks of its component.
    pub(super) lines: Vec<Line>,
    /// Per clock: the clock whose time its part of the trace has.
    pub(super) root: Vec<usize>,
}

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

impl Across<'_> {
    /// The constant or, if `with_drift`, the line for each component; those that
    /// nothing ties to the reference hang at their smallest clock. Fails only if `monitor`
    /// says to give up.
    pub(super) fn tie(
        self,
        reference: usize,
        with_drift: bool,
        monitor: &dyn Monitor,
    ) -> Result<ComponentTies, Cancelled> {
        let component = self.component;
        let mut work = TieSearch {
            across: self,
            with_drift,
            links: by_component(self.links, component),
            waiting: vec![0; component.len()],
            queue: BTreeSet::new(),
            ties: ComponentTies {
                lines: vec![Line::default(); component.len()],
                root: vec![usize::MAX; component.len()],
            },
            monitor,
        };
        if let Some(&first) = component.get(reference) {
            work.grow(first, reference)?;
        }
        for (clock, &own) in component.iter().enumerate() {
            if !work.tied(own) {
                work.grow(own, clock)?;
            }
        }
        let ComponentTies { lines, root } = work.ties;
        Ok(ComponentTies {
            lines: component.iter().map(|&it| lines[it]).collect(),
            root: component.iter().map(|&it| root[it]).collect(),
        })
    }
}

/// Per component the links that join it to others.
fn by_component<'a>(links: &'a Links, component: &[usize]) -> Vec<Vec<&'a Link>> {
    let mut across = vec![Vec::new(); component.len()];
    for link in links.list() {
        let (from, to) = (component[link.from], component[link.to]);
        if from != to {
            across[from].push(link);
            across[to].push(link);
        }
    }
    across
}

struct TieSearch<'a> {
    across: Across<'a>,
    with_drift: bool,
    /// Per component: the links that join it to others.
    links: Vec<Vec<&'a Link>>,
    /// Dependencies between each component and those tied,
    waiting: Vec<usize>,
    /// and those that have any, the most first.
    queue: BTreeSet<(Reverse<usize>, usize)>,
    monitor: &'a dyn Monitor,
    /// The ties of components to each other.
    ties: ComponentTies,
}

impl TieSearch<'_> {
    /// Ties everything that hangs together with a component, those with the most
    /// dependencies first.
    fn grow(&mut self, first: usize, root: usize) -> Result<(), Cancelled> {
        self.accept(first, Line::default(), root);
        while let Some(&(_, next)) = self.queue.first() {
            self.monitor.check()?;
            let line = self.line(next, root);
            self.accept(next, line, root);
        }
        Ok(())
    }

    fn accept(&mut self, component: usize, line: Line, root: usize) {
        self.ties.lines[component] = line;
        self.ties.root[component] = root;
        let waited = std::mem::take(&mut self.waiting[component]);
        self.queue.remove(&(Reverse(waited), component));
        for link in &self.links[component] {
            let ends = (
                self.across.component[link.from],
                self.across.component[link.to],
            );
            let other = if ends.0 == component { ends.1 } else { ends.0 };
            if self.ties.root[other] == usize::MAX {
                let waiting = &mut self.waiting[other];
                self.queue.remove(&(Reverse(*waiting), other));
                *waiting += link.count;
                self.queue.insert((Reverse(*waiting), other));
            }
        }
    }

    fn tied(&self, component: usize) -> bool {
        self.ties.root[component] != usize::MAX
    }

    fn line(&self, component: usize, root: usize) -> Line {
        let (mut into, mut out_of) = (Vec::new(), Vec::new());
        for link in &self.links[component] {
            let (from, to) = (
                self.across.component[link.from],
                self.across.component[link.to],
            );
            if to == component && self.tied(from) {
                self.add_points(link, &mut into);
            } else if from == component && self.tied(to) {
                self.add_points(link, &mut out_of);
            }
        }
        if self.with_drift && self.waiting[component] < OPTIONS.spread {
            let shifts = &self.across.frame.axis.shifts;
            // A component counts from the clock that names it, and the first from its root.
            let recorded = shifts[root].saturating_sub(shifts[component]) as f64;
            if let Some(line) = least_move(recorded, &into, &out_of) {
                return line;
            }
        }
        let into = self.below(&into).map(|line| -line);
        match (into, self.below(&out_of)) {
            (Some(a), Some(b)) => a.midpoint(b),
            (a, b) => a.or(b).unwrap_or_default(),
        }
    }

    fn add_points(&self, link: &Link, points: &mut Vec<LinkPoint>) {
        let line = |clock: usize| self.ties.lines[self.across.component[clock]];
        points.extend(self.across.links.of(link).iter().map(|point| {
            let seen = self.across.frame.see(link, point);
            let own = self.across.curves.between(link.from, link.to, &seen);
            let tied = line(link.to).at(seen.received) - line(link.from).at(seen.sent);
            let time = f64::midpoint(seen.sent, seen.received);
            (time, seen.latency + own + tied - self.across.least)
        }));
    }

    /// The line below all points.
    fn below(&self, points: &[LinkPoint]) -> Option<Line> {
        let constant = |intercept: f64| Line {
            intercept,
            drift: 0.0,
        };
        let lowest = points.iter().map(|it| it.1).min_by(f64::total_cmp)?;
        let windows = lowest_by_window(points, self.across.frame.axis.span);
        if !self.with_drift || windows.len() < OPTIONS.fewest {
            return Some(constant(lowest));
        }
        let mut hull = Vec::new();
        lower_hull(&windows, &mut hull);
        let hull: Vec<LinkPoint> = hull.iter().map(|&at| windows[at as usize]).collect();
        let middle = windows.iter().map(|it| it.0).sum::<f64>() / windows.len() as f64;
        let side = hull.windows(2).find(|side| side[1].0 >= middle);
        let Some(&[a, b]) = side else {
            return Some(constant(lowest));
        };
        let drift = ((b.1 - a.1) / (b.0 - a.0)).clamp(-OPTIONS.steepest, OPTIONS.steepest);
        let rests = points.iter().map(|&(x, y)| y - drift * x);
        let intercept = rests.min_by(f64::total_cmp)?;
        Some(Line { intercept, drift })
    }
}

/// The constant nearest to one by which no point falls below zero, if there is any: those of
/// dependencies into a component rise with it, those out of it fall.
fn least_move(from: f64, into: &[LinkPoint], out_of: &[LinkPoint]) -> Option<Line> {
    let least = |points: &[LinkPoint]| points.iter().map(|it| it.1).fold(f64::INFINITY, f64::min);
    let (low, high) = (-least(into), least(out_of));
    (low <= high).then(|| Line {
        intercept: from.clamp(low, high),
        drift: 0.0,
    })
}

/// The lowest point of each window, by time.
fn lowest_by_window(points: &[LinkPoint], span: f64) -> Vec<LinkPoint> {
    let mut lowest = [(0.0, f64::INFINITY); OPTIONS.windows];
    for &point in points {
        let window = (point.0 * (OPTIONS.windows as f64 / span)) as usize;
        let lowest = &mut lowest[window.min(OPTIONS.windows - 1)];
        if point.1 < lowest.1 {
            *lowest = point;
        }
    }
    lowest.into_iter().filter(|it| it.1.is_finite()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::align_edges;
    use crate::edges::{Edge, Edges};
    use retime_model::{ClockId, TickRate};

    #[test]
    fn a_component_is_moved_as_little_as_few_dependencies_demand() {
        let moved = |from: f64, into: &[LinkPoint], out_of: &[LinkPoint]| {
            least_move(from, into, out_of).map(|line| line.intercept)
        };
        // Not at all, until the fastest is allowed, and between two bounds that contradict.
        assert_eq!(moved(3.0, &[(0.0, 5.0), (1.0, 9.0)], &[]), Some(3.0));
        assert_eq!(moved(3.0, &[(0.0, 5.0), (1.0, -7.0)], &[]), Some(7.0));
        assert_eq!(moved(3.0, &[(0.0, 5.0)], &[(0.0, 2.0)]), Some(2.0));
        assert_eq!(moved(3.0, &[(0.0, -5.0)], &[(0.0, 2.0)]), None);
    }

    /// What is added to the clocks of a reduction: two send to the first, so often.
    fn added(times: i64) -> [f64; 2] {
        let message = |from: u32, sent: i64, received: i64| {
            Edge::message(ClockId(from), sent, ClockId(0), received)
        };
        // One is ahead by 200 and contradicts the first, the other is right and waits.
        let edges = (0..times).flat_map(|at| {
            let sent = 1_000_000 * at / times;
            [
                message(1, sent + 200, sent + 50),
                message(2, sent, sent + 9_000 + at % 7),
            ]
        });
        let edges = Edges::new(edges.collect(), vec![Some((0, 1_010_000)); 3]);
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        let found = align_edges(&edges, rate, ClockId(0), &()).unwrap();
        let at = |clock: usize| found.estimate.offsets[clock].as_ref().unwrap().at(500_000);
        [at(1), at(2)]
    }

    #[test]
    fn of_few_messages_the_fastest_is_not_taken_for_fast() {
        let [ahead, waiting] = added(5);
        assert!((ahead + 150.0).abs() < 3.0 && waiting.abs() < 3.0);
        let [ahead, waiting] = added(1_000);
        assert!((ahead + 150.0).abs() < 3.0 && (waiting - 9_000.0).abs() < 15.0);
    }
}
