//! One order of all events: it keeps every order there is to keep.

use crate::common::case::Case;
use crate::common::hand::{self, WORLD, ranks};
use crate::common::trace::Call;
use crate::common::{Spec, cases, edges, gammas, specs};
use proptest::prelude::*;
use retime::causality::{Causality, Collective, EventNode, Message, Operation, Root};
use retime::order::{Serializer, nodes_in_order};
use retime::{ClockMap, Clocks, Correction, Knot, LocationIndex, Timestamp};

/// Location, event and time of all events of locations with these times.
fn merged(causality: &Causality, times: &[Vec<u64>]) -> (Vec<(u32, u64, u64)>, u64) {
    let mut order = Serializer::new(causality);
    let offer = |order: &mut Serializer<'_>, location: usize, event: u64| {
        if let Some(&time) = times[location].get(event as usize) {
            order.offer(LocationIndex(location as u32), Timestamp(time));
        }
    };
    (0..times.len()).for_each(|location| offer(&mut order, location, 0));
    let mut found = Vec::new();
    while let Some(next) = order.pop() {
        found.push((next.location.0, next.event, next.time.0));
        offer(&mut order, next.location.as_usize(), next.event + 1);
    }
    (found, order.forced())
}

fn times(events: &[Vec<(u64, Call)>]) -> Vec<Vec<u64>> {
    events
        .iter()
        .map(|events| events.iter().map(|event| event.0).collect())
        .collect()
}

fn message(peer: u32) -> Message {
    Message {
        communicator: WORLD,
        peer: LocationIndex(peer),
        tag: 0,
    }
}

fn send(time: u64, to: u32) -> (u64, Call) {
    (time, Call::Send(message(to), None))
}

fn receive(time: u64, from: u32) -> (u64, Call) {
    (time, Call::Receive(message(from)))
}

fn end(time: u64, operation: Operation, root: Root) -> (u64, Call) {
    let collective = Collective {
        communicator: WORLD,
        operation,
        root,
        sent: true,
        received: true,
    };
    (time, Call::End(collective))
}

/// `(location, event)` of hand-made events.
fn order(events: &[Vec<(u64, Call)>]) -> (Vec<(u32, u64)>, u64) {
    let info = ranks(&(0..events.len()).collect::<Vec<_>>());
    let causality = hand::causality(&info, events);
    let (found, forced) = merged(&causality, &times(events));
    (found.iter().map(|it| (it.0, it.1)).collect(), forced)
}

#[test]
fn ties_go_by_cause_and_then_by_location() {
    let events = [
        vec![(4, Call::Internal), receive(5, 2), (5, Call::Internal)],
        vec![(5, Call::Internal), (6, Call::Internal)],
        vec![(5, Call::Internal), send(5, 0), (5, Call::Internal)],
    ];
    let expected = [
        (0, 0),
        (1, 0),
        (2, 0),
        (2, 1),
        (0, 1),
        (0, 2),
        (2, 2),
        (1, 1),
    ];
    assert_eq!(order(&events), (expected.to_vec(), 0));
}

#[test]
fn a_barrier_within_one_tick() {
    let rank = || vec![(5, Call::Begin), end(5, Operation::Barrier, Root::None)];
    let (found, forced) = order(&[rank(), rank(), rank()]);
    assert_eq!(found, [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)]);
    assert_eq!(forced, 0);

    let rank = || vec![(5, Call::Begin), end(5, Operation::Bcast, Root::Rank(2))];
    let (found, _) = order(&[rank(), rank(), rank()]);
    assert_eq!(found, [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)]);
    let rank = || vec![(5, Call::Begin), end(5, Operation::Scan, Root::None)];
    let (found, _) = order(&[rank(), rank(), rank()]);
    assert_eq!(found, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]);
}

#[test]
fn an_effect_stamped_before_its_cause_goes_by_time() {
    let (found, forced) = order(&[vec![receive(4, 1)], vec![send(5, 0)]]);
    assert_eq!((found, forced), (vec![(0, 0), (1, 0)], 0));
}

#[test]
fn a_circle_within_one_tick_is_cut_at_the_first_location() {
    let (found, forced) = order(&[
        vec![receive(5, 1), send(5, 1)],
        vec![receive(5, 0), send(5, 0)],
    ]);
    assert_eq!((found, forced), (vec![(0, 0), (0, 1), (1, 0), (1, 1)], 1));
}

#[test]
fn stamps_that_run_backwards_wait_for_the_largest_before_them() {
    let events = [
        vec![
            (5, Call::Internal),
            (3, Call::Internal),
            (9, Call::Internal),
        ],
        vec![
            (4, Call::Internal),
            (5, Call::Internal),
            (6, Call::Internal),
        ],
    ];
    let causality = hand::causality(&ranks(&[0, 1]), &events);
    let (found, _) = merged(&causality, &times(&events));
    assert_eq!(
        found,
        [
            (1, 0, 4),
            (0, 0, 5),
            (0, 1, 5),
            (1, 1, 5),
            (1, 2, 6),
            (0, 2, 9)
        ]
    );
}

