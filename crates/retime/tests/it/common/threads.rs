//! Runs a program whose ranks send and receive with several threads on one channel.
//!
//! All in true time: messages depart in an order of their own within the calls that
//! send them, receives take their places in line within the calls that post them,
//! and the k-th place gets the k-th message. What is recorded of it is what a
//! recording tool sees, which is neither departures nor places.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use retime::causality::{Causality, CausalityOptions, Length, LocationLog, LogBuilder, Message};
use retime::{
    Communicator, Location, LocationIndex, Members, Process, TickRate, Timestamp, TraceInfo,
};

use super::rng::Rng;

/// What a program is made of.
#[derive(Clone, Copy, Debug)]
pub struct Threads {
    pub senders: usize,
    pub receivers: usize,
    pub messages: usize,
    /// Whether some messages are probed, and received without a word of that.
    pub probes: bool,
    /// How many lengths messages have.
    pub lengths: u64,
    pub seed: u64,
}

/// A message: when its send was recorded and when its receive, and by which thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent {
    pub thread: usize,
    pub recorded: u64,
    departed: u64,
    arrived: u64,
    pub length: u64,
}

/// A receive, by its place in the true line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Received {
    pub thread: usize,
    /// Call that posts it, from when to when; nothing tells of a probe.
    pub entered: Option<u64>,
    pub left: u64,
    /// Request, if it is non-blocking.
    pub request: Option<u64>,
    pub completed: u64,
}

/// Everything that truly happened.
pub struct Run {
    threads: Threads,
    /// In the order of departure; message `k` is that of receive `k`.
    pub sent: Vec<Sent>,
    pub received: Vec<Received>,
}

/// What a receiving thread does next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    Decide,
    /// A call that was entered then takes a place in line.
    Post(u64, Kind),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Blocking,
    NonBlocking,
    Probe,
}

impl Run {
    pub fn new(threads: Threads) -> Self {
        let mut rng = Rng::new(threads.seed);
        let sent = send(&threads, &mut rng);
        let received = receive(&threads, &sent, &mut rng);
        Self {
            threads,
            sent,
            received,
        }
    }

    /// Rank 0 is the senders, rank 1 the receivers.
    pub fn info(&self) -> TraceInfo {
        let Threads {
            senders, receivers, ..
        } = self.threads;
        let location = |thread: usize| {
            let rank = usize::from(thread >= senders);
            Location {
                id: thread as u64,
                name: String::new(),
                process: rank,
                endpoint: LocationIndex((rank * senders) as u32),
            }
        };
        let process = || Process {
            name: String::new(),
            node: None,
            creator: None,
        };
        let ranks = [LocationIndex(0), LocationIndex(senders as u32)];
        TraceInfo {
            rate: TickRate::per_second(1_000_000_000).unwrap(),
            locations: (0..senders + receivers).map(location).collect(),
            processes: vec![process(), process()],
            nodes: vec![],
            streams: Vec::new(),
            set_back: Vec::new(),
            communicators: vec![Communicator {
                name: "world".into(),
                members: Members::Ranks(ranks.into()),
            }],
        }
    }

    /// The happened-before of what is recorded: all but what a rank does in its gap,
    /// and the messages that are left out.
    pub fn causality(
        &self,
        gaps: [Option<(u64, u64)>; 2],
        lost: impl Fn(bool, usize) -> bool,
    ) -> Causality {
        let mut lines: Vec<Vec<(u64, Line)>> =
            vec![Vec::new(); self.threads.senders + self.threads.receivers];
        for (at, it) in self.sent.iter().enumerate() {
            if !lost(true, at) {
                lines[it.thread].push((it.recorded, Line::Send(it.length)));
            }
        }
        for (at, it) in self.received.iter().enumerate() {
            let own = &mut lines[self.threads.senders + it.thread];
            if let Some(request) = it.request {
                own.push((it.left, Line::Post(it.entered, request)));
            }
            if !lost(false, at) {
                let length = self.sent[at].length;
                let line = match it.request {
                    Some(request) => Line::Complete(request, length),
                    None => Line::Receive(it.entered, length),
                };
                own.push((it.completed, line));
            }
        }
        let logs = lines.into_iter().enumerate().map(|(thread, lines)| {
            let rank = usize::from(thread >= self.threads.senders);
            self.log(thread, lines, gaps[rank])
        });
        Causality::build(&self.info(), logs.collect(), CausalityOptions::default()).unwrap()
    }

