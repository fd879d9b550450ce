//! A directory for each rank: read as one trace, and written as such.

use std::fs;
use std::path::Path;

use retime::format::{Format, Recognition};
use retime::pipeline::{Analysis, AnalysisOptions, Method};
use retime_kineto::{Kineto, KinetoByPath};
use retime_testing::kineto::{KinetoRun, Style};

/// A run of four ranks, each with a directory called `name`; with files that say their ranks or not.
fn write(directory: &Path, name: &str, say_ranks: bool) {
    let run = KinetoRun {
        ranks: 4,
        ranks_per_host: 2,
        iterations: 4,
        filler: 1,
        ..KinetoRun::training(Style::Nccl)
    };
    let flat = tempfile::tempdir().unwrap();
    run.write(flat.path()).unwrap();
    for rank in 0..run.ranks {
        let text =
            fs::read_to_string(flat.path().join(format!("rank{rank}.pt.trace.json"))).unwrap();
        let text = if say_ranks {
            text
        } else {
            text.replace("distributedInfo", "nothing")
        };
        let own = directory.join(format!("{name}{rank}"));
        fs::create_dir(&own).unwrap();
        fs::write(own.join("trace.json"), text).unwrap();
        fs::write(own.join("notes.txt"), format!("of {rank}")).unwrap();
    }
}

/// All files below a directory, by path, with their contents.
fn all(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                let name = path.strip_prefix(directory).unwrap();
                found.push((name.display().to_string(), fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn directories_of_ranks_are_one_trace_and_so_are_their_copies() {
    for say_ranks in [true, false] {
        let scratch = tempfile::tempdir().unwrap();
        let [run, corrected, back] = ["run", "corrected", "back"].map(|it| {
            let path = scratch.path().join(it);
            fs::create_dir(&path).unwrap();
            path
        });
        write(&run, "step_rank", say_ranks);
        assert_eq!(Kineto.recognise(&run).unwrap(), Recognition::Certain);
        let trace = Kineto.open(&run).unwrap();
        let scan = trace.scan(&()).unwrap();
        let warnings = trace.warnings(&scan.contents).concat();
        assert_eq!(
            warnings.contains("those in the names"),
            !say_ranks,
            "{warnings}"
        );
        let names: Vec<&str> = scan.info.processes.iter().map(|it| &*it.name).collect();
        assert_eq!(names, ["rank 0", "rank 1", "rank 2", "rank 3"]);
        let options = AnalysisOptions::default();
        let analysis = Analysis::new(scan.info, scan.logs, options, &()).unwrap();
        assert!(analysis.recorded().violated() > 0);
        let solution = analysis.solve(&Method::default(), &()).unwrap();
        let undo = trace
            .rewriting()
            .unwrap()
            .rewrite(&solution.correction, &corrected, &())
            .unwrap();
        assert!(corrected.join("step_rank3/trace.json").exists());
        assert_eq!(
            fs::read(corrected.join("step_rank2/notes.txt")).unwrap(),
            b"of 2"
        );
        let copy = Kineto.open(&corrected).unwrap();
        copy.scan(&()).unwrap();
        copy.rewriting()
            .unwrap()
            .restore(&solution.correction, &undo, &back, &())
            .unwrap();
        assert_eq!(all(&back), all(&run));
        assert_ne!(all(&corrected), all(&run));
    }
}

#[test]
fn other_directories_are_none_of_ranks() {
    let is_one = |names: &[&str]| {
        let scratch = tempfile::tempdir().unwrap();
        for name in names {
            let own = scratch.path().join(name);
            fs::create_dir(&own).unwrap();
            fs::write(own.join("a.json"), "{\"traceEvents\": []}").unwrap();
        }
        Kineto.recognise(scratch.path()).unwrap() == Recognition::Certain
    };
    assert!(is_one(&["rank0", "rank1"]));
    assert!(is_one(&["rank0", "rank1", "other"]));
    for names in [
        &["rank0"][..],
        &["run1", "run2"],
        &["rank0", "rank1", "rank01"],
        &[],
    ] {
        assert!(!is_one(names), "{names:?}");
    }
}

/// Directories whose names are no ranks to whom nobody says so.
#[test]
fn a_pattern_says_ranks_by_paths() {
    let scratch = tempfile::tempdir().unwrap();
    let [run, corrected, back] = ["run", "corrected", "back"].map(|it| {
        let path = scratch.path().join(it);
        fs::create_dir(&path).unwrap();
        path
    });
    write(&run, "worker-1", false);
    assert_eq!(Kineto.recognise(&run).unwrap(), Recognition::No);
    let format = KinetoByPath(r"worker-1(\d+)/".parse().unwrap());
    let trace = format.open(&run).unwrap();
    let scan = trace.scan(&()).unwrap();
    let names: Vec<&str> = scan.info.processes.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["rank 0", "rank 1", "rank 2", "rank 3"]);
    let analysis = Analysis::new(scan.info, scan.logs, AnalysisOptions::default(), &()).unwrap();
    let solution = analysis.solve(&Method::default(), &()).unwrap();
    let undo = trace
        .rewriting()
        .unwrap()
        .rewrite(&solution.correction, &corrected, &())
        .unwrap();
    let copy = trace
        .rewriting()
        .unwrap()
        .open_copy(&corrected, &())
        .unwrap()
        .unwrap();
    assert_eq!(copy.scan(&()).unwrap().info.processes.len(), 4);
    copy.rewriting()
        .unwrap()
        .restore(&solution.correction, &undo, &back, &())
        .unwrap();
    assert_eq!(all(&back), all(&run));
    // Files given one by one, of which one has no rank.
    let files: Vec<_> = (0..2)
        .map(|it| run.join(format!("worker-1{it}/trace.json")))
        .collect();
    fs::rename(&files[0], scratch.path().join("a1.json")).unwrap();
    fs::rename(&files[1], scratch.path().join("b.json")).unwrap();
    let files = ["a1.json", "b.json"].map(|it| scratch.path().join(it));
    let files = files.each_ref().map(std::path::PathBuf::as_path);
    let refused = KinetoByPath(r"a(\d+)\.json".parse().unwrap()).open_files(&files);
    let error = refused.unwrap().err().unwrap().to_string();
    assert!(
        error.contains("b.json") && error.contains("pattern"),
        "{error}"
    );
}
