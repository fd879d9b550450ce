//! The repair of what is violated, on random programs with known truth.

use crate::common;
use crate::common::case::Case;
use crate::common::hand::{causality, ranks_on, receive, send};
use crate::common::trace::Call;
use crate::common::{Spec, cases, gammas, specs};
use proptest::prelude::*;
use retime::causality::{EventNode, check};
use retime::clock::{
    AmortizationRate, ClockError, Gamma, amortize, controlled, lamport_order, unamortized,
};
use retime::repair::{Direction, RepairedTrace, repair, repair_with};
use retime::{CorrectionError, Grouping, LocationIndex, MinimalDelay, Ticks, Timestamp};

fn of(case: &Case) -> RepairedTrace {
    repair(&case.causality, &case.clocks, &case.delay, &()).unwrap()
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn nothing_is_violated_afterwards(spec in specs(300), gamma in gammas()) {
        let case = Case::new(&spec);
        let repaired = repair_with(&case.causality, &case.clocks, &case.delay, gamma, &()).unwrap();
        let times = case.trace.corrected(&repaired.correction);
        let checked = check(&case.causality, &case.clocks, &case.delay, &times, &()).unwrap();
        prop_assert_eq!((checked.violated(), checked.short()), (0, 0));
        for events in case.trace.rewritten(&repaired.correction).events {
            prop_assert!(events.is_sorted_by_key(|event| event.raw));
        }
    }

    /// What it left is sound, so that a second repair changes nothing.
    #[test]
    fn a_second_repair_finds_nothing(spec in specs(300)) {
        let case = Case::new(&spec);
        let again = case.causality.retimed(&of(&case).correction, &()).unwrap();
        let repaired = repair(&again, &case.clocks, &case.delay, &()).unwrap();
        prop_assert_eq!(repaired.summary.direction, None);
        prop_assert!(repaired.correction.is_identity());
    }

    #[test]
    fn it_is_the_gentler_of_both_directions(spec in specs(300)) {
        let case = Case::new(&spec);
        let moved = |case: &Case| {
            let repaired = of(case);
            let raw = case.causality.nodes().timestamps();
            let times = case.causality.retimed(&repaired.correction, &()).unwrap();
            let times = times.nodes().timestamps();
            let moves = raw.iter().zip(times);
            let moves: Vec<i64> = moves.map(|(raw, to)| to.0.wrapping_sub(raw.0) as i64).collect();
            (moves, repaired.summary)
        };
        let (moves, summary) = moved(&case);
        match summary.direction {
            None => prop_assert!(moves.iter().all(|&by| by == 0)),
            Some(Direction::Forward) => prop_assert!(moves.iter().all(|&by| by >= 0)),
            Some(Direction::Backward) => prop_assert!(moves.iter().all(|&by| by <= 0)),
        }
        let total: u128 = moves.iter().map(|by| u128::from(by.unsigned_abs())).sum();
        prop_assert_eq!(total, summary.total);
        // The mirror is repaired at the same cost.
        let mirror = case.causality.mirrored();
        let mirrored = repair(&mirror, &case.clocks, &case.delay.mirrored(), &()).unwrap();
        prop_assert_eq!(mirrored.summary.total, total);
    }
}

/// One true clock for all, and `count` sends stamped too late for their
/// receives; with the stamps between which each of them lies.
fn with_glitches(spec: &Spec, count: usize) -> (Case, Vec<(i64, i64)>) {
    let mut trace = spec.trace();
    let places: Vec<_> = trace
        .nodes()
        .map(|(location, event, _)| (location.as_usize(), event as usize))
        .collect();
    let raw = |node: EventNode| {
        let (location, event) = places[node.index()];
        trace.events[location][event].raw
    };
    // As late as its next event allows.
    let late = |&(send, receive): &common::Edge| {
        let (location, event) = places[send.index()];
        let next = trace.events[location].get(event + 1)?.raw;
        (next > raw(receive) + 1_000).then_some((location, event, next - 1))
    };
    let able: Vec<_> = trace.messages.iter().filter_map(late).collect();
    let chosen = able.iter().step_by((able.len() / count).max(1)).take(count);
    let mut stamps = Vec::new();
    for &(location, event, by) in chosen {
        let was = std::mem::replace(&mut trace.events[location][event].raw, by);
        stamps.push((was, by));
    }
    let mut case = Case::of(spec, trace);
    case.delay = MinimalDelay::Uniform(Ticks(0));
    let relative = |stamp: u64| stamp.wrapping_sub(case.plain.base) as i64;
    let glitches = stamps.iter().map(|it| (relative(it.0), relative(it.1)));
    let glitches = glitches.collect();
    (case, glitches)
}

fn glitchy(seed: u64) -> Spec {
    Spec {
        locations: 5,
        steps: 500,
        seed,
        threads: false,
        tick: 1,
        offset: 0,
        drift_ppm: 0,
        sharing: common::Sharing::Location,
    }
}

proptest! {
    #![proptest_config(cases(20))]

    /// A lead is no larger than the glitches together (a second one close by adds
    /// to what is left of the first), whoever handed it on, and it is gone after
    /// twice its size; ramps before are as short.
    #[test]
    fn what_is_far_from_glitches_is_not_touched(seed in any::<u64>()) {
        let (case, glitches) = with_glitches(&glitchy(seed), 5);
        let repaired = of(&case);
        prop_assume!(!glitches.is_empty());
        prop_assert!(repaired.summary.direction.is_some());
        let size: i64 = glitches.iter().map(|(from, to)| to - from).sum();
        prop_assert!(repaired.summary.largest_jump <= Ticks(size));
        let base = case.plain.base;
        let stamps = case.trace.corrected(&repaired.correction);
        for (&raw, stamp) in case.plain.raw.iter().zip(stamps) {
            let near = |glitch: &(i64, i64)| {
                (glitch.0 - 2 * size - 8..glitch.1 + 2 * size + 8).contains(&raw)
            };
            if !glitches.iter().any(near) {
                prop_assert_eq!(stamp.0.wrapping_sub(base) as i64, raw);
            }
        }
    }
}

