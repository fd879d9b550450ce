//! Backward amortisation: what it must keep, how gentle it must be, and the
//! naive form next to it.

use crate::common::case::Case;
use crate::common::naive::Row;
use crate::common::{Call, Sharing, Spec, cases, gammas, hand, specs};
use proptest::prelude::*;
use retime::clock::{AmortizationRate, Gamma, PrintedRamp, amortize, controlled, printed_ramps};
use retime::{Grouping, LocationIndex, MinimalDelay, Ticks, Timestamp};
use retime_numerics::taut_string::{Gate, taut_string};

fn rates() -> impl Strategy<Value = AmortizationRate> {
    let texts = ["0.01%", "0.5%", "5%", "100%"];
    (0..texts.len()).prop_map(move |which| texts[which].parse().unwrap())
}

fn gamma(text: &str) -> Gamma {
    text.parse().unwrap()
}

proptest! {
    #![proptest_config(cases(1_500))]

    #[test]
    fn every_effect_still_comes_late_enough(spec in specs(400), gamma in gammas(), rate in rates()) {
        let case = Case::new(&spec);
        let mapped = case.mapped(&case.amortize(gamma, rate));
        for (cause, effect) in case.plain.across() {
            let least = mapped[cause.index()] + case.plain.delay(&case.delay, (cause, effect));
            prop_assert!(mapped[effect.index()] >= least, "{cause:?} -> {effect:?}");
        }
    }

    /// Within one clock nothing was violated (the clocks are truly shared), and
    /// no map may make it so: not even where cause and effect share a stamp.
    #[test]
    fn nothing_within_a_clock_is_violated(spec in specs(400), gamma in gammas(), rate in rates()) {
        let case = Case::new(&spec);
        let mapped = case.mapped(&case.amortize(gamma, rate));
        for &(cause, effect) in &case.plain.edges {
            prop_assert!(mapped[effect.index()] >= mapped[cause.index()], "{cause:?} -> {effect:?}");
        }
    }

    #[test]
    fn events_only_move_later_than_the_logical_clock(spec in specs(300), gamma in gammas(), rate in rates()) {
        let case = Case::new(&spec);
        let mapped = case.mapped(&case.amortize(gamma, rate));
        for (node, value) in case.values(gamma).into_iter().enumerate() {
            prop_assert!(mapped[node] >= value, "node {node:?}: {} < {value}", mapped[node]);
        }
    }

    #[test]
    fn no_send_moves_beyond_its_limit(spec in specs(300), gamma in gammas(), rate in rates()) {
        let case = Case::new(&spec);
        let mapped = case.mapped(&case.amortize(gamma, rate));
        let values = case.values(gamma);
        for (cause, effect) in case.plain.across() {
            let limit = values[effect.index()] - case.plain.delay(&case.delay, (cause, effect));
            prop_assert!(mapped[cause.index()] <= limit, "{cause:?} -> {effect:?}");
        }
    }

    /// All events, with a role or without: their order stays, within a location
    /// and, where stamps differ, within a clock.
    #[test]
    fn the_order_of_all_events_stays(spec in specs(300), gamma in gammas(), rate in rates()) {
        let case = Case::new(&spec);
        let correction = case.amortize(gamma, rate);
        let rewritten = case.trace.rewritten(&correction);
        let mut by_clock = vec![Vec::new(); case.clocks.len()];
        for (location, events) in rewritten.events.iter().enumerate() {
            prop_assert!(events.is_sorted_by_key(|event| event.raw));
            let clock = case.clocks.of(LocationIndex(location as u32)).as_usize();
            let before = case.trace.events[location].iter().map(|event| event.raw);
            by_clock[clock].extend(before.zip(events.iter().map(|event| event.raw)));
        }
        for pairs in &mut by_clock {
            pairs.sort_unstable();
            prop_assert!(pairs.is_sorted_by_key(|pair| pair.1));
        }
    }

    /// Any time between the first and the last, whether an event has it or not.
    #[test]
    fn the_map_never_falls(spec in specs(100), gamma in gammas(), rate in rates()) {
        let case = Case::new(&Spec { tick: spec.tick.max(1_600), ..spec });
        let correction = case.amortize(gamma, rate);
        for (location, events) in case.trace.events.iter().enumerate() {
            let location = LocationIndex(location as u32);
            let mut cursor = correction.map_of(location).cursor(location);
            let (first, last) = (events[0].raw, events[events.len() - 1].raw);
            let mut before = Timestamp(0);
            for raw in first.saturating_sub(5)..(last + 5).min(first + 3_000) {
                for event in [0, u64::MAX] {
                    let now = cursor.map(event, Timestamp(raw)).unwrap();
                    prop_assert!(now >= before);
                    before = now;
                }
            }
        }
    }

    #[test]
    fn a_sound_trace_gets_no_correction(spec in specs(200), gamma in gammas(), rate in rates()) {
        let mut case = Case::new(&Spec { offset: 0, drift_ppm: 0, ..spec });
        case.delay = MinimalDelay::Uniform(Ticks(0));
        prop_assert!(case.amortize(gamma, rate).is_identity());
    }

    /// Corrected once is corrected: all stamps are then in order.
    #[test]
    fn a_second_correction_changes_nothing(
        spec in specs(300), gamma in gammas(), again in gammas(), rate in rates(),
    ) {
        let spec = Spec { threads: false, ..spec };
        let case = Case::new(&spec);
        let rewritten = case.trace.rewritten(&case.amortize(gamma, rate));
        let repeated = Case::of(&spec, rewritten);
        prop_assert!(repeated.amortize(again, rate).is_identity());
    }

    /// The naive form sees one jump at a time; the string sees them all.
    #[test]
    fn it_distorts_no_more_than_the_naive_form(spec in specs(200), gamma in gammas(), rate in rates()) {
        let spec = Spec { sharing: Sharing::Location, ..spec };
        let case = Case::new(&spec);
        for (location, (ours, naive)) in slopes(&case, gamma, rate).into_iter().enumerate() {
            prop_assert!(ours <= naive + 1e-9, "location {}: {} > {}", location, ours, naive);
        }
    }
}

