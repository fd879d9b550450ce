//! Executes a program in true time.
//!
//! Each location has a list of steps. In each moment any location that does not wait may
//! take its next one, or a message arrives; which is drawn at random. What a step waits
//! for is what the standards say, and nothing besides: sends are buffered, messages of one
//! sender arrive in order, a lock goes to anyone who wants it.
//!
//! Each location knows what must have happened before: its own events, and what was known
//! where the things happened that it has waited for. So the machine knows of any two
//! events whether one must precede the other ([`Run::precedes`]), by other means
//! than retime, which never sees more than the records.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use retime_otf2::{EventData, MeasurementMode};

use super::messages::Channel;
use super::network::Network;
use super::program::{Item, LockKind, Program, Proof, Step, Task, Token};
use super::random::Random;
use super::world::{Kind, World};

/// An event by its location and its number there.
pub(super) type Place = (usize, usize);

/// How many events of each location have happened.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// By what was waited for.
    strict: Vec<usize>,
    /// The same if what threads of one process did before counts as well: they read
    /// one clock, and where several call MPI, order is told by that.
    by_process: Vec<usize>,
    /// The last event of the thread that knows this.
    pub(super) place: Option<Place>,
}

fn join(own: &mut Vec<usize>, other: &[usize]) {
    own.resize(own.len().max(other.len()), 0);
    for (own, other) in own.iter_mut().zip(other) {
        *own = (*own).max(*other);
    }
}

impl Known {
    pub(super) fn join(&mut self, other: &Self) {
        join(&mut self.strict, &other.strict);
        join(&mut self.by_process, &other.by_process);
    }
}

#[derive(Default)]
struct Lock {
    holder: Option<usize>,
    depth: u32,
    count: u32,
    /// Numbers of acquisitions that are not released.
    held: Vec<u32>,
    known: Known,
}

#[derive(Default)]
struct Pool {
    waiting: Vec<(Task, Known)>,
    running: usize,
    known: Known,
    /// What was completed in barriers.
    completed: Vec<(Place, Proof)>,
    /// Barriers that may be left, with what was complete then.
    open: BTreeMap<usize, (Known, Vec<(Place, Proof)>)>,
}

#[derive(Default)]
struct Agent {
    steps: VecDeque<Step>,
    known: Known,
    /// What the next record depends on.
    causes: Vec<(Place, Proof)>,
    task: Option<(Task, usize)>,
    /// Up to which item of each stream it waits.
    waits: Option<Vec<(usize, usize)>>,
    /// What a stream has to do, with what was known at the launch; how much it has done.
    items: VecDeque<(Item, Known)>,
    launched: usize,
    current: Option<Item>,
    done: Vec<Known>,
}

/// An event that was recorded.
pub(super) struct Recorded {
    pub(super) time: u64,
    pub(super) data: EventData,
    known: Rc<Known>,
}

/// What has happened.
pub(super) struct Run {
    pub(super) world: World,
    pub(super) locations: Vec<Vec<Recorded>>,
    /// Causes and effects.
    pub(super) truth: Vec<(Place, Place, Proof)>,
    /// Processes that did not record all.
    pub(super) gaps: Vec<bool>,
    pub(super) channels: Vec<Channel>,
}

impl Run {
    /// Whether an event must precede another, by what was waited for; or, if `by_process`
    /// says so, by the clocks of processes.
    pub(super) fn precedes(&self, cause: Place, effect: Place, by_process: bool) -> bool {
        let known = &self.locations[effect.0][effect.1].known;
        let known = if by_process {
            &known.by_process
        } else {
            &known.strict
        };
        known.get(cause.0).is_some_and(|&it| it > cause.1)
    }
}

pub(super) struct Machine<'r> {
    random: &'r mut Random,
    world: World,
    now: u64,
    agents: Vec<Agent>,
    tokens: Vec<Option<Known>>,
    network: Network,
    locks: Vec<Lock>,
    lock_kinds: Vec<LockKind>,
    pools: Vec<Pool>,
    /// By process, what its threads know together, and whether it records.
    processes: Vec<(Vec<usize>, bool)>,
    recorded: Vec<Vec<Recorded>>,
    truth: Vec<(Place, Place, Proof)>,
    gaps: Vec<bool>,
    channels: Vec<Channel>,
}

