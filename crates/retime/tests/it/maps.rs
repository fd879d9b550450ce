//! Correction maps: what makes one, what it does to any time, and back.

use crate::common;
use crate::common::case::Case;
use crate::common::{cases, gammas, specs};
use proptest::prelude::*;
use retime::{ClockMap, Correction, Grouping, Knot, LocationIndex, Step, Timestamp};

fn knot(raw: u64, arrive: u64, leave: u64) -> Knot {
    Knot {
        raw: Timestamp(raw),
        arrive: Timestamp(arrive),
        leave: Timestamp(leave),
    }
}

fn step(raw: u64, location: u32, event: u64, corrected: u64) -> Step {
    Step {
        raw: Timestamp(raw),
        location: LocationIndex(location),
        event,
        corrected: Timestamp(corrected),
    }
}

#[test]
fn knots_and_steps_that_make_no_map_are_refused_by_name() {
    let refused = |knots: &[Knot], steps: &[Step]| {
        ClockMap::new(knots.to_vec(), steps.to_vec())
            .unwrap_err()
            .to_string()
    };
    let not_after = |index| format!("knot {index} does not lie after the knot before it");
    let falls = |index| format!("the corrected time falls at knot {index}");
    let misplaced = |index| {
        format!(
            "step {index} (raw time, location, event, corrected time) fits no knot, or is out of order"
        )
    };
    let flat = |raw, corrected| knot(raw, corrected, corrected);
    assert_eq!(refused(&[flat(5, 5), flat(5, 6)], &[]), not_after(1));
    assert_eq!(
        refused(&[flat(1, 1), flat(5, 5), flat(4, 6)], &[]),
        not_after(2)
    );
    assert_eq!(refused(&[flat(1, 9), flat(5, 8)], &[]), falls(1));
    assert_eq!(refused(&[knot(1, 9, 8)], &[]), falls(0));
    assert_eq!(refused(&[knot(1, 1, 9), flat(5, 8)], &[]), falls(1));

    let stepped = [flat(1, 1), knot(5, 5, 9), flat(20, 20)];
    assert_eq!(refused(&stepped, &[step(6, 0, 0, 6)]), misplaced(0)); // no knot
    assert_eq!(refused(&stepped, &[step(5, 0, 0, 4)]), misplaced(0)); // below
    assert_eq!(refused(&stepped, &[step(5, 0, 0, 10)]), misplaced(0)); // above
    for second in [
        step(5, 0, 7, 9), // the same event twice
        step(5, 0, 6, 9), // an earlier event
        step(5, 0, 8, 6), // an earlier value
        step(1, 0, 8, 1), // an earlier knot
    ] {
        assert_eq!(refused(&stepped, &[step(5, 0, 7, 7), second]), misplaced(1));
    }
    let fine = [
        step(5, 0, 7, 7),
        step(5, 0, 8, 7),
        step(5, 1, 0, 5),
        step(5, 1, 3, 9),
    ];
    assert!(ClockMap::new(stepped.to_vec(), fine.to_vec()).is_ok());
}

#[test]
fn a_step_tells_events_of_one_stamp_apart() {
    let map = ClockMap::new(
        vec![knot(10, 10, 30)],
        vec![step(10, 0, 5, 20), step(10, 0, 7, 30), step(10, 2, 0, 25)],
    )
    .unwrap();
    let at = |location: u32, event: u64, raw: u64| {
        let mut cursor = map.cursor(LocationIndex(location));
        cursor.map(event, Timestamp(raw)).unwrap().0
    };
    let of_first = [4, 5, 6, 7, 100].map(|event| at(0, event, 10));
    assert_eq!(of_first, [10, 20, 20, 30, 30]);
    assert_eq!([at(1, 99, 10), at(2, 0, 10), at(2, 9, 10)], [10, 25, 25]);
    assert_eq!([at(0, 0, 9), at(0, 0, 11)], [9, 31]);
    // Back: all that the step spans lies at its stamp.
    let back = [9, 10, 11, 20, 30, 31].map(|corrected| map.invert(Timestamp(corrected)).unwrap().0);
    assert_eq!(back, [9, 10, 10, 10, 10, 11]);
}

#[test]
fn times_beyond_64_bits_have_no_correction() {
    let map = ClockMap::new(vec![knot(100, 50, 50), knot(200, 400, 400)], vec![]).unwrap();
    let mut cursor = map.cursor(LocationIndex(0));
    assert_eq!(cursor.map(0, Timestamp(49)), None);
    assert_eq!(cursor.map(0, Timestamp(50)), Some(Timestamp(0)));
    assert_eq!(
        cursor.map(0, Timestamp(u64::MAX - 200)),
        Some(Timestamp(u64::MAX))
    );
    assert_eq!(cursor.map(0, Timestamp(u64::MAX - 199)), None);
    assert_eq!(map.invert(Timestamp(0)), Some(Timestamp(50)));
    assert_eq!(
        map.invert(Timestamp(u64::MAX)),
        Some(Timestamp(u64::MAX - 200))
    );
    let ahead = ClockMap::new(vec![knot(0, 10, 10)], vec![]).unwrap();
    assert_eq!(ahead.invert(Timestamp(9)), None);
}

