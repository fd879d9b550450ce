//! The controlled logical clock against a slow computation from its formula,
//! and against what it promises.

use crate::common;
use crate::common::case::Case;
use crate::common::hand;
use crate::common::naive::Row;
use crate::common::permuted::permuted;
use crate::common::program::LEAST_DELAY;
use crate::common::{Call, Sharing, Spec, Trace, cases, cycle, gammas, specs};
use proptest::prelude::*;
use retime::causality::{EventNode, Operation, Root};
use retime::clock::{ClockError, Cycle, Gamma, controlled};
use retime::{Clocks, Grouping, LocationIndex, MinimalDelay, Ticks, TraceInfo};

fn gamma(text: &str) -> Gamma {
    text.parse().unwrap()
}

proptest! {
    #![proptest_config(cases(1_500))]

    #[test]
    fn it_equals_the_formula(spec in specs(400), gamma in gammas()) {
        let case = Case::new(&spec);
        let expected = case.plain.controlled(&case.delay, gamma);
        prop_assert_eq!(Some(case.values(gamma)), expected);
    }

    #[test]
    fn every_effect_comes_late_enough_and_nothing_moves_back(spec in specs(400), gamma in gammas()) {
        let case = Case::new(&spec);
        let values = case.values(gamma);
        let value = |node: EventNode| values[node.index()];
        for (cause, effect) in case.plain.across() {
            prop_assert!(value(effect) >= value(cause) + case.plain.delay(&case.delay, (cause, effect)));
        }
        for (corrected, raw) in values.iter().zip(&case.plain.raw) {
            prop_assert!(corrected >= raw);
        }
        for location in 0..case.causality.nodes().locations() {
            let of = case.causality.nodes().of(location);
            prop_assert!(values[of.range()].is_sorted());
        }
    }

    #[test]
    fn jumps_are_counted_and_the_largest_is_known(spec in specs(300), gamma in gammas()) {
        let case = Case::new(&Spec { sharing: Sharing::Location, ..spec });
        let (times, values) = (case.run(gamma), case.values(gamma));
        let locations = 0..case.trace.events.len();
        let rows = locations.map(|at| Row::new(&case.plain, &values, &case.delay, gamma, at));
        let jumps: Vec<i64> = rows.flat_map(|row| row.jump).filter(|&jump| jump > 0).collect();
        prop_assert_eq!(times.jumps(), jumps.len() as u64);
        prop_assert_eq!(times.largest_jump().0, jumps.iter().copied().max().unwrap_or(0));
    }

    #[test]
    fn a_sound_trace_stays_as_it_is(spec in specs(300), gamma in gammas()) {
        // One true clock for all, and no more delay than the program had.
        let spec = Spec { offset: 0, drift_ppm: 0, ..spec };
        let mut case = Case::new(&spec);
        let least = (4 * LEAST_DELAY / spec.tick) as i64;
        for delay in [0, least] {
            case.delay = MinimalDelay::Uniform(Ticks(delay));
            prop_assert_eq!(&case.values(gamma), &case.plain.raw);
            prop_assert_eq!(case.run(gamma).jumps(), 0);
        }
    }

    #[test]
    fn a_corrected_trace_stays_as_it_is(spec in specs(300), first in gammas(), again in gammas()) {
        let spec = Spec { threads: false, ..spec };
        let case = Case::new(&spec);
        let values = case.values(first);
        let base = case.plain.base;
        let stamps: Vec<u64> = values.iter().map(|value| base.wrapping_add_signed(*value)).collect();
        let repeated = Case::of(&spec, case.trace.restamped(&stamps));
        prop_assert_eq!(&repeated.values(again), &repeated.plain.raw);
    }

    #[test]
    fn the_order_of_locations_does_not_matter(spec in specs(300), gamma in gammas(), turn in 1..8_usize) {
        let case = Case::new(&spec);
        let turned = permuted(&case.trace, turn);
        let other = Case::of(&spec, turned.trace.clone());
        let delay = MinimalDelay::Uniform(Ticks(3));
        let by_location = |case: &Case, clocks: &Clocks| {
            let times = controlled(&case.causality, clocks, &delay, gamma, &()).unwrap();
            let nodes = case.causality.nodes();
            let of = |location: usize| -> Vec<i64> {
                nodes.of(location).map(|node| times.get(node).0).collect()
            };
            (0..nodes.locations()).map(of).collect::<Vec<_>>()
        };
        let own = by_location(&case, &case.clocks);
        let others = by_location(&other, &other.clocks);
        for (location, values) in own.iter().enumerate() {
            prop_assert_eq!(values, &others[turned.new_of[location]]);
        }
    }
}

