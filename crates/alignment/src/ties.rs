//! Clocks that others bound on one side only.
//!
//! Between [components](super::components) dependencies go one way, and nobody can tell a long delay
//! from a clock that is ahead. All that is certain is that no delay is negative. So a component is
//! tied to others as a whole, by one line for all its clocks, and three things say which:
//!
//! - **Where it was recorded.** Clocks are off by about as much as they contradict each other: by
//!   `V`, the most by which an effect comes too early as recorded, or by which it takes longer than
//!   the run lasts; and their rates by 100 ppm, but by no more than `V` over half of the run.
//! - **The [floor](super::floor)** of what links it to components that are tied already, as if the
//!   fastest took the minimal delay `g`. If the lowest windows lie within `d` above one line, it
//!   measures the difference of the clocks to within `d + g`.
//! - **What must not be reversed** between all of them.
//!
//! ```text
//! wanted = (recorded / V^2 + sum of floors / (d + g)^2) / (1 / V^2 + sum of 1 / (d + g)^2)
//! ```
//!
//! the mean of all, each weighted as if it were off by a normal error; and of the lines by which
//! nothing is reversed those are taken that are [next to](super::least_moves) it, of all components
//! that hang together without the first at once. Where messages meet an idle receiver now and then,
//! `d` is some microseconds, and the floor is as good as all there is. Where they wait in a queue
//! that never empties, their delays change by milliseconds, and hardly more is moved than
//! contradicts itself.
//!
//! Where no lines satisfy all, clocks wander or many components hang together, components are tied one
//! after the other, and one between two bounds that contradict each other half-way between them.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use super::across::Across;
use super::floor::{CloudFloor, CloudPoint, constant};
use super::least_moves::{LeastMoves, OffsetScales};
use super::line::Line;
use super::links::Link;
use super::options::OPTIONS;
use retime_model::{Cancelled, Monitor};

/// Multiplications for the lines of many components at once, at most: some seconds.
const WORK: usize = 2_000_000_000;

/// How components hang together.
pub(super) struct ComponentTies {
    /// Per clock: what is to be added to all clocks of its component.
    pub(super) lines: Vec<Line>,
    /// Per clock: the clock whose time its part of the trace has.
    pub(super) root: Vec<usize>,
}

impl Across<'_> {
    /// The line for each component; those that nothing ties to the reference hang at their
    /// smallest clock. Fails only if `monitor` says to give up.
    pub(super) fn tie(
        self,
        reference: usize,
        monitor: &dyn Monitor,
    ) -> Result<ComponentTies, Cancelled> {
        let half = self.frame.axis.span / 2.0;
        let middle = self.contradiction();
        let scales = OffsetScales {
            middle,
            tilt: middle.min(OPTIONS.rates * half),
        };
        TieSearch::new(self, Some(scales), monitor).all(reference)
    }

    /// The constant for each component by which its fastest dependencies take no time, and those
    /// that nothing ties to the reference hang at their smallest clock. Fails only if `monitor` says
    /// to give up.
    pub(super) fn tie_to_fastest(
        self,
        reference: usize,
        monitor: &dyn Monitor,
    ) -> Result<ComponentTies, Cancelled> {
        TieSearch::new(self, None, monitor).all(reference)
    }
}

struct TieSearch<'a> {
    across: Across<'a>,
    /// How far clocks are off, if recorded times count.
    scales: Option<OffsetScales>,
    /// Per component: how many clocks it has,
    clocks: Vec<usize>,
    /// and the links that join it to others.
    links: Vec<Vec<&'a Link>>,
    /// Dependencies between each component and those that were reached,
    waiting: Vec<usize>,
    /// and those that have any, the most first.
    queue: BTreeSet<(Reverse<usize>, usize)>,
    /// Per component: its line once it is known,
    lines: Vec<Option<Line>>,
    /// and the clock that it was reached from.
    root: Vec<Option<usize>>,
    /// Multiplications that are left.
    work: usize,
    monitor: &'a dyn Monitor,
}

impl<'a> TieSearch<'a> {
    fn new(across: Across<'a>, scales: Option<OffsetScales>, monitor: &'a dyn Monitor) -> Self {
        let count = across.component.len();
        let mut clocks = vec![0; count];
        for &component in across.component {
            clocks[component] += 1;
        }
        Self {
            across,
            scales,
            clocks,
            links: across.by_component(),
            waiting: vec![0; count],
            queue: BTreeSet::new(),
            lines: vec![None; count],
            root: vec![None; count],
            work: WORK,
            monitor,
        }
    }

