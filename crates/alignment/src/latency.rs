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
//! use retime_alignment::shortest_latency;
//! use retime_causality::{Edge, Edges};
//! use retime_model::ClockId;
//! // Three clocks in a ring; each step takes 30, 40 or 50, now and then more.
//! let [a, b, c] = [0, 1, 2].map(ClockId);
//! let step = |from, to, delay: i64| {
//!     (0..60).map(move |i: i64| Edge::message(from, 1_000 * i, to, 1_000 * i + delay + i % 7))
//! };
//! let ring = step(a, b, 30).chain(step(b, c, 40)).chain(step(c, a, 50));
//! let edges = Edges::new(ring.collect(), vec![Some((0, 60_000)); 3]);
//! assert_eq!(shortest_latency(&edges, |_, _| 0.0, |_| true, &())?, Some(40.0));
//! // However far a clock is off, the mean is the same.
//! let off = |clock, _| if clock == b { 500.0 } else { 0.0 };
//! assert_eq!(shortest_latency(&edges, off, |_| true, &())?, Some(40.0));
//! # Ok::<(), retime_model::Cancelled>(())
//! ```
//!
//! The least mean of a cycle is found by improvement (Dinkelbach 1967): while
//! a cycle is negative after `mean` is taken from each step, its own mean is a
//! better one.
//!
//! [`LearnedDelay::from_shortest`]: retime_clocks::estimate::LearnedDelay::from_shortest
//! [`learn_minimal_delay`]: retime_clocks::estimate::learn_minimal_delay

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::components::components;
use super::curves::Curves;
use super::frame::Frame;
use super::links::{Link, Links};
use retime_causality::edges::{Edge, Edges, TraceEdges};
use retime_causality::edges::{Source, each_part_watched};
use retime_clocks::estimate::{Estimate, FEWEST_MESSAGES, MESSAGES_PER_WINDOW};
use retime_model::ClockId;
use retime_model::{Cancelled, Monitor};
use retime_numerics::parallel;
use retime_numerics::paths::{Arc, Start, shortest_paths};

/// How many windows are tried, and how many messages each step of a cycle needs.
const TRIED: [(u32, u32); 5] = [
    (64, MESSAGES_PER_WINDOW),
    (16, MESSAGES_PER_WINDOW),
    (4, MESSAGES_PER_WINDOW),
    (1, MESSAGES_PER_WINDOW),
    (1, FEWEST_MESSAGES),
];
/// There are never more windows than this, and as many as divide it.
const FINEST: u32 = 64;
/// Means are exact to this share of a tick.
pub(super) const TOLERANCE: f64 = 1e-3;
/// Cycles looked at per window; each is better than the one before, and seldom
/// are there more than ten.
const MOST_CYCLES: usize = 1_000;

/// The minimal delay that aligned clocks show, in ticks; below 0 where they are
/// not well aligned, `None` where no cycle of clocks exchanges enough.
///
/// `offset` says what to add to a stamp of a clock to align it; of
/// [`Edges::all`] only the positions count that `keep` lets through. Fails only if
/// `monitor` says to give up.
pub fn shortest_latency(
    edges: &Edges,
    offset: impl Fn(ClockId, i64) -> f64 + Sync,
    keep: impl Fn(usize) -> bool,
    monitor: &dyn Monitor,
) -> Result<Option<f64>, Cancelled> {
    let kept = edges.all().iter().enumerate().filter(|(at, _)| keep(*at));
    let kept = kept.map(|(_, edge)| *edge).collect();
    let extents = (0..edges.clocks() as u32).map(|clock| edges.extent(ClockId(clock)));
    let edges = Edges::new(kept, extents.collect());
    shortest(&LatencyExchange::of(&edges, offset, monitor)?, monitor)
}

/// The minimal delay that a trace shows, of clocks as `estimate` aligns them.
pub fn shortest_of_trace(
    trace: TraceEdges<'_>,
    estimate: &Estimate,
) -> Result<Option<f64>, Cancelled> {
    let add = |clock: ClockId, stamp: i64| estimate.at(clock, stamp);
    trace.at_root::<Estimate, _>(|| {
        let source = trace.dependencies(estimate)?;
        let exchange = LatencyExchange::of(&source, add, trace.monitor)?;
        shortest(&exchange, trace.monitor)
    })
}

/// The minimal delay that an exchange shows.
pub(super) fn shortest(
    exchange: &LatencyExchange,
    monitor: &dyn Monitor,
) -> Result<Option<f64>, Cancelled> {
    for (windows, fewest) in TRIED {
        let parts = exchange.windows(windows);
        let is_enough = |steps: &Vec<WindowedWay>| {
            let busy = |step: &&WindowedWay| step.count >= fewest;
            any_closes(steps.iter().filter(busy))
        };
        monitor.check()?;
        if parts.par_iter().any(is_enough) {
            let mean = |steps: &Vec<WindowedWay>| least_cycle_mean(steps.iter(), monitor);
            let means: Vec<Option<f64>> = parallel::try_map(&parts, mean)?;
            return Ok(means.into_iter().flatten().min_by(f64::total_cmp));
        }
    }
    Ok(None)
}

