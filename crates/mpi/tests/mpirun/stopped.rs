//! Processes that are killed or told to stop: none waits for ever, and nothing half-written appears.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{PATIENCE, assert_same, halo, mpirun, retime, run};

/// True if a process runs the command.
pub(super) fn is_command(process: u32) -> bool {
    let runs = fs::read_link(format!("/proc/{process}/exe"));
    runs.is_ok_and(|it| it.ends_with("retime-mpi"))
}

/// The processes of the command that `mpirun` has started.
pub(super) fn started(mpirun: &Child) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let numbers = entries.filter_map(|it| it.file_name().to_str()?.parse().ok());
    let is_one = |process: &u32| {
        let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        // Behind the name in brackets: the state, and the process that started it.
        let parent = status.rsplit_once(") ").and_then(|(_, rest)| {
            let mut fields = rest.split(' ');
            fields.nth(1)?.parse::<u32>().ok()
        });
        is_command(*process) && parent == Some(mpirun.id())
    };
    numbers.filter(is_one).collect()
}

/// Waits until none of the command's processes is `left`, but not for ever; how `mpirun` ended.
/// Where one of them dies while they are being started, the `mpirun` of Open MPI at times
/// stays behind by itself, and on other machines its `orted`, two threads of which wait for
/// each other in the end of `PMIx`. It is ended here then.
pub(super) fn ends(mut child: Child, left: impl Fn(&Child) -> Vec<u32>) -> Option<ExitStatus> {
    let start = Instant::now();
    let mut has_ended = false;
    while !has_ended && start.elapsed() < PATIENCE {
        sleep(Duration::from_millis(10));
        has_ended = child.try_wait().unwrap().is_some() || left(&child).is_empty();
    }
    let alone = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if !has_ended || alone.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        sleep(Duration::from_millis(10));
    }
    let status = child.wait().unwrap();
    has_ended.then_some(status)
}

/// Waits until nothing is left of processes that have ended: the next run takes what they
/// had staged for theirs as long as their numbers are known.
fn are_forgotten(processes: &[u32]) {
    let start = Instant::now();
    let is_known = |it: &u32| Path::new(&format!("/proc/{it}")).exists();
    while start.elapsed() < PATIENCE && processes.iter().any(is_known) {
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn killed_at_any_moment_nobody_waits_and_nothing_appears() {
    let scratch = halo(4, 3_000_000);
    let dir = scratch.path();
    assert_eq!(retime(dir, "correct trace -o alone -q"), 0);
    let mut killed = 0;
    for moment in 1..=20 {
        let mut command = mpirun(dir, 3, "correct trace -o out --threads 1 -q");
        let child = command.stderr(Stdio::null()).spawn().unwrap();
        while started(&child).len() < 3 {
            sleep(Duration::from_millis(1));
        }
        sleep(Duration::from_millis(40 * moment));
        let processes = started(&child);
        if let Some(victim) = processes.get(moment as usize % 3) {
            let kill = Command::new("kill")
                .args(["-9", &victim.to_string()])
                .status();
            killed += usize::from(kill.unwrap().success());
        }
        assert!(
            ends(child, started).is_some(),
            "still there {PATIENCE:?} after a process was killed at moment {moment}"
        );
        are_forgotten(&processes);
        if dir.join("out").exists() {
            assert_same(&dir.join("alone"), &dir.join("out"));
            fs::remove_dir_all(dir.join("out")).unwrap();
        }
    }
    assert!(killed > 3, "{killed}");
    assert_eq!(run(dir, 3, "correct trace -o out -q"), (0, String::new()));
    assert_same(&dir.join("alone"), &dir.join("out"));
    let mut left: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|it| it.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["alone", "out", "trace"]);
}

/// Whichever process is told to stop, and whatever all do then: it is no failure.
#[test]
fn told_to_stop_at_any_moment_all_are_interrupted() {
    let scratch = halo(4, 3_000_000);
    let dir = scratch.path();
    let mut interrupted = 0;
    for moment in 0..8 {
        let mut command = mpirun(dir, 3, "correct trace -o out --threads 1 -q");
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = child.stderr.take().unwrap();
        while started(&child).len() < 3 {
            sleep(Duration::from_millis(1));
        }
        sleep(Duration::from_millis(300 + 100 * moment));
        if let Some(told) = started(&child).get(moment as usize % 3) {
            let mut kill = Command::new("kill");
            let _ = kill.args(["-TERM", &told.to_string()]).status();
        }
        let status = ends(child, started).expect("still there after a process was told to stop");
        let mut said = String::new();
        stderr.read_to_string(&mut said).unwrap();
        match status.code() {
            Some(130) => {
                let expected = "retime-mpi: interrupted; nothing was written\n";
                assert_eq!(said, expected, "moment {moment}");
                interrupted += 1;
            }
            // It was done before, or MPI was still being started; then `mpirun` may stay behind.
            Some(0 | 143) | None => assert_eq!(said, "", "moment {moment}"),
            other => panic!("moment {moment}: {other:?}: {said}"),
        }
        let _ = fs::remove_dir_all(dir.join("out"));
    }
    assert!(interrupted > 1, "{interrupted}");
}
