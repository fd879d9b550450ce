//! Streams of accelerators whose launches and synchronisations are recorded.

use std::collections::BTreeMap;

use crate::common::Scratch;
use crate::common::directory::assert_same;
use crate::common::times::times;
use crate::common::traces;
use retime_sim::{Layout, Program, from, to};
use serde_json::Value;

const ROUNDS: u64 = 40;

/// Two ranks exchange messages; the second launches a kernel in each round and waits for
/// it. Its clock is so many ns ahead, its stream behind that.
fn launches(layout: Layout, ahead: u64, stream_behind: u64) -> Program {
    let mut program = Program::with_layout(layout);
    for round in 0..ROUNDS {
        let start = 5_000_000 + 50_000 * round;
        let (there, back) = (2_000 + round * 37 % 90, 2_000 + round * 53 % 80);
        program
            .on(0)
            .send(start, to(1))
            .recv(start + 20_000 + back, from(1));
        program
            .on(1)
            .recv(start + there + ahead, from(0))
            .enter(start + 4_000 + ahead, "cudaLaunchKernel")
            .leave(start + 4_200 + ahead, "cudaLaunchKernel")
            .enter(start + 4_300 + ahead, "cudaDeviceSynchronize")
            .leave(start + 18_000 + ahead, "cudaDeviceSynchronize")
            .send(start + 20_000 + ahead, to(0));
        program
            .on_stream(1)
            .enter(start + 5_000 + ahead - stream_behind, "kernel")
            .leave(start + 17_500 + ahead - stream_behind, "kernel");
    }
    program
}

fn report(scratch: &Scratch, command: &str) -> Value {
    serde_json::from_str(&scratch.retime(command).stdout).unwrap()
}

#[test]
fn streams_stay_where_their_launches_are() {
    let scratch = traces::scratch([("trace", launches(Layout::node_per_rank(2), 1_000_000, 0))]);
    for clocks in ["auto", "node", "process", "location"] {
        for method in ["auto", "clc", "regression", "optimal"] {
            let options = format!("--clocks {clocks} --method {method}");
            scratch.succeed(&format!("correct trace -o out --force -q {options}"));
            let all: BTreeMap<u64, Vec<u64>> = times(&scratch.join("out/traces.otf2"))
                .into_iter()
                .collect();
            let (host, stream) = (&all[&1], all.values().next_back().unwrap());
            for (host, stream) in host.chunks(6).zip(stream.chunks(2)) {
                let launched = stream[0].abs_diff(host[1]);
                let waited = host[4].abs_diff(stream[1]);
                assert!(
                    (999..=1_001).contains(&launched),
                    "{launched} with {options}"
                );
                assert!((499..=501).contains(&waited), "{waited} with {options}");
            }
            scratch.succeed("undo out -o back --force -q");
            assert_same(&scratch.join("trace"), &scratch.join("back"));
        }
    }
}

#[test]
fn a_stream_that_was_converted_wrongly_is_moved_alone() {
    let scratch = traces::scratch([("trace", launches(Layout::one_node(2), 0, 300_000))]);
    let checked = report(&scratch, "check trace --json -");
    assert_eq!(checked["before"]["reversed"], ROUNDS);
    assert_eq!(checked["clocks"]["count"], 2, "the ranks share theirs");
    assert_eq!(checked["clocks"]["refuted_groups"], 1);
    scratch.succeed("correct trace -o out -q");
    let checked = report(&scratch, "check out --json -");
    assert_eq!(checked["before"]["reversed"], 0);
    let [before, after] = ["trace", "out"].map(|name| {
        let all = times(&scratch.join(name).join("traces.otf2")).into_iter();
        all.collect::<BTreeMap<u64, Vec<u64>>>()
    });
    assert_eq!((&before[&0], &before[&1]), (&after[&0], &after[&1]));
}

#[test]
fn a_sound_stream_is_left_alone() {
    let scratch = traces::scratch([("trace", launches(Layout::node_per_rank(2), 0, 0))]);
    // The context that a rank has made is no process.
    let checked = report(&scratch, "check trace --json -");
    assert_eq!(checked["trace"]["processes"], 2);
    assert_eq!(checked["trace"]["locations"], 3);
    for clocks in ["auto", "node", "process", "location"] {
        scratch.succeed(&format!(
            "correct trace -o out --force -q --clocks {clocks}"
        ));
        assert_same(&scratch.join("trace"), &scratch.join("out"));
    }
}
