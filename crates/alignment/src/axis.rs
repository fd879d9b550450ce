//! The common axis of all clocks.
//!
//! Clocks may be days apart. So a stamp `C` of clock `p` is moved by a whole number of ticks, which
//! loses nothing:
//!
//! ```text
//! v = C + shift_p - start                  from 0 to span
//! ```

use serde::{Deserialize, Serialize};

use retime_causality::edges::Source;
use retime_model::ClockId;

/// Where the stamps of all clocks lie once they are shifted.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Axis {
    pub(super) shifts: Vec<i64>,
    pub(super) start: i64,
    /// At least 1.
    pub(super) span: f64,
}

impl Axis {
    /// From the first shifted stamp to the last.
    pub(super) fn new(source: &dyn Source, shifts: Vec<i64>) -> Self {
        let ends = |clock: usize| {
            let (first, last) = source.extent(ClockId(clock as u32))?;
            let shift = *shifts.get(clock)?;
            Some((first.saturating_add(shift), last.saturating_add(shift)))
        };
        let ends = (0..source.clocks()).filter_map(ends);
        let all = ends.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)));
        let (start, end) = all.unwrap_or((0, 0));
        Self {
            span: (end.saturating_sub(start) as f64).max(1.0),
            start,
            shifts,
        }
    }

    /// Where a stamp of a clock is.
    pub(super) fn time(&self, clock: usize, stamp: i64) -> f64 {
        self.moved(clock, stamp).saturating_sub(self.start) as f64
    }

    /// The stamp that a clock shows nearest to a time.
    pub(super) fn stamp(&self, clock: usize, time: f64) -> i64 {
        let moved = (time.round() as i64).saturating_add(self.start);
        moved.saturating_sub(self.shifts[clock])
    }

    /// A stamp, shifted.
    #[inline]
    pub(super) fn moved(&self, clock: usize, stamp: i64) -> i64 {
        stamp.saturating_add(self.shifts[clock])
    }
}