#[test]
fn odd_offers_neither_hang_nor_panic() {
    let causality = hand::causality(&ranks(&[0, 1]), &[vec![receive(5, 1)], vec![send(5, 0)]]);
    let mut order = Serializer::new(&causality);
    assert_eq!(order.pop(), None);
    order.offer(LocationIndex(7), Timestamp(1));
    assert_eq!(order.pop(), None);
    // The sender never says a word.
    order.offer(LocationIndex(0), Timestamp(5));
    assert_eq!(order.pop().map(|next| next.event), Some(0));
    assert_eq!(order.pop(), None);
    let none = hand::causality(&ranks(&[]), &[]);
    assert_eq!(nodes_in_order(&none), []);
}

/// The position of each node; fails unless the order has each once, by time, and
/// those of a location as recorded.
fn positions(causality: &Causality, order: &[EventNode]) -> Vec<usize> {
    let nodes = causality.nodes();
    let mut position = vec![usize::MAX; nodes.len()];
    for (at, &node) in order.iter().enumerate() {
        assert_eq!(position[node.index()], usize::MAX);
        position[node.index()] = at;
    }
    assert_eq!(order.len(), nodes.len());
    let time = |node: &EventNode| nodes.timestamp(*node);
    assert!(order.is_sorted_by_key(time));
    for location in 0..nodes.locations() {
        let mut own = nodes.of(location).map(|node| position[node.index()]);
        let mut last = own.next();
        for at in own {
            assert!(Some(at) > last);
            last = Some(at);
        }
    }
    position
}

/// Takes true times to ticks of `tick`.
fn coarsened(spec: &Spec, tick: u64) -> Correction {
    let trace = spec.trace().at_truth();
    let clocks = Clocks::each_location(trace.events.len());
    let coarse = |truth: u64| Knot::at(Timestamp(truth), Timestamp(1_000 + truth / tick));
    let maps = trace.events.iter().map(|events| {
        let mut knots: Vec<Knot> = events.iter().map(|event| coarse(event.truth)).collect();
        knots.dedup();
        ClockMap::new(knots, Vec::new()).unwrap()
    });
    Correction::new(clocks, maps.collect())
}

proptest! {
    #![proptest_config(cases(150))]

    /// At true times, however coarse, no dependency is violated.
    #[test]
    fn true_times_are_put_in_an_order_that_respects_all_dependencies(
        spec in specs(40), tick in prop_oneof![Just(1_u64), Just(10), Just(1_000), Just(1 << 40)],
    ) {
        let (known, mut trace) = (spec.trace().at_truth().causality(), spec.trace());
        for event in trace.events.iter_mut().flatten() {
            event.raw = 1_000 + event.truth / tick;
        }
        // Who got which message is taken from the fine clock: threads that call for
        // one rank leave no trace of their order within a tick.
        let causality = known.retimed(&coarsened(&spec, tick), &()).unwrap();
        let position = positions(&causality, &nodes_in_order(&causality));
        for (cause, effect) in edges::all(&causality) {
            prop_assert!(position[cause.index()] < position[effect.index()]);
        }
        let all: Vec<Vec<u64>> = trace.events.iter().map(|of| of.iter().map(|it| it.raw).collect()).collect();
        let (merged, forced) = merged(&causality, &all);
        prop_assert_eq!(forced, 0);
        prop_assert_eq!(merged.len(), all.iter().map(Vec::len).sum::<usize>());
        prop_assert!(merged.is_sorted_by_key(|it| it.2));
    }

    /// Whatever the times, none is lost, and only dependencies that are violated
    /// by their stamps, or part of a circle, are out of order.
    #[test]
    fn recorded_and_corrected_times(spec in specs(40), gamma in gammas()) {
        let case = Case::new(&spec);
        let (nodes, causality) = (case.causality.nodes(), &case.causality);
        let mut order = Serializer::new(causality);
        let recorded = nodes_in_order(causality);
        let position = positions(causality, &recorded);
        let all: Vec<Vec<u64>> = case.trace.events.iter().map(|of| of.iter().map(|it| it.raw).collect()).collect();
        let (_, forced) = merged(causality, &all);
        let out_of_order = edges::all(causality).into_iter().filter(|&(cause, effect)| {
            nodes.timestamp(cause) <= nodes.timestamp(effect)
                && position[cause.index()] > position[effect.index()]
        });
        prop_assert!(out_of_order.count() == 0 || forced > 0);
        prop_assert_eq!(order.pop(), None);

        let correction = case.amortize(gamma, "0.5%".parse().unwrap());
        let corrected = causality.retimed(&correction, &()).unwrap();
        let position = positions(&corrected, &nodes_in_order(&corrected));
        let nodes = corrected.nodes();
        for (cause, effect) in edges::all(&corrected) {
            if nodes.timestamp(cause) < nodes.timestamp(effect) {
                prop_assert!(position[cause.index()] < position[effect.index()]);
            }
        }
    }
}