/// The corrected times of a trace written by hand, with a delay of `mu`.
fn run(
    info: &TraceInfo,
    locations: &[Vec<(u64, Call)>],
    grouping: Grouping,
    mu: i64,
) -> Result<Vec<i64>, ClockError> {
    let causality = hand::causality(info, locations);
    let clocks = grouping.clocks(info, &causality);
    let delay = MinimalDelay::Uniform(Ticks(mu));
    let times = controlled(&causality, &clocks, &delay, gamma("0.99"), &())?;
    let base = causality.nodes().base().0 as i64;
    let nodes = causality.nodes().all();
    Ok(nodes.map(|node| base + times.get(node).0).collect())
}

#[test]
fn a_tie_within_a_clock_does_not_become_a_violation() {
    // Ranks 1 and 2 share a clock. In one tick, 100, rank 1 gets a message of
    // 108 and answers rank 2, whose receive must not stay at 100. Rank 2's begin
    // of the same tick has nothing to do with it.
    let remote = vec![(108, hand::send(1))];
    let first = vec![(100, hand::receive(0)), (100, hand::send(2))];
    let second = vec![
        (100, hand::send(1)),
        (100, hand::receive(1)),
        (101, Call::Begin),
    ];
    let info = hand::ranks_on(&[(0, 0), (1, 1), (2, 1)]);
    let times = run(&info, &[remote, first, second], Grouping::Node, 2).unwrap();
    assert_eq!(times, [108, 110, 110, 100, 110, 111]);
}

#[test]
fn a_tie_within_a_clock_holds_for_collectives_too() {
    let remote = vec![
        (108, hand::send(1)),
        (109, Call::Begin),
        (120, hand::barrier()),
    ];
    let first = vec![
        (100, hand::receive(0)),
        (100, Call::Begin),
        (130, hand::barrier()),
    ];
    let second = vec![(100, Call::Begin), (100, hand::barrier())];
    let info = hand::ranks_on(&[(0, 0), (1, 1), (2, 1)]);
    let times = run(&info, &[remote, first, second], Grouping::Node, 0).unwrap();
    assert_eq!(times, [108, 109, 120, 108, 108, 139, 100, 109]);
    // Without the remote begin only the tied one is left.
    let alone = vec![(100, hand::send(1))];
    let info = hand::with_sides(info, &[1], &[2]);
    let inter = retime::causality::Collective {
        communicator: 1,
        ..hand::call(Operation::Barrier, Root::None)
    };
    let ends = Call::End(inter);
    let first = vec![(90, hand::receive(0)), (90, Call::Begin), (130, ends)];
    let second = vec![(90, Call::Begin), (90, ends)];
    let times = run(&info, &[alone, first, second], Grouping::Node, 0).unwrap();
    assert_eq!(times, [100, 100, 100, 140, 90, 100]);
}

/// The events of a cycle as (location, event).
fn places(cycle: &Cycle) -> Vec<(u32, u64)> {
    let mut places: Vec<_> = cycle
        .events
        .iter()
        .map(|(place, _)| (place.location.0, place.event))
        .collect();
    places.sort_unstable();
    places
}

