//! Bounds of what has to be added to each clock, and what they are asked for under.

use serde::{Deserialize, Serialize};

use super::envelope::Envelope;
use super::line::OffsetLine;
use super::relaxation::Relaxed;
use retime_model::ClockId;

/// Assumptions about clocks, and how long the search may last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundOptions {
    /// The amount by which the rate of a clock strays from its mean rate against the reference, as
    /// a fraction: `1e-4` is 100 ppm.
    pub drift: f64,
    /// The amount by which rates differ from those of the lines at most, as a fraction, where the
    /// trace does not tell.
    pub most_difference: f64,
    /// True if a stamp stands for all moments until the next one that the clock
    /// can show; otherwise for exactly one.
    pub tick_slack: bool,
    /// How many nodes and arcs of a graph each search may look at; with more to do, bounds are
    /// wider than they could be. A core looks at some 10^8 per second.
    pub steps: u64,
}

impl BoundOptions {
    /// The amount by which a clock can change against its line per tick, if its mean rate differs
    /// from that of the line by `delta`. A drift bound that is no number bounds nothing: then as
    /// much as makes sense.
    pub(super) fn slope(&self, delta: f64) -> f64 {
        if self.drift >= 0.0 {
            (self.drift + delta).min(1.0)
        } else {
            1.0
        }
    }
}

impl Default for BoundOptions {
    fn default() -> Self {
        Self {
            drift: 1e-4,
            most_difference: 1e-3,
            tick_slack: true,
            steps: 6_000_000_000,
        }
    }
}

/// Bounds on what has to be added to each clock to show the time of
/// `reference`; where that was set, the time that it would show if it had not been.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OffsetBounds {
    /// Per clock: its bounds; `None` where nothing relates it to the reference.
    pub clocks: Vec<Option<ClockBounds>>,
    /// The clock whose time is the common one.
    pub reference: ClockId,
    /// The facts that contradict the rest under the drift bound, and was left out.
    pub relaxed: Vec<Relaxed>,
    /// True if the bounds are as narrow as they can be; otherwise the steps were used up,
    /// or too many facts contradict each other.
    pub complete: bool,
    /// True if that is for the steps alone.
    pub used_up: bool,
}

/// Bounds on what has to be added to one clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClockBounds {
    pub(super) line: OffsetLine,
    pub(super) low: Envelope,
    pub(super) high: Envelope,
    /// How far the clock can be beyond its stamp.
    pub(super) tick: f64,
    /// First and last stamp of the clock.
    pub(super) extent: (i64, i64),
}

impl ClockBounds {
    /// The least and the most ticks that have to be added at a stamp, given in
    /// ticks since the base; infinite where nothing bounds them.
    pub fn at(&self, stamp: i64) -> (f64, f64) {
        let line = self.line.at(stamp);
        let (low, high) = (line + self.low.at(stamp), line + self.high.at(stamp));
        (low, high + self.tick)
    }

    /// True if there is a lower bound at all, and an upper one.
    pub fn sides(&self) -> (bool, bool) {
        let any = |side: &Envelope| side.knots.iter().any(|knot| knot.1.is_finite());
        (any(&self.low), any(&self.high))
    }

    /// The ticks that take the steps of the reference out, in the middle of its bounds.
    pub(super) fn undoes(&self, stamp: i64) -> i64 {
        let middle = f64::midpoint(self.low.at(stamp), self.high.at(stamp));
        middle.round() as i64
    }

    /// Where the clock stepped: between these stamps.
    pub(super) fn steps(&self) -> &[(i64, i64)] {
        &self.low.steps
    }

    /// The stamps between which both bounds are linear, from the first of the
    /// clock to its last.
    pub fn stamps(&self) -> Vec<i64> {
        let (first, last) = self.extent;
        let knots = self.low.knots.iter().chain(&self.high.knots);
        let inside = knots
            .map(|knot| knot.0)
            .filter(|&at| at > first && at < last);
        let mut stamps: Vec<i64> = inside.chain([first, last]).collect();
        stamps.sort_unstable();
        stamps.dedup();
        stamps
    }
}
