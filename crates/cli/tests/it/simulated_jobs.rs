//! Simulated training jobs, whose true times are known.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use retime_sim::Duration;
use retime_testing::Effort;
use retime_testing::kineto::{
    Among, Class, Devices, Element, HostNames, KinetoRun, Step, Straggler, Style, Windows,
};
use serde_json::{Value, json};

use crate::common::Scratch;
use crate::common::directory::assert_same;

/// A run, and beside it the same with clocks that agree: the truth.
pub(crate) fn simulate(scratch: &Scratch, run: &KinetoRun) {
    let truth = KinetoRun {
        offset: 0,
        drift: 0,
        set_clocks: Vec::new(),
        devices: Devices {
            awaited: run.devices.awaited,
            ..Devices::default()
        },
        ..run.clone()
    };
    run.write(&scratch.join("run")).unwrap();
    truth.write(&scratch.join("true")).unwrap();
    for name in ["run", "true"] {
        fs::remove_file(scratch.join(name).join("truth.json")).unwrap();
    }
}

pub(crate) fn runs() -> Vec<KinetoRun> {
    let nccl = KinetoRun {
        ranks: 16,
        ranks_per_host: 4,
        sequence_numbers: false,
        windows: Windows {
            left_out: 2,
            cut: true,
        },
        seed: 5,
        ..KinetoRun::training(Style::Nccl)
    };
    let gloo = KinetoRun {
        ranks: 8,
        ranks_per_host: 4,
        missing: vec![3],
        seed: 6,
        ..KinetoRun::training(Style::Gloo)
    };
    vec![nccl, gloo]
}

pub(crate) fn read_report(scratch: &Scratch) -> Value {
    serde_json::from_str(&scratch.read("report.json")).unwrap()
}

#[test]
fn corrected_runs_hold_the_truth_within_their_bounds() {
    for run in runs() {
        let scratch = Scratch::new();
        simulate(&scratch, &run);
        let correct = "correct run -o out --truth true --json report.json --quiet";
        scratch.retime(correct).expect_code(0);
        let report = read_report(&scratch);
        assert!(report["before"]["reversed"].as_u64() > Some(0));
        assert_eq!(report["after"]["reversed"], 0);
        assert_eq!(report["bounds"]["truth"]["share"], 1.0);
        let error = |when: &str| {
            let of = &report["accuracy"][when]["relative_ticks"];
            of["mean_abs"].as_f64().unwrap()
        };
        assert!(100.0 * error("corrected") < error("recorded"), "{report:#}");
        // A host is a clock, and its name is in the report.
        let hosts = report["hosts"].as_array().unwrap();
        assert_eq!(
            hosts.len(),
            report["clocks"]["count"].as_u64().unwrap() as usize
        );
        assert_eq!(hosts[1]["name"], "node1");

        scratch.retime("check out --quiet").expect_code(0);
        scratch.retime("undo out -o back").expect_code(0);
        assert_same(&scratch.join("back"), &scratch.join("run"));
        // All of it is still JSON, and nothing but times is another.
        for entry in fs::read_dir(scratch.join("run")).unwrap() {
            let path = entry.unwrap().path();
            let read = |path: &Path| {
                let mut json = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
                let lengths = take_times(&mut json);
                (json, lengths)
            };
            let copy = scratch.join("out").join(path.file_name().unwrap());
            let ((own, lengths), (other, others)) = (read(&path), read(&copy));
            assert_eq!(own, other);
            // Lengths stay but where drift adds up, and change by that alone.
            let kept = lengths
                .iter()
                .zip(&others)
                .filter(|(a, b)| (*a - *b).abs() < 1e-4);
            let kept = kept.count();
            assert!(10 * kept > 9 * lengths.len(), "{kept} of {}", lengths.len());
            for (a, b) in lengths.iter().zip(&others) {
                assert!((a - b).abs() <= 1e-4 * a + 0.001, "{a} {b}");
            }
        }
    }
}

