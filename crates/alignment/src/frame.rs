//! Where offsets are looked for: on the common [axis](super::axis), beside a line per clock.
//!
//! ```text
//! y_p(v) = intercept_p + drift_p v + z_p(v)       v a moment of the axis
//! ```
//!
//! Latencies count as longer by what the [grains](super::grains) of both clocks hide.
//!
//! What has to be added to the clock is `shift_p + y_p(v)`; the line is the
//! [base](super::lines), and `z_p`, a piecewise linear function, the
//! [rest](super::curves).

use serde::{Deserialize, Serialize};

use super::axis::Axis;
use super::grains::Grains;
use super::line::Line;
use super::links::Link;
use super::recorded::RecordedOffsets;
use super::reduced::LinkPoint;
use retime_causality::edges::Source;
use retime_model::{Cancelled, Monitor};

/// Shifts and lines of all clocks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Frame {
    pub(super) axis: Axis,
    pub(super) lines: Vec<Line>,
    /// The ticks of the clocks, which may be coarser than one of the trace.
    pub(super) grains: Grains,
    /// The clock whose time the lines leave as it is.
    pub(super) reference: usize,
    /// Clocks, one of each component, whose time the curves leave as it is.
    pub(super) pinned: Vec<usize>,
    /// Where clocks are as recorded.
    pub(super) recorded: RecordedOffsets,
}

impl Frame {
    /// Without lines.
    pub(super) fn new(
        source: &dyn Source,
        shifts: Vec<i64>,
        reference: usize,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let grains = Grains::new(source.granularities(monitor)?);
        Ok(Self::with_grains(source, grains, shifts, reference))
    }

    /// A frame of the same grains and reference with other shifts.
    pub(super) fn shifted(&self, source: &dyn Source, shifts: Vec<i64>) -> Self {
        Self::with_grains(source, self.grains.clone(), shifts, self.reference)
    }

    fn with_grains(
        source: &dyn Source,
        grains: Grains,
        shifts: Vec<i64>,
        reference: usize,
    ) -> Self {
        Self {
            lines: vec![Line::default(); shifts.len()],
            axis: Axis::new(source, shifts),
            grains,
            reference,
            pinned: Vec::new(),
            recorded: RecordedOffsets::default(),
        }
    }

    /// A stamp of a clock on the common axis.
    pub(super) fn time(&self, clock: usize, stamp: i64) -> f64 {
        self.axis.time(clock, stamp)
    }

    /// Shift and line of a clock at a stamp.
    pub(super) fn add(&self, clock: usize, stamp: i64) -> f64 {
        self.axis.shifts[clock] as f64 + self.lines[clock].at(self.time(clock, stamp))
    }

    /// With lines added.
    pub(super) fn tilted(mut self, lines: &[Line]) -> Self {
        for (line, more) in self.lines.iter_mut().zip(lines) {
            *line = *line + *more;
        }
        self
    }

    /// A dependency as the shifted clocks see it.
    #[inline]
    pub(super) fn see(&self, link: &Link, point: &LinkPoint) -> FramedDependency {
        self.see_between(link.from, link.to, point)
    }

    /// A dependency between these clocks as the shifted clocks see it.
    #[inline]
    pub(super) fn see_between(
        &self,
        from: usize,
        to: usize,
        point: &LinkPoint,
    ) -> FramedDependency {
        let axis = &self.axis;
        let (sent, received) = (axis.moved(from, point.sent), axis.moved(to, point.received));
        let moved = FramedDependency {
            sent: sent.saturating_sub(axis.start) as f64,
            received: received.saturating_sub(axis.start) as f64,
            latency: received.saturating_sub(sent) as f64,
        };
        let line = self.lines[to].at(moved.received) - self.lines[from].at(moved.sent);
        FramedDependency {
            latency: moved.latency + line + self.grains.between(from, to),
            ..moved
        }
    }
}

/// A dependency on the common axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FramedDependency {
    pub(super) sent: f64,
    pub(super) received: f64,
    /// After the line of each clock, and as long as its stamps allow.
    pub(super) latency: f64,
}
