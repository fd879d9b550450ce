//! Who begins and ends what when.
//!
//! All ranks take the same steps in the same order, and the groups of a step
//! share no rank. So steps can be taken one after the other, though the times at
//! which ranks take them overlap: what a rank does next depends on nothing but
//! what it and its groups did in steps before.

use super::{
    groups::Groups,
    happened::{Call, Happened, Instance, Item, Payload, RankLog, Role, Span, What},
    job::{Among, Class, Element, KinetoRun, Step, Style, Version},
};
use retime_sim::{Duration, Random};

/// The time that a call on the main thread takes.
const CALL: Duration = Duration::heavy(15_000, 10_000.0);
/// Until a launched kernel begins, or a thread takes what is queued for it.
pub(super) const LAUNCH: Duration = Duration::exponential(3_000, 2_000.0);
const WAKE: Duration = Duration::heavy(30_000, 60_000.0);
/// An iteration ends with work that needs no other rank.
const REST: Duration = Duration::exponential(100_000, 50_000.0);
/// A thread that waits for a message goes on so long after that has come.
const RECEIVE: Duration = Duration::heavy(26_000, 60_000.0);
/// The time that a message takes through shared memory or a network.
pub(super) const LATENCY: Duration = Duration::exponential(5_000, 5_000.0);
/// Elements that fit the buffers of a connection: nobody waits for a receiver.
pub(super) const EAGER: u64 = 65_536;
/// Threads that work for a group, or its streams.
pub(super) const THREADS: usize = 2;
/// Stands for the stream of computations among those.
pub(super) const COMPUTING: usize = THREADS;
/// Streams of random numbers that no rank has.
const EXCHANGES: u64 = 1 << 42;

/// The state of a rank.
pub(super) struct Rank {
    pub(super) random: Random,
    /// When its main thread has time.
    host: u64,
    /// When its device has done what was launched.
    pub(super) device: u64,
    /// When all that goes on beside has ended.
    pending: u64,
    /// When the threads of each group, or its stream, have time.
    pub(super) threads: Vec<[u64; THREADS]>,
    /// When the newest operation of each group began.
    begun: Vec<u64>,
    /// Messages in each group so far.
    pub(super) messages: Vec<u64>,
    pub(super) log: RankLog,
}

pub(super) struct Simulation<'a> {
    pub(super) run: &'a KinetoRun,
    pub(super) groups: &'a Groups,
    pub(super) ranks: Vec<Rank>,
    /// Collective operations of each group so far.
    collectives: Vec<u64>,
    pub(super) instances: Vec<Instance>,
}

pub(super) fn simulate(run: &KinetoRun, groups: &Groups) -> Happened {
    let count = groups.count();
    let ranks = (0..run.ranks)
        .map(|rank| Rank {
            random: Random::new(run.seed, u64::from(rank)),
            host: 0,
            device: 0,
            pending: 0,
            threads: vec![[0; THREADS]; count],
            begun: vec![0; count],
            messages: vec![0; count],
            log: RankLog::default(),
        })
        .collect();
    let mut simulation = Simulation {
        run,
        groups,
        ranks,
        collectives: vec![0; count],
        instances: Vec::new(),
    };
    for iteration in 0..run.iterations {
        simulation.iterate(iteration);
    }
    Happened {
        instances: simulation.instances,
        ranks: simulation.ranks.into_iter().map(|rank| rank.log).collect(),
    }
}

