//! Directories in which not every file is that of a rank of one run.

use std::fs;
use std::path::Path;

use retime::format::{Format, Scan};
use retime_kineto::Kineto;
use retime_testing::kineto::{KinetoRun, Style};

const RANKS: u32 = 4;

fn run(seed: u64, sequence_numbers: bool) -> KinetoRun {
    KinetoRun {
        seed,
        ranks: RANKS,
        ranks_per_host: 2,
        iterations: 10,
        sequence_numbers,
        ..KinetoRun::training(Style::Nccl)
    }
}

fn file(run: &Path, rank: u32) -> std::path::PathBuf {
    run.join(format!("rank{rank}.pt.trace.json"))
}

/// The scan of a directory, and its warnings.
fn scan(run: &Path) -> (Scan, String) {
    let trace = Kineto.open(run).unwrap();
    let scan = trace.scan(&()).unwrap();
    let warned = trace.warnings(&scan.contents).concat();
    (scan, warned)
}

/// The number of ends of collectives of a rank that are joined.
fn joined(scan: &Scan, rank: u32) -> usize {
    let name = format!("rank {rank}");
    let of_rank = scan.info.locations.iter().zip(&scan.logs);
    let of_rank = of_rank.filter(|(it, _)| scan.info.processes[it.process].name == name);
    let of_log = of_rank.filter(|(_, log)| !log.is_empty());
    let counts = of_log.map(|(_, log)| log.clone().into_columns().named_operations.len());
    counts.sum()
}

/// A job with the file of one rank from a run that lasted otherwise, or of its own, by a clock that is an hour
/// behind.
#[test]
fn a_file_of_another_run_is_told_and_joined_with_nothing() {
    let others = tempfile::tempdir().unwrap();
    run(78, true).write(others.path()).unwrap();
    for sequence_numbers in [true, false] {
        for is_stale in [true, false] {
            let directory = tempfile::tempdir().unwrap();
            let of = directory.path();
            run(77, sequence_numbers).write(of).unwrap();
            let before = joined(&scan(of).0, 2);
            let from = if is_stale { others.path() } else { of };
            let text = fs::read_to_string(file(from, 2)).unwrap();
            let base = "\"baseTimeNanoseconds\": 17908";
            assert!(text.contains(base));
            let text = text.replace(base, "\"baseTimeNanoseconds\": 17904");
            let text = if sequence_numbers {
                text
            } else {
                text.replace("\"Seq\"", "\"Was\"")
            };
            fs::write(file(of, 2), text).unwrap();
            let (scan, warned) = scan(of);
            let is_told = warned.contains("rank 2 was recorded 400000 s before rank 0, and no");
            assert_eq!(is_told, is_stale, "{sequence_numbers} {warned}");
            assert!(before > 0);
            assert_eq!(joined(&scan, 2), if is_stale { 0 } else { before });
            assert!(joined(&scan, 1) > 0);
        }
    }
}

/// A job with the file of one rank from a run of the same time, or from a later part of one: its numbers are
/// others. Nothing but the name of its host says what clock it has.
#[test]
fn a_file_of_other_numbers_is_told_and_has_a_clock_of_its_own() {
    let nodes = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    for (more, expected) in [
        (0, nodes(&["node0", "node1"])),
        (5_000, nodes(&["node0", "node1 (rank 2)", "node1"])),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let of = directory.path();
        run(77, true).write(of).unwrap();
        let text = fs::read_to_string(file(of, 2)).unwrap();
        let mut read: serde_json::Value = serde_json::from_str(&text).unwrap();
        for event in read["traceEvents"].as_array_mut().unwrap() {
            if let Some(number) = event["args"]["Seq"].as_u64() {
                event["args"]["Seq"] = (number + more).into();
            }
        }
        fs::write(file(of, 2), read.to_string()).unwrap();
        let (scan, warned) = scan(of);
        let told = "no call of rank 2 is one that other ranks made in the same groups, by number";
        assert_eq!(warned.contains(told), more > 0, "{warned}");
        assert_eq!(scan.info.nodes, expected);
        assert_eq!(joined(&scan, 2) > 0, more == 0);
    }
}

/// Files that were put into one, with the header of the first: no clock was set, and nothing is joined.
#[test]
fn ranks_in_a_file_that_says_one_are_advised_to_be_told_apart() {
    for (style, sequence_numbers) in [
        (Style::Nccl, true),
        (Style::Nccl, false),
        (Style::Gloo, false),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let run = KinetoRun {
            style,
            scatter: KinetoRun::training(style).scatter,
            ..run(77, sequence_numbers)
        };
        run.write(directory.path()).unwrap();
        let mut all: Option<serde_json::Value> = None;
        for rank in 0..RANKS {
            let text = fs::read_to_string(file(directory.path(), rank)).unwrap();
            let mut read: serde_json::Value = serde_json::from_str(&text).unwrap();
            match &mut all {
                Some(all) => {
                    let events = read["traceEvents"].as_array_mut().unwrap();
                    all["traceEvents"].as_array_mut().unwrap().append(events);
                }
                None => all = Some(read),
            }
        }
        let path = directory.path().join("all.json");
        fs::write(&path, all.unwrap().to_string()).unwrap();
        let trace = Kineto.open(&path).unwrap();
        let scan = trace.scan(&()).unwrap();
        let warned = trace.warnings(&scan.contents).concat();
        assert_eq!(joined(&scan, 0), 0);
        assert!(
            warned.contains("ranks that were put into one file are told apart"),
            "{warned}"
        );
        assert!(!warned.contains("a clock was set back"), "{warned}");
        // All are counted: 36 of each iteration.
        let unused = trace.unused(&scan.contents).into_iter();
        assert_eq!(unused.flat_map(|it| it.records).sum::<u64>(), 360);
    }
}
