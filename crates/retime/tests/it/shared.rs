//! A trace in several processes has the results of one.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use retime::causality::{Check, LocationLog, NeedsWhole};
use retime::clock::{Control, DegressiveConstants, MultiPass};
use retime::optimal::LeastDistortion;
use retime::pipeline::{
    Analysis, AnalysisOptions, AskedDelay, Bounds, CameLast, ClockControl, ClockKind, DRIFT_BOUND,
    LogicalClock, Measured, Method, Solution,
};
use retime::{Correction, Grouping, LocationIndex, MinimalDelay, Monitor, Ticks, TraceInfo};
use retime_distributed::{Broken, Distribution, Peers, analyse};
use retime_testing::Effort;

use crate::common::hand::{logs, ranks, receive, send};
use crate::common::meetings::meetings;
use crate::common::{Sharing, Spec, cases, specs};
use crate::processes::{Thread, together};

/// What one process comes to, step by step, as far as processes worked together.
pub(crate) struct Outcome {
    pub(crate) distribution: Distribution,
    pub(crate) analysis: Option<Analysis>,
    pub(crate) solution: Option<Solution>,
    measured: Option<Measured>,
    least_distortion: Option<LeastDistortion>,
    bounds: Option<Bounds>,
    stragglers: Option<CameLast>,
    adopted: bool,
}

pub(crate) fn outcome(
    distribution: Distribution,
    analysis: Option<Analysis>,
    method: &Method,
    monitor: &dyn Monitor,
) -> Outcome {
    let mut analysis = analysis;
    let solution = analysis
        .as_ref()
        .and_then(|it| it.solve(method, monitor).ok());
    let (mut measured, mut bounds, mut stragglers) = (None, None, None);
    let (mut least_distortion, mut adopted) = (None, false);
    if let (Some(analysis), Some(solution)) = (&mut analysis, &solution) {
        measured = analysis.measure(solution, monitor).ok();
        let least = analysis.least_distortion(Some(solution), monitor);
        least_distortion = least.ok().flatten();
        adopted = analysis.adopt(solution, monitor).is_ok();
        let found = analysis.bounds(DRIFT_BOUND, Some(solution), monitor);
        bounds = found.ok().flatten();
        stragglers = analysis
            .stragglers(Some(solution), bounds.as_ref(), monitor)
            .ok();
    }
    Outcome {
        distribution,
        analysis,
        solution,
        measured,
        least_distortion,
        bounds,
        stragglers,
        adopted,
    }
}

fn in_processes(
    (info, logs): (&TraceInfo, &[LocationLog]),
    owners: &[u32],
    size: usize,
    options: &AnalysisOptions,
    method: &Method,
) -> Vec<Outcome> {
    in_processes_watched((info, logs), owners, size, options, method, |_| &())
}

/// The same, each with the monitor of its number.
fn in_processes_watched<'m>(
    (info, logs): (&TraceInfo, &[LocationLog]),
    owners: &[u32],
    size: usize,
    options: &AnalysisOptions,
    method: &Method,
    monitor: impl (Fn(u32) -> &'m dyn Monitor) + Sync,
) -> Vec<Outcome> {
    let run = |peer: Thread| {
        let rank = peer.rank() as u32;
        let distribution = Distribution::new(Arc::new(peer), owners.to_vec());
        let own = logs.iter().cloned();
        let own = own.filter(|log| owners[log.location().as_usize()] == rank);
        let (info, options) = (info.clone(), options.clone());
        let monitor = monitor(rank);
        let analysis = analyse(info, own.collect(), options, &distribution, monitor).ok();
        outcome(distribution, analysis, method, monitor)
    };
    together(size, run)
}

/// Processes, and those on one node if they share a clock, stay together.
pub(crate) fn owners(info: &TraceInfo, by_node: bool, seed: usize, size: usize) -> Vec<u32> {
    let owner = |location: &retime::Location| {
        let node = info.processes[location.process].node;
        let key = if by_node {
            node.unwrap_or(0)
        } else {
            location.process
        };
        (((key + 1) * (2 * seed + 1)) / 3 % size) as u32
    };
    info.locations.iter().map(owner).collect()
}

fn same_check(ours: &Check, theirs: &Check) -> Result<(), TestCaseError> {
    prop_assert_eq!(ours.messages, theirs.messages);
    prop_assert_eq!(ours.collectives, theirs.collectives);
    prop_assert_eq!(&ours.pairs, &theirs.pairs);
    prop_assert_eq!(&ours.worst, &theirs.worst);
    Ok(())
}