#[test]
fn two_receives_that_wait_for_each_other_are_named() {
    let own = |other: u32| {
        vec![
            (5, Call::Internal),
            (10, hand::receive(other)),
            (20, hand::send(other)),
        ]
    };
    let info = hand::ranks(&[0, 1]);
    let cycle = cycle(run(&info, &[own(1), own(0)], Grouping::Location, 0));
    assert_eq!(places(&cycle), [(0, 1), (1, 1)]);
    assert_eq!(
        cycle.to_string(),
        "the trace contradicts itself: 2 events wait for each other in a cycle, so no time fits them"
    );
    assert_eq!(
        cycle.describe(&info),
        format!(
            "{cycle}\n  receive, event 1 of rank 0 / thread 0 (location 0)\
             \n  receive, event 1 of rank 1 / thread 1 (location 1)"
        )
    );
}

#[test]
fn a_cycle_through_a_collective_and_away_from_its_victims_is_named() {
    // Ranks 1 and 2 wait for each other; rank 0 only waits for rank 1.
    let victim = vec![(10, hand::receive(1))];
    let first = vec![
        (10, Call::Begin),
        (20, hand::receive(2)),
        (30, hand::send(0)),
    ];
    let info = hand::with_sides(hand::ranks(&[0, 1, 2]), &[1], &[2]);
    let bcast = retime::causality::Collective {
        communicator: 1,
        ..hand::call(Operation::Barrier, Root::None)
    };
    let mut first = first;
    first[0].1 = Call::Internal;
    first.push((40, Call::Begin));
    first.push((50, Call::End(bcast)));
    let second = vec![
        (10, Call::Begin),
        (20, Call::End(bcast)),
        (30, hand::send(1)),
    ];
    let cycle = cycle(run(&info, &[victim, first, second], Grouping::Location, 0));
    assert_eq!(places(&cycle), [(1, 1), (2, 1)]);
}

#[test]
fn a_cycle_through_another_location_of_a_clock_is_named() {
    // Ranks 1 and 2 share a clock by which rank 2's send at 20 comes after rank
    // 1's receive at 10; but that message went by rank 0 in between.
    let between = vec![(10, hand::receive(2)), (11, hand::send(1))];
    let early = vec![(10, hand::receive(0))];
    let late = vec![(20, hand::send(0))];
    // Rank 3 on the same clock comes later than both and is no part of it.
    let later = vec![(30, hand::send(0))];
    for (locations, expected) in [
        ([&between, &early, &late, &later], [(0, 0), (1, 0), (2, 0)]),
        ([&between, &later, &early, &late], [(0, 0), (2, 0), (3, 0)]),
    ] {
        let locations = locations.map(|events| renumbered(events, expected[1].0 - 1));
        let info = hand::ranks_on(&[(0, 0), (1, 1), (2, 1), (3, 1)]);
        let cycle = cycle(run(&info, &locations, Grouping::Node, 0));
        assert_eq!(places(&cycle), expected);
    }
}

/// The events with the peers 1 and 2 moved by `by`.
fn renumbered(events: &[(u64, Call)], by: u32) -> Vec<(u64, Call)> {
    let moved = |peer: LocationIndex| if peer.0 == 0 { 0 } else { peer.0 + by };
    let renumber = |&(time, call): &(u64, Call)| match call {
        Call::Send(message, _) => (time, hand::send(moved(message.peer))),
        Call::Receive(message) => (time, hand::receive(moved(message.peer))),
        other => (time, other),
    };
    events.iter().map(renumber).collect()
}

#[test]
fn a_cycle_within_one_tick_of_a_clock_is_named_without_its_victims() {
    let waits_for = |other: u32, others: &[u32]| {
        let mut events = vec![(10, hand::receive(other))];
        events.extend(others.iter().map(|&to| (10, hand::send(to))));
        events
    };
    let info = hand::ranks_on(&[(0, 0), (1, 0), (2, 0)]);
    // Rank 0 only waits for rank 1.
    let locations = [waits_for(1, &[]), waits_for(2, &[0, 2]), waits_for(1, &[1])];
    let cycle = cycle(run(&info, &locations, Grouping::Node, 0));
    assert_eq!(places(&cycle), [(1, 0), (2, 0)]);
}

