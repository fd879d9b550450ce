//! Output that appears whole or not at all, whatever ends the command.

use crate::common;
use std::fs;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use retime_testing::Effort;

use crate::common::directory::{Tree, assert_same, assert_same_trees, copy, tree};
use crate::common::{Outcome, Scratch, judge, traces};

/// A process that cannot exist.
const NOBODY: u32 = u32::MAX;

/// A directory with a trace that takes a while.
fn long_trace() -> Scratch {
    let scratch = Scratch::new();
    traces::halo(scratch.path(), "trace", 1_000_000);
    scratch
}

/// A directory with a trace of a few events.
fn short_trace() -> Scratch {
    traces::scratch([("trace", traces::skewed())])
}

fn leftovers(scratch: &Scratch) -> Vec<String> {
    let mut entries = scratch.entries();
    entries.retain(|name| name.starts_with('.'));
    entries
}

/// Either there is no output, or all of it.
#[track_caller]
fn assert_absent_or_complete(scratch: &Scratch, complete: &Tree) -> bool {
    let out = scratch.join("out");
    let there = out.exists();
    if there {
        assert_same_trees(complete, &tree(&out));
    }
    there
}

#[test]
fn killed_at_any_moment() {
    let scratch = long_trace();
    let input = tree(&scratch.join("trace"));
    let start = Instant::now();
    scratch.succeed("correct trace -o out");
    let duration = start.elapsed();
    let complete = tree(&scratch.join("out"));
    // So that the comparison with it means something.
    scratch.succeed("check out");
    judge::assert_readable(&scratch.join("out/traces.otf2"));
    fs::remove_dir_all(scratch.join("out")).unwrap();

    let (mut absent, mut unfinished) = (0, 0);
    let moments = Effort::asked().pick(12, 24, 200);
    for moment in 0..moments {
        let mut child = scratch.command("correct trace -o out -q").spawn().unwrap();
        sleep(duration * moment * 6 / (5 * moments));
        child.kill().unwrap();
        child.wait().unwrap();
        unfinished += usize::from(!leftovers(&scratch).is_empty());
        if assert_absent_or_complete(&scratch, &complete) {
            fs::remove_dir_all(scratch.join("out")).unwrap();
        } else {
            absent += 1;
        }
    }
    assert!(absent > 0 && unfinished > 0, "{absent} {unfinished}");
    assert_same_trees(&input, &tree(&scratch.join("trace")));

    scratch.succeed("correct trace -o out");
    assert_eq!(scratch.entries(), ["out", "trace"]);
    assert!(assert_absent_or_complete(&scratch, &complete));
}

/// Sends a signal once the command is at work.
fn interrupted(scratch: &Scratch, signal: &str, wait: Duration) -> Outcome {
    let mut command = scratch.command("correct trace -o out --threads 1");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    while leftovers(scratch).is_empty() {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before it began");
        sleep(Duration::from_millis(1));
    }
    sleep(wait);
    send(&child, signal);
    child.wait_with_output().unwrap().into()
}

fn send(child: &Child, signal: &str) {
    let kill = format!("kill -{signal} {}", child.id());
    let status = Command::new("sh").args(["-c", &kill]).status().unwrap();
    assert!(status.success());
}

#[test]
fn interrupted_at_any_moment() {
    let scratch = long_trace();
    scratch.succeed("correct trace -o out");
    let complete = tree(&scratch.join("out"));
    fs::remove_dir_all(scratch.join("out")).unwrap();
    for signal in ["INT", "TERM", "HUP"] {
        let mut interruptions = 0;
        for wait in [0, 5, 20, 50, 100, 200] {
            let outcome = interrupted(&scratch, signal, Duration::from_millis(wait));
            if outcome.code == Some(130) {
                assert_eq!(outcome.stderr, "retime: interrupted; nothing was written\n");
                assert_eq!(outcome.stdout, "");
                assert_eq!(scratch.entries(), ["trace"]);
                interruptions += 1;
            } else {
                // It came too late.
                assert_eq!(outcome.code, Some(0), "{outcome:#?}");
                assert!(assert_absent_or_complete(&scratch, &complete));
                fs::remove_dir_all(scratch.join("out")).unwrap();
            }
        }
        assert!(interruptions > 0, "SIG{signal} never came in time");
    }
}

/// Whoever reads hears that there is more, and not that nothing came.
#[test]
fn interrupted_while_it_writes_to_standard_output() {
    let scratch = long_trace();
    for arguments in ["order trace", "export trace -o -"] {
        let mut command = scratch.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // There is more than a pipe holds, so that the command waits for a reader.
        let mut first = [0];
        let mut output = child.stdout.take().unwrap();
        output.read_exact(&mut first).unwrap();
        send(&child, "INT");
        std::io::copy(&mut output, &mut std::io::sink()).unwrap();
        let outcome = Outcome::from(child.wait_with_output().unwrap());
        assert_eq!(outcome.code, Some(130), "{arguments}: {outcome:#?}");
        assert_eq!(
            outcome.stderr, "retime: interrupted; what was written to standard output is not all\n",
            "{arguments}"
        );
    }
}