/// From one clock to another in one window: how often, and the fastest.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct WindowedWay {
    pub(super) from: ClockId,
    pub(super) to: ClockId,
    count: u32,
    pub(super) fastest: f64,
}

impl WindowedWay {
    fn clocks(&self) -> (ClockId, ClockId) {
        (self.from, self.to)
    }

    /// One exchange.
    #[cfg(test)]
    pub(super) fn of(from: ClockId, to: ClockId, fastest: f64) -> Self {
        Self {
            from,
            to,
            count: 1,
            fastest,
        }
    }

    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.fastest = self.fastest.min(other.fastest);
    }
}

/// The least latencies of aligned clocks, by window.
pub(super) struct LatencyExchange {
    /// [`FINEST`] windows; the steps of each by clocks.
    steps: Vec<Vec<WindowedWay>>,
    first: f64,
    last: f64,
}

impl LatencyExchange {
    /// The exchange of all that a source has, by a walk over it; `offset` aligns clocks.
    pub(super) fn of(
        source: &dyn Source,
        offset: impl Fn(ClockId, i64) -> f64 + Sync,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let sent = |edge: &Edge| edge.sent as f64 + offset(edge.from, edge.sent);
        let ends = each_part_watched(source, monitor, |part| {
            let (mut first, mut last) = (f64::INFINITY, f64::NEG_INFINITY);
            source.walk(part, &mut |edge| {
                let sent = Some(sent(&edge)).filter(|it| it.is_finite());
                first = sent.map_or(first, |it| first.min(it));
                last = sent.map_or(last, |it| last.max(it));
            });
            (first, last)
        })?;
        let both = |a: (f64, f64), b: (f64, f64)| (a.0.min(b.0), a.1.max(b.1));
        let none = (f64::INFINITY, f64::NEG_INFINITY);
        let (first, last) = ends.into_iter().fold(none, both);
        let scale = f64::from(FINEST) / (last - first).max(1.0);
        let parts = each_part_watched(source, monitor, |part| {
            let mut steps = LatencySteps::default();
            source.walk(part, &mut |edge| {
                let along = (sent(&edge) - first) * scale;
                if !along.is_finite() {
                    return;
                }
                let window = (along as u32).min(FINEST - 1);
                let added = offset(edge.to, edge.received) - offset(edge.from, edge.sent);
                let latency = edge.latency() as f64 + added;
                steps.add(window, edge.from, edge.to, 1, latency);
            });
            steps
        })?;
        Ok(Self {
            steps: finite(LatencySteps::by_window(parts)),
            first,
            last,
        })
    }

    /// The exchange of links on aligned clocks.
    pub(super) fn of_links(links: &Links, frame: &Frame, curves: &Curves) -> Self {
        let of = |link: &Link| {
            let mut steps = LatencySteps::default();
            let clocks = [link.from, link.to].map(|clock| ClockId(clock as u32));
            for (window, count, points) in links.stretches(link) {
                let window = u64::from(window) * u64::from(FINEST) / links.windows() as u64;
                let hidden = frame.grains.between(link.from, link.to);
                let latency = |point| {
                    let seen = frame.see(link, point);
                    seen.latency - hidden + curves.between(link.from, link.to, &seen)
                };
                let fastest = points.iter().map(latency).fold(f64::INFINITY, f64::min);
                steps.add(window as u32, clocks[0], clocks[1], count, fastest);
            }
            steps
        };
        Self {
            steps: finite(LatencySteps::by_window(parallel::map(links.list(), of))),
            first: 0.0,
            last: frame.axis.span,
        }
    }

    /// When a window is half over, on the common time line.
    pub(super) fn middle(&self, window: u32, windows: u32) -> i64 {
        let part = (f64::from(window) + 0.5) / f64::from(windows.max(1));
        (self.first + (self.last - self.first) * part) as i64
    }

    /// The steps by window, and of a window by clocks; `windows` divides [`FINEST`].
    pub(super) fn windows(&self, windows: u32) -> Vec<Vec<WindowedWay>> {
        let joined = |fine: &[Vec<WindowedWay>]| merged(fine.concat());
        let each = (FINEST / windows.max(1)).max(1) as usize;
        let groups: Vec<&[Vec<WindowedWay>]> = self.steps.chunks(each).collect();
        parallel::map(&groups, |it| joined(it))
    }
}

/// Steps under way.
#[derive(Default)]
struct LatencySteps {
    known: FxHashMap<(u32, ClockId, ClockId), (u32, f64)>,
}

impl LatencySteps {
    fn add(&mut self, window: u32, from: ClockId, to: ClockId, count: u32, latency: f64) {
        let step = self.known.entry((window, from, to));
        let (known, fastest) = step.or_insert((0, f64::INFINITY));
        *known += count;
        // Where nothing is a number, nothing is known.
        if latency < *fastest {
            *fastest = latency;
        }
    }

