//! Programs that a [machine](super::machine) executes: the steps of each location, and what they share.

use retime_otf2::{CommRef, EventData, Paradigm};

use super::messages::Channel;
use super::network::{Receive, Send};
use super::world::World;

/// The proof of a dependency; one that is used has to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// None that records show.
    Unused,
    Message(usize),
    /// The posting of a receive, for the completion of its send.
    Posting(usize),
    Collective(CommRef),
    /// A fence of a window on that communicator.
    Fence(CommRef),
    Team(CommRef),
    Handover,
    Launch,
}

/// Something that is waited for.
pub(super) type Token = usize;

/// The next action of a location.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Record(EventData),
    Give(Token),
    Await(Vec<Token>, Proof),
    /// A send that was recorded just now leaves.
    Sent(usize),
    Depart(usize),
    Accepted(usize, Proof),
    Post(usize),
    Probe(usize),
    Matched(usize),
    /// A receive is recorded, or its probe.
    Received(usize),
    Probed(usize),
    Cancel(usize, u64),
    /// Posts a receive if another one was cancelled.
    Instead(usize, usize),
    Acquire(usize),
    Release(usize),
    Submit(usize, Task),
    /// Works on a task of a pool, if there is one.
    Work(usize),
    /// Works until all have come and nothing is left to do: a barrier, by its number, with
    /// the pool and how the others say that they have come.
    Drain(usize, usize, Vec<Token>, Proof),
    Launch(usize, Item),
    /// Waits for streams.
    Synchronise(Vec<usize>),
    Recording(bool),
}

/// A task of a team.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) team: CommRef,
    pub(super) thread: u32,
    pub(super) generation: u32,
    /// True if nothing else has its numbers.
    pub(super) is_numbered: bool,
}

impl Task {
    pub(super) fn create(&self) -> EventData {
        EventData::ThreadTaskCreate {
            thread_team: self.team,
            creating_thread: self.thread,
            generation_number: self.generation,
        }
    }

    /// The proof `by`, if the task can be told from others.
    pub(super) fn proof(&self, by: Proof) -> Proof {
        if self.is_numbered { by } else { Proof::Unused }
    }

    pub(super) fn switch(&self) -> EventData {
        EventData::ThreadTaskSwitch {
            thread_team: self.team,
            creating_thread: self.thread,
            generation_number: self.generation,
        }
    }

    pub(super) fn complete(&self) -> EventData {
        EventData::ThreadTaskComplete {
            thread_team: self.team,
            creating_thread: self.thread,
            generation_number: self.generation,
        }
    }
}

/// Work of a stream: the events at its begin and its end.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) begin: Vec<EventData>,
    pub(super) end: Vec<EventData>,
}

pub(super) struct LockKind {
    pub(super) paradigm: Paradigm,
    pub(super) number: u32,
    /// True if whoever acquires it again gets a number of its own.
    pub(super) counts_again: bool,
}

/// A program for the machine.
pub(super) struct Program {
    pub(super) world: World,
    pub(super) steps: Vec<Vec<Step>>,
    pub(super) tokens: usize,
    pub(super) sends: Vec<Send>,
    pub(super) receives: Vec<Receive>,
    pub(super) locks: Vec<LockKind>,
    pub(super) pools: usize,
    pub(super) channels: Vec<Channel>,
}
