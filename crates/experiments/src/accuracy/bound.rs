//! Whether the truth lies within the stated error bound.

use std::time::Instant;

use retime::estimate::Estimate;
use retime::optimal::{BoundOptions, ErrorBounds, coverage, offset_bounds};
use retime::{Correction, Edges};

use super::case::Trace;
use crate::simulated::Failure;

/// The stated bound of a correction, and how it holds. Spans are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// Share of events whose true time is inside.
    pub inside: f64,
    /// Mean of the bound over the events that have one.
    pub mean: f64,
    /// The same of half of its width, below which no method can state any.
    pub half_width: f64,
    /// Share of events that have none, on one side at least.
    pub unbounded: f64,
    /// What it took to find, in seconds.
    pub seconds: f64,
}

impl Bound {
    /// Bounds the error of a correction; `estimate` says about how clocks differ.
    /// Clocks wander by at most 100 ppm, as by default.
    pub(super) fn measure(
        trace: &Trace,
        estimate: &Estimate,
        correction: &Correction,
    ) -> Result<Self, Failure> {
        let start = Instant::now();
        let (causality, clocks) = (&trace.causality, correction.clocks());
        let nodes = causality.nodes();
        let edges = Edges::collect_aligned(causality, clocks, estimate);
        let bounds = offset_bounds(&edges, |_| 0, estimate, &BoundOptions::default());
        let errors = ErrorBounds::new(&bounds, correction, &edges, nodes);
        let (all, _) = errors.summary(nodes, clocks);
        let seconds = start.elapsed().as_secs_f64();
        let held = coverage(&bounds, causality, clocks, &trace.truth)?;
        let events = (all.events + all.unbounded).max(1) as f64;
        Ok(Self {
            inside: held.share(),
            mean: all.mean,
            half_width: all.mean_half_width,
            unbounded: all.unbounded as f64 / events,
            seconds,
        })
    }
}
