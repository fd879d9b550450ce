//! Who came last, against plain definitions and a truth.

use proptest::prelude::*;
use retime::causality::{Causality, Operation, Root};
use retime::optimal::{ClockErrorBound, ErrorBounds, ErrorKnot};
use retime::pipeline::{Analysis, AnalysisOptions, Method};
use retime::{Clocks, Grouping, LocationIndex, ProcessWaits, TraceInfo};

use crate::common::hand::{barrier, call, causality, end, ranks};
use crate::common::trace::{Call, Event, log_of};
use crate::common::waits::stragglers;

/// Begins and ends of barriers, by operation and location.
type Barriers = Vec<Vec<(u64, u64)>>;

/// Barriers that follow each other, each location with its own begin and end.
fn barriers(most: usize) -> impl Strategy<Value = (Vec<usize>, Barriers)> {
    (2..most, 1..12_usize).prop_flat_map(|(locations, operations)| {
        let spans = prop::collection::vec((0..50_u64, 0..80_u64), locations);
        (
            prop::collection::vec(0..locations, locations),
            prop::collection::vec(spans, operations),
        )
            .prop_map(|(processes, spans)| {
                let at = |operation: usize, (begin, lasts): (u64, u64)| {
                    let begin = 1_000 * (1 + operation as u64) + begin;
                    (begin, begin + lasts)
                };
                let operation = |(number, spans): (usize, Vec<(u64, u64)>)| {
                    spans.into_iter().map(|it| at(number, it)).collect()
                };
                (
                    processes,
                    spans.into_iter().enumerate().map(operation).collect(),
                )
            })
    })
}

fn events(barriers: &Barriers, location: usize) -> Vec<(u64, Call)> {
    let both = |spans: &Vec<(u64, u64)>| {
        let (begin, end) = spans[location];
        [(begin, Call::Begin), (end, barrier())]
    };
    barriers.iter().flat_map(both).collect()
}

fn trace(processes: &[usize], barriers: &Barriers) -> (TraceInfo, Causality) {
    let info = ranks(processes);
    let all: Vec<_> = (0..processes.len())
        .map(|it| events(barriers, it))
        .collect();
    let causality = causality(&info, &all);
    (info, causality)
}

/// Bounds of so many ticks on both sides of all clocks.
fn within(ticks: f64, clocks: &Clocks) -> ErrorBounds {
    let bound = ClockErrorBound::through(vec![ErrorKnot(0, Some(ticks), Some(ticks))]);
    ErrorBounds {
        clocks: clocks.iter().map(|_| Some(bound.clone())).collect(),
    }
}

/// The sums of processes, by the definition and one participant after the other.
fn plain(processes: &[usize], barriers: &Barriers, open: u64) -> Vec<ProcessWaits> {
    let mut sums = vec![ProcessWaits::default(); processes.iter().max().unwrap() + 1];
    for spans in barriers {
        let last = spans.iter().map(|it| it.0).max().unwrap();
        let late = spans.iter().position(|it| it.0 == last).unwrap();
        let of_others = (0..spans.len()).filter(|&it| processes[it] != processes[late]);
        let others: Vec<u64> = of_others.map(|it| spans[it].0).collect();
        let Some(&next) = others.iter().max() else {
            continue;
        };
        let certain = others.iter().all(|it| last - it > 2 * open);
        let wait = |&(begin, end): &(u64, u64)| last.min(end).saturating_sub(begin);
        let alone = |&(begin, end): &(u64, u64)| last.min(end).saturating_sub(begin.max(next));
        let sum = |of: &dyn Fn(&(u64, u64)) -> u64| spans.iter().map(of).sum::<u64>();
        let by = &mut sums[processes[late]];
        by.last += 1;
        by.waited_for += sum(&wait);
        by.waited_for_alone += sum(&alone);
        let longest = spans.iter().map(wait).max().unwrap();
        by.waited_for_longest = by.waited_for_longest.max(longest);
        if certain {
            by.certainly_last += 1;
            by.certainly_waited_for += sum(&wait);
        }
        for (span, &process) in spans.iter().zip(processes) {
            sums[process].operations += 1;
            sums[process].waited += wait(span);
        }
    }
    for (location, &process) in processes.iter().enumerate() {
        let times = barriers.iter().map(|it| it[location]);
        let first = times.clone().map(|it| it.0).min().unwrap();
        if sums[process].operations > 0 {
            let recorded = times.map(|it| it.1).max().unwrap() - first;
            sums[process].recorded += recorded;
            sums[process].lasted = sums[process].lasted.max(recorded);
        }
    }
    sums
}