impl Simulation<'_> {
    fn iterate(&mut self, number: u32) {
        let begins: Vec<_> = self
            .ranks
            .iter()
            .map(|rank| (rank.host, rank.log.items.len()))
            .collect();
        for rank in &mut self.ranks {
            let span = Span {
                begin: rank.host,
                end: rank.host,
            };
            rank.log.items.push(Item::Iteration { number, span });
        }
        let mut late = self.late(number);
        for step in &self.run.steps {
            match *step {
                Step::Compute(duration) => self.compute(duration, &mut late),
                Step::Collective {
                    class,
                    among,
                    elements,
                    element,
                    asynchronous,
                } => {
                    for group in self.groups.among(among) {
                        self.collective(group, class, Payload { elements, element }, asynchronous);
                    }
                }
                Step::Graph {
                    kernels,
                    between,
                    elements,
                } => self.graph(kernels, between, elements),
                Step::Neighbours { elements, element } => {
                    self.neighbours(Payload { elements, element });
                }
                Step::Sharded {
                    layers,
                    forward,
                    elements,
                    own_streams,
                } => {
                    let payload = Payload {
                        elements,
                        element: Element::BFloat16,
                    };
                    self.sharded(layers, forward, payload, own_streams, &mut late);
                }
                Step::Pipeline {
                    microbatches,
                    forward,
                    elements,
                    coalesced,
                } => {
                    let payload = Payload {
                        elements,
                        element: Element::BFloat16,
                    };
                    self.pipelines(microbatches, forward, payload, coalesced, &mut late);
                }
            }
        }
        for (rank, (begin, place)) in self.ranks.iter_mut().zip(begins) {
            rank.host = rank.host.max(rank.device).max(rank.pending) + REST.draw(&mut rank.random);
            rank.log.items[place] = Item::Iteration {
                number,
                span: Span {
                    begin,
                    end: rank.host,
                },
            };
        }
    }

    /// How much longer each rank computes in an iteration.
    fn late(&self, iteration: u32) -> Vec<u64> {
        let mut late = vec![0; self.ranks.len()];
        for straggler in &self.run.stragglers {
            if iteration.is_multiple_of(straggler.every.max(1))
                && let Some(late) = late.get_mut(straggler.rank as usize)
            {
                *late += straggler.late;
            }
        }
        late
    }

    /// All compute; who is late is so in the first computation.
    fn compute(&mut self, duration: Duration, late: &mut [u64]) {
        let style = self.run.style;
        for (rank, late) in self.ranks.iter_mut().zip(late) {
            rank.compute(style, duration, std::mem::take(late));
        }
    }

    fn collective(&mut self, group: usize, class: Class, payload: Payload, asynchronous: bool) {
        let members = &self.groups.get(group).ranks;
        let begun = members
            .iter()
            .map(|&rank| self.begin(rank, group))
            .collect();
        let goes_on = match self.run.style {
            _ if asynchronous => GoesOn::Meanwhile,
            Style::Nccl => GoesOn::OnHost,
            Style::Gloo => GoesOn::Afterwards,
        };
        self.end(group, class, payload, begun, goes_on);
    }

    /// Ends an operation that all members of a group have begun; says when it does for each rank.
    pub(super) fn end(
        &mut self,
        group: usize,
        class: Class,
        payload: Payload,
        begun: Vec<Begun>,
        goes_on: GoesOn,
    ) -> Vec<(u32, u64)> {
        let members = &self.groups.get(group).ranks;
        self.collectives[group] += 1;
        let transfer = self.transfer(payload);
        let mut instance = Instance::new(group, What::Collective(class), payload);
        instance.parts = self.parts(class, payload, begun.len());
        let waits_for = instance.waits_for(class, &begun);
        let mut ends = Vec::new();
        for ((&rank, begun), waits_for) in members.iter().zip(begun).zip(waits_for) {
            let state = &mut self.ranks[rank as usize];
            let end =
                waits_for.max(begun.event) + transfer + self.run.scatter.draw(&mut state.random);
            state.threads[group][begun.thread] = end;
            let mut thread = begun.thread;
            match goes_on {
                GoesOn::Meanwhile => state.pending = state.pending.max(end),
                GoesOn::Afterwards => state.host = end,
                GoesOn::OnHost => {
                    state.device = end;
                    if self.run.version == Version::Computing {
                        thread = COMPUTING;
                    }
                }
            }
            ends.push((rank, end));
            instance.join(
                rank,
                state,
                Call {
                    instance: self.instances.len(),
                    role: Role::Member,
                    host: begun.call,
                    event: Span {
                        begin: begun.event,
                        end,
                    },
                    thread,
                    batch: None,
                    sequence: self.collectives[group],
                },
            );
        }
        self.instances.push(instance);
        ends
    }

    /// How many elements each of so many members gets from each in an exchange of unequal sizes.
    fn parts(&self, class: Class, payload: Payload, members: usize) -> Vec<Vec<u64>> {
        let Class::AllToAllV { empty } = class else {
            return Vec::new();
        };
        let mut random = Random::new(self.run.seed, EXCHANGES + self.instances.len() as u64);
        let mut part = || {
            let is_empty = empty > 0 && random.uniform() * f64::from(empty) < 1.0;
            let most = 2.0 * payload.elements as f64 / members as f64;
            if is_empty {
                0
            } else {
                1 + (random.uniform() * most) as u64
            }
        };
        (0..members)
            .map(|_| (0..members).map(|_| part()).collect())
            .collect()
    }

    /// All ranks launch a graph of sums among neighbours.
    fn graph(&mut self, kernels: u32, between: Duration, elements: u64) {
        if self.run.style == Style::Gloo {
            return;
        }
        let launches: Vec<Span> = self.ranks.iter_mut().map(Rank::call).collect();
        for (rank, launch) in self.ranks.iter_mut().zip(&launches) {
            rank.device = rank.device.max(launch.end + LAUNCH.draw(&mut rank.random));
        }
        let payload = Payload {
            elements,
            element: Element::BFloat16,
        };
        let transfer = self.transfer(payload);
        for _ in 0..kernels {
            for group in self.groups.among(Among::Tensor) {
                let members = &self.groups.get(group).ranks;
                let begins = members.iter().map(|&rank| {
                    let state = &mut self.ranks[rank as usize];
                    state.device + between.draw(&mut state.random)
                });
                let begins: Vec<u64> = begins.collect();
                let last = begins.iter().copied().max().unwrap_or(0);
                let mut instance = Instance::new(group, What::Collective(Class::Custom), payload);
                for (&rank, begin) in members.iter().zip(begins) {
                    let state = &mut self.ranks[rank as usize];
                    let end = last + transfer + self.run.scatter.draw(&mut state.random);
                    state.device = end;
                    instance.join(
                        rank,
                        state,
                        Call {
                            instance: self.instances.len(),
                            role: Role::Member,
                            host: launches[rank as usize],
                            event: Span { begin, end },
                            thread: 0,
                            batch: None,
                            sequence: 0,
                        },
                    );
                }
                self.instances.push(instance);
            }
        }
    }

    /// Ranks send to their successors. In a ring of an odd number of ranks somebody
    /// would send and receive at once; there the last sends to nobody.
    fn neighbours(&mut self, payload: Payload) {
        let ranks = self.run.ranks;
        for first in 0..2 {
            for sender in (first..ranks).step_by(2) {
                let closes = sender + 1 == ranks;
                if !closes {
                    self.message(0, [sender, sender + 1], payload);
                } else if ranks > 1 && ranks.is_multiple_of(2) {
                    self.message(0, [sender, 0], payload);
                }
            }
        }
    }

    pub(super) fn message(&mut self, group: usize, [sender, receiver]: [u32; 2], payload: Payload) {
        let sent = self.begin_message(sender, group);
        let received = self.begin_message(receiver, group);
        let transfer = self.transfer(payload);
        let mut instance = Instance::new(group, What::Message, payload);
        for (rank, begun, role) in [
            (sender, sent, Role::Sender { to: receiver }),
            (receiver, received, Role::Receiver { from: sender }),
        ] {
            let state = &mut self.ranks[rank as usize];
            let waits = match (self.run.style, role) {
                (Style::Nccl, Role::Sender { .. }) if payload.elements <= EAGER => begun.event,
                (Style::Nccl, _) => sent.event.max(received.event),
                // Both are announced within the calls, before anything notes that.
                (Style::Gloo, _) => {
                    let posted = [sent, received].map(|it| it.call.part(1, 2));
                    posted.into_iter().fold(begun.event, u64::max)
                }
            };
            let arrived = waits + transfer + LATENCY.draw(&mut state.random);
            let end = match (self.run.style, role) {
                (Style::Gloo, Role::Receiver { .. }) => arrived + RECEIVE.draw(&mut state.random),
                _ => arrived,
            };
            match self.run.style {
                Style::Nccl => {
                    state.device = end;
                    state.threads[group][begun.thread] = end;
                }
                Style::Gloo => state.host = arrived.max(end),
            }
            state.messages[group] += 1;
            let sequence = state.messages[group];
            instance.join(
                rank,
                state,
                Call {
                    instance: self.instances.len(),
                    role,
                    host: begun.call,
                    event: Span {
                        begin: begun.event,
                        end,
                    },
                    thread: begun.thread,
                    batch: None,
                    sequence,
                },
            );
        }
        self.instances.push(instance);
    }

    /// A rank calls an operation, which begins as soon as it can. Those of a group
    /// begin in the order of their calls.
    pub(super) fn begin(&mut self, rank: u32, group: usize) -> Begun {
        let state = &mut self.ranks[rank as usize];
        let call = state.call();
        let threads = &state.threads[group];
        let (thread, ready) = match self.run.style {
            Style::Nccl => (
                0,
                (call.end + LAUNCH.draw(&mut state.random)).max(state.device),
            ),
            Style::Gloo => {
                let first = usize::from(threads[1] < threads[0]);
                let woken = call.begin + WAKE.draw(&mut state.random);
                (first, woken.max(state.begun[group]))
            }
        };
        let event = ready.max(threads[thread]);
        state.begun[group] = event;
        Begun {
            call,
            event,
            thread,
        }
    }

    /// Begins as [`begin`](Self::begin) does; but the main thread itself sends and receives with
    /// Gloo, from just before the call returns.
    fn begin_message(&mut self, rank: u32, group: usize) -> Begun {
        match self.run.style {
            Style::Nccl => self.begin(rank, group),
            Style::Gloo => {
                let call = self.ranks[rank as usize].call();
                Begun {
                    call,
                    event: call.part(9, 10),
                    thread: 0,
                }
            }
        }
    }

    /// How long it takes to move so many elements: at 100 GB/s between GPUs, and at
    /// half a GB/s through sockets that many processes share.
    pub(super) fn transfer(&self, payload: Payload) -> u64 {
        let bytes = payload.bytes();
        match self.run.style {
            Style::Nccl => bytes / 100,
            Style::Gloo => bytes * 2,
        }
    }
}

