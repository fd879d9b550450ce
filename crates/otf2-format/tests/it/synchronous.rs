//! What is concluded of synchronous sends: the posting of a receive comes before the
//! completion of its send, and before nothing else.

use retime::causality::Causality;

use super::two_ranks::It::{self, Cancelled, Enter, Irecv, Isend, Leave, Post, Recv, Send, Sent};
use super::two_ranks::{LENGTH, recorded};

const REGIONS: [&str; 8] = [
    "MPI_Send",
    "MPI_Ssend",
    "MPI_Issend",
    "MPI_Recv",
    "MPI_Irecv",
    "MPI_Sendrecv",
    "MPI_Startall",
    "MPI_Wait",
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
