//! The default method on random programs with known truth.

use crate::common::case::Case;
use crate::common::hand::{causality, ranks_on, receive, send};
use crate::common::{Sharing, Spec, cases, specs};
use proptest::prelude::*;
use retime::causality::{Causality, check};
use retime::clock::Gamma;
use retime::estimate::Reference;
use retime::pipeline::{Algorithm, Auto, Found, NotAligned, Options, Problem, Unsolved};
use retime::repair::{repair, repair_with};
use retime::{
    Accuracy, ClockId, Clocks, Grouping, LocationIndex, MinimalDelay, Ticks, Timestamp, TraceInfo,
};

/// The trace of a case, whose minimal delay is learned.
fn problem(case: &Case) -> Problem<'_> {
    Problem {
        info: &case.trace.info,
        causality: &case.causality,
        clocks: &case.clocks,
        delay: &case.delay,
        all_events: None,
        margin: Ticks(0),
        delay_is_settled: false,
        may_regroup: false,
        monitor: &(),
    }
}

fn solve(problem: &Problem<'_>) -> Found {
    Auto.solve(problem, &Options::default()).unwrap()
}

/// A trace whose clocks are found out.
fn guessing<'a>(info: &'a TraceInfo, causality: &'a Causality, clocks: &'a Clocks) -> Problem<'a> {
    Problem {
        info,
        causality,
        clocks,
        delay: &NONE,
        all_events: None,
        margin: Ticks(0),
        delay_is_settled: false,
        may_regroup: true,
        monitor: &(),
    }
}

/// Has no part where none is given.
const NONE: MinimalDelay = MinimalDelay::Uniform(Ticks(0));

/// The minimal delay that was enforced.
fn enforced(found: &Found) -> &MinimalDelay {
    &found.enforced.as_ref().unwrap().delay
}

fn by(reference: Reference) -> Options {
    Options {
        reference,
        ..Options::default()
    }
}

proptest! {
    #![proptest_config(cases(250))]

    #[test]
    fn nothing_is_violated_and_order_is_kept(spec in specs(400), given in any::<bool>()) {
        let case = Case::new(&spec);
        let solution = solve(&Problem { delay_is_settled: given, ..problem(&case) });
        let times = case.trace.corrected(&solution.correction);
        let clocks = solution.correction.clocks();
        let checked = check(&case.causality, clocks, enforced(&solution), &times, &()).unwrap();
        prop_assert_eq!((checked.violated(), checked.short()), (0, 0));
        for events in case.trace.rewritten(&solution.correction).events {
            prop_assert!(events.is_sorted_by_key(|event| event.raw));
        }
    }

    /// Clocks that are guessed are split until no contradiction is left.
    #[test]
    fn guessed_clocks_lead_to_a_sound_trace(spec in specs(400)) {
        let mut case = Case::new(&spec);
        case.clocks = Grouping::Auto.clocks(&case.trace.info, &case.causality);
        let solution = solve(&Problem { may_regroup: true, ..problem(&case) });
        let times = case.trace.corrected(&solution.correction);
        let clocks = solution.correction.clocks();
        let checked = check(&case.causality, clocks, enforced(&solution), &times, &()).unwrap();
        prop_assert_eq!((checked.violated(), checked.short()), (0, 0));
        prop_assert!(clocks.len() >= case.clocks.len());
    }

    /// The corrected trace is sound, and would not be touched again.
    #[test]
    fn the_result_has_nothing_left_to_repair(spec in specs(400)) {
        let case = Case::new(&spec);
        let solution = solve(&problem(&case));
        let again = case.causality.retimed(&solution.correction, &()).unwrap();
        let repaired = repair(&again, &case.clocks, enforced(&solution), &()).unwrap();
        prop_assert!(repaired.correction.is_identity());
        prop_assert_eq!(repaired.summary.direction, None);
    }
}

proptest! {
    #![proptest_config(cases(30))]

    #[test]
    fn the_number_of_threads_does_not_matter(spec in specs(600)) {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.unwrap().install(|| solve(&problem(&Case::new(&spec))).correction)
        };
        let single = run(1);
        prop_assert_eq!(&run(2), &single);
        prop_assert_eq!(&run(8), &single);
    }

}

/// Five clocks that differ by up to 100 us and 50 ppm, with some 600 steps.
fn drifting(seed: u64) -> Spec {
    Spec {
        locations: 5,
        steps: 600,
        seed,
        threads: false,
        tick: 1,
        offset: 400_000,
        drift_ppm: 50,
        sharing: Sharing::Location,
    }
}