/// Hosts under one name with clocks of their own: the name proves nothing of any rank once two
/// contradict it. Where none do, bounds say that they hold if it does not deceive.
#[test]
fn a_name_that_is_contradicted_joins_nobody() {
    let shifts = [(2, 400_000), (3, 1_000_000), (7, 10_000_000)];
    for (seed, offset) in shifts.into_iter().take(Effort::asked().pick(1, 3, 3)) {
        for style in [Style::Nccl, Style::Gloo] {
            let run = KinetoRun {
                ranks: 6,
                ranks_per_host: 1,
                tensor: 2,
                host_names: HostNames::One,
                offset,
                seed,
                ..KinetoRun::training(style)
            };
            let scratch = Scratch::new();
            simulate(&scratch, &run);
            let text = scratch.succeed("correct run -o out --truth true --json report.json");
            let report = read_report(&scratch);
            assert_eq!(report["clocks"]["count"], 6);
            assert_eq!(report["bounds"]["truth"]["share"], 1.0, "{text}");
            assert!(report["bounds"].get("if_shared").is_none(), "{report:#}");
            assert!(text.contains(" ppm)"), "{text}");
        }
    }
    // Runs of ranks that agree far better than by chance are joined by that, and not by the name.
    let run = KinetoRun {
        host_names: HostNames::One,
        ..runs().remove(0)
    };
    let scratch = Scratch::new();
    simulate(&scratch, &run);
    let text = scratch.succeed("correct run -o out --truth true --json report.json");
    let report = read_report(&scratch);
    assert_eq!(report["clocks"]["count"], 4, "{text}");
    assert_eq!(report["bounds"]["truth"]["share"], 1.0, "{text}");
    let shared = &report["bounds"]["if_shared"];
    assert_eq!(shared[1]["node"], "localhost (clock 2)");

    let scratch = Scratch::new();
    simulate(&scratch, &runs()[0]);
    let text = scratch.succeed("correct run -o out --truth true --json report.json");
    let condition =
        "ppm, and if processes of one node read one clock: on node0, node1, node2 and 1 more)";
    assert!(text.contains(condition), "{text}");
    let shared = &read_report(&scratch)["bounds"]["if_shared"];
    assert_eq!(shared.as_array().unwrap().len(), 4);
    assert_eq!(
        shared[1],
        json!({ "clock": 1, "node": "node1", "processes": 4 })
    );
    // Whoever gives each process a clock assumes nothing.
    let text = scratch.succeed("correct run -o each --clocks process");
    assert!(!text.contains("processes of one node"), "{text}");
}

