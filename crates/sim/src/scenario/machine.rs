//! Processes that send and receive, one step at a time.
//!
//! A scenario tells the machine what each process does next; the machine keeps
//! the true time of each process and the messages on their way. Something may
//! only be waited for once it has been started, so a scenario lets senders act
//! before receivers.
//!
//! Messages of one sender, receiver and tag are matched as MPI does: the n-th
//! receive that is posted gets the n-th message that is sent.

use std::collections::HashMap;

use retime_otf2::RegionRef;
use retime_otf2::writer::Message;

use crate::{
    duration::Duration,
    event::{Event, Sink},
    failure::Result,
    layout::{Layout, WORLD},
    load::{Load, Processor},
    network::{Network, Sent},
    random::Random,
    region,
    scenario::{Length, Scenario, Statistics},
};

/// Nanoseconds between two events of a process that does not wait.
const STEP: Duration = Duration::uniform(35, 50);

pub(super) struct Machine<'a> {
    sink: &'a mut dyn Sink,
    layout: Layout,
    network: Network,
    processes: Vec<Process>,
    lines: HashMap<Line, Places>,
    /// When each message that nobody has received yet left, and arrives, and its length.
    travelling: HashMap<(Line, u64), (u64, u64, u64)>,
    statistics: Statistics,
}

struct Process {
    now: u64,
    random: Random,
    processor: Processor,
    /// The last request number given.
    requests: u64,
}

/// Sender, receiver and tag.
type Line = (u32, u32, u32);

/// How many were sent and how many are expected.
#[derive(Default)]
struct Places {
    sent: u64,
    posted: u64,
}

/// A message as its sender or receiver names it.
#[derive(Clone, Copy)]
pub(super) struct Letter {
    /// Rank of the other side.
    pub(super) peer: u32,
    pub(super) tag: u32,
    pub(super) bytes: u64,
}

/// A receive that waits for its message.
pub(super) struct Posted {
    letter: Letter,
    place: u64,
    request: u64,
}

impl Letter {
    fn record(self) -> Message {
        Message {
            peer: self.peer,
            comm: WORLD,
            tag: self.tag,
            length: self.bytes,
        }
    }
}

impl<'a> Machine<'a> {
    pub(super) fn new(
        scenario: &impl Scenario,
        network: Network,
        load: Load,
        sink: &'a mut dyn Sink,
    ) -> Self {
        let (layout, seed) = (scenario.layout(), scenario.seed());
        let process = |rank| Process {
            now: 0,
            random: Random::new(seed, u64::from(rank)),
            processor: load.processor(&layout, rank, seed),
            requests: 0,
        };
        Self {
            sink,
            layout,
            network,
            processes: (0..layout.ranks).map(process).collect(),
            lines: HashMap::new(),
            travelling: HashMap::new(),
            statistics: Statistics::default(),
        }
    }

    /// The program from its begin to its end: rounds, counted from 0, for as long as
    /// `length` says.
    pub(super) fn run(
        mut self,
        length: &Length,
        mut round: impl FnMut(&mut Self, u64) -> Result<()>,
    ) -> Result<Statistics> {
        self.begin()?;
        let mut number = 0;
        while length.goes_on(number, self.statistics.events, self.latest()) {
            round(&mut self, number)?;
            number += 1;
        }
        self.end()
    }

    /// All processes enter `main`.
    fn begin(&mut self) -> Result<()> {
        (0..self.layout.ranks).try_for_each(|rank| self.emit(rank, Event::Enter(region::MAIN)))
    }

    /// All processes leave `main`.
    fn end(mut self) -> Result<Statistics> {
        for rank in 0..self.layout.ranks {
            self.emit(rank, Event::Leave(region::MAIN))?;
        }
        self.statistics.end = self.latest();
        Ok(self.statistics)
    }

    /// Present time of the process that is furthest.
    fn latest(&self) -> u64 {
        let times = self.processes.iter().map(|process| process.now);
        times.max().unwrap_or(0)
    }

    /// Time goes by for a process.
    pub(super) fn pass(&mut self, rank: u32, duration: Duration) {
        let process = &mut self.processes[rank as usize];
        let takes = duration.draw(&mut process.random);
        process.now = process.processor.run(process.now, takes);
    }

    /// A process is idle until a certain time.
    pub(super) fn idle_until(&mut self, rank: u32, time: u64) {
        let process = &mut self.processes[rank as usize];
        process.now = process.processor.at(process.now.max(time));
    }

    /// A process computes.
    pub(super) fn compute(&mut self, rank: u32, duration: Duration) -> Result<()> {
        self.emit_later(rank, Event::Enter(region::COMPUTE))?;
        self.pass(rank, duration);
        self.emit_later(rank, Event::Leave(region::COMPUTE))
    }

