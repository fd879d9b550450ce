//! Who came last in collective operations, as reports say it.

use retime_sim::{Layout, Program, from, to};
use serde_json::Value;

use crate::common::{Scratch, traces};

/// By how much the clock of each rank is wrong.
const ERRORS: [i64; 4] = [0, 400_000, -250_000, 90_000];
/// Who is late, in each so manieth barrier, and by how much.
const LATE: u32 = 2;
const EVERY: u64 = 2;
const BY: u64 = 300_000;

/// Four processes that meet in barriers, one of which is late again and again.
fn late(layout: Layout) -> Program {
    let mut program = Program::with_layout(layout);
    for number in 0..40 {
        let start = 1_000_000 * (number + 1);
        let is_late = number % EVERY == 0;
        let begin = |rank: u32| {
            let by_chance = (number * 7 + u64::from(rank) * 13) % 17 * 100;
            start + by_chance + if is_late && rank == LATE { BY } else { 0 }
        };
        let last = (0..4).map(begin).max().unwrap();
        for rank in 0..4 {
            let shown = |time: u64| time.checked_add_signed(ERRORS[rank as usize]).unwrap();
            let end = last + 500 + u64::from(rank) * 100;
            program.on(rank).barrier(shown(begin(rank)), shown(end));
        }
    }
    program
}

fn scratch(layout: Layout) -> Scratch {
    traces::scratch([("trace", late(layout))])
}

fn stragglers(text: &str) -> Value {
    let report: Value = serde_json::from_str(text).unwrap();
    report["stragglers"].clone()
}

#[test]
fn a_straggler_is_named_unasked() {
    let scratch = scratch(Layout::node_per_rank(4));
    let text = scratch.succeed("correct trace -o out");
    let line = text.lines().find(|it| it.starts_with("stragglers"));
    assert!(
        line.is_some_and(|it| it.contains("MPI Rank 2 held up 3 others for")),
        "{text}"
    );
    let found = stragglers(&scratch.succeed("correct trace -o again --json -"));
    let first = &found["processes"][0];
    assert_eq!(
        (&first["process"], &first["operations"]),
        (&2.into(), &40.into())
    );
    assert_eq!(first["certainly_last"], 20);
    // Three others wait for it, what they are late by chance less.
    let waited = first["certainly_waited_for_ticks"].as_u64().unwrap();
    assert!(
        (20 * 3 * (BY - 2_000)..20 * 3 * (BY + 2_000)).contains(&waited),
        "{waited}"
    );
    assert_eq!(found["groups"][0]["members"], 4);
    assert!(found["certain"].as_u64().unwrap() < 40, "{found}");
}

/// The first of four ranks works, and the others hand on what it sends: who comes last has waited
/// for that message, which is not seen.
#[test]
fn who_waits_for_a_message_is_not_named() {
    let mut program = Program::with_layout(Layout::node_per_rank(4));
    for number in 0..40 {
        let start = 2_000_000 * (number + 1);
        for rank in 0..4_u32 {
            let came = start + 300_000 * u64::from(rank);
            let mut thread = program.on(rank);
            if rank > 0 {
                thread.recv(came, from(rank - 1));
            }
            if rank < 3 {
                thread.send(came + 299_000, to(rank + 1));
            }
            let end = start + 1_200_000 + u64::from(rank) * 100;
            thread.barrier(came + 299_500, end);
        }
    }
    let scratch = traces::scratch([("trace", program)]);
    let words = scratch.succeed("check trace -v");
    assert!(!words.starts_with("stragglers"), "{words}");
    assert!(
        words.contains("who came last may have waited until then"),
        "{words}"
    );
    // Without messages all is seen.
    let words = self::scratch(Layout::node_per_rank(4)).succeed("correct trace -o out -v");
    assert!(!words.contains("may have waited"), "{words}");
}

