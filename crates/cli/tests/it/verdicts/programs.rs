//! Random programs, executed in true time and recorded by clocks that are wrong, with
//! faults in what was recorded.

use retime_otf2::writer::{Collective, Message};
use retime_otf2::{CollectiveOp, CollectiveRoot, CommRef};
use retime_sim::{Event, Layout, Program, Random, WORLD};

use super::choices::Choices;

/// A short program of few ranks; the same for the same seed.
pub(super) fn program(seed: u64) -> Program {
    let mut choose = Choices(Random::new(seed, 1 << 51));
    let layout = Layout {
        ranks: choose.of(2..7) as u32,
        threads: choose.of(1..3) as u32,
        ranks_per_node: choose.of(1..4) as u32,
    };
    let mut program = Program::with_layout(layout);
    program.options.allow_disorder = true;
    let mut run = Run::new(layout, &mut program, &mut choose);
    for _ in 0..choose.of(3..40) {
        run.act(&mut choose);
    }
    let mut recorded = run.recorded;
    Clocks::of(layout, &mut choose).stamp(layout, &mut recorded);
    break_some(&mut recorded, &mut choose);
    for (location, events) in recorded.into_iter().enumerate() {
        let thread = location as u32 % layout.threads;
        let mut recorder = program.on_thread(layout.rank_of(location), thread);
        for (time, event) in events {
            recorder.event(time, event);
        }
    }
    program
}

/// Times and events of each location.
type Recorded = Vec<Vec<(u64, Event)>>;

/// Some ranks that communicate as one.
#[derive(Clone)]
struct Group {
    comm: CommRef,
    ranks: Vec<u32>,
}

/// A program that is running.
struct Run {
    layout: Layout,
    /// The time of each rank.
    now: Vec<u64>,
    groups: Vec<Group>,
    requests: u64,
    recorded: Recorded,
}

impl Run {
    fn new(layout: Layout, program: &mut Program, choose: &mut Choices) -> Self {
        let all: Vec<u32> = (0..layout.ranks).collect();
        let (even, odd) = all.iter().partition(|&it| it % 2 == 0);
        let [even, odd] =
            [("even", even), ("odd", odd)].map(|(name, ranks): (_, Vec<u32>)| Group {
                comm: program.comm(name, &ranks),
                ranks,
            });
        let world = Group {
            comm: WORLD,
            ranks: all,
        };
        let starts = (0..layout.ranks).map(|_| 1_000_000_000 + choose.of(0..50_000));
        Self {
            layout,
            now: starts.collect(),
            groups: vec![world, even, odd],
            requests: 0,
            recorded: vec![Vec::new(); layout.locations()],
        }
    }

    /// Records an event of a rank some time after the last one, and not before `earliest`.
    fn record(&mut self, rank: u32, earliest: u64, event: Event, choose: &mut Choices) -> u64 {
        let now = &mut self.now[rank as usize];
        *now = (*now).max(earliest) + choose.of(50..3_000);
        // What other threads do stands between.
        let thread = if choose.one_in(12) {
            self.layout.threads - 1
        } else {
            0
        };
        self.recorded[self.layout.location(rank, thread)].push((*now, event));
        *now
    }

    fn request(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }

    /// The next thing that ranks do with each other.
    fn act(&mut self, choose: &mut Choices) {
        for now in &mut self.now {
            *now += choose.of(0..40_000);
        }
        match choose.of(0..6) {
            0 => self.gather_from_any(choose),
            1 => self.collective(choose),
            2 => self.collective_with_requests(choose),
            _ => self.exchange(choose),
        }
    }

    /// Time that a message is under way.
    fn delay(choose: &mut Choices) -> u64 {
        let most = choose.one(&[2_000, 20_000]);
        500 + choose.of(0..most)
    }

