//! Clocks that look at every event, and the corrections that say where each is: against the
//! plain program written from the papers, event by event, also of those between the ones that
//! communicate.

use crate::common::oracle::Plain;
use crate::common::papers::Printed;
use crate::common::{Call, Sharing, Spec, Trace, cases, gammas, hand, specs};
use proptest::prelude::*;
use retime::causality::{AllEvents, OtherEvents};
use retime::clock::{
    AmortizationRate, CombinedConstants, Control, DegressiveConstants, LogicalTimes, Regulation,
    Steps, amortize, lamport_order, mirror_back, regulated, simple, unamortized,
};
use retime::{
    Causality, Clocks, Correction, LocationIndex, MinimalDelay, MinimalDistance, TickRate, Ticks,
    Timestamp,
};

/// A trace of which every event is known, with a clock for each location.
struct Known {
    trace: Trace,
    causality: Causality,
    all: AllEvents,
    clocks: Clocks,
    delay: MinimalDelay,
    plain: Plain,
}

pub(crate) fn stamps(trace: &Trace) -> Vec<Vec<Timestamp>> {
    let of_location = trace.events.iter();
    of_location
        .map(|events| events.iter().map(|event| Timestamp(event.raw)).collect())
        .collect()
}

impl Known {
    fn of(spec: &Spec) -> Self {
        let spec = Spec {
            sharing: Sharing::Location,
            ..spec.clone()
        };
        let trace = spec.trace();
        let causality = trace.causality();
        let clocks = Clocks::each_location(trace.info.locations.len());
        Self {
            all: causality.with_all_events(&stamps(&trace)).unwrap(),
            plain: Plain::of_all_events(&trace, &clocks),
            delay: spec.delay(),
            trace,
            causality,
            clocks,
        }
    }

    /// The program written from the papers, over all events.
    fn printed(&self, distances: &[i64], steps: Steps) -> Printed<'_> {
        let events = self.trace.events.iter().flatten();
        let communicates = events.map(|event| event.call.role().is_some());
        Printed {
            distances: distances.to_vec(),
            steps: match steps {
                Steps::Communicating => communicates.collect(),
                Steps::Every => Vec::new(),
            },
            ..Printed::of(&self.plain, &self.delay, 0)
        }
    }

    /// The corrected times of all events, one after the other, relative to the base.
    fn events(&self, correction: &Correction) -> Vec<i64> {
        let mut all = Vec::new();
        for (location, events) in (0..).map(LocationIndex).zip(&self.trace.events) {
            let mut times = correction.events(location);
            for (number, event) in (0..).zip(events) {
                let time = times.at(number, Timestamp(event.raw)).unwrap();
                all.push(time.0.wrapping_sub(self.plain.base) as i64);
            }
        }
        all
    }

    /// Fails unless a correction puts all events where they belong: one after the other, those
    /// that communicate by themselves, and as it is saved and read again.
    fn assert_puts(&self, correction: &Correction, expected: &[i64]) {
        assert_eq!(self.events(correction), expected);
        let alone = self.causality.retimed(correction, &()).unwrap();
        for node in self.causality.nodes().all() {
            let time = alone
                .nodes()
                .timestamp(node)
                .0
                .wrapping_sub(self.plain.base);
            assert_eq!(time as i64, expected[self.all.node(node).index()]);
            let (nodes, raw) = (
                self.causality.nodes(),
                self.causality.nodes().timestamp(node),
            );
            let location = nodes.location(node);
            let mut map = correction.map_of(location).cursor(location);
            assert_eq!(
                map.map(nodes.event(node), raw),
                Some(alone.nodes().timestamp(node))
            );
        }
        let saved = correction.save(&self.trace.info);
        let restored = Correction::restore(&saved, &self.trace.info).unwrap();
        assert_eq!(self.events(&restored), expected);
    }

    fn values(&self, times: &LogicalTimes) -> Vec<i64> {
        let nodes = self.all.causality().nodes().all();
        nodes.map(|node| times.get(node).0).collect()
    }
}

/// A distance for each location, mostly the same.
fn distances() -> impl Strategy<Value = Vec<i64>> {
    let any = || prop_oneof![Just(0_i64), Just(1), Just(30), Just(2_000)];
    prop_oneof![
        any().prop_map(|it| vec![it; 8]),
        proptest::collection::vec(any(), 8),
    ]
}

fn given(distances: &[i64]) -> MinimalDistance {
    distances
        .iter()
        .copied()
        .map(Ticks)
        .collect::<Vec<_>>()
        .into()
}

