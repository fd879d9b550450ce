//! Waits in operations with a root, of profiles: who reads waits for the root, and for nobody else.

use serde_json::Value;

use crate::common::Scratch;

/// One of four ranks is late by so many microseconds in each of so many iterations.
const LATE: u64 = 300;
const ITERATIONS: u64 = 40;

/// How the ranks of a job hand on data.
#[derive(Clone, Copy)]
struct Job {
    /// `broadcast` or `reduce`.
    name: &'static str,
    /// The root of each iteration.
    root: fn(u64) -> u64,
    /// The rank that is late, in all iterations of which it is root or is not, as this says.
    slow: u64,
    is_late: fn(u64) -> bool,
}

fn event(kind: &str, name: &str, thread: u64, from: u64, to: u64, args: &str) -> String {
    format!(
        r#"{{"ph": "X", "cat": "{kind}", "name": "{name}", "pid": 0, "tid": {thread},
          "ts": {from}, "dur": {}, "args": {{{args}}}}}"#,
        to - from
    )
}

impl Job {
    /// The kernels of an operation, each with the calls that asked for it and launched it.
    fn hand_on(&self, number: u64, events: &mut [Vec<String>; 4]) {
        let root = (self.root)(number);
        let late = |rank| {
            if rank == self.slow && (self.is_late)(number) {
                LATE
            } else {
                0
            }
        };
        let ready =
            |rank| 10_000 * (number + 1) + 1_000 + (number * 7 + rank * 13) % 17 + late(rank);
        for (rank, events) in (0..).zip(events) {
            let awaited = match (self.name, rank == root) {
                ("broadcast", false) => ready(root),
                ("reduce", true) => (0..4).map(ready).max().unwrap(),
                _ => ready(rank),
            };
            let begin = ready(rank);
            events.push(event("kernel", "gemm", 7, begin - 900, begin, ""));
            let place = if self.name == "reduce" { r#""""# } else { "" };
            let comma = if place.is_empty() { "" } else { ", " };
            let inputs = format!(r#""Concrete Inputs": ["", "", {place}{comma}"{root}"]"#);
            let call = format!("c10d::{}_", self.name);
            events.push(event("cpu_op", &call, 3, begin - 40, begin - 20, &inputs));
            let launch = format!(r#""correlation": {}"#, number + 1);
            events.push(event(
                "cuda_runtime",
                "cudaLaunchKernel",
                3,
                begin - 30,
                begin - 25,
                &launch,
            ));
            let args = format!(
                r#""Collective name": "{}", "Seq": {number}, "In msg nelems": 1024,
                  "Out msg nelems": 1024, "dtype": "Float", "Group size": 4,
                  "Process Group Name": "0", "Process Group Ranks": "[0, 1, 2, 3]", {launch}"#,
                self.name
            );
            let end = awaited.max(begin) + 60;
            events.push(event("kernel", "ncclDevKernel", 20, begin, end, &args));
        }
    }

    fn written(&self) -> Scratch {
        let mut events = [const { Vec::new() }; 4];
        for number in 0..ITERATIONS {
            self.hand_on(number, &mut events);
        }
        Scratch::with_profiles(&events)
    }

    /// The first line of a summary, and who held up others, by process, for how many microseconds.
    fn told(&self) -> (String, Vec<(u64, u64)>) {
        let scratch = self.written();
        let text = scratch.succeed("check run");
        let report: Value = serde_json::from_str(&scratch.succeed("check run --json -")).unwrap();
        assert_eq!(report["matching"]["collectives"], ITERATIONS, "{text}");
        let waits = &report["stragglers"];
        assert_eq!([&waits["partial"], &waits["others"]], [ITERATIONS, 0]);
        let held_up = waits["processes"].as_array().unwrap().iter().map(|it| {
            let ticks = it["held_up_ticks"].as_u64().unwrap();
            (it["process"].as_u64().unwrap(), ticks / 1000)
        });
        let first = text.lines().next().unwrap_or_default().to_owned();
        (
            first,
            held_up.filter(|it| it.1 > 2 * 20 * ITERATIONS).collect(),
        )
    }
}

/// True if so many waited for as long as somebody was late, in so many iterations.
fn is_about(found: u64, waiting: u64, iterations: u64) -> bool {
    let all = waiting * iterations * LATE;
    (all * 9 / 10..all * 11 / 10).contains(&found)
}

const BROADCAST: Job = Job {
    name: "broadcast",
    root: |_| 2,
    slow: 2,
    is_late: |_| true,
};

#[test]
fn who_reads_waits_for_the_root() {
    let (first, held_up) = BROADCAST.told();
    assert!(
        first.starts_with("stragglers rank 2 held up 3 others for 3"),
        "{first}"
    );
    assert!(
        matches!(held_up[..], [(2, it)] if is_about(it, 3, ITERATIONS)),
        "{held_up:?}"
    );
}

#[test]
fn nobody_waits_for_who_reads() {
    let (first, held_up) = Job {
        slow: 1,
        ..BROADCAST
    }
    .told();
    assert!(!first.starts_with("stragglers"), "{first}");
    assert_eq!(held_up, []);
}

#[test]
fn the_root_waits_for_the_last_that_contributes() {
    let reduce = Job {
        name: "reduce",
        slow: 1,
        ..BROADCAST
    };
    let (_, held_up) = reduce.told();
    assert!(
        matches!(held_up[..], [(1, it)] if is_about(it, 1, ITERATIONS)),
        "{held_up:?}"
    );
    // Nobody waits for the root, which only the others' data reach.
    assert_eq!(Job { slow: 2, ..reduce }.told().1, []);
}

#[test]
fn each_kernel_has_the_root_of_the_call_that_launched_it() {
    let in_turn = Job {
        root: |number| number % 4,
        is_late: |number| number % 4 == 2,
        ..BROADCAST
    };
    let (_, held_up) = in_turn.told();
    assert!(
        matches!(held_up[..], [(2, it)] if is_about(it, 3, ITERATIONS / 4)),
        "{held_up:?}"
    );
}
