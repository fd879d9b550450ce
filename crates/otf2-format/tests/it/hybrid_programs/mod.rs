//! Random hybrid programs, executed in true time by a machine that knows nothing of
//! retime: processes with threads and streams that do with each other whatever
//! `docs/DEPENDENCIES.md` lists. No dependency is false, what is promised is found, and
//! wrong clocks are repaired.
//!
//! `RETIME_CASES=40 cargo test --release -p retime-otf2-format hybrid` runs 2,000.

mod archive;
mod clocks;
mod collectives;
mod machine;
mod messages;
mod network;
mod program;
mod promised;
mod random;
mod regions;
mod script;
mod streams;
mod threads;
mod windows;
mod world;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use retime::Grouping;
use retime::causality::{Causality, CausalityOptions, EventNode};
use retime::pipeline::{Analysis, AnalysisOptions, ClockKind, Method};
use retime_model::format::{Format, Scan};
use retime_otf2::EventData;
use retime_otf2_format::Otf2;

use self::clocks::{Clocks, Sharing};
use self::machine::{Machine, Place, Run};
use self::promised::is_promised;
use self::random::Random;

/// A program that comes to its end.
fn run(seed: u64, ranks: usize, interactions: usize) -> Run {
    let mut random = Random(seed);
    let mut runs = std::iter::repeat_with(|| {
        let program = script::write(ranks, interactions, &mut random);
        Machine::new(program, &mut random).run()
    });
    runs.by_ref()
        .take(100)
        .flatten()
        .next()
        .expect("a program whose threads do not all wait")
}

fn scan(path: &Path) -> Scan {
    Otf2.open(path).unwrap().scan(&()).unwrap()
}

fn analysis(path: &Path, grouping: Grouping) -> Analysis {
    let Scan { info, logs, .. } = scan(path);
    let options = AnalysisOptions {
        grouping,
        ..AnalysisOptions::default()
    };
    Analysis::new(info, logs, options, &()).unwrap()
}

fn place(causality: &Causality, node: EventNode) -> Place {
    let nodes = causality.nodes();
    let location = nodes.location(node).as_usize();
    (location, nodes.event(node) as usize)
}

/// Causes and effects of all dependencies.
fn dependencies(causality: &Causality) -> Vec<(Place, Place)> {
    let of = |node| place(causality, node);
    let received = causality.nodes().all();
    let messages = received.filter_map(|it| Some((of(causality.message_source(it)?), of(it))));
    let mut found: Vec<_> = messages.collect();
    let collectives = causality.collectives();
    for instance in collectives.instances() {
        let participants = collectives.participants(instance);
        collectives.each_dependency(instance, |from, to| {
            let (cause, effect) = (participants[from].cause(), participants[to].effect());
            found.extend(
                cause
                    .zip(effect)
                    .map(|(cause, effect)| (of(cause), of(effect))),
            );
        });
    }
    found
}

impl Run {
    /// Whether several threads of one of two processes call MPI for it, so that order is
    /// told by the clock that they have in common.
    fn is_told_by_clocks(&self, cause: Place, effect: Place) -> bool {
        let process = |place: Place| self.world.locations[place.0].process;
        let several = |process: usize| self.world.processes[process].threads.len() > 1;
        let (from, to) = (process(cause), process(effect));
        let is_of_mpi = from != to || self.is_sent(cause);
        self.world.multiple && is_of_mpi && (several(from) || several(to))
    }

    fn is_sent(&self, (location, event): Place) -> bool {
        let data = &self.locations[location][event].data;
        matches!(data, EventData::MpiSend { .. } | EventData::MpiIsend { .. })
    }

    /// All events in true time, for finding out what went wrong.
    fn list(&self) -> String {
        let mut all = Vec::new();
        for (location, events) in self.locations.iter().enumerate() {
            let numbered = events.iter().enumerate();
            all.extend(numbered.map(|(number, it)| (it.time, location, number, &it.data)));
        }
        all.sort_by_key(|it| it.0);
        let mut list = String::new();
        for (location, it) in self.world.locations.iter().enumerate() {
            writeln!(list, "location {location}: {it:?}").unwrap();
        }
        for (number, comm) in self.world.comms.iter().enumerate() {
            writeln!(list, "communicator {number}: {comm:?}").unwrap();
        }
        writeln!(
            list,
            "windows {:?}, groups {:?}",
            self.world.windows, self.world.groups
        )
        .unwrap();
        for (time, location, number, data) in all {
            writeln!(list, "{time:9} {location:2}#{number:<3} {}", describe(data)).unwrap();
        }
        list
    }
}

fn describe(data: &EventData) -> String {
    match data {
        EventData::Enter { region } => format!("Enter {}", regions::name(*region)),
        EventData::Leave { region } => format!("Leave {}", regions::name(*region)),
        other => format!("{other:?}"),
    }
}

/// The files of an archive, with what is in them.
fn files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            let bytes = fs::read(&path).unwrap();
            all.push((path.strip_prefix(dir).unwrap().to_owned(), bytes));
        }
    }
    all.sort();
    all
}

