//! Steps told from wander: four clocks that drift, swing or are set, with loose messages.

use retime::align::{Alignment, align_edges};
use retime::{ClockId, Edge, Edges, TickRate};

/// Four clocks for four seconds; every two milliseconds each of these ways carries a message
/// of 5 us and more, mostly more than 20. Clocks are off by so many nanoseconds at a time.
fn aligned(ways: &[(usize, usize)], error: impl Fn(usize, f64) -> f64) -> Alignment {
    aligned_until(ways, |_| f64::INFINITY, error)
}

/// Aligns such clocks if each way carries messages only until so many seconds are over.
fn aligned_until(
    ways: &[(usize, usize)],
    end: impl Fn((usize, usize)) -> f64,
    error: impl Fn(usize, f64) -> f64,
) -> Alignment {
    const LAST: i64 = 4_000_000_000;
    let shown = |clock: usize, time: i64| time + error(clock, time as f64 * 1e-9) as i64;
    let mut state = 1_u64;
    let mut random = |most: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((state >> 33) % most) as i64
    };
    let mut edges = Vec::new();
    for round in 0..LAST / 2_000_000 {
        for &(from, to) in ways {
            let sent = 2_000_000 * round + random(1_600_000);
            let delay = 5_000 + random(60_000) * random(60_000) / 60_000;
            if sent as f64 * 1e-9 > end((from, to)) {
                continue;
            }
            edges.push(Edge::message(
                ClockId(from as u32),
                shown(from, sent),
                ClockId(to as u32),
                shown(to, sent + delay),
            ));
        }
    }
    let extent = |clock| Some((shown(clock, 0), shown(clock, LAST + 100_000)));
    let edges = Edges::new(edges, (0..4).map(extent).collect());
    let rate = TickRate::per_second(1_000_000_000).unwrap();
    align_edges(&edges, rate, ClockId(0), &()).unwrap()
}

const RING: [(usize, usize); 4] = [(0, 1), (1, 2), (2, 3), (3, 0)];
const LINE: [(usize, usize); 6] = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)];

fn drift(clock: usize, time: f64) -> f64 {
    1e3 * (clock * clock) as f64 * time
}

fn swing(clock: usize, time: f64) -> f64 {
    10e3 * (2.5 * time + clock as f64).sin()
}

fn set(clock: usize, which: usize, time: f64) -> f64 {
    if clock == which && time > 1.7 {
        60e3
    } else {
        0.0
    }
}

#[test]
fn a_step_is_not_taken_for_wander() {
    for which in 0..4 {
        let error = |clock, time| drift(clock, time) + set(clock, which, time);
        let alignment = aligned(&LINE, error);
        let [step] = &alignment.steps[..] else {
            panic!("clock {which}: {:?}", alignment.steps)
        };
        assert_eq!(step.clock, ClockId(which as u32));
        assert!((step.by - 60e3).abs() < 10e3, "{step:?}");
        assert!(
            step.after < 1_700_100_000 && step.until > 1_700_000_000,
            "{step:?}"
        );
        assert!(alignment.pieces <= 16, "{}", alignment.pieces);
    }
}

#[test]
fn a_step_of_clocks_that_wander_is_a_step() {
    let error = |clock, time| swing(clock, time) + set(clock, 2, time);
    let alignment = aligned(&LINE, error);
    let [step] = &alignment.steps[..] else {
        panic!("{:?}", alignment.steps)
    };
    assert_eq!(step.clock, ClockId(2));
    assert!((step.by - 60e3).abs() < 15e3, "{step:?}");
}

#[test]
fn around_a_ring_a_step_shows_too() {
    for which in 1..4 {
        let error = |clock, time| drift(clock, time) + set(clock, which, time);
        let alignment = aligned(&RING, error);
        let [step] = &alignment.steps[..] else {
            panic!("clock {which}: {:?}", alignment.steps)
        };
        assert!((step.by.abs() - 60e3).abs() < 30e3, "{step:?}");
    }
}

/// Once nobody else is heard of, either of two clocks may have been set against the other.
#[test]
fn both_clocks_are_named_of_which_one_was_set() {
    let error = |clock, time| drift(clock, time) + set(clock, 3, time);
    let end = |(from, to): (usize, usize)| if from + to == 5 { 4.0 } else { 1.6 };
    let alignment = aligned_until(&LINE, end, error);
    let [step] = &alignment.steps[..] else {
        panic!("{:?}", alignment.steps)
    };
    let mut named = step.alternatives.clone();
    named.push(step.clock);
    named.sort_unstable();
    assert_eq!(named, [ClockId(2), ClockId(3)]);
    assert!((step.by.abs() - 60e3).abs() < 15e3, "{step:?}");
    // As long as all are heard of, it is known.
    let alignment = aligned(&LINE, error);
    let [step] = &alignment.steps[..] else {
        panic!("{:?}", alignment.steps)
    };
    assert_eq!((step.clock, &step.alternatives[..]), (ClockId(3), &[][..]));
}

#[test]
fn clocks_that_wander_are_not_set() {
    for ways in [&LINE[..], &RING[..]] {
        let alignment = aligned(ways, swing);
        assert!(alignment.steps.is_empty(), "{:?}", alignment.steps);
    }
}
