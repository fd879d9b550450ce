//! Simulated training runs: nothing is joined that does not belong together.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use retime::causality::Role;
use retime::format::{Format, Scan};
use retime::pipeline::{Analysis, AnalysisOptions, Method};
use retime_kineto::Kineto;

use retime_testing::kineto::{
    Duration, Element, HostNames, KinetoRun, Step, Straggler, Style, Version, Windows,
};

use crate::truth::Truth;

/// Jobs in which nothing but messages ties hosts: neighbours exchange them, by turns further apart
/// in time than clocks are and closer.
fn exchanges(seed: u64) -> KinetoRun {
    let of = seed / 13;
    KinetoRun {
        seed,
        ranks: [2, 4][(of % 2) as usize],
        ranks_per_host: 1,
        tensor: 2,
        iterations: [6, 12, 30][(of / 2 % 3) as usize],
        steps: vec![
            Step::Compute(Duration::heavy(
                [1_000_000, 30_000_000][(of / 3 % 2) as usize],
                [100_000.0, 2_000_000.0][(of / 4 % 2) as usize],
            )),
            Step::Neighbours {
                elements: 1_000,
                element: Element::Half,
            },
        ],
        offset: [100_000, 10_000_000][(of / 5 % 2) as usize],
        windows: Windows {
            left_out: [0, 2][(of / 2 % 2) as usize],
            cut: of % 3 == 1,
        },
        ..KinetoRun::training([Style::Nccl, Style::Gloo][(of % 3 / 2) as usize])
    }
}

/// Mostly hosts have names.
fn names(seed: u64) -> HostNames {
    if seed.is_multiple_of(5) {
        HostNames::Absent
    } else {
        HostNames::Own
    }
}

/// Runs of all kinds, the same for the same seed.
fn run(seed: u64) -> KinetoRun {
    if seed % 13 == 6 {
        return exchanges(seed);
    }
    if seed % 8 == 7 {
        return serving(seed);
    }
    let style = [Style::Nccl, Style::Gloo][(seed % 2) as usize];
    let ranks = [8, 16, 12][(seed / 2 % 3) as usize];
    let mut run = KinetoRun {
        seed,
        ranks,
        ranks_per_host: [4, 8, 3][(seed / 3 % 3) as usize],
        sequence_numbers: seed.is_multiple_of(4),
        host_names: names(seed),
        equal_names: seed % 3 == 1,
        ..KinetoRun::training(style)
    };
    if seed % 5 == 2 {
        // All groups with others in them have the same members.
        run.tensor = ranks;
    }
    if !seed.is_multiple_of(3) {
        run.windows = Windows {
            left_out: 2,
            cut: seed % 6 < 3,
        };
    }
    if seed.is_multiple_of(7) {
        run.missing = vec![1, 6];
    }
    if seed % 11 < 5 {
        // Iterations take equally long for all who wait, and few are recorded.
        run.iterations = [4, 8][(seed / 11 % 2) as usize];
        run.stragglers = vec![Straggler {
            rank: (seed % u64::from(ranks)) as u32,
            every: 1,
            late: [20_000_000, 300_000_000][(seed / 22 % 2) as usize],
        }];
    }
    run
}

/// Servers, some with GPUs on several hosts, which do not all know the time well, and some of
/// which take steps that last equally long.
fn serving(seed: u64) -> KinetoRun {
    let of = seed / 8;
    let ranks = [4, 8, 2][(of % 3) as usize];
    let mut steps = KinetoRun::serving().steps;
    if of % 5 < 2 {
        for step in &mut steps {
            if let Step::Compute(takes) = step {
                *takes = Duration::uniform(200_000, 201_000);
            }
        }
    }
    KinetoRun {
        steps,
        seed,
        ranks,
        tensor: ranks,
        ranks_per_host: if of % 7 < 3 { 2 } else { ranks },
        offset: [100_000, 10_000_000][(of / 2 % 2) as usize],
        sequence_numbers: (of / 4).is_multiple_of(2),
        host_names: names(of),
        missing: if of % 6 == 4 { vec![1] } else { Vec::new() },
        windows: Windows {
            left_out: 3,
            cut: of % 4 < 2,
        },
        ..KinetoRun::serving()
    }
}