proptest! {
    #[test]
    fn it_is_the_plain_definition((processes, barriers) in barriers(7), open in 0..20_u64) {
        let (info, causality) = trace(&processes, &barriers);
        let clocks = Grouping::Location.clocks(&info, &causality);
        let bounds = within(open as f64, &clocks);
        let times = causality.nodes().timestamps();
        let found = stragglers(&causality, &info, &clocks, times, Some(&bounds));
        let expected = plain(&processes, &barriers, open);
        prop_assert_eq!(&found.processes[..expected.len()], &expected[..]);
        let sum = |of: fn(&ProcessWaits) -> u64| expected.iter().map(of).sum::<u64>();
        prop_assert_eq!(found.operations, sum(|it| it.last));
        prop_assert_eq!(found.certain, sum(|it| it.certainly_last));
        prop_assert_eq!(found.operations + found.others, barriers.len() as u64);
        prop_assert_eq!(found.groups.iter().map(|it| it.waited).sum::<u64>(), sum(|it| it.waited));
        let alone: Vec<u64> = found.worst.iter().map(|it| it.alone).collect();
        prop_assert!(alone.is_sorted_by(|a, b| a >= b));
        prop_assert_eq!(alone.len() as u64, found.operations.min(10));
    }

    #[test]
    fn nothing_is_certain_where_nothing_is_known((processes, barriers) in barriers(5)) {
        let (info, causality) = trace(&processes, &barriers);
        let clocks = Grouping::Location.clocks(&info, &causality);
        let times = causality.nodes().timestamps();
        let found = stragglers(&causality, &info, &clocks, times, None);
        prop_assert_eq!(found.certain, 0);
        // Locations of one clock are off alike, whatever that is.
        let one = Clocks::from_owners(&vec![(); processes.len()]).0;
        let found = stragglers(&causality, &info, &one, times, None);
        let exact = within(0.0, &clocks);
        let exact = stragglers(&causality, &info, &clocks, times, Some(&exact));
        prop_assert_eq!(found, exact);
    }
}

/// Two operations that the first process begins at 100 and 120 and completes when the other
/// has come, at 200 and 250: it stood still for 150, not for 100 + 130.
#[test]
fn what_goes_on_side_by_side_is_waited_in_once() {
    let info = ranks(&[0, 1]);
    let both = call(Operation::Allreduce, Root::None);
    let location = |begins: [u64; 2], ends: [u64; 2]| {
        let mut events = vec![
            (begins[0], Call::PostCollective(1)),
            (begins[1], Call::PostCollective(2)),
            (ends[0], Call::CompleteCollective(both, 1)),
            (ends[1], Call::CompleteCollective(both, 2)),
            (1_000, Call::Begin),
            (1_090, barrier()),
        ];
        events.sort_by_key(|it| it.0);
        events
    };
    let waited = |begins| {
        let causality = causality(
            &info,
            &[
                location([100, 120], [300, 310]),
                location(begins, [305, 315]),
            ],
        );
        let clocks = Grouping::Location.clocks(&info, &causality);
        let times = causality.nodes().timestamps();
        let found = stragglers(&causality, &info, &clocks, times, None);
        assert_eq!((found.operations, found.processes[1].waited), (3, 0));
        // In a sum over operations each counts.
        let sum = |it: [u64; 2]| it[0] - 100 + it[1] - 120;
        assert_eq!(found.groups[0].waited, sum(begins));
        found.processes[0].waited
    };
    assert_eq!(waited([200, 250]), 150);
    assert_eq!(waited([110, 250]), 10 + 130);
    assert_eq!(waited([240, 250]), 150);
}

