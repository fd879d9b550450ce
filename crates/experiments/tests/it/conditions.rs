//! Rabenseifner 1997, section 6.5: the experiments that the paper tells in words.

use retime::clock::DegressiveConstants;
use retime_experiments::conditions::{
    Profile, ahead_by, delays, idle, lasting, limit, ticking, varied,
};
use retime_experiments::finite_elements::{ERROR, Figures, SETTINGS, Trial};

fn ahead(figures: &Figures) -> f64 {
    figures.controlled.ahead / figures.simple.ahead
}

#[test]
fn results_do_not_depend_on_the_length_of_the_run() {
    for steps in [50, 200, 800] {
        let figures = lasting(steps).figures().unwrap();
        let deviation = figures.controlled.deviation;
        assert!((0.024..0.028).contains(&deviation), "{steps}: {deviation}");
        assert!((1.75..1.9).contains(&ahead(&figures)), "{steps}");
    }
}

#[test]
fn they_depend_on_the_error_of_the_clock() {
    let deviation = |error| ahead_by(error).figures().unwrap().controlled.deviation;
    let all = [500, 1_000, 2_000, 4_000].map(deviation);
    // Twice the error is more than twice as bad.
    assert!(
        all.windows(2).all(|pair| pair[1] > 2.0 * pair[0]),
        "{all:?}"
    );
    assert!(all[1] < 0.05 && all[2] > 0.05, "{all:?}");
}

#[test]
fn the_limit_of_the_error_is_one_by_the_controller() {
    let usual = DegressiveConstants::default();
    let q = |q_min: f64| DegressiveConstants {
        q_init: q_min,
        q_min,
        ..usual
    };
    let limit = |setting, constants| limit(setting, constants).unwrap().unwrap();
    let recommended = limit(delays(250, 1_000), usual);
    // Four to five times the least delay of 250 us.
    assert!((1_000..=1_250).contains(&recommended), "{recommended}");
    // With the least delay an eighth of what it was, and delays as varied, it is where it was.
    let short = limit(delays(62, 812), usual);
    assert!(
        (recommended..=recommended + 250).contains(&short),
        "{short}"
    );
    // It moves by twice what q_min does.
    assert_eq!(limit(delays(250, 1_000), q(500e-6)), recommended + 500);
    assert_eq!(limit(delays(250, 1_000), q(125e-6)), recommended - 250);
    assert!(limit(delays(250, 1_000), idle()) > recommended + 500);
    // And with what messages take beyond mu.
    assert!(limit(delays(250, 300), usual) < 1_000);
    assert!(limit(delays(250, 2_000), usual) > recommended + 500);
}

#[test]
fn the_shape_of_drift_matters_little_for_one_clock() {
    for profile in [Profile::Ramp, Profile::Swing(1e9), Profile::Swing(1e8)] {
        let figures = profile.of_one().figures().unwrap();
        assert!(figures.controlled.deviation < 0.025, "{profile:?}");
        assert!((1.0..2.0).contains(&ahead(&figures)), "{profile:?}");
        // All of them swinging are further apart than the limit.
        if let Profile::Swing(_) = profile {
            let all = profile.of_all().figures().unwrap();
            assert!(
                (0.05..0.1).contains(&all.controlled.deviation),
                "{profile:?}"
            );
            assert!(all.controlled.deviation < 0.2 * all.simple.deviation);
        }
    }
}

#[test]
fn the_controller_is_stable() {
    for (name, constants) in varied() {
        let trial = Trial {
            constants,
            ..Trial::one_wrong(SETTINGS[0], ERROR)
        };
        let figures = trial.figures().unwrap();
        assert!(
            (0.015..0.04).contains(&figures.controlled.deviation),
            "{name}"
        );
        let most = if name == "gamma_max = 0.99" { 2.3 } else { 2.0 };
        assert!((1.5..most).contains(&ahead(&figures)), "{name}");
    }
}

#[test]
fn coarse_ticks_are_served_no_better_and_no_worse() {
    let figures = ticking(1_000_000).figures().unwrap();
    let (simple, controlled) = (&figures.simple, &figures.controlled);
    assert!((0.9..1.1).contains(&(controlled.deviation / simple.deviation)));
    assert!((0.5..1.0).contains(&(controlled.behind / simple.behind)));
    // Clocks that only tick are never ahead, and what control adds is little of a tick.
    assert!(simple.ahead < 1.0, "{}", simple.ahead);
    assert!(controlled.ahead < 50_000.0, "{}", controlled.ahead);
}