pub(crate) fn same(whole: &Outcome, part: &Outcome, first: bool) -> Result<(), TestCaseError> {
    let (Some(a), Some(b)) = (&whole.analysis, &part.analysis) else {
        return Err(TestCaseError::fail("no analysis"));
    };
    prop_assert_eq!(a.clocks(), b.clocks());
    prop_assert_eq!(&a.delay().delay, &b.delay().delay);
    prop_assert_eq!(a.delay().half_round_trip, b.delay().half_round_trip);
    prop_assert_eq!(a.counts(), b.counts());
    prop_assert_eq!(a.attributions(), b.attributions());
    prop_assert_eq!(a.examined(&[]), b.examined(&[]));
    prop_assert_eq!(a.causality().defects(), b.causality().defects());
    same_check(a.recorded(), b.recorded())?;
    let (Some(ours), Some(theirs)) = (&whole.solution, &part.solution) else {
        return Err(TestCaseError::fail("no solution"));
    };
    same_check(&ours.left, &theirs.left)?;
    for (number, _) in a.info().locations.iter().enumerate() {
        let (whole, own) = (
            a.causality().nodes().of(number),
            b.causality().nodes().of(number),
        );
        if part.distribution.owns(number) {
            prop_assert_eq!(&ours.times[whole.range()], &theirs.times[own.range()]);
        }
        let index = LocationIndex(number as u32);
        let map = |it: &Correction| it.map_of(index).clone();
        if first {
            prop_assert_eq!(map(&ours.correction), map(&theirs.correction));
        }
    }
    let jumps = |it: &Solution| it.repaired.as_ref().map(|it| (it.jumps, it.largest_jump));
    prop_assert_eq!(jumps(ours), jumps(theirs));
    if first {
        prop_assert_eq!(&whole.least_distortion, &part.least_distortion);
    }
    let ends = |it: &Solution| it.aligned.as_ref().and_then(|it| it.ends.clone());
    prop_assert_eq!(ends(ours), ends(theirs));
    let limited_by = |it: &Outcome| it.measured.as_ref().map(|it| it.limited_by);
    prop_assert_eq!(limited_by(whole), limited_by(part));
    prop_assert_eq!(&whole.stragglers, &part.stragglers);
    prop_assert_eq!(whole.bounds.is_some(), part.bounds.is_some());
    if let (Some(ours), Some(theirs)) = (&whole.bounds, &part.bounds) {
        let (a, b) = (&ours.offsets, &theirs.offsets);
        let analysis = whole.analysis.as_ref().unwrap();
        let clocks = analysis.clocks();
        prop_assert!(a.clocks == b.clocks, "bounds of clocks differ");
        let said = |it: &Bounds| it.warnings(analysis.info(), clocks);
        prop_assert_eq!(said(ours), said(theirs));
        prop_assert_eq!(a.relaxed.len(), b.relaxed.len());
        prop_assert_eq!((a.reference, a.complete), (b.reference, b.complete));
        prop_assert_eq!(ours.all, theirs.all);
        prop_assert_eq!(&ours.by_clock, &theirs.by_clock);
        prop_assert_eq!(format!("{:?}", ours.errors), format!("{:?}", theirs.errors));
    }
    Ok(())
}

fn clock(change: impl FnOnce(&mut LogicalClock)) -> Method {
    let mut clock = LogicalClock::default();
    change(&mut clock);
    Method::clock(clock)
}

/// Clocks by which each event follows from what arrives at its own clock.
fn clocks() -> Vec<Method> {
    let degressive = || ClockControl::ByEvent(Control::Degressive(DegressiveConstants::default()));
    vec![
        Method::new(&ClockKind::Controlled),
        clock(|it| it.backward = true),
        clock(|it| it.amortization = None),
        clock(|it| it.distance = Ticks(7).into()),
        clock(|it| it.control = ClockControl::Passes(MultiPass::default())),
        clock(|it| it.control = degressive()),
        clock(|it| (it.control, it.distance) = (degressive(), Ticks(3).into())),
        Method::new(&ClockKind::Simple),
        clock(|it| (it.kind, it.backward) = (ClockKind::Simple, true)),
        Method::new(&ClockKind::Lamport),
        clock(|it| (it.kind, it.backward) = (ClockKind::Lamport, true)),
    ]
}