/// The steepest slope of our shift and of the naive one, by location, where the
/// naive one is finite. Of ours one tick between two events is rounding.
fn slopes(case: &Case, gamma: Gamma, rate: AmortizationRate) -> Vec<(f64, f64)> {
    let values = case.values(gamma);
    let mapped = case.mapped(&case.amortize(gamma, rate));
    let steepest = |row: &Row, shift: &[f64], rounding: f64| {
        (1..shift.len())
            .map(|at| {
                let rise = shift[at] - shift[at - 1] - rounding;
                let run = (row.unjumped[at] - row.unjumped[at - 1]) as f64;
                if rise < 1e-6 { 0.0 } else { rise / run }
            })
            .fold(0.0, f64::max)
    };
    let of = |location| {
        let row = Row::new(&case.plain, &values, &case.delay, gamma, location);
        let pairs = row.nodes.iter().zip(&row.unjumped);
        let ours: Vec<f64> = pairs
            .map(|(&node, from)| (mapped[node] - from) as f64)
            .collect();
        (
            steepest(&row, &ours, 1.0),
            steepest(&row, &row.amortized(rate), 0.0),
        )
    };
    let all = (0..case.trace.events.len()).map(of);
    all.filter(|(_, naive)| naive.is_finite()).collect()
}

#[test]
fn the_naive_form_is_often_steeper() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut compared, mut gentler) = (0, 0);
    for _ in 0..300 {
        let spec = specs(200).new_tree(&mut runner).unwrap().current();
        let case = Case::new(&Spec {
            sharing: Sharing::Location,
            ..spec
        });
        for (ours, naive) in slopes(&case, gamma("0.99"), AmortizationRate::default()) {
            compared += u32::from(naive > 0.0);
            gentler += u32::from(ours < 0.9 * naive);
        }
    }
    assert!(compared > 200 && gentler > 50, "{gentler} of {compared}");
}

fn corridors() -> impl Strategy<Value = Vec<Gate>> {
    let step = (
        0..40_i64,
        prop_oneof![Just(0_i64), 0..30_i64],
        prop_oneof![Just(0_i64), 0..60_i64],
    );
    proptest::collection::vec(step, 1..40).prop_map(|steps| {
        let (mut x, mut low) = (0, 0);
        let gates = steps.into_iter().map(|(dx, rise, room)| {
            x += dx;
            low += rise;
            Gate {
                x,
                low,
                high: low + room,
            }
        });
        let mut gates: Vec<Gate> = gates.collect();
        let mut lowest = i64::MAX;
        for gate in gates.iter_mut().rev() {
            lowest = lowest.min(gate.high);
            gate.high = lowest;
        }
        gates
    })
}

