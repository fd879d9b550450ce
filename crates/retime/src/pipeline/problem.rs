//! A trace to be put on one time, and a correction of it that is still to be checked.

use super::solution::{Aligned, Enforced, NotAligned, Repaired};
use crate::unbroken::{AlignedTrace, Demand};
use retime_causality::MinimalDelay;
use retime_causality::{AllEvents, Causality};
use retime_clocks::estimate::{Estimate, Offset};
use retime_model::Correction;
use retime_model::{Cancelled, ClockId, Clocks, Monitor, Ticks, TraceInfo};

/// A trace, and all that is known of its clocks.
#[derive(Clone, Copy)]
pub struct Problem<'a> {
    /// The locations of the trace, and the rate of its stamps.
    pub info: &'a TraceInfo,
    /// Which event must follow which.
    pub causality: &'a Causality,
    /// The trace with all events as nodes, if somebody has shown them.
    pub all_events: Option<&'a AllEvents>,
    /// Which locations read one clock.
    pub clocks: &'a Clocks,
    /// The least time from a cause to its effect, with the margin.
    pub delay: &'a MinimalDelay,
    /// The time by which effects keep further from their causes than is asked of them.
    pub margin: Ticks,
    /// True if the minimal delay stays as it is: aligned clocks do not show a better one.
    pub delay_is_settled: bool,
    /// True if the clocks are a guess, to be split where the trace refutes it.
    pub may_regroup: bool,
    /// Asked during long work for leave to go on.
    pub monitor: &'a dyn Monitor,
}

impl Problem<'_> {
    /// Adjusts an estimate of clocks over all of their dependencies: lines are added, as small
    /// as possible, so that it satisfies all. Where rates are hardly bounded an estimate can be
    /// far from any that does, further than recorded times are; of the lines next to either
    /// those are taken that are smaller. They keep the minimal delay, if any do, else order
    /// alone; if none do that, the estimate stays.
    pub fn adjusted(&self, estimate: Estimate) -> Result<Estimate, Cancelled> {
        let level = |_: &Offset| Offset::constant(0.0);
        let offsets = estimate.offsets.iter().map(|it| it.as_ref().map(level));
        let recorded = Estimate {
            offsets: offsets.collect(),
            reference: estimate.reference,
        };
        let none = MinimalDelay::Uniform(Ticks(0));
        for delay in [self.delay, &none] {
            let next_to_it = self.mended(&estimate, delay)?;
            if next_to_it.as_ref().is_some_and(|it| it.moved <= 0.0) {
                return Ok(estimate);
            }
            let next_to_either = next_to_it.into_iter().chain(self.mended(&recorded, delay)?);
            let smallest = next_to_either.min_by(|a, b| a.moved.total_cmp(&b.moved));
            if let Some(smallest) = smallest {
                return Ok(smallest.estimate);
            }
        }
        Ok(estimate)
    }

    /// The estimate next to another that satisfies all dependencies.
    fn mended(
        &self,
        estimate: &Estimate,
        delay: &MinimalDelay,
    ) -> Result<Option<TiltedEstimate>, Cancelled> {
        let aligned = AlignedTrace {
            causality: self.causality,
            clocks: self.clocks,
            estimate,
            delay,
            monitor: self.monitor,
        };
        let mended = aligned.mended(Demand::Rounded)?;
        Ok(mended.map(|mended| {
            let extents = (0..).map(ClockId).zip(aligned.extents());
            let ends = extents.flat_map(|(clock, extent)| {
                let ends = extent.into_iter().flat_map(|it| [it.0, it.1]);
                ends.map(move |stamp| (clock, stamp))
            });
            let moved = ends
                .map(|(clock, stamp)| (mended.at(clock, stamp) - estimate.at(clock, stamp)).abs());
            TiltedEstimate {
                moved: moved.fold(0.0, f64::max),
                estimate: mended,
            }
        }))
    }
}

/// An estimate to which lines were added.
struct TiltedEstimate {
    estimate: Estimate,
    /// The largest of what they add, in ticks.
    moved: f64,
}

/// A correction, before it is checked.
#[derive(Clone, Debug)]
pub struct Found {
    /// One map per clock, of recorded times.
    pub correction: Correction,
    /// How clocks were put on one time, if they were.
    pub aligned: Option<Aligned>,
    /// Why clocks were not aligned, where they would have been.
    pub unaligned: Option<NotAligned>,
    /// The work of a logical clock, if one ran.
    pub repaired: Option<Repaired>,
    /// The minimal delay that was enforced, if it is another than that of the problem.
    pub enforced: Option<Enforced>,
}

impl Found {
    /// A correction of which nothing else is known.
    pub fn new(correction: Correction) -> Self {
        Self {
            correction,
            aligned: None,
            unaligned: None,
            repaired: None,
            enforced: None,
        }
    }
}