/// Controllers, and constants such that random programs of some thousand ticks meet them.
fn controls() -> impl Strategy<Value = Control> {
    prop_oneof![
        gammas().prop_map(|it| Control::Constant(it.factor())),
        (1e-9..1e-3, 0.3..0.99).prop_map(|(q, gamma_max)| {
            Control::Degressive(DegressiveConstants {
                q_init: q,
                q_min: q,
                gamma_max,
                ..DegressiveConstants::default()
            })
        }),
        (prop_oneof![Just(0.99998), Just(0.9)], any::<[bool; 3]>()).prop_map(
            |(gamma_max, [b, c, d])| {
                Control::Combined(CombinedConstants {
                    gamma_max,
                    b,
                    c,
                    d: d.then_some(0.4),
                })
            }
        ),
    ]
}

fn steps() -> impl Strategy<Value = Steps> {
    prop_oneof![Just(Steps::Communicating), Just(Steps::Every)]
}

/// The mirror of a trace, for the plain program.
fn mirrored(plain: &Plain) -> Plain {
    let count = plain.raw.len();
    let last = plain.raw.iter().copied().max().unwrap_or(0);
    let first = |location: usize| plain.location.partition_point(|it| *it < location);
    // Within a location from back to front.
    let number = |node: usize| {
        let location = plain.location[node];
        first(location) + first(location + 1) - 1 - node
    };
    let mut mirror = Plain {
        location: plain.location.clone(),
        raw: vec![0; count],
        edges: Vec::new(),
        clock: plain.clock.clone(),
        bytes: vec![None; count],
        base: plain.base,
    };
    for node in 0..count {
        mirror.raw[number(node)] = last - plain.raw[node];
        mirror.bytes[number(node)] = plain.bytes[node];
    }
    let mirror_node = |node: retime::causality::EventNode| {
        retime::causality::EventNode(number(node.index()) as u32)
    };
    let edges = plain.edges.iter();
    mirror.edges = edges
        .map(|&(from, to)| (mirror_node(to), mirror_node(from)))
        .collect();
    mirror
}

proptest! {
    #![proptest_config(cases(250))]

    #[test]
    fn the_simple_clock_keeps_all_events_apart_as_printed(spec in specs(200), distances in distances()) {
        let known = Known::of(&spec);
        let (all, clocks) = (known.all.causality(), &known.clocks);
        let distances = &distances[..known.clocks.len()];
        let times = simple(all, clocks, &known.delay, &given(distances), &()).unwrap();
        let printed = known.printed(distances, Steps::Every).simple();
        prop_assert_eq!(&known.values(&times), &printed);
        known.assert_puts(&unamortized(all, clocks, &times, &()).unwrap(), &printed);
    }

    #[test]
    fn the_clock_under_control_steps_at_all_events_as_printed(
        spec in specs(150), control in controls(), distances in distances(), steps in steps(),
        rate in 1_u64..10_000_000_000
    ) {
        let known = Known::of(&spec);
        let (all, clocks) = (known.all.causality(), &known.clocks);
        let distances = &distances[..known.clocks.len()];
        let regulation = Regulation { delay: known.delay.clone(), distance: given(distances), control, steps };
        let rate = TickRate::per_second(rate).unwrap();
        let times = regulated(all, clocks, rate, &regulation, &()).unwrap();
        let printed = known.printed(distances, steps).controlled(control, rate.get() as f64).values;
        prop_assert_eq!(&known.values(&times), &printed);
        known.assert_puts(&unamortized(all, clocks, &times, &()).unwrap(), &printed);
    }

    /// Each event has a counter of its own, whatever is known of those between.
    #[test]
    fn lamports_counters_count_all_events_as_printed(spec in specs(300)) {
        let known = Known::of(&spec);
        let expected = known.printed(&vec![1; known.clocks.len()], Steps::Every).lamport();
        known.assert_puts(&lamport_order(&known.causality, &()).unwrap(), &expected);
        known.assert_puts(&lamport_order(known.all.causality(), &()).unwrap(), &expected);
    }

    /// Amortisation moves events to later times only, keeps them as far apart, and contradicts
    /// no dependency; a correction puts them all where it says.
    #[test]
    fn amortised_events_stay_apart(
        spec in specs(150), control in controls(), distances in distances(), steps in steps()
    ) {
        let known = Known::of(&spec);
        let (all, clocks) = (known.all.causality(), &known.clocks);
        let distances = &distances[..known.clocks.len()];
        let regulation = Regulation { delay: known.delay.clone(), distance: given(distances), control, steps };
        let times = regulated(all, clocks, known.trace.info.rate, &regulation, &()).unwrap();
        let rate: AmortizationRate = "10%".parse().unwrap();
        let correction = amortize(all, clocks, &known.delay, rate, &times, &()).unwrap();
        let events = known.events(&correction);
        known.assert_puts(&correction, &events);
        let values = known.values(&times);
        for (node, (&event, &value)) in events.iter().zip(&values).enumerate() {
            prop_assert!(event >= value);
            let location = known.plain.location[node];
            if node > 0 && known.plain.location[node - 1] == location {
                prop_assert!(event - events[node - 1] >= distances[location]);
            }
        }
        for edge in known.plain.across() {
            let (from, to) = (events[edge.0.index()], events[edge.1.index()]);
            prop_assert!(to - from >= known.plain.delay(&known.delay, edge));
        }
    }

    /// From the end to the beginning, where an event is earlier than the next one.
    #[test]
    fn backwards_they_are_as_printed_of_the_mirror(spec in specs(150), distances in distances()) {
        let known = Known::of(&spec);
        let (all, clocks) = (known.all.causality(), &known.clocks);
        let distances = &distances[..known.clocks.len()];
        let mirror = all.mirrored();
        let (plain, delay) = (mirrored(&known.plain), known.delay.mirrored());
        let mut printed = Printed::of(&plain, &delay, 0);
        printed.distances = distances.to_vec();
        for is_lamport in [false, true] {
            let (there, expected) = if is_lamport {
                (lamport_order(&mirror, &()).unwrap(), printed.lamport())
            } else {
                let times = simple(&mirror, clocks, &delay, &given(distances), &()).unwrap();
                (unamortized(&mirror, clocks, &times, &()).unwrap(), printed.simple())
            };
            let back = mirror_back(all, clocks, &there, &()).unwrap();
            let last = known.plain.raw.iter().copied().max().unwrap_or(0);
            let expected: Vec<i64> = (0..expected.len()).map(|node| {
                let location = known.plain.location[node];
                let first = |it: usize| known.plain.location.partition_point(|at| *at < it);
                last - expected[first(location) + first(location + 1) - 1 - node]
            }).collect();
            let events = known.events(&back);
            // All may be shifted alike.
            let shift = events.first().zip(expected.first()).map_or(0, |(is, was)| is - was);
            let shifted: Vec<i64> = expected.iter().map(|it| it + shift).collect();
            known.assert_puts(&back, &shifted);
        }
    }
}

