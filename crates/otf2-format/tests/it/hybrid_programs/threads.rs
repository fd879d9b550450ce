//! Threads of a process: teams of `OpenMP` with their barriers and tasks, or threads that
//! others make and wait for.

use std::collections::BTreeMap;

use retime_otf2::{CommRef, EventData, Paradigm};

use super::program::{Proof, Step, Task, Token};
use super::random::Random;
use super::regions::{enter, leave};
use super::script::Script;
use super::world::{Comm, World};

/// A team at work.
struct Open {
    comm: CommRef,
    root: usize,
    members: Vec<usize>,
    pool: usize,
    has_tasks: bool,
    /// Whom the team has taken the root from.
    before: Vec<usize>,
}

pub(super) struct Threads {
    /// By process: communicators of its threads, the outer team first.
    teams: Vec<Vec<CommRef>>,
    open: Vec<Vec<Open>>,
    /// Whether numbers of tasks start anew in each use of a team.
    anew: bool,
    generations: BTreeMap<(CommRef, usize), u32>,
    /// The numbers of threads that were made, by location.
    lives: BTreeMap<usize, u64>,
    created: u64,
    pub(super) pools: usize,
}

impl Threads {
    pub(super) fn new(world: &mut World, random: &mut Random) -> Self {
        let mut teams = Vec::new();
        for process in 0..world.processes.len() {
            let it = &world.processes[process];
            let (threads, paradigm) = (it.threads.clone(), it.threading.paradigm());
            let mut own = vec![world.comm(Comm::Threads(paradigm, threads.clone()))];
            if has_inner(&threads, random) {
                let inner = random.some(&threads, 2);
                own.push(world.comm(Comm::Threads(paradigm, inner)));
            }
            teams.push(own);
        }
        Self {
            open: teams.iter().map(|_| Vec::new()).collect(),
            teams,
            anew: random.percent(50),
            generations: BTreeMap::new(),
            lives: BTreeMap::new(),
            created: 0,
            pools: 0,
        }
    }
}

fn has_inner(threads: &[usize], random: &mut Random) -> bool {
    threads.len() > 2 && random.percent(60)
}

