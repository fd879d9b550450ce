//! Estimates against another clock's time.

use crate::common::cases;
use proptest::prelude::*;
use retime::estimate::{Estimate, Offset};
use retime::{ClockId, Edges};

const CLOCKS: u32 = 4;
const END: i64 = 10_000_000;

/// Clocks a million ticks apart that drift by up to 1 in 1000, piece by piece.
fn offsets() -> impl Strategy<Value = Vec<Option<Offset>>> {
    let knots = proptest::collection::vec((1..END / 8, -1_000_i64..1_000), 1..8);
    let offset = (knots, -1_000_000_i64..1_000_000).prop_map(|(knots, start)| {
        let (mut at, mut add) = (0, start as f64);
        let mut points = vec![(at, add)];
        for (length, permille) in knots {
            at += length;
            add += length as f64 * permille as f64 / 1e6;
            points.push((at, add));
        }
        Some(Offset::through(points))
    });
    proptest::collection::vec(offset, CLOCKS as usize)
}

fn edges() -> Edges {
    Edges::new(vec![], vec![Some((0, END)); CLOCKS as usize])
}

/// The common time at which a clock shows `stamp`.
fn common(estimate: &Estimate, clock: usize, stamp: i64) -> f64 {
    stamp as f64 + estimate.offsets[clock].as_ref().unwrap().at(stamp)
}

proptest! {
    #![proptest_config(cases(300))]

    /// Where another clock shows the new common time, it shows the old one.
    #[test]
    fn the_new_time_is_what_the_clock_shows(
        offsets in offsets(), base in 0..CLOCKS, clock in 0..CLOCKS, stamp in 0..END,
    ) {
        let (base, clock) = (base as usize, clock as usize);
        let estimate = Estimate { offsets, reference: ClockId(0) };
        let rebased = estimate.rebased(ClockId(base as u32)).unwrap();
        prop_assert_eq!(rebased.reference, ClockId(base as u32));
        prop_assert_eq!(&rebased.offsets[base], &Some(Offset::constant(0.0)));
        let shown = common(&rebased, clock, stamp);
        let both = (common(&estimate, clock, stamp), common(&estimate, base, shown.round() as i64));
        prop_assert!((both.0 - both.1).abs() < 0.6, "{both:?}");
    }

    /// What lies at one time lies at one time by any clock; order stays.
    #[test]
    fn the_mean_keeps_what_is_simultaneous(offsets in offsets(), stamp in 0..END) {
        let estimate = Estimate { offsets, reference: ClockId(0) };
        let mean = estimate.rebased_to_mean(&edges()).unwrap();
        let time = common(&estimate, 0, stamp);
        let by_mean = common(&mean, 0, stamp);
        for clock in 1..CLOCKS as usize {
            // The stamp of this clock at that time, by halving.
            let (mut low, mut high) = (-10 * END, 10 * END);
            while low < high {
                let middle = low + (high - low) / 2;
                if common(&estimate, clock, middle) < time { low = middle + 1 } else { high = middle }
            }
            prop_assert!((common(&mean, clock, low) - by_mean).abs() < 2.1);
        }
        // Half the clocks are ahead of it, more or less.
        let shown = |clock: usize| -mean.offsets[clock].as_ref().unwrap().at(stamp);
        let sum: f64 = (0..CLOCKS as usize).map(shown).sum();
        prop_assert!(sum.abs() < 40_000.0, "{sum}");
    }
}

/// Four clocks that are ahead by constants and rates; the reference swings, as do some others.
fn swinging(swing: [f64; 4]) -> (Estimate, Edges) {
    let wave = |clock: usize, at: i64| {
        let periods = 12.0 + 7.0 * clock as f64;
        swing[clock] * (at as f64 / END as f64 * periods + clock as f64).sin()
    };
    let ahead = |clock: usize, at: i64| {
        5e4 * clock as f64 + 2e-5 * clock as f64 * at as f64 + wave(clock, at)
    };
    let offset = |clock: usize| {
        let knot = |number: i64| {
            let at = END / 200 * number;
            (
                at + ahead(clock, at) as i64,
                ahead(0, at) - ahead(clock, at),
            )
        };
        Some(Offset::through((0..=200).map(knot).collect()))
    };
    let mut offsets: Vec<Option<Offset>> = (1..4).map(offset).collect();
    offsets.insert(0, Some(Offset::constant(0.0)));
    let estimate = Estimate {
        offsets,
        reference: ClockId(0),
    };
    (estimate, Edges::new(vec![], vec![Some((0, END)); 4]))
}

