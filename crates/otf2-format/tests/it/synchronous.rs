//! What is concluded of synchronous sends: the posting of a receive comes before the
//! completion of its send, and before nothing else.

use retime::causality::Causality;
use retime_otf2::MeasurementMode;

use super::two_ranks::It::{
    self, Cancelled, Enter, Irecv, Isend, Leave, Post, Recording, Recv, Send, Sent,
};
use super::two_ranks::{LENGTH, recorded};

const REGIONS: [&str; 11] = [
    "MPI_Send",
    "MPI_Ssend",
    "MPI_Issend",
    "MPI_Recv",
    "MPI_Irecv",
    "MPI_Sendrecv",
    "MPI_Startall",
    "MPI_Wait",
    "MPI_Ssend_init",
    "MPI_Send_init",
    "MPI_Start",
];

/// Times of postings and of the completions that depend on them.
fn acknowledgements(causality: &Causality) -> Vec<(u64, u64)> {
    let nodes = causality.nodes();
    let time = |node| nodes.timestamp(node).0;
    let sender = nodes.of(0);
    let found: Vec<_> = sender
        .filter_map(|it| Some((time(causality.message_source(it)?), time(it))))
        .collect();
    assert_eq!(found.len() as u64, causality.acknowledgements());
    found
}

const SEND: It = Send(LENGTH);
const RECV: It = Recv(LENGTH);

/// Sends two messages, one after the other.
const TWICE: [(u64, It); 6] = [
    (10, Enter("MPI_Ssend")),
    (11, SEND),
    (20, Leave),
    (30, Enter("MPI_Ssend")),
    (31, SEND),
    (70, Leave),
];
const RECEIVER: [(u64, It); 3] = [(50, Enter("MPI_Recv")), (60, RECV), (61, Leave)];

#[test]
fn a_synchronous_send_returns_after_its_receive_was_posted() {
    let sender = [(10, Enter("MPI_Ssend")), (11, SEND), (70, Leave)];
    let it = recorded(&REGIONS, &[&sender, &RECEIVER]);
    assert_eq!(acknowledgements(&it), [(50, 70)]);
    assert_eq!(it.messages(), 1);
}

#[test]
fn a_large_message_that_returns_late_proves_nothing() {
    let large = 1 << 20;
    let sender = [(10, Enter("MPI_Send")), (11, Send(large)), (70, Leave)];
    let receiver = [(50, Enter("MPI_Recv")), (60, Recv(large)), (61, Leave)];
    let it = recorded(&REGIONS, &[&sender, &receiver]);
    assert_eq!(acknowledgements(&it), []);
    assert_eq!(it.nodes().len(), 2, "calls are not followed");
}

#[test]
fn a_plain_send_beside_a_synchronous_one_proves_nothing() {
    let sender = [
        (10, Enter("MPI_Send")),
        (11, SEND),
        (20, Leave),
        (30, Enter("MPI_Ssend")),
        (31, SEND),
        (70, Leave),
    ];
    let receiver = [
        (40, Enter("MPI_Recv")),
        (42, RECV),
        (43, Leave),
        (50, Enter("MPI_Recv")),
        (60, RECV),
        (61, Leave),
    ];
    let it = recorded(&REGIONS, &[&sender, &receiver]);
    assert_eq!(acknowledgements(&it), [(50, 70)]);
}

#[test]
fn what_was_started_is_complete_where_that_is_recorded() {
    let sender = [
        (10, Enter("MPI_Issend")),
        (11, Isend(5)),
        (12, Leave),
        (20, Enter("MPI_Wait")),
        (70, Sent(5)),
        (71, Leave),
    ];
    let it = recorded(&REGIONS, &[&sender, &RECEIVER]);
    assert_eq!(acknowledgements(&it), [(50, 70)]);
}

#[test]
fn who_cancels_has_waited_for_nobody() {
    let sender = [
        (10, Enter("MPI_Issend")),
        (11, Isend(5)),
        (12, Leave),
        (13, Cancelled(5)),
        (20, Enter("MPI_Issend")),
        (21, Isend(5)),
        (22, Leave),
        (70, Sent(5)),
    ];
    let it = recorded(&REGIONS, &[&sender, &RECEIVER]);
    assert_eq!(acknowledgements(&it), [(50, 70)]);
}

#[test]
fn a_receive_is_posted_in_the_call_that_posts_it_and_not_where_it_is_recorded() {
    // The request is recorded when the call is left, after the sender knows.
    let receiver = [
        (50, Enter("MPI_Irecv")),
        (90, Post(1)),
        (91, Leave),
        (95, Irecv(1)),
    ];
    let sender = [(10, Enter("MPI_Ssend")), (11, SEND), (70, Leave)];
    assert_eq!(
        acknowledgements(&recorded(&REGIONS, &[&sender, &receiver])),
        [(50, 70)]
    );
    // A send of its own is recorded in the call, too.
    let both = [
        (50, Enter("MPI_Sendrecv")),
        (55, SEND),
        (60, RECV),
        (61, Leave),
    ];
    assert_eq!(
        acknowledgements(&recorded(&REGIONS, &[&sender, &both])),
        [(50, 70)]
    );
}