#[test]
fn pieces_of_any_length_do_not_overflow() {
    let far = u64::MAX - 1;
    let map = ClockMap::new(vec![knot(0, 0, 0), knot(far, far / 2, far / 2)], vec![]).unwrap();
    let mut cursor = map.cursor(LocationIndex(0));
    for raw in [1, 2, far / 3, far - 1, far] {
        assert_eq!(cursor.map(0, Timestamp(raw)), Some(Timestamp(raw / 2)));
    }
    let half = Timestamp(far / 4);
    assert_eq!(map.invert(half), Some(Timestamp(far / 4 * 2)));
}

/// A map by its gaps: to the next knot, along, up to it, and its step.
fn maps() -> impl Strategy<Value = ClockMap> {
    let step = prop_oneof![Just(0_u64), 0..20_u64];
    proptest::collection::vec((1..50_u64, 0..80_u64, step), 0..12).prop_map(|gaps| {
        let (mut raw, mut corrected) = (1_000, 1_000);
        let mut knots = Vec::new();
        let mut steps = Vec::new();
        for (run, rise, height) in gaps {
            raw += run;
            corrected += rise;
            knots.push(knot(raw, corrected, corrected + height));
            if height > 0 {
                steps.push(step_of(raw, 0, 10, corrected + height / 2));
                steps.push(step_of(raw, 0, 20, corrected + height));
            }
            corrected += height;
        }
        ClockMap::new(knots, steps).unwrap()
    })
}

fn step_of(raw: u64, location: u32, event: u64, corrected: u64) -> Step {
    step(raw, location, event, corrected)
}

/// Linear interpolation, searched from the front.
fn plainly(map: &ClockMap, event: u64, raw: u64) -> u64 {
    let knots = map.knots();
    let Some(last) = knots.iter().rposition(|knot| knot.raw.0 <= raw) else {
        return knots
            .first()
            .map_or(raw, |first| raw + first.arrive.0 - first.raw.0);
    };
    let own = knots[last];
    if own.raw.0 == raw {
        let steps = map.steps().iter().rev();
        let mut steps = steps.filter(|step| step.raw == own.raw && step.event <= event);
        return steps.next().map_or(own.arrive.0, |step| step.corrected.0);
    }
    match knots.get(last + 1) {
        None => own.leave.0 + (raw - own.raw.0),
        Some(next) => {
            let (run, rise) = (next.raw.0 - own.raw.0, next.arrive.0 - own.leave.0);
            own.leave.0 + (raw - own.raw.0) * rise / run
        }
    }
}

proptest! {
    #![proptest_config(cases(1_500))]

    #[test]
    fn any_time_is_interpolated_in_any_order(
        map in maps(), queries in proptest::collection::vec((980..1_700_u64, 0..30_u64), 1..80),
    ) {
        let mut cursor = map.cursor(LocationIndex(0));
        for (raw, event) in queries {
            let corrected = cursor.map(event, Timestamp(raw)).unwrap().0;
            prop_assert_eq!(corrected, plainly(&map, event, raw));
        }
    }

    /// The inverse is the first stamp that comes out at the given time or later.
    #[test]
    fn the_inverse_is_the_first_stamp_that_reaches_a_time(map in maps(), corrected in 1_010..2_600_u64) {
        let back = map.invert(Timestamp(corrected)).unwrap().0;
        let at = |raw| plainly(&map, u64::MAX, raw);
        prop_assert!(at(back) >= corrected);
        prop_assert!(at(back - 1) < corrected);
    }

    /// Every event of a corrected trace finds its way back to its stamp or, where
    /// several stamps came out the same, to the first of them.
    #[test]
    fn corrections_of_traces_can_be_undone(spec in specs(200), gamma in gammas()) {
        let case = Case::new(&spec);
        let correction = case.amortize(gamma, "5%".parse().unwrap());
        for (location, events) in case.trace.events.iter().enumerate() {
            let location = LocationIndex(location as u32);
            let map = correction.map_of(location);
            let mut cursor = map.cursor(location);
            for (number, event) in events.iter().enumerate() {
                let corrected = cursor.map(number as u64, Timestamp(event.raw)).unwrap();
                let back = map.invert(corrected).unwrap();
                prop_assert!(back.0 <= event.raw);
                // Some location of the clock reaches it there, if only at the
                // end of a step; where that is earlier, the stamps in between
                // have all come out the same.
                let siblings = case.clocks.locations(case.clocks.of(location)).iter();
                let latest = siblings.map(|&it| map.cursor(it).map(u64::MAX, back).unwrap()).max();
                prop_assert!(latest >= Some(corrected));
                prop_assert!(back.0 == event.raw || latest == Some(corrected));
            }
        }
        // What was saved is read as the same.
        for clock in case.clocks.iter() {
            let map = correction.map(clock);
            let again = ClockMap::new(map.knots().to_vec(), map.steps().to_vec());
            prop_assert_eq!(again.as_ref(), Ok(map));
        }
    }
}

#[test]
fn a_correction_without_maps_changes_nothing() {
    let info = common::hand::ranks(&[0, 1]);
    let causality = common::hand::causality(&info, &[vec![], vec![]]);
    let clocks = Grouping::Location.clocks(&info, &causality);
    let identity = Correction::new(clocks.clone(), vec![]);
    assert!(identity.is_identity());
    assert_eq!(identity.knots(), 0);
    let moved = ClockMap::new(vec![knot(5, 6, 6)], vec![]).unwrap();
    let correction = Correction::new(clocks, vec![ClockMap::default(), moved]);
    assert!(!correction.is_identity());
    assert_eq!(correction.knots(), 1);
    assert!(correction.map_of(LocationIndex(0)).is_identity());
    assert!(!correction.map_of(LocationIndex(1)).is_identity());
}
