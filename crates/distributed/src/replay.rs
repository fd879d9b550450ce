//! A computation that goes from process to process in one pass.
//!
//! Each process [advances](Replay::advance) its clocks until all of them wait for values of
//! others, sends what others may wait for, a message to each, and goes on when something
//! arrives:
//!
//! ```text
//!  rank 0:  advance ---values--> advance ---------values--> done --Done--> all are: End
//!                     \         /                  /
//!  rank 1:  advance ---values--> advance ---values--> done ------Done-->
//! ```
//!
//! A message is sent where a cause is in it that the other has a ghost of, and once more when
//! all is computed; so there are never more of them than dependencies between processes, and
//! one for each pair:
//!
//! ```text
//!  messages <= causes with ghosts + bounds of ends + P (P - 1) + 2 (P - 1)
//! ```
//!
//! Effects that others have ghosts of nobody waits for: they travel with the next cause. Who is
//! done tells the root, which ends the pass when all are.
//!
//! Where events of several processes wait for each other in a cycle, all processes wait in the
//! end. The root, when nothing has come for a while, asks all how many messages they have sent
//! and received, and again when they have answered. If as many were sent until the second
//! answers as were received until the first ones, nothing was under way in between and
//! nobody had anything to do: then the trace needs to be in one process, which finds and
//! names the cycle.
//!
//! Sources: Linford 2007, section 4 (parallel replay); Mattern 1987, "Algorithms for distributed
//! termination detection", section 4 (four counters).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use retime::causality::{Ghosts, NeedsWhole, Progress, Replay, Stage};
use retime_model::Cancelled;

use crate::batch::Batch;
use crate::part::Part;
use crate::peers::Broken;

/// The process that hears who is done.
const ROOT: usize = 0;

/// After so long without a message it is looked whether anything can still come, and whether
/// the work is to be given up.
const PATIENCE: Duration = Duration::from_millis(100);

/// A message of the pass.
#[derive(Debug, Serialize, Deserialize)]
enum Message {
    Values(Batch),
    /// The sender is done.
    Done,
    /// The root asks how many messages with values there were, for the so-manyth time.
    Count(u32),
    /// So many were sent and received.
    Counted(u32, Counts),
    /// All are done, or else all wait for ever.
    End(bool),
    /// The sender has given up.
    Stopped(Broken),
}

/// Messages with values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Counts {
    sent: u64,
    received: u64,
}

/// How a pass has ended for this process.
enum End {
    AllDone,
    AllWait,
    Broken(Broken),
}

/// Takes part in a pass until all processes are done.
pub(crate) fn drive(part: &Part, replay: &mut dyn Replay) -> Result<(), Cancelled> {
    part.distribution.check()?;
    let mut pass = Pass::new(part);
    match pass.run(replay) {
        Ok(End::AllDone) => Ok(()),
        Ok(End::AllWait) => {
            part.distribution.needs_whole(NeedsWhole::Contradiction);
            Err(Cancelled)
        }
        Ok(End::Broken(why)) => {
            part.distribution.stop(why);
            Err(Cancelled)
        }
        Err(cancelled) => {
            // Who is not done hears it here; the others when they reduce something.
            let _ = pass.post_to_all(&Message::Stopped(Broken::Cancelled));
            Err(cancelled)
        }
    }
}

/// Where a value is to go: a process, and its place in what both exchange.
#[derive(Clone, Copy, Debug)]
struct Address {
    rank: u32,
    place: u32,
}

/// The addresses of what is exchanged, by its number.
struct Addresses {
    /// The entries of `n` are `first[n]..first[n + 1]`.
    first: Vec<u32>,
    all: Vec<Address>,
}

impl Addresses {
    fn new(by_rank: &[Vec<usize>]) -> Self {
        let most = by_rank.iter().flatten().copied().max();
        let mut first = vec![0; most.map_or(0, |it| it + 1) + 1];
        for &number in by_rank.iter().flatten() {
            first[number + 1] += 1;
        }
        for number in 1..first.len() {
            first[number] += first[number - 1];
        }
        let nowhere = Address { rank: 0, place: 0 };
        let mut all = vec![nowhere; by_rank.iter().map(Vec::len).sum()];
        let mut next = first.clone();
        for (rank, numbers) in (0..).zip(by_rank) {
            for (place, &number) in (0..).zip(numbers) {
                all[next[number] as usize] = Address { rank, place };
                next[number] += 1;
            }
        }
        Self { first, all }
    }

