//! A minimal delay that grows with the length of messages, learned from the trace.
//!
//! Of two messages between two clocks, one each way, the sum of their latencies is that of their
//! true delays, however the clocks differ. So where `mu` is a line over the length, each such
//! round trip within a window bounds it:
//!
//! ```text
//! mu(bytes) = latency + bytes / bandwidth
//!
//! mu(there) + mu(back) <= latency there + latency back
//! 2 latency + (bytes there + bytes back) / bandwidth <= the sum of both latencies
//! ```
//!
//! The lower convex hull of all these points (sum of bytes, sum of latencies) is all that counts
//! of them, and it is found without looking at all pairs: of each window the hulls of either way
//! are added edge by edge (Minkowski). Of the lines that lie below the hull, with neither a
//! latency nor a slope below 0, the one is taken that leaves the least room below the messages
//! on average: that which is the highest at their mean length.
//!
//! ```text
//! sum of latencies
//!   |  .      .   o     round trips
//!   |     .   _.-'
//!   |  o__.-'           the line under them, highest at the mean length
//!   |-'
//!   +-------|--------- sum of bytes
//! ```
//!
//! The clocks' drift is taken out before, as in [`learn_minimal_delay`], and windows are the
//! same. What is no message, or of unknown length, counts as one without bytes, since that is
//! what is asked of it.
//!
//! The line is never above what both directions prove, but it can be above a single message:
//! where paths are asymmetric, the one way may take less than half. What is *enforced* is an
//! eighth of it, of latency and slope alike, as of a minimal delay without lengths.
//!
//! ```
//! use retime_causality::{Causality, CausalityOptions, Length, LogBuilder, Message};
//! use retime_clocks::estimate::learn_by_length;
//! use retime_clocks::Grouping;
//! use retime_model::{LocationIndex, Ticks, Timestamp};
//! # let info = retime_testing::trace("0:\n1:")?.info;
//! // Clock 1 is 500 ahead. Messages take 400 ticks and one for each byte, now and then more.
//! let mut logs = [0, 1].map(|it| LogBuilder::new(LocationIndex(it)));
//! let message = |peer| Message { communicator: 0, peer: LocationIndex(peer), tag: 0 };
//! for n in 0..100 {
//!     let (start, bytes) = (10_000 * n, 100 * (n % 4));
//!     let delay = 400 + bytes + n % 3;
//!     logs[0].send(2 * n, Timestamp(start), message(1), None);
//!     logs[0].sent(Length::of(bytes));
//!     logs[1].receive(2 * n, Timestamp(start + delay + 500), message(0));
//!     logs[1].send(2 * n + 1, Timestamp(start + 5_500), message(0), None);
//!     logs[1].sent(Length::of(bytes));
//!     logs[0].receive(2 * n + 1, Timestamp(start + 5_000 + delay), message(1));
//! }
//! let logs = logs.map(|it| it.finish(200, Timestamp(0), Timestamp(1_000_000)));
//! let logs = logs.into_iter().collect::<Result<Vec<_>, _>>()?;
//! let options = CausalityOptions { keep_lengths: true, ..CausalityOptions::default() };
//! let causality = Causality::build(&info, logs, options)?;
//! let clocks = Grouping::Process.clocks(&info, &causality);
//! let line = learn_by_length(&causality, &clocks, &())?;
//! assert_eq!((line.latency, line.per_byte), (400.0, 1.0));
//! // Of a message of 300 bytes an eighth of 700 ticks is enforced.
//! assert_eq!(line.enforced(info.rate).of(Length::of(300)), Ticks(700 / 8));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Sources: Rabenseifner 2000, section 5.1, for delays by length; the bound by round trips is
//! that of [`learn_minimal_delay`].
//!
//! [`learn_minimal_delay`]: super::learn_minimal_delay

use super::drift::{FEWEST_MESSAGES, MESSAGES_PER_WINDOW, PairDrift};
use super::minimal_delay::{SAFETY, enforced};
use super::samples::{PairPasses, Sample, of_pairs};
use retime_causality::Causality;
use retime_causality::DelayByLength;
use retime_model::{Bandwidth, Cancelled, Clocks, Monitor, TickRate};
use retime_numerics::hull::{Planar, lower_hull};