/// The work of a rank while an operation goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum GoesOn {
    /// Anything; it waits at the end of the iteration.
    Meanwhile,
    /// All but that of its device.
    OnHost,
    /// Nothing.
    Afterwards,
}

/// A call that a rank has begun, and the operation that it leads to.
#[derive(Clone, Copy)]
pub(super) struct Begun {
    pub(super) call: Span,
    /// When the operation begins.
    pub(super) event: u64,
    pub(super) thread: usize,
}

impl Rank {
    /// Computes for so long, and some nanoseconds longer.
    pub(super) fn compute(&mut self, style: Style, duration: Duration, longer: u64) {
        let takes = duration.draw(&mut self.random) + longer;
        let begin = self.host;
        let device = match style {
            Style::Gloo => {
                self.host += takes;
                None
            }
            // A host that launches kernels runs ahead of its device.
            Style::Nccl => {
                self.host += takes / 2;
                let starts = self.device.max(begin + LAUNCH.draw(&mut self.random));
                self.device = starts + takes;
                Some(Span {
                    begin: starts,
                    end: self.device,
                })
            }
        };
        let host = Span {
            begin,
            end: self.host,
        };
        self.log.items.push(Item::Compute { host, device });
    }

    /// The main thread calls something.
    pub(super) fn call(&mut self) -> Span {
        let begin = self.host;
        self.host += CALL.draw(&mut self.random);
        Span {
            begin,
            end: self.host,
        }
    }
}

