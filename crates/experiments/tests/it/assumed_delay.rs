//! Minimal delays from 0 to twice the true one.

use retime_experiments::assumed_delay::{DelayOutcome, best, mean, outcomes};
use retime_experiments::minute::Program;

fn figures(program: Program) -> Vec<(i64, Vec<DelayOutcome>)> {
    let all = outcomes(program).unwrap();
    for (percent, runs) in &all {
        println!("{program:?} {percent} %: {runs:?}");
    }
    all
}

/// The mean of a figure with mu of so many percent of the least delay.
fn at(all: &[(i64, Vec<DelayOutcome>)], percent: i64, figure: fn(&DelayOutcome) -> f64) -> f64 {
    let of = all.iter().find(|it| it.0 == percent).unwrap();
    mean(&of.1, figure)
}

#[test]
fn twenty_percent_above_the_least_are_best_in_random_traffic() {
    let all = figures(Program::RandomTraffic);
    assert_eq!(best(&all, |it| it.relative), 120);
    assert_eq!(best(&all, |it| it.delays), 120);
    let ratio = |figure: fn(&DelayOutcome) -> f64| at(&all, 120, figure) / at(&all, 100, figure);
    assert!(ratio(|it| it.delays) < 0.9, "{}", ratio(|it| it.delays));
    let change = ratio(|it| it.change);
    assert!((1.0..1.5).contains(&change), "{change}");
}

#[test]
fn neighbours_alone_need_no_more_than_the_least() {
    let all = figures(Program::FiniteElements);
    assert!(best(&all, |it| it.relative) <= 100);
    assert_eq!(best(&all, |it| it.delays), 100);
    // And 20 % more cost little.
    for figure in [
        |it: &DelayOutcome| it.relative,
        |it: &DelayOutcome| it.delays,
    ] {
        let ratio = at(&all, 120, figure) / at(&all, 100, figure);
        assert!((1.0..1.05).contains(&ratio), "{ratio}");
    }
}

#[test]
fn twice_the_least_makes_time_run_away() {
    for program in [Program::FiniteElements, Program::RandomTraffic] {
        let all = figures(program);
        assert!(at(&all, 100, |it| it.ahead as f64) < 1_000.0);
        assert!(at(&all, 200, |it| it.ahead as f64) > 10_000.0);
        let times = at(&all, 200, |it| it.relative) / at(&all, 100, |it| it.relative);
        assert!(times > 1.2, "{times}");
    }
}
