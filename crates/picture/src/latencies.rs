//! How long messages took: counted in bins that grow with the latency.
//!
//! A latency `x` of either sign falls into bin `sign(x) * (1 + 8 log2 |x|)`, rounded
//! down, so that bins are some 9 % wide.
//! Zero has a bin of its own.
//!
//! ```
//! use retime_picture::LogBins;
//! let mut bins = LogBins::default();
//! for latency in [-70_000, 90, 100, 110, 2_000_000] {
//!     bins.add(latency);
//! }
//! assert_eq!(bins.count(), 5);
//! // The middle one lies in a bin; among those of that bin it is found exactly.
//! let mut middle = bins.middle().unwrap();
//! for latency in [-70_000, 90, 100, 110, 2_000_000] {
//!     middle.offer(latency);
//! }
//! assert_eq!(middle.value(), Some(100));
//! ```

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::Subject;
use crate::subject::Kind;

/// Bins for each factor of two.
const PER_OCTAVE: u32 = 8;

/// Counts of latencies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogBins {
    bins: FxHashMap<i32, u64>,
    count: u64,
}

impl LogBins {
    /// Counts a latency, in ticks.
    pub fn add(&mut self, latency: i64) {
        *self.bins.entry(bin(latency)).or_default() += 1;
        self.count += 1;
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Where the middle one lies, of an even number the lower of both; `None` if there are
    /// none.
    pub fn middle(&self) -> Option<Middle> {
        let mut left = self.count.div_ceil(2);
        let mut bins: Vec<(i32, u64)> = self.bins.iter().map(|(&bin, &it)| (bin, it)).collect();
        bins.sort_unstable();
        for (bin, count) in bins {
            if count >= left {
                return Some(Middle {
                    bin,
                    before: (left - 1) as usize,
                    values: Vec::with_capacity(count as usize),
                });
            }
            left -= count;
        }
        None
    }
}

/// The exact middle of latencies that were counted in bins and are offered a second time:
/// only those of one bin are kept.
#[derive(Clone, Debug)]
pub struct Middle {
    bin: i32,
    /// How many of the bin are before it.
    before: usize,
    values: Vec<i64>,
}

impl Middle {
    /// Takes a latency, in ticks, if it may be the middle one.
    pub fn offer(&mut self, latency: i64) {
        if bin(latency) == self.bin {
            self.values.push(latency);
        }
    }

    /// The middle one; `None` unless all were offered.
    pub fn value(mut self) -> Option<i64> {
        let before = self.before;
        (before < self.values.len()).then(|| *self.values.select_nth_unstable(before).1)
    }
}

/// The bin of a latency.
fn bin(latency: i64) -> i32 {
    let size = latency.unsigned_abs();
    if size == 0 {
        return 0;
    }
    let octaves = (size as f64).log2() * f64::from(PER_OCTAVE);
    let bin = 1 + octaves.floor() as i32;
    if latency < 0 { -bin } else { bin }
}

/// Between which latencies those of a bin lie.
fn edges(bin: i32) -> (f64, f64) {
    let edge = |octaves: i32| (f64::from(octaves) / f64::from(PER_OCTAVE)).exp2();
    match bin {
        0 => (0.0, 0.0),
        1.. => (edge(bin - 1), edge(bin)),
        _ => (-edge(-bin), -edge(-bin - 1)),
    }
}

/// How long messages took, or if there are none, how long after the last begin a
/// collective ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Latencies {
    /// The kind of latencies that are counted: `messages`, or `collective ends`.
    pub what: &'static str,
    /// Numbers of latencies by size, by rising latency; bins without any are left out.
    pub bins: Vec<Bin>,
    /// The middle one as recorded, in ticks.
    pub median_recorded: Option<i64>,
    /// The median of corrected latencies.
    pub median_corrected: Option<i64>,
}

/// How many latencies lie between two, in ticks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// From here
    pub from: f64,
    /// to here.
    pub to: f64,
    /// So many as recorded,
    pub recorded: u64,
    /// and so many as corrected.
    pub corrected: u64,
}

impl Latencies {
    pub(crate) fn of(subject: &Subject<'_>) -> Self {
        let messages = subject.causality.messages() > 0;
        let counted = if messages {
            Kind::Message
        } else {
            Kind::Collective
        };
        let count = |time: &(dyn Fn(_) -> i64 + Sync)| {
            let each = |visit: &mut dyn FnMut(i64)| {
                subject.each_dependency(time, |cause, effect, kind| {
                    if kind == counted {
                        visit(time(effect) - time(cause));
                    }
                });
            };
            let mut bins = LogBins::default();
            each(&mut |latency| bins.add(latency));
            let mut middle = bins.middle();
            if let Some(middle) = &mut middle {
                each(&mut |latency| middle.offer(latency));
            }
            (bins, middle.and_then(Middle::value))
        };
        let is_corrected = subject.corrected.is_some();
        let (recorded, corrected) = rayon::join(
            || count(&|node| subject.recorded(node)),
            || is_corrected.then(|| count(&|node| subject.time(node))),
        );
        let (recorded, median_recorded) = recorded;
        let (corrected, median_corrected) = corrected.unwrap_or_default();
        let mut bins: Vec<i32> = recorded.bins.keys().copied().collect();
        bins.extend(corrected.bins.keys());
        bins.sort_unstable();
        bins.dedup();
        let of = |bins: &LogBins, bin: i32| bins.bins.get(&bin).copied().unwrap_or_default();
        let bins = bins.into_iter().map(|bin| Bin {
            from: edges(bin).0,
            to: edges(bin).1,
            recorded: of(&recorded, bin),
            corrected: of(&corrected, bin),
        });
        Self {
            what: if messages {
                "messages"
            } else {
                "collective ends"
            },
            bins: bins.collect(),
            median_recorded,
            median_corrected,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_latency_lies_between_the_edges_of_its_bin(latency in any::<i64>()) {
            let (from, to) = edges(bin(latency));
            let (latency, slack) = (latency as f64, (latency as f64).abs() * 1e-12);
            prop_assert!(from - slack <= latency && latency <= to + slack);
            prop_assert!(to - from <= 0.095 * from.abs().max(to.abs()));
        }

        #[test]
        fn the_median_is_the_middle(mut all in proptest::collection::vec(-1_000_000..1_000_000_i64, 1..50)) {
            let mut bins = LogBins::default();
            for &it in &all {
                bins.add(it);
            }
            let mut middle = bins.middle().unwrap();
            for &it in &all {
                middle.offer(it);
            }
            all.sort_unstable();
            prop_assert_eq!(middle.value(), Some(all[(all.len() - 1) / 2]));
        }
    }

    #[test]
    fn bins_of_both_signs_mirror_each_other() {
        assert_eq!(edges(bin(0)), (0.0, 0.0));
        assert_eq!(edges(1), (1.0, 2_f64.powf(0.125)));
        assert_eq!(edges(-1), (-(2_f64.powf(0.125)), -1.0));
        assert!(LogBins::default().middle().is_none());
    }
}
