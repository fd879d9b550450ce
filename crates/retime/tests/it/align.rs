//! Alignment of clocks whose truth is known.

use proptest::prelude::*;
use retime::align::Relation::{BothWays, OneWay, Unrelated};
use retime::align::{Alignment, align_edges};
use retime::{ClockId, Edge, Edges, TickRate};

/// Nanoseconds.
fn rate() -> TickRate {
    TickRate::per_second(1_000_000_000).expect("a rate")
}

/// A clock as the truth has it: what it is ahead, and how fast it gains.
#[derive(Clone, Copy, Debug)]
struct Wrong {
    offset: i64,
    drift: f64,
}

impl Wrong {
    fn shows(self, time: i64) -> i64 {
        time + self.offset + (self.drift * time as f64).round() as i64
    }
}

/// A message of the truth: who, when, how long.
#[derive(Clone, Copy, Debug)]
struct Message {
    from: usize,
    to: usize,
    sent: i64,
    delay: i64,
}

/// The true times of all messages, shown by wrong clocks.
fn shown(clocks: &[Wrong], messages: &[Message]) -> Edges {
    let id = |clock: usize| ClockId(clock as u32);
    let edge = |it: &Message| {
        let (sent, received) = (
            clocks[it.from].shows(it.sent),
            clocks[it.to].shows(it.sent + it.delay),
        );
        Edge::message(id(it.from), sent, id(it.to), received)
    };
    let edges: Vec<Edge> = messages.iter().map(edge).collect();
    let extent = |clock: usize| {
        let stamps = edges.iter().flat_map(|edge| {
            let sent = (edge.from == id(clock)).then_some(edge.sent);
            let received = (edge.to == id(clock)).then_some(edge.received);
            [sent, received].into_iter().flatten()
        });
        stamps.fold(None, |all: Option<(i64, i64)>, at| {
            Some(all.map_or((at, at), |(first, last)| (first.min(at), last.max(at))))
        })
    };
    let extents = (0..clocks.len()).map(extent).collect();
    Edges::new(edges, extents)
}

/// Everybody exchanges messages with its neighbours in a ring.
fn ring(clocks: usize, rounds: i64, noise: impl Fn(i64) -> i64) -> Vec<Message> {
    let round = |round: i64| {
        let noise = &noise;
        (0..clocks).flat_map(move |from| {
            let there = (from + 1) % clocks;
            // No common divisor: clocks that do not drift would look as coarse as that.
            let sent = 10_000 * round + 101 * from as i64;
            let seed = round * 131 + from as i64 * 17;
            [(from, there, seed), (there, from, seed + 7)].map(|(from, to, seed)| Message {
                from,
                to,
                sent,
                delay: 1_000 + noise(seed),
            })
        })
    };
    (0..rounds).flat_map(round).collect()
}

fn mixed(seed: i64) -> i64 {
    let mixed = (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed >> 40) % 500) as i64
}

/// What remains wrong between a clock and the first, at a true time.
fn error(alignment: &Alignment, clocks: &[Wrong], clock: usize, time: i64) -> f64 {
    let add = |clock: usize, stamp| alignment.estimate.at(ClockId(clock as u32), stamp);
    let corrected = |clock: usize| {
        let stamp = clocks[clock].shows(time);
        (stamp - time) as f64 + add(clock, stamp)
    };
    corrected(clock) - corrected(0)
}