    fn all(mut self, reference: usize) -> Result<ComponentTies, Cancelled> {
        let component = self.across.component;
        if let Some(&first) = component.get(reference) {
            self.grow(first, reference)?;
        }
        for (clock, &own) in component.iter().enumerate() {
            if self.root[own].is_none() {
                self.grow(own, clock)?;
            }
        }
        let of = component.iter().enumerate();
        Ok(ComponentTies {
            lines: { of.clone() }
                .map(|(_, &it)| self.lines[it].unwrap_or_default())
                .collect(),
            root: of
                .map(|(clock, &it)| self.root[it].unwrap_or(clock))
                .collect(),
        })
    }

    /// Ties everything that hangs together with a component, those with the most dependencies first.
    fn grow(&mut self, first: usize, root: usize) -> Result<(), Cancelled> {
        self.reach(first, Line::default(), root);
        if self.queue.is_empty() {
            return Ok(());
        }
        let mut recorded = self.across.recorded(root);
        let own = recorded[first];
        for line in &mut recorded {
            *line = *line - own;
        }
        let mut order = Vec::new();
        while let Some(&(_, next)) = self.queue.first() {
            self.monitor.check()?;
            let line = self.wanted(next, recorded[next]);
            self.reach(next, line, root);
            order.push(next);
        }
        let Some(scales) = self.scales else {
            return Ok(());
        };
        let wanted: Vec<Line> = order
            .iter()
            .map(|&it| self.lines[it].take().unwrap_or_default())
            .collect();
        for group in self.groups(&order) {
            let wanted: Vec<Line> = group.iter().map(|&at| wanted[at]).collect();
            let group: Vec<usize> = group.into_iter().map(|at| order[at]).collect();
            self.settle(&group, &wanted, scales)?;
        }
        Ok(())
    }

    fn reach(&mut self, component: usize, line: Line, root: usize) {
        self.lines[component] = Some(line);
        self.root[component] = Some(root);
        let waited = std::mem::take(&mut self.waiting[component]);
        self.queue.remove(&(Reverse(waited), component));
        for link in &self.links[component] {
            let other = self.other_end(link, component);
            if self.root[other].is_none() {
                let waiting = &mut self.waiting[other];
                self.queue.remove(&(Reverse(*waiting), other));
                *waiting += link.count;
                self.queue.insert((Reverse(*waiting), other));
            }
        }
    }

    fn other_end(&self, link: &Link, component: usize) -> usize {
        let (from, to) = self.across.ends(link);
        if from == component { to } else { from }
    }

    /// The line of a component by where it was recorded and by those that are known.
    fn wanted(&self, component: usize, recorded: Line) -> Line {
        let [into, out_of] = self.clouds(component);
        let Some(scales) = self.scales else {
            return between(constant(&into).map(|line| -line), constant(&out_of));
        };
        let span = self.across.frame.axis.span;
        let [into, out_of] = [into, out_of].map(|cloud| CloudFloor::below(&cloud, span));
        let into = into.map(|floor| CloudFloor {
            line: -floor.line,
            ..floor
        });
        let floors: Vec<CloudFloor> = into.into_iter().chain(out_of).collect();
        let within = |floor: &CloudFloor| {
            floor.spread.max(self.across.frame.grains.finest()) + self.across.least
        };
        // The drift of what lasts a part of the run is known the less, the shorter that part is.
        let drifts = floors.iter().map(|floor| Measured {
            value: floor.line.drift,
            within: within(floor) * (span / floor.length).max(1.0),
        });
        let drift = Measured::mean(drifts.chain([Measured {
            value: recorded.drift,
            within: scales.tilt,
        }]));
        // A floor measures offsets where it is.
        let middles = floors.iter().map(|floor| Measured {
            value: floor.line.at(floor.middle) + drift * (span / 2.0 - floor.middle),
            within: within(floor),
        });
        let middle = Measured::mean(middles.chain([Measured {
            value: recorded.at(span / 2.0),
            within: scales.middle,
        }]));
        Line {
            intercept: middle - drift * span / 2.0,
            drift,
        }
    }

    /// The latencies into a component and out of it, to those whose lines are known.
    fn clouds(&self, component: usize) -> [Vec<CloudPoint>; 2] {
        let mut clouds = [Vec::new(), Vec::new()];
        for link in &self.links[component] {
            let (from, to) = self.across.ends(link);
            let Some(other) = self.lines[self.other_end(link, component)] else {
                continue;
            };
            let cloud = &mut clouds[usize::from(from == component)];
            cloud.extend(self.across.seen(link).map(|seen| {
                let tied = if to == component {
                    -other.at(seen.sent)
                } else {
                    other.at(seen.received)
                };
                (f64::midpoint(seen.sent, seen.received), seen.latency + tied)
            }));
        }
        clouds
    }