/// Ranks that exchange messages with all others, on clocks of their own that
/// start apart and drift; rank `r` is read as location `order[r]`.
fn all_with_all(order: &[usize]) -> (TraceInfo, Causality) {
    let ranks = order.len();
    let places: Vec<(usize, usize)> = (0..ranks).map(|rank| (rank, rank)).collect();
    let stamp = |at: u64, rank: usize| {
        let (at, rank) = (at as i64, rank as i64);
        (1_000_000_000 + at + 40_000 * (rank * rank % 7) + (at * 3 * rank) / 100_000) as u64
    };
    let mut locations = vec![vec![]; ranks];
    let mut now = 0;
    for round in 0..300_u64 {
        for from in 0..ranks {
            for to in (0..ranks).filter(|&to| to != from) {
                let noise = (round * 37 + from as u64 * 11 + to as u64 * 5) % 97;
                let arrived = now + 2_000 + noise * noise;
                let (a, b) = (order[from], order[to]);
                locations[a].push((stamp(now, from), send(b as u32)));
                locations[b].push((stamp(arrived, to), receive(a as u32)));
                now = arrived + 100;
            }
        }
    }
    let info = ranks_on(&places);
    let causality = causality(&info, &locations);
    (info, causality)
}

/// Sums of fractions depend on the order of clocks, but not by much.
#[test]
fn the_order_of_locations_does_not_matter() {
    let by = |order: &[usize]| -> Vec<Vec<u64>> {
        let (info, causality) = all_with_all(order);
        let clocks = Grouping::Location.clocks(&info, &causality);
        let problem = Problem {
            may_regroup: false,
            ..guessing(&info, &causality, &clocks)
        };
        let first = Reference::ClockOf(LocationIndex(order[0] as u32));
        let solution = Auto.solve(&problem, &by(first)).unwrap();
        let corrected = causality.retimed(&solution.correction, &()).unwrap();
        let nodes = corrected.nodes();
        let stamps = |location: &usize| nodes.of(*location).map(|node| nodes.timestamp(node).0);
        order.iter().map(|it| stamps(it).collect()).collect()
    };
    let straight = by(&[0, 1, 2, 3, 4]);
    for order in [[4, 3, 2, 1, 0], [2, 0, 4, 1, 3], [1, 2, 3, 4, 0]] {
        for (own, other) in straight.iter().flatten().zip(by(&order).iter().flatten()) {
            assert!(own.abs_diff(*other) <= 2, "{own} {other}");
        }
    }
}

/// Mean absolute error over all events with edges, without the common mean.
fn error(case: &Case, times: &[Timestamp]) -> f64 {
    let truth: Vec<Timestamp> = case
        .trace
        .truth()
        .iter()
        .map(|&it| Timestamp(4 * it))
        .collect();
    let accuracy = Accuracy::measure(&case.causality, times, &truth).unwrap();
    accuracy.synchronization.mean_abs
}

#[test]
fn it_is_far_closer_to_the_truth_than_the_recording() {
    for seed in 0..20 {
        let case = Case::new(&drifting(seed));
        let raw = error(&case, case.causality.nodes().timestamps());
        let solution = solve(&problem(&case));
        let times = case.trace.corrected(&solution.correction);
        let left = error(&case, &times);
        assert!(5.0 * left < raw, "seed {seed}: {left} of {raw}");
    }
}

#[test]
fn the_time_base_is_the_one_that_was_chosen() {
    let spec = Spec {
        locations: 4,
        ..drifting(3)
    };
    let case = Case::new(&spec);
    // By clock, the largest offset.
    let moved = |reference| {
        let found = Auto.solve(&problem(&case), &by(reference)).unwrap();
        assert!(found.unaligned.is_none());
        let times = case.trace.corrected(&found.correction);
        let nodes = case.causality.nodes();
        let of_location = |location: usize| {
            let moved = nodes
                .of(location)
                .map(|node| nodes.timestamp(node).0.abs_diff(times[node.index()].0));
            moved.max().unwrap()
        };
        (0..4).map(of_location).collect::<Vec<u64>>()
    };
    let still = |moved: Vec<u64>| moved.iter().map(|&by| by == 0).collect::<Vec<bool>>();
    assert_eq!(still(moved(Reference::First)), [true, false, false, false]);
    let third = Reference::ClockOf(LocationIndex(2));
    assert_eq!(still(moved(third)), [false, false, true, false]);
    assert_eq!(still(moved(Reference::Mean)), [false; 4]);
}