/// A limit on the size of files is as good as a full disk.
#[test]
fn no_room_for_a_file() {
    let scratch = long_trace();
    let limited = "ulimit -f 2048; exec \"$RETIME\"";
    for command in [
        "correct trace -o out",
        "correct trace/traces.otf2 -o out --threads 1",
    ] {
        let outcome = scratch.shell(&format!("{limited} {command}"));
        assert_eq!(outcome.code, Some(2), "{outcome:#?}");
        assert_eq!(outcome.stdout, "");
        assert!(
            outcome.stderr.ends_with(
                ".evt: File too large (os error 27); no file may have more than 1,048,576 bytes \
                 here; raise that limit (ulimit -f unlimited)\n"
            ),
            "{outcome:#?}"
        );
        assert_eq!(scratch.entries(), ["trace"]);
    }
    // What was to be replaced is still there.
    scratch.succeed("correct trace -o out");
    let before = tree(&scratch.join("out"));
    let outcome = scratch.shell(&format!("{limited} undo out -o back"));
    assert_eq!(outcome.code, Some(2), "{outcome:#?}");
    let outcome = scratch.shell(&format!("{limited} correct trace -o out --force"));
    assert_eq!(outcome.code, Some(2), "{outcome:#?}");
    assert_eq!(scratch.entries(), ["out", "trace"]);
    assert_same_trees(&before, &tree(&scratch.join("out")));
}

#[test]
fn a_demonstration_that_fails_keeps_nothing() {
    let scratch = Scratch::new();
    let outcome = scratch.shell("ulimit -f 512; exec \"$RETIME\" demo --keep kept");
    assert_eq!(outcome.code, Some(2), "{outcome:#?}");
    assert_eq!(
        outcome.stderr,
        "retime: kept: File too large (os error 27); no file may have more than 262,144 bytes \
         here; raise that limit (ulimit -f unlimited)\n"
    );
    assert_eq!(scratch.entries(), [""; 0]);
}

#[test]
fn no_room_on_the_disk() {
    let scratch = long_trace();
    fs::create_dir(scratch.join("small")).unwrap();
    let script = "mount -t tmpfs -o size=4m none small 2>/dev/null || exit 77
        for command in 'correct trace' 'correct sound' 'apply shift.json trace'; do
            \"$RETIME\" $command -o small/out && echo done
            echo \"exit $?\"
            ls -A small
        done";
    scratch.write(
        "shift.json",
        r#"{"format": "retime correction", "version": 1, "clocks": [{"knots": [[0, 1000]]}]}"#,
    );
    scratch.succeed("correct trace -o sound --quiet");
    for namespace in ["-m", "-rm"] {
        let mut command = scratch.program("unshare");
        command.args([namespace, "sh", "-c", script]);
        let Ok(output) = command.env("RETIME", common::RETIME).output() else {
            break;
        };
        let outcome = Outcome::from(output);
        if outcome.code == Some(0) {
            assert_eq!(outcome.stdout, "exit 2\n".repeat(3), "{outcome:#?}");
            assert_eq!(outcome.stderr.matches("No space left on device").count(), 3);
            // Files are written by several threads: it is missing in any of them.
            let named = outcome.stderr.matches(".partial/traces/").count();
            assert_eq!(named, 3, "{outcome:#?}");
            return;
        }
    }
    eprintln!("skipped: no permission to mount a small disk");
}

#[test]
fn leftovers_of_killed_runs_go_and_nothing_else() {
    let scratch = short_trace();
    let alive = std::process::id();
    let partial = |target: &str, process: u32| format!(".{target}.retime-{process}.partial");
    let others = [
        partial("out", alive),
        partial("other", NOBODY),
        ".out.retime-x.partial".to_owned(),
        ".out.retime-.partial".to_owned(),
    ];
    for name in others.iter().chain([&partial("out", NOBODY)]) {
        fs::create_dir(scratch.join(name)).unwrap();
        scratch.write(&format!("{name}/file"), "");
    }
    scratch.succeed("correct trace -o out");
    let mut expected = others.to_vec();
    expected.extend(["out".to_owned(), "trace".to_owned()]);
    expected.sort();
    assert_eq!(scratch.entries(), expected);
}

