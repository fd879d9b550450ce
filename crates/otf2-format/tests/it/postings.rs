//! What is concluded of the order in which receives were posted, from the regions in
//! which they are recorded, from lengths, and from recording that was off.

use retime::causality::{Causality, Defect};
use retime_otf2::MeasurementMode;

use super::two_ranks::It::{self, Enter, Irecv, Leave, Post, Recording, Recv, Send};
use super::two_ranks::recorded;

const OFF: It = Recording(MeasurementMode::OFF);
const ON: It = Recording(MeasurementMode::ON);

const REGIONS: [&str; 5] = [
    "MPI_Recv",
    "MPI_Irecv",
    "MPI_Wait",
    "MPI_Mprobe",
    "MPI_Mrecv",
];

/// Times of the ends of all messages, by receive.
fn messages(causality: &Causality) -> Vec<(u64, u64)> {
    let nodes = causality.nodes();
    let time = |node| nodes.timestamp(node).0;
    let receives = nodes.all();
    receives
        .filter_map(|it| Some((time(causality.message_source(it)?), time(it))))
        .collect()
}

#[test]
fn a_blocking_receive_is_posted_when_its_call_is_entered() {
    // The other thread posts while it waits, and its record is the first.
    let blocking = [(10, Enter("MPI_Recv")), (110, Recv(8)), (111, Leave)];
    let other = [
        (50, Enter("MPI_Irecv")),
        (51, Post(1)),
        (52, Leave),
        (150, Irecv(1)),
    ];
    let it = recorded(
        &REGIONS,
        &[&[(100, Send(8)), (140, Send(8))], &blocking, &other],
    );
    assert_eq!(messages(&it), [(100, 110), (140, 150)]);
    assert!(it.defects().is_empty(), "{:?}", it.defects());
}

#[test]
fn requests_of_threads_whose_calls_overlap_have_no_order() {
    let early = [
        (10, Enter("MPI_Irecv")),
        (50, Post(1)),
        (51, Leave),
        (110, Irecv(1)),
    ];
    let late = [
        (20, Enter("MPI_Irecv")),
        (30, Post(1)),
        (31, Leave),
        (150, Irecv(1)),
    ];
    let it = recorded(
        &REGIONS[..2],
        &[&[(100, Send(8)), (140, Send(8))], &early, &late],
    );
    assert_eq!(messages(&it), [(100, 110), (140, 150)]);
}

#[test]
fn requests_of_threads_whose_calls_follow_each_other_have_one() {
    let first = [
        (10, Enter("MPI_Irecv")),
        (11, Post(1)),
        (19, Leave),
        (150, Irecv(1)),
    ];
    let second = [
        (20, Enter("MPI_Irecv")),
        (21, Post(1)),
        (29, Leave),
        (145, Irecv(1)),
    ];
    let it = recorded(
        &REGIONS[..2],
        &[&[(100, Send(8)), (140, Send(8))], &first, &second],
    );
    assert_eq!(messages(&it), [(100, 150), (140, 145)]);
}

/// A request is pending while a blocking call of the given region, if any, receives.
fn beside_a_request(regions: &[&str], call: Option<&'static str>) -> Vec<(u64, u64)> {
    let mut events = vec![(20, Post(1)), (30, Recv(8)), (200, Irecv(1))];
    if let Some(call) = call {
        events.insert(1, (29, Enter(call)));
        events.insert(3, (31, Leave));
    }
    let sends = [(10, Send(8)), (15, Send(8))];
    messages(&recorded(regions, &[&sends, &events]))
}

#[test]
fn a_receive_of_a_probed_message_may_stand_before_what_is_pending() {
    // By the order of postings MPI_Recv gets the second message, ...
    let posted = [(15, 30), (10, 200)];
    assert_eq!(beside_a_request(&REGIONS, Some("MPI_Recv")), posted);
    assert_eq!(beside_a_request(&REGIONS[..3], None), posted);
    // ... MPI_Mrecv that of its probe, and where no region tells it may be either.
    let either = [(10, 30), (15, 200)];
    assert_eq!(beside_a_request(&REGIONS, Some("MPI_Mrecv")), either);
    assert_eq!(beside_a_request(&REGIONS, None), either);
    assert_eq!(beside_a_request(&REGIONS[..0], None), either);
}

#[test]
fn what_recording_left_out_shifts_no_pair() {
    // The first send and the last receive are missing.
    let sender = [
        (1, OFF),
        (3, ON),
        (10, Send(8)),
        (20, Send(8)),
        (30, Send(8)),
    ];
    let receiver = [
        (5, Recv(8)),
        (15, Recv(8)),
        (25, Recv(8)),
        (26, OFF),
        (40, ON),
    ];
    let it = recorded(&REGIONS[..1], &[&sender, &receiver]);
    assert_eq!(messages(&it), []);
    assert_eq!(it.defects().count(Defect::PlaceUnknown), 6);
    assert_eq!(it.defects().iter().count(), 1, "{:?}", it.defects());
}

#[test]
fn what_both_ends_recorded_to_the_end_is_paired_from_there() {
    // Recording begins here with one message under way, there with another.
    let sender = [(10, ON), (20, Send(8)), (30, Send(8)), (40, Send(8))];
    let receiver = [(35, ON), (36, Recv(8)), (45, Recv(8))];
    let it = recorded(&REGIONS[..1], &[&sender, &receiver]);
    assert_eq!(messages(&it), [(30, 36), (40, 45)]);
    assert_eq!(it.defects().count(Defect::PlaceUnknown), 1);
}

#[test]
fn lengths_find_a_receive_that_is_missing() {
    let sender = [(10, Send(1)), (20, Send(2)), (30, Send(3))];
    let receiver = [(25, Recv(2)), (35, Recv(3))];
    let it = recorded(&REGIONS[..1], &[&sender, &receiver]);
    assert_eq!(messages(&it), [(20, 25), (30, 35)]);
    let found: Vec<_> = it.defects().iter().collect();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, Defect::SendWithoutReceive);
    assert_eq!(found[0].1.places[0].event, 0);
}

#[test]
fn lengths_that_cannot_be_those_of_one_message_undo_a_channel() {
    let sender = [(10, Send(2)), (20, Send(3)), (30, Send(4))];
    let receiver = [(5, Recv(1)), (15, Recv(2)), (25, Recv(3))];
    let it = recorded(&REGIONS[..1], &[&sender, &receiver]);
    assert_eq!(messages(&it), []);
    assert_eq!(it.defects().count(Defect::LengthsDisagree), 6);
}