fn wrong(drift: f64) -> impl Strategy<Value = Wrong> {
    (-1_000_000_000..1_000_000_000_i64, -drift..=drift)
        .prop_map(|(offset, drift)| Wrong { offset, drift })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn constants_and_drifts_are_found(
        clocks in proptest::collection::vec(wrong(3e-5), 2..7),
        rounds in 40..200_i64,
    ) {
        // All delays alike, 1000. A tenth of that is slack, and the centre of equal slacks
        // is off by as much as the tightest messages there and back differ in when they
        // were sent: by up to a tenth of the slack for each step along the ring. Besides,
        // rates are drawn to what is usual, within the slack. Together that is less than
        // half of the slack.
        let messages = ring(clocks.len(), rounds, |_| 0);
        let alignment = align_edges(&shown(&clocks, &messages), rate(), ClockId(0), &()).unwrap();
        prop_assert_eq!(&alignment.relations, &vec![BothWays; clocks.len()]);
        for clock in 0..clocks.len() {
            let steps = clock.min(clocks.len() - clock);
            // Before the first and after the last stamp of a clock its offset stays as
            // it is, so not there.
            for time in [10_000, 5_000 * rounds, 10_000 * (rounds - 2)] {
                let error = error(&alignment, &clocks, clock, time);
                prop_assert!(error.abs() <= 50.0 * steps as f64, "clock {} at {}: {}", clock, time, error);
            }
        }
    }

    #[test]
    fn a_clock_set_forward_is_set_back(
        clocks in proptest::collection::vec(wrong(2e-5), 2..6),
        moved in 0..6_usize,
        by in -1_000_000_000_000..1_000_000_000_000_i64,
    ) {
        let messages = ring(clocks.len(), 100, mixed);
        let mut others = clocks.clone();
        let moved = moved % clocks.len();
        others[moved].offset += by;
        let of = |clocks: &[Wrong]| align_edges(&shown(clocks, &messages), rate(), ClockId(0), &()).unwrap();
        let (before, after) = (of(&clocks), of(&others));
        prop_assert_eq!(before.pieces, after.pieces);
        for clock in 0..clocks.len() {
            for time in [0, 300_000, 1_000_000] {
                let errors = [
                    error(&before, &clocks, clock, time),
                    error(&after, &others, clock, time),
                ];
                // A stamp of 10^12 leaves a tenth of a thousandth of a tick.
                prop_assert!((errors[0] - errors[1]).abs() < 1e-3, "{:?}", errors);
            }
        }
    }

    #[test]
    fn numbers_of_clocks_mean_nothing(
        clocks in proptest::collection::vec(wrong(2e-5), 3..6),
        turn in 1..5_usize,
    ) {
        let count = clocks.len();
        let new = |clock: usize| (clock + turn) % count;
        let messages = ring(count, 100, mixed);
        let renumbered: Vec<Message> = messages
            .iter()
            .map(|it| Message { from: new(it.from), to: new(it.to), ..*it })
            .collect();
        let mut turned = clocks.clone();
        for clock in 0..count {
            turned[new(clock)] = clocks[clock];
        }
        let before = align_edges(&shown(&clocks, &messages), rate(), ClockId(0), &()).unwrap();
        let edges = shown(&turned, &renumbered);
        let after = align_edges(&edges, rate(), ClockId(new(0) as u32), &()).unwrap();
        for (clock, shown) in clocks.iter().enumerate() {
            let offset = |of: &Alignment, clock: usize, stamp| {
                of.estimate.offsets[clock].as_ref().map(|it| it.at(stamp))
            };
            for time in [0, 400_000, 1_000_000] {
                let stamp = shown.shows(time);
                let pair = (offset(&before, clock, stamp), offset(&after, new(clock), stamp));
                let (Some(before), Some(after)) = pair else { panic!("{pair:?}") };
                // Which of nearly equal messages are the tightest, rounding decides.
                prop_assert!((before - after).abs() < 1e-3, "{} {}", before, after);
            }
        }
    }

    #[test]
    fn odd_traces_do_no_harm(
        messages in proptest::collection::vec((0..5_u32, odd(), 0..5_u32, odd()), 0..60),
        clocks in 0..5_usize,
        reference in 0..6_u32,
        rate in prop_oneof![Just(1), Just(1_000_000_000), Just(u64::MAX)],
    ) {
        let edge = |&(from, sent, to, received): &(u32, i64, u32, i64)| {
            Edge::message(ClockId(from), sent, ClockId(to), received)
        };
        let edges = messages.iter().map(edge).collect();
        let extents = [Some((0, 1 << 61)), None, Some((5, 5)), Some((0, 9)), None];
        let edges = Edges::new(edges, extents[..clocks].to_vec());
        let rate = TickRate::per_second(rate).unwrap();
        let alignment = align_edges(&edges, rate, ClockId(reference), &()).unwrap();
        prop_assert_eq!(alignment.relations.len(), clocks);
        prop_assert_eq!(alignment.estimate.offsets.len(), clocks);
        for offset in alignment.estimate.offsets.iter().flatten() {
            prop_assert!(offset.knots().iter().all(|it| it.1.is_finite()), "{:?}", offset);
        }
    }
}

