//! A safe minimal delay, learned from the trace.
//!
//! One-way latencies say nothing about the minimal delay: they contain the
//! unknown difference of two clocks. In a round trip it cancels. So for each
//! pair of clocks, in windows of at least 50 messages each way,
//!
//! ```text
//! g = min over pairs and windows of  (fastest there + fastest back) / 2
//! ```
//!
//! Drift would spoil the sum: while a window lasts the clocks part by
//! `drift * length`. Hence two passes: the first takes the difference of the
//! clocks, `(fastest there - fastest back) / 2`, window by window, and the
//! median of the slopes between windows (Theil-Sen) as their drift; the second
//! takes the fastest again without that drift. Windows are far too noisy to
//! follow the difference itself.
//!
//! That drift is known to some extent only, and a window lasts until it is full, of a program that
//! says little for seconds. So a round trip that comes out negative says that a clock was set, or a
//! stamp is wrong, only if it is so by more than such a rate makes of the window; what is
//! negative by less says nothing. What is positive is at most too small by as much.
//!
//! ```text
//! (fastest there + fastest back) / 2 < - uncertain / 2 * length of the window
//! ```
//!
//! Even so `g` may exceed the true minimum, where paths are asymmetric or no
//! message met an idle receiver. Too large a delay makes the clock run away, too
//! small a one is harmless; what is *enforced* is `g / 8`, rounded down. It is 0
//! where the tick is coarser than that, and where no pair of clocks exchanges
//! enough in both directions.
//!
//! Nothing has to be known of the clocks before, and no list of dependencies is
//! made. Once clocks are aligned, [`shortest_latency`] tells more: it looks at
//! all cycles of clocks at once.
//!
//! Collectives in which everybody waits for everybody count as messages both
//! ways between neighbouring ranks.
//!
//! ```
//! use retime::causality::{Causality, CausalityOptions};
//! use retime::estimate::learn_minimal_delay;
//! use retime::{Grouping, Ticks};
//! use retime_testing::trace;
//!
//! // Clock k is 1000 ahead of clock i and gains 1 tick every 1000; there takes 30, back 50.
//! let shown_by_k = |by_i: u64| by_i + 1_000 + by_i / 1_000;
//! let (mut i, mut k) = (String::new(), String::new());
//! for n in 0..100 {
//!     let start = 200 * n;
//!     i += &format!("send 1 @{start}, receive 1 @{}, ", start + 100);
//!     let [received, sent] = [start + 30, start + 50].map(shown_by_k);
//!     k += &format!("receive 0 @{received}, send 0 @{sent}, ");
//! }
//! let trace = trace(&format!("0 on 0: {i}\n1 on 1: {k}"))?;
//! let causality = Causality::build(&trace.info, trace.logs, CausalityOptions::default())?;
//! let clocks = Grouping::Auto.clocks(&trace.info, &causality);
//! let learned = learn_minimal_delay(&causality, &clocks, &())?;
//! let g = learned.half_round_trip.unwrap();
//! assert!((39..=41).contains(&g.0), "{g:?}");
//! assert_eq!(learned.enforced, Ticks(g.0 / 8));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`shortest_latency`]: crate::align::shortest_latency

use rayon::prelude::*;

use crate::causality::{Causality, Class, EventNode, Role};
use crate::edges::whole;
use crate::merge::Least;
use crate::pace::Pace;
use retime_model::{Cancelled, Monitor};
use retime_model::{ClockId, Clocks, Ticks};

/// Messages each way that fill a window.
pub(crate) const WINDOW: u32 = 50;
/// Messages each way that a pair needs if it fills no window.
pub(crate) const FEWEST: u32 = 8;
/// The enforced share of the estimate is one part in this many.
const SAFETY: f64 = 8.0;

/// The amount by which the drift of a pair that was measured may differ from what it is at some
/// time, as a fraction: by as much as error bounds take rates to stray.
const MEASURED: f64 = 1e-4;
/// The amount by which two clocks may drift of which nothing is known, as a fraction: those of
/// machines that work do by less.
const UNKNOWN: f64 = 1e-3;

/// The minimal delay that was learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LearnedDelay {
    /// The delay to enforce.
    pub enforced: Ticks,
    /// Half of the fastest round trip; `None` if no pair of clocks exchanged
    /// enough in both directions.
    pub half_round_trip: Option<Ticks>,
}

impl LearnedDelay {
    /// A learned delay of the minimal one that the trace shows, in ticks: an eighth of it is
    /// enforced.
    pub fn from_shortest(shortest: Option<f64>) -> Self {
        let down = |ticks: f64| Ticks(ticks.floor() as i64);
        Self {
            enforced: shortest.map_or(Ticks(0), |it| down((it / SAFETY).max(0.0))),
            half_round_trip: shortest.map(down),
        }
    }
}

