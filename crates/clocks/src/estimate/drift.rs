//! How fast two clocks part, told from what they exchange in both directions.
//!
//! In windows of at least 50 messages each way the difference of the clocks is half of what the
//! fastest there takes longer than the fastest back; the median of the slopes between windows far
//! apart (Theil-Sen) is their drift. Windows are far too noisy to follow the difference itself.
//!
//! Where messages wait they are noisier still: a difference is known to half the fastest round trip
//! of its window, `h`, so a slope between two of them to
//!
//! ```text
//! (h_a + h_b) / (t_b - t_a)
//! ```
//!
//! which is added to how far rates stray. A slope that is known worse than that of clocks of which
//! nothing is known is none.

use super::samples::Sample;
use retime_causality::edges::whole;

/// Messages each way that fill a window.
pub const MESSAGES_PER_WINDOW: u32 = 50;
/// Messages each way that a pair needs if it fills no window.
pub const FEWEST_MESSAGES: u32 = 8;
/// The amount by which the drift of a pair that was measured may differ from what it is at some
/// time, as a fraction: by as much as error bounds take rates to stray.
const MEASURED: f64 = 1e-4;
/// The amount by which two clocks may drift of which nothing is known, as a fraction: those of
/// machines that work do by less.
const UNKNOWN: f64 = 1e-3;

/// The fastest each way in a window.
#[derive(Clone, Copy)]
pub(super) struct Window {
    pub(super) count: [u32; 2],
    pub(super) fastest: [i64; 2],
    pub(super) first: i64,
    pub(super) last: i64,
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
    pub(super) fn add(&mut self, sample: Sample) {
        let way = usize::from(!sample.there);
        self.count[way] += 1;
        self.fastest[way] = self.fastest[way].min(sample.latency);
        self.first = self.first.min(sample.time);
        self.last = self.last.max(sample.time);
    }

    pub(super) fn has(&self, count: u32) -> bool {
        self.count.iter().all(|&way| way >= count)
    }
}

/// The drift between two clocks, being measured and then known.
#[derive(Default)]
pub(super) struct PairDrift {
    window: Window,
    differences: Vec<Difference>,
    drift: f64,
    /// The amount by which it may be wrong.
    uncertain: f64,
}

impl PairDrift {
    /// Takes a dependency into account.
    pub(super) fn measure(&mut self, sample: Sample) {
        self.window.add(sample);
        if self.window.has(MESSAGES_PER_WINDOW) {
            let Window {
                fastest: [there, back],
                first,
                last,
                ..
            } = std::mem::take(&mut self.window);
            self.differences.push(Difference {
                at: i64::midpoint(first, last),
                by: (there - back) / 2,
                known_to: i64::midpoint(there, back).saturating_abs(),
            });
        }
    }

    /// Makes up its mind.
    pub(super) fn end(&mut self) {
        let slope = median_slope(&std::mem::take(&mut self.differences));
        let told = slope.filter(|it| it.known_to < UNKNOWN);
        self.uncertain = told.map_or(UNKNOWN, |it| MEASURED + it.known_to);
        self.drift = told.map_or(0.0, |it| it.slope);
    }

    /// The dependency as it were without drift.
    pub(super) fn without(&self, sample: Sample) -> Sample {
        let drifted = whole(self.drift * sample.time as f64);
        let latency = if sample.there {
            sample.latency - drifted
        } else {
            sample.latency + drifted
        };
        Sample { latency, ..sample }
    }

    /// True if half a round trip says something: it is not below 0, or by more than clocks drift
    /// apart within the window that it is from.
    pub(super) fn is_told(&self, half: i64, first: i64, last: i64) -> bool {
        let length = last.saturating_sub(first) as f64;
        half >= 0 || (half as f64) < -self.uncertain / 2.0 * length
    }
}

/// The difference of two clocks in the middle of a full window, in ticks.
#[derive(Clone, Copy)]
struct Difference {
    at: i64,
    by: i64,
    known_to: i64,
}

/// The slope between two differences.
#[derive(Clone, Copy)]
struct KnownSlope {
    slope: f64,
    known_to: f64,
}

/// Median of the slopes between windows far apart; `None` for too few windows.
fn median_slope(windows: &[Difference]) -> Option<KnownSlope> {
    let apart = windows.len().div_ceil(2);
    let pairs = windows.iter().zip(windows.get(apart..).unwrap_or_default());
    let slopes = pairs.filter(|(a, b)| b.at > a.at).map(|(a, b)| {
        let time = (b.at - a.at) as f64;
        KnownSlope {
            slope: (b.by - a.by) as f64 / time,
            known_to: (a.known_to as f64 + b.known_to as f64) / time,
        }
    });
    let mut slopes: Vec<KnownSlope> = slopes.collect();
    if slopes.is_empty() {
        return None;
    }
    let middle = slopes.len() / 2;
    let by_slope = |a: &KnownSlope, b: &KnownSlope| a.slope.total_cmp(&b.slope);
    Some(*slopes.select_nth_unstable_by(middle, by_slope).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four windows of a pair whose clocks agree, a second apart, in which the fastest take this
    /// long there and back.
    fn drift(there: [i64; 4], back: [i64; 4]) -> PairDrift {
        let mut pair = PairDrift::default();
        for (window, latencies) in (0..).zip(there.into_iter().zip(back)) {
            for message in 0..MESSAGES_PER_WINDOW {
                for (there, latency) in [(true, latencies.0), (false, latencies.1)] {
                    pair.measure(Sample {
                        time: 1_000_000_000 * window + i64::from(message),
                        there,
                        latency,
                        length: retime_causality::Length::UNKNOWN,
                    });
                }
            }
        }
        pair.end();
        pair
    }

    #[test]
    fn a_slope_is_known_as_well_as_messages_are_fast() {
        let tight = drift([2_000, 2_100, 1_900, 2_000], [2_000; 4]);
        assert!(tight.drift.abs() < 1e-7 && (tight.uncertain - MEASURED).abs() < 3e-6);
        // Messages there wait, by turns for ever longer: that looks like a drift of 75 ppm.
        let loose = drift([300_000, 400_000, 500_000, 700_000], [200_000; 4]);
        assert!((loose.drift - 5e-5).abs() < 3e-5, "{}", loose.drift);
        assert!(loose.uncertain > MEASURED + loose.drift);
        let waiting = drift([2_000_000, 9_000_000, 1_000_000, 5_000_000], [3_000_000; 4]);
        assert_eq!((waiting.drift, waiting.uncertain), (0.0, UNKNOWN));
    }
}
