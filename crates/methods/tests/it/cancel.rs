//! Estimators ask their monitor, and stop as soon as that says so.

use crate::common::case::Case;
use crate::common::hand::{causality, ranks_on};
use crate::common::rounds::events;
use crate::common::watched::{After, askings, stops};
use crate::common::{Sharing, Spec};
use retime::estimate::{Estimate, NoEstimate};
use retime::pipeline::{Analysis, AnalysisOptions, Method, PairMethod, Unsolved};
use retime::{ClockId, Edges, Grouping};
use retime_methods::{
    ConvexHull, Extended, convex_hull, extended, hofmann_hilgers, min_max, pseudo_synchronisation,
    regression, spanning_tree,
};

#[test]
fn a_method_stops_wherever_it_is_asked_to() {
    let case = Case::new(&Spec {
        locations: 4,
        steps: 2_000,
        seed: 7,
        threads: false,
        tick: 1,
        offset: 40_000,
        drift_ppm: 50,
        sharing: Sharing::Location,
    });
    let options = AnalysisOptions::default();
    let analysis = Analysis::of(case.trace.info, case.causality, options, &()).unwrap();
    stops(5, |monitor| {
        let solved = analysis.solve(&Method::new(&ConvexHull), monitor);
        solved.map_err(|unsolved| unsolved.reason)
    });
}

/// The dependencies of three clocks.
fn edges(rounds: u64) -> Edges {
    let info = ranks_on(&[(0, 0), (1, 0), (2, 1)]);
    let causality = causality(&info, &[0, 1, 2].map(|rank| events(rank, rounds)));
    let clocks = Grouping::Process.clocks(&info, &causality);
    let time = |node| causality.nodes().time(node).0;
    Edges::collect(&causality, &clocks, time, &()).unwrap()
}

type Stage = fn(&Edges, &After) -> Result<(), Unsolved>;

/// All estimators that go over dependencies.
const STAGES: [(&str, Stage); 7] = [
    ("regression", |edges, monitor| {
        found(regression(edges, ClockId(0), monitor))
    }),
    ("convex hulls", |edges, monitor| {
        found(convex_hull(edges, |_| 0, ClockId(0), monitor))
    }),
    ("spanning tree", |edges, monitor| {
        let method = PairMethod::Regression;
        found(spanning_tree(edges, |_| 0, method, ClockId(0), monitor))
    }),
    ("min/max", |edges, monitor| {
        found(min_max(edges, |_| 0, Some(4), ClockId(0), monitor))
    }),
    ("Hofmann and Hilgers", |edges, monitor| {
        let intervals = Some(4);
        found(hofmann_hilgers(
            edges,
            |_| 0,
            intervals,
            ClockId(0),
            monitor,
        ))
    }),
    ("extended", |edges, monitor| {
        let options = Extended {
            intervals: Some(4),
            ..Extended::default()
        };
        found(extended(edges, |_| 0, &options, ClockId(0), monitor))
    }),
    ("pseudo-synchronisation", |edges, monitor| {
        found(pseudo_synchronisation(
            edges,
            |_| 0,
            true,
            ClockId(0),
            monitor,
        ))
    }),
];

fn found(found: Result<Estimate, NoEstimate>) -> Result<(), Unsolved> {
    found?;
    Ok(())
}

#[test]
fn each_estimator_asks_more_often_the_longer_the_trace() {
    let (short, long) = (edges(6_000), edges(24_000));
    for (name, stage) in STAGES {
        let of = |it: &Edges| askings(|monitor| stage(it, monitor));
        let (few, many) = (of(&short), of(&long));
        assert!(many > few, "{name}: {few} and {many} times");
    }
}

#[test]
fn each_estimator_stops_wherever_it_is_asked_to() {
    let edges = edges(6_000);
    for (_, stage) in STAGES {
        stops(1, |monitor| stage(&edges, monitor));
    }
}
