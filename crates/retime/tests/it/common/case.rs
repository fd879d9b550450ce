//! A random trace with all that the library needs to run on it.

use retime::causality::Causality;
use retime::clock::{
    AmortizationRate, Gamma, LogicalTimes, PrintedRamp, amortize, amortize_as_printed, controlled,
};
use retime::{Clocks, Correction, MinimalDelay};

use super::oracle::Plain;
use super::{Spec, Trace};

/// A trace with all that the clock needs.
pub struct Case {
    pub trace: Trace,
    pub causality: Causality,
    pub clocks: Clocks,
    pub delay: MinimalDelay,
    pub plain: Plain,
}

impl Case {
    pub fn new(spec: &Spec) -> Self {
        Self::of(spec, spec.trace())
    }

    pub fn of(spec: &Spec, trace: Trace) -> Self {
        let causality = trace.causality();
        let clocks = spec.clocks(&trace.info);
        Self {
            plain: Plain::new(&trace, &clocks),
            delay: spec.delay(),
            trace,
            causality,
            clocks,
        }
    }

    pub fn run(&self, gamma: Gamma) -> LogicalTimes {
        controlled(&self.causality, &self.clocks, &self.delay, gamma, &()).unwrap()
    }

    pub fn values(&self, gamma: Gamma) -> Vec<i64> {
        let times = self.run(gamma);
        let nodes = self.causality.nodes().all();
        nodes.map(|node| times.get(node).0).collect()
    }

    pub fn amortize(&self, gamma: Gamma, rate: AmortizationRate) -> Correction {
        let times = self.run(gamma);
        let (causality, clocks) = (&self.causality, &self.clocks);
        amortize(causality, clocks, &self.delay, rate, &times, &()).unwrap()
    }

    pub fn amortize_as_printed(&self, gamma: Gamma, ramp: PrintedRamp) -> Correction {
        let times = self.run(gamma);
        let (causality, clocks) = (&self.causality, &self.clocks);
        amortize_as_printed(causality, clocks, &self.delay, ramp, &times, &()).unwrap()
    }

    /// The corrected times of all nodes relative to the base.
    pub fn mapped(&self, correction: &Correction) -> Vec<i64> {
        let stamps = self.trace.corrected(correction);
        let base = self.plain.base;
        stamps
            .into_iter()
            .map(|stamp| stamp.0.wrapping_sub(base) as i64)
            .collect()
    }
}
