//! Hosts whose profiles have no call in common.

use retime_testing::kineto::{Among, Class, Element, KinetoRun, Step, Style};
use serde_json::json;

use crate::common::Scratch;
use crate::simulated_jobs::{read_report, simulate};

/// Groups of eight ranks on two hosts each, which do the same and never meet.
fn job(offset: u64) -> Scratch {
    let scratch = Scratch::new();
    let sum = Step::Collective {
        class: Class::AllReduce,
        among: Among::Tensor,
        elements: 131_328,
        element: Element::BFloat16,
        asynchronous: false,
    };
    let run = KinetoRun {
        ranks: 16,
        ranks_per_host: 4,
        tensor: 8,
        iterations: 6,
        steps: vec![KinetoRun::data_parallel().steps[0], sum],
        offset,
        drift: 0,
        ..KinetoRun::training(Style::Nccl)
    };
    simulate(&scratch, &run);
    scratch
}

const SETS: &str = "nothing recorded relates the times of node0 and node1 to those of node2 and node3: \
                    by how much these are apart is not known.";

#[test]
fn hosts_that_nothing_relates_are_named_and_the_exit_code_tells() {
    let scratch = job(0);
    let check = scratch
        .retime("check run --json report.json")
        .expect_code(3);
    let last = check.stdout.lines().last().unwrap_or_default().to_owned();
    assert_eq!(last, format!("No contradiction found, but {SETS}"));
    let report = read_report(&scratch);
    let sets = json!([
        {"clocks": [0, 1], "names": ["node0", "node1"]},
        {"clocks": [2, 3], "names": ["node2", "node3"]},
    ]);
    assert_eq!(report["examined"]["unrelated"], sets);
    let copied = scratch.retime("correct run -o copy").expect_code(3);
    assert!(copied.stdout.contains(SETS), "{copied:#?}");
}

#[test]
fn corrected_hosts_that_nothing_relates_are_named_too() {
    let scratch = job(5_000_000);
    let check = scratch.retime("check run").expect_code(1);
    assert!(
        check.stdout.contains(&format!("Mind that {SETS}")),
        "{check:#?}"
    );
    let correct = scratch.retime("correct run -o out").expect_code(3);
    assert!(
        correct.stdout.contains("no contradiction left"),
        "{correct:#?}"
    );
    assert!(
        correct.stdout.contains(&format!("Mind that {SETS}")),
        "{correct:#?}"
    );
    scratch.retime("check out").expect_code(3);
}

/// A stretch of time does not tell what relates clocks before it and afterwards.
#[test]
fn a_stretch_says_nothing_of_it() {
    let scratch = job(0);
    scratch.succeed("correct run -o part --from 5ms");
}

/// A file of another run does not take the clock of its host: that may have been set between both.
#[test]
fn a_file_of_another_run_is_not_related_by_the_name_of_its_host() {
    let run = KinetoRun {
        ranks: 4,
        ranks_per_host: 2,
        iterations: 10,
        offset: 0,
        drift: 0,
        ..KinetoRun::training(Style::Nccl)
    };
    let scratch = Scratch::new();
    simulate(&scratch, &run);
    scratch.retime("check run --quiet").expect_code(0);
    run.write(&scratch.join("run")).unwrap();
    let before = KinetoRun { seed: 2, ..run };
    before.write(&scratch.join("before")).unwrap();
    let name = "rank1.pt.trace.json";
    let text = scratch.read(&format!("before/{name}"));
    let base = "\"baseTimeNanoseconds\": 17908";
    assert!(text.contains(base));
    let text = text.replace(base, "\"baseTimeNanoseconds\": 17904");
    scratch.write(&format!("run/{name}"), &text);
    std::fs::remove_file(scratch.join("run/truth.json")).unwrap();
    let check = scratch.retime("check run").expect_code(3);
    let last = "No contradiction found, but nothing recorded relates the times of rank 0 and node1 to those of \
                rank 1: by how much these are apart is not known.";
    assert_eq!(check.stdout.lines().last(), Some(last), "{check:#?}");
    assert!(check.stdout.contains("rank 1 was recorded 400000 s before"));
}