/// The furthest that the offset of a clock is from the straight line between its ends.
fn bend(estimate: &Estimate, clock: usize) -> f64 {
    let offset = estimate.offsets[clock].as_ref().unwrap();
    let (first, last) = (offset.at(0), offset.at(END));
    let beyond = |at: i64| offset.at(at) - first - (last - first) * at as f64 / END as f64;
    (0..=100)
        .map(|it| beyond(END / 100 * it).abs())
        .fold(0.0, f64::max)
}

#[test]
fn the_ensemble_takes_out_what_the_reference_wanders() {
    let (estimate, edges) = swinging([1_000.0, 0.0, 0.0, 0.0]);
    assert!((1..4).all(|clock| bend(&estimate, clock) > 900.0));
    let found = estimate.rebased_to_ensemble(&edges).unwrap();
    assert!(bend(&found, 0) > 900.0);
    assert!((1..4).all(|clock| bend(&found, clock) < 100.0));
    // The rate of the reference stays that of all.
    let own = found.offsets[0].as_ref().unwrap();
    assert!((own.at(END) - own.at(0)).abs() < 1_500.0);
}

#[test]
fn a_reference_that_is_steadier_than_all_others_keeps_its_time() {
    let (estimate, edges) = swinging([100.0, 900.0, 1_000.0, 1_100.0]);
    assert!(estimate.rebased_to_ensemble(&edges).unwrap() == estimate);
    let (estimate, edges) = swinging([1_000.0, 900.0, 1_000.0, 1_100.0]);
    let found = estimate.rebased_to_ensemble(&edges).unwrap();
    assert!(bend(&found, 0) > 300.0);
}

#[test]
fn one_clock_that_wanders_moves_no_other() {
    let (estimate, edges) = swinging([0.0, 0.0, 1_000.0, 0.0]);
    let found = estimate.rebased_to_ensemble(&edges).unwrap();
    assert!([0, 1, 3].iter().all(|clock| bend(&found, *clock) < 10.0));
    assert!(bend(&found, 2) > 900.0);
}

#[test]
fn an_unrelated_clock_is_no_time_base_and_one_that_stands_still_neither() {
    let still = Offset::line((0, 0.0), (1_000, -1_000.0));
    let offsets = vec![Some(Offset::constant(3.0)), None, Some(still)];
    let estimate = Estimate {
        offsets: offsets[..2].to_vec(),
        reference: ClockId(0),
    };
    assert_eq!(estimate.rebased(ClockId(1)), None);
    assert_eq!(estimate.rebased(ClockId(7)), None);
    let rebased = estimate.rebased(ClockId(0)).unwrap();
    assert_eq!(rebased.offsets, [Some(Offset::constant(0.0)), None]);
    let estimate = Estimate {
        offsets,
        reference: ClockId(0),
    };
    assert_eq!(estimate.rebased(ClockId(2)), None);
    assert_eq!(estimate.rebased_to_mean(&edges()), None);
}

#[test]
fn the_mean_of_constant_clocks_lies_between_them() {
    // The fourth has no events, the fifth is related to no other.
    let mut offsets = [10.0, 20.0, 60.0, 900.0]
        .map(|by| Some(Offset::constant(by)))
        .to_vec();
    offsets.push(None);
    let estimate = Estimate {
        offsets,
        reference: ClockId(0),
    };
    let extent = Some((0, 1_000));
    let edges = Edges::new(vec![], vec![extent, extent, extent, None, extent]);
    let mean = estimate.rebased_to_mean(&edges).unwrap();
    let at = |clock: usize| mean.offsets[clock].as_ref().unwrap().at(500);
    for (clock, by) in [-20.0, -10.0, 30.0].into_iter().enumerate() {
        assert!((at(clock) - by).abs() < 1e-9);
    }
}