impl Instance {
    /// Nobody has taken part yet.
    pub(super) fn new(group: usize, what: What, payload: Payload) -> Self {
        Self {
            group,
            what,
            payload,
            parts: Vec::new(),
            members: Vec::new(),
        }
    }

    /// The last begin that each member waits for, of members that have begun so.
    fn waits_for(&self, class: Class, begun: &[Begun]) -> Vec<u64> {
        let last = begun.iter().map(|it| it.event).max().unwrap_or(0);
        let waits_for = |(place, own): (usize, &Begun)| match class {
            Class::Broadcast { root } => begun[root as usize % begun.len()].event,
            Class::Reduce { root } if root as usize % begun.len() != place => own.event,
            Class::AllToAllV { .. } => {
                let from = begun.iter().zip(&self.parts[place]).filter(|it| *it.1 > 0);
                from.map(|it| it.0.event).max().unwrap_or(0)
            }
            _ => last,
        };
        begun.iter().enumerate().map(waits_for).collect()
    }

    /// A rank took part with this call.
    pub(super) fn join(&mut self, rank: u32, state: &mut Rank, call: Call) {
        self.members.push((rank, state.log.calls.len()));
        state.log.items.push(Item::Call(state.log.calls.len()));
        state.log.calls.push(call);
    }
}