fn odd() -> impl Strategy<Value = i64> {
    prop_oneof![Just(0), Just(1 << 61), 0..10_i64, 0..1_000_000_i64]
}

#[test]
fn what_wanders_is_followed() {
    // A sine of 20 us, 50 times as large as the noise.
    let wave = |time: i64| (20_000.0 * (time as f64 * 3e-8).sin()).round() as i64;
    let messages = ring(2, 20_000, mixed);
    let id = |clock: usize| ClockId(clock as u32);
    let at = |clock: usize, time: i64| time + if clock == 1 { wave(time) } else { 0 };
    let edge = |it: &Message| {
        let received = at(it.to, it.sent + it.delay);
        Edge::message(id(it.from), at(it.from, it.sent), id(it.to), received)
    };
    let edges = messages.iter().map(edge).collect();
    let edges = Edges::new(edges, vec![Some((0, 200_002_000)); 2]);
    let alignment = align_edges(&edges, rate(), ClockId(0), &()).unwrap();
    assert!(alignment.pieces > 1);
    let offset = alignment.estimate.offsets[1].as_ref().unwrap();
    let errors = (0..200).map(|i| {
        let time = 1_000_000 * i;
        (offset.at(at(1, time)) + wave(time) as f64).abs()
    });
    let mean = errors.sum::<f64>() / 200.0;
    assert!(mean < 100.0, "{mean}");
}

/// Two clocks run evenly, 10 ppm apart. For the most time a slow message comes now and then, and
/// between bursts they part by thousands of times what the fast messages of a burst leave open.
#[test]
fn clocks_run_evenly_between_bursts_of_fast_messages() {
    let second = 1_000_000_000;
    let clocks = [(0, 0.0), (-350_000, 1e-5)].map(|(offset, drift)| Wrong { offset, drift });
    let both_ways = |sent: i64, delay: i64, other: i64| {
        let there = Message {
            from: 0,
            to: 1,
            sent,
            delay,
        };
        let back = Message {
            from: 1,
            to: 0,
            sent: sent + delay + 500,
            delay: other,
        };
        [there, back]
    };
    let slow = (0..700).flat_map(|at| {
        let [delay, other] = [2 * at, 2 * at + 1].map(|it| 100_000 + 1_800 * mixed(it));
        both_ways(4 * second + at * second / 10, delay, other)
    });
    let bursts = [41, 42, 45, 46, 57, 73].into_iter();
    let fast = bursts.flat_map(|start| {
        (0..1_500).flat_map(move |at| {
            let [delay, other] =
                [start + 2 * at, start + 2 * at + 1].map(|it| 70 + mixed(it) % 300);
            both_ways(start * second + at * 600_000 + 13, delay, other)
        })
    });
    let mut messages: Vec<Message> = slow.chain(fast).collect();
    messages.sort_by_key(|it| it.sent);
    let alignment = align_edges(&shown(&clocks, &messages), rate(), ClockId(0), &()).unwrap();
    for at in [5, 20, 35, 44, 51, 65, 73] {
        let error = error(&alignment, &clocks, 1, at * second);
        assert!(error.abs() < 5_000.0, "{error} ns after {at} s");
    }
}

