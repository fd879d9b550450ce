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
/// Before this round, while the clock stands still, both pause for so long.
const PAUSE: u64 = 320;
const PAUSE_LASTS: u64 = 40_000;

/// The stamps of calls at these times by the clock that is set back, each later than the one before by so many
/// ticks at least.
fn shown(calls: &[(u64, Call)], creep: u64) -> Vec<(u64, Call)> {
    let mut latest = 0;
    let stamp = |&(time, call): &(u64, Call)| {
        let back = if time > SET { BACK } else { 0 };
        latest = (time - back).max(latest + creep);
        (latest, call)
    };
    calls.iter().map(stamp).collect()
}

/// The true times of the calls of each rank.
fn calls() -> [Vec<(u64, Call)>; 2] {
    let mut calls = [Vec::new(), Vec::new()];
    for round in 0..ROUNDS {
        let begin = 1_000 * round + if round < PAUSE { 0 } else { PAUSE_LASTS };
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
    lies_where_messages_allow_it(0);
}

/// Recorders that must not give two events one stamp make them rise by some ticks.
#[test]
fn what_a_clock_stamped_while_it_crept_lies_where_messages_allow_it() {
    for creep in [1, 20] {
        lies_where_messages_allow_it(creep);
    }
}

fn lies_where_messages_allow_it(creep: u64) {
    let truth = calls();
    let events = [truth[0].clone(), shown(&truth[1], creep)];
    let info = ranks(&[0, 1]);
    let analysis = Analysis::new(info, logs(&events), AnalysisOptions::default(), &()).unwrap();
    let solution = analysis.solve(&Method::default(), &()).unwrap();
    let aligned = solution.aligned.as_ref().unwrap();
    assert_eq!((aligned.steps.len(), aligned.rate_changes.len()), (1, 0));
    let shift = i128::from(solution.times[0].0) - i128::from(truth[0][0].0);
    let times = truth.iter().flatten().zip(&solution.times);
    let errors = times.map(|(call, time)| i128::from(time.0) - i128::from(call.0) - shift);
    let furthest = errors.map(i128::abs).max().unwrap();
    // Half of the step without regard to messages.
    assert!(furthest < 1_000, "{creep}: {furthest}");
    let clocks = solution.correction.clocks();
    let delay = &solution.enforced.as_ref().unwrap().delay;
    let checked = check(analysis.causality(), clocks, delay, &solution.times, &()).unwrap();
    assert_eq!((checked.violated(), checked.short()), (0, 0));
}