    fn log(
        &self,
        thread: usize,
        mut lines: Vec<(u64, Line)>,
        gap: Option<(u64, u64)>,
    ) -> LocationLog {
        if let Some((from, to)) = gap {
            lines.retain(|(time, _)| !(from..=to).contains(time));
            lines.push((from, Line::Off));
            lines.push((to, Line::On));
        }
        lines.sort_by_key(|line| line.0);
        // What was entered before the gap may have been left and entered again.
        let since = |entered: Option<u64>, now: u64| {
            let known = |&entered: &u64| gap.is_none_or(|(from, to)| now < from || entered > to);
            entered.filter(known).map(Timestamp)
        };
        let message = |peer: usize| Message {
            communicator: 0,
            peer: LocationIndex(peer as u32),
            tag: 0,
        };
        let mut log = LogBuilder::new(LocationIndex(thread as u32));
        for (number, &(now, line)) in lines.iter().enumerate() {
            let (number, time) = (number as u64, Timestamp(now));
            match line {
                Line::Send(length) => {
                    log.send(number, time, message(self.threads.senders), None);
                    log.sent(Length::of(length));
                }
                Line::Post(entered, request) => {
                    log.receive_posted(number, time, request);
                    log.posted_since(since(entered, now));
                }
                Line::Receive(entered, length) => {
                    log.receive(number, time, message(0));
                    log.posted_since(since(entered, now));
                    log.received(Length::of(length));
                }
                Line::Complete(request, length) => {
                    log.receive_completed(number, time, message(0), request);
                    log.received(Length::of(length));
                }
                Line::Off => log.recording_off(time),
                Line::On => log.recording_on(time),
            }
        }
        let end = |line: Option<&(u64, Line)>| Timestamp(line.map_or(0, |line| line.0));
        let ends = (end(lines.first()), end(lines.last()));
        log.finish(lines.len() as u64, ends.0, ends.1).unwrap()
    }
}

/// A recorded event.
#[derive(Clone, Copy, Debug)]
enum Line {
    Send(u64),
    Post(Option<u64>, u64),
    Receive(Option<u64>, u64),
    Complete(u64, u64),
    Off,
    On,
}

/// Messages by departure.
fn send(threads: &Threads, rng: &mut Rng) -> Vec<Sent> {
    let mut now: Vec<u64> = vec![100; threads.senders];
    let mut sent: Vec<Sent> = Vec::new();
    for _ in 0..threads.messages {
        let thread = rng.index(threads.senders);
        let recorded = now[thread] + 1 + rng.below(40);
        let departed = recorded + rng.below(20);
        now[thread] = departed + 1;
        sent.push(Sent {
            thread,
            recorded,
            departed,
            length: rng.below(threads.lengths),
            ..Sent::default()
        });
    }
    sent.sort_by_key(|it| it.departed);
    for it in &mut sent {
        it.arrived = it.departed + rng.below(60);
    }
    sent
}

/// Receives by place in line.
fn receive(threads: &Threads, sent: &[Sent], rng: &mut Rng) -> Vec<Received> {
    let mut received: Vec<Received> = Vec::new();
    // By thread: places whose receives are not complete.
    let mut open: Vec<Vec<usize>> = vec![Vec::new(); threads.receivers];
    let mut next: BinaryHeap<Reverse<(u64, usize, Next)>> = (0..threads.receivers)
        .map(|thread| Reverse((50 + rng.below(100), thread, Next::Decide)))
        .collect();
    let mut left = threads.messages;
    while let Some(Reverse((now, thread, what))) = next.pop() {
        let (at, then) = match what {
            Next::Decide if left == 0 || rng.once_in(3) && !open[thread].is_empty() => {
                if open[thread].is_empty() {
                    continue;
                }
                let which = rng.index(open[thread].len());
                let place = open[thread].remove(which);
                let completed = now.max(sent[place].arrived) + 1 + rng.below(10);
                received[place].completed = completed;
                (completed + 1, Next::Decide)
            }
            Next::Decide => {
                left -= 1;
                let kind = match rng.below(4) {
                    0 if threads.probes => Kind::Probe,
                    1 | 2 => Kind::NonBlocking,
                    _ => Kind::Blocking,
                };
                let entered = now + rng.below(30);
                (entered + rng.below(15), Next::Post(entered, kind))
            }
            Next::Post(entered, kind) => {
                let place = received.len();
                let there = now.max(sent[place].arrived);
                let mut it = Received {
                    thread,
                    entered: Some(entered),
                    left: now + rng.below(15),
                    ..Received::default()
                };
                let free = match kind {
                    Kind::Blocking => {
                        it.completed = there + rng.below(10);
                        it.completed
                    }
                    Kind::NonBlocking => {
                        it.request = Some(place as u64);
                        open[thread].push(place);
                        it.left
                    }
                    Kind::Probe => {
                        it.entered = None;
                        open[thread].push(place);
                        there
                    }
                };
                received.push(it);
                (free + 1, Next::Decide)
            }
        };
        next.push(Reverse((at, thread, then)));
    }
    received
}