/// GPUs that are up to 200 us off the clock of their host: kernels begin before their launches,
/// and none does in the copy; the truth lies within the bounds, and hosts stay whole.
#[test]
fn gpus_with_clocks_of_their_own_are_put_right() {
    for (seed, awaited) in [(3, true), (4, false)] {
        let run = KinetoRun {
            ranks: 8,
            ranks_per_host: 4,
            iterations: 10,
            devices: Devices {
                offset: 200_000,
                drift: 2_000,
                awaited,
            },
            seed,
            ..KinetoRun::training(Style::Nccl)
        };
        let scratch = Scratch::new();
        simulate(&scratch, &run);
        let check = scratch.retime("check run");
        assert_eq!(check.code, Some(1));
        assert!(
            check.stdout.contains("GPU and host read two clocks"),
            "{}",
            check.stdout
        );
        let text = scratch.succeed("correct run -o out --truth true --json report.json");
        assert!(text.contains("devices"), "{text}");
        let report = read_report(&scratch);
        assert_eq!(report["after"]["reversed"], 0);
        // The truth has no early kernels, which would show there that GPUs have clocks of their own.
        let mean = |which: &str| {
            let relative = &report["accuracy"][which]["relative_ticks"]["mean_abs"];
            relative.as_f64().unwrap()
        };
        assert!(2.0 * mean("corrected") < mean("recorded"), "{text}");
        assert_eq!(report["bounds"]["truth"]["share"], 1.0, "{text}");
        let recorded = furthest_from_launches(&scratch, "run", run.ranks);
        let corrected = furthest_from_launches(&scratch, "out", run.ranks);
        // Calls that wait return 100 us after their GPU is done, and so leave half of that open.
        assert!(
            recorded > 100_000 && 2 * corrected < recorded,
            "{recorded} {corrected}"
        );
        let devices = report["devices"].as_array().unwrap();
        assert!(!devices.is_empty());
        let count = report["clocks"]["count"].as_u64().unwrap() as usize;
        assert_eq!(count, 2 + devices.len());
        assert_eq!(report["hosts"].as_array().unwrap().len(), 2);
        let again = scratch.retime("check out");
        assert_eq!(again.code, Some(0), "{again:#?}");
        assert!(!again.stdout.contains("kernels begin"), "{}", again.stdout);
        scratch.retime("undo out -o back").expect_code(0);
        assert_same(&scratch.join("back"), &scratch.join("run"));
        // Left with their hosts, they stay as they are.
        let by_node = scratch.retime("check run --clocks node");
        assert_eq!(by_node.code, Some(1));
    }
}

/// The largest error of the time from a launch to its kernel, in nanoseconds.
fn furthest_from_launches(scratch: &Scratch, directory: &str, ranks: u32) -> i64 {
    let delays = |directory: &str, rank: u32| {
        let path = scratch.join(&format!("{directory}/rank{rank}.pt.trace.json"));
        let json: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let mut begins: BTreeMap<i64, [Option<f64>; 2]> = BTreeMap::new();
        for event in json["traceEvents"].as_array().unwrap() {
            let place = match event["cat"].as_str() {
                Some("cuda_runtime") => 0,
                Some("kernel") => 1,
                _ => continue,
            };
            let number = event["args"]["correlation"].as_i64().unwrap();
            begins.entry(number).or_default()[place] = event["ts"].as_f64();
        }
        let delay = |[launch, kernel]: [Option<f64>; 2]| Some(kernel? - launch?);
        begins.into_values().filter_map(delay).collect::<Vec<f64>>()
    };
    let of_rank = |rank: u32| {
        let [is, truth] = [directory, "true"].map(|it| delays(it, rank));
        assert!(is.len() == truth.len() && is.len() > 100);
        let errors = is.into_iter().zip(truth);
        errors
            .map(|(is, truth)| ((is - truth) * 1e3).abs() as i64)
            .max()
    };
    (0..ranks).filter_map(of_rank).max().unwrap()
}

/// Takes the times out of a profile; returns lengths, in microseconds.
fn take_times(json: &mut Value) -> Vec<f64> {
    let mut lengths = Vec::new();
    for event in json["traceEvents"].as_array_mut().unwrap() {
        let event = event.as_object_mut().unwrap();
        event.remove("ts");
        lengths.extend(event.remove("dur").and_then(|it| it.as_f64()));
    }
    lengths
}

#[test]
fn who_is_late_is_named() {
    let scratch = Scratch::new();
    let mut run = runs().remove(0);
    run.stragglers = vec![Straggler {
        rank: 9,
        every: 1,
        late: 20_000_000,
    }];
    simulate(&scratch, &run);
    let outcome = scratch.retime("correct run -o out --json report.json");
    assert_eq!(outcome.code, Some(0), "{outcome:#?}");
    assert!(
        outcome.stdout.contains("stragglers rank 9 held up "),
        "{}",
        outcome.stdout
    );
    let report = read_report(&scratch);
    assert_eq!(report["stragglers"]["processes"][0]["name"], "rank 9");
}

