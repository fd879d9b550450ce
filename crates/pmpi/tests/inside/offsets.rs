//! Offsets that are measured.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::running::{
    compiled, given, is_mpich, mpirun, of_mpi, program, repository, run, succeeded, under,
};

/// One measurement of one rank, in nanoseconds.
struct Line {
    rank: usize,
    offset: i64,
    bound: i64,
}

fn lines(path: &Path) -> Vec<Line> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.starts_with("# retime offsets 1: clock "), "{text}");
    let lines = text.lines().filter(|it| !it.starts_with('#'));
    let ns = |word: &str| word.strip_suffix("ns").unwrap().parse().unwrap();
    lines
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            Line {
                rank: words[0].parse().unwrap(),
                offset: ns(words[2]),
                bound: ns(words[3]),
            }
        })
        .collect()
}

/// What starts each rank in a time namespace, where that is permitted.
pub(crate) fn launcher(dir: &Path) -> Option<PathBuf> {
    let source = repository().join("tools/record/launch.c");
    let to = dir.join("launch");
    if !to.exists() {
        compiled(dir, "cc", &source, &[]);
    }
    let tried = Command::new(&to)
        .args(["--offsets", "1000", "true"])
        .output()
        .unwrap();
    if !tried.status.success() {
        eprintln!("skipped: clocks that really differ; time namespaces need root");
        return None;
    }
    Some(to)
}

/// Offsets of the clocks of 64 ranks in ns, some hundred us each.
fn offsets(seed: u32) -> Vec<i64> {
    let of = |rank: u32| i64::from((seed * 7 + rank) * 7_919 % 997) * 230 - 110_000;
    (0..64).map(of).collect()
}

/// The same as the launcher takes them.
pub(crate) fn namespaces(seed: u32) -> String {
    let all: Vec<String> = offsets(seed).iter().map(i64::to_string).collect();
    all.join(",")
}

/// Every offset is within its bound, with as many ranks as two cores can take.
#[test]
fn real_offsets_are_within_their_bounds() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let Some(launch) = launcher(dir) else { return };
    let random = program(dir, "random.c");
    for (seed, size) in [(1, 2), (2, 4), (3, 8), (4, 16), (5, 32)] {
        let truth = offsets(seed);
        let file = format!("offsets{size}");
        let mut command = mpirun(dir, size);
        command.arg(&launch).args(["--offsets", &namespaces(seed)]);
        let mut command = under(command, &[("RETIME_OFFSETS_FILE", &file)]);
        // No rounds: without a riding clock the program sees clocks that really differ, so its
        // messages may arrive before they were sent.
        succeeded(&command.arg(&random).args(["1", "0"]).output().unwrap());
        let lines = lines(&dir.join(&file));
        assert_eq!(lines.len(), 2 * size as usize);
        for Line {
            rank,
            offset,
            bound,
        } in &lines
        {
            let error = (truth[0] - truth[*rank] - offset).abs();
            assert!(
                error <= *bound,
                "rank {rank} of {size}: {error} ns off, ±{bound} ns"
            );
        }
        let widest = lines.iter().map(|it| it.bound).max().unwrap();
        eprintln!("{size} ranks: all within their bounds, of at most ±{widest} ns");
    }
}

#[test]
fn measured_on_the_way() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let source = repository().join("tools/record/programs/collectives.c");
    let built = compiled(dir, &of_mpi("mpicc"), &source, &[]);
    let variables = [
        ("RETIME_OFFSETS_EVERY", "1"),
        ("RETIME_CLOCK_SOURCE", "realtime"),
    ];
    let long = ["iterations=120", "compute=8000"];
    succeeded(&run(dir, 2, &variables, &built, &long));
    let lines = lines(&dir.join("retime-offsets.txt"));
    assert!(
        lines.len() > 2 * 3 && lines.len().is_multiple_of(2),
        "{}",
        lines.len()
    );
}

/// The file is of the processes that were there first. (The `mpirun` of Open MPI 4 ends such programs
/// by SIGPIPE at times, so its exit code is not looked at.)
#[test]
fn what_is_spawned_measures_nothing() {
    if is_mpich() {
        eprintln!(
            "skipped: spawned processes get the environment of mpirun by an option of Open MPI"
        );
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let spawn = program(dir, "spawn.c");
    let mut preload = std::ffi::OsString::from("LD_PRELOAD=");
    preload.push(given("RETIME_PMPI"));
    let mut command = mpirun(dir, 2);
    let output = command.arg("-x").arg(preload).arg(spawn).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let lines = lines(&dir.join("retime-offsets.txt"));
    let ranks: Vec<usize> = lines.iter().map(|it| it.rank).collect();
    assert_eq!(ranks, [0, 1, 0, 1], "{said}");
}

#[test]
fn what_is_wrong_with_the_environment_is_said() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let random = program(dir, "random.c");
    let nothing = ["1", "0"];
    let output = run(dir, 2, &[("RETIME_CLOCK", "yes")], &random, &nothing);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(
        said.contains("retime: RETIME_CLOCK=yes: give simple or controlled"),
        "{said}"
    );
    // A file that is something else stays, and the program goes on.
    fs::write(dir.join("retime-offsets.txt"), "my thesis").unwrap();
    let output = run(dir, 2, &[], &random, &nothing);
    succeeded(&output);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("it holds something else"), "{said}");
    assert_eq!(
        fs::read_to_string(dir.join("retime-offsets.txt")).unwrap(),
        "my thesis"
    );
    // Events of a run before are not written over.
    let variables = [("RETIME_CLOCK", "simple"), ("RETIME_EVENTS", "events")];
    succeeded(&run(dir, 2, &variables, &random, &nothing));
    let output = run(dir, 2, &variables, &random, &nothing);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("cannot write events to events"), "{said}");
}
