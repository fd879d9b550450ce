//! How fast two clocks part, told from what they exchange in both directions.
//!
//! In windows of at least 50 messages each way the difference of the clocks is half of what the
//! fastest there takes longer than the fastest back; the median of the slopes between windows far
//! apart (Theil-Sen) is their drift. Windows are far too noisy to follow the difference itself.

use super::samples::Sample;
use crate::edges::whole;

/// Messages each way that fill a window.
pub(crate) const WINDOW: u32 = 50;
/// Messages each way that a pair needs if it fills no window.
pub(crate) const FEWEST: u32 = 8;
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
    /// Middle of each full window, and clock difference there.
    differences: Vec<(i64, i64)>,
    drift: f64,
    /// The amount by which it may be wrong.
    uncertain: f64,
}

impl PairDrift {
    /// Takes a dependency into account.
    pub(super) fn measure(&mut self, sample: Sample) {
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

    /// Makes up its mind.
    pub(super) fn end(&mut self) {
        let slope = median_slope(&std::mem::take(&mut self.differences));
        self.uncertain = if slope.is_some() { MEASURED } else { UNKNOWN };
        self.drift = slope.unwrap_or(0.0);
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
