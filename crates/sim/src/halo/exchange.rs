//! The halo exchange, step by step.
//!
//! All processes go through an iteration together: first all start their
//! sends, which fixes when the messages arrive, then all wait. So nothing has
//! to be kept but the arrival times of one iteration, however long the run.

use retime_otf2::writer::{self, Message};
use retime_otf2::{CollectiveOp, CollectiveRoot, RegionRef};

use super::program::{Collective, HaloExchange};
use crate::{
    duration::Duration,
    event::{Event, Sink},
    failure::Result,
    layout::{Layout, WORLD},
    load::Processor,
    network::Sent,
    random::Random,
    region,
    scenario::Statistics,
};

const DIRECTIONS: usize = 4;

/// Nanoseconds between two events of a process that does not wait: at least
/// this, and up to one less than the second more.
const STEP: (u64, u64) = (35, 16);

/// The time of `MPI_Init`, besides waiting for the others.
const INIT: Duration = Duration::exponential(1_000_000, 100_000.0);

/// Bytes each process contributes to a reduction.
const REDUCED: u64 = 8;

pub(crate) struct Exchange<'a, S: ?Sized> {
    program: &'a HaloExchange,
    sink: &'a mut S,
    layout: Layout,
    locations: Vec<Location>,
    ranks: Vec<Rank>,
    statistics: Statistics,
}

/// A thread: its present time, and what makes its durations vary.
struct Location {
    now: u64,
    random: Random,
    processor: Processor,
}

struct Rank {
    /// The neighbour in each direction: up, down, left, right.
    neighbours: [Option<u32>; DIRECTIONS],
    /// When this iteration's message from each direction was sent.
    sent: [u64; DIRECTIONS],
    /// When it arrives.
    arrivals: [u64; DIRECTIONS],
    /// The last request number given.
    requests: u64,
    /// Requests of this iteration's receives and sends by direction.
    receives: [u64; DIRECTIONS],
    sends: [u64; DIRECTIONS],
}

impl<'a, S: Sink + ?Sized> Exchange<'a, S> {
    pub(crate) fn new(program: &'a HaloExchange, sink: &'a mut S) -> Self {
        let layout = program.layout();
        let (rows, columns) = program.grid;
        let locations = (0..layout.locations())
            .map(|location| Location {
                now: 0,
                random: Random::new(program.seed, location as u64),
                processor: program
                    .load
                    .processor(&layout, layout.rank_of(location), program.seed),
            })
            .collect();
        let ranks = (0..layout.ranks)
            .map(|rank| Rank {
                neighbours: neighbours(rows, columns, program.periodic, rank),
                sent: [0; DIRECTIONS],
                arrivals: [0; DIRECTIONS],
                requests: 0,
                receives: [0; DIRECTIONS],
                sends: [0; DIRECTIONS],
            })
            .collect();
        Self {
            program,
            sink,
            layout,
            locations,
            ranks,
            statistics: Statistics::default(),
        }
    }

    pub(crate) fn run(mut self) -> Result<Statistics> {
        self.begin()?;
        let program = self.program;
        let mut iteration = 0;
        while iteration < program.iterations || self.goes_on(iteration) {
            iteration += 1;
            self.each_rank(Self::post_receives)?;
            self.each_rank(Self::send_all)?;
            self.each_rank(Self::wait_all)?;
            self.each_rank(Self::compute)?;
            let every = program.collective_every;
            if every > 0 && iteration % every == 0 {
                self.collective(program.collective)?;
            }
        }
        self.end()?;
        self.statistics.end = self.latest();
        Ok(self.statistics)
    }

    fn goes_on(&self, iteration: u64) -> bool {
        let length = &self.program.length;
        length.goes_on(iteration, self.statistics.events, self.latest())
    }

    fn latest(&self) -> u64 {
        self.locations.iter().map(|it| it.now).max().unwrap_or(0)
    }

    fn each_rank(&mut self, mut action: impl FnMut(&mut Self, u32) -> Result<()>) -> Result<()> {
        (0..self.layout.ranks).try_for_each(|rank| action(self, rank))
    }

    fn begin(&mut self) -> Result<()> {
        self.each_rank(|it, rank| {
            let location = it.layout.location(rank, 0);
            it.record(location, Event::Enter(region::MAIN))?;
            it.record(location, Event::Enter(region::INIT))?;
            it.pass(location, INIT);
            it.record(location, Event::Leave(region::INIT))
        })?;
        self.collective(Collective::Barrier)
    }

    fn end(&mut self) -> Result<()> {
        self.each_rank(|it, rank| {
            let location = it.layout.location(rank, 0);
            it.record(location, Event::Enter(region::FINALIZE))?;
            it.record(location, Event::Leave(region::FINALIZE))?;
            it.record(location, Event::Leave(region::MAIN))
        })
    }

    fn post_receives(&mut self, rank: u32) -> Result<()> {
        let location = self.layout.location(rank, 0);
        for direction in self.directions(rank) {
            let request = self.next_request(rank);
            self.ranks[rank as usize].receives[direction] = request;
            self.call(location, region::IRECV, Event::IrecvRequest(request))?;
        }
        Ok(())
    }