/// Pipelines of all versions, some in parts, with hosts of one stage or several.
fn pipeline(seed: u64) -> KinetoRun {
    let tensor = [1, 2][(seed % 2) as usize];
    let ranks = [4, 8, 6][(seed / 2 % 3) as usize] * tensor;
    let mut run = KinetoRun {
        seed,
        ranks,
        ranks_per_host: [2, 4, 1][(seed / 5 % 3) as usize],
        tensor,
        iterations: [3, 8][(seed / 3 % 2) as usize],
        version: [Version::Peers, Version::Groups, Version::Ranges][(seed / 4 % 3) as usize],
        sequence_numbers: seed % 7 < 2,
        host_names: names(seed),
        offset: [100_000, 3_000_000, 30_000_000][(seed / 7 % 3) as usize],
        ..KinetoRun::pipeline(seed % 3 < 2)
    };
    if seed % 4 == 3 {
        run.windows = Windows {
            left_out: 1,
            cut: seed % 8 == 3,
        };
    }
    if seed % 9 == 5 {
        run.missing = vec![1];
    }
    if seed % 5 == 4 {
        // Equal microbatches, and nothing but messages.
        run.steps.truncate(1);
        if let Some(Step::Pipeline { forward, .. }) = run.steps.first_mut() {
            *forward = Duration::uniform(1_500_000, 1_501_000);
        }
    }
    run
}

/// The rank of a location, by the name of its process.
fn rank(scan: &Scan, location: usize) -> u64 {
    let process = scan.info.locations[location].process;
    let name = &scan.info.processes[process].name;
    let number = name.strip_prefix("rank ").unwrap();
    number.trim_start_matches("TP").parse().unwrap()
}

/// How many calls were joined, of those that could be.
pub(crate) struct Joined {
    pub(crate) calls: usize,
    /// At corrected times, round by round.
    again: Vec<usize>,
    pub(crate) of: usize,
}

/// Compares what was joined with the truth: at recorded times, and as often again as other
/// calls come together at corrected ones.
fn judge(directory: &Path) -> Joined {
    let truth = Truth::of(directory);
    let trace = Kineto.open(directory).unwrap();
    let mut scan = trace.scan(&()).unwrap();
    let mut joined = judge_scan(&truth, &scan);
    for _ in 0..4 {
        let options = AnalysisOptions::default();
        let analysis = Analysis::new(scan.info, scan.logs, options, &()).unwrap();
        let Ok(solution) = analysis.solve(&Method::default(), &()) else {
            break;
        };
        match trace.rematch(&solution.correction, &()).unwrap() {
            Some(again) => scan = again,
            None => break,
        }
        joined.again.push(judge_scan(&truth, &scan).calls);
    }
    joined
}

pub(crate) fn judge_scan(truth: &Truth, scan: &Scan) -> Joined {
    let mut operations: BTreeMap<_, Vec<&BTreeSet<usize>>> = BTreeMap::new();
    let mut calls = 0;
    for (location, log) in scan.logs.iter().enumerate() {
        if log.is_empty() {
            continue;
        }
        let rank = rank(scan, location);
        let log = log.clone().into_columns();
        let mut found = |node: usize, key| {
            let (time, role) = (log.times[node].0, log.roles[node]);
            let is_begin = matches!(role, Role::CollectiveBegin | Role::Send);
            let instances = truth.instances(rank, time, is_begin);
            operations.entry(key).or_default().push(instances);
            calls += usize::from(is_begin || role == Role::Receive);
        };
        for it in &log.named_operations {
            found(it.node.index(), (false, it.id.space, it.id.number));
        }
        for it in &log.named_messages {
            found(it.node.index(), (true, it.id.space, it.id.number));
        }
    }
    for found in operations.values() {
        let is_one = |it: &&usize| found.iter().all(|other| other.contains(it));
        let name = |it: &usize| &*truth.instances[*it].name;
        let names: Vec<&str> = found.iter().flat_map(|it| it.iter().map(name)).collect();
        assert!(found[0].iter().any(|it| is_one(&it)), "joined: {names:?}");
    }
    let of = truth.instances.iter().filter(|it| it.members > 1);
    Joined {
        calls,
        again: Vec::new(),
        of: of.map(|it| it.members).sum(),
    }
}

#[test]
fn no_call_is_joined_with_those_of_others() {
    none_is_joined_wrongly(run, 8);
}

#[test]
fn no_message_of_a_pipeline_is_joined_with_another() {
    none_is_joined_wrongly(pipeline, 6);
}

