//! Every call by which the command touches a file fails once, and is once the last.
//!
//! A small library in C, built here, stands between the command and the C library
//! (`faults/shim.c`): it counts the calls that concern the files of a run and lets one of
//! them fail, or kills the command there. So the command itself is tested, as it is built
//! for users, and whatever it calls in the standard library of Rust. A run without faults
//! says how many calls of each kind there are; then there is a run for each of them.
//!
//! A kind fails in the likeliest way by default, at each third call, and the command is killed at
//! each ninth; `RETIME_EFFORT=wide` takes each call, and kills at each third, and
//! `RETIME_EFFORT=all` takes all ways that make sense (`make test-long`).
//! `docs/TESTING.md` says what must hold after each run.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use retime_sim::{Layout, Program, from, to};

use retime_testing::Effort;

use crate::common::directory::{Tree, copy, tree};
use crate::common::{Outcome, RETIME, Scratch, traces};

/// What happens at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// It fails with this error.
    Error(i32, &'static str),
    /// It reads or writes half of what it was asked for.
    Short,
    /// All of them do so.
    AllShort,
    /// It never comes.
    Kill,
}

const INTERRUPTED: Fault = Fault::Error(4, "Interrupted system call");
const BROKEN: Fault = Fault::Error(5, "Input/output error");
const DENIED: Fault = Fault::Error(13, "Permission denied");
const TOO_MANY: Fault = Fault::Error(24, "Too many open files");
const FULL: Fault = Fault::Error(28, "No space left on device");

/// How each kind of call fails: the likeliest way first, then all others.
const KINDS: [(&str, &[Fault], &[Fault]); 14] = [
    ("open", &[DENIED], &[BROKEN, INTERRUPTED, TOO_MANY]),
    ("create", &[FULL], &[BROKEN, DENIED, INTERRUPTED, TOO_MANY]),
    ("stat", &[BROKEN], &[DENIED]),
    ("read", &[BROKEN], &[INTERRUPTED, Fault::Short]),
    ("write", &[FULL], &[BROKEN, INTERRUPTED, Fault::Short]),
    ("seek", &[BROKEN], &[]),
    ("truncate", &[BROKEN], &[INTERRUPTED]),
    ("sync", &[BROKEN], &[FULL, INTERRUPTED]),
    ("close", &[BROKEN], &[FULL, INTERRUPTED]),
    ("rename", &[BROKEN], &[DENIED, FULL]),
    ("mkdir", &[FULL], &[BROKEN, DENIED]),
    ("readdir", &[BROKEN], &[INTERRUPTED]),
    ("unlink", &[DENIED], &[BROKEN]),
    ("attribute", &[DENIED], &[BROKEN]),
];

/// A command and what it writes.
struct Job {
    arguments: &'static str,
    /// What it reads from standard input.
    stdin: Option<&'static str>,
    /// What it makes; whatever else lies there is its input.
    makes: &'static [&'static str],
    /// Of these, what is not the same from run to run, as it holds times.
    varies: &'static [&'static str],
    exit: i32,
    /// Whether it writes what only the owner of its input may read.
    private: bool,
    /// Kinds of calls that it must have been seen to make.
    calls: &'static [&'static str],
}

const ALWAYS: [&str; 4] = ["open", "stat", "write", "close"];
const OF_A_COPY: &[&str] = &["read", "create", "sync", "rename", "mkdir", "readdir"];

fn job(arguments: &'static str, makes: &'static [&'static str]) -> Job {
    Job {
        arguments,
        stdin: None,
        makes,
        varies: &[],
        exit: 0,
        private: true,
        calls: OF_A_COPY,
    }
}

/// The library, built once.
pub(crate) fn shim() -> &'static Path {
    static BUILT: OnceLock<(PathBuf, Scratch)> = OnceLock::new();
    let (path, _) = BUILT.get_or_init(|| {
        let scratch = Scratch::new();
        let library = scratch.join("shim.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/faults/shim.c");
        let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
        let built = Command::new(compiler)
            .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"])
            .args([&library, &source])
            .arg("-ldl")
            .status();
        assert!(
            built.unwrap().success(),
            "the library of faults is not built"
        );
        (library, scratch)
    });
    path
}