    /// Components, by their places in this order, that links join without any that is tied.
    fn groups(&self, order: &[usize]) -> Vec<Vec<usize>> {
        let mut place = vec![None; self.lines.len()];
        for (at, &component) in order.iter().enumerate() {
            place[component] = Some(at);
        }
        let mut groups = Vec::new();
        for at in 0..order.len() {
            let mut open: Vec<usize> = place[order[at]].take().into_iter().collect();
            let mut group = Vec::new();
            while let Some(at) = open.pop() {
                group.push(at);
                for link in &self.links[order[at]] {
                    open.extend(place[self.other_end(link, order[at])].take());
                }
            }
            group.sort_unstable();
            groups.extend((!group.is_empty()).then_some(group));
        }
        groups
    }

    /// Ties a group such that nothing is reversed: all at once or, if that cannot be, in order.
    fn settle(
        &mut self,
        group: &[usize],
        wanted: &[Line],
        scales: OffsetScales,
    ) -> Result<(), Cancelled> {
        let mut work = std::mem::take(&mut self.work);
        let lines = self.least_moves(group, wanted, scales, &mut work)?;
        self.work = work;
        if let Some(lines) = lines {
            for (&component, line) in group.iter().zip(lines) {
                self.lines[component] = Some(line);
            }
            return Ok(());
        }
        for (&component, &wanted) in group.iter().zip(wanted) {
            let mut work = WORK;
            let line = self.least_moves(&[component], &[wanted], scales, &mut work)?;
            let line = line.and_then(|lines| lines.first().copied());
            self.lines[component] = Some(line.unwrap_or_else(|| self.half_way(component)));
        }
        Ok(())
    }

    /// The lines of a group next to those that are wanted.
    fn least_moves(
        &self,
        group: &[usize],
        wanted: &[Line],
        scales: OffsetScales,
        work: &mut usize,
    ) -> Result<Option<Vec<Line>>, Cancelled> {
        let own: FxHashSet<usize> = group.iter().copied().collect();
        let known = |component: &usize| self.lines[*component].is_some() || own.contains(component);
        let links = group.iter().flat_map(|&it| self.links[it].iter().copied());
        let mut links: Vec<&Link> = links
            .filter(|link| <[usize; 2]>::from(self.across.ends(link)).iter().all(known))
            .collect();
        links.sort_unstable_by_key(|link| (link.from, link.to));
        links.dedup();
        let moves = LeastMoves {
            across: self.across,
            scales,
            links,
            tied: &|component| self.lines[component],
            clocks: &self.clocks,
            group,
        };
        moves.next_to(wanted, work, self.monitor)
    }

    /// The line between the bounds of a component that contradict each other.
    fn half_way(&self, component: usize) -> Line {
        let span = self.across.frame.axis.span;
        let clouds = self.clouds(component);
        let [into, out_of] = clouds.map(|cloud| CloudFloor::below(&cloud, span).map(|it| it.line));
        between(into.map(|line| -line), out_of)
    }
}

/// A value that is known to within a normal error.
#[derive(Clone, Copy)]
struct Measured {
    value: f64,
    within: f64,
}

impl Measured {
    /// The mean of all, each weighted by the square of how well it is known.
    fn mean(all: impl Iterator<Item = Self>) -> f64 {
        let (sum, weights) = all.fold((0.0, 0.0), |(sum, weights), it| {
            let weight = it.within.powi(-2);
            (sum + weight * it.value, weights + weight)
        });
        sum / weights
    }
}