/// Judges as many runs as are asked for, or so many.
pub(crate) fn none_is_joined_wrongly(run: fn(u64) -> KinetoRun, usual: u64) {
    let runs = std::env::var("RETIME_KINETO_RUNS");
    let runs = runs.ok().and_then(|it| it.parse().ok()).unwrap_or(usual);
    let mut wrong = Vec::new();
    for seed in 0..runs {
        let directory = tempfile::tempdir().unwrap();
        run(seed).write(directory.path()).unwrap();
        if let Err(error) = std::panic::catch_unwind(|| judge(directory.path())) {
            wrong.push((seed, error.downcast_ref::<String>().cloned()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// The files of a run as one, in which each `pid` says whose it is.
fn merged(run: &Path, ranks: u32) -> String {
    let mut events = Vec::new();
    let mut header = String::new();
    for rank in 0..ranks {
        let file = run.join(format!("rank{rank}.pt.trace.json"));
        let text = std::fs::read_to_string(file).unwrap();
        let (before, rest) = text.split_once("\"traceEvents\": [").unwrap();
        let (own, _) = rest.rsplit_once("],\"traceName\"").unwrap();
        let mut parts = own.split("\"pid\": ");
        let mut labelled = parts.next().unwrap().to_owned();
        for part in parts {
            let (pid, rest) = part.split_once(',').unwrap();
            let pid = pid.trim_matches('"');
            write!(labelled, "\"pid\": \"[TP{rank:02}] {pid}\",{rest}").unwrap();
        }
        events.push(labelled);
        before.clone_into(&mut header);
    }
    format!("{header}\"traceEvents\": [{}]}}", events.join(","))
}

/// The files of a run as one, in which the names of processes say whose they are.
fn named(run: &Path, ranks: u32, name: impl Fn(u32) -> String) -> String {
    let mut all = Vec::new();
    for rank in 0..ranks {
        let file = run.join(format!("rank{rank}.pt.trace.json"));
        let text = std::fs::read_to_string(file).unwrap();
        let file: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut pids = BTreeSet::new();
        for event in file["traceEvents"].as_array().unwrap() {
            let mut event = event.clone();
            if event["ph"] == "M" {
                continue;
            }
            let pid = format!("{rank} {}", event["pid"]);
            event["pid"] = pid.clone().into();
            pids.insert(pid);
            all.push(event);
        }
        let named = pids.into_iter().map(|pid| {
            serde_json::json!({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name(rank)}})
        });
        all.extend(named);
    }
    serde_json::json!({"traceEvents": all}).to_string()
}

/// A run as `TraceFuse` merges it: numbers of processes are moved by a million for each
/// rank, and what they were, and the rank, stands in the arguments of each event.
fn fused(run: &Path, ranks: u32) -> String {
    let mut events = Vec::new();
    for rank in 0..ranks {
        let file = run.join(format!("rank{rank}.pt.trace.json"));
        let text = std::fs::read_to_string(file).unwrap();
        let all: serde_json::Value = serde_json::from_str(&text).unwrap();
        for event in all["traceEvents"].as_array().unwrap() {
            let mut event = event.clone();
            let pid = event["pid"].clone();
            if let Some(pid) = pid.as_u64() {
                event["pid"] = (pid + 1_000_000 * u64::from(rank)).into();
            }
            if !event["args"].is_object() {
                event["args"] = serde_json::json!({});
            }
            event["args"]["rank"] = rank.into();
            event["args"]["pid_raw"] = pid;
            if let Some(launch) = event["args"]["correlation"].as_u64() {
                event["args"]["correlation"] = (launch + 10_000_000 * u64::from(rank)).into();
            }
            events.push(event);
        }
    }
    let mut text = String::from("{\"baseTimeNanoseconds\": ");
    write!(text, "{}, \"traceEvents\": ", base(run)).unwrap();
    text + &serde_json::to_string(&events).unwrap() + "}"
}

/// The base time that all files of a run share.
fn base(run: &Path) -> u64 {
    let text = std::fs::read_to_string(run.join("rank0.pt.trace.json")).unwrap();
    let all: serde_json::Value = serde_json::from_str(&text).unwrap();
    all["baseTimeNanoseconds"].as_u64().unwrap_or(0)
}

#[test]
fn ranks_in_one_file_are_joined_as_those_of_several() {
    for sequence_numbers in [true, false] {
        let run = KinetoRun {
            ranks: 8,
            iterations: 8,
            sequence_numbers,
            windows: Windows {
                left_out: 1,
                cut: false,
            },
            ..KinetoRun::training(Style::Nccl)
        };
        let directory = tempfile::tempdir().unwrap();
        run.write(directory.path()).unwrap();
        let truth = Truth::of(directory.path());
        let apart = Kineto.open(directory.path()).unwrap().scan(&()).unwrap();
        let path = directory.path().join("merged.json");
        for text in [
            merged(directory.path(), run.ranks),
            fused(directory.path(), run.ranks),
        ] {
            std::fs::write(&path, text).unwrap();
            let together = Kineto.open(&path).unwrap().scan(&()).unwrap();
            let processes = together.info.processes.iter();
            let ranks = processes.filter(|it| it.name.starts_with("rank "));
            assert_eq!(ranks.count(), 8);
            let calls = judge_scan(&truth, &together).calls;
            assert_eq!(calls, judge_scan(&truth, &apart).calls);
            assert!(calls > 200, "{calls}");
        }
    }
}

#[test]
fn ranks_in_one_file_share_the_clock_of_the_host_that_their_names_say() {
    let run = KinetoRun {
        ranks: 8,
        iterations: 4,
        ..KinetoRun::training(Style::Nccl)
    };
    let directory = tempfile::tempdir().unwrap();
    run.write(directory.path()).unwrap();
    let path = directory.path().join("merged.json");
    let hosts = |name: fn(u32) -> String| {
        std::fs::write(&path, named(directory.path(), run.ranks, name)).unwrap();
        let trace = Kineto.open(&path).unwrap();
        let scan = trace.scan(&()).unwrap();
        let warned = trace.warnings(&scan.contents).concat();
        (
            scan.info.nodes,
            warned.contains("each has a clock of its own"),
        )
    };
    let (nodes, is_warned) = hosts(|rank| format!("Rank {rank} (node{})", rank / 4));
    assert_eq!(
        (&*nodes, is_warned),
        (&["node0".to_owned(), "node1".to_owned()][..], false)
    );
    let (nodes, is_warned) = hosts(|rank| format!("Rank {rank} (GPU {})", rank % 4));
    assert_eq!((&*nodes, is_warned), (&[][..], true));
}

#[test]
fn ranks_are_those_of_names_where_files_say_none() {
    let run = KinetoRun {
        iterations: 4,
        ..KinetoRun::training(Style::Nccl)
    };
    let directory = tempfile::tempdir().unwrap();
    run.write(directory.path()).unwrap();
    let truth = Truth::of(directory.path());
    let open = || Kineto.open(directory.path()).unwrap();
    let told = judge_scan(&truth, &open().scan(&()).unwrap()).calls;
    for rank in 0..run.ranks {
        let path = directory.path().join(format!("rank{rank}.pt.trace.json"));
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("distributedInfo", "nothing")).unwrap();
    }
    let trace = open();
    let scan = trace.scan(&()).unwrap();
    let warnings = trace.warnings(&scan.contents).concat();
    assert!(warnings.contains("those in the names"), "{warnings}");
    assert_eq!(scan.info.processes.len(), 8);
    assert_eq!(judge_scan(&truth, &scan).calls, told);
}

/// Half of the ranks are of a version whose kernels say nothing: a newer one helps, though kernels of the others
/// say their groups.
#[test]
fn a_newer_version_is_advised_where_only_some_ranks_have_one() {
    let run = KinetoRun {
        iterations: 4,
        ..KinetoRun::pipeline(true)
    };
    let older = KinetoRun {
        version: Version::Ranges,
        ..run.clone()
    };
    let [directory, others] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    run.write(directory.path()).unwrap();
    older.write(others.path()).unwrap();
    let warned = || {
        let trace = Kineto.open(directory.path()).unwrap();
        let scan = trace.scan(&()).unwrap();
        trace.warnings(&scan.contents).concat()
    };
    assert!(!warned().contains("PyTorch 2.3 or newer writes"));
    for rank in 0..4 {
        let name = format!("rank{rank}.pt.trace.json");
        std::fs::copy(others.path().join(&name), directory.path().join(&name)).unwrap();
    }
    assert!(
        warned().contains("PyTorch 2.3 or newer writes"),
        "{}",
        warned()
    );
}
