//! Rabenseifner 2000, figure 6.3: transfer rates and local intervals by the assumed delay.

use retime_experiments::transfer_rates::{ASSUMED, Rates, corrected, recorded};

#[test]
fn a_larger_assumed_delay_is_better_for_rates_and_worse_for_intervals() {
    let trace = recorded().unwrap();
    let truth = Rates::of(&trace, trace.truth());
    let outcomes = ASSUMED.map(|mu| corrected(&trace, mu).unwrap());
    let factor = |rates: Rates| rates.largest_factor(&truth);
    let mut last = factor(Rates::of(&trace, &trace.recorded()));
    assert!(last > 1.5, "{last}");
    for outcome in &outcomes {
        let own = factor(Rates::of(&trace, &outcome.stamps));
        assert!(own < last, "{own} {last}");
        last = own;
    }
    assert!(last < 1.2, "{last}");
    let means = outcomes.each_ref().map(|it| it.change.mean);
    assert!(means.is_sorted(), "{means:?}");
    // The printed means are 1e-5, 4e-5 and 32e-5.
    for (mean, printed) in means.iter().zip([1e-5, 4e-5, 32e-5]) {
        assert!((0.3..3.0).contains(&(mean / printed)), "{means:?}");
    }
    let largest = outcomes.each_ref().map(|it| it.change.largest);
    assert!(largest.is_sorted() && largest[0] < 1e-3, "{largest:?}");
}

#[test]
fn clocks_that_are_furthest_ahead_are_not_moved() {
    let trace = recorded().unwrap();
    let moved = corrected(&trace, 500_000).unwrap().moved;
    assert!(moved[2] < 10_000 && moved[10] < 10_000, "{moved:?}");
    // Those that the thesis moves by more than a millisecond are moved as much, to a third.
    for (node, printed) in [
        (1, 1_153_400),
        (5, 1_161_700),
        (9, 1_268_400),
        (13, 1_241_300),
    ] {
        let share = moved[node] as f64 / f64::from(printed);
        assert!((0.66..1.34).contains(&share), "{node}: {moved:?}");
    }
}

#[test]
fn a_rate_is_bytes_by_time() {
    let trace = recorded().unwrap();
    let truth = Rates::of(&trace, trace.truth());
    assert_eq!(truth.get(3, 3), None);
    assert_eq!(truth.get(16, 0), None);
    // 150 bytes to neighbours, within 3158 us or while the receiver is busy.
    let rate = truth.get(3, 4).unwrap();
    assert!((5.0..150.0 / 0.62).contains(&rate), "{rate}");
    assert!(truth.get(3, 9).unwrap() < rate);
}