/// The line below what messages of any length take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LengthLine {
    /// The delay of a message without bytes, in ticks.
    pub latency: f64,
    /// For each byte, in ticks.
    pub per_byte: f64,
}

impl LengthLine {
    /// The delay to enforce: an eighth of it, of latency 5 us at most, in a trace of so many ticks per second.
    pub fn enforced(&self, rate: TickRate) -> DelayByLength {
        let latency = enforced(self.latency, rate);
        match self.bandwidth(rate, SAFETY) {
            Some(bandwidth) => DelayByLength::new(latency, bandwidth, rate),
            None => latency.into(),
        }
    }

    /// The bandwidth that the line shows, rounded up to whole bytes per second; `None` if bytes do
    /// not count.
    pub fn shown(&self, rate: TickRate) -> Option<Bandwidth> {
        self.bandwidth(rate, 1.0)
    }

    fn bandwidth(&self, rate: TickRate, times: f64) -> Option<Bandwidth> {
        let bytes = (rate.get() as f64 / self.per_byte * times).ceil();
        // More than fits is as good as no bound, and so is what is no number.
        let fits = bytes >= 1.0 && bytes < u64::MAX as f64;
        fits.then(|| Bandwidth::per_second(bytes as u64))?
    }
}

/// Learns the line below what messages take, by their length. Fails only if `monitor` says to
/// give up. Nothing is known of lengths that were not [kept]; and without enough messages in both
/// directions all is 0.
///
/// [kept]: retime_causality::CausalityOptions::keep_lengths
pub fn learn_by_length(
    causality: &Causality,
    clocks: &Clocks,
    monitor: &dyn Monitor,
) -> Result<LengthLine, Cancelled> {
    let pairs = of_pairs::<PairByLength>(causality, clocks, monitor)?;
    let (mut messages, mut bytes) = (0, 0);
    let mut trips = Hull::default();
    for pair in pairs {
        messages += pair.messages;
        bytes += pair.bytes;
        pair.trips.points.into_iter().for_each(|it| trips.add(it));
    }
    // A round trip has two messages.
    let mean = 2.0 * bytes as f64 / messages.max(1) as f64;
    Ok(highest_below(trips.vertices(), mean))
}

/// The line with two latencies and twice the mean of bytes that is highest at `mean`, below all
/// points of a hull.
fn highest_below(hull: &[TimedLength], mean: f64) -> LengthLine {
    let lowest = hull.iter().map(|it| it.latency).min();
    let Some(lowest) = lowest.filter(|it| *it >= 0) else {
        return LengthLine::default();
    };
    let level = (lowest as f64, 0.0);
    let edges = hull.windows(2).filter_map(|ends| {
        let run = (ends[1].bytes - ends[0].bytes) as f64;
        let slope = (ends[1].latency - ends[0].latency) as f64 / run;
        let at_none = ends[0].latency as f64 - slope * ends[0].bytes as f64;
        (slope > 0.0 && at_none >= 0.0).then_some((at_none, slope))
    });
    let by_bytes = hull.iter().filter(|it| it.bytes > 0);
    let by_bytes = by_bytes.map(|it| it.latency as f64 / it.bytes as f64);
    // Without latency; it lies below all if nothing of no bytes took less than none.
    let steepest = by_bytes.min_by(f64::total_cmp).map(|slope| (0.0, slope));
    let height = |line: &(f64, f64)| line.0 + line.1 * mean;
    let lines = edges.chain(steepest);
    let highest = lines.fold(level, |best, it| {
        if height(&it) > height(&best) {
            it
        } else {
            best
        }
    });
    LengthLine {
        latency: highest.0 / 2.0,
        per_byte: highest.1,
    }
}

/// Bytes, and ticks that they took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TimedLength {
    bytes: i64,
    latency: i64,
}

impl Planar for TimedLength {
    fn is_beside(&self, other: &Self) -> bool {
        self.bytes >= other.bytes
    }

    fn is_below(&self, before: &Self, after: &Self) -> bool {
        let run = |to: &Self| i128::from(to.bytes) - i128::from(before.bytes);
        let rise = |to: &Self| i128::from(to.latency) - i128::from(before.latency);
        run(self) * rise(after) > rise(self) * run(after)
    }
}

