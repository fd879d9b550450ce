//! Whatever stamps and delays are, no method panics: what does not fit is an error.

use proptest::prelude::*;

use crate::common::cases;
use crate::common::stretched::{stretched, ticks};
use retime::MinimalDelay;
use retime::pipeline::{Analysis, AnalysisOptions, AskedDelay, Method};
use retime_methods::METHODS;

proptest! {
    #![proptest_config(cases(15))]

    #[test]
    fn every_method_solves_or_says_why_not(
        (spec, trace) in stretched(),
        delay in ticks(),
        drift in prop_oneof![
            Just(0.0), Just(-1.0), Just(1e-4), Just(1e300), Just(f64::NAN), Just(f64::INFINITY),
        ],
    ) {
        let options = AnalysisOptions {
            grouping: spec.grouping(),
            delay: AskedDelay::Given(MinimalDelay::Uniform(delay)),
            ..AnalysisOptions::default()
        };
        let analysis = Analysis::of(trace.info.clone(), trace.causality(), options, &()).unwrap();
        for method in METHODS {
            if let Ok(solution) = analysis.solve(&Method::new(*method), &()) {
                let _ = analysis.bounds(drift, Some(&solution), &());
            }
        }
    }
}
