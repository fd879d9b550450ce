//! Lines adjusted over all pairs of clocks: Duda's and Jézéquel's adjustment.

use crate::common::{Sharing, Spec, cases};
use proptest::prelude::*;
use retime::edges::Edges;
use retime::estimate::Estimate;
use retime::pipeline::{
    Algorithm, Analysis, AnalysisOptions, AskedDelay, Method, Options, PairMethod, Solution,
};
use retime::{ClockId, Grouping, MinimalDelay, Ticks};
use retime_methods::{ConvexHull, SpanningTree, spanning_tree};

/// Few messages between clocks of constant rates, each of its own.
fn sparse() -> impl Strategy<Value = Spec> {
    let offset = prop::sample::select(vec![4_000, 400_000]);
    (2..=8_usize, 20..200_usize, any::<u64>(), offset, 0..=50_u64).prop_map(
        |(locations, steps, seed, offset, drift_ppm)| Spec {
            locations,
            steps,
            seed,
            threads: false,
            tick: 1,
            offset,
            drift_ppm,
            sharing: Sharing::Location,
        },
    )
}

fn analysis(spec: &Spec) -> Analysis {
    let trace = spec.trace();
    let options = AnalysisOptions {
        grouping: Grouping::Location,
        delay: AskedDelay::Given(MinimalDelay::Uniform(Ticks(0))),
        ..AnalysisOptions::default()
    };
    let logs = trace.logs();
    Analysis::new(trace.info, logs, options, &()).unwrap()
}

/// The solution of an estimator alone; `None` if it has no lines to begin with.
fn alone(analysis: &Analysis, estimator: &'static dyn Algorithm) -> Option<Solution> {
    let options = Options {
        clock: None,
        ..Options::default()
    };
    analysis
        .solve(&Method::new(estimator).with(options), &())
        .ok()
}

proptest! {
    #![proptest_config(cases(20))]

    /// True times are such lines.
    #[test]
    fn on_constant_rates_no_message_stays_reversed(spec in sparse()) {
        let analysis = analysis(&spec);
        for method in [&SpanningTree as &'static dyn Algorithm, &ConvexHull] {
            if let Some(solution) = alone(&analysis, method) {
                prop_assert_eq!(solution.left.violated(), 0, "{}", method.name());
            }
        }
    }
}

/// Messages that lines along the tree alone leave reversed.
fn reversed_along_the_tree(analysis: &Analysis) -> Option<usize> {
    let causality = analysis.causality();
    let time = |node| causality.nodes().time(node).0;
    let edges = Edges::collect(causality, analysis.clocks(), time, &()).unwrap();
    let hulls = PairMethod::ConvexHull;
    let lines: Estimate = spanning_tree(&edges, |_| 0, hulls, ClockId(0), &()).ok()?;
    let at = |clock, stamp: i64| stamp as f64 + lines.at(clock, stamp);
    let reversed = edges
        .all()
        .iter()
        .filter(|it| at(it.to, it.received) < at(it.from, it.sent) - 1.0);
    Some(reversed.count())
}

/// Lines of pairs are not enough.
#[test]
fn lines_along_the_tree_leave_messages_reversed() {
    let (mut solved, mut left) = (0, 0);
    for seed in 0..24 {
        let spec = Spec {
            locations: 5,
            steps: 120,
            seed,
            threads: false,
            tick: 1,
            offset: 400_000,
            drift_ppm: 50,
            sharing: Sharing::Location,
        };
        let analysis = analysis(&spec);
        let Some(reversed) = reversed_along_the_tree(&analysis) else {
            continue;
        };
        solved += 1;
        left += usize::from(reversed > 0);
        let adjusted = alone(&analysis, &SpanningTree).unwrap();
        assert_eq!(adjusted.left.violated(), 0, "{seed}");
    }
    assert!(solved >= 10 && left >= solved / 4, "{left} of {solved}");
}