    /// A blocking send, enclosed in its region.
    pub(super) fn send(&mut self, rank: u32, letter: Letter) -> Result<()> {
        self.call(rank, region::SEND, |it| {
            it.step(rank);
            it.send_now(rank, letter)
        })
    }

    /// A blocking receive, enclosed in its region.
    pub(super) fn receive(&mut self, rank: u32, letter: Letter) -> Result<()> {
        self.call(rank, region::RECV, |it| {
            it.step(rank);
            it.receive_now(rank, letter)
        })
    }

    /// A non-blocking send; the request it has.
    pub(super) fn start_send(&mut self, rank: u32, letter: Letter) -> Result<u64> {
        let request = self.request(rank);
        self.call(rank, region::ISEND, |it| {
            it.step(rank);
            it.transmit(rank, letter);
            it.emit(rank, Event::Isend(letter.record(), request))
        })?;
        Ok(request)
    }

    /// A non-blocking receive takes its place in line.
    pub(super) fn start_receive(&mut self, rank: u32, letter: Letter) -> Result<Posted> {
        let request = self.request(rank);
        let place = self.take_place(rank, letter);
        self.call(rank, region::IRECV, |it| {
            it.emit_later(rank, Event::IrecvRequest(request))
        })?;
        Ok(Posted {
            letter,
            place,
            request,
        })
    }

    /// Waits for sends and receives that were started.
    pub(super) fn wait(&mut self, rank: u32, sends: &[u64], receives: &[Posted]) -> Result<()> {
        self.call(rank, region::WAITALL, |it| {
            for posted in receives {
                it.step(rank);
                let letter = it.await_arrival(rank, posted.letter, posted.place);
                it.emit(rank, Event::Irecv(letter.record(), posted.request))?;
            }
            sends
                .iter()
                .try_for_each(|&request| it.emit_later(rank, Event::IsendComplete(request)))
        })
    }

    /// A blocking send at this very moment, without a region around it.
    pub(super) fn send_now(&mut self, rank: u32, letter: Letter) -> Result<()> {
        self.transmit(rank, letter);
        self.emit(rank, Event::Send(letter.record()))
    }

    /// A blocking receive as soon as the message is there, without a region.
    pub(super) fn receive_now(&mut self, rank: u32, letter: Letter) -> Result<()> {
        let place = self.take_place(rank, letter);
        let letter = self.await_arrival(rank, letter, place);
        self.emit(rank, Event::Recv(letter.record()))
    }

    fn transmit(&mut self, rank: u32, letter: Letter) {
        let line = (rank, letter.peer, letter.tag);
        let process = &mut self.processes[rank as usize];
        let sent = Sent {
            ends: (rank, letter.peer),
            bytes: letter.bytes,
            at: process.now,
        };
        let takes = self
            .network
            .message(&self.layout, &sent, &mut process.random);
        let places = self.lines.entry(line).or_default();
        // What the sender does next is another matter.
        let arrives = process.processor.clone().run(process.now, takes);
        let letter = (process.now, arrives, letter.bytes);
        self.travelling.insert((line, places.sent), letter);
        places.sent += 1;
        self.statistics.messages += 1;
    }

    fn take_place(&mut self, rank: u32, letter: Letter) -> u64 {
        let line = (letter.peer, rank, letter.tag);
        let places = self.lines.entry(line).or_default();
        places.posted += 1;
        places.posted - 1
    }

    /// The letter that comes: with the length it was sent with, whichever was expected.
    fn await_arrival(&mut self, rank: u32, letter: Letter, place: u64) -> Letter {
        let line = (letter.peer, rank, letter.tag);
        let Some((sent, arrives, bytes)) = self.travelling.remove(&(line, place)) else {
            return letter;
        };
        self.idle_until(rank, arrives);
        let now = self.processes[rank as usize].now;
        self.statistics.delayed(now - sent);
        Letter { bytes, ..letter }
    }

    fn request(&mut self, rank: u32) -> u64 {
        let process = &mut self.processes[rank as usize];
        process.requests += 1;
        process.requests
    }

    fn call(
        &mut self,
        rank: u32,
        region: RegionRef,
        inside: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        self.emit_later(rank, Event::Enter(region))?;
        inside(self)?;
        self.emit_later(rank, Event::Leave(region))
    }

    /// The little time between two events.
    fn step(&mut self, rank: u32) {
        self.pass(rank, STEP);
    }

    fn emit_later(&mut self, rank: u32, event: Event) -> Result<()> {
        self.step(rank);
        self.emit(rank, event)
    }

    /// An event at the present time of its process.
    fn emit(&mut self, rank: u32, event: Event) -> Result<()> {
        self.statistics.events += 1;
        let location = self.layout.location(rank, 0);
        self.sink
            .event(location, self.processes[rank as usize].now, event)
    }
}
