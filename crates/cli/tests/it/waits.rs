//! The waiting that a page speaks of: none that cannot have been.

use retime_otf2::writer::LocationWriter;
use retime_otf2::{CommRef, EventData, Paradigm, RegionRef};
use retime_sim::{Layout, Program, from, to};
use retime_testing::Effort;
use serde_json::Value;

use crate::common::{Scratch, traces};
use crate::examined;
use crate::html::data;

const KINDS: [&str; 4] = ["late_sender", "late_receiver", "barrier", "root"];

/// Of one kind, over all locations: recorded, corrected, certain.
fn all(page: &Value, kind: &str) -> [f64; 3] {
    let wait = &page["picture"]["waits"]["all"][kind];
    ["recorded", "corrected", "certain"].map(|it| wait[it].as_f64().unwrap())
}

/// No location waits longer than the trace lasts, and no more is certain than there is.
fn assert_possible(page: &Value) {
    let picture = &page["picture"];
    let ticks = picture["ticks_per_second"].as_f64().unwrap();
    let span = page["report"]["trace"]["duration_seconds"]
        .as_f64()
        .unwrap()
        * ticks;
    let number = |value: &Value| value.as_f64().unwrap();
    let lanes = picture["waits"]["lanes"].as_array().unwrap();
    // Times since a call was entered are exact to seven digits; corrected times are on
    // clocks that may run faster by as much as is ever accepted.
    for (kind, most) in [("recorded", span * 1.000_001), ("corrected", span * 1.01)] {
        for lane in lanes {
            let sum: f64 = KINDS.iter().map(|it| number(&lane[it][kind])).sum();
            assert!(sum <= most, "{sum} of {span}: {lane}");
        }
        let locations = number(&page["report"]["trace"]["locations"]);
        let sum: f64 = KINDS
            .iter()
            .map(|it| number(&picture["waits"]["all"][it][kind]))
            .sum();
        assert!(sum <= most * locations);
    }
    for of in lanes.iter().chain([&picture["waits"]["all"]]) {
        for kind in KINDS {
            let (certain, all) = (number(&of[kind]["certain"]), number(&of[kind]["corrected"]));
            assert!((0.0..=all * 1.000_001).contains(&certain), "{kind}: {of}");
        }
    }
}

fn check(scratch: &Scratch, trace: &str) -> Value {
    scratch.retime(&format!("check {trace} --html {trace}.html -q"));
    data(scratch, &format!("{trace}.html"))
}

/// Threads that are forked and joined twenty times within `main`, and nothing else.
fn forks(id: u64, it: &mut LocationWriter) {
    let model = Paradigm::OPENMP;
    let thread_team = CommRef(1 + id as u32 / 2);
    let main = RegionRef(0);
    it.event(1_000, &EventData::Enter { region: main }).unwrap();
    for round in 1..=20 {
        let mut record = |after: u64, data| it.event(10_000 * round + after, &data).unwrap();
        if id.is_multiple_of(2) {
            record(0, EventData::ThreadFork { model, threads: 2 });
        }
        record(10 + id % 2, EventData::ThreadTeamBegin { thread_team });
        record(
            8_000 + 900 * (id % 2),
            EventData::ThreadTeamEnd { thread_team },
        );
        if id.is_multiple_of(2) {
            record(9_000, EventData::ThreadJoin { model });
        }
    }
    it.event(210_000, &EventData::Leave { region: main })
        .unwrap();
}

/// Before, 20 forks and joins in `main` were ten times its length of waiting.
#[test]
fn forks_and_joins_do_not_wait_since_main_was_entered() {
    let scratch = Scratch::new();
    examined::write(scratch.path(), "teams", forks);
    let page = check(&scratch, "teams");
    assert!(page["report"]["matching"]["collectives"].as_u64().unwrap() >= 80);
    assert_possible(&page);
    assert!(all(&page, "root").iter().all(|it| it.abs() < 0.5));
}

