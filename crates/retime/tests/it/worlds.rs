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

use std::collections::HashMap;

use rayon::prelude::*;
use retime::LocationIndex;
use retime::causality::{Causality, CausalityOptions, Message};
use retime_testing::Effort;

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

/// Which worlds are judged.
#[derive(Clone, Copy, PartialEq)]
enum Judged {
    All,
    /// One of those that differ in the numbers of their locations only: nothing is found by
    /// which location comes first, as smaller worlds show.
    OneOfAlike,
}

/// Judges worlds of so many locations with at most so many events each; how many there are,
/// and how many of them were judged.
fn judge_all(locations: usize, most: usize, judged: Judged) -> (usize, usize) {
    let each: Vec<Vec<Program>> = (0..locations)
        .map(|it| programs(it, locations, most))
        .collect();
    let orders = match judged {
        Judged::All => Vec::new(),
        Judged::OneOfAlike => permutations(locations),
    };
    let renamings = orders.into_iter().map(|to| Renaming::new(to, &each));
    let renamings: Vec<Renaming> = renamings.collect();
    let total = each.iter().map(Vec::len).product();
    let judge_one = |number: usize| {
        let mut rest = number;
        let programs = each.iter().map(|programs| {
            let program = rest % programs.len();
            rest /= programs.len();
            program
        });
        let world: Vec<usize> = programs.collect();
        if renamings.iter().any(|it| it.of(&world) < world) {
            return 0;
        }
        let programs = world.iter().zip(&each).map(|(&it, programs)| &programs[it]);
        judge(&programs.collect::<Vec<_>>());
        1
    };
    let judged = (0..total).into_par_iter().map(judge_one).sum();
    (total, judged)
}

/// All orders of so many locations.
fn permutations(locations: usize) -> Vec<Vec<usize>> {
    (0..locations).fold(vec![Vec::new()], |shorter, next| {
        let longer = shorter.iter().flat_map(|order| {
            (0..=next).map(move |place| {
                let mut order = order.clone();
                order.insert(place, next);
                order
            })
        });
        longer.collect()
    })
}

/// Other numbers for the locations of a world.
struct Renaming {
    /// By location, its new number.
    to: Vec<usize>,
    /// By location and program, the number of that program with the new numbers.
    programs: Vec<Vec<usize>>,
}

impl Renaming {
    fn new(to: Vec<usize>, each: &[Vec<Program>]) -> Self {
        let renamed = |(location, programs): (usize, &Vec<Program>)| {
            let known: HashMap<&Program, usize> = each[to[location]].iter().zip(0..).collect();
            let renamed = |program: &Program| {
                let renamed: Program = program.iter().map(|it| (it.0, to[it.1])).collect();
                known[&renamed]
            };
            programs.iter().map(renamed).collect()
        };
        let programs = each.iter().enumerate().map(renamed).collect();
        Self { to, programs }
    }

    fn of(&self, world: &[usize]) -> Vec<usize> {
        let mut renamed = vec![0; world.len()];
        for (location, &program) in world.iter().enumerate() {
            renamed[self.to[location]] = self.programs[location][program];
        }
        renamed
    }
}

#[test]
fn what_is_certain_is_found_and_nothing_else() {
    assert_eq!(judge_all(2, 4, Judged::All), (961, 961));
    assert_eq!(judge_all(3, 2, Judged::All), (9_261, 9_261));
    // `make test-long` takes the large ones.
    if Effort::asked() == Effort::All {
        assert_eq!(judge_all(2, 7, Judged::All), (65_025, 65_025));
        assert_eq!(judge_all(3, 3, Judged::All), (614_125, 614_125));
        // (341^3 + 3 * 341 + 2 * 341) / 6 kinds, as Burnside counts them.
        let (all, judged) = (39_651_821, 6_608_921);
        assert_eq!(judge_all(3, 4, Judged::OneOfAlike), (all, judged));
    }
}