/// Two processes whose clocks disagree, as an archive with a file beside it, as lines, and
/// as corrected before.
fn prepare(scratch: &Scratch) {
    let mut program = Program::with_layout(Layout::node_per_rank(2));
    for round in 0..4 {
        let t = 1_000_000 + 10_000 * round;
        program.on(0).send(t, to(1)).recv(t + 3_000, from(1));
        program.on(1).recv(t + 100_500, from(0));
        program.on(1).send(t + 102_000, to(0));
    }
    traces::write(scratch.path(), "trace", &program);
    scratch.write("trace/scorep.cfg", "settings\n");
    keep_to_owner(&scratch.join("trace"));
    let lines = scratch.retime("order trace --format jsonl --quiet").stdout;
    scratch.write("lines.jsonl", &lines);
    keep_to_owner(&scratch.join("lines.jsonl"));
    scratch.succeed("correct trace -o corrected --quiet");
    scratch.succeed("correct lines.jsonl -o corrected.jsonl --quiet");
    // What may be replaced by force.
    copy(&scratch.join("trace"), &scratch.join("older"));
    fs::copy(
        scratch.join("corrected/traces.retime"),
        scratch.join("saved.json"),
    )
    .unwrap();
}

/// Keeps a file, or all files in a directory, from everyone but their owner.
fn keep_to_owner(path: &Path) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            keep_to_owner(&entry.unwrap().path());
        }
    } else {
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

/// One run of a job, in a directory of its own.
struct Bench<'a> {
    job: &'a Job,
    scratch: Scratch,
    /// Where the calls are noted, outside of that directory.
    log: Scratch,
    /// Everything there before a run, and after one without faults.
    before: Tree,
    after: Tree,
    stdout: String,
}

impl<'a> Bench<'a> {
    fn new(job: &'a Job) -> Self {
        let mut bench = Self {
            job,
            scratch: Scratch::in_memory(),
            log: Scratch::in_memory(),
            before: Tree::new(),
            after: Tree::new(),
            stdout: String::new(),
        };
        prepare(&bench.scratch);
        bench.scratch.write("stdout", "");
        bench.before = tree(bench.scratch.path());
        let (outcome, _) = bench.run(None);
        assert_eq!(
            outcome.code,
            Some(job.exit),
            "{}: {outcome:#?}",
            job.arguments
        );
        bench.stdout = outcome.stdout;
        bench.after = tree(bench.scratch.path());
        bench.reset();
        bench
    }

    /// Runs the command with a fault at a call, counted among those of its kind; what was
    /// noted of its calls.
    fn run(&self, fault: Option<(&str, usize, Fault)>) -> (Outcome, String) {
        let (log, stdout) = (self.log.join("calls"), self.scratch.join("stdout"));
        let _ = fs::remove_file(&log);
        let mut command = self.scratch.program(RETIME);
        command
            .args(self.job.arguments.split_whitespace())
            .env("LD_PRELOAD", shim())
            .env("FAULT_BELOW", self.scratch.path().canonicalize().unwrap())
            .env("FAULT_LOG", &log)
            .stdout(File::create(&stdout).unwrap())
            .stderr(Stdio::piped());
        if let Some(name) = self.job.stdin {
            command.stdin(File::open(self.scratch.join(name)).unwrap());
        }
        if let Some((kind, at, fault)) = fault {
            let fault = match fault {
                Fault::Error(number, _) => number.to_string(),
                Fault::Short => "short".to_owned(),
                Fault::AllShort => "all short".to_owned(),
                Fault::Kill => "kill".to_owned(),
            };
            command
                .env("FAULT_KIND", kind)
                .env("FAULT_AT", at.to_string())
                .env("FAULT", fault);
        }
        let output = command.spawn().unwrap().wait_with_output().unwrap();
        let mut outcome = Outcome::from(output);
        outcome.stdout = fs::read_to_string(&stdout).unwrap();
        fs::write(&stdout, "").unwrap();
        (outcome, fs::read_to_string(&log).unwrap_or_default())
    }