/// Points of which only the lower hull counts.
#[derive(Default)]
struct Hull {
    points: Vec<TimedLength>,
    reduced: usize,
}

/// Points that are gathered at least before they are reduced to their hull.
const GATHERED: usize = 256;

impl Hull {
    fn add(&mut self, point: TimedLength) {
        self.points.push(point);
        if self.points.len() >= GATHERED.max(2 * self.reduced) {
            self.reduce();
        }
    }

    fn reduce(&mut self) {
        self.points.sort_unstable();
        let mut hull = Vec::new();
        lower_hull(&self.points, &mut hull);
        let vertices = hull.iter().map(|&at| self.points[at as usize]);
        self.points = vertices.collect();
        self.reduced = self.points.len();
    }

    /// The vertices, from left to right.
    fn vertices(&mut self) -> &[TimedLength] {
        self.reduce();
        &self.points
    }
}

/// Adds to `sums` the vertices of the hull of all sums of a point of either: steps along the
/// edges of both, the flatter one first.
fn add_sums(one: &[TimedLength], other: &[TimedLength], mut add: impl FnMut(TimedLength)) {
    let (mut i, mut k) = (0, 0);
    while let (Some(a), Some(b)) = (one.get(i), other.get(k)) {
        add(TimedLength {
            bytes: a.bytes + b.bytes,
            latency: a.latency.saturating_add(b.latency),
        });
        let step = |from: &TimedLength, to: Option<&TimedLength>| {
            let to = to?;
            let rise = i128::from(to.latency) - i128::from(from.latency);
            Some((rise, i128::from(to.bytes - from.bytes)))
        };
        let is_first = match (step(a, one.get(i + 1)), step(b, other.get(k + 1))) {
            (Some(of_one), Some(of_other)) => of_one.0 * of_other.1 <= of_other.0 * of_one.1,
            (of_one, _) => of_one.is_some(),
        };
        if is_first {
            i += 1;
        } else {
            k += 1;
        }
    }
}

/// The latencies of messages between two clocks, in a window.
#[derive(Default)]
struct LengthWindow {
    count: [u32; 2],
    ways: [Hull; 2],
    /// When it began and ended.
    lasts: Option<(i64, i64)>,
}

impl LengthWindow {
    fn add(&mut self, sample: Sample) {
        let way = usize::from(!sample.there);
        self.count[way] += 1;
        self.ways[way].add(TimedLength {
            bytes: bytes(&sample).into(),
            latency: sample.latency,
        });
        let (first, last) = self.lasts.unwrap_or((sample.time, sample.time));
        self.lasts = Some((first.min(sample.time), last.max(sample.time)));
    }

    fn has(&self, count: u32) -> bool {
        self.count.iter().all(|&way| way >= count)
    }
}

/// The bytes that count of a message.
fn bytes(sample: &Sample) -> u32 {
    if sample.length.is_known() {
        sample.length.number()
    } else {
        0
    }
}

/// The dependencies between two clocks.
#[derive(Default)]
struct PairByLength {
    drift: PairDrift,
    window: LengthWindow,
    found: OfPair,
}

/// The hull of the round trips of a pair, and how many messages of known length it has.
#[derive(Default)]
struct OfPair {
    trips: Hull,
    messages: u64,
    bytes: u64,
}

impl PairPasses for PairByLength {
    type Found = OfPair;

    fn first_pass(&mut self, sample: Sample) {
        self.drift.measure(sample);
    }

    fn end_first_pass(&mut self) {
        self.drift.end();
    }

    fn second_pass(&mut self, sample: Sample) {
        self.found.messages += u64::from(sample.length.is_known());
        self.found.bytes += u64::from(bytes(&sample));
        self.window.add(self.drift.without(sample));
        if self.window.has(MESSAGES_PER_WINDOW) {
            self.note_trips();
        }
    }

    fn found(mut self) -> OfPair {
        if self.window.has(FEWEST_MESSAGES) && self.found.trips.points.is_empty() {
            self.note_trips();
        }
        self.found
    }
}

