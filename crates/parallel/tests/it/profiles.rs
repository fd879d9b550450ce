//! Profiles of a training job, each file in the hands of one process: all as if one had them.

use std::fs;
use std::path::Path;
use std::process::Command;

use retime::pipeline::{Analysis, AnalysisOptions, ClockKind, Method};
use retime_kineto::Kineto;
use retime_model::format::{Format, Scan, Timeline, Trace, Undo, Unused};
use retime_model::{Correction, Timestamp};
use retime_parallel::open;
use retime_testing::kineto::{Bases, Devices, HostNames, KinetoRun, Step, Style, Windows};
use tempfile::TempDir;

use crate::team::{SIZES, files, with};

/// All that a trace says of itself, when it is read and corrected.
#[derive(Debug, PartialEq)]
struct Told {
    scan: String,
    unused: Vec<Unused>,
    warnings: Vec<String>,
    zero: Timestamp,
    timelines: Vec<Timeline>,
    /// The logs of the second matching, if there are others.
    rematched: Option<String>,
    settled: Option<Vec<Vec<Timestamp>>>,
    undo: Undo,
    copy: String,
}

fn text(scan: &Scan) -> String {
    format!("{:?} {:?} {:?}", scan.info, scan.logs, scan.contents)
}

fn events(scan: &Scan) -> Vec<Vec<u32>> {
    let logs = scan.logs.iter();
    logs.map(|it| it.columns().numbers.clone()).collect()
}

fn correction(scan: Scan, method: &Method) -> Correction {
    let analysis = Analysis::new(scan.info, scan.logs, AnalysisOptions::default(), &()).unwrap();
    analysis.solve(method, &()).unwrap().correction
}

/// Reads a trace, corrects it by all methods of the kind, and reads it again.
fn told(trace: &dyn Trace, correction: &Correction, to: &Path) -> Told {
    fs::create_dir(to).unwrap();
    let scan = trace.scan(&()).unwrap();
    let events = events(&scan);
    let events: Vec<&[u32]> = events.iter().map(Vec::as_slice).collect();
    let (unused, warnings) = (trace.unused(&scan.contents), trace.warnings(&scan.contents));
    let timelines = trace.timelines(&events, &()).unwrap();
    let rematched = trace.rematch(correction, &()).unwrap();
    let rewriting = trace.rewriting().unwrap();
    let settled = rewriting.settled(correction, &events, &()).unwrap();
    let undo = rewriting.rewrite(correction, &to.join(""), &()).unwrap();
    let copy = rewriting.open_copy(to, &()).unwrap().unwrap();
    let again = copy.scan(&()).unwrap();
    Told {
        scan: text(&scan),
        unused,
        warnings,
        zero: trace.zero(),
        timelines,
        rematched: rematched.as_ref().map(text),
        settled,
        undo,
        copy: format!("{} {:?}", text(&again), copy.warnings(&again.contents)),
    }
}

#[track_caller]
fn is_the_same(job: &Path) {
    let scratch = tempfile::tempdir().unwrap();
    let place = |name: &str, size: usize| scratch.path().join(format!("{name}{size}"));
    let clock = Method::new(&ClockKind::Controlled);
    for (method, bends) in [(Method::default(), false), (clock, true)] {
        let alone = Kineto.open(job).unwrap();
        let correction = correction(alone.scan(&()).unwrap(), &method);
        assert!(!correction.is_identity());
        let expected = told(&*alone, &correction, &place("alone", 0));
        assert!(expected.settled.is_some() || !bends);
        for size in SIZES {
            let (written, copied) = (place("written", size), place("copied", size));
            fs::create_dir(&copied).unwrap();
            let found = with(size, &(), |team| {
                let trace = open(team, &Kineto, job, true, &()).unwrap();
                assert_eq!(team.worked_alone(), size == 1);
                trace.rewriting().unwrap().copy(&copied, &()).unwrap();
                told(&*trace, &correction, &written)
            });
            assert!(found == expected, "{size}: {found:?}\n{expected:?}");
            assert_eq!(files(&written), files(&place("alone", 0)), "{size}");
            assert_eq!(files(&copied), files(job), "{size}");
            fs::remove_dir_all(written).unwrap();
            fs::remove_dir_all(copied).unwrap();
        }
        fs::remove_dir_all(place("alone", 0)).unwrap();
    }
}

fn job(run: &KinetoRun) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    run.write(directory.path()).unwrap();
    directory
}

fn nccl() -> KinetoRun {
    KinetoRun {
        ranks: 4,
        ranks_per_host: 2,
        iterations: 4,
        offset: 3_000_000,
        ..KinetoRun::training(Style::Nccl)
    }
}

#[test]
fn ranks_of_two_hosts() {
    is_the_same(job(&nccl()).path());
}

#[test]
fn eight_ranks_some_packed_and_one_missing() {
    let job = job(&KinetoRun {
        ranks: 8,
        ranks_per_host: 3,
        sequence_numbers: false,
        missing: vec![3],
        windows: Windows {
            left_out: 1,
            cut: true,
        },
        bases: Bases::Differing,
        ..nccl()
    });
    for rank in [0, 5, 6] {
        let file = job.path().join(format!("rank{rank}.pt.trace.json"));
        assert!(Command::new("gzip").arg(file).status().unwrap().success());
    }
    is_the_same(job.path());
}

#[test]
fn calls_of_gloo_on_hosts_of_one_name() {
    is_the_same(
        job(&KinetoRun {
            host_names: HostNames::One,
            iterations: 8,
            style: Style::Gloo,
            steps: KinetoRun::training(Style::Gloo).steps,
            scatter: KinetoRun::training(Style::Gloo).scatter,
            ..nccl()
        })
        .path(),
    );
}

