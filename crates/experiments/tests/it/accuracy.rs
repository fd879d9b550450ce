//! How near to the truth the methods come.

use retime_experiments::accuracy::{Case, Goal, Method, Outcome, Size, cases, measure, methods};
use retime_testing::Effort;

fn case(name: &str) -> Case {
    let mut all = cases(Size::Full).into_iter();
    all.find(|case| case.name == name).unwrap()
}

/// Of the recorded times, the controlled logical clock, and the default.
fn outcomes(case: &Case) -> [Outcome; 3] {
    let trace = case.simulate().unwrap();
    let outcomes = ["raw", "clc", "auto"].map(|name| {
        let method = Method::named(name).unwrap();
        measure(&trace, &method).unwrap().unwrap()
    });
    println!("{}: {outcomes:?}", case.name);
    outcomes
}

/// The first three figures that docs/ACCURACY.md prints of a case.
fn printed(name: &str) -> [String; 3] {
    let page = include_str!("../../../../docs/ACCURACY.md");
    let figures = |line: &str| {
        let mut cells = line.strip_prefix(name)?.split_whitespace();
        let first = cells.next().filter(|it| it.parse::<f64>().is_ok())?;
        Some([first, cells.next()?, cells.next()?].map(String::from))
    };
    let found = page.lines().find_map(figures);
    assert!(
        found.is_some(),
        "docs/ACCURACY.md prints no figures of {name}"
    );
    found.unwrap()
}

/// The default against its goal, its order, its bounds, and the page.
fn hold(name: &str) {
    let case = case(name);
    let [raw, clc, auto] = outcomes(&case);
    let found = [&raw, &clc, &auto].map(|it| format!("{:.3}", it.error / 1e3));
    assert_eq!(printed(name), found, "docs/ACCURACY.md, {name}");
    assert!(raw.violated > 0, "{name}: nothing is at stake");
    assert!(auto.error <= raw.error, "{name}: worse than recorded");
    if let Goal::Gain(factor) = case.goal {
        assert!(auto.error * factor <= clc.error, "{name}: {auto:?} {clc:?}");
    }
    assert_eq!(auto.violated, 0, "{name}");
    let bound = auto.bound.unwrap();
    assert!(bound.inside >= 0.999, "{name}: {bound:?}");
    assert!(bound.half_width <= bound.mean, "{name}: {bound:?}");
}

/// Holds what is named first; the others take seconds each, and come with more effort.
fn hold_by_effort(sample: &[&str], wide: &[&str], all: &[&str]) {
    let (wide_asked, all_asked) = Effort::asked().pick((false, false), (true, false), (true, true));
    let wide = wide.iter().filter(|_| wide_asked);
    let all = all.iter().filter(|_| all_asked);
    for name in sample.iter().chain(wide).chain(all) {
        hold(name);
    }
}

#[test]
fn offsets_are_found() {
    hold("offsets");
}

#[test]
fn drift_is_followed() {
    for name in ["drift 2 ppm", "drift 20 ppm", "drift 100 ppm"] {
        hold(name);
    }
}

#[test]
fn rates_that_change_are_followed() {
    hold_by_effort(&["wander"], &["random walk"], &[]);
}

#[test]
fn many_and_shared_clocks_are_aligned() {
    hold_by_effort(&["node clocks"], &["16 clocks"], &[]);
}

#[test]
fn coarse_and_wrong_readings_do_no_harm() {
    let sample = ["tick 10 us", "step of 200 us"];
    hold_by_effort(&sample, &["tick 1 us"], &["5 glitches"]);
}

#[test]
fn clocks_that_are_set_are_followed() {
    let all = ["7 of 8, 5 us", "8 of 8, 500 us", "random, 8 of 8"];
    hold_by_effort(
        &["step of -200 us"],
        &["reference set", "8 of 8 in 32 ms"],
        &all,
    );
}

#[test]
fn programs_of_every_kind_are_aligned() {
    let sample = ["dense exchange", "random traffic", "chain"];
    hold_by_effort(&sample, &["finite elements", "ring"], &[]);
}

#[test]
fn delays_that_last_are_not_taken_for_drift() {
    for name in ["a slow rank", "congested ways", "bursts of load"] {
        hold(name);
    }
}

#[test]
fn one_direction_is_made_the_best_of() {
    hold("one direction");
}

#[test]
fn what_the_trace_does_not_tell_is_no_worse_than_recorded() {
    for name in ["asymmetric ways", "a short run"] {
        hold(name);
    }
}

/// The suite judges methods only if it simulates what it says.
#[test]
fn cases_are_told_apart_and_their_truth_has_no_contradiction() {
    let all = cases(Size::Full);
    for (number, case) in all.iter().enumerate() {
        assert!(all[..number].iter().all(|it| it.name != case.name));
    }
    // No clock is true, not even the first: nothing flatters it as the reference.
    for case in &all[..3] {
        let trace = case.simulate().unwrap();
        let nodes = trace.analysis.causality().nodes();
        let mut own = nodes.of(0);
        assert!(own.all(|node| nodes.timestamp(node) != trace.truth[node.index()]));
    }
    let offsets = case("offsets").simulate().unwrap();
    let truth = retime::causality::check(
        offsets.analysis.causality(),
        offsets.analysis.clocks(),
        &retime::MinimalDelay::Uniform(retime::Ticks(500)),
        &offsets.truth,
        &(),
    )
    .unwrap();
    // No message between nodes takes less than 500 ns; collectives may.
    assert_eq!((truth.violated(), truth.messages.short), (0, 0));
    let names: Vec<String> = methods().into_iter().map(|it| it.name).collect();
    assert_eq!(names[..3], ["raw", "clc", "auto"]);
}