    fn of(&self, number: usize) -> &[Address] {
        match self.first.get(number..number + 2) {
            Some(&[from, to]) => &self.all[from as usize..to as usize],
            _ => &[],
        }
    }
}

/// Values that are to be sent to another process.
#[derive(Default)]
struct Outbox {
    batch: Batch,
    /// True if the other may wait for any of them.
    is_awaited: bool,
}

/// A pass, as one process takes part in it.
struct Pass<'a> {
    part: &'a Part,
    nodes: Addresses,
    slots: Addresses,
    outboxes: Vec<Outbox>,
    arrived: Ghosts,
    counts: Counts,
    /// How many processes are done, as far as this one was told.
    done: usize,
    /// The question of the root that is to be answered when there is nothing to do.
    asked: Option<u32>,
    census: Census,
}

/// Counts that the root asks all processes for.
#[derive(Default)]
struct Census {
    number: u32,
    /// How many have not answered.
    open: usize,
    /// The counts of all processes that have told theirs.
    counts: Counts,
    /// How many messages all had received when they were asked the time before.
    before: Option<u64>,
}

/// A message, if there was one, and what came of it.
enum Received {
    Nothing,
    Something,
    End(End),
}

impl<'a> Pass<'a> {
    fn new(part: &'a Part) -> Self {
        let nodes = part.sent.iter();
        let nodes = nodes.map(|of| of.iter().map(|it| it.index()).collect());
        let slots = part.owned.iter();
        let slots = slots.map(|of| of.iter().map(|it| it.index()).collect());
        Self {
            part,
            nodes: Addresses::new(&nodes.collect::<Vec<_>>()),
            slots: Addresses::new(&slots.collect::<Vec<_>>()),
            outboxes: part.sent.iter().map(|_| Outbox::default()).collect(),
            arrived: Ghosts::default(),
            counts: Counts::default(),
            done: 0,
            asked: None,
            census: Census::default(),
        }
    }

    /// Goes on, sends and receives until the pass has ended.
    fn run(&mut self, replay: &mut dyn Replay) -> Result<End, Cancelled> {
        let mut stage = Stage::Runs;
        loop {
            let was_done = stage == Stage::Done;
            if !was_done {
                stage = self.advance(replay)?;
            }
            let is_news = !was_done && stage == Stage::Done;
            let heard = self.send(stage, is_news).and_then(|()| self.hear(stage));
            match heard {
                Ok(Received::Something) => {}
                Ok(Received::Nothing) => replay.check()?,
                Ok(Received::End(end)) => return Ok(end),
                Err(why) => return Ok(End::Broken(why)),
            }
        }
    }

    /// Computes with what has arrived, and puts the results where they are sent from.
    fn advance(&mut self, replay: &mut dyn Replay) -> Result<Stage, Cancelled> {
        let arrived = std::mem::take(&mut self.arrived);
        let Progress {
            events,
            bounds,
            stage,
        } = replay.advance(&arrived)?;
        for told in events {
            for &Address { rank, place } in self.nodes.of(told.node.index()) {
                let outbox = &mut self.outboxes[rank as usize];
                outbox.batch.leads.push((place, told.lead));
                outbox.is_awaited |= told.is_cause;
            }
        }
        for &(slot, bound) in bounds {
            for &Address { rank, place } in self.slots.of(slot.index()) {
                let outbox = &mut self.outboxes[rank as usize];
                outbox.batch.bounds.push((place, bound));
                outbox.is_awaited = true;
            }
        }
        Ok(stage)
    }

    /// Sends what others may wait for, or all there is once all is computed.
    fn send(&mut self, stage: Stage, is_done: bool) -> Result<(), Broken> {
        let is_computed = matches!(stage, Stage::Listens | Stage::Done);
        for (rank, outbox) in self.outboxes.iter_mut().enumerate() {
            if outbox.is_awaited || is_computed && !outbox.batch.is_empty() {
                let batch = std::mem::take(outbox).batch.packed();
                self.counts.sent += 1;
                let distribution = &self.part.distribution;
                distribution.post(rank, &Message::Values(batch))?;
            }
        }
        match self.rank() {
            _ if !is_done => Ok(()),
            ROOT => {
                self.done += 1;
                Ok(())
            }
            _ => self.post(ROOT, &Message::Done),
        }
    }