impl<'r> Machine<'r> {
    pub(super) fn new(program: Program, random: &'r mut Random) -> Self {
        let agent = |steps: Vec<Step>| Agent {
            steps: steps.into(),
            ..Agent::default()
        };
        let locations = program.world.locations.len();
        let processes = program.world.processes.len();
        Self {
            random,
            now: 1_000_000,
            agents: program.steps.into_iter().map(agent).collect(),
            tokens: vec![None; program.tokens],
            network: Network::new(program.sends, program.receives, processes),
            locks: program.locks.iter().map(|_| Lock::default()).collect(),
            lock_kinds: program.locks,
            pools: (0..program.pools).map(|_| Pool::default()).collect(),
            processes: vec![(Vec::new(), true); processes],
            recorded: (0..locations).map(|_| Vec::new()).collect(),
            truth: Vec::new(),
            gaps: vec![false; processes],
            channels: program.channels,
            world: program.world,
        }
    }

    /// Executes all; `None` if everybody waits.
    pub(super) fn run(mut self) -> Option<Run> {
        let mut last = 0;
        loop {
            self.now += 1 + self.random.below(100) as u64;
            // Who has done something often goes on.
            if self.random.percent(40) && self.step(last) {
                continue;
            }
            if self.random.percent(30) && self.network.deliver(self.random) {
                continue;
            }
            let from = self.random.below(self.agents.len());
            let all = (from..self.agents.len()).chain(0..from);
            match all.into_iter().find(|&it| self.step(it)) {
                Some(agent) => last = agent,
                None if self.network.deliver(self.random) => {}
                None => break,
            }
        }
        let is_done = |it: &Agent| it.steps.is_empty() && it.items.is_empty();
        self.agents.iter().all(is_done).then_some(Run {
            world: self.world,
            locations: self.recorded,
            truth: self.truth,
            gaps: self.gaps,
            channels: self.channels,
        })
    }

    fn process(&self, agent: usize) -> usize {
        self.world.locations[agent].process
    }

    /// What an agent knows now.
    fn known(&self, agent: usize) -> Known {
        let mut known = self.agents[agent].known.clone();
        if matches!(self.world.locations[agent].kind, Kind::Thread) {
            join(
                &mut known.by_process,
                &self.processes[self.process(agent)].0,
            );
        }
        known
    }

    fn record(&mut self, agent: usize, data: EventData) {
        let process = self.process(agent);
        let (together, recording) = &mut self.processes[process];
        let it = &mut self.agents[agent];
        let causes = std::mem::take(&mut it.causes);
        if !*recording {
            it.known.place = None;
            return;
        }
        let place = (agent, self.recorded[agent].len());
        it.known.place = Some(place);
        let mut own = vec![0; agent + 1];
        own[agent] = place.1 + 1;
        join(&mut it.known.strict, &own);
        join(&mut it.known.by_process, &own);
        if matches!(self.world.locations[agent].kind, Kind::Thread) {
            join(together, &it.known.by_process);
            it.known.by_process.clone_from(together);
        }
        let known = Rc::new(it.known.clone());
        let causes = causes.into_iter();
        self.truth
            .extend(causes.map(|(cause, proof)| (cause, place, proof)));
        self.recorded[agent].push(Recorded {
            time: self.now,
            data,
            known,
        });
    }

    /// From now on an agent knows what somebody else knew.
    fn learn(&mut self, agent: usize, known: &Known, proof: Proof) {
        let it = &mut self.agents[agent];
        it.known.join(known);
        if let Some(cause) = known.place.filter(|cause| cause.0 != agent) {
            it.causes.push((cause, proof));
        }
    }

    /// Whether an agent could do something.
    fn step(&mut self, agent: usize) -> bool {
        if let Kind::Stream { .. } = self.world.locations[agent].kind {
            return self.carry_out(agent);
        }
        if self.agents[agent].task.is_some() {
            return self.complete(agent);
        }
        let Some(step) = self.agents[agent].steps.pop_front() else {
            return false;
        };
        let goes_on = self.take(agent, &step);
        if !goes_on {
            self.agents[agent].steps.push_front(step);
        }
        // A wait that is over takes no time, so that the next thing is what follows it.
        goes_on || self.agents[agent].task.is_some()
    }

