//! The minimal delay, told from clocks that are aligned.
//!
//! Around a cycle of clocks whatever they differ by cancels: the mean of the
//! latencies along it is that of true delays, so it is at least the smallest of
//! them. The simplest cycle is a round trip, there and back; but messages may
//! go one way only between any two clocks and still come round, and a cycle of
//! several fast ones bounds the delay better than the round trips it consists
//! of. So
//!
//! ```text
//! g = min over windows and cycles of clocks of  mean over its steps of
//!         the least aligned latency of that step in that window
//! ```
//!
//! Windows, because alignment leaves errors that vary: a fast message early and
//! one late must not add up to a round trip that never was. There are as many as
//! leave at least one cycle whose every step has 50 messages, up to 64; where
//! even the whole trace has none with 8, too little is known.
//!
//! Per pair of clocks such minima say nothing: nearly every pair has its own
//! queues and waits, and its fastest message may be far slower than another's.
//! Hence one value for the whole trace, and even that may exceed the truth; so
//! what is enforced is an eighth of it, [`LearnedDelay::from_shortest`].
//!
//! [`learn_minimal_delay`] answers the same question for clocks that are not
//! aligned, where no common windows exist: it looks at round trips alone, each
//! with a drift of its own.
//!
//! ```
//! use retime::align::shortest_latency;
//! use retime::{ClockId, Edge, Edges};
//! // Three clocks in a ring; each step takes 30, 40 or 50, now and then more.
//! let [a, b, c] = [0, 1, 2].map(ClockId);
//! let step = |from, to, delay: i64| {
//!     (0..60).map(move |i: i64| Edge::message(from, 1_000 * i, to, 1_000 * i + delay + i % 7))
//! };
//! let ring = step(a, b, 30).chain(step(b, c, 40)).chain(step(c, a, 50));
//! let edges = Edges::new(ring.collect(), vec![Some((0, 60_000)); 3]);
//! assert_eq!(shortest_latency(&edges, |_, _| 0.0, |_| true), Some(40.0));
//! // However far a clock is off, the mean is the same.
//! let off = |clock, _| if clock == b { 500.0 } else { 0.0 };
//! assert_eq!(shortest_latency(&edges, off, |_| true), Some(40.0));
//! ```
//!
//! The least mean of a cycle is found by improvement (Dinkelbach 1967): while
//! a cycle is negative after `mean` is taken from each step, its own mean is a
//! better one.
//!
//! [`LearnedDelay::from_shortest`]: crate::estimate::LearnedDelay::from_shortest
//! [`learn_minimal_delay`]: crate::estimate::learn_minimal_delay

use rayon::prelude::*;

use super::links::Links;
use crate::clocks::ClockId;
use crate::edges::{Edge, Edges};
use crate::estimate::{FEWEST, WINDOW};

/// How many windows are tried, and how many messages each step of a cycle needs.
const TRIED: [(u32, u32); 5] = [
    (64, WINDOW),
    (16, WINDOW),
    (4, WINDOW),
    (1, WINDOW),
    (1, FEWEST),
];
/// There are never more windows than this, and as many as divide it.
const FINEST: u32 = 64;
/// Stands for no window.
const NOWHERE: u8 = u8::MAX;
/// Means are exact to this share of a tick.
const TOLERANCE: f64 = 1e-3;
/// Cycles looked at per window; each is better than the one before, and seldom
/// are there more than ten.
const MOST_CYCLES: usize = 1_000;

/// The minimal delay that aligned clocks show, in ticks; below 0 where they are
/// not well aligned, `None` where no cycle of clocks exchanges enough.
///
/// `offset` says what to add to a stamp of a clock to align it; of
/// [`Edges::all`] only the positions count that `keep` lets through.
pub fn shortest_latency(
    edges: &Edges,
    offset: impl Fn(ClockId, i64) -> f64 + Sync,
    keep: impl Fn(usize) -> bool,
) -> Option<f64> {
    shortest(&Links::new(edges, |at, _| keep(at)), offset)
}