/// Four ranks exchange messages for four seconds; the clock of the first swings by 20 us, and all
/// others follow it unless the common time is that of all.
#[test]
fn where_clocks_wander_the_common_time_is_that_of_all() {
    let swing = |rank: usize, at: u64| match rank {
        0 => (20_000.0 * (2.5e-9 * at as f64).sin()) as i64,
        _ => 100_000 * rank as i64,
    };
    let mut locations = vec![vec![]; 4];
    for round in 0..4_000_u64 {
        for (from, to) in [
            (0, 1),
            (1, 2),
            (2, 3),
            (3, 0),
            (1, 0),
            (2, 1),
            (3, 2),
            (0, 3),
        ] {
            let sent = 1_000_000 * round + 100_000 * from as u64 + 20_000 * to as u64;
            let arrived = sent + 2_000 + (round * 37 + from as u64 * 11) % 97 * 10;
            let stamp =
                |at: u64, rank: usize| (1_000_000_000 + at).wrapping_add_signed(swing(rank, at));
            locations[from].push((stamp(sent, from), send(to as u32)));
            locations[to].push((stamp(arrived, to), receive(from as u32)));
        }
    }
    for own in &mut locations {
        own.sort_by_key(|it| it.0);
    }
    let info = ranks_on(&[(0, 0), (1, 1), (2, 2), (3, 3)]);
    let it = causality(&info, &locations);
    let clocks = Grouping::Location.clocks(&info, &it);
    let problem = guessing(&info, &it, &clocks);
    // How far what is added to the clock of the second rank, which is true, bends.
    let bend = |found: &Found| {
        let times = it.retimed(&found.correction, &()).unwrap();
        let nodes = it.nodes();
        let own: Vec<f64> = { nodes.of(1) }
            .map(|node| times.nodes().time(node).0 as f64 - nodes.time(node).0 as f64)
            .collect();
        let mean = own.iter().sum::<f64>() / own.len() as f64;
        own.iter().map(|it| (it - mean).abs()).fold(0.0, f64::max)
    };
    let first = Auto.solve(&problem, &by(Reference::First)).unwrap();
    assert!(bend(&first) > 15_000.0, "{}", bend(&first));
    assert!(first.aligned.unwrap().common.is_none());
    let of_all = solve(&problem);
    assert!(bend(&of_all) < 5_000.0, "{}", bend(&of_all));
    assert!(of_all.aligned.unwrap().common.is_some());
}

#[test]
fn without_dependencies_nothing_is_moved() {
    let info = ranks_on(&[(0, 0), (1, 1)]);
    let it = causality(&info, &[vec![(10, send(1))], vec![]]);
    let clocks = Grouping::Auto.clocks(&info, &it);
    let problem = guessing(&info, &it, &clocks);
    let solution = solve(&problem);
    assert_eq!(solution.unaligned, Some(NotAligned::NoDependency));
    assert!(solution.correction.is_identity());
    let named = by(Reference::ClockOf(LocationIndex(1)));
    let unrelated = Auto.solve(&problem, &named).map(|_| ());
    assert_eq!(unrelated, Err(Unsolved::UnrelatedReference));
}

/// Two nodes of two ranks each that exchange messages; clocks are `off` by rank.
/// If `inside`, ranks talk to their neighbours, and these messages take `delay`. The clock
/// of each rank, and how many nodes turned out to have several.
fn two_nodes(off: [i64; 4], inside: bool, delay: u64) -> ([u32; 4], usize) {
    let info = ranks_on(&[(0, 0), (1, 0), (2, 1), (3, 1)]);
    let mut locations = vec![vec![]; 4];
    let mut now = 1_000_000_u64;
    for round in 0..400_u64 {
        let pairs: &[(usize, usize)] = if inside {
            &[(0, 1), (0, 2), (1, 2), (2, 3)]
        } else {
            &[(0, 2), (0, 3), (1, 2), (1, 3)]
        };
        for &(a, b) in pairs {
            for (from, to) in [(a, b), (b, a)] {
                let wait = if from / 2 == to / 2 { delay } else { 2_000 };
                let arrived = now + wait + (round * 7 + from as u64 * 3) % 90;
                let stamp = |at: u64, rank: usize| at.wrapping_add_signed(off[rank]);
                locations[from].push((stamp(now, from), send(to as u32)));
                locations[to].push((stamp(arrived, to), receive(from as u32)));
                now = arrived + 500;
            }
        }
    }
    let it = causality(&info, &locations);
    let clocks = Grouping::Auto.clocks(&info, &it);
    let solution = solve(&guessing(&info, &it, &clocks));
    let found = solution.correction.clocks();
    assert!(found.len() >= clocks.len());
    let of = [0, 1, 2, 3].map(|rank| found.of(LocationIndex(rank)).0);
    (of, found.refuted())
}

#[test]
fn ranks_share_the_clock_of_their_node_unless_that_is_refuted() {
    let off = [0, 0, 70_000, 70_000];
    assert_eq!(two_nodes(off, true, 800), ([0, 0, 1, 1], 0));
    // Nothing is exchanged inside the nodes, and nothing speaks against one clock.
    assert_eq!(two_nodes(off, false, 800), ([0, 0, 1, 1], 0));
    // Neither is anything here, but messages to the other node say that clocks differ.
    assert_eq!(
        two_nodes([0, 9_000, 70_000, 70_000], false, 800).0[..2],
        [0, 1]
    );
}

