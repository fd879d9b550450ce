//! Who holds up others by messages of MPI, as reports say it.

use retime_sim::{Layout, Program, from, to};
use serde_json::Value;

use crate::common::{Scratch, traces};

const RANKS: u32 = 4;
const STEPS: u64 = 60;
/// So long works a rank in a step, and a slow one longer by so much.
const WORK: u64 = 100_000;
const SLOWER: u64 = 30_000;
const SLOW: u32 = 1;

fn work(rank: u32, step: u64) -> u64 {
    let by_chance = (step * 7 + u64::from(rank) * 13) % 17 * 100;
    WORK + by_chance + if rank == SLOW { SLOWER } else { 0 }
}

/// A chain of ranks that get, work and hand on; of a long message the sender waits until it is asked for.
fn chain(is_long: bool) -> Program {
    let mut program = Program::with_layout(Layout::one_node(RANKS));
    let mut free = [1_000_u64; RANKS as usize];
    for step in 0..STEPS {
        let mut sent = 0;
        for rank in 0..RANKS {
            let own = rank as usize;
            let mut it = program.on(rank);
            if rank > 0 {
                let asked = free[own];
                let got = asked.max(sent) + 200;
                it.enter(asked, "MPI_Recv").recv(got, from(rank - 1));
                it.leave(got + 10, "MPI_Recv");
                free[own] = got + 20;
            }
            free[own] += work(rank, step);
            sent = free[own] + 10;
            if rank + 1 < RANKS {
                let asked = free[own + 1];
                let left = if is_long { asked.max(sent) } else { sent } + 200;
                it.enter(sent - 5, "MPI_Send").send(sent, to(rank + 1));
                it.leave(left, "MPI_Send");
                free[own] = left + 10;
            }
        }
    }
    program
}

fn first_line(scratch: &Scratch, trace: &str) -> String {
    let text = scratch.succeed(&format!("check {trace}"));
    text.lines().next().unwrap_or_default().to_owned()
}

fn stragglers(scratch: &Scratch, trace: &str) -> Value {
    let report: Value =
        serde_json::from_str(&scratch.succeed(&format!("check {trace} --json -"))).unwrap();
    report["stragglers"].clone()
}

#[test]
fn who_sends_late_is_named() {
    let scratch = traces::scratch([("short", chain(false)), ("long", chain(true))]);
    // Who is before it waits in its sends until it asks for a message.
    let line = first_line(&scratch, "long");
    assert!(
        line.starts_with("stragglers MPI Rank 1 held up 3 others for "),
        "{line}"
    );
    // Here that goes on, and never waits either; the others wait for one.
    let found = stragglers(&scratch, "short");
    assert_eq!(found["messages"], u64::from(RANKS - 1) * STEPS);
    let held: Vec<&Value> = ["process", "reach", "certainly_held_up_ticks"]
        .iter()
        .map(|it| &found["processes"][0][it])
        .collect();
    assert_eq!((held[0], &held[1]["directly"]), (&1.into(), &1.into()));
    let least = 2 * (STEPS - 10) * SLOWER;
    assert!(held[2].as_u64() >= Some(least), "{held:?}");
}

/// A chain of three ranks that all work as long as the others and hand on, there and back, what takes
/// long to get; of the one in the middle also to send.
fn there_and_back(sends: u64) -> Program {
    const TAKES: u64 = 20_000;
    let mut program = Program::with_layout(Layout::one_node(3));
    let (mut free, mut now) = ([1_000_u64; 3], 1_000);
    for _ in 0..STEPS {
        for (rank, next, works) in [
            (0, 1, 20_000),
            (1, 2, 10_000),
            (2, 1, 20_000),
            (1, 0, 10_000),
        ] {
            let sent = now + works;
            let mut it = program.on(rank);
            it.enter(sent - 5, "MPI_Send").send(sent, to(next));
            let left = sent + if rank == 1 { sends } else { 5 };
            it.leave(left, "MPI_Send");
            free[rank as usize] = left + 5;
            now = sent + TAKES;
            let mut it = program.on(next);
            it.enter(free[next as usize], "MPI_Recv")
                .recv(now, from(rank));
            it.leave(now, "MPI_Recv");
        }
    }
    program
}

