//! Clocks that dependencies leave wide open, and what ends of operations tell of them.

use retime::causality::{LocationLog, Operation, Root};
use retime::pipeline::{Analysis, AnalysisOptions, Method};
use retime::{EndsEvidence, LocationIndex, Timestamp, TraceInfo};

use crate::common::hand::{end, logs, ranks, receive, send};
use crate::common::trace::Call;
use crate::shared::same_with_three;

/// The ticks that clocks of ranks show too much.
const ERRORS: [i64; 6] = [0, 30_000, 250_000, -180_000, 90_000, -300_000];
/// The time when all is over.
const END: i64 = 30_000_000;

/// Two of six ranks exchange messages for 2 ms, and the others wait for them in a barrier: six
/// times. The ends of a barrier lie within 300 ticks.
fn ping_pong_beside_a_barrier() -> (TraceInfo, Vec<LocationLog>) {
    let shown = |rank: usize, time: i64| (1_000_000 + time + ERRORS[rank]) as u64;
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
    (ranks(&[0, 1, 2, 3, 4, 5]), logs(&events))
}

/// How far corrected clocks are from the first, at most, and what ends tell of them.
fn solved(info: &TraceInfo, logs: &[LocationLog]) -> (i64, Option<EndsEvidence>) {
    let options = AnalysisOptions::default();
    let analysis = Analysis::new(info.clone(), logs.to_vec(), options, &()).unwrap();
    let solution = analysis.solve(&Method::default(), &()).unwrap();
    let off = |rank: usize| {
        let stamp = 1_000_000 + END / 2 + ERRORS[rank];
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
    let (info, logs) = ping_pong_beside_a_barrier();
    let (worst, ends) = solved(&info, &logs);
    // As recorded 550,000, and dependencies leave 2,000,000 open.
    assert!(worst < 1_500, "{worst}");
    let ends = ends.unwrap();
    assert_eq!(ends.operations, 6);
    assert!(ends.decided >= 3, "{ends:?}");
    assert!(ends.likely.iter().all(Option::is_none) && ends.steps.is_empty());
    same_with_three(&info, &logs, &Method::default()).unwrap();
}