#[test]
fn a_violation_within_a_clock_is_left_alone_and_holds_nobody_up() {
    // Rank 1 leaves the barrier at 10, which rank 2 of the same clock enters at
    // 20: no map can repair that. The dependencies on rank 0 stay.
    let remote = vec![(12, Call::Begin), (15, hand::barrier())];
    let leaves = vec![(5, Call::Begin), (10, hand::barrier())];
    let enters = vec![(20, Call::Begin), (30, hand::barrier())];
    let info = hand::ranks_on(&[(0, 0), (1, 1), (2, 1)]);
    let times = run(&info, &[remote, leaves, enters], Grouping::Node, 1).unwrap();
    assert_eq!(times, [12, 24, 5, 13, 23, 33]);
}

proptest! {
    #![proptest_config(cases(300))]

    /// Two messages cross such that each is received before the other is sent.
    #[test]
    fn a_contradiction_anywhere_in_a_trace_is_found(spec in specs(150), at: u64) {
        let spec = Spec { threads: false, locations: spec.locations.max(2), ..spec };
        let mut trace = spec.trace();
        let (one, two) = (0, 1);
        let tag = 999_999;
        for (own, other) in [(one, two), (two, one)] {
            let envelope = retime::causality::Message {
                communicator: hand::WORLD,
                peer: LocationIndex(other),
                tag,
            };
            let events = &mut trace.events[own as usize];
            let place = at as usize % events.len();
            let like = events[place];
            let event = |call| common::Event { call, ..like };
            events.insert(place, event(Call::Send(envelope, None)));
            events.insert(place, event(Call::Receive(envelope)));
        }
        let causality = trace.causality();
        let clocks = Clocks::each_location(trace.events.len());
        let delay = MinimalDelay::Uniform(Ticks(0));
        let cycle = cycle(controlled(&causality, &clocks, &delay, gamma("0.99"), &()));
        // Each event named waits for the next one: both are on the cycle.
        prop_assert!(cycle.events.len() >= 2);
        let precedes = Precedes::new(&trace);
        let node = |index: usize| {
            let place = cycle.events[index % cycle.events.len()].0;
            precedes.node(place.location, place.event)
        };
        for index in 0..cycle.events.len() {
            prop_assert!(precedes.reaches(node(index + 1), node(index)));
        }
    }
}

/// Happened-before of a trace with a contradiction.
struct Precedes {
    places: Vec<(LocationIndex, u64)>,
    effects: Vec<Vec<usize>>,
}

impl Precedes {
    fn new(trace: &Trace) -> Self {
        let causality = trace.causality();
        let places: Vec<_> = trace
            .nodes()
            .map(|(location, event, _)| (location, event))
            .collect();
        let mut effects = vec![Vec::new(); places.len()];
        for (cause, effect) in common::edges::all(&causality) {
            effects[cause.index()].push(effect.index());
        }
        for node in 1..places.len() {
            if places[node].0 == places[node - 1].0 {
                effects[node - 1].push(node);
            }
        }
        Self { places, effects }
    }

    fn node(&self, location: LocationIndex, event: u64) -> usize {
        self.places
            .iter()
            .position(|place| *place == (location, event))
            .unwrap()
    }

    fn reaches(&self, from: usize, to: usize) -> bool {
        let mut seen = vec![false; self.places.len()];
        let mut open = vec![from];
        while let Some(node) = open.pop() {
            if node == to {
                return true;
            }
            if !std::mem::replace(&mut seen[node], true) {
                open.extend(&self.effects[node]);
            }
        }
        false
    }
}