proptest! {
    #![proptest_config(cases(3_000))]

    /// A path with slopes up to m exists exactly if no two gates demand more:
    /// `low_j - high_i <= m (x_j - x_i)`. The string must not be steeper, apart
    /// from rounding.
    #[test]
    fn no_path_through_the_corridor_is_gentler(gates in corridors()) {
        let string = taut_string(&gates);
        let end = gates[gates.len() - 1].low;
        let mut steepest = (0, 1);
        let mut vertical = false;
        for (i, from) in gates.iter().enumerate() {
            for to in &gates[i + 1..] {
                let (rise, run) = (to.low - from.high.min(end), to.x - from.x);
                vertical |= rise > 0 && run == 0;
                if rise * steepest.1 > steepest.0 * run {
                    steepest = (rise, run);
                }
            }
        }
        for (gate, pair) in gates.windows(2).zip(string.windows(2)) {
            let (rise, run) = (pair[1] - pair[0], gate[1].x - gate[0].x);
            prop_assert!(vertical || (rise - 1) * steepest.1 <= steepest.0 * run,
                "{rise} over {run} though {steepest:?} is enough");
        }
    }

    /// Gates that are the same get the same value.
    #[test]
    fn equal_gates_are_passed_at_one_height(gates in corridors(), copies in 2..4_usize) {
        let repeated: Vec<Gate> = gates.iter().flat_map(|&gate| vec![gate; copies]).collect();
        let string = taut_string(&repeated);
        for same in string.chunks(copies) {
            prop_assert!(same.iter().all(|value| *value == same[0]));
        }
    }
}

/// One jump, and nothing that limits its ramp.
#[test]
fn a_lone_jump_is_ramped_up_at_the_rate() {
    let mut receiver: Vec<_> = (0..100).map(|i| (100 * i, hand::send(2))).collect();
    receiver.push((10_000, hand::receive(0)));
    receiver.push((20_000, hand::send(2)));
    let sender = vec![(10_040, hand::send(1))];
    // Rank 2 receives late, so that no send is held back.
    let sink = (0..101).map(|i| (30_000 + i, hand::receive(1))).collect();
    let info = hand::ranks(&[0, 1, 2]);
    let causality = hand::causality(&info, &[sender, receiver, sink]);
    let clocks = Grouping::Location.clocks(&info, &causality);
    let delay = MinimalDelay::Uniform(Ticks(10));
    let gamma = gamma("0.99");
    let times = controlled(&causality, &clocks, &delay, gamma, &()).unwrap();
    assert_eq!(times.largest_jump(), Ticks(50));
    for (rate, length) in [("0.5%", 10_000), ("1%", 5_000), ("50%", 100)] {
        let rate = rate.parse().unwrap();
        let correction = amortize(&causality, &clocks, &delay, rate, &times, &()).unwrap();
        let location = LocationIndex(1);
        let mut cursor = correction.map_of(location).cursor(location);
        for raw in (0..=10_000).step_by(100) {
            let shift = cursor.map(0, Timestamp(raw)).unwrap().0 - raw;
            let along = (raw as i64 - (10_000 - length)).max(0);
            assert_eq!(shift as i64, along * 50 / length, "{rate} at {raw}");
        }
        // Behind the jump the lead shrinks by 1 % of the time: 50 in 5000.
        assert_eq!(cursor.map(0, Timestamp(12_500)), Some(Timestamp(12_525)));
        assert_eq!(cursor.map(0, Timestamp(15_000)), Some(Timestamp(15_000)));
        assert_eq!(cursor.map(0, Timestamp(17_000)), Some(Timestamp(17_000)));
    }
}

