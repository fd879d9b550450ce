//! The filter against the correction of the whole trace.

use crate::common;
use crate::common::case::Case;
use crate::common::{Sharing, Spec, cases, gammas, specs};
use proptest::prelude::*;
use retime::causality::{Class, EventNode, Role, Slot};
use retime::clock::{
    AmortizationRate, CombinedConstants, Control, DegressiveConstants, Gamma, LogicalTimes,
    Regulation, Steps, amortize_with_ramp, regulated,
};
use retime::{LocationIndex, MinimalDelay, Ticks, Timestamp};
use retime_stream::{
    Collective, Corrected, DelayBound, Event, EventKind, Filter, FilterControl, FilterOptions,
    MessageId, Prefix,
};

/// An event of a trace: location, node if it has one, raw and corrected time.
type Row = (u32, Option<EventNode>, u64, u64);

/// What a node is to the filter.
fn kind(case: &Case, node: EventNode) -> EventKind {
    let causality = &case.causality;
    // A node without partner has a gate all the same.
    let alone = EventKind::Send(MessageId::channel(
        LocationIndex(node.0),
        LocationIndex(node.0),
        7,
        7,
    ));
    let message = |send: EventNode| MessageId::number(u64::from(send.0));
    match causality.nodes().role(node) {
        Role::Send => EventKind::Send(message(node)),
        Role::Receive => match causality.message_source(node) {
            Some(send) => EventKind::Receive(message(send)),
            None => EventKind::Receive(message(node)),
        },
        role => causality
            .slot(node)
            .map_or(alone, |slot| collective(case, slot, role)),
    }
}

fn collective(case: &Case, slot: Slot, role: Role) -> EventKind {
    let collectives = case.causality.collectives();
    let (instance, place) = collectives.locate(slot);
    let it = collectives.operation(instance);
    let participants = collectives.participants(instance);
    let own = participants[place].side;
    // The side whose begins count.
    let side = if it.across_sides && role == Role::CollectiveEnd {
        1 - own
    } else {
        own
    };
    let cause_side = |of: u8| !it.across_sides || of == side;
    let effect_side = |of: u8| !it.across_sides || of != side;
    let begins = participants
        .iter()
        .filter(|it| cause_side(it.side) && it.cause().is_some());
    let ends = participants
        .iter()
        .filter(|it| effect_side(it.side) && it.effect().is_some());
    let before = participants[..place]
        .iter()
        .filter(|it| it.cause().is_some());
    let id = format!(
        "operation {} from side {}",
        instance.0,
        if it.across_sides { side } else { 0 }
    );
    let what = Collective {
        id: MessageId::name(&id),
        begins: begins.count() as u32,
        ends: ends.count() as u32,
        prefix: (it.class == Class::Prefix).then(|| Prefix {
            place: place as u32,
            before: before.count() as u32,
        }),
    };
    match role {
        Role::CollectiveBegin => EventKind::Begin(what),
        _ => EventKind::End(what),
    }
}

/// All events of a trace by location, ready to be pushed.
fn events(case: &Case) -> Vec<Vec<Event<Option<EventNode>>>> {
    let mut node = 0;
    let mut of_location = |location: usize| {
        let mut event = |event: &common::Event| {
            let own = event.call.role().map(|_| {
                node += 1;
                EventNode(node - 1)
            });
            Event {
                location: LocationIndex(location as u32),
                time: Timestamp(event.raw),
                kind: own.map_or(EventKind::Internal, |node| kind(case, node)),
                payload: own,
            }
        };
        case.trace.events[location].iter().map(&mut event).collect()
    };
    (0..case.trace.events.len()).map(&mut of_location).collect()
}

fn clocks(case: &Case) -> Vec<u32> {
    let locations = 0..case.trace.events.len() as u32;
    locations
        .map(|it| case.clocks.of(LocationIndex(it)).0)
        .collect()
}

fn filter(case: &Case, options: FilterOptions) -> Filter<Option<EventNode>> {
    Filter::new(&clocks(case), options)
}

fn row(event: Corrected<Option<EventNode>>) -> Row {
    (event.location.0, event.payload, event.raw.0, event.time.0)
}

/// How a stream comes in.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Coming {
    /// One location after the other.
    ByLocation,
    /// By raw time.
    Merged,
    /// Some of this, some of that.
    Shuffled(u64),
}