    /// Takes away what a run made, and puts back what it replaced.
    fn reset(&self) {
        let made = |name: &Path| self.job.makes.iter().any(|made| name.starts_with(made));
        for name in self.scratch.entries() {
            let path = self.scratch.join(&name);
            let is_kept = self.before.contains_key(Path::new(&name)) && !made(Path::new(&name));
            if is_kept {
                continue;
            }
            if path.is_dir() {
                fs::remove_dir_all(path).unwrap();
            } else {
                fs::remove_file(path).unwrap();
            }
        }
        for (name, content) in self.before.iter().filter(|(name, _)| made(name)) {
            let path = self.scratch.path().join(name);
            match content {
                None => fs::create_dir(path).unwrap(),
                Some(content) => fs::write(path, content).unwrap(),
            }
        }
    }

    /// What is neither as it was nor as it is to be; of a run that did its work, what is
    /// not as it is to be.
    fn broken(&self, is_done: bool) -> Option<String> {
        let now = tree(self.scratch.path());
        for made in self.job.makes {
            let varies = self.job.varies.contains(made);
            let of = |tree: &Tree| -> Tree {
                let entries = tree.iter().filter(|(name, _)| name.starts_with(made));
                let content = |it: &Option<Vec<u8>>| it.clone().filter(|_| !varies);
                entries
                    .map(|(name, it)| (name.clone(), content(it)))
                    .collect()
            };
            let made_now = of(&now);
            if made_now != of(&self.after) && (is_done || made_now != of(&self.before)) {
                return Some(format!("{made} is not whole"));
            }
            let is_whole = || {
                let text = self.scratch.read(made);
                let is_json = serde_json::from_str::<serde_json::Value>(&text).is_ok();
                is_json || text.ends_with("</html>\n")
            };
            if varies && !made_now.is_empty() && !is_whole() {
                return Some(format!("{made} is not whole"));
            }
        }
        let kept = |tree: &Tree| -> Tree {
            let made = |name: &Path| self.job.makes.iter().any(|made| name.starts_with(made));
            let hidden = |name: &Path| name.to_string_lossy().starts_with('.');
            let kept = tree.iter().filter(|(it, _)| !made(it) && !hidden(it));
            kept.map(|(name, it)| (name.clone(), it.clone())).collect()
        };
        (kept(&self.before) != kept(&now)).then(|| "the input is not as it was".to_owned())
    }

    /// What others can read of what a killed run leaves behind, though not of its input.
    fn open_to_others(&self) -> Option<String> {
        let is_open = |path: &Path, bits| fs::metadata(path).unwrap().mode() & bits != 0;
        let names = tree(self.scratch.path()).into_keys();
        let hidden = names.filter(|it| it.to_string_lossy().starts_with('.'));
        let entered = |name: &Path| {
            let ancestors = name.ancestors().skip(1).filter(|it| *it != Path::new(""));
            ancestors
                .map(|it| self.scratch.path().join(it))
                .all(|it| is_open(&it, 0o011))
        };
        let mut open = hidden.filter(|name| {
            let path = self.scratch.path().join(name);
            self.job.private && path.is_file() && is_open(&path, 0o044) && entered(name)
        });
        open.next()
            .map(|name| format!("others can read {}", name.display()))
    }

    fn leftovers(&self) -> Option<String> {
        let mut entries = self.scratch.entries();
        entries.retain(|name| name.starts_with('.'));
        (!entries.is_empty()).then(|| format!("{entries:?} is left"))
    }

