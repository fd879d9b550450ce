//! All steps together: build, group, controlled clock, amortisation, check.

use crate::common;
use std::collections::BTreeMap;

use crate::common::case::Case;
use crate::common::{Spec, cases, gammas, specs};
use proptest::prelude::*;
use retime::causality::{Check, EventNode, check};
use retime::clock::AmortizationRate;
use retime::{Grouping, LocationIndex, MinimalDelay, Ticks, Timestamp};

/// The check once more, over the plain list of true dependencies.
fn plain_check(case: &Case, times: &[Timestamp]) -> [u64; 6] {
    let latency = |edge: &common::Edge| {
        times[edge.1.index()]
            .0
            .wrapping_sub(times[edge.0.index()].0) as i64
    };
    let clock = |node: EventNode| case.plain.clock[node.index()];
    let across = |edge: &common::Edge| clock(edge.0) != clock(edge.1);
    let short = |edge: &common::Edge| latency(edge) < case.plain.delay(&case.delay, *edge);
    let messages = &case.trace.messages;
    let count =
        |is: &dyn Fn(&common::Edge) -> bool| messages.iter().filter(|edge| is(edge)).count() as u64;
    // Of each end of a collective only the latest begin counts.
    let mut tightest: BTreeMap<EventNode, i64> = BTreeMap::new();
    let mut too_short: BTreeMap<EventNode, bool> = BTreeMap::new();
    for edge in &case.trace.collectives {
        let least = tightest.entry(edge.1).or_insert(i64::MAX);
        *least = latency(edge).min(*least);
        *too_short.entry(edge.1).or_default() |= across(edge) && short(edge);
    }
    [
        count(&|edge| latency(edge) < 0),
        count(&|edge| latency(edge) == 0),
        count(&|edge| across(edge) && short(edge)),
        tightest.values().filter(|&&least| least < 0).count() as u64,
        tightest.values().filter(|&&least| least == 0).count() as u64,
        too_short.values().filter(|&&short| short).count() as u64,
    ]
}

fn counts(check: &Check) -> [u64; 6] {
    let (messages, collectives) = (check.messages, check.collectives);
    [
        messages.violated,
        messages.tied,
        messages.short,
        collectives.violated,
        collectives.tied,
        collectives.short,
    ]
}

fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    pool.install(work)
}