#[test]
fn a_ring_inside_a_node_is_enough() {
    let info = ranks_on(&[(0, 0), (1, 0), (2, 0), (3, 0)]);
    let mut locations = vec![vec![]; 4];
    for round in 0..300_u64 {
        for rank in 0..4_u64 {
            let sent = 1_000 + 10_000 * round + 2_000 * rank;
            let to = (rank + 1) % 4;
            locations[rank as usize].push((sent, send(to as u32)));
            locations[to as usize].push((sent + 900 + round * rank % 40, receive(rank as u32)));
        }
    }
    let it = causality(&info, &locations);
    let clocks = Grouping::Auto.clocks(&info, &it);
    let solution = solve(&guessing(&info, &it, &clocks));
    assert_eq!(solution.correction.clocks(), &clocks);
}

#[test]
fn ranks_whose_clocks_differ_less_than_a_message_takes_are_told_apart() {
    // No message is violated: they take 20 us inside the nodes, and clocks differ
    // by 15; but messages between the nodes take only 2.
    let off = [0, 15_000, 70_000, 70_000];
    assert_eq!(two_nodes(off, true, 20_000), ([0, 1, 2, 2], 1));
    // As little as that proves nothing.
    let off = [0, 900, 70_000, 70_000];
    assert_eq!(two_nodes(off, true, 20_000), ([0, 0, 1, 1], 0));
}

#[test]
fn a_contradiction_of_the_clocks_given_is_returned() {
    // Rank 2 sends at 20 by way of rank 0 to rank 1, where it arrives at 10.
    let info = ranks_on(&[(0, 0), (1, 1), (2, 1)]);
    let locations = [
        vec![(10, receive(2)), (11, send(1))],
        vec![(10, receive(0))],
        vec![(20, send(0))],
    ];
    let it = causality(&info, &locations);
    let clocks = Grouping::Node.clocks(&info, &it);
    let guess = guessing(&info, &it, &clocks);
    let given = Problem {
        may_regroup: false,
        ..guess
    };
    let found = Auto.solve(&given, &Options::default()).map(|_| ());
    assert!(matches!(found, Err(Unsolved::Cycle(_))));
    let found = solve(&guess);
    assert_eq!(found.correction.clocks().len(), 3);
    assert_eq!(found.correction.clocks().of(LocationIndex(2)), ClockId(2));
}

/// Where alignment would make it worse, recorded times are repaired as they are: with ticks that are
/// coarser than clocks are off, say.
#[test]
fn a_hopeless_alignment_is_not_used() {
    let (mut recorded, mut moved) = (0, 0);
    for seed in 0..30 {
        let spec = Spec {
            steps: 400,
            tick: 2_000,
            offset: 4_000,
            drift_ppm: 0,
            ..drifting(seed)
        };
        let case = Case::new(&spec);
        let solution = solve(&problem(&case));
        if let Some(NotAligned::Worse {
            recorded: by,
            aligned,
        }) = solution.unaligned
        {
            assert!(aligned > by);
            recorded += 1;
            // By the clock for clocks that are not aligned.
            let (causality, delay) = (&case.causality, enforced(&solution));
            let gamma = Gamma::default();
            let repaired = repair_with(causality, &case.clocks, delay, gamma, &()).unwrap();
            let found = solution.repaired.as_ref().unwrap();
            let summary = repaired.summary;
            assert_eq!(
                (found.jumps, found.largest_jump, found.direction),
                (summary.jumps, summary.largest_jump, summary.direction)
            );
            assert_eq!(solution.correction, repaired.correction);
            moved += u128::from(by > 0) * summary.total;
        }
        let times = case.trace.corrected(&solution.correction);
        let checked = check(
            &case.causality,
            &case.clocks,
            enforced(&solution),
            &times,
            &(),
        )
        .unwrap();
        assert_eq!(checked.violated() + checked.short(), 0);
    }
    println!("{recorded} {moved}");
    assert!(recorded > 0 && moved > 0);
}

/// With few messages, too, an alignment leaves less reversed than was recorded.
#[test]
fn few_messages_are_no_reason_not_to_align() {
    for seed in 0..150 {
        let case = Case::new(&Spec {
            steps: 60,
            offset: 4_000,
            drift_ppm: 0,
            ..drifting(seed)
        });
        let solution = solve(&problem(&case));
        let unaligned = &solution.unaligned;
        assert!(!matches!(unaligned, Some(NotAligned::Worse { .. })));
        let times = case.trace.corrected(&solution.correction);
        let (causality, delay) = (&case.causality, enforced(&solution));
        let checked = check(causality, &case.clocks, delay, &times, &()).unwrap();
        assert_eq!(checked.violated() + checked.short(), 0);
    }
}
