//! What is made of recordings that lack or contradict something: the certain
//! dependencies stay, the rest is counted with its place.

use crate::common::hand::{
    barrier, call, causality, causality_with, end, found, message, ranks, receive, send, with_sides,
};
use crate::common::rng::Rng;
use crate::common::{Call, cases, edges};
use proptest::prelude::*;
use retime::LocationIndex;
use retime::causality::{
    Causality, CausalityOptions, Collective, Defect, LogBuilder, Message, Operation, Root,
};

fn tagged(peer: u32, tag: u32) -> Message {
    Message {
        tag,
        ..message(peer)
    }
}

pub(crate) const NO_OPTIONS: CausalityOptions = CausalityOptions {
    dense_alltoallv: false,
    trusted: None,
    keep_all_places: false,
    keep_lengths: false,
};

#[test]
fn a_lost_receive_leaves_the_last_send_alone() {
    // Of three sends the receive of the second is not recorded.
    let sender = vec![(10, send(1)), (20, send(1)), (30, send(1))];
    let receiver = vec![(15, receive(0)), (35, receive(0))];
    let it = causality(&ranks(&[0, 1]), &[sender, receiver]);
    // Receive 35 truly got send 30, which comes after the claimed send 20.
    assert_eq!(edges::numbers(&edges::messages(&it)), [(0, 3), (1, 4)]);
    let widow = (Defect::SendWithoutReceive, 1, vec![(0, 2)]);
    assert_eq!(found(it.defects()), [widow]);
}

#[test]
fn a_lost_send_leaves_the_first_receive_alone() {
    let sender = vec![(20, send(1)), (30, send(1))];
    let receiver = vec![(15, receive(0)), (25, receive(0)), (35, receive(0))];
    let it = causality(&ranks(&[0, 1]), &[sender, receiver]);
    assert_eq!(edges::numbers(&edges::messages(&it)), [(0, 3), (1, 4)]);
    let orphan = (Defect::ReceiveWithoutSend, 1, vec![(1, 0)]);
    assert_eq!(found(it.defects()), [orphan]);
}

#[test]
fn a_lost_record_does_not_disturb_other_channels() {
    let sender = vec![
        (10, Call::Send(tagged(1, 7), None)),
        (20, Call::Send(tagged(1, 8), None)),
        (30, Call::Send(tagged(1, 7), None)),
    ];
    let receiver = vec![
        (35, Call::Receive(tagged(0, 7))),
        (36, Call::Receive(tagged(0, 8))),
    ];
    let it = causality(&ranks(&[0, 1]), &[sender, receiver]);
    assert_eq!(edges::numbers(&edges::messages(&it)), [(0, 3), (1, 4)]);
    assert_eq!(it.defects().count(Defect::SendWithoutReceive), 1);
}

#[test]
fn only_the_first_places_are_kept_but_all_are_counted() {
    let sender = (0..9).map(|i| (i, send(1))).collect();
    let it = causality(&ranks(&[0, 1]), &[sender, vec![]]);
    let places = (0..5).map(|event| (0, event)).collect();
    assert_eq!(
        found(it.defects()),
        [(Defect::SendWithoutReceive, 9, places)]
    );
}

#[test]
fn cancelled_sends_and_receives_are_no_messages() {
    let sender = vec![
        (10, Call::Send(message(1), Some(5))),
        (11, Call::Cancel(5)),
        (12, Call::Send(message(1), Some(6))),
        (13, Call::SendDone(6)),
        (14, Call::Cancel(6)), // too late: it is complete
    ];
    let receiver = vec![
        (1, Call::Post(1)),
        (2, Call::Post(2)),
        (3, Call::Cancel(1)),
        (20, Call::Complete(message(0), 2)),
    ];
    let it = causality(&ranks(&[0, 1]), &[sender, receiver]);
    assert_eq!(edges::numbers(&edges::messages(&it)), [(1, 2)]);
    assert!(it.defects().is_empty(), "{:?}", it.defects());
}