impl Script<'_> {
    pub(super) fn of_teams(&mut self, process: usize) {
        let depth = self.threads.open[process].len();
        match (depth, self.random.below(100)) {
            (0, _) | (1, 0..15) => self.open_team(process),
            (_, 0..40) => self.barrier(process, "!$omp barrier"),
            (_, 40..75) => self.task(process),
            _ => self.close_team(process),
        }
    }

    pub(super) fn close_teams(&mut self, process: usize) {
        while !self.threads.open[process].is_empty() {
            self.close_team(process);
        }
    }

    fn open_team(&mut self, process: usize) {
        let depth = self.threads.open[process].len();
        let Some(&comm) = self.threads.teams[process].get(depth) else {
            return;
        };
        let Comm::Threads(_, all) = self.world.of(comm).clone() else {
            return;
        };
        let active = self.active[process].clone();
        let roots: Vec<usize> = active
            .iter()
            .copied()
            .filter(|it| all.contains(it))
            .collect();
        if roots.is_empty() {
            return;
        }
        let root = *self.random.pick(&roots);
        let idle: Vec<usize> = all.into_iter().filter(|it| !active.contains(it)).collect();
        let full = self.random.percent(60);
        let least = if full { idle.len() } else { 0 };
        let mut members = vec![root];
        members.extend(self.random.some(&idle, least));
        let forked = self.token();
        let begin = EventData::ThreadTeamBegin { thread_team: comm };
        self.record(root, enter("!$omp parallel"));
        let fork = EventData::ThreadFork {
            model: Paradigm::OPENMP,
            threads: members.len() as u32,
        };
        self.record(root, fork);
        self.add(root, Step::Give(forked));
        self.record(root, begin.clone());
        for &it in &members[1..] {
            self.wait_for(it, vec![forked], Proof::Team(comm));
            self.record(it, begin.clone());
        }
        if self.threads.anew {
            self.threads
                .generations
                .retain(|(team, _), _| *team != comm);
        }
        self.active[process].extend(&members[1..]);
        self.threads.open[process].push(Open {
            comm,
            root,
            members,
            pool: self.threads.pools,
            has_tasks: false,
            before: active,
        });
        self.threads.pools += 1;
    }

    fn barrier(&mut self, process: usize, region: &str) {
        let Some(open) = self.threads.open[process].last_mut() else {
            return;
        };
        let (members, pool, comm) = (open.members.clone(), open.pool, open.comm);
        open.has_tasks = false;
        let tokens: Vec<Token> = members.iter().map(|_| self.token()).collect();
        let number = tokens[0];
        for (place, &it) in members.iter().enumerate() {
            let mut others = tokens.clone();
            others.remove(place);
            let drain = Step::Drain(number, pool, others, Proof::Team(comm));
            self.call(it, region, vec![Step::Give(tokens[place]), drain]);
        }
    }

    fn task(&mut self, process: usize) {
        let Some(open) = self.threads.open[process].last_mut() else {
            return;
        };
        open.has_tasks = true;
        let (team, pool, members) = (open.comm, open.pool, open.members.clone());
        let maker = *self.random.pick(&members);
        let generation = self.threads.generations.entry((team, maker)).or_default();
        *generation += 1;
        let generation = *generation;
        let task = Task {
            team,
            thread: self.world.of(team).rank(maker),
            generation,
            is_numbered: !self.threads.anew,
        };
        let create = Step::Record(task.create());
        self.call(maker, "!$omp task", vec![create, Step::Submit(pool, task)]);
        if self.random.percent(40) {
            let worker = *self.random.pick(&members);
            self.add(worker, Step::Work(pool));
        }
    }

    fn close_team(&mut self, process: usize) {
        let has_tasks = self.threads.open[process]
            .last()
            .is_some_and(|it| it.has_tasks);
        if has_tasks || self.random.percent(60) {
            self.barrier(process, "!$omp implicit barrier");
        }
        let Some(open) = self.threads.open[process].pop() else {
            return;
        };
        let mut ended = Vec::new();
        let end = EventData::ThreadTeamEnd {
            thread_team: open.comm,
        };
        for &it in &open.members[1..] {
            self.complete_all(it);
            self.record(it, end.clone());
            let token = self.token();
            self.add(it, Step::Give(token));
            ended.push(token);
        }
        self.record(open.root, end);
        self.wait_for(open.root, ended, Proof::Team(open.comm));
        let join = EventData::ThreadJoin {
            model: Paradigm::OPENMP,
        };
        self.record(open.root, join);
        self.record(open.root, leave("!$omp parallel"));
        self.active[process] = open.before;
    }

    pub(super) fn of_created(&mut self, process: usize) {
        let active = self.active[process].clone();
        let threads = self.world.processes[process].threads.clone();
        let idle: Vec<usize> = threads
            .into_iter()
            .filter(|it| !active.contains(it))
            .collect();
        if active.len() > 1 && (idle.is_empty() || self.random.percent(40)) {
            let ends = *self.random.pick(&active[1..]);
            self.end_created_one(process, ends);
        } else if !idle.is_empty() {
            let (maker, made) = (*self.random.pick(&active), *self.random.pick(&idle));
            self.create(process, maker, made);
        }
    }

    fn create(&mut self, process: usize, maker: usize, made: usize) {
        let thread_contingent = self.threads.teams[process][0];
        self.threads.created += 1;
        let sequence_count = self.threads.created;
        let token = self.token();
        let create = EventData::ThreadCreate {
            thread_contingent,
            sequence_count,
        };
        let steps = vec![Step::Record(create), Step::Give(token)];
        self.call(maker, "pthread_create", steps);
        self.wait_for(made, vec![token], Proof::Handover);
        let begin = EventData::ThreadBegin {
            thread_contingent,
            sequence_count,
        };
        self.record(made, begin);
        self.active[process].push(made);
        self.threads.lives.insert(made, sequence_count);
    }

    fn end_created_one(&mut self, process: usize, ends: usize) {
        let sequence_count = self.threads.lives[&ends];
        let thread_contingent = self.threads.teams[process][0];
        self.complete_all(ends);
        let end = EventData::ThreadEnd {
            thread_contingent,
            sequence_count,
        };
        self.record(ends, end);
        let token = self.token();
        self.add(ends, Step::Give(token));
        self.active[process].retain(|&it| it != ends);
        if self.random.percent(80) {
            let waits = *self.random.pick(&self.active[process]);
            let wait = EventData::ThreadWait {
                thread_contingent,
                sequence_count,
            };
            let steps = vec![
                Step::Await(vec![token], Proof::Handover),
                Step::Record(wait),
            ];
            self.call(waits, "pthread_join", steps);
        }
    }

    pub(super) fn end_created(&mut self, process: usize) {
        while let Some(&ends) = self.active[process].get(1) {
            self.end_created_one(process, ends);
        }
    }
}
