//! The same logs, times, files and undo data, on any number of processes.

use std::fs;
use std::path::Path;

use retime::pipeline::{Analysis, AnalysisOptions, Method};
use retime_jsonl::JsonLines;
use retime_model::format::{Format, Scan};
use retime_model::{Correction, LocationLog};
use retime_otf2_format::Otf2;
use retime_parallel::open;
use retime_sim::{HaloExchange, Spread};

use crate::hybrid;
use crate::team::{SIZES, files, with};

fn halo(dir: &Path) {
    let mut program = HaloExchange {
        grid: (3, 2),
        iterations: 30,
        seed: 5,
        ..HaloExchange::default()
    };
    let spread = Spread {
        offset: 100_000.0,
        drift: 2e-6,
        ..Spread::default()
    };
    program.clocks = spread.per_process(&program.layout(), program.seed);
    program.write(&dir.join("t.otf2")).unwrap();
}

fn correction(scan: Scan) -> Correction {
    let analysis = Analysis::new(scan.info, scan.logs, AnalysisOptions::default(), &()).unwrap();
    let solution = analysis.solve(&Method::default(), &()).unwrap();
    assert!(!solution.correction.is_identity());
    solution.correction
}

fn is_the_same(original: &Path) {
    let scratch = tempfile::tempdir().unwrap();
    let alone = Otf2.open(original).unwrap();
    let scan = alone.scan(&()).unwrap();
    let (unused, warnings) = (alone.unused(&scan.contents), alone.warnings(&scan.contents));
    let events: Vec<Vec<u32>> = scan
        .logs
        .iter()
        .map(|it| it.columns().numbers.clone())
        .collect();
    let events: Vec<&[u32]> = events.iter().map(Vec::as_slice).collect();
    let times = alone.timelines(&events, &()).unwrap();
    let to = scratch.path().join("alone");
    fs::create_dir(&to).unwrap();
    let correction = correction(alone.scan(&()).unwrap());
    let undo = alone
        .rewriting()
        .unwrap()
        .rewrite(&correction, &to, &())
        .unwrap();

    for size in SIZES {
        let [written, copied] =
            ["written", "copied"].map(|it| scratch.path().join(format!("{it}{size}")));
        fs::create_dir(&written).unwrap();
        fs::create_dir(&copied).unwrap();
        with(size, &(), |team| {
            let trace = open(team, &Otf2, original, true, &()).unwrap();
            let found = trace.scan(&()).unwrap();
            assert_eq!(found.info, scan.info);
            assert_eq!(found.logs, scan.logs, "{size}");
            assert_eq!(found.contents, scan.contents, "{size}");
            assert_eq!(trace.unused(&found.contents), unused);
            assert_eq!(trace.warnings(&found.contents), warnings);
            assert_eq!(trace.timelines(&events, &()).unwrap(), times, "{size}");
            assert_eq!(
                trace
                    .rewriting()
                    .unwrap()
                    .rewrite(&correction, &written, &())
                    .unwrap(),
                undo,
                "{size}"
            );
            trace.rewriting().unwrap().copy(&copied, &()).unwrap();
            assert!(!team.worked_alone());
        });
        assert_eq!(files(&written), files(&to), "{size}");
        assert_eq!(files(&copied), files(original), "{size}");
    }
}

#[test]
fn a_trace_of_messages_and_collectives() {
    let dir = tempfile::tempdir().unwrap();
    halo(dir.path());
    is_the_same(dir.path());
}

#[test]
fn a_trace_of_threads_streams_and_synchronous_sends() {
    let dir = tempfile::tempdir().unwrap();
    hybrid::write(dir.path());
    let scan = Otf2.open(dir.path()).unwrap().scan(&()).unwrap();
    let columns = scan.logs.iter().map(LocationLog::columns);
    let named: Vec<usize> = columns.clone().map(|it| it.named_messages.len()).collect();
    assert!(named.iter().all(|&it| it > 0), "{named:?}");
    assert_eq!(columns.filter(|it| !it.accepted.is_empty()).count(), 1);
    is_the_same(dir.path());
}

/// Locks have names beside those of launches.
#[test]
fn a_host_names_what_it_launched_and_what_its_threads_hand_over() {
    let dir = tempfile::tempdir().unwrap();
    hybrid::write(dir.path());
    let scan = Otf2.open(dir.path()).unwrap().scan(&()).unwrap();
    let named = &scan.logs[0].columns().named_messages;
    let mut spaces: Vec<u64> = named.iter().map(|it| it.id.space).collect();
    spaces.sort_unstable();
    spaces.dedup();
    assert_eq!(spaces.len(), 2, "{spaces:x?}");
}

#[test]
fn a_trace_without_parts_is_left_to_process_0() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.jsonl");
    fs::write(&path, "{\"retime-stream\":1}\n").unwrap();
    with(3, &(), |team| {
        open(team, &JsonLines, &path, true, &()).unwrap();
        assert!(team.worked_alone());
    });
}
