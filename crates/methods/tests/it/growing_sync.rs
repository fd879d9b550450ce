//! Pseudo-synchronisation segment by segment: the shifts of the whole in the end, and none that rise.

use crate::common::cases;
use proptest::prelude::*;
use retime::estimate::NoEstimate;
use retime::{ClockId, Edge, Edges, Ticks};
use retime_methods::{GrowingShifts, pseudo_synchronisation};

const CLOCKS: u32 = 5;
const BASE: ClockId = ClockId(2);

/// Messages between clocks that are off by constants, `(from, to, sent, delay)` by true time, as
/// edges by local stamps.
fn edges() -> impl Strategy<Value = Vec<Edge>> {
    let message = (0..CLOCKS, 1..CLOCKS, 0_i64..10_000, 0_i64..500);
    let offsets = proptest::collection::vec(-3_000_i64..3_000, CLOCKS as usize);
    (proptest::collection::vec(message, 0..60), offsets).prop_map(|(messages, offsets)| {
        let edge = |(from, on, sent, delay): (u32, u32, i64, i64)| {
            let to = (from + on) % CLOCKS;
            let at = |clock: u32, time: i64| time + offsets[clock as usize];
            let received = at(to, sent + delay);
            Edge::message(ClockId(from), at(from, sent), ClockId(to), received)
        };
        messages.into_iter().map(edge).collect()
    })
}

fn add(sync: &mut GrowingShifts, edge: &Edge) {
    let took = i128::from(edge.received) - i128::from(edge.sent);
    sync.message(edge.from, edge.to, took);
}

/// The shifts of all messages at a time; 0 for clocks without any.
fn at_once(edges: &[Edge], closure: bool) -> Result<Vec<i128>, NoEstimate> {
    let edges = Edges::new(edges.to_vec(), vec![None; CLOCKS as usize]);
    let estimate = pseudo_synchronisation(&edges, |_| 0, closure, BASE, &())?;
    let offsets = estimate.offsets.iter();
    Ok(offsets
        .map(|it| it.as_ref().map_or(0, |it| -it.at(0) as i128))
        .collect())
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn the_closure_comes_to_the_shifts_of_the_whole_and_reverses_nothing_between_segments(
        edges in edges(), cuts in proptest::collection::vec(1_usize..12, 1..8)
    ) {
        let mut sync = GrowingShifts::new(CLOCKS as usize, BASE, true);
        let mut before: Vec<Option<i128>> = vec![None; CLOCKS as usize];
        // Where each end would be put that has come so far; the send with an earlier segment.
        let mut rest = &edges[..];
        for cut in cuts {
            let (segment, later) = rest.split_at(cut.min(rest.len()));
            rest = later;
            for edge in segment {
                add(&mut sync, edge);
            }
            let shifts = sync.shifts().unwrap().to_vec();
            for (clock, (before, now)) in before.iter().zip(&shifts).enumerate() {
                prop_assert!(before.is_none() || now <= before, "clock {clock} {before:?} {now:?}");
            }
            for edge in segment {
                let (from, to) = (edge.from.as_usize(), edge.to.as_usize());
                let put = |stamp: i64, shift: Option<i128>| shift.map(|it| i128::from(stamp) - it);
                let received = put(edge.received, shifts[to]);
                for sent in [put(edge.sent, before[from]), put(edge.sent, shifts[from])] {
                    if let (Some(sent), Some(received)) = (sent, received) {
                        prop_assert!(sent <= received, "{edge:?}");
                    }
                }
            }
            before = shifts;
        }
        for edge in rest {
            add(&mut sync, edge);
        }
        match (sync.last_shifts(), at_once(&edges, true)) {
            (Ok(grown), Ok(whole)) => prop_assert_eq!(grown, whole),
            (Err(grown), Err(whole)) => prop_assert_eq!(grown.to_string(), whole.to_string()),
            (grown, whole) => prop_assert!(false, "{grown:?} {whole:?}"),
        }
    }

    #[test]
    fn the_printed_form_is_that_of_the_whole_if_asked_once_and_never_above_it(
        edges in edges(), cut in 0_usize..60
    ) {
        let [mut once, mut twice] =
            [(); 2].map(|()| GrowingShifts::new(CLOCKS as usize, BASE, false));
        for (at, edge) in edges.iter().enumerate() {
            if at == cut {
                twice.shifts().unwrap();
            }
            add(&mut once, edge);
            add(&mut twice, edge);
        }
        match (once.last_shifts(), at_once(&edges, false)) {
            (Ok(grown), Ok(whole)) => {
                let pairs = twice.last_shifts().unwrap().into_iter().zip(&whole);
                prop_assert!(pairs.clone().all(|(twice, whole)| twice <= *whole));
                prop_assert_eq!(grown, whole);
            }
            (Err(grown), Err(whole)) => prop_assert_eq!(grown.to_string(), whole.to_string()),
            (grown, whole) => prop_assert!(false, "{grown:?} {whole:?}"),
        }
    }
}

#[test]
fn what_is_taken_back_stays_subtracted() {
    // Clock 1 is violated by clock 3 first, then clock 3 more by clock 1.
    let clock = ClockId;
    let mut sync = GrowingShifts::new(4, clock(0), false);
    sync.message(clock(0), clock(1), 100);
    sync.message(clock(0), clock(3), 100);
    sync.message(clock(3), clock(1), -5);
    let shifts = sync.shifts().unwrap();
    assert_eq!(shifts, [Some(0), Some(95), None, Some(100)]);
    sync.message(clock(1), clock(3), -9);
    let shifts = sync.shifts().unwrap();
    assert_eq!(shifts, [Some(0), Some(95), None, Some(91)]);
}

#[test]
fn clocks_that_drift_apart_are_told_by_their_cycle() {
    let mut sync = GrowingShifts::new(2, ClockId(0), true);
    sync.message(ClockId(0), ClockId(1), 10);
    sync.message(ClockId(1), ClockId(0), -8);
    assert_eq!(sync.shifts().unwrap(), [Some(0), Some(10)]);
    sync.message(ClockId(0), ClockId(1), 3);
    let missed = |error| match error {
        NoEstimate::Infeasible(_, Ticks(by)) => by,
        other => panic!("{other:?}"),
    };
    assert_eq!(missed(sync.shifts().unwrap_err()), 5);
}