/// Learns the minimal delay between different clocks; fails only if `monitor` says to
/// give up.
pub fn learn_minimal_delay(
    causality: &Causality,
    clocks: &Clocks,
    monitor: &dyn Monitor,
) -> Result<LearnedDelay, Cancelled> {
    causality.nodes().keep_clocks_together(clocks);
    // Each speaks for its pairs with those after it, and the last has none.
    let before_last = clocks.iter().take(clocks.len().saturating_sub(1));
    let before_last: Vec<ClockId> = before_last.collect();
    let numbers = || Numbers::new(clocks.len());
    let halves = before_last
        .into_par_iter()
        .map_init(numbers, |numbers, clock| {
            numbers.clear();
            let mut pairs: Vec<Pair> = Vec::new();
            each_sample(causality, clocks, clock, monitor, |peer, sample| {
                let number = numbers.of(peer);
                if number == pairs.len() {
                    pairs.push(Pair::default());
                }
                pairs[number].first_pass(sample);
            })?;
            pairs.iter_mut().for_each(Pair::end_first_pass);
            each_sample(causality, clocks, clock, monitor, |peer, sample| {
                pairs[numbers.of(peer)].second_pass(sample);
            })?;
            Ok(pairs.into_iter().filter_map(Pair::half_round_trip).min())
        });
    let halves: Vec<Option<i64>> = halves.collect::<Result<_, Cancelled>>()?;
    let shortest = halves.into_iter().flatten().min();
    // The dependencies of a clock are all known where its events are.
    let Least(shortest) = causality.whole().all_reduce(Least(shortest));
    Ok(LearnedDelay::from_shortest(
        shortest.map(|half| half as f64),
    ))
}

/// Numbers for the peers of a clock, in the order in which they are met. One table serves all
/// clocks that are taken at one go: one for each would take the square of their number.
struct Numbers {
    /// Per clock: its number plus 1; 0 for a clock that was not met.
    by_clock: Vec<u32>,
    met: Vec<ClockId>,
}

impl Numbers {
    fn new(clocks: usize) -> Self {
        Self {
            by_clock: vec![0; clocks],
            met: Vec::new(),
        }
    }

    /// Forgets all that were met.
    fn clear(&mut self) {
        for clock in self.met.drain(..) {
            self.by_clock[clock.as_usize()] = 0;
        }
    }

    /// The number of a peer, the next one if it was not met before.
    fn of(&mut self, peer: ClockId) -> usize {
        let number = &mut self.by_clock[peer.as_usize()];
        if *number == 0 {
            self.met.push(peer);
            *number = self.met.len() as u32;
        }
        *number as usize - 1
    }
}

/// A dependency between clock `i` and clock `k > i`.
#[derive(Clone, Copy)]
struct Sample {
    /// When it touched clock `i`.
    time: i64,
    /// From `i` to `k`?
    there: bool,
    /// Effect minus cause, on their clocks.
    latency: i64,
}

/// The fastest each way in a window.
#[derive(Clone, Copy)]
struct Window {
    count: [u32; 2],
    fastest: [i64; 2],
    first: i64,
    last: i64,
}

impl Default for Window {
    fn default() -> Self {
        Self {
            count: [0; 2],
            fastest: [i64::MAX; 2],
            first: i64::MAX,
            last: i64::MIN,
        }
    }
}

impl Window {
    fn add(&mut self, sample: Sample) {
        let way = usize::from(!sample.there);
        self.count[way] += 1;
        self.fastest[way] = self.fastest[way].min(sample.latency);
        self.first = self.first.min(sample.time);
        self.last = self.last.max(sample.time);
    }

    fn has(&self, count: u32) -> bool {
        self.count.iter().all(|&way| way >= count)
    }
}

/// The dependencies between two clocks.
#[derive(Default)]
struct Pair {
    window: Window,
    /// Middle of each full window, and clock difference there.
    differences: Vec<(i64, i64)>,
    drift: f64,
    /// The amount by which it may be wrong.
    uncertain: f64,
    half: Option<i64>,
}

impl Pair {
    fn first_pass(&mut self, sample: Sample) {
        self.window.add(sample);
        if self.window.has(WINDOW) {
            let Window {
                fastest: [there, back],
                first,
                last,
                ..
            } = std::mem::take(&mut self.window);
            self.differences
                .push((i64::midpoint(first, last), (there - back) / 2));
        }
    }

    fn end_first_pass(&mut self) {
        self.window = Window::default();
        let slope = median_slope(&self.differences);
        self.uncertain = if slope.is_some() { MEASURED } else { UNKNOWN };
        self.drift = slope.unwrap_or(0.0);
    }

    fn second_pass(&mut self, sample: Sample) {
        let drifted = whole(self.drift * sample.time as f64);
        let latency = if sample.there {
            sample.latency - drifted
        } else {
            sample.latency + drifted
        };
        self.window.add(Sample { latency, ..sample });
        if self.window.has(WINDOW) {
            self.note_half();
        }
    }

