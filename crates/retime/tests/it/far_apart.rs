//! Clocks that count from 1970 and from the start of a system.

use retime::causality::LocationLog;
use retime::estimate::{BadEstimate, Estimate, Offset};
use retime::pipeline::{Analysis, AnalysisOptions, Method};
use retime::{ClockId, Correction, Edges, LocationIndex, Timestamp, TraceInfo};

use crate::common::hand::{logs, ranks_on, receive, send};
use crate::common::trace::Call;

/// The stamp of each clock when the run begins; doubles of the second are multiples of 256.
const BEGINS: [i64; 2] = [1_000_000, 1_790_857_026_123_456_789];
/// The run lasts so long.
const END: i64 = 20_000_000;

/// The stamp of a clock at a time: the second is 20 ppm faster in the second half.
fn shown(rank: usize, time: i64) -> i64 {
    let late = (time - END / 2).max(0);
    BEGINS[rank] + time + rank as i64 * late / 50_000
}

/// Two ranks that send each other messages of 1 us and more.
fn exchange() -> (TraceInfo, Vec<LocationLog>) {
    let mut events: Vec<Vec<(u64, Call)>> = vec![Vec::new(); 2];
    for turn in 0..400 {
        let at = END / 400 * turn;
        let (from, to) = if turn % 2 == 0 { (0, 1) } else { (1, 0) };
        let received = at + 1_000 + (7_919 * turn) % 300;
        events[from].push((shown(from, at) as u64, send(to as u32)));
        events[to].push((shown(to, received) as u64, receive(from as u32)));
    }
    (ranks_on(&[(0, 0), (1, 1)]), logs(&events))
}

/// The corrected time of the stamp of a rank at a time.
fn corrected(correction: &Correction, rank: usize, time: i64) -> i64 {
    let location = LocationIndex(rank as u32);
    let mut cursor = correction.map_of(location).cursor(location);
    let stamp = Timestamp(shown(rank, time) as u64);
    cursor.map_time(stamp).unwrap().0 as i64
}

#[test]
fn clocks_that_count_from_elsewhere_are_aligned() {
    let (info, logs) = exchange();
    let analysis = Analysis::new(info, logs, AnalysisOptions::default(), &()).unwrap();
    let solution = analysis.solve(&Method::default(), &()).unwrap();
    assert!(solution.unaligned.is_none(), "{:?}", solution.unaligned);
    assert!(solution.is_sound());
    for time in (0..=END).step_by(END as usize / 50) {
        let [first, second] = [0, 1].map(|rank| corrected(&solution.correction, rank, time));
        assert!((second - first).abs() < 1_000, "{first} {second} at {time}");
    }
}

#[test]
fn offsets_rounded_to_doubles_do_not_run_backwards() {
    let (info, logs) = exchange();
    let analysis = Analysis::new(info, logs, AnalysisOptions::default(), &()).unwrap();
    let extent = |rank| {
        let base = BEGINS[0];
        Some((shown(rank, 0) - base, shown(rank, END) - base))
    };
    let edges = Edges::new(vec![], vec![extent(0), extent(1)]);
    let begin = shown(1, 0) - BEGINS[0];
    // Falls by this share of its time, from knot to knot every 100 ticks.
    let correction = |share: f64| {
        let knot = |it: i64| {
            (
                begin + 100 * it,
                -(begin as f64) - share * 100.0 * it as f64,
            )
        };
        let estimate = Estimate {
            offsets: vec![
                Some(Offset::constant(0.0)),
                Some(Offset::through((0..50).map(knot).collect())),
            ],
            reference: ClockId(0),
        };
        estimate.correction(analysis.causality(), analysis.clocks(), &edges)
    };
    let half = correction(0.5).unwrap();
    let [begin, later] = [0, 4_900].map(|time| corrected(&half, 1, time));
    assert!((later - begin - 2_450).abs() <= 512, "{begin} {later}");
    let backwards = correction(20.0);
    assert!(matches!(
        backwards,
        Err(BadEstimate::RunsBackwards(ClockId(1), _))
    ));
}
