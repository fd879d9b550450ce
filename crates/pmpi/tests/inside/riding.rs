//! The clock that rides along.

use std::env;
use std::fs;
use std::path::Path;

use crate::events::Events;
use crate::offsets::{launcher, namespaces};
use crate::running::{
    compiled, mpirun, of_mpi, program, repository, retime, run, succeeded, under,
};

/// The method of the command that gives the times of a clock.
fn method(clock: &str) -> &'static str {
    match clock {
        "simple" => "--method simple",
        _ => "--method clc --controller 1997 --amortization off",
    }
}

#[test]
fn random_programs() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let random = program(dir, "random.c");
    let programs: u32 = env::var("RETIME_PROGRAMS").map_or(20, |it| it.parse().unwrap());
    let (mut reversed, mut events) = (0, 0);
    for seed in 1..=programs {
        let size = 1 + seed % 8;
        let clock = ["simple", "controlled"][(seed / 8 % 2) as usize];
        let (to, seed_word) = (format!("events{seed}"), seed.to_string());
        let variables = [
            ("RETIME_CLOCK", clock),
            ("RETIME_CLOCK_OFFSETS", "none"),
            ("RETIME_EVENTS", &to),
        ];
        // Clocks that differ, where that is permitted.
        let output = match launcher(dir) {
            Some(launch) => {
                let mut command = mpirun(dir, size);
                command.arg(launch).args(["--offsets", &namespaces(seed)]);
                let mut command = under(command, &variables);
                command
                    .arg(&random)
                    .args([&seed_word, "120"])
                    .output()
                    .unwrap()
            }
            None => run(dir, size, &variables, &random, &[&seed_word, "120"]),
        };
        succeeded(&output);
        let found = Events::read(&dir.join(&to), size);
        reversed += found.reversed_but_repaired();
        events += found.count();
        if size > 1 {
            found.assert_equal(dir, method(clock));
        }
    }
    eprintln!(
        "{programs} random programs: {events} events, {reversed} messages reversed by the physical clocks"
    );
    assert!(launcher(dir).is_none() || reversed > 0);
}

/// Programs that are recorded for their true times, as they are.
#[test]
fn recorded_programs() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let programs = fs::read_dir(repository().join("tools/record/programs")).unwrap();
    let mut count = 0;
    for source in programs.map(|it| it.unwrap().path()) {
        if source.extension().is_none_or(|it| it != "c") {
            continue;
        }
        let built = compiled(dir, &of_mpi("mpicc"), &source, &[]);
        let name = built.file_name().unwrap().to_str().unwrap();
        let to = format!("events-{name}");
        let variables = [("RETIME_CLOCK", "controlled"), ("RETIME_EVENTS", &*to)];
        let short = [
            "iterations=40",
            "tasks=40",
            "rounds=4",
            "seconds=1",
            "compute=5",
            "pause=0",
        ];
        let output = run(dir, 4, &variables, &built, &short);
        if name == "groups" {
            // It reduces over an inter-communicator.
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains("on an inter-communicator"), "{said}");
            continue;
        }
        succeeded(&output);
        let found = Events::read(&dir.join(&to), 4);
        found.reversed_but_repaired();
        found.assert_equal(dir, method("controlled"));
        count += 1;
    }
    assert!(count > 10, "{count}");
}

#[test]
fn several_threads_at_a_time() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let threads = program(dir, "threads.c");
    let variables = [("RETIME_CLOCK", "controlled"), ("RETIME_EVENTS", "events")];
    succeeded(&run(dir, 3, &variables, &threads, &[""; 0]));
    let found = Events::read(&dir.join("events"), 3);
    found.reversed_but_repaired();
    found.assert_equal(dir, method("controlled"));
}

#[test]
fn programs_in_fortran() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/fortran.F90");
    for options in [&[][..], &["-DF08"]] {
        let built = compiled(dir, &of_mpi("mpif90"), &source, options);
        let to = format!("events{}", options.len());
        let variables = [("RETIME_CLOCK", "controlled"), ("RETIME_EVENTS", &*to)];
        succeeded(&run(dir, 4, &variables, &built, &[""; 0]));
        let found = Events::read(&dir.join(&to), 4);
        assert!(found.count() > 4 * 50 * 8, "{}", found.count());
        found.reversed_but_repaired();
    }
}