/// The same over links.
pub(super) fn shortest(
    links: &Links<'_>,
    offset: impl Fn(ClockId, i64) -> f64 + Sync,
) -> Option<f64> {
    let aligned = Aligned::new(links, offset);
    TRIED.iter().find_map(|&(windows, fewest)| {
        let parts = aligned.windows(windows);
        let all = || {
            (0..windows)
                .into_par_iter()
                .map(|window| parts.steps(window))
        };
        let enough = all().any(|steps| {
            let busy = |step: &&Step| step.count >= fewest;
            least_cycle_mean(steps.iter().filter(busy)).is_some()
        });
        let means = || all().filter_map(|steps| least_cycle_mean(steps.iter()));
        enough.then(|| means().min_by(f64::total_cmp)).flatten()
    })
}

/// Dependencies on aligned clocks, and in which window each was sent.
///
/// Nothing is kept of a dependency but its window and its place: to align it once
/// more for each look takes less than to store what comes of it.
pub(super) struct Aligned<'a, F> {
    links: &'a Links<'a>,
    offset: F,
    /// Of [`FINEST`] windows that of each dependency, in the order of the links.
    windows: Vec<u8>,
    first: f64,
    last: f64,
}

/// From one clock to another in one window: how often, and the fastest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) from: ClockId,
    pub(super) to: ClockId,
    count: u32,
    pub(super) fastest: f64,
}

impl<'a, F: Fn(ClockId, i64) -> f64 + Sync> Aligned<'a, F> {
    pub(super) fn new(links: &'a Links<'a>, offset: F) -> Self {
        let mut aligned = Self {
            links,
            offset,
            windows: Vec::new(),
            first: f64::INFINITY,
            last: f64::NEG_INFINITY,
        };
        let sent = |&at: &u32| aligned.sent(links.edge(at));
        let widest = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
        let all = links.order().par_iter().map(sent);
        let all = all.filter(|sent| sent.is_finite());
        let ends = all.map(|sent| (sent, sent)).reduce_with(widest);
        (aligned.first, aligned.last) = ends.unwrap_or((aligned.first, aligned.last));
        let scale = f64::from(FINEST) / (aligned.last - aligned.first).max(1.0);
        let window = |at: &u32| {
            let along = (aligned.sent(links.edge(*at)) - aligned.first) * scale;
            if along.is_finite() {
                (along as u32).min(FINEST - 1) as u8
            } else {
                NOWHERE
            }
        };
        aligned.windows = links.order().par_iter().map(window).collect();
        aligned
    }

    /// When a dependency was sent, on the common time line.
    fn sent(&self, edge: &Edge) -> f64 {
        edge.sent as f64 + (self.offset)(edge.from, edge.sent)
    }

    /// How long it took.
    fn latency(&self, edge: &Edge) -> f64 {
        let sent = (self.offset)(edge.from, edge.sent);
        let received = (self.offset)(edge.to, edge.received);
        edge.latency() as f64 + (received - sent)
    }

    /// When a window is half over, on the common time line.
    pub(super) fn middle(&self, window: u32, windows: u32) -> i64 {
        let part = (f64::from(window) + 0.5) / f64::from(windows.max(1));
        (self.first + (self.last - self.first) * part) as i64
    }

    /// The dependencies by window; `windows` divides [`FINEST`].
    pub(super) fn windows(&self, windows: u32) -> Windows<'_, 'a, F> {
        let of = |window: u8| (window != NOWHERE).then(|| u32::from(window) * windows / FINEST);
        let mut next = vec![0; windows as usize + 1];
        for window in self.windows.iter().filter_map(|&it| of(it)) {
            next[window as usize + 1] += 1;
        }
        for window in 0..windows as usize {
            next[window + 1] += next[window];
        }
        let starts = next.clone();
        let mut order = vec![0; next[windows as usize]];
        for (&at, &window) in self.links.order().iter().zip(&self.windows) {
            if let Some(window) = of(window) {
                order[next[window as usize]] = at;
                next[window as usize] += 1;
            }
        }
        Windows {
            aligned: self,
            starts,
            order,
        }
    }
}