    /// The ways of all parts, by window.
    fn by_window(parts: Vec<Self>) -> Vec<Vec<WindowedWay>> {
        let mut windows = vec![Vec::new(); FINEST as usize];
        for ((window, from, to), (count, fastest)) in parts.into_iter().flat_map(|it| it.known) {
            windows[window as usize].push(WindowedWay {
                from,
                to,
                count,
                fastest,
            });
        }
        windows.into_par_iter().map(merged).collect()
    }
}

/// The ways whose latency is a number.
fn finite(mut windows: Vec<Vec<WindowedWay>>) -> Vec<Vec<WindowedWay>> {
    for steps in &mut windows {
        steps.retain(|step| step.fastest.is_finite());
    }
    windows
}

/// Steps between the same clocks in one, by clocks.
fn merged(mut steps: Vec<WindowedWay>) -> Vec<WindowedWay> {
    steps.sort_unstable_by_key(WindowedWay::clocks);
    steps.dedup_by(|step, before| {
        let same = step.clocks() == before.clocks();
        if same {
            before.add(step);
        }
        same
    });
    steps
}

/// The clocks of steps, in order.
fn clocks<'a>(steps: impl Iterator<Item = &'a WindowedWay>) -> Vec<ClockId> {
    let mut ids: Vec<ClockId> = steps.flat_map(|it| [it.from, it.to]).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// True if a cycle of steps closes.
fn any_closes<'a>(steps: impl Iterator<Item = &'a WindowedWay> + Clone) -> bool {
    let ids = clocks(steps.clone());
    let number = |clock: ClockId| ids.partition_point(|&id| id < clock);
    let pairs = steps.map(|it| (number(it.from), number(it.to)));
    let pairs: Vec<(usize, usize)> = pairs.collect();
    let component = components(ids.len(), &pairs);
    let mut pairs = pairs.into_iter();
    pairs.any(|(from, to)| component[from] == component[to])
}

/// The least mean of the fastest along any cycle of steps; `None` if none closes.
pub(super) fn least_cycle_mean<'a>(
    steps: impl Iterator<Item = &'a WindowedWay> + Clone,
    monitor: &dyn Monitor,
) -> Result<Option<f64>, Cancelled> {
    let ids = clocks(steps.clone());
    let number = |clock: ClockId| ids.partition_point(|&id| id < clock) as u32;
    let arc = |step: &WindowedWay| Arc {
        from: number(step.from),
        to: number(step.to),
        length: step.fastest,
    };
    let arcs: Vec<Arc<f64>> = steps.map(arc).collect();
    let Some(slowest) = arcs.iter().map(|arc| arc.length).reduce(f64::max) else {
        return Ok(None);
    };
    let (mut least, mut above) = (None, slowest + 1.0);
    for _ in 0..MOST_CYCLES {
        monitor.check()?;
        let Some(better) = cycle_below(ids.len(), &arcs, above) else {
            break;
        };
        (least, above) = (Some(better), better);
    }
    Ok(least)
}

/// The mean of some cycle of lower mean, if there is one: it is a negative one
/// once the mean is taken from each arc.
fn cycle_below(clocks: usize, arcs: &[Arc<f64>], mean: f64) -> Option<f64> {
    let less = |arc: &Arc<f64>| Arc {
        length: arc.length - mean,
        ..*arc
    };
    let less: Vec<Arc<f64>> = arcs.iter().map(less).collect();
    let cycle = shortest_paths(clocks, Start::Everywhere, &less, TOLERANCE).err()?;
    let sum: f64 = cycle.iter().map(|arc| arc.length + mean).sum();
    Some(sum / cycle.len() as f64).filter(|&found| found < mean)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use retime_causality::edges::Edge;

    /// The least mean over all simple cycles, tried one by one.
    fn by_trial(steps: &[WindowedWay], path: &[WindowedWay], best: &mut Option<f64>) {
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

    fn steps() -> impl Strategy<Value = Vec<WindowedWay>> {
        let cell = proptest::option::of(-20_i32..200);
        proptest::collection::vec(cell, 25).prop_map(|cells| {
            let step = |(at, fastest): (usize, Option<i32>)| {
                let (from, to) = (ClockId(at as u32 / 5), ClockId(at as u32 % 5));
                let fastest = f64::from(fastest?);
                (from != to).then_some(WindowedWay {
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
            match (least_cycle_mean(steps.iter(), &()).unwrap(), best) {
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
            shortest_latency(&edges, |_, _| 0.0, |_| true, &()).unwrap()
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
        let shortest = shortest_latency(&edges, |_, _| 0.0, |_| true, &())
            .unwrap()
            .unwrap_or(0.0);
        assert!((140.0..=150.0).contains(&shortest), "{shortest}");
        // An edge that is left out has no say.
        let keep = |at: usize| edges.all()[at].from == a;
        assert_eq!(shortest_latency(&edges, |_, _| 0.0, keep, &()), Ok(None));
    }
}
