//! Testing if two clocks can differ as some calls say.
//!
//! If call `k` of two ranks belongs to one operation in which nobody ends before all have
//! begun, then what has to be added to the clock of `a` to get that of `b` lies between
//!
//! ```text
//! low_k  = begin of b - end of a      since b begins before a ends
//! high_k = end of b - begin of a      since a begins before b ends
//! ```
//!
//! Clocks of computers differ by a straight line over the minutes that a profile covers. So
//! if calls belong together as assumed, there is a line `o + d t` between all `low_k` and
//! `high_k`; where iterations do not last equally long, there is none for calls that do not.
//! With the slope `d` given, the best `o` leaves the gap
//!
//! ```text
//! g(d) = max_k (low_k - d t_k) - min_k (high_k - d t_k)
//! ```
//!
//! which is convex in `d`: the smallest is found by bisection of its slope, and there is a
//! line if it is not positive.

/// How much rates of clocks can differ: ten times what the worst crystals do.
const STEEPEST: f64 = 1e-3;

/// How far a clock strays from a straight line, as part of the time that is looked at:
/// crystals keep their rate to a millionth while their temperature changes little.
const STRAY: f64 = 1e-6;

/// The interval in which one operation allows the difference of two clocks, all in nanoseconds;
/// infinite on a side where it allows any.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DifferenceInterval {
    /// When it was, from some moment in the run.
    pub(super) at: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl DifferenceInterval {
    /// The interval of the difference the other way round.
    pub(super) fn reversed(&self) -> Self {
        Self {
            low: -self.high,
            high: -self.low,
            ..*self
        }
    }
}

/// True if some straight line satisfies them all.
pub(super) fn is_possible(all: &[DifferenceInterval]) -> bool {
    let span = |it: &DifferenceInterval| it.at;
    let first = all.iter().map(span).fold(f64::INFINITY, f64::min);
    let last = all.iter().map(span).fold(f64::NEG_INFINITY, f64::max);
    let stray = STRAY * (last - first);
    if all.len() < 2 {
        return all.iter().all(|it| it.low <= it.high);
    }
    let (mut low, mut high) = (-STEEPEST, STEEPEST);
    // Each step halves the slopes that are left; after this many they differ by less than a
    // nanosecond a day.
    for _ in 0..48 {
        let slope = f64::midpoint(low, high);
        let (gap, rising) = gap(all, slope);
        if gap <= stray {
            return true;
        }
        if rising {
            high = slope;
        } else {
            low = slope;
        }
    }
    false
}

/// The gap that a slope leaves, and whether a steeper one leaves a larger one.
fn gap(all: &[DifferenceInterval], slope: f64) -> (f64, bool) {
    let mut lowest = (f64::NEG_INFINITY, 0.0);
    let mut highest = (f64::INFINITY, 0.0);
    for it in all {
        let low = it.low - slope * it.at;
        if low > lowest.0 {
            lowest = (low, it.at);
        }
        let high = it.high - slope * it.at;
        if high < highest.0 {
            highest = (high, it.at);
        }
    }
    // d g / d slope = -t of the one that limits from below + t of the one from above.
    (lowest.0 - highest.0, highest.1 > lowest.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_or_there_is_none() {
        // 20 ppm over ten seconds, known to 100 us either way.
        let line = |k: f64| DifferenceInterval {
            at: k * 1e9,
            low: 5e6 + 2e4 * k - 1e5,
            high: 5e6 + 2e4 * k + 1e5,
        };
        let all: Vec<DifferenceInterval> = (0..=10).map(|k| line(f64::from(k))).collect();
        assert!(is_possible(&all));
        // One operation in the middle is off by more than that.
        let mut bent = all.clone();
        bent[5].low += 2.5e5;
        bent[5].high += 2.5e5;
        assert!(!is_possible(&bent));
        // A difference of rates that no clocks have.
        let steep = |k: f64| DifferenceInterval {
            at: k * 1e9,
            low: 2e6 * k - 1e5,
            high: 2e6 * k + 1e5,
        };
        let all: Vec<DifferenceInterval> = (0..=10).map(|k| steep(f64::from(k))).collect();
        assert!(!is_possible(&all));
        assert!(is_possible(&[]));
    }
}