    /// Takes up all messages that are there. Who has nothing to do waits for one.
    fn hear(&mut self, stage: Stage) -> Result<Received, Broken> {
        let is_idle = stage != Stage::Runs;
        if is_idle && let Some(number) = self.asked.take() {
            self.post(ROOT, &Message::Counted(number, self.counts))?;
        }
        let size = self.part.distribution.place().1;
        // Nothing is left under way that the next pass could take for its own.
        if self.done == size && self.census.open == 0 {
            self.post_to_all(&Message::End(true))?;
            return Ok(Received::End(End::AllDone));
        }
        let mut patience = if is_idle { PATIENCE } else { Duration::ZERO };
        let mut heard = Received::Nothing;
        while let Some((from, message)) = self.part.distribution.posted(patience)? {
            patience = Duration::ZERO;
            heard = Received::Something;
            if let Some(end) = self.take_up(from, message)? {
                return Ok(Received::End(end));
            }
        }
        match heard {
            Received::Nothing if !is_idle => Ok(Received::Something),
            Received::Nothing if self.rank() == ROOT && self.census.open == 0 => {
                self.count()?;
                Ok(heard)
            }
            _ => Ok(heard),
        }
    }

    fn take_up(&mut self, from: usize, message: Message) -> Result<Option<End>, Broken> {
        match message {
            Message::Values(batch) => {
                self.counts.received += 1;
                let arrived = self.unpacked(from, batch);
                arrived.ok_or(Broken::Lost(from)).map(|()| None)
            }
            Message::Done => {
                self.done += 1;
                Ok(None)
            }
            Message::Count(number) => {
                self.asked = Some(number);
                Ok(None)
            }
            Message::Counted(number, counts) => self.counted(number, counts),
            Message::End(true) => Ok(Some(End::AllDone)),
            Message::End(false) => Ok(Some(End::AllWait)),
            Message::Stopped(why) => Err(why),
        }
    }

    /// Values of another process, for the next advance; `None` if there are no such events.
    fn unpacked(&mut self, from: usize, batch: Batch) -> Option<()> {
        let (ghosts, away) = (self.part.ghosts.get(from)?, self.part.away.get(from)?);
        let Batch { leads, bounds } = batch.unpacked();
        for (place, lead) in leads {
            let node = *ghosts.get(place as usize)?;
            self.arrived.leads.push((node, lead));
        }
        for (place, bound) in bounds {
            let slot = *away.get(place as usize)?;
            self.arrived.bounds.push((slot, bound));
        }
        Some(())
    }

    /// Asks all processes for their counts.
    fn count(&mut self) -> Result<(), Broken> {
        self.census.number += 1;
        self.census.open = self.part.distribution.place().1 - 1;
        self.census.counts = self.counts;
        self.post_to_all(&Message::Count(self.census.number))
    }

    /// A process has answered the root; the end, if nothing can come any more.
    fn counted(&mut self, number: u32, counts: Counts) -> Result<Option<End>, Broken> {
        if number != self.census.number {
            return Ok(None);
        }
        let Census { open, before, .. } = self.census;
        let all = Counts {
            sent: self.census.counts.sent + counts.sent,
            received: self.census.counts.received + counts.received,
        };
        (self.census.open, self.census.counts) = (open.saturating_sub(1), all);
        if self.census.open > 0 {
            return Ok(None);
        }
        let size = self.part.distribution.place().1;
        if before == Some(all.sent) && self.done < size {
            self.post_to_all(&Message::End(false))?;
            return Ok(Some(End::AllWait));
        }
        self.census.before = Some(all.received).filter(|_| before.is_none());
        match self.census.before {
            Some(received) if received == all.sent => self.count().map(|()| None),
            _ => {
                self.census.before = None;
                Ok(None)
            }
        }
    }

    fn rank(&self) -> usize {
        self.part.distribution.place().0
    }

    fn post(&self, to: usize, message: &Message) -> Result<(), Broken> {
        self.part.distribution.post(to, message)
    }

    fn post_to_all(&self, message: &Message) -> Result<(), Broken> {
        let (rank, size) = self.part.distribution.place();
        let mut others = (0..size).filter(|it| *it != rank);
        others.try_for_each(|it| self.post(it, message))
    }
}