/// Half-way between two lines, or the one there is.
fn between(a: Option<Line>, b: Option<Line>) -> Line {
    match (a, b) {
        (Some(a), Some(b)) => a.midpoint(b),
        (a, b) => a.or(b).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use crate::align_edges;
    use retime_causality::edges::{Edge, Edges};
    use retime_model::{ClockId, TickRate};

    fn message(from: u32, sent: i64, to: u32, received: i64) -> Edge {
        Edge::message(ClockId(from), sent, ClockId(to), received)
    }

    /// What is added to clocks in the middle of a run of some nanoseconds.
    fn added(edges: Vec<Edge>, clocks: usize, span: i64) -> Vec<f64> {
        let edges = Edges::new(edges, vec![Some((0, span)); clocks]);
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        let found = align_edges(&edges, rate, ClockId(0), &()).unwrap();
        let at = |clock: usize| found.estimate.offsets[clock].as_ref().unwrap().at(span / 2);
        (1..clocks).map(at).collect()
    }

    /// What is added to the clocks of a reduction: two send to the first, so often.
    fn of_reduction(times: i64) -> Vec<f64> {
        // One is ahead by 200 and contradicts the first, the other is right and waits.
        let edges = (0..times).flat_map(|at| {
            // No clock that advances by a thousand at once.
            let sent = 1_000_000 * at / times + at % 3;
            [
                message(1, sent + 200, 0, sent + 50),
                message(2, sent, 0, sent + 9_000 + at % 7),
            ]
        });
        added(edges.collect(), 3, 1_010_000)
    }

    #[test]
    fn of_few_messages_the_fastest_is_not_taken_for_fast() {
        let found = of_reduction(5);
        assert!(
            (found[0] + 150.0).abs() < 3.0 && found[1].abs() < 3.0,
            "{found:?}"
        );
        let found = of_reduction(1_000);
        assert!(
            (found[0] + 150.0).abs() < 3.0 && (found[1] - 9_000.0).abs() < 15.0,
            "{found:?}"
        );
    }

    /// Two clocks that answer each other, of which one is ahead by 300 us, and a third that only
    /// sends to the first, over a second; its messages take as long as `delay` says.
    fn served(delay: impl Fn(i64) -> i64) -> Vec<f64> {
        let edges = (0..2_000).flat_map(|at| {
            // No clock that advances by half a millisecond at once.
            let sent = 500_000 * at + at % 3;
            [
                message(1, sent + 300_000, 0, sent + 5_000 + at % 900),
                message(0, sent + 20_000, 1, sent + 325_000 + at % 700),
                message(2, sent, 0, sent + delay(at)),
            ]
        });
        added(edges.collect(), 3, 1_020_000_000)
    }

    #[test]
    fn the_fastest_of_a_queue_that_never_empties_is_not_taken_for_fast() {
        // Between 2 and 12 ms, in waves.
        let queued = served(|at| 2_000_000 + 100_000 * ((at / 20) % 100) + at % 777);
        // Half of what the other clock was off by, as it was recorded beside both, and hardly more.
        assert!((queued[0] + 300_000.0).abs() < 1_000.0, "{queued:?}");
        assert!((-151_000.0..-90_000.0).contains(&queued[1]), "{queued:?}");
        // One of twenty meets an idle server, all along.
        let idle = served(|at| 400_000 + at % 300 + if at % 20 == 0 { 0 } else { 2_000_000 });
        // Less the minimal delay, of 5 us.
        assert!((idle[1] - 395_000.0).abs() < 1_000.0, "{idle:?}");
    }

    /// A clock is ahead of the run by five times its length, and sends to the first in its last
    /// twentieth alone, mostly at once.
    #[test]
    fn a_floor_late_in_the_run_is_no_less_known() {
        const RUN: i64 = 200_000_000;
        let ahead = 5 * RUN;
        let edges = (0..1_000).map(|at| {
            let sent = RUN - 10_000_000 + 10_000 * at + at % 3;
            let queued = if at % 4 == 0 { 0 } else { 500 * (at % 13) };
            message(1, sent + ahead, 0, sent + 2_000 + at % 90 + queued)
        });
        let extents = vec![Some((0, RUN)), Some((ahead, RUN + ahead))];
        let edges = Edges::new(edges.collect(), extents);
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        let found = align_edges(&edges, rate, ClockId(0), &()).unwrap();
        let offset = found.estimate.offsets[1].as_ref().unwrap();
        for time in [0, RUN / 2, RUN] {
            let error = offset.at(time + ahead) + ahead as f64;
            assert!(error.abs() < 20_000.0, "{error} at {time}");
        }
    }

    #[test]
    fn a_contradiction_is_shared_by_both_that_it_may_be_of() {
        // The first sends to both without haste, and one of these to the other into the past: too few
        // for a floor.
        let edges = (0..7).flat_map(|at| {
            let sent = 100_000 * at;
            [
                message(0, sent, 1, sent + 50_000),
                message(0, sent, 2, sent + 50_000),
                message(1, sent + 60_000, 2, sent + 59_900),
            ]
        });
        let found = added(edges.collect(), 3, 1_000_000);
        assert!(
            (found[0] + 50.0).abs() < 2.0 && (found[1] - 50.0).abs() < 2.0,
            "{found:?}"
        );
    }

    #[test]
    fn a_queue_that_grows_is_no_rate() {
        // A clock is ahead by 100 us in a run of 20 ms; what it sends takes longer by 2 of 1000.
        let edges = (0..400).map(|at| {
            let sent = 50_000 * at + at % 7;
            message(1, sent + 100_000, 0, sent + 2_000 + sent / 500)
        });
        let edges = Edges::new(edges.collect(), vec![Some((0, 20_200_000)); 2]);
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        let found = align_edges(&edges, rate, ClockId(0), &()).unwrap();
        let offset = found.estimate.offsets[1].as_ref().unwrap();
        let gained = offset.at(20_000_000) - offset.at(0);
        assert!(gained.abs() < 2e7 * 6e-4, "{gained}");
        assert!(offset.at(0) < -97_000.0, "{offset:?}");
    }
}
