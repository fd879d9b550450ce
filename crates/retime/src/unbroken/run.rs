//! The time of a run by aligned clocks, from its middle.

use retime_model::ClockId;

use retime_clocks::estimate::Estimate;

/// Aligned clocks and the time that they have in common.
pub(crate) struct AlignedRun<'a> {
    estimate: &'a Estimate,
    middle: f64,
    length: f64,
}

impl<'a> AlignedRun<'a> {
    /// The run from the first to the last stamp of any clock; `None` for a trace of one moment.
    pub(crate) fn new(estimate: &'a Estimate, extents: &[Option<(i64, i64)>]) -> Option<Self> {
        let clocks = (0..).map(ClockId).zip(extents);
        let ends = clocks.filter_map(|(clock, extent)| {
            let time = |stamp: i64| stamp as f64 + estimate.at(clock, stamp);
            extent.map(|(first, last)| (time(first), time(last)))
        });
        let (first, last) = ends.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))?;
        (last > first).then(|| Self {
            estimate,
            middle: f64::midpoint(first, last),
            length: last - first,
        })
    }

    /// The time when a clock shows `stamp`.
    pub(crate) fn time(&self, clock: ClockId, stamp: i64) -> f64 {
        // Both are large, and what is asked for are differences of a tick.
        (stamp as f64 - self.middle) + self.estimate.at(clock, stamp)
    }

    /// The share of the run that has passed at a time.
    pub(crate) fn share(&self, time: f64) -> f64 {
        time / self.length + 0.5
    }

    /// The length of the run, in ticks.
    pub(crate) fn length(&self) -> f64 {
        self.length
    }

    /// The gain of a clock over the reference by its correction, scaled to the run's
    /// length: what the estimate adds to it at its end more than at its beginning.
    pub(crate) fn gains(&self, clock: ClockId, extents: &[Option<(i64, i64)>]) -> f64 {
        let Some(&Some((first, last))) = extents.get(clock.as_usize()) else {
            return 0.0;
        };
        if last <= first {
            return 0.0;
        }
        let gained = self.estimate.at(clock, last) - self.estimate.at(clock, first);
        gained * (self.length / (last - first) as f64)
    }
}