#[test]
fn who_has_more_messages_than_others_is_not_named() {
    for sends in [5, 8_000] {
        let scratch = traces::scratch([("trace", there_and_back(sends))]);
        let found = stragglers(&scratch, "trace");
        let middle = &found["processes"][0];
        let seems = (&middle["process"], &middle["significant"]);
        assert_eq!(seems, (&1.into(), &true.into()));
        // It waits for 20 us less in each round, and works as long.
        let work = &middle["work"];
        let [longer, outside] = [
            &work["longer_ticks"],
            &work["outside_calls"]["longer_ticks"],
        ];
        assert!(longer.as_u64() >= Some(20_000 * (STEPS - 2)), "{work}");
        assert!(outside.as_u64() < Some(30_000), "{work}");
        let line = first_line(&scratch, "trace");
        assert!(!line.contains("held up"), "{line}");
    }
}

/// Three messages that one call waits for, by when they are sent.
fn waits_for_three() -> Program {
    let mut program = Program::with_layout(Layout::one_node(4));
    for (rank, sent) in [(1, 4_000), (2, 6_000), (3, 5_000)] {
        let mut it = program.on(rank);
        it.enter(sent - 10, "MPI_Send").send(sent, to(0));
        it.leave(sent + 20, "MPI_Send");
    }
    let mut it = program.on(0);
    it.enter(1_000, "MPI_Waitall");
    for (rank, time) in [(1, 7_000), (2, 7_010), (3, 7_020)] {
        it.recv(time, from(rank));
    }
    it.leave(7_030, "MPI_Waitall");
    program
}

#[test]
fn of_messages_that_one_call_waits_for_the_last_counts() {
    let scratch = traces::scratch([("trace", waits_for_three())]);
    let found = stragglers(&scratch, "trace");
    let held_up: Vec<(u64, u64)> = found["processes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            let [process, held] = ["process", "held_up_ticks"].map(|key| it[key].as_u64().unwrap());
            (process, held)
        })
        .filter(|it| it.1 > 0)
        .collect();
    assert_eq!(held_up, [(2, 5_000)]);
}

/// One message that a rank gets in calls with these names, the first of them left before.
fn got_in(calls: [&str; 2]) -> Program {
    let mut program = Program::with_layout(Layout::one_node(2));
    let mut it = program.on(0);
    it.enter(5_000, "MPI_Send").send(5_010, to(1));
    it.leave(5_020, "MPI_Send");
    let mut it = program.on(1);
    it.enter(1_000, calls[0]).leave(5_100, calls[0]);
    it.enter(5_110, calls[1]).recv(5_120, from(0));
    it.leave(5_130, calls[1]);
    program
}

#[test]
fn calls_tell_since_when_a_message_was_waited_for() {
    let of = |calls| {
        let scratch = traces::scratch([("trace", got_in(calls))]);
        let found = stragglers(&scratch, "trace");
        let held = found["processes"][0]["held_up_ticks"].as_u64();
        (found["messages"].as_u64(), held)
    };
    // Since the message was probed for,
    assert_eq!(of(["MPI_Probe", "MPI_Recv"]), (Some(1), Some(4_010)));
    // or since it was asked for,
    assert_eq!(of(["compute", "MPI_Recv"]), (Some(1), Some(0)));
    // which nothing tells if that was done again and again, or in no call that waits.
    for calls in [["MPI_Iprobe", "MPI_Recv"], ["compute", "MPI_Test"]] {
        assert_eq!(of(calls), (None, None), "{calls:?}");
    }
}

/// A rank that waits until a message is taken over, which was sent before.
fn sends_wait(posted: u64) -> Program {
    let mut program = Program::with_layout(Layout::one_node(2));
    let mut it = program.on(0);
    it.enter(1_000, "MPI_Isend").isend(1_010, to(1), 7);
    it.leave(1_020, "MPI_Isend");
    it.enter(3_000, "MPI_Wait").isend_complete(9_000, 7);
    it.leave(9_010, "MPI_Wait");
    let mut it = program.on(1);
    it.enter(posted - 10, "MPI_Irecv").irecv_request(posted, 3);
    it.leave(posted + 10, "MPI_Irecv");
    it.enter(8_500, "MPI_Wait").irecv(9_000, from(0), 3);
    it.leave(9_010, "MPI_Wait");
    program
}

#[test]
fn a_send_waits_until_its_receive_is_posted() {
    let of = |posted| {
        let scratch = traces::scratch([("trace", sends_wait(posted))]);
        let found = stragglers(&scratch, "trace");
        let first = &found["processes"][0];
        (first["process"].as_u64(), first["held_up_ticks"].as_u64())
    };
    assert_eq!(of(8_000), (Some(1), Some(5_000)));
    // Of what was posted before, however long it took.
    assert_eq!(of(2_000).1, Some(0));
}
