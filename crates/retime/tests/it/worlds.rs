//! Small worlds, all of them: every program of a few locations and events, each event a
//! send to or a receive from another location, against all matchings that MPI allows.
//!
//! Where a channel has as many sends as receives, there is one matching. Where one side
//! has more, records of the other are missing, and any matching that keeps the order may
//! be the true one. A dependency is certain if it holds in all of them, through the order
//! of the events of its locations; of these the library has to find all, and no other.
//!
//! ```text
//! a:  s0 s1        matchings  s0-r0, s1-r0      certain  s0 -> r0
//! b:  r0                                        (s1 -> r0 may be false)
//! ```

use rayon::prelude::*;
use retime::LocationIndex;
use retime::causality::{Causality, CausalityOptions, Message};

use crate::common::edges;
use crate::common::hand::{WORLD, ranks};
use crate::common::trace::{Call, Event, log_of};

/// What one location does, in order: whether it sends, and with whom.
type Program = Vec<(bool, usize)>;

/// All programs of at most so many events of one of these locations.
fn programs(own: usize, locations: usize, most: usize) -> Vec<Program> {
    let others = || (0..locations).filter(move |&it| it != own);
    let mut all = vec![Program::new()];
    let mut longest = all.clone();
    for _ in 0..most {
        let longer = longest.iter().flat_map(|program| {
            others().flat_map(move |peer| {
                [true, false].map(|sends| [&program[..], &[(sends, peer)]].concat())
            })
        });
        longest = longer.collect();
        all.extend(longest.iter().cloned());
    }
    all
}

/// Positions of the sends to, or of the receives from, a location.
fn positions(program: &Program, what: (bool, usize)) -> Vec<usize> {
    let all = program.iter().enumerate();
    all.filter(|(_, it)| **it == what)
        .map(|(at, _)| at)
        .collect()
}

/// All ways to choose `count` of `of` in order.
fn choices(of: usize, count: usize) -> Vec<Vec<usize>> {
    match (of, count) {
        (_, 0) => vec![Vec::new()],
        (0, _) => Vec::new(),
        _ => {
            let mut all = choices(of - 1, count);
            all.extend(choices(of - 1, count - 1).into_iter().map(|mut it| {
                it.push(of - 1);
                it
            }));
            all
        }
    }
}

/// By position of a send and of a receive, whether the one precedes the other in all
/// matchings.
fn certain(sends: &[usize], receives: &[usize]) -> Vec<(usize, usize)> {
    let matched = sends.len().min(receives.len());
    if matched == 0 {
        return Vec::new();
    }
    let mut matchings = Vec::new();
    for chosen in choices(sends.len(), matched) {
        for taken in choices(receives.len(), matched) {
            let pairs = chosen.iter().zip(taken);
            matchings.push(pairs.map(|(&s, r)| (sends[s], receives[r])).collect());
        }
    }
    let holds = |of: &Vec<(usize, usize)>, (send, receive)| {
        of.iter().any(|&(from, to)| send <= from && to <= receive)
    };
    let all = sends
        .iter()
        .flat_map(|&s| receives.iter().map(move |&r| (s, r)));
    all.filter(|&pair| matchings.iter().all(|it| holds(it, pair)))
        .collect()
}

/// Compares what is found in a world with what is certain.
fn judge(world: &[&Program]) {
    let message = |peer: usize| Message {
        communicator: WORLD,
        peer: LocationIndex(peer as u32),
        tag: 0,
    };
    let logs = world.iter().zip(0..).map(|(program, location)| {
        let events = program.iter().zip(1..).map(|(&(sends, peer), time)| Event {
            truth: 0,
            raw: 10 * time,
            call: if sends {
                Call::Send(message(peer), None)
            } else {
                Call::Receive(message(peer))
            },
        });
        log_of(LocationIndex(location), &events.collect::<Vec<_>>())
    });
    let processes: Vec<usize> = (0..world.len()).collect();
    let info = ranks(&processes);
    let causality = Causality::build(&info, logs.collect(), CausalityOptions::default()).unwrap();
    // All events have a role, so nodes are numbered as they stand.
    let place = |node: usize| {
        let mut first = 0;
        for (location, program) in world.iter().enumerate() {
            if node < first + program.len() {
                return (location, node - first);
            }
            first += program.len();
        }
        unreachable!("node {node}")
    };
    let found: Vec<_> = edges::messages(&causality)
        .into_iter()
        .map(|(send, receive)| (place(send.index()), place(receive.index())))
        .collect();
    for from in 0..world.len() {
        for to in 0..world.len() {
            let sends = positions(world[from], (true, to));
            let receives = positions(world[to], (false, from));
            let certain = certain(&sends, &receives);
            let claimed = found.iter().filter(|(a, b)| a.0 == from && b.0 == to);
            let claimed: Vec<(usize, usize)> = claimed.map(|(a, b)| (a.1, b.1)).collect();
            for pair in &claimed {
                assert!(
                    certain.contains(pair),
                    "{world:?}: {from} -> {to} {pair:?} is not certain"
                );
            }
            for &(send, receive) in &certain {
                let follows = claimed.iter().any(|&(a, b)| send <= a && b <= receive);
                assert!(
                    follows,
                    "{world:?}: {from} -> {to} {send} {receive} is not found"
                );
            }
        }
    }
}

/// Judges all worlds of so many locations with at most so many events each; their number.
fn judge_all(locations: usize, most: usize) -> usize {
    let each: Vec<Vec<Program>> = (0..locations)
        .map(|it| programs(it, locations, most))
        .collect();
    let total = each.iter().map(Vec::len).product();
    (0..total).into_par_iter().for_each(|number| {
        let mut rest: usize = number;
        let world: Vec<&Program> = each
            .iter()
            .map(|programs| {
                let program = &programs[rest % programs.len()];
                rest /= programs.len();
                program
            })
            .collect();
        judge(&world);
    });
    total
}

#[test]
fn what_is_certain_is_found_and_nothing_else() {
    assert_eq!(judge_all(2, 4), 31 * 31);
    assert_eq!(judge_all(3, 2), 21 * 21 * 21);
    // `make test-long` takes the large ones.
    if std::env::var_os("RETIME_WORLDS").is_some_and(|it| it == "all") {
        assert_eq!(judge_all(2, 7), 255 * 255);
        assert_eq!(judge_all(3, 4), 341 * 341 * 341);
    }
}
