//! Interpolation between measured offsets.

use crate::common::hand::{causality, ranks};
use crate::common::trace::Call;
use crate::common::{cases, rng::Rng};
use proptest::prelude::*;
use retime::causality::Causality;
use retime::estimate::{NoEstimate, Offset};
use retime::pipeline::MeasuredOffset;
use retime::{ClockId, Clocks, Edges, Grouping, LocationIndex, TraceInfo};
use retime_methods::interpolation;

fn measured(location: u32, stamp: i64, offset: f64) -> MeasuredOffset {
    MeasuredOffset {
        location: LocationIndex(location),
        stamp,
        offset,
    }
}

/// A trace of so many ranks by process, without events.
fn silent(processes: &[usize]) -> (TraceInfo, Causality) {
    let info = ranks(processes);
    let none = vec![Vec::<(u64, Call)>::new(); processes.len()];
    let causality = causality(&info, &none);
    (info, causality)
}

fn clocks(processes: &[usize]) -> Clocks {
    let (info, causality) = silent(processes);
    Grouping::Process.clocks(&info, &causality)
}

fn extents(of: &[Option<(i64, i64)>]) -> Edges {
    Edges::new(vec![], of.to_vec())
}

#[test]
fn one_measurement_shifts_and_more_bend() {
    let clocks = clocks(&[0, 1, 2]);
    let edges = extents(&[Some((0, 100)); 3]);
    let list = [
        measured(1, 50, -7.0),
        measured(2, 90, 4.0),
        measured(2, 10, 0.0),
        measured(2, 50, 8.0),
    ];
    let estimate = interpolation(&list, &clocks, &edges, ClockId(0)).unwrap();
    let at = |clock: usize, stamp| estimate.offsets[clock].as_ref().unwrap().at(stamp);
    assert_eq!([0, 60, 100].map(|stamp| at(0, stamp)), [0.0; 3]);
    assert_eq!([0, 60, 100].map(|stamp| at(1, stamp)), [-7.0; 3]);
    assert_eq!(
        [0, 10, 30, 50, 70, 90, 100].map(|stamp| at(2, stamp)),
        [-2.0, 0.0, 4.0, 8.0, 6.0, 4.0, 3.0]
    );
}

#[test]
fn locations_of_one_clock_are_averaged_line_by_line() {
    let clocks = clocks(&[0, 1, 1, 1]);
    let edges = extents(&[Some((0, 100)); 2]);
    let list = [
        measured(1, 0, 10.0),
        measured(1, 100, 20.0),
        // Taken a tick later, and off by a little: through all points the
        // clock would run backwards.
        measured(2, 1, 6.0),
        measured(2, 99, 16.0),
    ];
    let estimate = interpolation(&list, &clocks, &edges, ClockId(0)).unwrap();
    let offset = estimate.offsets[1].as_ref().unwrap();
    let second = |stamp: f64| 6.0 + (stamp - 1.0) * 10.0 / 98.0;
    for stamp in [0, 1, 50, 99, 100] {
        let expected = f64::midpoint(10.0 + stamp as f64 / 10.0, second(stamp as f64));
        assert!((offset.at(stamp) - expected).abs() < 1e-9, "{stamp}");
    }
}

#[test]
fn clocks_without_measurements_are_named() {
    let clocks = clocks(&[0, 1, 2, 3]);
    let edges = extents(&[Some((0, 9)), Some((0, 9)), None, Some((0, 9))]);
    let only = [measured(1, 0, 1.0)];
    assert_eq!(
        interpolation(&only, &clocks, &edges, ClockId(0)),
        Err(NoEstimate::Unmeasured(vec![ClockId(3)]))
    );
    assert_eq!(
        interpolation(&only, &clocks, &edges, ClockId(3)),
        Err(NoEstimate::Unmeasured(vec![ClockId(0)]))
    );
    let enough = [measured(1, 0, 1.0), measured(3, 0, 2.0)];
    let estimate = interpolation(&enough, &clocks, &edges, ClockId(0)).unwrap();
    assert_eq!(estimate.offsets[0], Some(Offset::constant(0.0)));
    assert_eq!(estimate.offsets[2], None, "it has no events");

    let (info, _) = silent(&[0, 1, 2, 3]);
    let unmeasured = NoEstimate::Unmeasured(vec![ClockId(3)]);
    assert_eq!(
        unmeasured.describe(&info, &clocks),
        "no offset is given for rank 3 / thread 3 (location 3); \
         give \"LOCATION-ID 0 0\" for a clock that is right"
    );
}

#[test]
fn odd_measurements() {
    let clocks = clocks(&[0, 1]);
    let edges = extents(&[Some((0, 9)), Some((0, 1 << 61))]);
    let list = [
        measured(1, i64::MIN, 0.0),
        measured(1, i64::MAX, 1.0),
        measured(1, i64::MAX, 2.0),
        measured(99, 0, 5.0),
    ];
    let estimate = interpolation(&list, &clocks, &edges, ClockId(0)).unwrap();
    let offset = estimate.offsets[1].as_ref().unwrap();
    assert!((offset.at(0) - 1.0).abs() < 1e-9, "the last of two counts");
    let none = interpolation(&[], &clocks, &extents(&[]), ClockId(7)).unwrap();
    assert_eq!(none.offsets, [None, None]);
}

proptest! {
    #![proptest_config(cases(200))]

    /// Clocks of constant speed are put right by any two exact measurements.
    #[test]
    fn constant_speed_is_recovered(seed in any::<u64>(), count in 2..6_usize) {
        let mut rng = Rng::new(seed);
        let (start, rate) = (rng.around(1_000_000) as f64, rng.around(500) as f64 * 1e-6);
        let offset = |stamp: i64| start + rate * stamp as f64;
        let list: Vec<MeasuredOffset> = (0..count)
            .map(|_| rng.around(1_000_000_000))
            .map(|stamp| measured(1, stamp, offset(stamp)))
            .collect();
        let apart = list.iter().map(|it| it.stamp).max() > list.iter().map(|it| it.stamp).min();
        prop_assume!(apart);
        let edges = extents(&[None, Some((0, 2_000_000_000))]);
        let estimate = interpolation(&list, &clocks(&[0, 1]), &edges, ClockId(0)).unwrap();
        let found = estimate.offsets[1].as_ref().unwrap();
        for stamp in [0, 1, 999_999_999, 2_000_000_000] {
            let error = (found.at(stamp) - offset(stamp)).abs();
            prop_assert!(error < 0.1, "{error} at {stamp}");
        }
    }
}