    fn send_all(&mut self, rank: u32) -> Result<()> {
        self.start_workers(rank);
        for direction in self.directions(rank) {
            match self.sending_thread(direction) {
                0 => self.isend(rank, direction)?,
                thread => self.worker_send(rank, thread, direction)?,
            }
        }
        Ok(())
    }

    fn isend(&mut self, rank: u32, direction: usize) -> Result<()> {
        let location = self.layout.location(rank, 0);
        let request = self.next_request(rank);
        self.ranks[rank as usize].sends[direction] = request;
        let message = self.message_to(rank, direction);
        self.record(location, Event::Enter(region::ISEND))?;
        self.record(location, Event::Isend(message, request))?;
        self.transmit(location, rank, direction);
        self.record(location, Event::Leave(region::ISEND))
    }

    fn worker_send(&mut self, rank: u32, thread: u32, direction: usize) -> Result<()> {
        let location = self.layout.location(rank, thread);
        let message = self.message_to(rank, direction);
        self.record(location, Event::Enter(region::SEND))?;
        self.record(location, Event::Send(message))?;
        self.transmit(location, rank, direction);
        self.record(location, Event::Leave(region::SEND))
    }

    /// Decides when the message just sent will arrive.
    fn transmit(&mut self, location: usize, rank: u32, direction: usize) {
        let Some(peer) = self.ranks[rank as usize].neighbours[direction] else {
            return;
        };
        let sender = &mut self.locations[location];
        let sent = Sent {
            ends: (rank, peer),
            bytes: self.program.message_bytes,
            at: sender.now,
        };
        let network = self.program.network;
        let takes = network.message(&self.layout, &sent, &mut sender.random);
        let receiver = &mut self.ranks[peer as usize];
        receiver.sent[opposite(direction)] = sender.now;
        // What the sender does next is another matter.
        let arrives = sender.processor.clone().run(sender.now, takes);
        receiver.arrivals[opposite(direction)] = arrives;
        self.statistics.messages += 1;
    }

    /// The calls return when the last message is there; only then the tools
    /// learn that the requests are complete, and record them one by one.
    fn wait_all(&mut self, rank: u32) -> Result<()> {
        let location = self.layout.location(rank, 0);
        self.record(location, Event::Enter(region::WAITALL))?;
        let mut ready = 0;
        for direction in self.directions(rank) {
            ready = ready.max(self.ranks[rank as usize].arrivals[direction]);
        }
        for direction in self.directions(rank) {
            let request = self.ranks[rank as usize].receives[direction];
            let message = self.message_from(rank, direction);
            self.record_from(location, ready, Event::Irecv(message, request))?;
            let sent = self.ranks[rank as usize].sent[direction];
            self.statistics.delayed(self.locations[location].now - sent);
        }
        for direction in self.directions(rank).rev() {
            if self.sending_thread(direction) == 0 {
                let request = self.ranks[rank as usize].sends[direction];
                self.record(location, Event::IsendComplete(request))?;
            }
        }
        self.record(location, Event::Leave(region::WAITALL))
    }

    /// All threads compute; the first goes on when the last is done.
    fn compute(&mut self, rank: u32) -> Result<()> {
        let master = self.layout.location(rank, 0);
        self.pass(master, self.program.compute);
        let mut done = self.locations[master].now;
        for thread in 1..self.layout.threads {
            let location = self.layout.location(rank, thread);
            self.record(location, Event::Enter(region::COMPUTE))?;
            self.pass(location, self.program.compute);
            self.record(location, Event::Leave(region::COMPUTE))?;
            done = done.max(self.locations[location].now);
        }
        self.locations[master].now = done;
        Ok(())
    }

    fn collective(&mut self, kind: Collective) -> Result<()> {
        let (region, end) = self.describe(kind);
        let mut last = 0;
        self.each_rank(|it, rank| {
            let location = it.layout.location(rank, 0);
            it.record(location, Event::Enter(region))?;
            it.record(location, Event::CollectiveBegin)?;
            last = last.max(it.locations[location].now);
            Ok(())
        })?;
        let handed_on = self.had_a_turn_since(last);
        self.each_rank(|it, rank| {
            let location = it.layout.location(rank, 0);
            let delay = it.program.network.collective;
            let takes = delay.draw(&mut it.locations[location].random);
            let done = handed_on.saturating_add(takes);
            it.record_from(location, done, end)?;
            it.statistics.delayed(it.locations[location].now - last);
            it.record(location, Event::Leave(region))
        })?;
        self.statistics.collectives += 1;
        Ok(())
    }

    /// When all processes have had their processors at or after a certain time.
    fn had_a_turn_since(&self, time: u64) -> u64 {
        let ranks = 0..self.layout.ranks;
        let masters = ranks.map(|rank| self.layout.location(rank, 0));
        let turn = |location: usize| self.locations[location].processor.clone().at(time);
        masters.map(turn).max().unwrap_or(time)
    }