/// Dependencies by window.
pub(super) struct Windows<'b, 'a, F> {
    aligned: &'b Aligned<'a, F>,
    starts: Vec<usize>,
    /// Positions, by window and clocks.
    order: Vec<u32>,
}

impl<F: Fn(ClockId, i64) -> f64 + Sync> Windows<'_, '_, F> {
    /// The steps of a window, by clocks.
    pub(super) fn steps(&self, window: u32) -> Vec<Step> {
        let edge = |at: &u32| self.aligned.links.edge(*at);
        let clocks = |at: &u32| (edge(at).from, edge(at).to);
        let latency = |at: &u32| self.aligned.latency(edge(at));
        let place = window as usize;
        let own = &self.order[self.starts[place]..self.starts[place + 1]];
        let steps = own.chunk_by(|a, b| clocks(a) == clocks(b)).map(|same| {
            let (from, to) = clocks(&same[0]);
            let latencies = same.iter().map(latency).filter(|it| it.is_finite());
            Step {
                from,
                to,
                count: same.len() as u32,
                fastest: latencies.fold(f64::INFINITY, f64::min),
            }
        });
        // Where nothing is a number, nothing is known.
        steps.filter(|step| step.fastest.is_finite()).collect()
    }
}

/// The least mean of the fastest along any cycle of steps; `None` if none closes.
fn least_cycle_mean<'a>(steps: impl Iterator<Item = &'a Step> + Clone) -> Option<f64> {
    let mut ids: Vec<ClockId> = steps.clone().flat_map(|it| [it.from, it.to]).collect();
    ids.sort_unstable();
    ids.dedup();
    let number = |clock: ClockId| ids.partition_point(|&id| id < clock) as u32;
    let arc = |step: &Step| Arc {
        from: number(step.from),
        to: number(step.to),
        latency: step.fastest,
    };
    let arcs: Vec<Arc> = steps.map(arc).collect();
    let slowest = arcs.iter().map(|arc| arc.latency).reduce(f64::max)?;
    let better = |mean: &f64| cycle_below(ids.len(), &arcs, *mean);
    let above = slowest + 1.0;
    std::iter::successors(better(&above), better)
        .take(MOST_CYCLES)
        .last()
}

/// A [`Step`] between numbered clocks.
#[derive(Clone, Copy)]
struct Arc {
    from: u32,
    to: u32,
    latency: f64,
}

/// The mean of some cycle of lower mean, if there is one: shortest paths from
/// everywhere at once, whose tree closes on itself only around such a cycle.
fn cycle_below(clocks: usize, arcs: &[Arc], mean: f64) -> Option<f64> {
    let mut distance = vec![0.0; clocks];
    let mut parent: Vec<Option<Arc>> = vec![None; clocks];
    for _ in 0..=clocks {
        let mut settled = true;
        for arc in arcs {
            let (from, to) = (arc.from as usize, arc.to as usize);
            let over = distance[from] + (arc.latency - mean);
            if over < distance[to] - TOLERANCE {
                distance[to] = over;
                parent[to] = Some(*arc);
                settled = false;
            }
        }
        if settled {
            return None;
        }
        if let Some(found) = mean_of_cycle(&parent) {
            return Some(found).filter(|&found| found < mean);
        }
    }
    None
}

/// The mean along a cycle of parents.
fn mean_of_cycle(parent: &[Option<Arc>]) -> Option<f64> {
    // Who was first visited from where.
    let mut visited = vec![usize::MAX; parent.len()];
    for start in 0..parent.len() {
        let mut at = start;
        while visited[at] == usize::MAX {
            visited[at] = start;
            match parent[at] {
                Some(arc) => at = arc.from as usize,
                None => break,
            }
        }
        if visited[at] == start && parent[at].is_some() {
            return mean_from(parent, at);
        }
    }
    None
}

