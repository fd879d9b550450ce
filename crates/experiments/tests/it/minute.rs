//! Sixteen drifting clocks for a minute, under all controllers and amortised.

use retime_experiments::minute::{GAMMA_D, MinuteOutcome, Program, SEEDS, run};

fn outcomes(program: Program, gamma_d: f64) -> Vec<MinuteOutcome> {
    let outcomes: Vec<_> = SEEDS
        .map(|seed| run(program, seed, gamma_d).unwrap())
        .collect();
    for (seed, outcome) in SEEDS.zip(&outcomes) {
        println!("{program:?} {seed}: {outcome:?}");
    }
    outcomes
}

#[test]
fn finite_elements_keep_local_intervals() {
    for outcome in outcomes(Program::FiniteElements, GAMMA_D) {
        assert!(outcome.whole.intervals > 30_000, "{outcome:?}");
        assert!(outcome.reached < 2_000_000_000, "{outcome:?}");
        assert!(outcome.whole.mean < 1e-4, "{outcome:?}");
        assert!(outcome.after.max < 0.05, "{outcome:?}");
        // No send stands before the worst interval.
        assert!(
            outcome.before.max < 0.005 && outcome.limit.is_none(),
            "{outcome:?}"
        );
    }
}

#[test]
fn random_traffic_keeps_local_intervals_once_everybody_is_reached() {
    for outcome in outcomes(Program::RandomTraffic, GAMMA_D) {
        assert!(outcome.whole.intervals > 15_000, "{outcome:?}");
        assert!(outcome.reached < 1_000_000_000, "{outcome:?}");
        assert!(outcome.after.mean < 1e-4, "{outcome:?}");
        assert!(outcome.after.max < 0.05, "{outcome:?}");
        // Over the whole run the mean is above 1e-4 in some runs, and then what is
        // too much comes from the first milliseconds: sends that cannot be moved.
        if outcome.whole.mean >= 1e-4 {
            assert!(outcome.whole.mean < 5e-4, "{outcome:?}");
            assert!(outcome.before.max > 0.5, "{outcome:?}");
            assert!(outcome.limit.unwrap().sent < 1_000_000, "{outcome:?}");
        }
    }
}

#[test]
fn the_largest_error_once_everybody_is_reached_is_that_of_controller_d() {
    // A stamp is rounded to a tick, and so is what a clock loses.
    let beyond_rounding = |outcome: &MinuteOutcome| {
        let ticks = 2.0 / outcome.after.worst_length as f64;
        outcome.after.max - ticks
    };
    let largest = |gamma_d: f64| {
        let outcomes = outcomes(Program::FiniteElements, gamma_d);
        outcomes.iter().map(beyond_rounding).fold(0.0, f64::max)
    };
    let (default, quartz) = (largest(GAMMA_D), largest(1.0 - 1e-4));
    assert!((0.015..0.021).contains(&default), "{default}");
    assert!(quartz < 0.006, "{quartz}");
}
