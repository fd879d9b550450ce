//! The built command under `mpirun`, beside `retime`; run by `make test-mpi`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "failing is how a test reports"
)]

mod machines;
mod stopped;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::thread::sleep;
use std::time::Duration;

use tempfile::TempDir;

use machines::Machines;
use retime_testing::kineto::{KinetoRun, Style};
use stopped::{ends, is_command, started};

/// How long it may take until all processes have noticed that one is gone.
const PATIENCE: Duration = Duration::from_secs(10);

fn retime(dir: &Path, arguments: &str) -> i32 {
    let retime = std::env::var_os("RETIME").expect("RETIME names the command to compare with");
    let mut command = Command::new(retime);
    command.current_dir(dir).args(arguments.split_whitespace());
    command.stdout(Stdio::null());
    command.status().unwrap().code().unwrap()
}

/// True if `mpirun` is that of MPICH (Hydra), which has other options and knows no limit of
/// processes per core.
fn is_hydra() -> bool {
    static HYDRA: LazyLock<bool> = LazyLock::new(|| {
        let output = Command::new("mpirun").arg("--version").output().unwrap();
        String::from_utf8_lossy(&output.stdout).contains("HYDRA")
    });
    *HYDRA
}

fn mpirun(dir: &Path, size: u32, arguments: &str) -> Command {
    let mut command = Command::new("mpirun");
    if !is_hydra() {
        command.args(["--quiet", "--oversubscribe", "--allow-run-as-root"]);
    }
    command
        .arg("-n")
        .arg(size.to_string())
        .arg(env!("CARGO_BIN_EXE_retime-mpi"))
        .args(arguments.split_whitespace())
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command
}

/// Exit code, and what was said besides the summary.
fn run(dir: &Path, size: u32, arguments: &str) -> (i32, String) {
    let mut command = mpirun(dir, size, arguments);
    let output = command.stderr(Stdio::piped()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), said)
}

fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let content = fs::read(&path).unwrap();
            found.insert(path, content);
        }
    }
    found
}

#[track_caller]
fn assert_same(a: &Path, b: &Path) {
    let relative = |dir: &Path| -> BTreeMap<PathBuf, Vec<u8>> {
        let all = files(dir).into_iter();
        all.map(|(path, content)| (path.strip_prefix(dir).unwrap().to_owned(), content))
            .collect()
    };
    let (a, b) = (relative(a), relative(b));
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    for (name, content) in &a {
        assert!(*content == b[name], "{} differs", name.display());
    }
}

/// The report without what was measured of the run.
fn report(path: &Path) -> String {
    let report = fs::read_to_string(path).unwrap();
    let lines = report.lines().filter(|it| !it.contains("_seconds\""));
    lines.collect::<Vec<_>>().join("\n")
}

/// A directory with the bundled recording.
fn recording() -> TempDir {
    let scratch = tempfile::tempdir().unwrap();
    assert_eq!(retime(scratch.path(), "demo --keep demo"), 0);
    scratch
}

#[test]
fn the_bundled_recording_by_any_number_of_processes() {
    let scratch = recording();
    let dir = scratch.path();
    let options = "--threads 1 --json";
    assert_eq!(
        retime(
            dir,
            &format!("correct demo/halo -o alone {options} alone.json")
        ),
        0
    );
    assert_eq!(
        retime(dir, &format!("check demo/halo {options} checked.json")),
        1
    );
    let apply = "apply alone/traces.retime demo/halo";
    assert_eq!(retime(dir, &format!("{apply} -o applied")), 0);
    for size in [1, 2, 3, 8, 17] {
        let correct = format!("correct demo/halo -o out{size} {options} {size}.json");
        assert_eq!(run(dir, size, &correct), (0, String::new()));
        assert_same(&dir.join("alone"), &dir.join(format!("out{size}")));
        let json = report(&dir.join(format!("{size}.json")));
        assert_eq!(json, report(&dir.join("alone.json")));

        let check = format!("check demo/halo {options} {size}.json");
        assert_eq!(run(dir, size, &check), (1, String::new()));
        let json = report(&dir.join(format!("{size}.json")));
        assert_eq!(json, report(&dir.join("checked.json")));

        let applied = format!("applied{size}");
        assert_eq!(run(dir, size, &format!("{apply} -o {applied}")).0, 0);
        assert_same(&dir.join("applied"), &dir.join(applied));
    }
}

