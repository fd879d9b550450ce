//! Who holds up others where several threads of a rank communicate, as reports say it.

use retime_sim::{Layout, Program, from, to};
use serde_json::Value;

use crate::common::{Scratch, traces};

const RANKS: u32 = 3;
const STEPS: u64 = 60;
const WORK: u64 = 100_000;

/// Ranks that work and meet, each but the first with a thread that waits for a word of the first; and how
/// long they waited for each other where they met. One may work longer.
fn commanded(slow: Option<u32>) -> (Program, u64) {
    let layout = Layout {
        threads: 2,
        ..Layout::one_node(RANKS)
    };
    let mut program = Program::with_layout(layout);
    let (mut free, mut waited) = (1_000, 0);
    for rank in 1..RANKS {
        program.on_thread(rank, 1).enter(1_000, "MPI_Recv");
    }
    for step in 0..STEPS {
        let begin = |rank: u32| {
            let by_chance = (step * 7 + u64::from(rank) * 13) % 17 * 100;
            free + WORK + by_chance + if slow == Some(rank) { 30_000 } else { 0 }
        };
        let last = (0..RANKS).map(begin).max().unwrap();
        for rank in 0..RANKS {
            let mut it = program.on(rank);
            if step + 1 == STEPS && rank == 0 {
                for other in 1..RANKS {
                    let sent = free + 100 * u64::from(other);
                    it.enter(sent - 10, "MPI_Send").send(sent, to(other));
                    it.leave(sent + 10, "MPI_Send");
                }
            }
            it.barrier(begin(rank), last + 100);
            waited += last - begin(rank);
        }
        if step + 1 == STEPS {
            for rank in 1..RANKS {
                let got = free + 100 * u64::from(rank) + 20;
                let mut it = program.on_thread(rank, 1);
                it.recv(got, from(0)).leave(got + 10, "MPI_Recv");
            }
        }
        free = last + 100;
    }
    (program, waited)
}

fn stragglers(scratch: &Scratch, trace: &str) -> Value {
    let report: Value =
        serde_json::from_str(&scratch.succeed(&format!("check {trace} --json -"))).unwrap();
    report["stragglers"].clone()
}

fn sum(found: &Value, key: &str) -> u64 {
    let processes = found["processes"].as_array().unwrap();
    processes.iter().map(|it| it[key].as_u64().unwrap()).sum()
}

#[test]
fn a_thread_that_waits_for_commands_is_not_held_up_while_others_work() {
    let (program, waited) = commanded(None);
    let scratch = traces::scratch([("trace", program)]);
    let found = stragglers(&scratch, "trace");
    assert_eq!(found["messages"], RANKS - 1);
    assert_eq!(sum(&found, "held_up_ticks"), waited);
    assert_eq!(sum(&found, "waited_ticks"), waited);
    let text = scratch.succeed("check trace");
    assert!(!text.contains("held up"), "{text}");
}

#[test]
fn a_slow_rank_with_threads_is_named() {
    let (program, _) = commanded(Some(2));
    let scratch = traces::scratch([("trace", program)]);
    let text = scratch.succeed("check trace");
    assert!(
        text.starts_with("stragglers MPI Rank 2 held up 2 others for "),
        "{text}"
    );
}
