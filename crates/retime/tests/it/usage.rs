//! How much of what was recorded leads to dependencies, of collectives.

use retime::causality::{Operation, Root, Used};
use retime::{Communicator, Members, TraceInfo};

use crate::common::hand::{barrier, call, causality, end, ranks, receive, send};
use crate::common::trace::Call;

const ALONE: u32 = 1;

/// Ranks of processes of their own, and a communicator of one with himself.
fn info(count: usize) -> TraceInfo {
    let mut info = ranks(&(0..count).collect::<Vec<_>>());
    info.communicators.push(Communicator {
        name: "self".into(),
        members: Members::Own,
    });
    info
}

/// What one location recorded: these calls, one after the other.
fn calls(ends: &[Call]) -> Vec<(u64, Call)> {
    let mut time = 0;
    let both = ends.iter().flat_map(|&end| {
        time += 10;
        [(time, Call::Begin), (time + 5, end)]
    });
    both.collect()
}

fn used(locations: &[Vec<(u64, Call)>]) -> Used {
    causality(&info(locations.len()), locations).usage().calls
}

#[test]
fn calls_of_joined_operations_are_used() {
    let gather = end(Operation::Gather, Root::Rank(0));
    let own = || calls(&[barrier(), gather]);
    let expected = Used {
        recorded: 6,
        used: 6,
    };
    assert_eq!(used(&[own(), own(), own()]), expected);
}

#[test]
fn calls_that_nobody_else_could_join_do_not_count() {
    let mut alone = call(Operation::Barrier, Root::None);
    alone.communicator = ALONE;
    let own = || calls(&[Call::End(alone), barrier()]);
    let expected = Used {
        recorded: 2,
        used: 2,
    };
    assert_eq!(used(&[own(), own()]), expected);
}

#[test]
fn operations_that_prove_nothing_are_not_used() {
    let own = || calls(&[end(Operation::Alltoallv, Root::None), barrier()]);
    let expected = Used {
        recorded: 4,
        used: 2,
    };
    assert_eq!(used(&[own(), own()]), expected);
}

#[test]
fn calls_that_others_lack_are_used_where_that_is_certain() {
    // One of three barriers is missing, nobody knows which: all may matter.
    let incomplete = used(&[
        calls(&[barrier(), barrier(), barrier()]),
        calls(&[barrier(), barrier()]),
    ]);
    let expected = Used {
        recorded: 5,
        used: 5,
    };
    assert_eq!(incomplete, expected);
    // Of broadcasts nothing is certain then.
    let bcast = end(Operation::Bcast, Root::Rank(0));
    let incomplete = used(&[calls(&[bcast, bcast]), calls(&[bcast])]);
    let expected = Used {
        recorded: 3,
        used: 0,
    };
    assert_eq!(incomplete, expected);
}

#[test]
fn ends_of_messages_are_used_in_pairs() {
    let info = info(2);
    let it = causality(
        &info,
        &[
            vec![(10, send(1)), (20, send(1)), (30, send(1))],
            vec![(15, receive(0))],
        ],
    );
    let expected = Used {
        recorded: 4,
        used: 2,
    };
    assert_eq!(it.usage().message_ends, expected);
}