/// Sends all events through a filter.
fn run(
    case: &Case,
    mut filter: Filter<Option<EventNode>>,
    coming: Coming,
) -> (Vec<Row>, Filter<Option<EventNode>>) {
    let mut queues: Vec<_> = events(case)
        .into_iter()
        .map(|it| it.into_iter().peekable())
        .collect();
    let mut rows = Vec::new();
    let mut rng = common::rng::Rng::new(match coming {
        Coming::Shuffled(seed) => seed,
        _ => 0,
    });
    let mut open: Vec<usize> = (0..queues.len()).collect();
    while !open.is_empty() {
        let at = match coming {
            Coming::ByLocation => 0,
            Coming::Shuffled(_) => rng.index(open.len()),
            Coming::Merged => {
                let time = |&at: &usize| queues[open[at]].peek().map(|event| event.time);
                (0..open.len()).min_by_key(time).unwrap()
            }
        };
        match queues[open[at]].next() {
            Some(event) => filter.push(event).unwrap(),
            None => filter.end(LocationIndex(open.remove(at) as u32)).unwrap(),
        }
        rows.extend(std::iter::from_fn(|| filter.pop()).map(row));
    }
    rows.extend(std::iter::from_fn(|| filter.pop()).map(row));
    (rows, filter)
}

fn options(
    case: &Case,
    start: Ticks,
    rate: AmortizationRate,
    control: FilterControl,
) -> FilterOptions {
    let MinimalDelay::Uniform(min_delay) = case.delay else {
        panic!("one delay for all");
    };
    FilterOptions {
        min_delay,
        control,
        amortization: rate,
        start_difference: start,
        delay: DelayBound::Unlimited,
        ..FilterOptions::new(case.trace.info.rate)
    }
}

/// Nodes have the times of the batch exactly; events between may be off by the
/// rounding of a map with few knots.
fn assert_like_batch(case: &Case, rows: &[Row], times: &LogicalTimes, ramp: Ticks) {
    let (causality, clocks) = (&case.causality, &case.clocks);
    let correction = amortize_with_ramp(causality, clocks, &case.delay, ramp, times, &()).unwrap();
    let corrected = case.trace.corrected(&correction);
    let count = case.trace.events.iter().map(Vec::len).sum::<usize>();
    assert_eq!(rows.len(), count);
    for &(location, node, raw, time) in rows {
        if let Some(node) = node {
            assert_eq!(
                Timestamp(time),
                corrected[node.index()],
                "node {node:?} of {location}"
            );
        } else {
            let location = LocationIndex(location);
            let mut cursor = correction.map_of(location).cursor(location);
            let low = cursor.map(0, Timestamp(raw)).unwrap();
            let mut cursor = correction.map_of(location).cursor(location);
            let high = cursor.map(u64::MAX, Timestamp(raw)).unwrap();
            assert!(
                time + 3 >= low.0 && time <= high.0 + 3,
                "{time} in {low}..{high}"
            );
        }
    }
}

fn rates() -> impl Strategy<Value = AmortizationRate> {
    let texts = ["0.01%", "0.5%", "5%", "100%"];
    (0..texts.len()).prop_map(move |which| texts[which].parse().unwrap())
}

fn comings() -> impl Strategy<Value = Coming> {
    prop_oneof![
        Just(Coming::ByLocation),
        Just(Coming::Merged),
        any::<u64>().prop_map(Coming::Shuffled)
    ]
}

/// A trace with one delay for all messages, and no ties within shared clocks.
fn case(spec: &Spec) -> Case {
    let tick = if spec.sharing == Sharing::Location {
        spec.tick
    } else {
        1
    };
    let mut case = Case::new(&Spec {
        tick,
        ..spec.clone()
    });
    if !matches!(case.delay, MinimalDelay::Uniform(_)) {
        case.delay = MinimalDelay::Uniform(Ticks(spec.seed as i64 & 511));
    }
    case
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn the_filter_equals_the_batch(
        spec in specs(300), gamma in gammas(), rate in rates(), coming in comings(), more in 0..3_i64,
    ) {
        let case = case(&spec);
        let times = case.run(gamma);
        // Any start value that is not too small.
        let start = Ticks(times.largest_jump().0 * (1 + more) + more);
        let options = FilterOptions {
            merged: coming == Coming::Merged,
            ..options(&case, start, rate, FilterControl::Constant(gamma))
        };
        let (rows, filter) = run(&case, filter(&case, options), coming);
        assert_like_batch(&case, &rows, &times, Ticks(rate.ramp(start.0)));
        prop_assert!(rows.is_sorted_by_key(|row| row.3));
        let report = filter.report();
        prop_assert_eq!((report.jumps, report.largest_jump), (times.jumps(), times.largest_jump()));
        prop_assert_eq!((report.forced, report.late, report.steep, report.contradictions), (0, 0, 0, 0));
        prop_assert_eq!(filter.load(), [0, 0, 0]);
    }
}

/// The controllers as the batch and as the filter know them.
fn controls() -> impl Strategy<Value = (Control, FilterControl)> {
    let degressive = DegressiveConstants::default();
    let all = CombinedConstants::default();
    let b = CombinedConstants {
        c: false,
        d: None,
        ..all
    };
    let quartz = CombinedConstants {
        d: Some(1.0 - 1e-4),
        ..all
    };
    prop_oneof![
        Just((
            Control::Degressive(degressive),
            FilterControl::Degressive(degressive)
        )),
        Just((Control::Combined(all), FilterControl::Combined(all))),
        Just((Control::Combined(b), FilterControl::Combined(b))),
        Just((Control::Combined(quartz), FilterControl::Combined(quartz))),
    ]
}