#[test]
fn a_posted_receive_that_never_completes_takes_no_message() {
    let sender = vec![(10, send(1))];
    let receiver = vec![
        (1, Call::Post(1)),
        (2, Call::Post(2)),
        (20, Call::Complete(message(0), 2)),
    ];
    let it = causality(&ranks(&[0, 1]), &[sender, receiver]);
    assert_eq!(edges::numbers(&edges::messages(&it)), [(0, 1)]);
    let never = (Defect::ReceiveNeverCompleted, 1, vec![(1, 0)]);
    assert_eq!(found(it.defects()), [never]);
}

#[test]
fn a_receive_whose_posting_is_not_recorded_may_stand_anywhere_in_line() {
    let sender = vec![(10, send(1)), (11, send(1))];
    let receiver = vec![
        (1, Call::Post(1)),
        (20, Call::Complete(message(0), 99)),
        (21, Call::Complete(message(0), 1)),
    ];
    let it = causality(&ranks(&[0, 1]), &[sender, receiver]);
    // Certain is only that one message is needed for the first of both, and two for
    // the second.
    assert_eq!(edges::numbers(&edges::messages(&it)), [(0, 2), (1, 3)]);
    let unknown = (Defect::ReceiveNotPosted, 1, vec![(1, 1)]);
    assert_eq!(found(it.defects()), [unknown]);
}

#[test]
fn a_request_used_again_while_open_is_reported() {
    let sender = vec![(10, send(1))];
    let receiver = vec![
        (1, Call::Post(1)),
        (2, Call::Post(1)),
        (20, Call::Complete(message(0), 1)),
    ];
    let it = causality(&ranks(&[0, 1]), &[sender, receiver]);
    assert_eq!(edges::numbers(&edges::messages(&it)), [(0, 1)]);
    let reused = (Defect::RequestReused, 1, vec![(1, 1)]);
    assert_eq!(found(it.defects()), [reused]);
}

#[test]
fn a_request_used_again_after_completion_is_no_defect() {
    let sender = vec![(10, send(1)), (30, send(1))];
    let receiver = vec![
        (1, Call::Post(1)),
        (20, Call::Complete(message(0), 1)),
        (21, Call::Post(1)),
        (40, Call::Complete(message(0), 1)),
    ];
    let it = causality(&ranks(&[0, 1]), &[sender, receiver]);
    assert_eq!(edges::numbers(&edges::messages(&it)), [(0, 2), (1, 3)]);
    assert!(it.defects().is_empty());
}

#[test]
fn a_probed_message_has_its_number_no_longer_than_until_its_receive_is_posted() {
    let sender = vec![(10, send(1)), (11, send(1))];
    let (first, second) = (1, 2);
    let post = |request| Call::ProbedPost {
        message: 7,
        request,
    };
    let receiver = vec![
        (20, Call::Probe(message(0), 7)),
        (21, post(first)),
        (22, Call::Probe(message(0), 7)),
        (23, post(second)),
        (30, Call::ProbedComplete(second)),
        (31, Call::ProbedComplete(first)),
    ];
    let it = causality(&ranks(&[0, 1]), &[sender, receiver]);
    assert_eq!(edges::numbers(&edges::messages(&it)), [(0, 3), (1, 2)]);
    assert!(it.defects().is_empty());
}

#[test]
fn unknown_ranks_and_backward_stamps_are_counted_where_they_are() {
    let mut log = LogBuilder::new(LocationIndex(0));
    log.unresolved(3);
    log.stamped_backwards(4);
    let log = log
        .finish(5, retime::Timestamp(1), retime::Timestamp(2))
        .unwrap();
    let it = Causality::build(&ranks(&[0]), vec![log], NO_OPTIONS).unwrap();
    assert_eq!(
        found(it.defects()),
        [
            (Defect::UnknownPeer, 1, vec![(0, 3)]),
            (Defect::TimeRunsBackwards, 1, vec![(0, 4)]),
        ]
    );
}