#[test]
fn other_events_than_those_of_the_trace_are_refused() {
    let info = hand::ranks(&[0, 1]);
    let events = [
        vec![(5, hand::send(1)), (6, Call::Internal)],
        vec![(7, hand::receive(0))],
    ];
    let causality = hand::causality(&info, &events);
    let times = |all: &[&[u64]]| -> Vec<Vec<Timestamp>> {
        let of = |it: &&[u64]| it.iter().copied().map(Timestamp).collect();
        all.iter().map(of).collect()
    };
    let changed = |location| OtherEvents::Changed { location };
    let refused = |all: &[&[u64]]| causality.with_all_events(&times(all)).unwrap_err();
    assert_eq!(refused(&[&[5], &[7]]), changed(0), "an event is missing");
    assert_eq!(
        refused(&[&[5, 6], &[8]]),
        changed(1),
        "a receive at another time"
    );
    assert_eq!(refused(&[&[5, 6]]), changed(1), "a location is missing");
    assert!(causality.with_all_events(&times(&[&[5, 6], &[7]])).is_ok());
}

/// Between two messages a process records thrice at one stamp: the events are kept apart, and
/// none of them needs a knot.
#[test]
fn a_correction_has_knots_for_what_communicates_alone() {
    let info = hand::ranks(&[0, 1]);
    let between = (0..1_000).map(|it| (100 + it / 3 * 50, Call::Internal));
    let mut first = vec![(100, hand::send(1))];
    first.extend(between);
    first.push((40_000, hand::send(1)));
    let second = vec![(90, hand::receive(0)), (40_100, hand::receive(0))];
    let trace = [first, second];
    let causality = hand::causality(&info, &trace);
    let times: Vec<Vec<Timestamp>> = trace
        .iter()
        .map(|events| events.iter().map(|it| Timestamp(it.0)).collect())
        .collect();
    let all = causality.with_all_events(&times).unwrap();
    let clocks = Clocks::each_location(2);
    let (delay, distance) = (MinimalDelay::Uniform(Ticks(1)), Ticks(10).into());
    let simple = simple(all.causality(), &clocks, &delay, &distance, &()).unwrap();
    let correction = unamortized(all.causality(), &clocks, &simple, &()).unwrap();
    assert!(correction.map_of(LocationIndex(0)).knots().len() <= 4);
    let mut events = correction.events(LocationIndex(0));
    let at: Vec<u64> = (0..7)
        .map(|it| events.at(it, times[0][it as usize]).unwrap().0)
        .collect();
    assert_eq!(at, [100, 110, 120, 130, 150, 160, 170]);
}