fn methods() -> impl Strategy<Value = Method> {
    prop_oneof![
        1 => Just(Method::default()),
        4 => prop::sample::select(clocks()),
    ]
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn any_number_of_processes_comes_to_the_same(
        spec in specs(400),
        method in methods(),
        size in 2..6_usize,
        seed in 0..20_usize,
    ) {
        let trace = spec.trace();
        let options = AnalysisOptions {
            grouping: spec.grouping(),
            delay: if seed % 2 == 0 {
                AskedDelay::Given(spec.delay())
            } else {
                AskedDelay::default()
            },
            ..AnalysisOptions::default()
        };
        let owners = owners(&trace.info, true, seed, size);
        let whole = Analysis::new(trace.info.clone(), trace.logs(), options.clone(), &());
        let whole = outcome(Distribution::default(), Some(whole.unwrap()), &method, &());
        let parts = in_processes((&trace.info, &trace.logs()), &owners, size, &options, &method);
        let broken = parts[0].distribution.broken();
        if let Some(Broken::NeedsWhole(_) | Broken::Failed) = broken {
            return Ok(());
        }
        prop_assert_eq!(broken, None);
        for (rank, part) in parts.iter().enumerate() {
            same(&whole, part, rank == 0)?;
        }
    }
}

/// Results are the same too where the trace is left to one process; mostly it is not, whatever the
/// clock.
#[test]
fn most_traces_need_not_be_in_one_process() {
    for method in clocks() {
        let mut runner = TestRunner::deterministic();
        let together = (0..10).filter(|&seed| {
            let spec = specs(200).new_tree(&mut runner).unwrap().current();
            let trace = spec.trace();
            let options = AnalysisOptions {
                grouping: spec.grouping(),
                ..AnalysisOptions::default()
            };
            let owners = owners(&trace.info, true, seed, 3);
            let parts = in_processes((&trace.info, &trace.logs()), &owners, 3, &options, &method);
            let several = owners.iter().any(|it| *it != owners[0]);
            several && parts.iter().all(|it| it.solution.is_some())
        });
        let together = together.count();
        assert!(together > 2, "{together} of 10: {method:?}");
    }
}

/// Four clocks in a ring that differ and drift; the last one is set in the middle. Where it is
/// set back it stands still until its old time has come again.
fn set_in_mid_run(forward: bool) -> (TraceInfo, Vec<LocationLog>) {
    const ROUNDS: u64 = 2_000;
    const SET: u64 = 1_000 * ROUNDS / 2;
    let unset = |rank: u64, time: u64| 500_000 + time + 70_000 * rank + time * rank / 100_000;
    let shown = |rank: u32, time: u64| {
        let (rank, own) = (u64::from(rank), unset(rank.into(), time));
        match (rank == 3 && time > SET, forward) {
            (false, _) => own,
            (true, true) => own + 400_000,
            (true, false) => (own - 400_000).max(unset(rank, SET)),
        }
    };
    let mut events: Vec<Vec<_>> = vec![Vec::new(); 4];
    for round in 0..ROUNDS {
        let begin = 1_000 * round;
        let jitter = |rank: u32| (round * 7 + u64::from(rank) * 3) % 10;
        for rank in 0..4 {
            let (left, right) = ((rank + 3) % 4, (rank + 1) % 4);
            let of = &mut events[rank as usize];
            of.push((shown(rank, begin), send(left)));
            of.push((shown(rank, begin + 1), send(right)));
            of.push((shown(rank, begin + 300 + jitter(rank)), receive(left)));
            of.push((shown(rank, begin + 320 + jitter(rank)), receive(right)));
        }
    }
    (ranks(&[0, 1, 2, 3]), logs(&events))
}

/// Where clocks were set all dependencies are looked at, but not all of the trace.
#[test]
fn steps_are_found_together() {
    for forward in [true, false] {
        steps_are_found_in(&set_in_mid_run(forward));
    }
}

fn steps_are_found_in((info, logs): &(TraceInfo, Vec<LocationLog>)) {
    let options = AnalysisOptions::default();
    let method = Method::default();
    let whole = Analysis::new(info.clone(), logs.clone(), options.clone(), &());
    let whole = outcome(Distribution::default(), Some(whole.unwrap()), &method, &());
    let solution = whole.solution.as_ref().unwrap();
    let steps = solution.aligned.as_ref().map(|it| it.steps.len());
    assert_eq!(steps, Some(1));
    for (size, owners) in [(2, [0, 1, 1, 0]), (3, [0, 1, 2, 2]), (4, [3, 2, 1, 0])] {
        let parts = in_processes((info, logs), &owners, size, &options, &method);
        for (rank, part) in parts.iter().enumerate() {
            assert_eq!(part.distribution.broken(), None);
            same(&whole, part, rank == 0).unwrap();
        }
    }
}