/// Outputs may be called by a date or a number, so that no target is ever written again.
#[cfg(target_os = "linux")]
#[test]
fn leftovers_for_other_targets_go_once_their_process_is_over() {
    let scratch = long_trace();
    let mut begun = scratch.command("correct trace -o first -q");
    let mut child = begun.spawn().unwrap();
    while leftovers(&scratch).is_empty() {
        assert_eq!(child.try_wait().unwrap(), None, "it ended before it began");
        sleep(Duration::from_millis(1));
    }
    send(&child, "STOP");
    let left = leftovers(&scratch);
    // As long as it is alive, though it does nothing, its directory stays.
    scratch.succeed("correct trace -o second --bounds off");
    assert_eq!(leftovers(&scratch), left);
    child.kill().unwrap();
    child.wait().unwrap();
    // The number of a process elsewhere says nothing here.
    let elsewhere = format!(".third.retime-{NOBODY}-01234567.partial");
    let (process, place) = left[0].rsplit_once('-').unwrap();
    fs::create_dir(scratch.join(&elsewhere)).unwrap();
    assert!(
        process.ends_with(&format!(".retime-{}", child.id())),
        "{place}"
    );
    scratch.succeed("correct trace -o fourth --bounds off");
    let mut expected = [&elsewhere, "fourth", "second", "trace"].map(str::to_owned);
    expected.sort();
    assert_eq!(scratch.entries(), expected);
}

/// A run that is killed while it replaces a directory may have moved that
/// aside already.
#[test]
fn what_was_about_to_be_replaced_comes_back() {
    let scratch = short_trace();
    let aside = format!(".out.retime-{NOBODY}.replaced");
    copy(&scratch.join("trace"), &scratch.join(&aside));
    let outcome = scratch.retime("correct trace -o out");
    assert_eq!(outcome.code, Some(2));
    assert!(outcome.stderr.contains("exists already"), "{outcome:#?}");
    assert_eq!(scratch.entries(), ["out", "trace"]);
    assert_same(&scratch.join("trace"), &scratch.join("out"));

    // The new one is in place: the old one only has to go.
    copy(&scratch.join("trace"), &scratch.join(&aside));
    scratch.succeed("correct trace -o out --force");
    assert_eq!(scratch.entries(), ["out", "trace"]);
    scratch.succeed("check out");
}

#[test]
fn force_replaces_all_of_an_archive() {
    let scratch = short_trace();
    scratch.write("trace/scorep.cfg", "settings\n");
    scratch.succeed("correct trace -o out");
    fs::write(scratch.join("out/traces/99.evt"), "old").unwrap();
    let again = scratch.retime("correct trace -o out");
    assert_eq!(again.code, Some(2));
    assert!(scratch.join("out/traces/99.evt").exists());

    scratch.succeed("correct trace -o out --force");
    assert!(!scratch.join("out/traces/99.evt").exists());
    assert_eq!(scratch.read("out/scorep.cfg"), "settings\n");
    scratch.succeed("undo out -o out2");
    scratch.succeed("undo out -o out2 --force");
    assert_same(&scratch.join("trace"), &scratch.join("out2"));
    fs::create_dir(scratch.join("empty")).unwrap();
    scratch.succeed("correct trace -o empty --force");
    assert_eq!(scratch.entries(), ["empty", "out", "out2", "trace"]);
}

#[test]
fn of_two_runs_for_one_target_one_wins() {
    let scratch = Scratch::new();
    traces::halo(scratch.path(), "trace", 100_000);
    let start = || {
        let mut command = scratch.command("correct trace -o out");
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    let both = [start(), start()];
    let mut codes = both.map(|mut child| child.wait().unwrap().code());
    codes.sort_unstable();
    assert_eq!(codes, [Some(0), Some(2)]);
    assert_eq!(scratch.entries(), ["out", "trace"]);
    scratch.succeed("check out");
}

/// Links that lead to themselves stand for a disk that fails: the system finds something
/// there and cannot say what.
#[cfg(unix)]
#[test]
fn what_cannot_be_looked_at_is_not_missing() {
    use std::os::unix::fs::symlink;
    for place in ["trace/notes", "trace/traces/9.evt", "trace/traces/0.def"] {
        let scratch = short_trace();
        let link = scratch.join(place);
        let _ = fs::remove_file(&link);
        symlink(link.file_name().unwrap(), &link).unwrap();
        let it = scratch.retime("correct trace -o out");
        assert_eq!(it.code, Some(2), "{place}: {it:?}");
        assert!(it.stderr.contains(place), "{place}: {it:?}");
        assert!(it.stderr.contains("symbolic link"), "{place}: {it:?}");
        assert!(!scratch.join("out").exists(), "{place}");
        assert!(leftovers(&scratch).is_empty(), "{place}");
    }
}

#[cfg(unix)]
#[test]
fn a_target_that_cannot_be_looked_at_is_not_free() {
    use std::os::unix::fs::symlink;
    let scratch = short_trace();
    symlink("nowhere", scratch.join("out")).unwrap();
    let it = scratch.retime("correct trace -o out");
    assert_eq!(it.code, Some(2), "{it:?}");
    assert!(scratch.join("out").is_symlink());

    symlink("around", scratch.join("around")).unwrap();
    let it = scratch.retime("correct trace -o around/out");
    assert_eq!(it.code, Some(2), "{it:?}");
    assert!(it.stderr.contains("around"), "{it:?}");
}