impl PairByLength {
    fn note_trips(&mut self) {
        let mut window = std::mem::take(&mut self.window);
        let (first, last) = window.lasts.unwrap_or((0, 0));
        let [there, back] = &mut window.ways;
        let (drift, trips) = (&self.drift, &mut self.found.trips);
        add_sums(there.vertices(), back.vertices(), |trip| {
            if drift.is_told(trip.latency / 2, first, last) {
                trips.add(trip);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use retime_causality::Length;

    /// A pair whose clocks do not drift: (there, bytes, latency).
    fn line_of(messages: &[(bool, u32, i64)]) -> LengthLine {
        let mut pair = PairByLength::default();
        let sample = |&(there, bytes, latency): &(bool, u32, i64)| Sample {
            time: 0,
            there,
            latency,
            length: Length::of(bytes.into()),
        };
        for it in messages {
            pair.first_pass(sample(it));
        }
        pair.end_first_pass();
        for it in messages {
            pair.second_pass(sample(it));
        }
        let mut found = pair.found();
        let mean = 2.0 * found.bytes as f64 / found.messages.max(1) as f64;
        highest_below(found.trips.vertices(), mean)
    }

    proptest! {
        /// Within a window no two messages, one each way, take less together than the line says of
        /// them; and a higher line by length or latency would break that or be lower at the mean.
        #[test]
        fn the_line_lies_below_all_round_trips(
            off in -1_000_000_i64..1_000_000,
            forth in prop::collection::vec((0_u32..5_000, 0_i64..20_000), 8..50),
            back in prop::collection::vec((0_u32..5_000, 0_i64..20_000), 8..50),
        ) {
            let there = forth.iter().map(|&(bytes, delay)| (true, bytes, delay + off));
            let here = back.iter().map(|&(bytes, delay)| (false, bytes, delay - off));
            let line = line_of(&there.chain(here).collect::<Vec<_>>());
            prop_assert!(line.latency >= 0.0 && line.per_byte >= 0.0);
            let mut room = f64::INFINITY;
            for &(a, first) in &forth {
                for &(b, second) in &back {
                    let line = 2.0 * line.latency + f64::from(a + b) * line.per_byte;
                    room = room.min((first + second) as f64 - line);
                }
            }
            prop_assert!(room > -1e-6, "{line:?} is above by {}", -room);
            prop_assert!(room < 1e-6, "{line:?} could be higher by {room}");
        }

        /// The hull of sums is that of all sums.
        #[test]
        fn sums_of_hulls_are_the_hull_of_sums(
            one in prop::collection::vec((0_i64..100, -50_i64..50), 1..12),
            other in prop::collection::vec((0_i64..100, -50_i64..50), 1..12),
        ) {
            let hull = |points: &[(i64, i64)]| {
                let mut hull = Hull::default();
                for &(bytes, latency) in points {
                    hull.add(TimedLength { bytes, latency });
                }
                hull.vertices().to_vec()
            };
            let mut sums = Hull::default();
            add_sums(&hull(&one), &hull(&other), |it| sums.add(it));
            let all = one.iter().flat_map(|a| other.iter().map(move |b| (a.0 + b.0, a.1 + b.1)));
            prop_assert_eq!(sums.vertices(), hull(&all.collect::<Vec<_>>()));
        }
    }

    #[test]
    fn a_line_that_nothing_supports_is_level_or_without_latency() {
        // Longer messages take less: no bandwidth.
        let falls: Vec<_> = (0..20)
            .map(|n| (n % 2 == 0, 10 * n, 500 - i64::from(n)))
            .collect();
        let line = line_of(&falls);
        assert!(line.per_byte == 0.0 && line.latency > 0.0, "{line:?}");
        // Nearly all of the time is for bytes, and short messages were never seen.
        let steep: Vec<_> = (0..20)
            .map(|n| (n % 2 == 0, 1_000 + 100 * n, 100 * i64::from(n) + 10))
            .collect();
        let line = line_of(&steep);
        assert!(line.latency == 0.0 && line.per_byte > 0.0, "{line:?}");
        // Clocks were set.
        let set: Vec<_> = (0..20).map(|n| (n % 2 == 0, n, -5)).collect();
        assert_eq!(line_of(&set), LengthLine::default());
    }
}
