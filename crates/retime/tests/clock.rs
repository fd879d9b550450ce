//! The controlled logical clock against a slow computation from its formula,
//! and against what it promises.

mod common;

use common::oracle::Plain;
use common::{Spec, Trace, cases, gammas, specs};
use proptest::prelude::*;
use retime::causality::Causality;
use retime::clock::{Gamma, LogicalTimes, controlled};
use retime::{Clocks, MinimalDelay};

/// A trace with all that the clock needs.
struct Case {
    trace: Trace,
    causality: Causality,
    clocks: Clocks,
    delay: MinimalDelay,
    plain: Plain,
}

impl Case {
    fn new(spec: &Spec) -> Self {
        Self::of(spec, spec.trace())
    }

    fn of(spec: &Spec, trace: Trace) -> Self {
        let causality = trace.causality();
        let clocks = Clocks::group(&trace.info, &causality, spec.grouping());
        Self {
            plain: Plain::new(&trace, &clocks),
            delay: spec.delay(),
            trace,
            causality,
            clocks,
        }
    }

    fn run(&self, gamma: Gamma) -> LogicalTimes {
        controlled(&self.causality, &self.clocks, &self.delay, gamma).unwrap()
    }

    fn values(&self, gamma: Gamma) -> Vec<i64> {
        let times = self.run(gamma);
        let nodes = 0..self.causality.nodes().len() as u32;
        nodes.map(|node| times.get(node).0).collect()
    }
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn it_equals_the_formula(spec in specs(400), gamma in gammas()) {
        let case = Case::new(&spec);
        let expected = case.plain.controlled(&case.delay, gamma);
        prop_assert_eq!(Some(case.values(gamma)), expected);
    }
}
