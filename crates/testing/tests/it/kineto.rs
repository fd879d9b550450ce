//! Training runs: the files are JSON of the layout, and the truth is true of them.

use std::{collections::HashMap, fs, path::Path};

use retime_testing::kineto::{Bases, HostNames, KinetoRun, Straggler, Style, Windows};
use serde_json::Value;

/// A run as written.
struct Run {
    truth: Value,
    /// The file of each rank.
    files: HashMap<u64, Value>,
}

fn written(run: &KinetoRun) -> Run {
    let scratch = tempfile::tempdir().unwrap();
    run.write(scratch.path()).unwrap();
    let read = |name: &str| -> Value {
        serde_json::from_slice(&fs::read(scratch.path().join(name)).unwrap()).unwrap()
    };
    let truth = read("truth.json");
    let file = |rank: &Value| (number(rank, "rank"), read(rank["file"].as_str().unwrap()));
    let files = list(&truth, "ranks").iter().map(file).collect();
    Run { truth, files }
}

fn list<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of[key].as_array().unwrap()
}

fn number(of: &Value, key: &str) -> u64 {
    of[key].as_u64().unwrap()
}

fn small(style: Style) -> KinetoRun {
    KinetoRun {
        iterations: 6,
        filler: 1,
        ..KinetoRun::training(style)
    }
}

/// Runs of both styles that differ in everything else.
fn runs() -> Vec<KinetoRun> {
    let cut = |left_out| Windows {
        left_out,
        cut: true,
    };
    [Style::Nccl, Style::Gloo]
        .into_iter()
        .flat_map(|style| {
            [
                small(style),
                KinetoRun {
                    seed: 2,
                    ranks: 13,
                    ranks_per_host: 5,
                    tensor: 3,
                    windows: cut(2),
                    missing: vec![0, 7],
                    bases: Bases::Differing,
                    sequence_numbers: false,
                    host_names: HostNames::Absent,
                    ..small(style)
                },
                KinetoRun {
                    seed: 3,
                    ranks: 64,
                    ranks_per_host: 8,
                    iterations: 2,
                    bases: Bases::Absent,
                    ..small(style)
                },
            ]
        })
        .chain(
            [
                KinetoRun::sharded(),
                KinetoRun::embeddings(),
                KinetoRun::reduced_to_owners(),
                KinetoRun::experts(),
            ]
            .map(|it| KinetoRun {
                iterations: 3,
                filler: 1,
                ..it
            }),
        )
        .collect()
}

/// What a file says a time is, in nanoseconds, read by its digits.
fn nanoseconds(ts: &str) -> i128 {
    let (whole, decimals) = ts.split_once('.').unwrap();
    assert_eq!(decimals.len(), 3, "{ts}");
    whole.parse::<i128>().unwrap() * 1_000 + decimals.parse::<i128>().unwrap()
}

#[test]
fn members_of_an_operation_are_alike_and_stamped_by_their_hosts() {
    for run in runs() {
        let Run { truth, files } = written(&run);
        let ranks: HashMap<u64, &Value> = list(&truth, "ranks")
            .iter()
            .map(|it| (number(it, "rank"), it))
            .collect();
        assert_eq!(ranks.len(), run.ranks as usize - run.missing.len());
        let mut hosts = HashMap::new();
        for rank in ranks.values() {
            let clock = (rank["offset"].as_i64(), rank["drift"].as_i64());
            assert_eq!(*hosts.entry(rank["host"].as_str()).or_insert(clock), clock);
        }
        assert!(!list(&truth, "instances").is_empty());
        for instance in list(&truth, "instances") {
            let mut kinds = Vec::new();
            for member in list(instance, "members") {
                let (rank, begin) = (number(member, "rank"), number(member, "begin"));
                let event = &files[&rank]["traceEvents"][number(member, "event") as usize];
                kinds.push((&event["name"], &event["args"]["Process Group Ranks"]));
                let clock = ranks[&rank];
                let gained = i128::from(begin) * i128::from(clock["drift"].as_i64().unwrap());
                let shown = i128::from(number(&truth, "epoch"))
                    + i128::from(begin)
                    + i128::from(clock["offset"].as_i64().unwrap())
                    + gained.div_euclid(1_000_000_000);
                let base = i128::from(number(clock, "base"));
                assert_eq!(nanoseconds(member["ts"].as_str().unwrap()), shown - base);
            }
            if instance["name"] != "message" {
                assert!(kinds.iter().all(|it| it == &kinds[0]), "{kinds:?}");
            }
        }
    }
}