#[test]
fn glitches_are_left_out_and_reported() {
    let clocks = [0, 5_000_000].map(|offset| Wrong {
        offset,
        drift: 1e-5,
    });
    let mut messages = ring(2, 2_000, mixed);
    // Five sends are stamped a millisecond late.
    let late: Vec<Message> = (0..5).map(|i| messages[801 * i + 3]).collect();
    for (i, it) in late.iter().enumerate() {
        messages[801 * i + 3] = Message {
            sent: it.sent + 1_000_000,
            delay: it.delay - 1_000_000,
            ..*it
        };
    }
    let alignment = align_edges(&shown(&clocks, &messages), rate(), ClockId(0), &()).unwrap();
    assert_eq!(alignment.outliers.len(), 5);
    assert!(
        alignment
            .outliers
            .iter()
            .all(|edge| (edge.latency().abs() - 5_000_000).abs() > 900_000)
    );
    for time in [0, 10_000_000, 20_000_000] {
        let error = error(&alignment, &clocks, 1, time);
        assert!(error.abs() < 30.0, "{error}");
    }
}

#[test]
fn one_way_is_aligned_to_the_fastest_and_marked() {
    // Clock 1 only listens to clock 0, clock 2 only to clock 1; 3 is alone.
    let clocks = [(0, 0.0), (-700_000, 5e-5), (300_000, -5e-5), (9, 0.0)]
        .map(|(offset, drift)| Wrong { offset, drift });
    let messages: Vec<Message> = (0..4_000)
        .map(|i| Message {
            from: (i % 2) as usize,
            to: (i % 2) as usize + 1,
            // No clock that advances by 10 us at once.
            sent: 5_000 * i + i % 3,
            delay: 400 + mixed(i),
        })
        .collect();
    let alignment = align_edges(&shown(&clocks, &messages), rate(), ClockId(0), &()).unwrap();
    assert_eq!(alignment.relations, [BothWays, OneWay, OneWay, Unrelated]);
    assert_eq!(alignment.shortest, None);
    assert_eq!(alignment.estimate.offsets[3], None);
    for time in [0, 10_000_000, 20_000_000] {
        // As if the fastest took no time at all: late by its delay, once and twice.
        for (clock, late) in [(1, 400.0), (2, 800.0)] {
            let error = error(&alignment, &clocks, clock, time);
            assert!((error + late).abs() < 40.0, "{clock} at {time}: {error}");
        }
    }
}

#[test]
fn a_ring_of_one_way_links_ties_all_clocks_from_both_sides() {
    let clocks = [0, 40_000, -70_000].map(|offset| Wrong { offset, drift: 0.0 });
    let messages: Vec<Message> = (0..3_000)
        .map(|i| Message {
            from: (i % 3) as usize,
            to: ((i + 1) % 3) as usize,
            sent: 5_000 * i,
            delay: 400 + mixed(i),
        })
        .collect();
    let alignment = align_edges(&shown(&clocks, &messages), rate(), ClockId(0), &()).unwrap();
    assert_eq!(alignment.relations, [BothWays; 3]);
    let shortest = alignment.shortest.unwrap();
    assert!((shortest - 400.0).abs() < 20.0, "{shortest}");
    for clock in 1..3 {
        let error = error(&alignment, &clocks, clock, 7_000_000);
        assert!(error.abs() < 20.0, "{error}");
    }
}

/// Of a clock that only receives, messages tell no rate to rest a bound on.
#[test]
fn bounds_rest_on_no_drift_where_messages_go_one_way() {
    let clocks = [(0, 0.0), (-20_000, 80e-6)].map(|(offset, drift)| Wrong { offset, drift });
    let message = |i: i64| Message {
        from: 0,
        to: 1,
        sent: 10_000 * i,
        delay: 1_000 + mixed(i),
    };
    let messages: Vec<Message> = (0..2_000).map(message).collect();
    let alignment = align_edges(&shown(&clocks, &messages), rate(), ClockId(0), &()).unwrap();
    assert_eq!(alignment.relations[1], OneWay);
    let [line, base] = [&alignment.estimate, &alignment.base()].map(|estimate| {
        let offset = estimate.offsets[1].as_ref().unwrap();
        [0, 10_000_000, 20_000_000].map(|at| offset.at(at))
    });
    assert!((line[2] - line[0]).abs() > 1_000.0, "{line:?}");
    assert!(
        (base[2] - base[0]).abs() < 1e-9 && (base[1] - line[1]).abs() < 50.0,
        "{base:?}"
    );
}