#[test]
fn what_carries_no_stamp_is_refused_by_name() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let refused = program(dir, "refused.c");
    let mut all = vec![
        ("win", "MPI_Win_create: one-sided accesses carry no stamps"),
        (
            "bsend",
            "MPI_Bsend: a buffer of the program has no room for stamps",
        ),
        ("inter", "MPI_Allreduce: on an inter-communicator"),
        (
            "neighbour",
            "MPI_Neighbor_allgather: of neighbourhoods no class is known",
        ),
        (
            "file",
            "MPI_File_open: what processes tell each other through files carries no stamps",
        ),
    ];
    if is_of_version_4() {
        all.extend([
            (
                "large",
                "MPI_Send_c: counts of more than 32 bits have no room for a stamp",
            ),
            (
                "persistent",
                "MPI_Barrier_init: a request that stands for several operations carries no stamps",
            ),
            (
                "partitioned",
                "MPI_Psend_init: parts of a message carry no stamps",
            ),
            (
                "session",
                "MPI_Session_init: a clock begins to ride when MPI is initialised as a whole",
            ),
        ]);
    }
    for (what, call) in &all {
        let output = run(dir, 4, &[("RETIME_CLOCK", "simple")], &refused, &[what]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{what}");
        assert!(
            said.contains(&format!(
                "retime: the logical clock does not ride on {call}"
            )),
            "{said}"
        );
    }
    // Where no clock rides, nothing is refused.
    for (what, _) in all
        .iter()
        .filter(|it| !["bsend", "large", "partitioned"].contains(&it.0))
    {
        succeeded(&run(dir, 4, &[], &refused, &[what]));
    }
}

/// True if the MPI that is tested says that it is of version 4 or later.
fn is_of_version_4() -> bool {
    let version = "#include <mpi.h>\nversion MPI_VERSION\n";
    let scratch = tempfile::tempdir().unwrap();
    let source = scratch.path().join("version.c");
    fs::write(&source, version).unwrap();
    let output = std::process::Command::new(of_mpi("mpicc"))
        .args(["-E", "-P"])
        .arg(source)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let version = said.lines().find_map(|it| it.strip_prefix("version "));
    version.unwrap().trim().parse::<u32>().unwrap() >= 4
}

#[test]
fn the_stream_takes_the_events_of_all() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let random = program(dir, "random.c");
    let variables = [("RETIME_CLOCK", "simple"), ("RETIME_EVENTS", "events")];
    succeeded(&run(dir, 4, &variables, &random, &["3", "100"]));
    let mut lines = fs::read_to_string(dir.join("events/header.jsonl")).unwrap();
    for rank in 0..4 {
        lines += &fs::read_to_string(dir.join(format!("events/rank.{rank}.jsonl"))).unwrap();
    }
    fs::write(dir.join("lines"), lines).unwrap();
    let output = std::process::Command::new(retime())
        .args("stream --delay unlimited --report report.json".split(' '))
        .current_dir(dir)
        .stdin(fs::File::open(dir.join("lines")).unwrap())
        .output()
        .unwrap();
    succeeded(&output);
    let report = fs::read_to_string(dir.join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    for nothing in [
        "unmatched_receives",
        "incomplete_collectives",
        "contradictions",
        "bad_lines",
    ] {
        assert_eq!(report[nothing], 0, "{nothing}: {report}");
    }
    assert!(report["messages"].as_u64() > Some(100), "{report}");
}

/// The example writes lines of a log in the order of `retime_now`.
#[test]
fn a_log_that_is_sorted_by_cause() {
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/sorted_log.c");
    let built = compiled(dir, &of_mpi("mpicc"), &source, &[]);
    let variables = [
        ("RETIME_CLOCK", "controlled"),
        ("RETIME_CLOCK_OFFSETS", "none"),
    ];
    let said = succeeded(&run(dir, 4, &variables, &built, &[""; 0]));
    let token = said.lines().filter(|it| it.contains("token"));
    let token: Vec<&str> = token
        .filter_map(|it| it.split_once("token "))
        .map(|it| it.1)
        .collect();
    let expected: Vec<String> = (0..token.len()).map(|it| it.to_string()).collect();
    assert_eq!(token, expected, "{said}");
    assert!(token.len() > 20, "{said}");
}