/// One process reads for all what records say of an operation.
#[test]
fn tables_of_operations_are_those_of_one_process() {
    let dir = recording();
    let dir = dir.path();
    assert_eq!(retime(dir, "check demo/halo -q --collectives one.csv"), 1);
    let (code, said) = run(dir, 3, "check demo/halo -q --collectives three.csv");
    assert_eq!(code, 1, "{said}");
    let [one, three] = ["one.csv", "three.csv"].map(|it| fs::read_to_string(dir.join(it)).unwrap());
    assert!(one.contains(",allreduce,all-to-all,"), "{one:.300}");
    assert!(one == three, "{three:.300}");
}

/// A simulated halo exchange of so many ranks whose clocks disagree.
fn halo(ranks: u32, events: u32) -> TempDir {
    let scratch = tempfile::tempdir().unwrap();
    let size = format!("--ranks {ranks} --ranks-per-node 1 --events {events}");
    let simulate = format!("simulate halo {size} --no-truth --offset 100us -o trace -q");
    assert_eq!(retime(scratch.path(), &simulate), 0);
    scratch
}

/// How many messages they sent, by what `-v` says; if they did work together.
#[track_caller]
fn messages(said: &str) -> u64 {
    assert!(!said.contains("takes the events of all"), "{said}");
    let (before, _) = said.split_once(" messages, ").expect(said);
    let number = before.rsplit(' ').next().unwrap();
    number.replace(',', "").parse().unwrap()
}

#[test]
fn ranks_by_many_processes() {
    let scratch = halo(64, 400_000);
    let dir = scratch.path();
    let correct = "correct trace --threads 1 --json";
    assert_eq!(retime(dir, &format!("{correct} alone.json -o alone")), 0);
    for size in [8, 17] {
        let asked = format!("{correct} {size}.json -o out{size} -v");
        let (code, said) = run(dir, size, &asked);
        assert_eq!(code, 0, "{said}");
        assert!(messages(&said) > u64::from(size), "{said}");
        assert_same(&dir.join("alone"), &dir.join(format!("out{size}")));
        let json = report(&dir.join(format!("{size}.json")));
        assert_eq!(json, report(&dir.join("alone.json")));
    }
}

/// Clocks that do something at each event need none of the events of other processes for it.
#[test]
fn clocks_that_look_at_each_event_by_many_processes() {
    let scratch = halo(6, 60_000);
    let dir = scratch.path();
    for (number, clock) in [
        "clc --min-distance 10ns",
        "clc --controller 1997 --steps every",
        "lamport --backward",
    ]
    .iter()
    .enumerate()
    {
        let correct = format!("correct trace --method {clock} --threads 1 --json");
        let alone = format!("{correct} alone.json -o alone{number}");
        assert_eq!(retime(dir, &alone), 0);
        for size in [2, 5] {
            let asked = format!("{correct} {size}.json -o out{number}.{size}");
            assert_eq!(run(dir, size, &asked), (0, String::new()));
            let both = [format!("alone{number}"), format!("out{number}.{size}")];
            assert_same(&dir.join(&both[0]), &dir.join(&both[1]));
            let json = report(&dir.join(format!("{size}.json")));
            assert_eq!(json, report(&dir.join("alone.json")));
        }
    }
}

#[test]
fn a_thousand_dependencies_cost_less_than_a_message() {
    let scratch = halo(4, 8_000_000);
    let dir = scratch.path();
    // Each rank has a process of its own, so that all of its messages go to another.
    let (code, said) = run(
        dir,
        4,
        "correct trace -o out --threads 1 --json out.json -v",
    );
    assert_eq!(code, 0, "{said}");
    let report = report(&dir.join("out.json"));
    let matched = report.split("\"matching\": {").nth(1).unwrap();
    let matched = matched.split("\"messages\": ").nth(1).unwrap();
    let crossing: u64 = matched.split(',').next().unwrap().parse().unwrap();
    assert!(crossing > 800_000, "{crossing}");
    assert!(1_000 * messages(&said) < crossing, "{crossing}: {said}");
    assert!(said.contains(" for each event"), "{said}");
}

/// A job of so many ranks on hosts of three, whose files are those of the profiler.
fn job(ranks: u32) -> TempDir {
    let scratch = tempfile::tempdir().unwrap();
    let run = KinetoRun {
        ranks,
        ranks_per_host: 3,
        iterations: 5,
        offset: 3_000_000,
        missing: vec![ranks - 2],
        ..KinetoRun::training(Style::Nccl)
    };
    let profiles = scratch.path().join("job");
    run.write(&profiles).unwrap();
    let packed = profiles.join("rank1.pt.trace.json");
    assert!(Command::new("gzip").arg(packed).status().unwrap().success());
    scratch
}