fn rate() -> AmortizationRate {
    AmortizationRate::default()
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn a_corrected_trace_has_nothing_violated_and_nothing_short(spec in specs(400), gamma in gammas()) {
        let case = Case::new(&spec);
        let times = case.trace.corrected(&case.amortize(gamma, rate()));
        let checked = check(&case.causality, &case.clocks, &case.delay, &times, &()).unwrap();
        prop_assert_eq!(checked.violated(), 0);
        prop_assert_eq!(checked.short(), 0);
        prop_assert_eq!(checked.violated_within_clock(), 0);
        prop_assert!(checked.worst.is_empty());
    }

    #[test]
    fn the_check_counts_what_is_there(spec in specs(300)) {
        let case = Case::new(&spec);
        let raw = case.causality.nodes().timestamps();
        let checked = check(&case.causality, &case.clocks, &case.delay, raw, &()).unwrap();
        prop_assert_eq!(counts(&checked), plain_check(&case, raw));
        prop_assert_eq!(checked.messages.total, case.trace.messages.len() as u64);
        let mut ends: Vec<EventNode> = case.trace.collectives.iter().map(|edge| edge.1).collect();
        ends.sort_unstable();
        ends.dedup();
        prop_assert_eq!(checked.collectives.total, ends.len() as u64);
        let total: u64 = checked.pairs.values().map(|pair| pair.total).sum();
        prop_assert_eq!(total, checked.messages.total + checked.collectives.total);
        let violated: u64 = checked.pairs.values().map(|pair| pair.violated).sum();
        prop_assert_eq!(violated, checked.violated());
        prop_assert_eq!(checked.worst.len() as u64, {
            let within = checked.violated_within_clock();
            (checked.short() + within).min(10)
        });
        prop_assert!(checked.worst.is_sorted());
    }

    /// Whatever `auto` makes of the clocks, the result is sound or the trace is
    /// reported as one whose grouping contradicts it.
    #[test]
    fn automatic_grouping_leads_to_a_sound_trace(spec in specs(300), gamma in gammas()) {
        let mut case = Case::new(&Spec { sharing: common::Sharing::Node, ..spec });
        case.clocks = Grouping::Auto.clocks(&case.trace.info, &case.causality);
        let times = case.trace.corrected(&case.amortize(gamma, rate()));
        let checked = check(&case.causality, &case.clocks, &case.delay, &times, &()).unwrap();
        prop_assert_eq!(checked.violated() + checked.short(), 0);
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn the_number_of_threads_does_not_matter(spec in specs(600), gamma in gammas()) {
        let run = || {
            let case = Case::new(&spec);
            let correction = case.amortize(gamma, rate());
            let raw = case.causality.nodes().timestamps();
            let checked = check(&case.causality, &case.clocks, &case.delay, raw, &()).unwrap();
            (correction, counts(&checked), checked.worst)
        };
        let single = in_pool(1, run);
        for threads in [2, 8] {
            prop_assert_eq!(&in_pool(threads, run), &single);
        }
    }
}

#[test]
fn the_more_specific_delay_wins_and_the_source_before_the_destination() {
    let mut table = retime::DelayTable::default();
    let at = |location: u32| Some(LocationIndex(location));
    let delay = |table: &retime::DelayTable| {
        MinimalDelay::PerPair(table.clone())
            .between(LocationIndex(1), LocationIndex(2))
            .0
    };
    assert_eq!((delay(&table), table.range()), (0, None));
    for (from, to, own) in [
        (None, None, 1),
        (None, at(2), 2),
        (at(1), None, 3),
        (at(1), at(2), 4),
    ] {
        table.set(from, to, Ticks(own));
        table.set(at(2), at(1), Ticks(9));
        assert_eq!(delay(&table), own);
    }
}

/// Per-pair delays are enforced pair by pair.
#[test]
fn each_pair_keeps_its_own_delay() {
    use crate::common::hand::{causality, ranks, receive, send};
    let info = ranks(&[0, 1, 2]);
    let locations = [
        vec![(100, send(1)), (100, send(2))],
        vec![(90, receive(0)), (95, send(2))],
        vec![(90, receive(0)), (91, receive(1))],
    ];
    let causality = causality(&info, &locations);
    let clocks = Grouping::Location.clocks(&info, &causality);
    let mut table = retime::DelayTable::default();
    let at = |location: u32| Some(LocationIndex(location));
    table.set(None, None, Ticks(1));
    table.set(at(0), at(1), Ticks(7));
    table.set(None, at(2), Ticks(20));
    assert_eq!(table.range(), Some((Ticks(1), Ticks(20))));
    let delay = MinimalDelay::PerPair(table);
    let gamma = "0.5".parse().unwrap();
    let times = retime::clock::controlled(&causality, &clocks, &delay, gamma, &()).unwrap();
    let corrected: Vec<i64> = causality
        .nodes()
        .all()
        .map(|node| 90 + times.get(node).0)
        .collect();
    // 107 = 100 + 7; 5 later 2 of its lead of 17 are lost: 110 at 95.
    assert_eq!(corrected, [100, 100, 107, 110, 120, 130]);
    let raw = check(
        &causality,
        &clocks,
        &delay,
        causality.nodes().timestamps(),
        &(),
    )
    .unwrap();
    assert_eq!(raw.short(), 3);
    let slacks: Vec<i64> = raw.worst.iter().map(|worst| worst.slack.0).collect();
    assert_eq!(slacks, [-30, -24, -17]);
}