    /// Messages from one rank of a group to another, blocking or not.
    fn exchange(&mut self, choose: &mut Choices) {
        let group = choose.of(0..self.groups.len() as u64) as usize;
        let group = self.groups[group].clone();
        let size = group.ranks.len() as u64;
        if size < 2 {
            return;
        }
        let from = choose.of(0..size);
        let to = (from + choose.of(1..size)) % size;
        let message = |peer: u64, tag| Message {
            peer: peer as u32,
            comm: group.comm,
            tag,
            length: 8 * (1 + u64::from(tag)),
        };
        for _ in 0..choose.of(1..4) {
            let tag = choose.of(0..3) as u32;
            let (sender, receiver) = (group.ranks[from as usize], group.ranks[to as usize]);
            let posted = choose.one_in(2).then(|| {
                let request = self.request();
                self.record(receiver, 0, Event::IrecvRequest(request), choose);
                request
            });
            let sent = if choose.one_in(3) {
                let request = self.request();
                let sent = self.record(sender, 0, Event::Isend(message(to, tag), request), choose);
                self.record(sender, 0, Event::IsendComplete(request), choose);
                sent
            } else {
                self.record(sender, 0, Event::Send(message(to, tag)), choose)
            };
            let arrival = sent + Self::delay(choose);
            let received = match posted {
                Some(request) => Event::Irecv(message(from, tag), request),
                None => Event::Recv(message(from, tag)),
            };
            self.record(receiver, arrival, received, choose);
        }
    }

    /// Everybody sends to one who takes what comes first.
    fn gather_from_any(&mut self, choose: &mut Choices) {
        let root = choose.of(0..u64::from(self.layout.ranks)) as u32;
        let others = (0..self.layout.ranks).filter(|&it| it != root);
        let mut under_way = Vec::new();
        for rank in others {
            let tag = choose.of(0..2) as u32;
            let message = Message {
                peer: root,
                comm: WORLD,
                tag,
                length: 8,
            };
            let sent = self.record(rank, 0, Event::Send(message), choose);
            let arrival = sent + Self::delay(choose);
            under_way.push((
                arrival,
                Message {
                    peer: rank,
                    ..message
                },
            ));
        }
        under_way.sort_by_key(|it| it.0);
        for (arrival, message) in under_way {
            self.record(root, arrival, Event::Recv(message), choose);
        }
    }

    /// What each member says of a collective operation, and who waits for whom.
    fn operation(&self, choose: &mut Choices) -> (Group, Collective) {
        let group = choose.of(0..self.groups.len() as u64) as usize;
        let group = self.groups[group].clone();
        let op = choose.one(&[
            CollectiveOp::BARRIER,
            CollectiveOp::ALLREDUCE,
            CollectiveOp::ALLTOALL,
            CollectiveOp::BCAST,
            CollectiveOp::GATHER,
            CollectiveOp::SCAN,
        ]);
        let rooted = [CollectiveOp::BCAST, CollectiveOp::GATHER].contains(&op);
        let bytes = if op == CollectiveOp::BARRIER { 0 } else { 8 };
        let root = if rooted {
            CollectiveRoot::Rank(choose.of(0..group.ranks.len() as u64) as u32)
        } else {
            CollectiveRoot::None
        };
        let collective = Collective {
            op,
            comm: group.comm,
            root,
            sent: bytes,
            received: bytes,
        };
        (group, collective)
    }

    /// Nobody leaves before all have come, which is more than some operations ask for.
    fn collective(&mut self, choose: &mut Choices) {
        let (group, collective) = self.operation(choose);
        let begins = group.ranks.iter();
        let begins: Vec<u64> = begins
            .map(|&rank| self.record(rank, 0, Event::CollectiveBegin, choose))
            .collect();
        let last = begins.into_iter().max().unwrap_or(0);
        for &rank in &group.ranks {
            let end = last + Self::delay(choose);
            self.record(rank, end, Event::CollectiveEnd(collective), choose);
        }
    }

    fn collective_with_requests(&mut self, choose: &mut Choices) {
        let (group, collective) = self.operation(choose);
        let mut last = 0;
        let mut requests = Vec::new();
        for &rank in &group.ranks {
            let request = self.request();
            let asked = Event::NonBlockingCollectiveRequest(request);
            last = self.record(rank, 0, asked, choose).max(last);
            requests.push((rank, request));
        }
        for (rank, request) in requests {
            let complete = Event::NonBlockingCollectiveComplete(collective, request);
            let end = last + Self::delay(choose);
            self.record(rank, end, complete, choose);
        }
    }
}

/// The clock of each node: what it is off, by how much it is fast, when it is set and by
/// how much.
struct Clocks {
    nodes: Vec<(f64, f64, u64, f64)>,
    tick: u64,
}