    fn note_half(&mut self) {
        let window = std::mem::take(&mut self.window);
        let [there, back] = window.fastest;
        let half = i64::midpoint(there, back);
        let length = window.last.saturating_sub(window.first) as f64;
        if half < 0 && half as f64 >= -self.uncertain / 2.0 * length {
            return;
        }
        self.half = Some(self.half.map_or(half, |smallest| smallest.min(half)));
    }

    fn half_round_trip(mut self) -> Option<i64> {
        if self.window.has(FEWEST) && self.half.is_none() {
            self.note_half();
        }
        self.half
    }
}

/// Median of the slopes between points far apart; `None` for too few points.
fn median_slope(points: &[(i64, i64)]) -> Option<f64> {
    let apart = points.len().div_ceil(2);
    let pairs = points.iter().zip(points.get(apart..).unwrap_or_default());
    let slopes = pairs
        .filter(|(a, b)| b.0 > a.0)
        .map(|(a, b)| (b.1 - a.1) as f64 / (b.0 - a.0) as f64);
    let mut slopes: Vec<f64> = slopes.collect();
    if slopes.is_empty() {
        return None;
    }
    let middle = slopes.len() / 2;
    Some(*slopes.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// Visits the dependencies between `clock` and clocks of higher number, in the
/// order of `clock`'s locations and events.
fn each_sample(
    causality: &Causality,
    clocks: &Clocks,
    clock: ClockId,
    monitor: &dyn Monitor,
    mut visit: impl FnMut(ClockId, Sample),
) -> Result<(), Cancelled> {
    let nodes = causality.nodes();
    let mut see = |own: EventNode, there: bool, other: EventNode| {
        let peer = clocks.of(nodes.location(other));
        if peer > clock {
            let (own, other) = (nodes.time(own).0, nodes.time(other).0);
            let latency = if there { other - own } else { own - other };
            let sample = Sample {
                time: own,
                there,
                latency,
            };
            visit(peer, sample);
        }
    };
    let mut pace = Pace::of(monitor);
    for location in clocks.locations(clock) {
        for node in nodes.of(location.as_usize()) {
            pace.event()?;
            match nodes.role(node) {
                Role::Send => {
                    if let Some(receive) = causality.message_target(node) {
                        see(node, true, receive);
                    }
                }
                Role::Receive => {
                    if let Some(send) = causality.message_source(node) {
                        see(node, false, send);
                    }
                }
                Role::CollectiveEnd => neighbours(causality, node, &mut see),
                Role::CollectiveBegin => {}
            }
        }
    }
    Ok(())
}

/// Visits the dependencies both ways between the participant that ends with
/// `end` and its neighbours, if everybody waits for everybody: its own node, whether
/// that is the cause, and the neighbour's.
fn neighbours(
    causality: &Causality,
    end: EventNode,
    mut visit: impl FnMut(EventNode, bool, EventNode),
) {
    let Some(slot) = causality.slot(end) else {
        return;
    };
    let (nodes, collectives) = (causality.nodes(), causality.collectives());
    let (instance, place) = collectives.locate(slot);
    if collectives.operation(instance).class != Class::AllToAll {
        return;
    }
    let participants = collectives.participants(instance);
    for other in [place.wrapping_sub(1), place + 1] {
        let Some(neighbour) = participants.get(other) else {
            continue;
        };
        let (Some(own_begin), Some(begin), Some(theirs)) = (
            participants[place].cause(),
            neighbour.cause(),
            neighbour.effect(),
        ) else {
            continue;
        };
        if collectives.depends(instance, place, other) {
            // Those of a rank that lacks calls may be of two of its threads.
            if nodes.location(own_begin) == nodes.location(end) {
                visit(own_begin, true, theirs);
            }
            visit(end, false, begin);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sixty messages each way, one every 10 ms by turns, of 20 us and more, with a clock that gains
    /// `rate` and is set by `step` in the middle.
    fn half(rate: f64, step: i64) -> Option<i64> {
        let mut pair = Pair::default();
        let sample = |number: i64| {
            let time = 10_000_000 * number;
            let off = (rate * time as f64) as i64 + if number > 60 { step } else { 0 };
            let there = number % 2 == 0;
            let delay = 20_000 + 1_000 * (number % 7);
            Sample {
                time,
                there,
                latency: if there { delay + off } else { delay - off },
            }
        };
        (0..120).for_each(|number| pair.first_pass(sample(number)));
        pair.end_first_pass();
        (0..120).for_each(|number| pair.second_pass(sample(number)));
        pair.half_round_trip()
    }

    #[test]
    fn drift_within_a_long_window_is_no_step() {
        assert_eq!(half(0.0, 0), Some(20_000));
        // Within a window of a second clocks part by 100 us, by more than messages take.
        assert!(half(1e-4, 0).is_none_or(|it| it >= 0));
        let set = half(0.0, -5_000_000).unwrap();
        assert!(set < -2_000_000, "{set}");
    }
}