    fn describe(&self, kind: Collective) -> (RegionRef, Event) {
        let (region, op, bytes) = match kind {
            Collective::Barrier => (region::BARRIER, CollectiveOp::BARRIER, 0),
            Collective::Allreduce => {
                let bytes = REDUCED * u64::from(self.layout.ranks);
                (region::ALLREDUCE, CollectiveOp::ALLREDUCE, bytes)
            }
        };
        let end = Event::CollectiveEnd(writer::Collective {
            op,
            comm: WORLD,
            root: CollectiveRoot::None,
            sent: bytes,
            received: bytes,
        });
        (region, end)
    }

    /// The directions in which a rank has neighbours.
    fn directions(&self, rank: u32) -> impl DoubleEndedIterator<Item = usize> + use<S> {
        let neighbours = self.ranks[rank as usize].neighbours;
        (0..DIRECTIONS).filter(move |&direction| neighbours[direction].is_some())
    }

    fn sending_thread(&self, direction: usize) -> u32 {
        if self.program.threads_send {
            direction as u32 % self.layout.threads
        } else {
            0
        }
    }

    /// Further threads begin an iteration with the first, not before it.
    fn start_workers(&mut self, rank: u32) {
        let master = self.locations[self.layout.location(rank, 0)].now;
        for thread in 1..self.layout.threads {
            let worker = &mut self.locations[self.layout.location(rank, thread)];
            worker.now = worker.now.max(master);
        }
    }

    fn next_request(&mut self, rank: u32) -> u64 {
        let rank = &mut self.ranks[rank as usize];
        rank.requests += 1;
        rank.requests
    }

    /// The message sent in a direction carries its number as tag.
    fn message_to(&self, rank: u32, direction: usize) -> Message {
        self.message(rank, direction, direction)
    }

    /// The neighbour sent it in the direction opposite to where it is.
    fn message_from(&self, rank: u32, direction: usize) -> Message {
        self.message(rank, direction, opposite(direction))
    }

    fn message(&self, rank: u32, direction: usize, tag: usize) -> Message {
        Message {
            peer: self.ranks[rank as usize].neighbours[direction].unwrap_or(rank),
            comm: WORLD,
            tag: tag as u32,
            length: self.program.message_bytes,
        }
    }

    /// Time goes by.
    fn pass(&mut self, location: usize, duration: Duration) {
        let location = &mut self.locations[location];
        let takes = duration.draw(&mut location.random);
        location.now = location.processor.run(location.now, takes);
    }

    /// A call in which one thing happens.
    fn call(&mut self, location: usize, region: RegionRef, event: Event) -> Result<()> {
        self.record(location, Event::Enter(region))?;
        self.record(location, event)?;
        self.record(location, Event::Leave(region))
    }

    /// The next event of a location.
    fn record(&mut self, location: usize, event: Event) -> Result<()> {
        self.record_from(location, 0, event)
    }

    /// The next event of a location, not before a certain time.
    fn record_from(&mut self, location: usize, earliest: u64, event: Event) -> Result<()> {
        let state = &mut self.locations[location];
        let step = STEP.0 + state.random.bits() % STEP.1;
        let ready = state.processor.run(state.now, step);
        state.now = state.processor.at(ready.max(earliest));
        self.statistics.events += 1;
        self.sink.event(location, state.now, event)
    }
}

/// Up and down, left and right.
fn opposite(direction: usize) -> usize {
    direction ^ 1
}

fn neighbours(rows: u32, columns: u32, periodic: bool, rank: u32) -> [Option<u32>; DIRECTIONS] {
    let (row, column) = (rank / columns, rank % columns);
    let before = |at: u32, size: u32| match at {
        0 => (periodic && size > 1).then_some(size - 1),
        _ => Some(at - 1),
    };
    let after = |at: u32, size: u32| match at + 1 {
        next if next < size => Some(next),
        _ => (periodic && size > 1).then_some(0),
    };
    let in_column = |row: u32| row * columns + column;
    let in_row = |column: u32| row * columns + column;
    [
        before(row, rows).map(in_column),
        after(row, rows).map(in_column),
        before(column, columns).map(in_row),
        after(column, columns).map(in_row),
    ]
}

#[cfg(test)]
mod tests {
    use super::neighbours;

    #[test]
    fn the_grid_is_a_torus() {
        let torus = |(rows, columns), rank| neighbours(rows, columns, true, rank);
        assert_eq!(torus((3, 4), 0), [Some(8), Some(4), Some(3), Some(1)]);
        assert_eq!(torus((2, 2), 0), [Some(2), Some(2), Some(1), Some(1)]);
        assert_eq!(torus((1, 2), 1), [None, None, Some(0), Some(0)]);
        assert_eq!(torus((1, 1), 0), [None; 4]);
    }

    #[test]
    fn or_it_has_a_rim() {
        let open = |(rows, columns), rank| neighbours(rows, columns, false, rank);
        assert_eq!(open((3, 4), 0), [None, Some(4), None, Some(1)]);
        assert_eq!(open((3, 4), 6), [Some(2), Some(10), Some(5), Some(7)]);
        assert_eq!(open((2, 2), 3), [Some(1), None, Some(2), None]);
        assert_eq!(open((1, 1), 0), [None; 4]);
    }
}