#[test]
fn postings_are_paired_in_their_order() {
    // The second receive completes first.
    let receiver = [
        (2, Enter("MPI_Irecv")),
        (3, Post(1)),
        (4, Leave),
        (50, Enter("MPI_Irecv")),
        (51, Post(2)),
        (52, Leave),
        (80, Irecv(2)),
        (90, Irecv(1)),
    ];
    let it = recorded(&REGIONS, &[&TWICE, &receiver]);
    assert_eq!(acknowledgements(&it), [(2, 20), (50, 70)]);
}

#[test]
fn a_call_that_posts_several_receives_counts_once() {
    let receiver = [
        (2, Enter("MPI_Startall")),
        (3, Post(1)),
        (4, Post(2)),
        (5, Leave),
        (80, Irecv(1)),
        (90, Irecv(2)),
    ];
    let it = recorded(&REGIONS, &[&TWICE, &receiver]);
    assert_eq!(acknowledgements(&it), [(2, 20)]);
}

#[test]
fn a_message_that_is_not_there_leaves_no_certain_pair() {
    // Which of the two sends has its receive is not known.
    let sender = [(1, SEND), (10, Enter("MPI_Ssend")), (11, SEND), (20, Leave)];
    let it = recorded(&REGIONS, &[&sender, &RECEIVER]);
    assert_eq!(acknowledgements(&it), []);
    assert_eq!(it.messages(), 1);
}

#[test]
fn threads_that_receive_together_leave_no_certain_pair() {
    let one = [(2, Enter("MPI_Recv")), (15, RECV), (16, Leave)];
    let other = [(3, Enter("MPI_Recv")), (60, RECV), (61, Leave)];
    let it = recorded(&REGIONS, &[&TWICE, &one, &other]);
    assert_eq!(acknowledgements(&it), []);
    assert_eq!(it.messages(), 2);
}

#[test]
fn a_receive_in_an_unknown_call_says_nothing_of_its_posting() {
    let sender = [(10, Enter("MPI_Ssend")), (11, SEND), (70, Leave)];
    let receiver = [(75, Enter("MPI_Wait")), (80, RECV), (81, Leave)];
    assert_eq!(
        acknowledgements(&recorded(&REGIONS, &[&sender, &receiver])),
        []
    );
}

/// A send that was prepared is started after what comes `before`.
fn prepared(before: &[(u64, It)]) -> Vec<(u64, It)> {
    let start = [
        (10, Enter("MPI_Start")),
        (11, Isend(5)),
        (12, Leave),
        (20, Enter("MPI_Wait")),
        (70, Sent(5)),
        (71, Leave),
    ];
    [before, &start].concat()
}

const INIT: [(u64, It); 2] = [(2, Enter("MPI_Ssend_init")), (3, Leave)];

#[test]
fn what_was_prepared_as_a_synchronous_send_is_one_whenever_it_is_started() {
    let again = [
        (80, Enter("MPI_Startall")),
        (81, Isend(5)),
        (82, Leave),
        (99, Sent(5)),
    ];
    // What is prepared later has not been started before.
    let later = [(85, Enter("MPI_Send_init")), (86, Leave)];
    let sender = [&prepared(&INIT)[..], &again[..3], &later, &again[3..]].concat();
    let receiver = [
        &RECEIVER[..],
        &[(90, Enter("MPI_Recv")), (95, RECV), (96, Leave)],
    ]
    .concat();
    let it = recorded(&REGIONS, &[&sender, &receiver]);
    assert_eq!(acknowledgements(&it), [(50, 70), (90, 99)]);
}

#[test]
fn what_may_have_been_prepared_otherwise_proves_nothing() {
    let other = [(4, Enter("MPI_Send_init")), (5, Leave)];
    let gap = [
        (4, Recording(MeasurementMode::OFF)),
        (5, Recording(MeasurementMode::ON)),
    ];
    for before in [&[INIT, other].concat()[..], &[INIT, gap].concat(), &other] {
        let it = recorded(&REGIONS, &[&prepared(before), &RECEIVER]);
        assert_eq!(acknowledgements(&it), []);
    }
    // The other thread of rank 1 may have prepared it.
    let receiver = [(50, Enter("MPI_Recv")), (60, RECV), (61, Leave)];
    let it = recorded(
        &REGIONS,
        &[&receiver, &prepared(&INIT), &[(1, Enter("MPI_Wait"))]],
    );
    assert_eq!((it.acknowledgements(), it.messages()), (0, 1));
}

#[test]
fn receives_that_were_prepared_are_posted_where_they_are_started() {
    let receiver = [
        (50, Enter("MPI_Start")),
        (51, Post(1)),
        (52, Leave),
        (60, Irecv(1)),
    ];
    let sender = [(10, Enter("MPI_Ssend")), (11, SEND), (70, Leave)];
    let it = recorded(&REGIONS, &[&sender, &receiver]);
    assert_eq!(acknowledgements(&it), [(50, 70)]);
}