/// Where one rank is always last, hosts without it are bounded from one side only, and nothing
/// tells how their own ranks differ. Nothing speaks against one clock either.
#[test]
fn a_host_of_which_no_rank_is_ever_last_has_one_clock() {
    let run = KinetoRun {
        scatter: Duration::uniform(10_000, 22_000),
        ..waiting_for_one()
    };
    let scratch = Scratch::new();
    simulate(&scratch, &run);
    let correct = "correct run -o out --truth true --json report.json --quiet";
    scratch.retime(correct).expect_code(0);
    let report = read_report(&scratch);
    assert_eq!(report["clocks"]["count"], 4);
    assert_eq!(report["bounds"]["truth"]["share"], 1.0);
    assert_eq!(report["stragglers"]["processes"][0]["name"], "rank 5");
    let accuracy = report["accuracy"].clone();
    let by_node = "correct run -o by-node --clocks node --truth true --json report.json --quiet";
    scratch.retime(by_node).expect_code(0);
    assert_eq!(read_report(&scratch)["accuracy"], accuracy);
}

/// A host comes last in each iteration: by dependencies its clock may be ahead by as long as
/// all wait for it.
#[test]
fn ends_of_kernels_settle_a_host_that_always_comes_last() {
    let run = KinetoRun {
        ranks: 16,
        ranks_per_host: 4,
        scatter: Duration::uniform(1_000, 7_000),
        stragglers: (4..8)
            .map(|rank| Straggler {
                rank,
                every: 1,
                late: 3_000_000,
            })
            .collect(),
        seed: 11,
        ..KinetoRun::data_parallel()
    };
    let scratch = Scratch::new();
    simulate(&scratch, &run);
    let correct = "correct run -o out --truth true --json report.json";
    let text = scratch.succeed(correct);
    assert!(text.contains("likely     within ±"), "{text}");
    assert!(text.contains(", for certain to ±"), "{text}");
    let report = read_report(&scratch);
    assert_eq!(report["clocks"]["count"], 4);
    assert_eq!(report["after"]["reversed"], 0);
    assert_eq!(report["bounds"]["truth"]["share"], 1.0);
    let error = report["accuracy"]["corrected"]["relative_ticks"]["mean_abs"].as_f64();
    assert!(error.unwrap() < 7_000.0, "{report:#}");
    let ends = &report["method"]["alignment"]["ends"];
    assert_eq!(ends["operations"], 50);
    let spread = ends["spread_ticks"].as_f64().unwrap();
    assert!((100.0..7_000.0).contains(&spread), "{ends}");
    // What is certain is far less.
    let bound = report["bounds"]["largest"].as_f64().unwrap();
    let likely = ends["likely_within_ticks"].as_array().unwrap();
    for likely in likely {
        assert!(10.0 * likely.as_f64().unwrap() < bound, "{ends} {bound}");
    }
    // Threads that gloo lets wait have to be woken: their ends tell nothing.
    let gloo = Scratch::new();
    simulate(&gloo, &runs()[1]);
    let text = gloo.succeed("correct run -o out --json report.json");
    assert!(!text.contains("likely"), "{text}");
    let alignment = &read_report(&gloo)["method"]["alignment"];
    assert!(
        alignment.is_object() && alignment.get("ends").is_none(),
        "{alignment}"
    );
}

