//! A clock that is set back while it communicates, and stands still until it has caught up.

use crate::common::hand::{logs, ranks, receive, send};
use crate::common::trace::Call;
use retime::causality::check;
use retime::pipeline::{Analysis, AnalysisOptions, Method};

/// Two ranks that send each other a message every 1000 ticks, which takes 300.
const ROUNDS: u64 = 600;
/// When the clock of the second one is set back, and by how much.
const SET: u64 = 300_500;
const BACK: u64 = 100_000;

fn shown(rank: usize, time: u64) -> u64 {
    if rank == 1 && time > SET {
        (time - BACK).max(SET)
    } else {
        time
    }
}

/// The true times of the calls of each rank.
fn calls() -> [Vec<(u64, Call)>; 2] {
    let mut calls = [Vec::new(), Vec::new()];
    for round in 0..ROUNDS {
        let begin = 1_000 * round;
        let jitter = round * 7 % 10;
        calls[0].push((begin, send(1)));
        calls[1].push((begin + 300 + jitter, receive(0)));
        calls[1].push((begin + 500, send(0)));
        calls[0].push((begin + 800 + jitter, receive(1)));
    }
    calls
}

#[test]
fn what_a_clock_stamped_while_it_stood_still_lies_where_messages_allow_it() {
    let truth = calls();
    let stamped = |(rank, calls): (usize, &Vec<(u64, Call)>)| {
        let of = |&(time, call): &(u64, Call)| (shown(rank, time), call);
        calls.iter().map(of).collect::<Vec<_>>()
    };
    let events: Vec<_> = truth.iter().enumerate().map(stamped).collect();
    let info = ranks(&[0, 1]);
    let analysis = Analysis::new(info, logs(&events), AnalysisOptions::default(), &()).unwrap();
    let solution = analysis.solve(&Method::default(), &()).unwrap();
    assert_eq!(solution.aligned.as_ref().unwrap().steps.len(), 1);
    let shift = i128::from(solution.times[0].0) - i128::from(truth[0][0].0);
    let times = truth.iter().flatten().zip(&solution.times);
    let errors = times.map(|(call, time)| i128::from(time.0) - i128::from(call.0) - shift);
    let furthest = errors.map(i128::abs).max().unwrap();
    // Half of the step without regard to messages.
    assert!(furthest < 1_000, "{furthest}");
    let clocks = solution.correction.clocks();
    let delay = &solution.enforced.as_ref().unwrap().delay;
    let checked = check(analysis.causality(), clocks, delay, &solution.times, &()).unwrap();
    assert_eq!((checked.violated(), checked.short()), (0, 0));
}
