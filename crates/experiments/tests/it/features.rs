//! What each method can do, beside the thesis' comparison.

use retime::pipeline::{Analysis, PairMethod};
use retime::{ClockId, Edge, Edges};
use retime_experiments::accuracy::Method;
use retime_experiments::features::{Cell, Kind, REQUIREMENTS, Requirement};
use retime_methods::spanning_tree;

fn decide(requirement: Requirement, methods: &[&str]) -> Vec<Cell> {
    let traces = requirement.traces().unwrap();
    let decided = methods.iter().map(|name| {
        let method = Method::named(name).unwrap();
        requirement.decide(&method, &traces)
    });
    decided.collect()
}

fn met(requirement: Requirement, methods: &[&str]) -> Vec<bool> {
    let cells = decide(requirement, methods);
    cells.iter().map(|cell| cell.met).collect()
}

/// The recorded times meet none of the demands on order, so that every + is the
/// method's; the controlled clock meets all.
#[test]
fn every_order_is_at_stake_and_the_controlled_clock_keeps_it() {
    for (name, requirement) in REQUIREMENTS {
        if let Requirement::Order(..) = requirement {
            let decided = met(*requirement, &["raw", "clc", "clc, abcd", "simple"]);
            assert_eq!(decided, [false, true, true, true], "{name}");
        }
    }
}

/// The entries of the thesis' table that runs confirm.
#[test]
fn estimators_keep_order_where_the_thesis_says_so() {
    let methods = ["convex-hull", "spanning-tree", "hofmann-hilgers"];
    let order = |kind, clocks| met(Requirement::Order(kind, clocks), &methods);
    assert_eq!(order(Kind::ConstantRate, 2), [true; 3]);
    assert_eq!(order(Kind::VariableRate, 2), [false; 3]);
    assert_eq!(order(Kind::Offsets, 6), [true; 3]);
    assert_eq!(order(Kind::VariableRate, 6), [false; 3]);
    assert_eq!(order(Kind::Jumps, 6), [false; 3]);
    assert_eq!(order(Kind::CoarseTicks, 6), [false; 3]);
}

/// Lines that are adjusted over all pairs keep order also where few messages are exchanged;
/// those of the reference and its partners alone do not.
#[test]
fn adjusted_lines_keep_order_where_messages_are_few() {
    let methods = ["spanning-tree", "regression"];
    let requirement = Requirement::Order(Kind::ConstantRate, 6);
    assert_eq!(met(requirement, &methods), [true, false]);
    // It is the adjustment that does: there are runs in which lines of pairs alone do not.
    let traces = requirement.traces().unwrap();
    assert!(traces.iter().any(|it| lines_of_pairs_reverse(&it.analysis)));
}

fn lines_of_pairs_reverse(analysis: &Analysis) -> bool {
    let causality = analysis.causality();
    let time = |node| causality.nodes().time(node).0;
    let edges = Edges::collect(causality, analysis.clocks(), time, &()).unwrap();
    let hulls = PairMethod::ConvexHull;
    let lines = spanning_tree(&edges, |_| 0, hulls, ClockId(0), &()).unwrap();
    let at = |clock, stamp: i64| stamp as f64 + lines.at(clock, stamp);
    let is_reversed = |it: &Edge| at(it.to, it.received) < at(it.from, it.sent) - 1.0;
    edges.all().iter().any(is_reversed)
}

#[test]
fn the_simple_clock_is_neither_near_nor_keeps_intervals() {
    let methods = ["clc", "simple", "convex-hull"];
    assert_eq!(met(Requirement::Near, &methods), [true, false, true]);
    assert_eq!(met(Requirement::Local, &methods), [true, false, true]);
}

/// The cells of a method in docs/REPRODUCTIONS.md, of which each has two spaces before it.
fn documented(method: &str) -> Vec<&'static str> {
    let page = include_str!("../../../../docs/REPRODUCTIONS.md");
    let mut table = page.lines().skip_while(|it| !it.contains("2 rate  2 var"));
    let row = table.find(|it| it.starts_with(&format!("{method}  ")));
    let cells = row.unwrap().split("  ").map(str::trim);
    cells.filter(|it| !it.is_empty()).skip(1).collect()
}

#[test]
fn cells_are_those_of_the_documentation() {
    let methods = ["clc", "simple", "convex-hull", "pseudo-sync"];
    for (column, (name, requirement)) in REQUIREMENTS.iter().enumerate() {
        if !["2 rate", "near", "local"].contains(name) {
            continue;
        }
        for (method, cell) in methods.iter().zip(decide(*requirement, &methods)) {
            assert_eq!(cell.text, documented(method)[column], "{method}: {name}");
        }
    }
}

#[test]
fn only_forward_clocks_do_with_one_pass() {
    let methods = ["clc", "clc, backward", "hofmann-hilgers", "convex-hull"];
    let decided = met(Requirement::OnePass, &methods);
    assert_eq!(decided, [true, false, false, false]);
}

#[test]
fn the_filter_gives_events_out_within_a_fifth_of_a_second() {
    let cells = decide(Requirement::Online, &["clc", "clc, abcd", "simple"]);
    assert!(cells[0].met && cells[1].met, "{cells:?}");
    // Ramps for 5 ms at 5 % take 100 ms, and nothing is known before them.
    let milliseconds: u64 = cells[0].text.trim_end_matches(" ms").parse().unwrap();
    assert!((100..=200).contains(&milliseconds), "{cells:?}");
    assert!(!cells[2].met, "{cells:?}");
}