#[test]
fn rooted_operations_are_counted_but_not_judged() {
    let info = ranks(&[0, 1]);
    let root = Root::Rank(0);
    let location = |late: u64| {
        vec![
            (10 + late, Call::Begin),
            (90, end(Operation::Bcast, root)),
            (100 + late, Call::Begin),
            (190, end(Operation::Reduce, root)),
            (200 + late, Call::Begin),
            (290, barrier()),
        ]
    };
    let causality = causality(&info, &[location(0), location(7)]);
    let clocks = Grouping::Location.clocks(&info, &causality);
    let times = causality.nodes().timestamps();
    let found = stragglers(&causality, &info, &clocks, times, None);
    assert_eq!((found.operations, found.others), (1, 2));
    assert_eq!(found.groups.len(), 3);
    assert_eq!(found.groups[0].waited, 7);
}

/// Four processes whose clocks differ by milliseconds; one is 2 ms late every third
/// time, the others by chance, by up to 20 us.
#[test]
fn a_late_process_is_found_through_wrong_clocks() {
    const LATE: usize = 2;
    const EVERY: u64 = 3;
    let offset = [0_i64, 3_000_000, -1_500_000, 700_000];
    let mut state = 1_u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    let mut events: Vec<Vec<Event>> = vec![Vec::new(); offset.len()];
    let mut truth = Vec::new();
    for number in 0..60_u64 {
        let start = 10_000_000 * (number + 1);
        let late = |process: usize| process == LATE && number % EVERY == 0;
        let lateness = |process| if late(process) { 2_000_000 } else { 0 };
        let begins: Vec<u64> = (0..offset.len())
            .map(|it| start + random(20_000) + lateness(it))
            .collect();
        let last = *begins.iter().max().unwrap();
        truth.push(begins.iter().position(|it| *it == last).unwrap());
        for (process, &begin) in begins.iter().enumerate() {
            let stamped = |truth: u64, call| Event {
                truth,
                raw: truth.wrapping_add_signed(offset[process]),
                call,
            };
            events[process].push(stamped(begin, Call::Begin));
            events[process].push(stamped(last + 1_000 + random(6_000), barrier()));
        }
    }
    let logs = events.iter().enumerate();
    let logs = logs
        .map(|(it, events)| log_of(LocationIndex(it as u32), events))
        .collect();
    let info = ranks(&[0, 1, 2, 3]);
    let mut analysis = Analysis::new(info, logs, AnalysisOptions::default(), &()).unwrap();
    let solution = analysis.solve(&Method::default(), &()).unwrap();
    analysis.adopt(&solution, &()).unwrap();
    let bounds = analysis
        .bounds(1e-6, Some(&solution), &())
        .unwrap()
        .unwrap();
    let found = stragglers(
        analysis.causality(),
        analysis.info(),
        analysis.clocks(),
        &solution.times,
        Some(&bounds.errors),
    );
    let late = &found.processes[LATE];
    assert!(late.certainly_last >= 20, "{found:?}");
    assert!(late.certainly_waited_for > 20 * 3 * 1_900_000, "{late:?}");
    for it in found.worst.iter().filter(|it| it.beyond.is_some()) {
        assert_eq!(
            truth[it.last.event as usize / 2],
            it.last.location.as_usize()
        );
        assert_eq!(it.last.location.as_usize(), LATE);
    }
    // Others are microseconds apart, of which bounds leave some open.
    for (process, waits) in found.processes.iter().enumerate() {
        let times = truth.iter().filter(|&&it| it == process).count() as u64;
        assert!(waits.certainly_last <= times, "{process}: {found:?}");
    }
    assert!(found.certain < found.operations, "{found:?}");
}
