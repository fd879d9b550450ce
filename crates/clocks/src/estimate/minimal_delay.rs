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
//! negative by less says nothing, nor does what [ticks](super::ticks) hide. What is positive is at
//! most too small by as much.
//!
//! ```text
//! (fastest there + fastest back) / 2 < - uncertain / 2 * length of the window
//! ```
//!
//! Even so `g` may exceed the true minimum, where paths are asymmetric or no
//! message met an idle receiver. Too large a delay makes the clock run away, too
//! small a one is harmless; what is *enforced* is `g / 8`, rounded down, and at most 5 us. It is 0
//! where the tick is coarser than that, and where no pair of clocks exchanges
//! enough in both directions.
//!
//! A round trip through a program that waits shows how long it waits: where one rank comes last
//! to each collective, those of the others take as long as it is late, be it a second. Messages
//! take 1 us over InfiniBand and up to 50 over TCP and Ethernet, an eighth of which is 6. Where
//! distances are longer than those between the nodes of a cluster, 5 us are too small, so harmless.
//!
//! Nothing has to be known of the clocks before, and no list of dependencies is
//! made. Once clocks are aligned, `shortest_latency` of the crate
//! `retime-alignment` tells more: it looks at all cycles of clocks at once.
//!
//! Collectives in which everybody waits for everybody count as messages both
//! ways between neighbouring ranks.
//!
//! ```
//! use retime_causality::{Causality, CausalityOptions};
//! use retime_clocks::estimate::learn_minimal_delay;
//! use retime_clocks::Grouping;
//! use retime_model::Ticks;
//! use retime_testing::trace;
//!
//! // Clock k is 1000 ahead of clock i and gains 1 tick every 1000; there takes 30, back 50.
//! let shown_by_k = |by_i: u64| by_i + 1_000 + by_i / 1_000;
//! let (mut i, mut k) = (String::new(), String::new());
//! for n in 0..100 {
//!     let start = 20_000 * n;
//!     i += &format!("send 1 @{start}, receive 1 @{}, ", start + 100);
//!     let [received, sent] = [start + 30, start + 50].map(shown_by_k);
//!     k += &format!("receive 0 @{received}, send 0 @{sent}, ");
//! }
//! let trace = trace(&format!("0 on 0: {i}\n1 on 1: {k}"))?;
//! let causality = Causality::build(&trace.info, trace.logs, CausalityOptions::default())?;
//! let clocks = Grouping::Auto.clocks(&trace.info, &causality);
//! let learned = learn_minimal_delay(&causality, &clocks, trace.info.rate, &())?;
//! let g = learned.half_round_trip.unwrap();
//! assert!((39..=41).contains(&g.0), "{g:?}");
//! assert_eq!(learned.enforced, Ticks(g.0 / 8));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::drift::{FEWEST_MESSAGES, MESSAGES_PER_WINDOW, PairDrift, Window};
use super::samples::{PairPasses, Sample, of_pairs};
use super::ticks::but_for_ticks;
use retime_causality::Causality;
use retime_causality::merge::Least;
use retime_model::{Cancelled, Clocks, Monitor, TickRate, Ticks};
use std::time::Duration;

/// The enforced share of the estimate is one part in this many.
pub(super) const SAFETY: f64 = 8.0;

/// The largest delay that is enforced though nobody gave it.
const MOST: Duration = Duration::from_micros(5);

/// The delay to enforce where the fastest takes so many ticks.
pub(super) fn enforced(shortest: f64, rate: TickRate) -> Ticks {
    let most = rate.get() as f64 * MOST.as_secs_f64();
    Ticks((shortest / SAFETY).clamp(0.0, most).floor() as i64)
}

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
    /// A learned delay of the minimal one that the trace shows, in ticks of this rate: an eighth
    /// of it is enforced, and 5 us at most.
    pub fn from_shortest(shortest: Option<f64>, rate: TickRate) -> Self {
        Self {
            enforced: shortest.map_or(Ticks(0), |it| enforced(it, rate)),
            half_round_trip: shortest.map(|it| Ticks(it.floor() as i64)),
        }
    }
}

/// Learns the minimal delay between different clocks, in a trace of so many ticks per second;
/// fails only if `monitor` says to give up.
pub fn learn_minimal_delay(
    causality: &Causality,
    clocks: &Clocks,
    rate: TickRate,
    monitor: &dyn Monitor,
) -> Result<LearnedDelay, Cancelled> {
    let halves = of_pairs::<Pair>(causality, clocks, monitor)?;
    let shortest = halves.into_iter().flatten().min();
    // The dependencies of a clock are all known where its events are.
    let Least(shortest) = causality.whole().all_reduce(Least(shortest));
    let half = |half| but_for_ticks(half as f64, causality, clocks, monitor);
    Ok(LearnedDelay::from_shortest(
        shortest.map(half).transpose()?,
        rate,
    ))
}

/// The dependencies between two clocks.
#[derive(Default)]
struct Pair {
    drift: PairDrift,
    window: Window,
    half: Option<i64>,
}

impl PairPasses for Pair {
    type Found = Option<i64>;

    fn first_pass(&mut self, sample: Sample) {
        self.drift.measure(sample);
    }

    fn end_first_pass(&mut self) {
        self.drift.end();
    }

    fn second_pass(&mut self, sample: Sample) {
        self.window.add(self.drift.without(sample));
        if self.window.has(MESSAGES_PER_WINDOW) {
            self.note_half();
        }
    }

    /// Half of the fastest round trip.
    fn found(mut self) -> Option<i64> {
        if self.window.has(FEWEST_MESSAGES) && self.half.is_none() {
            self.note_half();
        }
        self.half
    }
}

impl Pair {
    fn note_half(&mut self) {
        let window = std::mem::take(&mut self.window);
        let [there, back] = window.fastest;
        let half = i64::midpoint(there, back);
        if self.drift.is_told(half, window.first, window.last) {
            self.half = Some(self.half.map_or(half, |smallest| smallest.min(half)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime_causality::Length;

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
                length: Length::UNKNOWN,
            }
        };
        (0..120).for_each(|number| pair.first_pass(sample(number)));
        pair.end_first_pass();
        (0..120).for_each(|number| pair.second_pass(sample(number)));
        pair.found()
    }

    #[test]
    fn what_waiting_takes_is_not_enforced() {
        let enforced = |half| LearnedDelay::from_shortest(half, TickRate::NANOSECONDS).enforced;
        assert_eq!(enforced(Some(16_007.0)), Ticks(2_000));
        assert_eq!(enforced(Some(148e6)), Ticks(5_000));
        assert_eq!(enforced(Some(-10.0)), Ticks(0));
        assert_eq!(enforced(None), Ticks(0));
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