/// A call that completes three messages waits for the last of them; what happens between
/// the calls of `main` is no waiting, though `main` was entered long ago.
#[test]
fn a_moment_is_waited_for_one_thing() {
    let mut program = Program::with_layout(Layout::one_node(4));
    for (rank, sent) in [(1, 4_000), (2, 6_000), (3, 5_000)] {
        let mut it = program.on(rank);
        it.enter(sent, "MPI_Send").send(sent + 10, to(0));
        it.leave(sent + 20, "MPI_Send");
    }
    let mut it = program.on(0);
    it.enter(0, "main").enter(1_000, "MPI_Waitall");
    for (rank, time) in [(1, 7_000), (2, 7_010), (3, 7_020)] {
        it.recv(time, from(rank));
    }
    it.leave(7_030, "MPI_Waitall");
    it.enter(8_000, "compute").leave(20_000, "compute");
    // Received in no call of its own, after 500 ticks in which nothing else was recorded.
    it.recv(20_600, from(1).tag(1)).leave(30_000, "main");
    let mut it = program.on(1);
    it.enter(20_500, "MPI_Send").send(20_510, to(0).tag(1));
    it.leave(20_520, "MPI_Send");
    let scratch = traces::scratch([("waitall", program)]);
    let page = check(&scratch, "waitall");
    assert_possible(&page);
    let [recorded, ..] = all(&page, "late_sender");
    assert!((recorded - (5_000.0 + 500.0)).abs() < 0.5, "{recorded}");
}

/// Without its message `MPI_Sendrecv` cannot be left, whereas its send may be complete long ago.
#[test]
fn a_call_that_sends_and_receives_waits_for_the_sender() {
    let mut program = Program::with_layout(Layout::one_node(2));
    for (rank, entered) in [(0, 1_000), (1, 5_000)] {
        let mut it = program.on(rank);
        it.enter(entered, "MPI_Sendrecv")
            .send(entered + 10, to(1 - rank));
        it.recv(6_000, from(1 - rank)).leave(6_010, "MPI_Sendrecv");
    }
    let scratch = traces::scratch([("both", program)]);
    let page = check(&scratch, "both");
    assert_possible(&page);
    let found = ["late_sender", "late_receiver"].map(|it| all(&page, it)[0] as i64);
    assert_eq!(found, [4_000, 0]);
}

/// A synchronous send that is completed by a later call waits there for its receiver; who posts the
/// receive waits for the send to begin and not for that call.
#[test]
fn a_synchronous_send_waits_for_its_receiver() {
    let send = |program: &mut Program, at: u64, waits: u64, complete: u64| {
        let mut it = program.on(0);
        it.enter(at, "MPI_Issend").isend(at + 1, to(1), at);
        it.leave(at + 10, "MPI_Issend");
        it.enter(waits, "MPI_Wait").isend_complete(complete, at);
        it.leave(complete + 1, "MPI_Wait");
    };
    let receive = |program: &mut Program, at: u64, received: u64| {
        let mut it = program.on(1);
        it.enter(at, "MPI_Recv").recv(received, from(0));
        it.leave(received + 1, "MPI_Recv");
    };
    let waits = |program: Program| {
        let scratch = traces::scratch([("synchronous", program)]);
        let page = check(&scratch, "synchronous");
        assert_eq!(page["report"]["matching"]["acknowledgements"], 1);
        ["late_sender", "late_receiver"].map(|it| all(&page, it)[0] as i64)
    };
    let mut late = Program::with_layout(Layout::one_node(2));
    send(&mut late, 1_000, 2_000, 6_010);
    receive(&mut late, 6_000, 6_005);
    assert_eq!(waits(late), [0, 4_000]);
    let mut early = Program::with_layout(Layout::one_node(2));
    send(&mut early, 1_000, 1_200, 1_520);
    receive(&mut early, 100, 1_500);
    assert_eq!(waits(early), [900, 0]);
}

/// Recorded times that contradict each other make bounds that begin beyond them.
#[test]
fn no_more_waiting_is_certain_than_there_is() {
    let scratch = Scratch::new();
    traces::recording(scratch.path());
    let page = check(&scratch, "halo");
    assert_possible(&page);
    assert!(all(&page, "late_sender")[1] > 0.0);
    scratch.succeed("correct halo -o out --html corrected.html -q");
    let page = data(&scratch, "corrected.html");
    assert_possible(&page);
    assert!(all(&page, "late_sender")[2] > 0.0);
}

#[test]
fn simulated_programs_wait_no_longer_than_they_run() {
    let scratch = Scratch::new();
    for (scenario, options) in [
        ("halo", "--ranks 6 --iterations 40"),
        ("random", "--ranks 5 --iterations 60"),
        ("ring", ""),
    ] {
        for seed in 0..Effort::asked().pick(1, 3, 30) {
            let name = format!("{scenario}-{seed}");
            let simulate = format!("simulate {scenario} {options} --seed {seed} -o {name} -q");
            scratch.succeed(&simulate);
            assert_possible(&check(&scratch, &name));
            assert_possible(&check(&scratch, &format!("{name}-truth")));
        }
    }
}
