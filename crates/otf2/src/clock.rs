//! From the raw clock of a location to the global clock, as OTF2 does it.
//!
//! A location may have measured, now and then, how far its clock was from the
//! global one. Between two such points the offset is interpolated; before the
//! first and behind the last one the nearest interval is extrapolated. A
//! single point shifts nothing.
//!
//! The result for raw time `t` in interval `i` is
//! `t + offset[i] + round(slope[i] * (t - time[i]))`, rounded to even in
//! halves, in 64-bit arithmetic that wraps around. The differences are taken
//! on integers before they become floating-point numbers.
//!
//! OTF2 finds the interval with a cursor that only moves forward, so the
//! result depends on the times asked for before. [`ClockCursor`] does the
//! same, for the results to be equal to those of every other OTF2 tool.
//!
//! ```
//! use retime_otf2::ClockCorrection;
//!
//! // At 1000 the clock is 10 behind, at 2000 it is 20 behind.
//! let correction = ClockCorrection::new(&[(1000, 10), (2000, 20)]).unwrap();
//! let mut cursor = correction.cursor();
//! assert_eq!(cursor.correct(500), 505);
//! assert_eq!(cursor.correct(1000), 1010);
//! assert_eq!(cursor.correct(1500), 1515);
//! ```

use std::sync::Arc;

/// The line through two neighbouring clock offsets.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Interval {
    start: u64,
    end: u64,
    offset: i64,
    slope: f64,
}

/// The clock offsets of a location. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct ClockCorrection {
    intervals: Arc<[Interval]>,
}

impl ClockCorrection {
    /// From pairs of raw time and offset; `None` if the times do not
    /// increase. Fewer than two pairs correct nothing.
    pub fn new(points: &[(u64, i64)]) -> Option<Self> {
        let intervals = points
            .windows(2)
            .map(|pair| match pair {
                &[(start, offset), (end, next)] if start < end => Some(Interval {
                    start,
                    end,
                    offset,
                    slope: next.wrapping_sub(offset) as f64 / (end - start) as f64,
                }),
                _ => None,
            })
            .collect::<Option<Arc<[Interval]>>>()?;
        Some(Self { intervals })
    }

    /// True if corrected times are always the raw ones.
    pub fn is_identity(&self) -> bool {
        self.intervals
            .iter()
            .all(|interval| interval.offset == 0 && interval.slope == 0.0)
    }

    /// A cursor before the first event.
    pub fn cursor(&self) -> ClockCursor {
        ClockCursor {
            intervals: Arc::clone(&self.intervals),
            current: 0,
        }
    }
}

/// Corrects the times of a location in the order of its file.
#[derive(Clone, Debug)]
pub struct ClockCursor {
    intervals: Arc<[Interval]>,
    current: usize,
}

impl ClockCursor {
    /// The global time of a raw time. Intervals that end before it are left
    /// for good.
    #[inline]
    pub fn correct(&mut self, raw: u64) -> u64 {
        let Some(mut interval) = self.intervals.get(self.current) else {
            return raw;
        };
        while raw > interval.end
            && let Some(next) = self.intervals.get(self.current + 1)
        {
            self.current += 1;
            interval = next;
        }
        let distance = if raw >= interval.start {
            (raw - interval.start) as f64
        } else {
            -((interval.start - raw) as f64)
        };
        let shift = (interval.slope * distance).round_ties_even() as i64;
        raw.wrapping_add_signed(interval.offset)
            .wrapping_add_signed(shift)
    }
}