    /// One run with a fault: whether that came, and what is wrong with what came of it.
    fn try_fault(&self, kind: &str, at: usize, fault: Fault) -> (bool, Option<String>) {
        let (outcome, calls) = self.run(Some((kind, at, fault)));
        let hit = calls.lines().find(|call| call.starts_with("FAULT "));
        let wrong = match (outcome.code, fault) {
            (None, Fault::Kill) => {
                let open = || self.open_to_others();
                let wrong = self.broken(false).or_else(open);
                wrong.or_else(|| self.left_for_good())
            }
            (code, _) if code == Some(self.job.exit) => {
                let same = outcome.stdout == self.stdout;
                let broken = self.broken(true);
                broken
                    .or_else(|| (!same).then(|| "the output differs".to_owned()))
                    .or_else(|| self.leftovers())
            }
            (Some(2), Fault::Error(_, cause)) if hit.is_some() => {
                let named = outcome.stderr.contains(cause);
                // Of a stream, what comes out besides its report can still fail.
                let only_made = self.job.varies.is_empty() && !self.job.makes.is_empty();
                let told = outcome.stderr.contains("is complete");
                let complete = only_made && self.broken(true).is_none();
                // What varies can only be seen to be there.
                let is_there = |name: &&str| self.scratch.join(name).exists();
                let truly = if only_made {
                    complete == told
                } else {
                    !told || self.job.makes.iter().all(is_there)
                };
                let untold = || (!truly).then(|| "completeness is not told".to_owned());
                let unnamed = || (!named).then(|| "the cause is not named".to_owned());
                let left = || {
                    if told {
                        self.left_for_good()
                    } else {
                        self.leftovers()
                    }
                };
                self.broken(false)
                    .or_else(unnamed)
                    .or_else(untold)
                    .or_else(left)
            }
            _ => Some("that is no way to end".to_owned()),
        };
        let wrong = wrong.map(|wrong| {
            let (code, stderr) = (outcome.code, outcome.stderr.trim());
            format!("{fault:?} at {kind} {at} ({hit:?}): {wrong}; exit {code:?}, {stderr}")
        });
        self.reset();
        (hit.is_some(), wrong)
    }

    /// What a run left behind that was killed or could not clean up, nor does the next one.
    fn left_for_good(&self) -> Option<String> {
        self.leftovers()?;
        let (next, _) = self.run(None);
        let is_done = next.code == Some(self.job.exit);
        // Killed after its work was done, it has made what the next one must not replace.
        if !is_done && !next.stderr.contains("exists already") {
            return Some(format!("the next run fails: {next:#?}"));
        }
        self.broken(is_done).or_else(|| self.leftovers())
    }
}

/// How many calls of each kind a log has.
fn count(calls: &str) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for call in calls.lines() {
        let kind = call.split(' ').next().unwrap();
        *counts.entry(kind).or_default() += 1;
    }
    counts
}

/// Fails unless every call that a run made was seen: each byte it left behind passed by.
fn assert_all_seen(bench: &Bench<'_>, calls: &str) {
    let counts = count(calls);
    for kind in ALWAYS.iter().chain(bench.job.calls) {
        assert!(counts.contains_key(kind), "no {kind} in {counts:?}");
    }
    let written: usize = calls
        .lines()
        .filter_map(|call| call.strip_prefix("bytes-written "))
        .map(|call| call.split(' ').next().unwrap().parse::<usize>().unwrap())
        .sum();
    let made = |name: &Path| bench.job.makes.iter().any(|made| name.starts_with(made));
    let files = tree(bench.scratch.path());
    let files = files.iter().filter(|(name, _)| made(name));
    let left: usize = files.map(|(_, it)| it.as_ref().map_or(0, Vec::len)).sum();
    assert!(
        written >= left + bench.stdout.len(),
        "{written} of {left} bytes"
    );
}