/// Five sends of a ring on one clock are stamped 40 us late, each message takes
/// 2 us: it is enough to move these back by 38 us, and what comes within twice
/// that by as much.
#[test]
fn five_glitches_drag_nobody_along() {
    let ranks = 4_u32;
    let mut locations = vec![vec![]; ranks as usize];
    for round in 0..1_000_u64 {
        let start = 1_000_000 + 100_000 * round;
        for rank in 0..ranks {
            let late = round % 200 == 100 && rank == 2;
            let sent = start + if late { 40_000 } else { 0 };
            let before = (rank + ranks - 1) % ranks;
            let own: &mut Vec<_> = &mut locations[rank as usize];
            own.push((sent, send((rank + 1) % ranks)));
            // It reads its clock right again before anything else happens.
            own.push((start + 50_000 + u64::from(rank), receive(before)));
        }
        let early = locations[3].last_mut().unwrap();
        early.0 = start + 2_000;
    }
    let info = ranks_on(&[(0, 0), (1, 1), (2, 2), (3, 3)]);
    let it = causality(&info, &locations);
    let clocks = Grouping::Location.clocks(&info, &it);
    let total = |gamma: &str| {
        let delay = MinimalDelay::Uniform(Ticks(0));
        let repaired = repair_with(&it, &clocks, &delay, gamma.parse().unwrap(), &()).unwrap();
        repaired.summary.total
    };
    let (local, patient) = (total("0.5"), total("0.99998"));
    assert!((5 * 38_000..=10 * 38_000).contains(&local), "{local}");
    assert!(patient > 100 * local, "{local} against {patient}");
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            let (case, _) = with_glitches(&glitchy(7), 5);
            let RepairedTrace {
                correction,
                summary,
            } = of(&case);
            (correction, summary)
        })
    };
    assert_eq!(run(1), run(8));
}

/// The last stamp there is.
const LAST: u64 = u64::MAX;

/// A message that has to be received 90 later than it was, at the end of what 64
/// bits hold; the trace begins long before.
fn at_the_end_of_time() -> [Vec<(u64, Call)>; 3] {
    [
        vec![(LAST - 900, receive(2)), (LAST - 50, send(1))],
        vec![(LAST - 90, receive(0))],
        vec![(LAST - 1_000, send(0))],
    ]
}

#[test]
fn a_way_that_does_not_fit_is_not_taken() {
    let info = ranks_on(&[(0, 0), (1, 1), (2, 2)]);
    let it = causality(&info, &at_the_end_of_time());
    let clocks = Grouping::Location.clocks(&info, &it);
    let delay = MinimalDelay::Uniform(Ticks(100));
    let repaired = repair(&it, &clocks, &delay, &()).unwrap();
    assert_eq!(repaired.summary.direction, Some(Direction::Backward));
    let moved = it.retimed(&repaired.correction, &()).unwrap();
    assert_eq!(moved.nodes().timestamp(EventNode(1)), Timestamp(LAST - 190));
}

#[test]
fn if_no_way_fits_that_is_an_error() {
    let info = ranks_on(&[(0, 0), (1, 1)]);
    let events = [vec![(LAST - 50, send(1))], vec![(LAST - 90, receive(0))]];
    let it = causality(&info, &events);
    let clocks = Grouping::Location.clocks(&info, &it);
    let delay = MinimalDelay::Uniform(Ticks(100));
    let too_far = CorrectionError::TooFar {
        raw: Timestamp(LAST - 90),
        event: Some((LocationIndex(1), 0)),
    };
    let refused = repair(&it, &clocks, &delay, &()).unwrap_err();
    assert_eq!(refused, ClockError::Correction(too_far.clone()));
    assert!(too_far.describe(&info).contains("rank 1"));
    let times = controlled(&it, &clocks, &delay, Gamma::default(), &()).unwrap();
    let rate = AmortizationRate::default();
    for refused in [
        amortize(&it, &clocks, &delay, rate, &times, &()),
        unamortized(&it, &clocks, &times, &()),
    ] {
        assert_eq!(refused.unwrap_err(), too_far);
    }
}

#[test]
fn what_is_too_far_in_the_mirror_is_named_as_of_the_trace() {
    let info = ranks_on(&[(0, 0), (1, 1), (2, 2)]);
    let it = causality(&info, &at_the_end_of_time());
    let too_far = |raw, location, event| {
        ClockError::Correction(CorrectionError::TooFar {
            raw: Timestamp(raw),
            event: Some((LocationIndex(location), event)),
        })
    };
    let mirrored = too_far(LAST - 1_000, 0, 0).mirrored(&it);
    assert_eq!(mirrored, too_far(LAST - 50, 0, 1));
    assert_eq!(mirrored.mirrored(&it), too_far(LAST - 1_000, 0, 0));
}

#[test]
fn counters_that_do_not_fit_are_an_error() {
    let info = ranks_on(&[(0, 0), (1, 1)]);
    let it = causality(&info, &[vec![(LAST, send(1))], vec![(LAST, receive(0))]]);
    let refused = lamport_order(&it, &()).unwrap_err();
    let too_far = CorrectionError::TooFar {
        raw: Timestamp(LAST),
        event: Some((LocationIndex(1), 0)),
    };
    assert_eq!(refused, ClockError::Correction(too_far));
}