#[test]
fn profiles_by_any_number_of_processes() {
    for ranks in [4, 8] {
        let scratch = job(ranks);
        let dir = scratch.path();
        let options = "-q --threads 1 --json";
        let correct = format!("correct job -o alone {options} alone.json");
        assert_eq!(retime(dir, &correct), 0);
        let checked = retime(dir, &format!("check job {options} checked.json"));
        assert_eq!(checked, 1);
        let apply = "apply alone/run.retime job -q";
        assert_eq!(retime(dir, &format!("{apply} -o applied")), 0);
        for size in [1, 2, 3] {
            let correct = format!("correct job -o out{size} {options} {size}.json");
            assert_eq!(run(dir, size, &correct), (0, String::new()));
            assert_same(&dir.join("alone"), &dir.join(format!("out{size}")));
            let json = report(&dir.join(format!("{size}.json")));
            assert_eq!(json, report(&dir.join("alone.json")));

            let check = format!("check job {options} {size}.json");
            assert_eq!(run(dir, size, &check), (checked, String::new()));
            let json = report(&dir.join(format!("{size}.json")));
            assert_eq!(json, report(&dir.join("checked.json")));

            let applied = format!("applied{size}");
            let apply = format!("{apply} -o {applied}");
            assert_eq!(run(dir, size, &apply), (0, String::new()));
            assert_same(&dir.join("applied"), &dir.join(applied));
        }
        assert_eq!(retime(dir, "undo out3 -o undone -q"), 0);
        for rank in 0..ranks {
            let name = format!("rank{rank}.pt.trace.json");
            let (original, undone) = (dir.join("job").join(&name), dir.join("undone").join(&name));
            assert_eq!(fs::read(original).ok(), fs::read(undone).ok(), "{name}");
        }
    }
}

#[test]
fn a_damaged_profile_is_named_once_and_nothing_is_written() {
    let scratch = job(8);
    let dir = scratch.path();
    for rank in [7, 2] {
        let file = dir.join(format!("job/rank{rank}.pt.trace.json"));
        let text = fs::read(&file).unwrap();
        fs::write(&file, &text[..text.len() / 2]).unwrap();
        let command = std::env::var_os("RETIME").unwrap();
        let alone = Command::new(command)
            .args(["correct", "job", "-o", "out", "-q"])
            .current_dir(dir)
            .output()
            .unwrap();
        let expected = String::from_utf8(alone.stderr).unwrap();
        let (_, expected) = expected.split_once(": ").unwrap();
        assert!(expected.contains("rank7.pt.trace.json"), "{expected}");
        for size in [2, 3] {
            let (code, said) = run(dir, size, "correct job -o out -q");
            assert_eq!((code, &*said), (2, &*format!("retime-mpi: {expected}")));
            let mut left: Vec<_> = fs::read_dir(dir).unwrap().map(|it| it.unwrap()).collect();
            left.retain(|it| it.file_name() != "job");
            assert!(left.is_empty(), "{left:?}");
        }
    }
}

#[test]
fn one_profile_of_all_ranks_is_left_to_process_0() {
    let scratch = job(4);
    let one = "check job/rank0.pt.trace.json";
    let code = retime(scratch.path(), one);
    let (shared, said) = run(scratch.path(), 2, one);
    assert_eq!(shared, code);
    assert!(said.contains("process 0 worked alone"), "{said}");
}

#[test]
fn an_error_is_said_once() {
    let scratch = recording();
    let dir = scratch.path();
    let damaged = dir.join("demo/halo/traces/3.evt");
    let whole = fs::read(&damaged).unwrap();
    fs::write(&damaged, &whole[..whole.len() / 2]).unwrap();
    for (arguments, what) in [
        ("correct none -o out", "none: No such file"),
        ("correct demo/halo -o out", "3.evt"),
        ("undo demo/halo -o out", "unrecognized subcommand"),
    ] {
        for size in [1, 4] {
            let (code, said) = run(dir, size, arguments);
            assert_eq!(code, 2, "{said}");
            assert_eq!(said.matches(what).count(), 1, "{said}");
            assert!(!dir.join("out").exists());
        }
    }
}

#[test]
fn the_layer_that_somebody_names_is_taken() {
    let scratch = tempfile::tempdir().unwrap();
    let version = |layer: Option<&str>| {
        let mut command = mpirun(scratch.path(), 2, "--version");
        command.env_remove("OMPI_MCA_pml").stderr(Stdio::null());
        command.envs(layer.map(|it| ("OMPI_MCA_pml", it)));
        command.status().unwrap().success()
    };
    assert!(version(None) && version(Some("ob1")));
    assert!(!version(Some("there-is-none-of-this-name")));
}