    /// Whether a step is over.
    fn take(&mut self, agent: usize, step: &Step) -> bool {
        let process = self.process(agent);
        match step {
            Step::Record(data) => self.record(agent, data.clone()),
            Step::Give(token) => self.tokens[*token] = Some(self.known(agent)),
            Step::Await(tokens, proof) => return self.wait_for(agent, tokens, *proof),
            Step::Recording(on) => self.switch_recording(agent, *on),
            Step::Sent(send) => {
                self.network.sends[*send].recorded = self.agents[agent].known.place;
            }
            Step::Depart(send) => {
                let known = self.known(agent);
                self.network.depart(*send, process, known);
            }
            Step::Accepted(send, proof) => match self.network.sends[*send].accepted.clone() {
                Some(known) => self.learn(agent, &known, *proof),
                None => return false,
            },
            Step::Post(receive) => {
                let known = self.known(agent);
                self.network.post(*receive, process, known);
            }
            Step::Probe(receive) => {
                let known = self.known(agent);
                return self.network.probe(*receive, process, known);
            }
            Step::Matched(receive) => {
                let Some((known, _)) = self.network.matched(*receive) else {
                    return false;
                };
                self.agents[agent].known.join(&known);
            }
            Step::Received(receive) => {
                if let Some(data) = self.network.record(*receive, &self.world) {
                    if let Some((known, proof)) = self.network.matched(*receive) {
                        self.learn(agent, &known, proof);
                    }
                    self.record(agent, data);
                }
            }
            Step::Probed(receive) => {
                let data = self.network.record_probe(*receive, &self.world);
                self.record(agent, data);
            }
            Step::Cancel(receive, request) => {
                if self.network.cancel(*receive, process) {
                    let request = *request;
                    self.record(agent, EventData::MpiRequestCancelled { request });
                }
            }
            Step::Instead(first, second) => {
                let known = self.known(agent);
                self.network.post_instead(*first, *second, process, known);
            }
            _ => return self.take_of_process(agent, step),
        }
        true
    }

    /// The same of what threads and streams of a process do with each other.
    fn take_of_process(&mut self, agent: usize, step: &Step) -> bool {
        match step {
            Step::Acquire(lock) => return self.acquire(agent, *lock),
            Step::Release(lock) => self.release(agent, *lock),
            Step::Submit(pool, task) => {
                let known = self.known(agent);
                self.pools[*pool].waiting.push((task.clone(), known));
            }
            Step::Work(pool) => {
                self.begin_task(agent, *pool);
            }
            Step::Drain(barrier, pool, tokens, proof) => {
                return self.drain(agent, (*barrier, *pool), tokens, *proof);
            }
            Step::Launch(stream, item) => {
                let known = self.known(agent);
                let it = &mut self.agents[*stream];
                it.items.push_back((item.clone(), known));
                it.launched += 1;
            }
            Step::Synchronise(streams) => return self.synchronise(agent, streams),
            _ => {}
        }
        true
    }

    fn wait_for(&mut self, agent: usize, tokens: &[Token], proof: Proof) -> bool {
        let given: Option<Vec<Known>> = tokens.iter().map(|&it| self.tokens[it].clone()).collect();
        let Some(given) = given else { return false };
        for known in given {
            self.learn(agent, &known, proof);
        }
        true
    }

    fn switch_recording(&mut self, agent: usize, on: bool) {
        let process = self.process(agent);
        let mode = |measurement_mode| EventData::MeasurementOnOff { measurement_mode };
        self.gaps[process] = true;
        if on {
            self.processes[process].1 = true;
            self.record(agent, mode(MeasurementMode::ON));
        } else {
            self.record(agent, mode(MeasurementMode::OFF));
            self.processes[process].1 = false;
        }
    }

