//! Clocks that dependencies leave wide open, and what ends of operations tell of them.

use std::collections::BTreeMap;

use retime::causality::{LocationLog, Operation, Root};
use retime::edges::{Dependencies, Source};
use retime::pipeline::{Analysis, AnalysisOptions, Method};
use retime::{Edge, EndsEvidence, LocationIndex, Timestamp, TraceInfo};

use crate::common::hand::{end, logs, ranks_on, receive, send};
use crate::common::trace::Call;
use crate::shared::same_with_three;

/// The ticks that the clocks of nodes show too much.
const ERRORS: [i64; 6] = [0, 30_000, 250_000, -180_000, 90_000, -300_000];
/// Six ranks, each on a node of its own,
const APART: [usize; 6] = [0, 1, 2, 3, 4, 5];
/// and two by two.
const TWO_BY_TWO: [usize; 6] = [0, 1, 0, 1, 2, 2];
/// The time when all is over.
const END: i64 = 30_000_000;

/// Two of six ranks on these nodes exchange messages for 2 ms, and the others wait for them in a
/// barrier: six times. The ends of a barrier lie within 300 ticks.
fn ping_pong_beside_a_barrier(nodes: [usize; 6]) -> (TraceInfo, Vec<LocationLog>) {
    let shown = |rank: usize, time: i64| (1_000_000 + time + ERRORS[nodes[rank]]) as u64;
    let mut events: Vec<Vec<(u64, Call)>> = vec![Vec::new(); 6];
    for phase in 0..6 {
        let begin = 4_000_000 * phase;
        let jitter = |salt: i64| (7_919 * (phase + 3) * (salt + 2)) % 300;
        for turn in 0..40 {
            let at = begin + 50_000 * turn;
            let (from, to) = if turn % 2 == 0 { (0, 1) } else { (1, 0) };
            let received = at + 900 + jitter(turn);
            events[from].push((shown(from, at), send(to as u32)));
            events[to].push((shown(to, received), receive(from as u32)));
        }
        for (rank, events) in events.iter_mut().enumerate() {
            let salt = rank as i64;
            let waits_from = if rank < 2 { 2_000_000 } else { 1_000 };
            events.push((shown(rank, begin + waits_from + jitter(salt)), Call::Begin));
            let ended = begin + 2_001_500 + jitter(salt + 7);
            events.push((shown(rank, ended), end(Operation::Barrier, Root::None)));
        }
    }
    let places: Vec<(usize, usize)> = nodes.into_iter().enumerate().collect();
    (ranks_on(&places), logs(&events))
}

/// How far corrected clocks of ranks on these nodes are from the first, at most, and what ends
/// tell of them.
fn solved(
    (info, logs): &(TraceInfo, Vec<LocationLog>),
    nodes: [usize; 6],
) -> (i64, Option<EndsEvidence>) {
    let options = AnalysisOptions::default();
    let analysis = Analysis::new(info.clone(), logs.clone(), options, &()).unwrap();
    let solution = analysis.solve(&Method::default(), &()).unwrap();
    let off = |rank: usize| {
        let stamp = 1_000_000 + END / 2 + ERRORS[nodes[rank]];
        let location = LocationIndex(rank as u32);
        let mut cursor = solution.correction.map_of(location).cursor(location);
        cursor.map_time(Timestamp(stamp as u64)).unwrap().0 as i64
    };
    let worst = (1..6).map(|rank| (off(rank) - off(0)).abs()).max();
    let ends = solution.aligned.and_then(|it| it.ends);
    (worst.unwrap(), ends)
}

#[test]
fn ends_of_barriers_tell_clocks_of_ranks_that_wait_in_them() {
    let trace = ping_pong_beside_a_barrier(APART);
    let (worst, ends) = solved(&trace, APART);
    // As recorded 550,000, and dependencies leave 2,000,000 open.
    assert!(worst < 1_500, "{worst}");
    let ends = ends.unwrap();
    assert_eq!(ends.operations, 6);
    assert!(ends.decided >= 3, "{ends:?}");
    assert!(ends.likely.iter().all(Option::is_none) && ends.steps.is_empty());
    same_with_three(&trace.0, &trace.1, &Method::default()).unwrap();
}

/// Ends of a scan wait for those before them alone: on each of two nodes the later cause has the later
/// effect, and neither implies the other.
#[test]
fn of_a_scan_over_shared_clocks_nothing_is_left_out() {
    let begins = [100, 100, 500, 100];
    let ends = [150, 200, 550, 600];
    let events: Vec<Vec<(u64, Call)>> = begins
        .into_iter()
        .zip(ends)
        .map(|(begin, ended)| {
            vec![
                (begin, Call::Begin),
                (ended, end(Operation::Scan, Root::None)),
            ]
        })
        .collect();
    let info = ranks_on(&[(0, 0), (1, 1), (2, 0), (3, 1)]);
    let options = AnalysisOptions::default();
    let analysis = Analysis::new(info, logs(&events), options, &()).unwrap();
    let mut found = dependencies(&analysis);
    found.retain(|it| it.from.0 == 0);
    let latencies: Vec<i64> = found.iter().map(Edge::latency).collect();
    assert_eq!(latencies, [100, 100], "{found:?}");
}

/// All dependencies between clocks, as recorded.
fn dependencies(analysis: &Analysis) -> Vec<Edge> {
    let (causality, clocks) = (analysis.causality(), analysis.clocks());
    let time = |node| causality.nodes().time(node).0;
    let all = Dependencies::new(causality, clocks, time);
    let mut found = Vec::new();
    for part in 0..all.parts() {
        all.walk(part, &mut |edge| found.push(edge));
    }
    found
}

/// However many ranks of a node take part, a barrier relates two nodes once.
#[test]
fn a_barrier_counts_once_for_two_nodes() {
    let trace = ping_pong_beside_a_barrier(TWO_BY_TWO);
    let (worst, ends) = solved(&trace, TWO_BY_TWO);
    assert!(worst < 1_500, "{worst}");
    assert_eq!(ends.map(|it| it.operations), Some(6));

    let analysis = Analysis::new(trace.0, trace.1, AnalysisOptions::default(), &()).unwrap();
    let mut counts = BTreeMap::new();
    for edge in dependencies(&analysis) {
        *counts.entry((edge.from.0, edge.to.0)).or_insert(0) += 1;
    }
    // Between the first two there are 240 messages, besides.
    counts.retain(|&(from, to), _| from == 2 || to == 2);
    assert_eq!(analysis.clocks().len(), 3);
    assert!(
        counts.values().all(|it| *it <= 6) && counts.values().any(|it| *it == 6),
        "{counts:?}"
    );
}