#[test]
fn on_one_node_no_network_is_looked_for() {
    let scratch = halo(4, 3_000_000);
    let mut command = mpirun(scratch.path(), 2, "correct trace -o out -q");
    let mut child = command.env_remove("OMPI_MCA_pml").spawn().unwrap();
    let is_told = |process: &u32| {
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        let mut all = environment.split(|it| *it == 0);
        all.any(|it| it == b"OMPI_MCA_pml=^cm")
    };
    while started(&child).iter().filter(|it| is_told(it)).count() < 2 {
        assert!(child.try_wait().unwrap().is_none(), "nobody was told");
        sleep(Duration::from_millis(1));
    }
    assert!(child.wait().unwrap().success());
}

#[test]
fn with_verbose_each_process_is_accounted_for() {
    let scratch = recording();
    let (code, said) = run(scratch.path(), 3, "check demo/halo -v");
    assert_eq!(code, 1);
    assert!(said.contains("retime-mpi: 3 processes, "), "{said}");
    assert!(said.contains(" of memory"), "{said}");
}

/// Exit code, and what was said on standard error.
fn on_first(machines: &Machines, words: &str) -> (Option<i32>, String) {
    let mut command = machines.on(0, words);
    let output = command.stderr(Stdio::piped()).output().unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn on_several_machines() {
    // Machines have a /tmp of their own; this directory they share.
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let dir = scratch.path();
    let Some(machines) = Machines::new(3, dir) else {
        eprintln!("skipped: no permission to make networks and file systems of one's own");
        return;
    };
    let simulate = "simulate halo --ranks 64 --ranks-per-node 1 --events 400000 --no-truth -q";
    assert_eq!(
        retime(dir, &format!("{simulate} --offset 100us -o trace")),
        0
    );
    assert_eq!(
        retime(
            dir,
            "correct trace -o alone -q --threads 1 --json alone.json"
        ),
        0
    );
    let mpirun = machines.mpirun(2);

    // What options name only process 0 has to see.
    let correct = "correct trace -o out -q --threads 1 --json /tmp/report.json";
    let words = format!("{mpirun} {correct} && cp /tmp/report.json .");
    assert_eq!(on_first(&machines, &words), (Some(0), String::new()));
    assert_same(&dir.join("alone"), &dir.join("out"));
    let [ours, theirs] = ["report.json", "alone.json"].map(|it| report(&dir.join(it)));
    assert!(ours == theirs, "the reports differ");

    // A trace that only the first machine has.
    let words = format!("cp -r trace /tmp/trace && {mpirun} correct /tmp/trace -o other -q");
    let (code, said) = on_first(&machines, &words);
    let expected = format!(
        "retime-mpi: on {} (process 2): /tmp/trace",
        machines.name(1)
    );
    assert_eq!(
        (code, said.starts_with(&expected)),
        (Some(2), true),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");

    // Room for the output only there.
    let words =
        format!("{mpirun} correct trace -o /tmp/out -q; code=$?; ls -A /tmp >&2; exit $code");
    let (code, said) = on_first(&machines, &words);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains(machines.name(1)), "{said}");
    assert!(
        !said.contains("\nout\n") && !said.contains("partial\n"),
        "{said}"
    );
    assert!(!dir.join("other").exists());

    // A process that dies far from the first, while all are being started and while they work.
    let words = format!("{mpirun} correct trace -o other -q");
    let commands = |machine: usize| {
        let all = machines.processes(machine).into_iter();
        all.filter(|it| is_command(*it)).collect::<Vec<u32>>()
    };
    let left = |_: &Child| (0..3).flat_map(commands).collect::<Vec<u32>>();
    for wait in [0, 250] {
        let mut command = machines.on(0, &words);
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        while commands(2).len() < 2 {
            assert!(
                child.try_wait().unwrap().is_none(),
                "it has ended by itself"
            );
            sleep(Duration::from_millis(1));
        }
        sleep(Duration::from_millis(wait));
        let victim = commands(2).first().copied();
        if let Some(victim) = victim {
            let mut kill = Command::new("kill");
            let killed = kill.args(["-9", &victim.to_string()]).status();
            assert!(killed.unwrap().success());
        }
        let status = ends(child, left);
        let status = status.unwrap_or_else(|| {
            panic!("still there {PATIENCE:?} after a process was killed, {wait} ms into its life")
        });
        machines.clear();
        // A fast machine may be done before.
        let done = dir.join("other").exists();
        assert!(done || !status.success());
        if done {
            assert_same(&dir.join("alone"), &dir.join("other"));
            fs::remove_dir_all(dir.join("other")).unwrap();
        }
    }
}