/// The result of one of several processes with the controlled clock, and how many messages all
/// have posted for it.
fn replayed(
    (info, logs): &(TraceInfo, Vec<LocationLog>),
    owners: &[u32],
    size: usize,
    options: &AnalysisOptions,
) -> (Option<Solution>, Option<Broken>, usize) {
    let mut all = together(size, |peer: Thread| {
        let (rank, posts) = (peer.rank() as u32, Arc::clone(&peer.posts));
        let distribution = Distribution::new(Arc::new(peer), owners.to_vec());
        let own = logs.iter().cloned();
        let own = own.filter(|log| owners[log.location().as_usize()] == rank);
        let (own, options) = (own.collect(), options.clone());
        let analysis = analyse(info.clone(), own, options, &distribution, &()).unwrap();
        let solution = analysis.solve(&Method::new(&ClockKind::Controlled), &());
        (solution.ok(), distribution.broken(), posts)
    });
    let (solution, broken, posts) = all.remove(0);
    (solution, broken, posts.load(Ordering::Relaxed))
}

/// Slow clocks wait for each other in each round, and hear of each message once. (Where a process
/// has to wait for long, a few messages more ask whether it waits for ever.)
#[test]
fn values_cost_at_most_a_message_for_each_message() {
    const ASKING: usize = 100;
    let ring = set_in_mid_run(true);
    let crossing: usize = 4 * 2 * 2_000;
    let posts = |owners: &[u32], size: usize| {
        let (solution, broken, posts) = replayed(&ring, owners, size, &AnalysisOptions::default());
        assert_eq!(broken, None);
        let jumps = solution.and_then(|it| Some(it.repaired?.jumps));
        assert!(jumps > Some(100), "{jumps:?}");
        posts
    };
    let by_four = posts(&[0, 1, 2, 3], 4);
    assert!(by_four <= crossing + 4 * 3 + 2 * 3 + ASKING, "{by_four}");
    // Of two processes with two clocks each half of the messages cross, and a message between
    // them carries two.
    let by_two = posts(&[0, 0, 1, 1], 2);
    assert!(by_two <= crossing / 4 + 2 + 2 + ASKING, "{by_two}");
}

/// Two ranks that send each other messages faster than the minimal delay says move each other on
/// with each of them. What was guessed is soon given up, and they wait for each other.
#[test]
fn guesses_that_come_to_no_end_are_followed_by_a_pass() {
    const TURNS: u64 = 100;
    let turn = |it: u64| 1_000 * it;
    let first = (0..TURNS).flat_map(|it| [(turn(it), send(1)), (turn(it) + 20, receive(1))]);
    let second = (0..TURNS).flat_map(|it| [(turn(it) + 10, receive(0)), (turn(it) + 11, send(0))]);
    let (info, trace) = (ranks(&[0, 1]), logs(&[first.collect(), second.collect()]));
    let delay = MinimalDelay::Uniform(Ticks(700));
    let repaired = |distribution: &Distribution, own: Vec<LocationLog>| {
        let options = AnalysisOptions::default();
        let analysis = analyse(info.clone(), own, options, distribution, &()).unwrap();
        let clocks = analysis.clocks();
        let repaired = retime::repair::repair(analysis.causality(), clocks, &delay, &());
        repaired.unwrap().summary
    };
    let alone = repaired(&Distribution::default(), trace.clone());
    assert!(alone.jumps > TURNS);
    let all = together(2, |peer: Thread| {
        let (rank, posts) = (peer.rank(), Arc::clone(&peer.posts));
        let distribution = Distribution::new(Arc::new(peer), vec![0, 1]);
        let summary = repaired(&distribution, vec![trace[rank].clone()]);
        (summary, posts.load(Ordering::Relaxed))
    });
    for (summary, posts) in all {
        assert_eq!(summary, alone);
        assert!(posts > TURNS as usize, "{posts}");
    }
}

const THREE: [u32; 6] = [0, 0, 1, 1, 2, 2];

/// The results in three processes of six ranks, after a look that each is that of one process.
pub(crate) fn same_with_three(
    info: &TraceInfo,
    logs: &[LocationLog],
    method: &Method,
) -> Result<Vec<Outcome>, TestCaseError> {
    let options = AnalysisOptions::default();
    let whole = Analysis::new(info.clone(), logs.to_vec(), options.clone(), &());
    let whole = outcome(Distribution::default(), Some(whole.unwrap()), method, &());
    let parts = in_processes((info, logs), &THREE, 3, &options, method);
    for (rank, part) in parts.iter().enumerate() {
        prop_assert_eq!(part.distribution.broken(), None);
        same(&whole, part, rank == 0)?;
    }
    Ok(parts)
}