/// All faults at all calls of a job.
fn walk(job: &Job) {
    let bench = Bench::new(job);
    let (_, calls) = bench.run(None);
    assert_all_seen(&bench, &calls);
    bench.reset();

    let counts = count(&calls);
    let effort = Effort::asked();
    let mut planned = vec![("any", 0, Fault::AllShort)];
    let mut total = 0;
    for (kind, likeliest, others) in KINDS {
        let calls = counts.get(kind).copied().unwrap_or(0);
        total += calls;
        let others = effort.pick(&[][..], &[], others);
        for &fault in likeliest.iter().chain(others) {
            let ats = (1..=calls).step_by(effort.pick(3, 1, 1));
            planned.extend(ats.map(|at| (kind, at, fault)));
        }
    }
    let kills = (1..=total).step_by(effort.pick(9, 3, 1));
    planned.extend(kills.map(|at| ("any", at, Fault::Kill)));

    let next = AtomicUsize::new(0);
    let share = |bench: Bench<'_>| {
        let mut results = Vec::new();
        while let Some(&(kind, at, fault)) = planned.get(next.fetch_add(1, Ordering::Relaxed)) {
            results.push(bench.try_fault(kind, at, fault));
        }
        results
    };
    let results = thread::scope(|scope| {
        let benches = [bench, Bench::new(job)];
        let workers = benches.map(|bench| scope.spawn(|| share(bench)));
        workers.map(|it| it.join().unwrap()).concat()
    });
    let wrong: Vec<&str> = results.iter().filter_map(|it| it.1.as_deref()).collect();
    assert!(wrong.is_empty(), "{}:\n{}", job.arguments, wrong.join("\n"));
    // Threads that work at the same time need a call more or less.
    let missed = results.iter().filter(|(came, _)| !came).count() - 1;
    assert!(
        missed * 20 <= planned.len(),
        "{missed} of {} faults",
        planned.len()
    );
    println!("{}: {} faults", job.arguments, results.len());
}

#[test]
fn of_correct() {
    walk(&job("correct trace -o out --threads 1 -q", &["out"]));
}

#[test]
fn of_correct_that_replaces() {
    walk(&Job {
        // What it replaces is not private.
        private: false,
        ..job("correct trace -o older --force -q", &["older"])
    });
}

#[test]
fn of_correct_of_lines() {
    let makes = &["out.jsonl", "out.jsonl.retime"];
    walk(&Job {
        calls: &["read", "create", "sync", "rename", "mkdir", "unlink"],
        ..job("correct lines.jsonl -o out.jsonl -q", makes)
    });
}

#[test]
fn of_correct_to_one_list() {
    walk(&job("correct trace --merged -o list -q", &["list"]));
}

#[test]
fn of_export() {
    let calls = &["read", "create", "sync", "rename"];
    walk(&Job {
        calls,
        ..job("export trace -o out.json --threads 1 -q", &["out.json"])
    });
}

#[test]
fn of_check_that_draws() {
    let makes = &["page.html"];
    walk(&Job {
        exit: 1,
        varies: makes,
        // Whoever gets a report may read it.
        private: false,
        calls: &["read", "create", "rename"],
        ..job("check trace --html page.html --threads 1 -q", makes)
    });
}

#[test]
fn of_undo() {
    walk(&job("undo corrected -o out --threads 1", &["out"]));
}

#[test]
fn of_undo_of_lines() {
    walk(&job("undo corrected.jsonl -o out.jsonl", &["out.jsonl"]));
}

#[test]
fn of_apply() {
    walk(&job("apply saved.json trace -o out --threads 1", &["out"]));
}

#[test]
fn of_simulate() {
    let arguments = "simulate ring --ranks 2 --iterations 2 -o out";
    walk(&Job {
        private: false,
        calls: &["create", "sync", "rename", "mkdir", "readdir"],
        ..job(arguments, &["out", "out-truth"])
    });
}

/// What comes out of the standard output may be cut where the command fails.
#[test]
fn of_order() {
    walk(&Job {
        exit: 1,
        calls: &["read"],
        ..job("order trace --threads 1", &[])
    });
}

#[test]
fn of_stream_with_a_report() {
    walk(&Job {
        stdin: Some("lines.jsonl"),
        varies: &["report"],
        private: false,
        calls: &["read", "create", "rename"],
        ..job("stream --report report -q", &["report"])
    });
}

#[test]
fn of_check_with_a_report() {
    walk(&Job {
        exit: 1,
        varies: &["report"],
        private: false,
        calls: &["read", "create", "rename"],
        ..job("check trace --json report --threads 1 -q", &["report"])
    });
}