#[test]
fn a_call_on_a_communicator_one_is_no_member_of_is_left_out() {
    // The inter-communicator joins 0 and 1; rank 2 claims to take part.
    let info = with_sides(ranks(&[0, 1, 2]), &[0], &[1]);
    let stranger = Call::End(Collective {
        communicator: 1,
        ..call(Operation::Barrier, Root::None)
    });
    let own = || vec![(10, Call::Begin), (20, stranger)];
    let it = causality(&info, &[own(), own(), own()]);
    assert_eq!(edges::numbers(&edges::collectives(&it)), [(0, 3), (2, 1)]);
    let unknown = (Defect::UnknownPeer, 1, vec![(2, 1)]);
    assert_eq!(found(it.defects()), [unknown]);
}

#[test]
fn a_call_on_a_communicator_that_is_not_defined_is_counted() {
    let undefined = Call::End(Collective {
        communicator: 9,
        ..call(Operation::Barrier, Root::None)
    });
    let own = || vec![(10, Call::Begin), (20, undefined)];
    let it = causality(&ranks(&[0, 1]), &[own(), own()]);
    assert_eq!(edges::collectives(&it), []);
    let unknown = (Defect::UnknownPeer, 2, vec![(0, 1), (1, 1)]);
    assert_eq!(found(it.defects()), [unknown]);
}

/// One rank's barriers, numbered by round, without some of them.
fn rounds(of: &[u64], missing: &[u64]) -> Vec<(u64, Call)> {
    let kept = of.iter().filter(|round| !missing.contains(round));
    let calls = kept.flat_map(|round| [(100 * round, Call::Begin), (100 * round + 50, barrier())]);
    calls.collect()
}

#[test]
fn a_lost_barrier_shifts_the_claims_to_what_is_certain() {
    // Rank 1 lacks one of three barriers, and it cannot be told which.
    let all = [1, 2, 3];
    let it = causality(&ranks(&[0, 1]), &[rounds(&all, &[]), rounds(&all, &[2])]);
    // Nodes 0..6 are rank 0's, 6..10 rank 1's. The i-th end of rank 1 comes
    // after the i-th begin of rank 0, its i-th begin before the (i+1)-th end.
    assert_eq!(
        edges::numbers(&edges::collectives(&it)),
        [(0, 7), (2, 9), (6, 3), (8, 5)]
    );
    let lost = (Defect::CollectiveIncomplete, 1, vec![(1, 3)]);
    assert_eq!(found(it.defects()), [lost]);
}

#[test]
fn a_lost_call_among_mixed_operations_leaves_that_member_out() {
    let bcast = || end(Operation::Bcast, Root::Rank(0));
    let full = || {
        vec![
            (10, Call::Begin),
            (20, bcast()),
            (30, Call::Begin),
            (40, barrier()),
        ]
    };
    let lossy = vec![(30, Call::Begin), (40, barrier())];
    let it = causality(&ranks(&[0, 1, 2]), &[full(), full(), lossy]);
    // Bcast: root's begin -> rank 1's end. Barrier: both ways among 0 and 1.
    assert_eq!(
        edges::numbers(&edges::collectives(&it)),
        [(0, 5), (2, 7), (6, 3)]
    );
    let lost = (Defect::CollectiveIncomplete, 1, vec![(2, 1)]);
    assert_eq!(found(it.defects()), [lost]);
}

#[test]
fn a_member_that_recorded_no_collective_at_all_is_reported() {
    let it = causality(
        &ranks(&[0, 1, 2]),
        &[rounds(&[1], &[]), rounds(&[1], &[]), vec![]],
    );
    assert_eq!(edges::numbers(&edges::collectives(&it)), [(0, 3), (2, 1)]);
    // At an end of rank 0: an event that rank 2 recorded would have nothing to do with it.
    let lost = (Defect::CollectiveIncomplete, 1, vec![(0, 1)]);
    assert_eq!(found(it.defects()), [lost]);
}

