//! Rabenseifner 1997, section 6.5: one clock of twenty is wrong by 1000 us.

use retime_experiments::finite_elements::{ERROR, Figures, SETTINGS, WRONG, run};

#[test]
fn a_fast_clock_does_not_pull_the_others_much_further_than_it_must() {
    for setting in SETTINGS {
        let figures = run(setting, ERROR).unwrap();
        let ratio = figures.controlled.ahead / figures.simple.ahead;
        // The paper asks for 2. Where the wrong clock has four neighbours that wait
        // for it all the time it does not hold; see docs/REPRODUCTIONS.md.
        let most = if setting.name.starts_with("4 x 5, same") {
            2.3
        } else {
            2.0
        };
        assert!(ratio > 1.0 && ratio < most, "{}: {ratio}", setting.name);
        // Nobody is behind true clocks, and nobody further ahead than the fast one.
        assert!(figures.controlled.behind < 1.0, "{}", setting.name);
        let furthest = |process: &retime::LocationAccuracy| process.ahead <= ERROR as f64 + 1.0;
        let mut all = figures.simple.locations.iter().flatten();
        assert!(all.all(furthest), "{}", setting.name);
    }
}

#[test]
fn local_intervals_suffer_less_than_under_the_simple_clock() {
    for setting in SETTINGS {
        let figures = run(setting, ERROR).unwrap();
        let (simple, controlled) = (figures.simple.deviation, figures.controlled.deviation);
        assert!(controlled < 0.05, "{}: {controlled}", setting.name);
        assert!(
            controlled < 0.6 * simple,
            "{}: {simple} {controlled}",
            setting.name
        );
    }
    let default = run(SETTINGS[0], ERROR).unwrap();
    assert!(default.controlled.deviation < 0.3 * default.simple.deviation);
    let controlled = Figures::deviations(&default.controlled);
    assert!(controlled.iter().all(|a| *a < 0.13), "{controlled:?}");
    let simple = Figures::deviations(&default.simple);
    let high = simple.iter().filter(|a| (0.4..=0.82).contains(*a)).count();
    assert_eq!(high, 3, "{simple:?}");
    // The wrong clock itself is never corrected.
    assert!(simple[WRONG] < 1e-6 && controlled[WRONG] < 1e-6);
}

#[test]
fn a_slow_clock_is_compensated() {
    for setting in SETTINGS {
        let figures = run(setting, -ERROR).unwrap();
        let left = Figures::wrong_behind(&figures.controlled) / ERROR as f64;
        // By more than half, unless messages seldom find it waiting.
        let most = if setting.name.contains("four times") {
            0.7
        } else {
            0.5
        };
        assert!(left < most, "{}: {left}", setting.name);
        assert!(figures.controlled.behind < 0.8 * figures.simple.behind);
        let simple = Figures::wrong_deviation(&figures.simple);
        let controlled = Figures::wrong_deviation(&figures.controlled);
        assert!(
            controlled < 0.5 * simple,
            "{}: {simple} {controlled}",
            setting.name
        );
        assert!(figures.controlled.deviation < 0.007, "{}", setting.name);
    }
}