    fn acquire(&mut self, agent: usize, lock: usize) -> bool {
        let kind = &self.lock_kinds[lock];
        let it = &mut self.locks[lock];
        if it.holder.is_some_and(|holder| holder != agent) {
            return false;
        }
        if it.holder.is_none() || kind.counts_again {
            it.count += 1;
        }
        it.holder = Some(agent);
        it.depth += 1;
        it.held.push(it.count);
        let data = EventData::ThreadAcquireLock {
            model: kind.paradigm,
            lock: kind.number,
            acquisition_order: it.count,
        };
        let known = it.known.clone();
        if it.depth == 1 {
            self.learn(agent, &known, Proof::Handover);
        }
        self.record(agent, data);
        true
    }

    /// The record is written before the lock is free.
    fn release(&mut self, agent: usize, lock: usize) {
        let kind = &self.lock_kinds[lock];
        let order = self.locks[lock].held.pop().unwrap();
        let data = EventData::ThreadReleaseLock {
            model: kind.paradigm,
            lock: kind.number,
            acquisition_order: order,
        };
        self.record(agent, data);
        let known = self.known(agent);
        let it = &mut self.locks[lock];
        it.depth -= 1;
        if it.depth == 0 {
            it.holder = None;
            it.known = known;
        }
    }

    fn begin_task(&mut self, agent: usize, pool: usize) -> bool {
        let it = &mut self.pools[pool];
        if it.waiting.is_empty() {
            return false;
        }
        let (task, known) = it.waiting.swap_remove(self.random.below(it.waiting.len()));
        it.running += 1;
        self.learn(agent, &known, task.proof(Proof::Handover));
        self.record(agent, task.switch());
        self.agents[agent].task = Some((task, pool));
        true
    }

    /// Whether a barrier is left. Who could leave it may work on a task behind it before.
    fn drain(
        &mut self,
        agent: usize,
        (barrier, pool): (usize, usize),
        tokens: &[Token],
        proof: Proof,
    ) -> bool {
        let is_open = self.pools[pool].open.contains_key(&barrier);
        if !(is_open && self.random.percent(50)) && self.begin_task(agent, pool) {
            return false;
        }
        let is_idle = self.pools[pool].running == 0;
        if !(is_open || is_idle) || !self.wait_for(agent, tokens, proof) {
            return false;
        }
        let it = &mut self.pools[pool];
        let completed = || (it.known.clone(), it.completed.clone());
        let (known, completed) = it.open.entry(barrier).or_insert_with(completed);
        let others = completed.iter().filter(|(place, _)| place.0 != agent);
        self.agents[agent].known.join(known);
        self.agents[agent].causes.extend(others);
        true
    }

    fn complete(&mut self, agent: usize) -> bool {
        let Some((task, pool)) = self.agents[agent].task.take() else {
            return false;
        };
        self.record(agent, task.complete());
        let known = self.known(agent);
        let it = &mut self.pools[pool];
        it.running -= 1;
        it.known.join(&known);
        let in_barrier = matches!(self.agents[agent].steps.front(), Some(Step::Drain(..)));
        if let Some(place) = known.place.filter(|_| in_barrier) {
            let proof = task.proof(Proof::Team(task.team));
            it.completed.push((place, proof));
        }
        true
    }

    fn synchronise(&mut self, agent: usize, streams: &[usize]) -> bool {
        let waits = self.agents[agent].waits.take();
        let all = |it: &usize| (*it, self.agents[*it].launched);
        let waits = waits.unwrap_or_else(|| streams.iter().map(all).collect());
        if waits
            .iter()
            .any(|&(stream, items)| self.agents[stream].done.len() < items)
        {
            self.agents[agent].waits = Some(waits);
            return false;
        }
        for (stream, items) in waits {
            if let Some(last) = items.checked_sub(1) {
                let known = self.agents[stream].done[last].clone();
                self.learn(agent, &known, Proof::Unused);
            }
        }
        true
    }

    fn carry_out(&mut self, stream: usize) -> bool {
        if let Some(item) = self.agents[stream].current.take() {
            for data in item.end {
                self.record(stream, data);
            }
            let known = self.known(stream);
            self.agents[stream].done.push(known);
            return true;
        }
        let Some((item, known)) = self.agents[stream].items.pop_front() else {
            return false;
        };
        self.learn(stream, &known, Proof::Launch);
        for data in item.begin.iter().cloned() {
            self.record(stream, data);
        }
        self.agents[stream].current = Some(item);
        true
    }
}