#[test]
fn an_operation_that_several_members_lack_is_counted_once() {
    let full = || rounds(&[1, 2, 3], &[]);
    let it = causality(
        &ranks(&[0, 1, 2, 3]),
        &[full(), vec![], full(), rounds(&[1, 2, 3], &[2])],
    );
    let lost = (
        Defect::CollectiveIncomplete,
        3,
        vec![(0, 1), (0, 3), (0, 5)],
    );
    assert_eq!(found(it.defects()), [lost]);
}

#[test]
fn participants_that_disagree_on_the_operation_prove_nothing() {
    let calls = |call: Call| vec![(10, Call::Begin), (20, call)];
    let it = causality(
        &ranks(&[0, 1]),
        &[
            calls(barrier()),
            calls(end(Operation::Allreduce, Root::None)),
        ],
    );
    assert_eq!(edges::collectives(&it), []);
    let mismatch = (Defect::CollectiveMismatch, 1, vec![(0, 1)]);
    assert_eq!(found(it.defects()), [mismatch]);
}

#[test]
fn participants_that_disagree_on_the_root_prove_nothing() {
    let calls = |root: Root| vec![(10, Call::Begin), (20, end(Operation::Reduce, root))];
    for (mine, yours) in [
        (Root::Rank(0), Root::Rank(1)),
        (Root::None, Root::None),
        (Root::Own, Root::Own),
    ] {
        let it = causality(&ranks(&[0, 1]), &[calls(mine), calls(yours)]);
        assert_eq!(edges::collectives(&it), []);
        assert_eq!(it.defects().count(Defect::CollectiveMismatch), 1);
    }
    // A root that only some recorded is enough.
    let it = causality(&ranks(&[0, 1]), &[calls(Root::Rank(1)), calls(Root::None)]);
    assert_eq!(edges::numbers(&edges::collectives(&it)), [(0, 3)]);
}

#[test]
fn a_collective_without_its_begin_or_end_keeps_the_other_half() {
    let without_begin = vec![(20, barrier())];
    let without_end = vec![(5, Call::Begin), (10, Call::Begin), (20, barrier())];
    let it = causality(&ranks(&[0, 1]), &[without_begin, without_end]);
    assert_eq!(edges::numbers(&edges::collectives(&it)), [(2, 0)]);
    assert_eq!(
        found(it.defects()),
        [
            (Defect::CollectiveWithoutBegin, 1, vec![(0, 0)]),
            (Defect::CollectiveWithoutEnd, 1, vec![(1, 0)]),
        ]
    );
    // A begin that is the last event.
    let it = causality(&ranks(&[0, 1]), &[vec![(5, Call::Begin)], vec![]]);
    let open = || (Defect::CollectiveWithoutEnd, 1, vec![(0, 0)]);
    assert_eq!(found(it.defects()), [open()]);
    let it = causality(
        &ranks(&[0, 1]),
        &[vec![(5, Call::PostCollective(1))], vec![]],
    );
    assert_eq!(found(it.defects()), [open()]);
}

#[test]
fn totals_of_alltoallv_prove_nothing_unless_said_to_be_dense() {
    let own = || {
        vec![
            (10, Call::Begin),
            (20, end(Operation::Alltoallv, Root::None)),
        ]
    };
    let info = ranks(&[0, 1]);
    let it = causality(&info, &[own(), own()]);
    assert_eq!(edges::collectives(&it), []);
    let dense = CausalityOptions {
        dense_alltoallv: true,
        ..NO_OPTIONS
    };
    let it = causality_with(&info, &[own(), own()], dense);
    assert_eq!(edges::numbers(&edges::collectives(&it)), [(0, 3), (2, 1)]);
}