impl Clocks {
    fn of(layout: Layout, choose: &mut Choices) -> Self {
        let (offset, drift) = (
            choose.one(&[0.0, 20_000.0, 500_000.0]),
            choose.one(&[0.0, 1e-5, 3e-3]),
        );
        let steps = choose.one_in(4);
        let mut node = || {
            let step = if steps && choose.one_in(2) {
                300_000.0
            } else {
                0.0
            };
            let at = 1_000_000_000 + choose.of(0..1_000_000);
            let random = &mut choose.0;
            (
                random.within(offset),
                random.within(drift),
                at,
                random.within(step),
            )
        };
        Self {
            nodes: (0..layout.nodes()).map(|_| node()).collect(),
            tick: choose.one(&[1, 1, 1_000]),
        }
    }

    fn stamp(&self, layout: Layout, recorded: &mut Recorded) {
        for (location, events) in recorded.iter_mut().enumerate() {
            let node = layout.node(layout.rank_of(location));
            let (offset, drift, at, step) = self.nodes[node as usize];
            for (time, _) in events {
                let elapsed = *time as f64 - 1e9;
                let step = if *time >= at { step } else { 0.0 };
                let error = (offset + drift * elapsed + step) as i64;
                let shown = time.saturating_add_signed(error);
                *time = shown / self.tick * self.tick;
            }
        }
    }
}

/// A fault in what was recorded.
#[derive(Clone, Copy)]
enum Fault {
    Missing,
    Twice,
    /// Recording began later, or ended earlier.
    Cut,
    OtherStamp,
    Swapped,
    OtherWords,
}

fn break_some(recorded: &mut Recorded, choose: &mut Choices) {
    for _ in 0..choose.one(&[0, 0, 1, 2, 5, 20]) {
        let location = choose.of(0..recorded.len() as u64) as usize;
        let events = &mut recorded[location];
        if events.len() < 2 {
            continue;
        }
        let at = choose.of(0..events.len() as u64) as usize;
        let fault = choose.one(&[
            Fault::Missing,
            Fault::Missing,
            Fault::Missing,
            Fault::Twice,
            Fault::Cut,
            Fault::OtherStamp,
            Fault::Swapped,
            Fault::OtherWords,
        ]);
        break_one(fault, events, at, choose);
    }
}

fn break_one(fault: Fault, events: &mut Vec<(u64, Event)>, at: usize, choose: &mut Choices) {
    match fault {
        Fault::Missing => drop(events.remove(at)),
        Fault::Twice => events.insert(at, events[at]),
        Fault::Cut if choose.one_in(2) => drop(events.drain(..at)),
        Fault::Cut => events.truncate(at),
        Fault::OtherStamp => {
            let by = choose.0.within(200_000.0) as i64;
            events[at].0 = events[at].0.saturating_add_signed(by);
        }
        Fault::Swapped => {
            let other = (at + 1) % events.len();
            events.swap(at, other);
        }
        Fault::OtherWords => events[at].1 = in_other_words(events[at].1, choose),
    }
}

/// The event with one of its fields changed.
fn in_other_words(event: Event, choose: &mut Choices) -> Event {
    let mut other = |message: Message| match choose.of(0..4) {
        0 => Message {
            tag: message.tag + 1,
            ..message
        },
        1 => Message {
            peer: message.peer ^ 1,
            ..message
        },
        2 => Message {
            length: message.length + 8,
            ..message
        },
        _ => Message {
            comm: WORLD,
            ..message
        },
    };
    match event {
        Event::Send(it) => Event::Send(other(it)),
        Event::Recv(it) => Event::Recv(other(it)),
        Event::Isend(it, request) => Event::Isend(other(it), request),
        Event::Irecv(it, request) => Event::Irecv(other(it), request),
        Event::IrecvRequest(request) => Event::IrecvRequest(request + choose.of(1..3)),
        Event::IsendComplete(request) => Event::IsendComplete(request + 1),
        Event::CollectiveEnd(it) => Event::CollectiveEnd(Collective { comm: WORLD, ..it }),
        Event::NonBlockingCollectiveComplete(it, request) => Event::NonBlockingCollectiveComplete(
            Collective {
                op: CollectiveOp::ALLREDUCE,
                ..it
            },
            request,
        ),
        other => other,
    }
}
