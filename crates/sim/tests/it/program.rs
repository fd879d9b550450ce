//! Traces written down by hand.

use crate::judge::{lines, otf2_print};
use retime_otf2::{CollectiveOp, CollectiveRoot};
use retime_sim::{Error, Event, Layout, Program, from, to};

/// The archive as printed, or nothing without the tools.
fn printed(program: &Program) -> Option<String> {
    let dir = tempfile::tempdir().unwrap();
    let anchor = dir.path().join("traces.otf2");
    program.write(&anchor).unwrap();
    otf2_print(&anchor, &["-A"])
}

#[test]
fn every_kind_of_event() {
    let mut program = Program::new(3);
    let pair = program.comm("pair", &[2, 0]);
    program
        .on(0)
        .enter(1, "main")
        .isend(2, to(1).tag(4).bytes(99), 1)
        .send(3, to(0).in_comm(pair))
        .isend_complete(4, 1)
        .collective(5, 6, CollectiveOp::BCAST, CollectiveRoot::Rank(1), pair)
        .event(7, Event::NonBlockingCollectiveRequest(8))
        .leave(9, "main");
    program
        .on(1)
        .irecv_request(1, 1)
        .irecv(2, from(0).tag(4).bytes(99), 1)
        .event(3, Event::RequestTest(7))
        .event(4, Event::RequestCancelled(7));
    program
        .on(2)
        .enter(1, "mine")
        .recv(4, from(1).in_comm(pair))
        .leave(5, "mine")
        .enter(6, "yours");
    let Some(text) = printed(&program) else {
        return;
    };
    let expected = [
        "MPI_ISEND 0 2 Receiver: 1 (\"Master thread\" <1>), \
         Communicator: \"MPI_COMM_WORLD\" <0>, Tag: 4, Length: 99, Request: 1",
        "MPI_SEND 0 3 Receiver: 0 (\"Master thread\" <2>), \
         Communicator: \"pair\" <1>, Tag: 0, Length: 8",
        "MPI_RECV 2 4 Sender: 1 (\"Master thread\" <0>), \
         Communicator: \"pair\" <1>, Tag: 0, Length: 8",
        "MPI_COLLECTIVE_END 0 6 Operation: BCAST, Communicator: \"pair\" <1>, \
         Root: 1 (\"Master thread\" <0>), Sent: 8, Received: 8",
        "MPI_REQUEST_CANCELLED 1 4 Request: 7",
    ];
    for line in expected {
        let kind = line.split(' ').next().unwrap();
        assert_eq!(lines(&text, kind), [line]);
    }
    assert_eq!(lines(&text, "ENTER").len(), 3);
    assert!(text.contains("Region: \"yours\""), "{text}");
}

#[test]
fn clock_offsets_apply() {
    let mut program = Program::new(1);
    program
        .on(0)
        .clock_offset(0, 100)
        .clock_offset(1000, 100)
        .enter(10, "main");
    if let Some(text) = printed(&program) {
        assert!(lines(&text, "ENTER")[0].starts_with("ENTER 0 110 "));
    }
}

#[test]
fn threads_and_intercommunicators() {
    let mut program = Program::with_layout(Layout {
        ranks: 2,
        threads: 2,
        ranks_per_node: 1,
    });
    let bridge = program.inter_comm("bridge", &[0], &[1]);
    program.on_thread(0, 1).send(5, to(0).in_comm(bridge));
    program.on(1).recv(9, from(0).in_comm(bridge));
    let Some(text) = printed(&program) else {
        return;
    };
    assert!(lines(&text, "MPI_SEND")[0].starts_with("MPI_SEND 4294967296 5 "));
    assert_eq!(lines(&text, "INTER_COMM").len(), 1);
    assert_eq!(lines(&text, "LOCATION").len(), 4);
}

#[test]
fn threads_that_do_not_exist_are_reported() {
    let mut program = Program::new(2);
    program.on(2).enter(1, "main");
    let dir = tempfile::tempdir().unwrap();
    let error = program.write(&dir.path().join("traces.otf2")).unwrap_err();
    assert!(matches!(error, Error::NoSuchThread { rank: 2, thread: 0 }));
}

#[test]
fn streams_and_metrics_lie_beside_the_threads() {
    let mut program = Program::with_layout(Layout::node_per_rank(2));
    program.on_stream(1).enter(5, "kernel").leave(6, "kernel");
    program.on_metrics(1).enter(7, "sample");
    if let Some(text) = printed(&program) {
        for line in [
            "Name: \"CUDA Context 0\"",
            "Type: ACCELERATOR, Parent: \"CUDA Device::0\"",
            "Creator: \"MPI Rank 1\"",
            "Type: ACCELERATOR_STREAM, # Events: 2, Group: \"CUDA Context 0\"",
            "Type: METRIC, # Events: 1, Group: \"MPI Rank 1\"",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }
    program.on_stream(2);
    let dir = tempfile::tempdir().unwrap();
    let refused = program.write(&dir.path().join("traces.otf2")).unwrap_err();
    assert!(matches!(refused, Error::NoSuchThread { rank: 2, .. }));
}
