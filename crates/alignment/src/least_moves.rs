//! The lines next to those that are wanted by which nothing between components is reversed.
//!
//! ```text
//! minimise   sum n ((middle - wanted middle) / a)^2 + n ((tilt - wanted tilt) / b)^2
//! with       latency + y_to(received) - y_from(sent) >= 0        for all that goes across
//! ```
//!
//! `middle` is what a line adds in the middle of the run, `tilt` what it adds more at the end, `n` how many
//! clocks a component has, `a` and `b` how far offsets and rates [are off](OffsetScales). All
//! lines that dependencies allow form a convex set, and the true ones are among them, as far as clocks
//! are straight. So where lines as recorded are wanted, those that are found are never further from
//! the truth, measured that way, and they are the least that the dependencies demand.
//!
//! Which dependencies decide depends on the lines: those that are broken are taken in, the worst of
//! each link and window, until none is.
//!
//! Source: that projections onto convex sets bring nothing further apart, S. Boyd and L.
//! Vandenberghe, *Convex Optimization* (2004), section 8.1.

use rustc_hash::FxHashMap;

use super::across::Across;
use super::frame::FramedDependency;
use super::line::Line;
use super::links::Link;
use super::options::OPTIONS;
use retime_model::{Cancelled, Monitor};
use retime_numerics::nearest_point::{Condition, NearestPoint, Outcome};

/// Times that broken dependencies are looked for.
const ROUNDS: usize = 32;
/// Latency that counts as missing, in ticks: less is lost when times become whole.
const BROKEN: f64 = 0.01;
/// Conditions are satisfied to this part of a tick.
const EXACT: f64 = 1e-3;

/// How far clocks are off, in ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct OffsetScales {
    pub(super) middle: f64,
    /// In half of the run.
    pub(super) tilt: f64,
}

/// Components whose lines are looked for together.
pub(super) struct LeastMoves<'a> {
    pub(super) across: Across<'a>,
    pub(super) scales: OffsetScales,
    /// The links between them, and between them and components that are tied.
    pub(super) links: Vec<&'a Link>,
    /// Per component: its line if it is tied.
    pub(super) tied: &'a dyn Fn(usize) -> Option<Line>,
    /// Per component: how many clocks it has.
    pub(super) clocks: &'a [usize],
    /// The components whose lines are looked for.
    pub(super) group: &'a [usize],
}

impl LeastMoves<'_> {
    /// The lines next to the wanted ones, one per component of the group; `None` if there are none, as
    /// far as that is found out by so many multiplications, of which it takes off what it used.
    pub(super) fn next_to(
        &self,
        wanted: &[Line],
        work: &mut usize,
        monitor: &dyn Monitor,
    ) -> Result<Option<Vec<Line>>, Cancelled> {
        let places = self.group.iter().enumerate();
        let places: FxHashMap<usize, usize> = places.map(|(at, &it)| (it, at)).collect();
        let mut lines = wanted.to_vec();
        let axes = wanted.iter().zip(self.group);
        let axes = axes.flat_map(|(line, &component)| self.axes(*line, component));
        let mut point = NearestPoint::to(axes.collect());
        for _ in 0..ROUNDS {
            monitor.check()?;
            let broken = self.broken(&places, &lines);
            if broken.is_empty() {
                return Ok(Some(lines));
            }
            if point.take(broken, EXACT, work) != Outcome::Satisfied {
                return Ok(None);
            }
            let found = point.point().chunks_exact(2).zip(self.group);
            lines = found
                .map(|(axes, &component)| self.line(axes, component))
                .collect();
        }
        Ok(None)
    }

    /// The conditions of the dependencies that the lines break, the worst of each link and window.
    fn broken(&self, places: &FxHashMap<usize, usize>, lines: &[Line]) -> Vec<Condition> {
        let line = |component: usize| {
            let own = places.get(&component).map(|&at| lines[at]);
            own.or_else(|| (self.tied)(component)).unwrap_or_default()
        };
        let mut conditions = Vec::new();
        for &link in &self.links {
            let (from, to) = self.across.ends(link);
            let (from, to) = (line(from), line(to));
            let mut worst = [(-BROKEN, None); OPTIONS.windows];
            let windows = OPTIONS.windows as f64 / self.across.frame.axis.span;
            for seen in self.across.seen(link) {
                let left = seen.latency + to.at(seen.received) - from.at(seen.sent);
                let window = (seen.sent * windows) as usize;
                let worst = &mut worst[window.min(OPTIONS.windows - 1)];
                if left < worst.0 {
                    *worst = (left, Some(seen));
                }
            }
            let found = worst.into_iter().filter_map(|it| it.1);
            conditions.extend(found.map(|seen| self.condition(places, link, &seen)));
        }
        conditions
    }

    /// The condition of a dependency, in ticks.
    fn condition(
        &self,
        places: &FxHashMap<usize, usize>,
        link: &Link,
        seen: &FramedDependency,
    ) -> Condition {
        let (from, to) = self.across.ends(link);
        let (mut terms, mut least) = (Vec::with_capacity(4), -seen.latency);
        for (component, time, factor) in [(from, seen.sent, -1.0), (to, seen.received, 1.0)] {
            if let Some(&at) = places.get(&component) {
                let root = self.root(component);
                let from_middle = 2.0 * time / self.across.frame.axis.span - 1.0;
                terms.push((2 * at, factor * self.scales.middle / root));
                terms.push((2 * at + 1, factor * from_middle * self.scales.tilt / root));
            } else {
                let line = (self.tied)(component).unwrap_or_default();
                least -= factor * line.at(time);
            }
        }
        Condition { terms, least }
    }

    /// The root of the number of a component's clocks, which all move.
    fn root(&self, component: usize) -> f64 {
        (self.clocks[component] as f64).sqrt()
    }

    fn axes(&self, line: Line, component: usize) -> [f64; 2] {
        let half = self.across.frame.axis.span / 2.0;
        let root = self.root(component);
        let (middle, tilt) = (line.at(half), line.drift * half);
        [
            root * middle / self.scales.middle,
            root * tilt / self.scales.tilt,
        ]
    }

    fn line(&self, axes: &[f64], component: usize) -> Line {
        let half = self.across.frame.axis.span / 2.0;
        let root = self.root(component);
        let drift = axes[1] * self.scales.tilt / root / half;
        Line {
            intercept: axes[0] * self.scales.middle / root - drift * half,
            drift,
        }
    }
}
