//! Random programs of threads, run in true time and recorded by clocks that may be wrong:
//! no dependency is false, and those that prove a wrong clock are found and repaired.

use proptest::prelude::*;
use retime::Grouping;
use retime::pipeline::{Analysis, AnalysisOptions, Method};
use retime_model::format::Scan;
use retime_otf2::{EventData, MeasurementMode};

use crate::threads::{
    BARRIER, Events, FORK, JOIN, TEAM, acquire, dependencies, enter, leave, recorded, recording,
    release, scan, task_complete, task_create, task_switch, team_begin, team_end,
};

/// A clock that is wrong by more than the whole program takes.
const AHEAD: u64 = 100_000_000;

#[derive(Clone, Debug)]
struct Program {
    threads: usize,
    /// By use of the team: who takes part besides the root.
    uses: Vec<Vec<bool>>,
    /// Uses that are not recorded.
    off: Option<usize>,
    /// Whether numbers of tasks start anew in each use.
    anew: bool,
    /// How nested locks are numbered.
    nested: u8,
    seed: u64,
}

fn programs() -> impl Strategy<Value = Program> {
    (2_usize..6).prop_flat_map(|threads| {
        let part = prop::collection::vec(any::<bool>(), threads - 1);
        let off = prop::option::weighted(0.2, 0..6_usize);
        let uses = prop::collection::vec(part, 1..7);
        (uses, off, any::<bool>(), 0..3_u8, any::<u64>()).prop_map(
            move |(uses, off, anew, nested, seed)| Program {
                threads,
                uses,
                off,
                anew,
                nested,
                seed,
            },
        )
    })
}

/// A program on its way, in true time.
struct Run<'a> {
    program: &'a Program,
    random: u64,
    now: Vec<u64>,
    recorded: Vec<Events>,
    recording: bool,
    /// When the lock is free, and the number of its last acquisition.
    lock: (u64, u32),
    tasks: u32,
}

impl Run<'_> {
    fn below(&mut self, end: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % end
    }

    fn record(&mut self, thread: usize, event: EventData) {
        self.now[thread] += 1 + self.below(50);
        if self.recording {
            self.recorded[thread].push((self.now[thread], event));
        }
    }

    /// Nobody goes on before then.
    fn wait(&mut self, thread: usize, time: u64) {
        self.now[thread] = self.now[thread].max(time);
    }

    fn all(mut self) -> Vec<Events> {
        let program = self.program;
        for (number, part) in program.uses.iter().enumerate() {
            let members = part.iter().enumerate().filter(|(_, it)| **it);
            let members: Vec<usize> = std::iter::once(0)
                .chain(members.map(|(it, _)| it + 1))
                .collect();
            if program.off == Some(number) {
                self.record(0, recording(MeasurementMode::OFF));
                self.recording = false;
            }
            self.use_of_team(&members);
            if program.off == Some(number) {
                self.recording = true;
                self.record(0, recording(MeasurementMode::ON));
            }
        }
        self.recorded
    }

    fn use_of_team(&mut self, members: &[usize]) {
        self.record(0, FORK);
        let forked = self.now[0];
        for &it in members {
            self.wait(it, forked);
            self.record(it, team_begin(TEAM));
        }
        if self.program.anew {
            self.tasks = 0;
        }
        for _ in 0..=self.below(2) {
            self.locks(members);
            self.barrier(members);
        }
        for &it in members {
            self.record(it, team_end(TEAM));
        }
        let last = members.iter().map(|&it| self.now[it]).max().unwrap_or(0);
        self.wait(0, last);
        self.record(0, JOIN);
    }

    fn locks(&mut self, members: &[usize]) {
        let mut queue: Vec<usize> = members.to_vec();
        queue.extend(members);
        queue.retain(|_| self.below(3) > 0);
        while let Some(place) = (0..queue.len()).min_by_key(|&it| self.now[queue[it]]) {
            let thread = queue.swap_remove(place);
            self.wait(thread, self.lock.0);
            self.lock.1 += 1;
            let first = self.lock.1;
            self.record(thread, acquire(1, first));
            if self.below(2) == 0 {
                self.lock.1 += u32::from(self.program.nested > 0);
                self.record(thread, acquire(1, self.lock.1));
                self.record(thread, release(1, self.lock.1));
            }
            let number = if self.program.nested == 1 {
                first
            } else {
                self.lock.1
            };
            self.record(thread, release(1, number));
            self.lock.0 = self.now[thread];
        }
    }

    /// A barrier, with tasks that one thread makes before and others do within.
    fn barrier(&mut self, members: &[usize]) {
        let maker = members[self.below(members.len() as u64) as usize];
        let mut made = Vec::new();
        for _ in 0..self.below(3) {
            self.tasks += 1;
            self.record(maker, task_create(maker as u32, self.tasks));
            made.push((self.now[maker], self.tasks));
        }
        for &it in members {
            self.record(it, enter(BARRIER));
        }
        for (time, task) in made {
            let works = members[self.below(members.len() as u64) as usize];
            self.wait(works, time);
            self.record(works, task_switch(maker as u32, task));
            self.record(works, task_complete(maker as u32, task));
        }
        let last = members.iter().map(|&it| self.now[it]).max().unwrap_or(0);
        for &it in members {
            self.wait(it, last);
            self.record(it, leave(BARRIER));
        }
    }
}

fn run(program: &Program) -> Vec<Events> {
    let run = Run {
        program,
        random: program.seed | 1,
        now: vec![1_000_000_000; program.threads],
        recorded: vec![Vec::new(); program.threads],
        recording: true,
        lock: (0, 0),
        tasks: 0,
    };
    run.all()
}

fn analysis(threads: &[Events]) -> Analysis {
    let Scan { info, logs, .. } = scan(threads);
    let options = AnalysisOptions {
        grouping: Grouping::Location,
        ..AnalysisOptions::default()
    };
    Analysis::new(info, logs, options, &()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn true_clocks_contradict_nothing(program in programs()) {
        let threads = run(&program);
        let (_, causality) = recorded(&threads);
        let found = dependencies(&causality);
        prop_assert!(found.iter().all(|(cause, effect)| cause < effect), "{:?}", found);
        if program.off.is_none_or(|off| off >= program.uses.len()) {
            prop_assert!(causality.defects().is_empty(), "{:?}", causality.defects());
        }
    }

    #[test]
    fn a_wrong_clock_is_found_and_repaired(program in programs(), wrong in 0..6_usize) {
        let mut threads = run(&program);
        let wrong = wrong % program.threads;
        for (time, _) in &mut threads[wrong] {
            *time -= AHEAD;
        }
        let analysis = analysis(&threads);
        let takes_part = |it: &Vec<bool>| wrong == 0 && it.contains(&true) || wrong > 0 && it[wrong - 1];
        if program.off.is_none_or(|off| off >= program.uses.len()) && program.uses.iter().any(takes_part) {
            prop_assert!(analysis.recorded().violated() > 0);
        }
        let solution = analysis.solve(&Method::default(), &()).unwrap();
        prop_assert_eq!(solution.left.violated(), 0);
    }
}