#[test]
fn devices_with_clocks_of_their_own() {
    is_the_same(
        job(&KinetoRun {
            devices: Devices {
                offset: 200_000,
                drift: 5_000,
                awaited: true,
            },
            ..nccl()
        })
        .path(),
    );
}

#[test]
fn kernels_that_say_nothing() {
    let run = nccl();
    assert!(!run.steps.iter().any(|it| matches!(it, Step::Graph { .. })));
    let serving = KinetoRun {
        ranks: 4,
        ranks_per_host: 2,
        iterations: 4,
        offset: 3_000_000,
        ..KinetoRun::serving()
    };
    is_the_same(job(&serving).path());
}

/// Arrows from one file to the other, of which one has times below 0.
#[test]
fn arrows_between_files() {
    let job = tempfile::tempdir().unwrap();
    let event = |ph: &str, name: &str, ts: i32, more: &str| {
        format!(r#"{{"ph":"{ph}","name":"{name}","cat":"c","pid":1,"tid":2,"ts":{ts}{more}}}"#)
    };
    let mut sent = Vec::new();
    let mut arrived = Vec::new();
    for id in 0..20 {
        let arrow = format!(r#","id":{id}"#);
        let at = 100 * id - 700;
        sent.push(event("X", "work", at, r#","dur":30"#));
        sent.push(event("s", "m", at + 10, &arrow));
        arrived.push(event("X", "work", at - 500, r#","dur":30"#));
        arrived.push(event(
            "f",
            "m",
            at - 500 + 20,
            &format!("{arrow},\"bp\":\"e\""),
        ));
    }
    for (name, events) in [("a.json", sent), ("b.json", arrived)] {
        fs::write(job.path().join(name), format!("[{}]", events.join(",\n"))).unwrap();
    }
    is_the_same(job.path());
}

/// Compiled programs, whose members are known once all files are.
#[test]
fn instructions_of_compiled_programs() {
    let job = tempfile::tempdir().unwrap();
    for (name, later) in [("a.json", 0), ("b.json", 2_000)] {
        let events = (0..6).map(|run| {
            format!(
                r#"{{"ph":"X","name":"all-reduce","pid":1,"tid":2,"ts":{},"dur":50,
                "args":{{"hlo_op":"all-reduce","hlo_module":"jit_step","run_id":"{run}",
                "device_ordinal":"0"}}}}"#,
                1_000 * run + later
            )
        });
        let events: Vec<String> = events.collect();
        let all = format!(r#"{{"traceEvents":[{}]}}"#, events.join(","));
        fs::write(job.path().join(name), all).unwrap();
    }
    is_the_same(job.path());
}

#[test]
fn all_files_that_cannot_be_read_are_named() {
    let job = job(&KinetoRun { ranks: 8, ..nccl() });
    let damage = |rank: u32| {
        let file = job.path().join(format!("rank{rank}.pt.trace.json"));
        let text = fs::read(&file).unwrap();
        fs::write(&file, &text[..text.len() / 2]).unwrap();
    };
    for rank in [6, 1, 2] {
        damage(rank);
        let alone = Kineto.open(job.path()).unwrap().scan(&()).unwrap_err();
        assert!(alone.to_string().contains("rank6.pt.trace.json"));
        for size in SIZES {
            let found = with(size, &(), |team| {
                let trace = open(team, &Kineto, job.path(), true, &()).unwrap();
                trace.scan(&()).unwrap_err().to_string()
            });
            assert_eq!(found, alone.to_string(), "{size}");
        }
    }
}

#[test]
fn a_file_that_exists_is_not_overwritten_by_anybody() {
    let job = job(&nccl());
    let alone = Kineto.open(job.path()).unwrap();
    let correction = correction(alone.scan(&()).unwrap(), &Method::default());
    for size in SIZES {
        let to = tempfile::tempdir().unwrap();
        let taken = to.path().join("rank3.pt.trace.json");
        fs::write(&taken, "mine").unwrap();
        let error = with(size, &(), |team| {
            let trace = open(team, &Kineto, job.path(), true, &()).unwrap();
            let rewriting = trace.rewriting().unwrap();
            rewriting.rewrite(&correction, to.path(), &()).unwrap_err()
        });
        assert!(error.to_string().contains("rank3.pt.trace.json"), "{error}");
        assert_eq!(fs::read(&taken).unwrap(), b"mine");
    }
}

/// What is asked for may need all that is in the files; one file has no parts.
#[test]
fn one_process_alone_takes_what_has_no_parts() {
    let job = job(&nccl());
    let one = job.path().join("rank2.pt.trace.json");
    for (path, by_files) in [(job.path(), false), (&one, true)] {
        with(3, &(), |team| {
            let trace = open(team, &Kineto, path, by_files, &()).unwrap();
            assert!(team.worked_alone());
            let found = trace.scan(&()).unwrap();
            let alone = Kineto.open(path).unwrap().scan(&()).unwrap();
            assert_eq!(text(&found), text(&alone));
        });
    }
}

/// Rows are asked of nobody else.
#[test]
fn rows_are_those_of_the_files() {
    let job = job(&nccl());
    let rows = |trace: &dyn Trace| {
        let scan = trace.scan(&()).unwrap();
        let mut all = Vec::new();
        for log in &scan.logs {
            let mut rows = trace.rows(log.location()).unwrap();
            while let Some(row) = rows.next_row().unwrap() {
                all.push(format!("{row:?}"));
            }
        }
        all
    };
    let expected = rows(&*Kineto.open(job.path()).unwrap());
    with(3, &(), |team| {
        let trace = open(team, &Kineto, job.path(), true, &()).unwrap();
        assert!(rows(&*trace) == expected);
    });
}