#[test]
fn a_send_is_held_back_by_its_receive() {
    // The send at 9,000 could move by 45 with 0.5 %, but arrives at 9,030 with
    // a delay of 10 at least.
    let receiver = vec![
        (0, hand::send(2)),
        (9_000, hand::send(2)),
        (10_000, hand::receive(0)),
    ];
    let sender = vec![(10_040, hand::send(1))];
    let sink = vec![(8_000, hand::receive(1)), (9_030, hand::receive(1))];
    let info = hand::ranks(&[0, 1, 2]);
    let causality = hand::causality(&info, &[sender, receiver, sink]);
    let clocks = Grouping::Location.clocks(&info, &causality);
    let delay = MinimalDelay::Uniform(Ticks(10));
    let gamma = gamma("0.99");
    let times = controlled(&causality, &clocks, &delay, gamma, &()).unwrap();
    let correction = amortize(
        &causality,
        &clocks,
        &delay,
        AmortizationRate::default(),
        &times,
        &(),
    )
    .unwrap();
    let location = LocationIndex(1);
    let mut cursor = correction.map_of(location).cursor(location);
    let mut at = |raw| cursor.map(0, Timestamp(raw)).unwrap().0 - raw;
    assert_eq!(
        [at(0), at(4_500), at(9_000), at(9_500), at(10_000)],
        [0, 10, 20, 35, 50]
    );
}

/// The naive form on the example above: the reference must be right itself.
#[test]
fn the_naive_form_ramps_and_holds_back_likewise() {
    let row = Row {
        nodes: vec![0, 1, 2],
        unjumped: vec![0, 9_000, 10_000],
        jump: vec![0, 0, 50],
        limit: vec![Some(7_990), Some(20), None],
    };
    let rate = AmortizationRate::default();
    assert_eq!(row.amortized(rate), [0.0, 20.0, 50.0]);
    // Two jumps: the second moves what the first has moved already.
    let row = Row {
        nodes: vec![0, 1, 2, 3],
        unjumped: vec![0, 18_000, 20_000, 21_000],
        jump: vec![0, 0, 50, 50],
        limit: vec![None; 4],
    };
    // At 18,000 the first gives 40; the second 50 * (10,000 - 3,010) / 10,000.
    let expected = [0.0, 74.95, 95.0, 100.0];
    for (shift, expected) in row.amortized(rate).into_iter().zip(expected) {
        assert!((shift - expected).abs() < 1e-9, "{shift} for {expected}");
    }
}

/// Between events the clock falls back to physical time; that point is part of
/// the map, and climbs with the ramp of the next jump.
#[test]
fn a_lead_runs_out_in_the_middle_of_the_next_ramp() {
    let receiver = vec![
        (0, hand::send(2)),
        (10_000, hand::receive(0)),
        (60_000, hand::receive(0)),
    ];
    let sender = vec![(10_040, hand::send(1)), (60_040, hand::send(1))];
    let sink = vec![(90_000, hand::receive(1))];
    let info = hand::ranks(&[0, 1, 2]);
    let causality = hand::causality(&info, &[sender, receiver, sink]);
    let clocks = Grouping::Location.clocks(&info, &causality);
    let delay = MinimalDelay::Uniform(Ticks(10));
    let gamma = gamma("0.99");
    let times = controlled(&causality, &clocks, &delay, gamma, &()).unwrap();
    let rate = "0.1%".parse().unwrap();
    let correction = amortize(&causality, &clocks, &delay, rate, &times, &()).unwrap();
    let location = LocationIndex(1);
    let mut cursor = correction.map_of(location).cursor(location);
    let mut at = |raw| cursor.map(0, Timestamp(raw)).unwrap().0 - raw;
    // No event lies before the first ramp: the clock starts 50 ahead. The string
    // climbs from there to 100 along the clock without its jumps, which stands at
    // 59,950 then: to 58.3 at 10,000, and to 62.4 at 14,950, where the lead of 50
    // is gone and physical time is 15,000.
    assert_eq!(
        [at(0), at(10_000), at(15_000), at(60_000)],
        [50, 58, 12, 50]
    );
    assert_eq!([at(12_500), at(37_500)], [35, 31]);
}

#[test]
fn events_behind_the_last_receive_fall_back_to_physical_time() {
    for (last, ahead) in [(14_000, [50, 25, 10]), (17_000, [50, 25, 0])] {
        let receiver = vec![(10_000, hand::receive(0)), (last, Call::Internal)];
        let sender = vec![(10_040, hand::send(1))];
        let info = hand::ranks(&[0, 1]);
        let causality = hand::causality(&info, &[sender, receiver]);
        let clocks = Grouping::Location.clocks(&info, &causality);
        let delay = MinimalDelay::Uniform(Ticks(10));
        let gamma = gamma("0.99");
        let times = controlled(&causality, &clocks, &delay, gamma, &()).unwrap();
        let rate = AmortizationRate::default();
        let correction = amortize(&causality, &clocks, &delay, rate, &times, &()).unwrap();
        let location = LocationIndex(1);
        let mut cursor = correction.map_of(location).cursor(location);
        let at = [10_000, 12_500, last].map(|raw| cursor.map(0, Timestamp(raw)).unwrap().0 - raw);
        assert_eq!(at, ahead);
    }
}

