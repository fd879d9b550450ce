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

/// A rank, by name of its host, with a range of the program and, if it communicates, an all-reduce.
fn rank(number: u32, host: &str, communicates: bool) -> String {
    let args = "\"Collective name\":\"allreduce\",\"In msg nelems\":8,\"Out msg nelems\":8,\"Seq\":1,\
                \"Process Group Name\":\"0\",\"Process Group Ranks\":\"[0, 1, 2]\",\"dtype\":\"Float\"";
    let kernel = format!(
        ",{{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclDevKernel_AllReduce\",\"pid\":0,\"tid\":7,\
         \"ts\":{},\"dur\":90,\"args\":{{{args}}}}}",
        2_000 + number
    );
    let kernel = if communicates { &*kernel } else { "" };
    format!(
        "{{\"distributedInfo\":{{\"rank\":{number},\"world_size\":3}},\"host_name\":\"{host}\",\"traceEvents\":[\
         {{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"step\",\"pid\":1,\"tid\":1,\"ts\":1000,\
         \"dur\":5000}}{kernel}]}}"
    )
}

/// Three ranks, on these hosts.
fn ranks(hosts: [&str; 3], communicate: [bool; 3]) -> Scratch {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.join("run")).unwrap();
    for (number, (host, communicates)) in (0..).zip(hosts.into_iter().zip(communicate)) {
        let text = rank(number, host, communicates);
        scratch.write(&format!("run/rank{number}.json"), &text);
    }
    scratch
}

/// Ranks of one host are no exception: that processes of one name read one clock can be wrong.
#[test]
fn ranks_that_recorded_no_communication_were_not_looked_at() {
    for hosts in [["a", "b", "c"], ["a", "a", "a"]] {
        let scratch = ranks(hosts, [false; 3]);
        let said = "No contradiction found, but nothing was looked at: no communication of 3 ranks is recorded.";
        let check = scratch.retime("check run").expect_code(3);
        assert_eq!(check.stdout.lines().last(), Some(said), "{check:#?}");
        let helps = "what helps: iterations in which ranks communicate, recorded with ProfilerActivity.CUDA";
        assert!(check.stdout.contains(helps), "{check:#?}");
        assert!(
            check.stdout.contains("not used   3 silent ranks"),
            "{check:#?}"
        );
        let copied = scratch.retime("correct run -o copy").expect_code(3);
        let kept = format!("{said} Nothing was changed: copy is a plain copy.");
        assert_eq!(copied.stdout.lines().last(), Some(&*kept), "{copied:#?}");
    }
    // One rank has nobody to differ from.
    let alone = Scratch::new();
    alone.write("rank0.json", &rank(0, "a", false));
    let said = "The trace has one location, so there is nothing to compare.";
    let check = alone.retime("check rank0.json").expect_code(0);
    assert_eq!(check.stdout.lines().last(), Some(said), "{check:#?}");
}

#[test]
fn nothing_relates_a_silent_rank_but_the_name_of_its_host() {
    let scratch = ranks(["a", "b", "c"], [true, true, false]);
    let check = scratch.retime("check run").expect_code(3);
    let said = "No contradiction found, but nothing recorded relates the times of rank 0 and rank 1 to those of \
                rank 2: by how much these are apart is not known.";
    assert_eq!(check.stdout.lines().last(), Some(said), "{check:#?}");
    let scratch = ranks(["a", "b", "b"], [true, true, false]);
    scratch.retime("check run").expect_code(0);
}