/// How many programs; the variable `RETIME_CASES` multiplies it.
fn cases() -> ProptestConfig {
    let factor = std::env::var("RETIME_CASES").ok();
    let factor: u32 = factor.and_then(|it| it.parse().ok()).unwrap_or(1);
    ProptestConfig {
        cases: 50 * factor,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

const GROUPINGS: [Grouping; 4] = [
    Grouping::Auto,
    Grouping::Node,
    Grouping::Process,
    Grouping::Location,
];

/// Causes and effects that programs have to contain, as they are recorded.
const KINDS: [(&str, &str); 24] = [
    ("MpiSend", "MpiRecv"),
    ("MpiIsend", "MpiIrecv"),
    ("MpiSend", "MpiMrecv"),
    ("MpiIsend", "MpiImrecv"),
    ("Enter MPI_Recv", "Leave MPI_Ssend"),
    ("Enter MPI_Irecv", "MpiIsendComplete"),
    ("MpiCollectiveBegin", "MpiCollectiveEnd"),
    (
        "NonBlockingCollectiveRequest",
        "NonBlockingCollectiveComplete",
    ),
    ("RmaCollectiveBegin", "RmaCollectiveEnd"),
    ("Enter MPI_Win_complete", "Leave MPI_Win_wait"),
    ("ThreadFork", "ThreadTeamBegin"),
    ("ThreadTeamEnd", "ThreadJoin"),
    ("Enter !$omp barrier", "Leave !$omp barrier"),
    (
        "Enter !$omp implicit barrier",
        "Leave !$omp implicit barrier",
    ),
    ("ThreadTaskComplete", "Leave !$omp barrier"),
    ("ThreadTaskCreate", "ThreadTaskSwitch"),
    ("ThreadReleaseLock", "ThreadAcquireLock"),
    ("ThreadCreate", "ThreadBegin"),
    ("ThreadEnd", "ThreadWait"),
    ("Enter cudaLaunchKernel", "Enter kernel"),
    ("Enter cudaMemcpyAsync", "RmaGet"),
    ("Enter cudaMemcpy", "RmaGet"),
    ("Leave kernel", "Leave cudaDeviceSynchronize"),
    ("RmaOpCompleteBlocking", "Leave cudaDeviceSynchronize"),
];

#[test]
fn programs_contain_dependencies_of_each_kind() {
    let mut missing = KINDS.to_vec();
    for seed in 0..150 {
        let run = run(seed, 1 + seed as usize % 5, 90);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.otf2");
        archive::write(&path, &run, |_, time| time);
        let Scan { info, logs, .. } = scan(&path);
        let causality = Causality::build(&info, logs, CausalityOptions::default()).unwrap();
        let name = |(location, event): Place| describe(&run.locations[location][event].data);
        for (cause, effect) in dependencies(&causality) {
            let (cause, effect) = (name(cause), name(effect));
            missing.retain(|(from, to)| !(cause.starts_with(from) && effect.starts_with(to)));
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn true_clocks_contradict_nothing(
        seed in any::<u64>().no_shrink(), ranks in 1..6_usize, interactions in 1..120_usize,
    ) {
        let run = run(seed, ranks, interactions);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.otf2");
        archive::write(&path, &run, |_, time| time);
        let trace = Otf2.open(&path).unwrap();
        let Scan { info, logs, contents } = trace.scan(&()).unwrap();
        let warnings = trace.warnings(&contents);
        prop_assert!(!warnings.iter().any(|it| it.contains("in which other")), "{warnings:?}\n{}", run.list());
        let causality = Causality::build(&info, logs, CausalityOptions::default()).unwrap();
        for (cause, effect) in dependencies(&causality) {
            let by_clocks = run.is_told_by_clocks(cause, effect);
            let is_true = run.precedes(cause, effect, by_clocks);
            prop_assert!(is_true, "{cause:?} -> {effect:?} is false\n{}", run.list());
        }
        for grouping in GROUPINGS {
            let analysis = analysis(&path, grouping);
            prop_assert!(analysis.is_sound(), "{grouping:?}\n{}", run.list());
        }
        let copy = tempfile::tempdir().unwrap();
        Otf2.open(&path).unwrap().rewriting().unwrap().copy(copy.path(), &()).unwrap();
        prop_assert_eq!(files(dir.path()), files(copy.path()));
    }

    #[test]
    fn wrong_clocks_are_repaired(
        seed in any::<u64>().no_shrink(), ranks in 1..6_usize, interactions in 1..120_usize,
    ) {
        let run = run(seed, ranks, interactions);
        let mut random = Random(seed ^ 1);
        let clocks = Clocks::new(&run.world, &mut random);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.otf2");
        archive::write(&path, &run, |location, time| clocks.show(location, time));
        let own = match clocks.sharing {
            Sharing::Node => Grouping::Node,
            Sharing::Process => Grouping::Process,
            Sharing::Thread => Grouping::Location,
        };
        for grouping in [Grouping::Auto, own] {
            let analysis = analysis(&path, grouping);
            for method in [Method::default(), Method::new(&ClockKind::Controlled)] {
                let solution = analysis.solve(&method, &());
                let case = || format!("{grouping:?} {method} {clocks:?}\n{}", run.list());
                prop_assert!(solution.is_ok(), "{:?} {}", solution.err(), case());
                let solution = solution.unwrap();
                prop_assert_eq!(solution.left.violated(), 0, "{}", case());
                let causality = analysis.causality();
                let mut times = std::collections::BTreeMap::new();
                for (node, time) in causality.nodes().all().zip(&solution.times) {
                    times.insert(place(causality, node), *time);
                }
                let all = times.iter().zip(times.iter().skip(1));
                for ((before, a), (after, b)) in all {
                    prop_assert!(before.0 != after.0 || a <= b, "{before:?} {after:?} {}", case());
                }
                for &(cause, effect, proof) in &run.truth {
                    if let Some((cause, effect)) = is_promised(&run, cause, effect, proof) {
                        let both = (times.get(&cause), times.get(&effect));
                        let holds = matches!(both, (Some(a), Some(b)) if a <= b);
                        prop_assert!(holds, "{cause:?} -> {effect:?} {proof:?} {both:?} {}", case());
                    }
                }
            }
        }
    }
}