#[test]
fn stamps_too_far_apart_are_refused() {
    const FAR: u64 = 5 + (1 << 61) + 1;
    let info = ranks(&[0, 1, 2]);
    let log = |at: u32, (first, sent, last): (u64, u64, u64)| {
        let mut log = LogBuilder::new(LocationIndex(at));
        let message = retime::causality::Message {
            communicator: 0,
            peer: LocationIndex(0),
            tag: 0,
        };
        log.send(3, retime::Timestamp(sent), message, None);
        log.finish(5, retime::Timestamp(first), retime::Timestamp(last))
            .unwrap()
    };
    for (defective, apart) in [
        ((FAR, FAR, FAR), "from its first event on"),
        ((5, FAR, FAR), "from event 3 on at the latest"),
        ((5, 6, FAR), "at its end"),
    ] {
        let logs = vec![log(0, (5, 6, 7)), log(1, defective), log(2, (5, 6, 8))];
        let error = Causality::build(&info, logs, NO_OPTIONS).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "time stamps reach from 5 to 2305843009213693958 ticks, further apart than \
                 2^61; {} lies apart {apart}: its clock or a clock offset is defective",
                info.describe(LocationIndex(1)),
            )
        );
    }
    let most = log(1, (FAR, FAR, FAR));
    let logs = vec![log(0, (5, 6, 7)), most, log(2, (FAR, FAR, FAR))];
    let error = Causality::build(&info, logs, NO_OPTIONS).unwrap_err();
    let apart = format!(
        "{} lies apart from its first",
        info.describe(LocationIndex(0))
    );
    assert!(error.to_string().contains(&apart), "{error}");
    let info = ranks(&[0, 1, 2, 3, 4, 5, 6]);
    for (first, others) in [
        (5, ", and so does 1 other location: its clock"),
        (4, ", and so do 2 other locations: its clock"),
    ] {
        let stamps = |it| {
            if it < first {
                (5, 6, 7)
            } else {
                (FAR, FAR, FAR)
            }
        };
        let logs = (0..7).map(|it| log(it, stamps(it))).collect();
        let error = Causality::build(&info, logs, NO_OPTIONS).unwrap_err();
        assert!(error.to_string().contains(others), "{error}");
    }
}

#[test]
fn more_events_than_numbers_are_refused() {
    let log = LogBuilder::new(LocationIndex(0));
    let error = log.finish(1 << 32, retime::Timestamp(5), retime::Timestamp(6));
    assert_eq!(
        error.unwrap_err().to_string(),
        "a location has event 4294967296; at most 4294967295 per location are supported"
    );
}

proptest! {
    #![proptest_config(cases(300))]

    /// Barriers, of which all members but the first lost some: a claimed cause
    /// never belongs to a later round than its effect.
    #[test]
    fn with_barriers_lost_only_certain_dependencies_are_claimed(
        members in 2..6_usize, count in 1..12_u64, seed: u64,
    ) {
        let mut rng = Rng::new(seed);
        let all: Vec<u64> = (1..=count).collect();
        let mut locations = Vec::new();
        for member in 0..members {
            let missing: Vec<u64> = all.iter().copied()
                .filter(|_| member > 0 && rng.once_in(4)).collect();
            locations.push(rounds(&all, &missing));
        }
        let it = causality(&ranks(&(0..members).collect::<Vec<_>>()), &locations);
        let round: Vec<u64> = locations.iter().flatten().map(|(time, _)| time / 100).collect();
        let claimed = edges::collectives(&it);
        for &(cause, effect) in &claimed {
            prop_assert!(round[cause.index()] <= round[effect.index()]);
        }
        let fewest = locations.iter().map(|calls| calls.len() / 2).min().unwrap_or(0);
        let lost = all.len() - fewest;
        prop_assert_eq!(it.defects().count(Defect::CollectiveIncomplete), lost as u64);
        // As many as without the loss, less those that touch what is lost.
        if lost == 0 {
            prop_assert_eq!(claimed.len(), members * (members - 1) * all.len());
        }
    }
}