/// A row for each participant, whose wait and transfer follow from arrivals and ends.
#[test]
fn a_table_lists_every_collective() {
    let scratch = Scratch::new();
    let run = KinetoRun {
        ranks: 4,
        ranks_per_host: 2,
        iterations: 3,
        filler: 1,
        ..KinetoRun::training(Style::Nccl)
    };
    simulate(&scratch, &run);
    scratch
        .retime("correct run -o out --collectives all.jsonl --json report.json -q")
        .expect_code(0);
    let report = read_report(&scratch);
    let text = std::fs::read_to_string(scratch.path().join("all.jsonl")).unwrap();
    let rows: Vec<Value> = text
        .lines()
        .map(|it| serde_json::from_str(it).unwrap())
        .collect();
    let operations: std::collections::BTreeSet<u64> = rows
        .iter()
        .map(|it| it["operation"].as_u64().unwrap())
        .collect();
    assert_eq!(
        operations.len() as u64,
        report["matching"]["collectives"].as_u64().unwrap()
    );
    for operation in operations {
        let own: Vec<&Value> = rows
            .iter()
            .filter(|it| it["operation"] == operation)
            .collect();
        let of = |row: &Value, key: &str| row[key].as_i64().unwrap();
        assert_eq!(of(own[0], "members") as usize, own.len());
        assert!(own.iter().all(|it| it["sequence"] == own[0]["sequence"]));
        assert!(own[0]["kind"].is_string() && own[0]["bytes"].is_u64());
        let last = own.iter().map(|it| of(it, "arrival")).max().unwrap();
        for row in &own {
            assert_eq!(of(row, "wait"), last - of(row, "arrival"));
            assert_eq!(of(row, "transfer"), of(row, "end") - last);
            let Some(found) = row["bandwidth"].as_f64() else {
                assert_eq!(of(row, "bytes"), 0);
                continue;
            };
            let bandwidth = of(row, "bytes") as f64 * 1e9 / of(row, "transfer") as f64;
            assert!((found / bandwidth - 1.0).abs() < 1e-9);
        }
        let lasts = own.iter().filter(|it| it["is_last"] == true);
        assert_eq!(
            lasts.map(|it| of(it, "arrival")).collect::<Vec<_>>(),
            [last]
        );
        assert!(own.len() < 4 || own[0]["between_hosts"] == true);
    }
    // The same as CSV; what is another file stays.
    scratch
        .retime("check out --collectives all.csv -q")
        .expect_code(0);
    let csv = std::fs::read_to_string(scratch.path().join("all.csv")).unwrap();
    assert_eq!(csv.lines().count(), rows.len() + 1);
    assert!(csv.starts_with("operation,group,sequence,kind,"));
    scratch
        .retime("check out --collectives all.csv -q")
        .expect_code(0);
    std::fs::write(scratch.path().join("mine.csv"), "mine").unwrap();
    for (file, why) in [("mine.csv", "is no report"), ("all.parquet", "to_parquet")] {
        let refused = scratch.retime(&format!("check out --collectives {file} -q"));
        assert_eq!(refused.code, Some(2));
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
    }
}

/// A few ends that no place of long kernels sets right are no reason not to name who was late by
/// many times that.
#[test]
fn the_slow_rank_is_named_though_little_is_left_reversed() {
    let scratch = Scratch::new();
    let run = KinetoRun {
        ranks: 64,
        ranks_per_host: 8,
        tensor: 4,
        iterations: 10,
        filler: 1,
        seed: 3,
        stragglers: vec![Straggler {
            rank: 24,
            every: 1,
            late: 20_000_000,
        }],
        ..KinetoRun::training(Style::Nccl)
    };
    simulate(&scratch, &run);
    let outcome = scratch.retime("correct run -o out");
    let first = outcome.stdout.lines().next().unwrap_or_default();
    assert!(first.contains("rank 24 held up 63 others"), "{first}");
}

/// Whoever waits for the slow rank shows by round trips how late it is, not what messages take.
#[test]
fn waiting_for_a_slow_rank_is_no_minimal_delay() {
    let run = KinetoRun {
        ranks: 8,
        iterations: 12,
        stragglers: vec![Straggler {
            rank: 5,
            every: 1,
            late: 300_000_000,
        }],
        offset: 100_000,
        seed: 6,
        ..KinetoRun::data_parallel()
    };
    let scratch = Scratch::new();
    simulate(&scratch, &run);
    let correct = "correct run -o out --truth true --json report.json --quiet";
    scratch.retime(correct).expect_code(0);
    let report = read_report(&scratch);
    let delay = &report["parameters"]["min_delay"];
    assert!(
        delay["half_round_trip_ticks"].as_i64() > Some(100_000_000),
        "{delay}"
    );
    assert_eq!(delay["largest_ticks"], 5_000);
    let error = report["accuracy"]["corrected"]["relative_ticks"]["mean_abs"].as_f64();
    assert!(error.unwrap() < 10_000.0, "{report:#}");
}