/// The mean along the cycle on which `start` lies.
fn mean_from(parent: &[Option<Arc>], start: usize) -> Option<f64> {
    let (mut sum, mut steps, mut at) = (0.0, 0.0, start);
    loop {
        let arc = parent[at]?;
        sum += arc.latency;
        steps += 1.0;
        at = arc.from as usize;
        if at == start {
            return Some(sum / steps);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::edges::Edge;

    /// The least mean over all simple cycles, tried one by one.
    fn by_trial(steps: &[Step], path: &[Step], best: &mut Option<f64>) {
        let (Some(first), Some(last)) = (path.first(), path.last()) else {
            for step in steps {
                by_trial(steps, &[*step], best);
            }
            return;
        };
        if last.to == first.from {
            let mean = path.iter().map(|it| it.fastest).sum::<f64>() / path.len() as f64;
            *best = Some(best.map_or(mean, |best| best.min(mean)));
            return;
        }
        for step in steps.iter().filter(|step| step.from == last.to) {
            if path.iter().all(|it| it.from != step.from) {
                let mut longer = path.to_owned();
                longer.push(*step);
                by_trial(steps, &longer, best);
            }
        }
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let cell = proptest::option::of(-20_i32..200);
        proptest::collection::vec(cell, 25).prop_map(|cells| {
            let step = |(at, fastest): (usize, Option<i32>)| {
                let (from, to) = (ClockId(at as u32 / 5), ClockId(at as u32 % 5));
                let fastest = f64::from(fastest?);
                (from != to).then_some(Step {
                    from,
                    to,
                    count: 1,
                    fastest,
                })
            };
            cells.into_iter().enumerate().filter_map(step).collect()
        })
    }

    proptest! {
        #[test]
        fn no_cycle_has_a_lower_mean(steps in steps()) {
            let mut best = None;
            by_trial(&steps, &[], &mut best);
            match (least_cycle_mean(steps.iter()), best) {
                (None, None) => {}
                (Some(found), Some(best)) => {
                    prop_assert!((found - best).abs() < 0.01, "{} {}", found, best);
                }
                found => prop_assert!(false, "{:?}", found),
            }
        }
    }

    #[test]
    fn too_few_messages_tell_nothing_and_one_way_neither() {
        let (a, b) = (ClockId(0), ClockId(1));
        let there = |i: i64| Edge::message(a, 10 * i, b, 10 * i + 5);
        let back = |i: i64| Edge::message(b, 10 * i, a, 10 * i + 9);
        let of = |there_count, back_count| {
            let there = (0..there_count).map(there);
            let edges = there.chain((0..back_count).map(back)).collect();
            let edges = Edges::new(edges, vec![Some((0, 10_000)); 2]);
            shortest_latency(&edges, |_, _| 0.0, |_| true)
        };
        assert_eq!(of(900, 0), None);
        assert_eq!(of(900, 7), None);
        assert_eq!(of(900, 8), Some(7.0));
        assert_eq!(of(0, 0), None);
    }

    #[test]
    fn windows_keep_what_is_far_apart_from_adding_up() {
        // The second clock falls behind by 1 in 1000 and is not aligned: over the
        // whole run there and back would seem to take 100 less.
        let (a, b) = (ClockId(0), ClockId(1));
        let of = |i: i64| {
            let late = i / 10;
            [
                Edge::message(a, 100 * i, b, 100 * i + 150 - late),
                Edge::message(b, 100 * i + 50 - late, a, 100 * i + 200),
            ]
        };
        let edges = Edges::new((0..10_000).flat_map(of).collect(), vec![None; 2]);
        let shortest = shortest_latency(&edges, |_, _| 0.0, |_| true).unwrap_or(0.0);
        assert!((140.0..=150.0).contains(&shortest), "{shortest}");
        // An edge that is left out has no say.
        let keep = |at: usize| edges.all()[at].from == a;
        assert_eq!(shortest_latency(&edges, |_, _| 0.0, keep), None);
    }
}