#[test]
fn nobody_ends_before_the_last_has_begun() {
    for run in runs() {
        let run = KinetoRun {
            missing: Vec::new(),
            windows: Windows::default(),
            ..run
        };
        let truth = written(&run).truth;
        let (mut rooted, mut late) = (0, 0);
        for instance in list(&truth, "instances") {
            let members = list(instance, "members");
            let last = members.iter().map(|it| number(it, "begin")).max().unwrap();
            let ends: Vec<_> = members.iter().map(|it| number(it, "end")).collect();
            let first = ends.iter().min().unwrap();
            if instance["name"] == "message" {
                assert_eq!(members.len(), 2);
            } else if instance["name"] == "all_to_allv" {
                // Nobody waits for what is empty.
            } else if instance["root"].is_null() {
                assert!(*first >= last, "{instance}");
                if run.style == Style::Nccl {
                    assert!(ends.iter().max().unwrap() - first <= 6_000, "{instance}");
                }
            } else {
                rooted += 1;
                late += u32::from(*first < last);
            }
        }
        assert_eq!(
            late > 0,
            rooted > 0,
            "some end before everybody has come, if they wait for a root alone"
        );
    }
}

/// Whatever threads and streams do, they do one thing after the other.
#[test]
fn threads_do_one_thing_at_a_time() {
    for run in runs() {
        let truth = written(&run).truth;
        let mut iterations: HashMap<(u64, &str), Vec<(u64, u64)>> = HashMap::new();
        for instance in list(&truth, "instances") {
            if instance["name"] == "message" && run.style == Style::Gloo {
                continue;
            }
            for member in list(instance, "members") {
                let lane = (number(member, "rank"), instance["group"].as_str().unwrap());
                let span = (number(member, "begin"), number(member, "end"));
                iterations.entry(lane).or_default().push(span);
            }
        }
        let threads = if run.style == Style::Nccl { 1 } else { 2 };
        for spans in iterations.values_mut() {
            // A kernel can be several messages.
            spans.dedup();
            assert!(spans.is_sorted_by_key(|it| it.0));
            for after in spans.windows(threads + 1) {
                let free = after[..threads].iter().map(|it| it.1).min().unwrap();
                assert!(after[threads].0 >= free, "{after:?}");
            }
        }
    }
}

#[test]
fn windows_differ_and_a_straggler_is_late() {
    let run = KinetoRun {
        windows: Windows {
            left_out: 2,
            cut: true,
        },
        stragglers: vec![Straggler {
            rank: 3,
            every: 2,
            late: 50_000_000,
        }],
        ..small(Style::Nccl)
    };
    let truth = written(&run).truth;
    let mut counts = HashMap::new();
    let mut late = 0;
    for instance in list(&truth, "instances") {
        let members = list(instance, "members");
        for member in members {
            *counts.entry(number(member, "rank")).or_insert(0) += 1;
        }
        let last = members.iter().max_by_key(|it| number(it, "begin")).unwrap();
        let first = members.iter().map(|it| number(it, "begin")).min().unwrap();
        // Who had to wait for it is late for others in turn.
        let takes_part = members.iter().any(|it| number(it, "rank") == 3);
        if takes_part && number(last, "begin") - first > 40_000_000 {
            assert_eq!(number(last, "rank"), 3, "{instance}");
            late += 1;
        }
    }
    assert!(late > 0);
    assert!(counts.values().any(|it| *it != counts[&0]), "{counts:?}");
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let bytes = |directory: &Path, run: &KinetoRun| {
        run.write(directory).unwrap();
        let mut files: Vec<_> = fs::read_dir(directory)
            .unwrap()
            .map(|it| it.unwrap().path())
            .map(|path| {
                (
                    path.file_name().unwrap().to_owned(),
                    fs::read(&path).unwrap(),
                )
            })
            .collect();
        files.sort();
        files
    };
    for style in [Style::Nccl, Style::Gloo] {
        let (first, again, other) = (
            tempfile::tempdir().unwrap(),
            tempfile::tempdir().unwrap(),
            tempfile::tempdir().unwrap(),
        );
        let made = bytes(first.path(), &small(style));
        assert_eq!(made, bytes(again.path(), &small(style)));
        assert_ne!(
            made,
            bytes(
                other.path(),
                &KinetoRun {
                    seed: 9,
                    ..small(style)
                }
            )
        );
    }
}
