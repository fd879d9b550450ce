//! Rabenseifner 2000, figure 5.10.

use retime_experiments::curves::{BOTH_WAYS, ONE_WAY, curve, interval, steepest, unit};

#[test]
fn all_curves_lie_within_the_figure() {
    let both = BOTH_WAYS.map(|f| (f, true)).into_iter();
    for (f, both_ways) in both.chain(ONE_WAY.map(|f| (f, false))) {
        let curve = curve(f, both_ways);
        assert!(interval(f) * (curve.len() - 1) as f64 <= 900.0);
        assert!(
            curve.iter().all(|o| (-0.04..0.02).contains(&(o * unit()))),
            "{f}"
        );
        // By the caption none rises more steeply than at first.
        let (rise, fall) = steepest(f, &curve);
        assert!((rise - 1.0).abs() < 1e-12, "{f}: {rise}");
        // And but for one, falls are steeper by little.
        if f < 2.0 || both_ways {
            assert!(fall < 1.3, "{f}: {fall}");
        } else {
            assert!((fall - 3.0).abs() < 1e-12, "{f}: {fall}");
        }
    }
}

#[test]
fn scenario_3_is_scenario_2_until_clock_1_falls_behind() {
    let [two, three] = [true, false].map(|both| curve(1.37, both));
    let same = two.iter().zip(&three).take(4);
    assert!(
        same.into_iter().all(|(a, b)| (a - b).abs() < 1e-12),
        "{two:?} {three:?}"
    );
    assert!(two[4] == 0.0 && three[4] < 0.0);
}