/// A broadcast whose root is known, in a process that holds neither the root nor the first
/// clock: only that one sees that both are related.
#[test]
fn the_reference_may_be_related_by_what_another_process_hosts() {
    let spec = Spec {
        locations: 8,
        steps: 1,
        seed: 10_195_009_281_409_779_880,
        threads: true,
        tick: 40,
        offset: 0,
        drift_ppm: 0,
        sharing: Sharing::Location,
    };
    let trace = spec.trace();
    let options = AnalysisOptions {
        grouping: spec.grouping(),
        delay: AskedDelay::Given(spec.delay()),
        ..AnalysisOptions::default()
    };
    let owners = owners(&trace.info, true, 10, 4);
    let method = Method::default();
    let whole = Analysis::new(trace.info.clone(), trace.logs(), options.clone(), &());
    let whole = outcome(Distribution::default(), Some(whole.unwrap()), &method, &());
    let parts = in_processes((&trace.info, &trace.logs()), &owners, 4, &options, &method);
    for (rank, part) in parts.iter().enumerate() {
        same(&whole, part, rank == 0).unwrap();
    }
}

/// Two ranks that receive from each other before they send, and one that has nothing to do with
/// them: whoever waits for ever, all come to know.
#[test]
fn a_cycle_between_processes_is_noticed_by_all() {
    let waits = |other: u32| vec![(100, receive(other)), (200, send(other))];
    let apart = vec![(100, send(3)), (200, receive(3))];
    let answers = vec![(110, receive(2)), (190, send(2))];
    let trace = logs(&[waits(1), waits(0), apart, answers]);
    let info = ranks(&[0, 1, 2, 3]);
    for owners in [[0, 1, 2, 2], [1, 2, 0, 0], [2, 1, 1, 0], [0, 0, 1, 2]] {
        let (options, method) = (AnalysisOptions::default(), Method::new(&ClockKind::Simple));
        let parts = in_processes((&info, &trace), &owners, 3, &options, &method);
        for part in parts {
            let expected = Broken::NeedsWhole(NeedsWhole::Contradiction);
            assert_eq!(part.distribution.broken(), Some(expected), "{owners:?}");
        }
    }
}

/// Two ranks of a node stand at one time and wait for each other: that is told before any clock
/// runs.
#[test]
fn a_cycle_within_a_clock_costs_no_round() {
    let waits = |other: u32| vec![(100, receive(other)), (100, send(other))];
    let others = |other: u32| vec![(100, send(other)), (200, receive(other))];
    let trace = logs(&[waits(1), waits(0), others(3), others(2)]);
    let options = AnalysisOptions {
        grouping: Grouping::Node,
        ..AnalysisOptions::default()
    };
    let trace = (ranks(&[0, 0, 1, 2]), trace);
    let (_, broken, posts) = replayed(&trace, &[0, 0, 1, 2], 3, &options);
    let expected = Broken::NeedsWhole(NeedsWhole::Contradiction);
    assert_eq!((broken, posts), (Some(expected), 0));
}

/// Is told to stop when it has asked so often.
struct StopsAfter(AtomicI64);

impl Monitor for StopsAfter {
    fn cancelled(&self) -> bool {
        self.0.fetch_sub(1, Ordering::Relaxed) <= 0
    }
}

/// Nobody waits for one that was told to stop, whatever it was doing.
#[test]
fn one_that_is_told_to_stop_stops_all() {
    // Who hosts operations looks at so many calls before it asks.
    let (info, logs) = meetings(9_000, &[]);
    let (options, method) = (AnalysisOptions::default(), Method::default());
    let run = |stopped: u32, asks: i64| {
        let monitor = StopsAfter(AtomicI64::new(asks));
        let parts = in_processes_watched((&info, &logs), &THREE, 3, &options, &method, |rank| {
            if rank == stopped { &monitor } else { &() }
        });
        (parts, asks - monitor.0.into_inner())
    };
    for rank in 0..3 {
        let (parts, asks) = run(rank, i64::MAX);
        assert!(parts.iter().all(|it| it.stragglers.is_some() && it.adopted));
        let stops = Effort::asked().pick(2, 4, 8);
        let last = asks - stops..asks;
        let spread = (0..asks).step_by((asks / stops + 1) as usize);
        for stop in spread.chain(last) {
            let (parts, _) = run(rank, stop);
            let broken: Vec<_> = parts.iter().map(|it| it.distribution.broken()).collect();
            // Threads may ask a few times less than before.
            let ended = broken == [None; 3] && stop + 10 > asks;
            assert!(
                ended || broken == [Some(Broken::Cancelled); 3],
                "{stop} of {asks}: {broken:?}"
            );
            assert!(parts.iter().all(|it| it.stragglers.is_some() == ended));
        }
    }
}