proptest! {
    #![proptest_config(cases(250))]

    /// A controller leaves a clock out after its last event with an edge. Here a
    /// location that says nothing keeps the filter from starting before all of
    /// that is known. A clock that has ended without an event with an edge counts as
    /// little as one that is not there.
    #[test]
    fn with_a_controller_too(spec in specs(300), (batch, control) in controls(), rate in rates()) {
        let case = case(&Spec { sharing: Sharing::Location, ..spec });
        let times = by_controller(&case, batch);
        let start = times.largest_jump();
        let mut filter = with_silent(&case, options(&case, start, rate, control));
        let never = LocationIndex(case.trace.events.len() as u32 + 1);
        filter.end(never).unwrap();
        for event in events(&case).into_iter().flatten() {
            filter.push(event).unwrap();
        }
        prop_assert_eq!(filter.pop(), None);
        filter.finish();
        let rows: Vec<Row> = std::iter::from_fn(|| filter.pop()).map(row).collect();
        assert_like_batch(&case, &rows, &times, Ticks(rate.ramp(start.0)));
        prop_assert!(rows.is_sorted_by_key(|row| row.3));
    }
}

fn by_controller(case: &Case, control: Control) -> LogicalTimes {
    let regulation = Regulation {
        delay: case.delay.clone(),
        distance: Ticks(0).into(),
        control,
        steps: Steps::default(),
    };
    let rate = case.trace.info.rate;
    regulated(&case.causality, &case.clocks, rate, &regulation, &()).unwrap()
}

/// A filter with two more locations: one on the first clock, one on a clock of its own.
fn with_silent(case: &Case, options: FilterOptions) -> Filter<Option<EventNode>> {
    let mut clocks = clocks(case);
    let last = clocks.iter().max().map_or(0, |last| last + 1);
    clocks.extend([clocks[0], last]);
    Filter::new(&clocks, options)
}

/// A filter that must not keep events for longer than `delay`.
fn bounded(case: &Case, gamma: Gamma, rate: AmortizationRate, delay: Ticks) -> FilterOptions {
    let difference = largest_difference(case);
    let control = FilterControl::Constant(gamma);
    FilterOptions {
        max_difference: difference,
        transfer: Ticks(0),
        message_timeout: Ticks(i64::MAX),
        delay: DelayBound::Ticks(delay),
        ..options(case, case.run(gamma).largest_jump(), rate, control)
    }
}

/// By how much an effect, or an event that comes in order of raw time, can be
/// stamped before another one that is truly earlier.
fn largest_difference(case: &Case) -> Ticks {
    let error = |event: &common::Event| {
        i128::from(event.raw) * i128::from(TICK) - i128::from(event.truth) * 4
    };
    let all = || case.trace.events.iter().flatten().map(error);
    let spread = all().max().unwrap_or(0) - all().min().unwrap_or(0);
    Ticks((spread / i128::from(TICK)) as i64 + 2)
}

const TICK: u64 = 1;

proptest! {
    #![proptest_config(cases(400))]

    /// However short the delay: nothing is lost, all is in order, and no effect
    /// comes before its cause.
    #[test]
    fn the_clock_condition_holds_for_any_delay(
        spec in specs(300), gamma in gammas(), rate in rates(), delay in 0..3_000_000_i64,
    ) {
        let case = case(&Spec { tick: TICK, ..spec });
        let options = bounded(&case, gamma, rate, Ticks(delay));
        let (rows, filter) = run(&case, filter(&case, options), Coming::Merged);
        prop_assert!(rows.is_sorted_by_key(|row| row.3));
        for (location, events) in case.trace.events.iter().enumerate() {
            let own = rows.iter().filter(|row| row.0 == location as u32).map(|row| row.2);
            prop_assert!(own.eq(events.iter().map(|event| event.raw)));
        }
        let report = filter.report();
        prop_assert_eq!((report.late, report.contradictions), (0, 0));
        prop_assert_eq!((report.unmatched_receives, report.incomplete_collectives), (0, 0));
        prop_assert_eq!(filter.load(), [0, 0, 0]);
        let mut times = vec![0; case.causality.nodes().len()];
        for row in &rows {
            if let Some(node) = row.1 {
                times[node.index()] = row.3;
            }
        }
        for (cause, effect) in case.plain.across() {
            let least = times[cause.index()] as i64 + case.plain.delay(&case.delay, (cause, effect));
            prop_assert!(times[effect.index()] as i64 >= least, "{cause:?} -> {effect:?}");
        }
        if report.forced == 0 {
            let start = options.start_difference.0;
            assert_like_batch(&case, &rows, &case.run(gamma), Ticks(rate.ramp(start)));
        }
    }
}
