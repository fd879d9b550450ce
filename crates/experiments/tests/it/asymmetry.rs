//! Rabenseifner 2000, section 7.8: delays that differ by 30 ms in a trace of 5 s.

use retime_experiments::asymmetry::run;

#[test]
fn lines_give_true_clocks_a_rate_and_the_logical_clock_does_not() {
    let outcome = run().unwrap();
    let rate = |name: &str| {
        let mut all = outcome.rates.iter();
        all.find(|it| it.0.starts_with(name)).unwrap().2
    };
    // 30 ms in 5 s.
    assert!((rate("Duda") - 0.006).abs() < 1e-4, "{outcome:?}");
    for name in ["Hofmann", "the extended"] {
        assert!((0.005..0.025).contains(&rate(name)), "{outcome:?}");
    }
    assert_eq!((outcome.moved, outcome.events), (0, 400));
}