#[test]
fn rates_out_of_range_say_so() {
    for text in ["0%", "101%", "5", "x%", "-1%", "nan%"] {
        let error = text.parse::<AmortizationRate>().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "\"{text}\" is no amortisation rate: give a percentage above 0 and up to 100, such as 0.5%"
            )
        );
    }
    assert_eq!(
        "0.25 %".parse::<AmortizationRate>().unwrap().to_string(),
        "0.25%"
    );
}

/// Algorithm 5 as it is printed, beside the plain form that computes with fractions: in
/// thousandths of a tick, so that what is rounded is little, and by the corrected trace.
#[test]
fn printed_ramps_are_those_of_the_naive_form() {
    use proptest::strategy::ValueTree as _;
    const FINE: i64 = 1_000;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (gamma, rate) = (gamma("0.99"), AmortizationRate::default());
    let mut moved = 0;
    for round in 0..300 {
        // The difference of clocks that the user expects: none, or jumps that are smaller and larger.
        let expected = [0, 20, 1_000][round % 3];
        let ramp = PrintedRamp {
            rate,
            expected: Ticks(expected),
        };
        let spec = specs(200).new_tree(&mut runner).unwrap().current();
        let case = Case::new(&Spec {
            sharing: Sharing::Location,
            ..spec
        });
        let mapped = case.mapped(&case.amortize_as_printed(gamma, ramp));
        let values = case.values(gamma);
        for location in 0..case.trace.events.len() {
            let row = Row::new(&case.plain, &values, &case.delay, gamma, location);
            let naive = row.amortized_expecting(rate, expected);
            let length = |jump: i64| FINE * rate.ramp((jump / FINE).max(expected));
            let fine = printed_ramps(&gates(&row, FINE), length, &()).unwrap();
            for (ours, naive) in fine.iter().zip(&naive) {
                let ours = *ours as f64 / FINE as f64;
                assert!((ours - naive).abs() < 0.5, "{ours} for {naive}");
            }
            // Of the trace in ticks; within a moment all between two nodes is a jump.
            let raw = |at: usize| case.plain.raw[row.nodes[at]];
            if (1..row.nodes.len()).all(|at| raw(at - 1) < raw(at)) {
                let ticks = |jump: i64| rate.ramp(jump.max(expected));
                let heights = printed_ramps(&gates(&row, 1), ticks, &()).unwrap();
                for ((&node, from), height) in row.nodes.iter().zip(&row.unjumped).zip(heights) {
                    assert_eq!(mapped[node] - from, height);
                    moved += u32::from(mapped[node] > values[node]);
                }
            }
        }
    }
    assert!(moved > 500, "{moved}");
}

/// The corridor of a row, in parts of a tick.
fn gates(row: &Row, fine: i64) -> Vec<Gate> {
    let mut sum = 0;
    let events = row.unjumped.iter().zip(&row.jump).zip(&row.limit);
    let gates = events.map(|((x, jump), limit)| {
        sum += jump;
        Gate {
            x: fine * x,
            low: fine * sum,
            high: limit.map_or(i64::MAX, |limit| fine * (sum + limit.max(0))),
        }
    });
    gates.collect()
}

proptest! {
    #![proptest_config(cases(500))]

    /// Theorem 9.
    #[test]
    fn printed_ramps_keep_the_clock_condition(
        spec in specs(300),
        gamma in gammas(),
        rate in rates(),
        expected in 0_i64..200,
    ) {
        let case = Case::new(&spec);
        let ramp = PrintedRamp { rate, expected: Ticks(expected) };
        let mapped = case.mapped(&case.amortize_as_printed(gamma, ramp));
        for (cause, effect) in case.plain.across() {
            let least = mapped[cause.index()] + case.plain.delay(&case.delay, (cause, effect));
            prop_assert!(mapped[effect.index()] >= least, "{cause:?} -> {effect:?}");
        }
        for &(cause, effect) in &case.plain.edges {
            prop_assert!(mapped[effect.index()] >= mapped[cause.index()], "{cause:?} -> {effect:?}");
        }
    }
}