/// Kernels that follow each other without a gap, and wait for 100 ms, keep their lengths, though
/// their clocks run at other rates: some end before the map of their clock says. That leaves
/// nothing reversed, as effects keep so much further from their causes.
#[test]
fn kernels_that_keep_their_length_do_not_end_before_others_begin() {
    let run = KinetoRun {
        ranks: 32,
        ranks_per_host: 2,
        tensor: 4,
        iterations: 2,
        scatter: Duration::uniform(0, 50),
        stragglers: vec![Straggler {
            rank: 10,
            every: 1,
            late: 100_000_000,
        }],
        seed: 58,
        ..KinetoRun::training(Style::Nccl)
    };
    let scratch = Scratch::new();
    simulate(&scratch, &run);
    scratch.retime("correct run -o out --quiet").expect_code(0);
    scratch.retime("check out --quiet").expect_code(0);
    scratch.retime("undo out -o back").expect_code(0);
    assert_same(&scratch.join("back"), &scratch.join("run"));
}

/// Clocks that are off by milliseconds in a run of as many are shifted, not made to run at
/// other rates.
#[test]
fn in_a_short_run_clocks_keep_their_rates() {
    let run = KinetoRun {
        ranks: 24,
        ranks_per_host: 4,
        iterations: 4,
        windows: Windows {
            left_out: 1,
            cut: false,
        },
        seed: 617,
        ..KinetoRun::data_parallel()
    };
    let scratch = Scratch::new();
    simulate(&scratch, &run);
    let correct = "correct run -o out --json report.json --quiet";
    scratch.retime(correct).expect_code(0);
    let report = read_report(&scratch);
    assert_eq!(report["clocks"]["count"], 6);
    assert_eq!(report["after"]["reversed"], 0);
    assert_eq!(report["method"]["jumps"], 0);
}

/// A job on four hosts in which all wait for rank 5 again and again, so that dependencies leave the
/// clocks of other hosts open by 20 ms.
fn waiting_for_one() -> KinetoRun {
    let everybody = Step::Collective {
        class: Class::AllReduce,
        among: Among::World,
        elements: 1_000,
        element: Element::Float,
        asynchronous: false,
    };
    KinetoRun {
        ranks: 16,
        ranks_per_host: 4,
        tensor: 1,
        iterations: 40,
        steps: vec![
            Step::Compute(Duration::heavy(2_000_000, 2_000_000.0)),
            everybody,
        ],
        stragglers: vec![Straggler {
            rank: 5,
            every: 1,
            late: 20_000_000,
        }],
        filler: 1,
        seed: 4,
        ..KinetoRun::training(Style::Nccl)
    }
}

/// Who came last among the ranks of a host may have waited for another host in what cannot be seen.
#[test]
fn nobody_is_named_where_nothing_relates_the_clocks() {
    let mut run = waiting_for_one();
    run.tensor = 4;
    let Some(Step::Collective { among, .. }) = run.steps.get_mut(1) else {
        panic!("the second step is a collective");
    };
    *among = Among::Tensor;
    let scratch = Scratch::new();
    simulate(&scratch, &run);
    let text = scratch
        .retime("correct run -o out --json report.json")
        .stdout;
    assert!(!text.contains("held up"), "{text}");
    let stragglers = &read_report(&scratch)["stragglers"];
    assert_eq!(stragglers["unrelated"], true);
    assert_eq!(stragglers["processes"][0]["name"], "rank 5");
}