/// Each rank hands on by a collective operation among neighbours what the first works for, and
/// recorders write no more of that than that it was entered and left.
#[test]
fn who_waits_for_neighbours_is_not_named() {
    let mut program = Program::with_layout(Layout::node_per_rank(4));
    for number in 0..40 {
        let start = 2_000_000 * (number + 1);
        for rank in 0..4_u32 {
            let came = start + 300_000 * u64::from(rank) + 1_000;
            let mut thread = program.on(rank);
            thread.enter(start, "MPI_Neighbor_alltoall");
            thread.leave(came, "MPI_Neighbor_alltoall");
            let end = start + 1_300_000 + u64::from(rank) * 100;
            thread.barrier(came + 299_500, end);
        }
    }
    let scratch = traces::scratch([("trace", program)]);
    let words = scratch.retime("check trace -v").expect_code(0).stdout;
    assert!(!words.starts_with("stragglers"), "{words}");
    assert!(
        words.contains("who came last may have waited until then"),
        "{words}"
    );
    assert!(words.contains("160 neighbourhood collectives"), "{words}");
    // The page asks the report.
    let found = stragglers(&scratch.succeed("check trace --json -"));
    assert_eq!(found["processes"][0]["waits_are_seen"], false);
}

/// Two processes that meet in barriers, of which each is late by chance.
fn late_by_chance(seed: u64) -> Program {
    let mut program = Program::with_layout(Layout::node_per_rank(2));
    let mut state = seed;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % 400_000
    };
    for number in 0..40 {
        let begins = [0, 1].map(|_| 1_000_000 * (number + 1) + random());
        let last = begins[0].max(begins[1]);
        for (rank, begin) in (0..).zip(begins) {
            program.on(rank).barrier(begin, last + 500);
        }
    }
    program
}

/// In any trace somebody works longer than others: of two it is enough to come later by chance.
#[test]
fn who_comes_last_by_chance_is_not_named() {
    for seed in [4_711, 815, 99, 2_024, 31_415, 27_182] {
        let scratch = traces::scratch([("trace", late_by_chance(seed))]);
        let check = scratch.retime("check trace").stdout;
        assert!(!check.contains("stragglers"), "{seed}: {check}");
        let found = stragglers(&scratch.retime("check trace --json -").stdout);
        assert_eq!(found["operations"], 40);
        assert_eq!(found["processes"][0]["significant"], false, "{seed}");
    }
}

/// As recorded the clock that is ahead is last in each: by times that contradict each other
/// nobody is named.
#[test]
fn times_that_contradict_each_other_name_nobody() {
    let scratch = scratch(Layout::node_per_rank(4));
    let check = scratch.retime("check trace --json -").expect_code(1);
    let found = stragglers(&check.stdout);
    assert_eq!(
        (&found["contradictory"], &found["certain"]),
        (&true.into(), &0.into())
    );
    assert_eq!(found["operations"], 40);
    for list in ["processes", "groups", "worst"] {
        assert_eq!(found[list], serde_json::json!([]));
    }
    let words = scratch.retime("check trace -v").expect_code(1).stdout;
    assert!(words.contains("nobody is named"), "{words}");
    assert!(!words.contains("held up"), "{words}");
    // The clocks put right name who was late, and how long anybody waited for it.
    let words = scratch.succeed("correct trace -o out -v");
    let late = words
        .lines()
        .find(|it| it.contains("MPI Rank 2 held up 3 others for") && it.contains("last in"))
        .unwrap();
    assert!(
        late.contains("of 40 collectives, certainly in 20"),
        "{late}"
    );
    let found = stragglers(&scratch.succeed("correct trace -o again --json -"));
    let longest = found["processes"][0]["waited_for_longest_ticks"]
        .as_u64()
        .unwrap();
    assert!((BY..BY + 3_000).contains(&longest), "{longest}");
}

#[test]
fn nothing_is_certain_without_bounds_or_on_clocks_that_are_none() {
    let scratch = scratch(Layout::node_per_rank(4));
    let found = stragglers(&scratch.succeed("correct trace -o out --bounds off --json -"));
    assert_eq!(
        (&found["operations"], &found["certain"]),
        (&40.into(), &0.into())
    );
    let one = traces::scratch([("trace", late(Layout::one_node(4)))]);
    let check = one.retime("check trace --clocks node --json -");
    assert_eq!(stragglers(&check.stdout)["certain"], 0);
    let check = one.retime("check trace --clocks node");
    assert!(!check.stdout.contains("stragglers"), "{}", check.stdout);
}

#[test]
fn without_collectives_nothing_is_said() {
    let scratch = traces::scratch([("trace", traces::backlog())]);
    let report: Value =
        serde_json::from_str(&scratch.retime("check trace -v --json -").stdout).unwrap();
    assert!(report.get("stragglers").is_none(), "{report}");
}
