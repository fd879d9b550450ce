//! Carries messages, and matches them with receives as MPI does.
//!
//! What leaves a process for another arrives in that order, whatever else happens. A
//! message that arrives goes to the receive that was posted first of those that take it,
//! or waits; a receive that is posted takes the message that has waited longest of those
//! that it takes.

use std::collections::VecDeque;

use retime_otf2::{CommRef, EventData};

use super::machine::{Known, Place};
use super::program::Proof;
use super::random::Random;
use super::world::World;

#[derive(Clone, Debug)]
pub(super) struct Send {
    pub(super) comm: CommRef,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) tag: u32,
    pub(super) length: u64,
    /// The channel, as far as what is used of it is concerned.
    pub(super) channel: usize,
    /// Its record.
    pub(super) recorded: Option<Place>,
    pub(super) departed: Option<Known>,
    /// What was known where its receive was posted.
    pub(super) accepted: Option<Known>,
}

/// How a receive is recorded.
#[derive(Clone, Copy, Debug)]
pub(super) enum How {
    Plain,
    Request(u64),
    Probed(u64),
    ProbedRequest(u64),
}

#[derive(Clone, Debug)]
pub(super) struct Receive {
    pub(super) comm: CommRef,
    /// From anyone, if it does not say from whom.
    pub(super) from: Option<usize>,
    pub(super) tag: Option<u32>,
    pub(super) how: How,
    /// The number of the message, if it is probed.
    pub(super) message: u64,
    pub(super) posted: Option<Known>,
    pub(super) send: Option<usize>,
    pub(super) cancelled: bool,
}

pub(super) struct Network {
    pub(super) sends: Vec<Send>,
    pub(super) receives: Vec<Receive>,
    /// By sender and receiver.
    under_way: Vec<((usize, usize), VecDeque<usize>)>,
    /// By receiver: messages that wait, and receives.
    arrived: Vec<Vec<usize>>,
    posted: Vec<Vec<usize>>,
}

impl Network {
    pub(super) fn new(sends: Vec<Send>, receives: Vec<Receive>, processes: usize) -> Self {
        Self {
            sends,
            receives,
            under_way: Vec::new(),
            arrived: vec![Vec::new(); processes],
            posted: vec![Vec::new(); processes],
        }
    }

    pub(super) fn depart(&mut self, send: usize, from: usize, known: Known) {
        self.sends[send].departed = Some(known);
        let way = (from, self.sends[send].to);
        match self.under_way.iter_mut().find(|it| it.0 == way) {
            Some((_, queue)) => queue.push_back(send),
            None => self.under_way.push((way, [send].into())),
        }
    }

    /// Whether some message has arrived.
    pub(super) fn deliver(&mut self, random: &mut Random) -> bool {
        self.under_way.retain(|(_, queue)| !queue.is_empty());
        if self.under_way.is_empty() {
            return false;
        }
        let way = random.below(self.under_way.len());
        let ((_, to), queue) = &mut self.under_way[way];
        let (to, send) = (*to, queue.pop_front().unwrap());
        let takes = |it: &usize| self.takes(*it, send);
        match self.posted[to].iter().position(takes) {
            Some(place) => {
                let receive = self.posted[to].remove(place);
                self.join(receive, send);
            }
            None => self.arrived[to].push(send),
        }
        true
    }

    fn takes(&self, receive: usize, send: usize) -> bool {
        let (it, send) = (&self.receives[receive], &self.sends[send]);
        it.comm == send.comm
            && it.from.is_none_or(|from| from == send.from)
            && it.tag.is_none_or(|tag| tag == send.tag)
    }

    fn join(&mut self, receive: usize, send: usize) {
        self.receives[receive].send = Some(send);
        let known = self.receives[receive].posted.clone().unwrap_or_default();
        self.sends[send].accepted = Some(known);
    }

    pub(super) fn post(&mut self, receive: usize, process: usize, known: Known) {
        self.receives[receive].posted = Some(known);
        let arrived = self.arrived[process].iter();
        match arrived.copied().position(|it| self.takes(receive, it)) {
            Some(place) => {
                let send = self.arrived[process].remove(place);
                self.join(receive, send);
            }
            None => self.posted[process].push(receive),
        }
    }

    /// Whether a matching probe has found something.
    pub(super) fn probe(&mut self, receive: usize, process: usize, known: Known) -> bool {
        let arrived = self.arrived[process].iter();
        let Some(place) = arrived.copied().position(|it| self.takes(receive, it)) else {
            return false;
        };
        let send = self.arrived[process].remove(place);
        self.receives[receive].posted = Some(known);
        self.join(receive, send);
        true
    }

    /// What was known where the message was sent, with its record.
    pub(super) fn matched(&self, receive: usize) -> Option<(Known, Proof)> {
        if self.receives[receive].cancelled {
            return Some((Known::default(), Proof::Unused));
        }
        let send = &self.sends[self.receives[receive].send?];
        let mut known = send.departed.clone()?;
        known.place = send.recorded;
        Some((known, Proof::Message(send.channel)))
    }

    /// Whether there was still something to cancel.
    pub(super) fn cancel(&mut self, receive: usize, process: usize) -> bool {
        if self.receives[receive].send.is_some() {
            return false;
        }
        self.posted[process].retain(|&it| it != receive);
        self.receives[receive].cancelled = true;
        true
    }

    /// Posts the second receive if the first one was cancelled; or else there is none.
    pub(super) fn post_instead(
        &mut self,
        first: usize,
        second: usize,
        process: usize,
        known: Known,
    ) {
        if self.receives[first].cancelled {
            self.post(second, process, known);
        } else {
            self.receives[second].cancelled = true;
        }
    }

    pub(super) fn record(&self, receive: usize, world: &World) -> Option<EventData> {
        let it = &self.receives[receive];
        let send = &self.sends[it.send?];
        let sender = world.of(send.comm).rank(send.from);
        let (communicator, tag, length) = (send.comm, send.tag, send.length);
        Some(match it.how {
            How::Plain => EventData::MpiRecv {
                sender,
                communicator,
                tag,
                length,
            },
            How::Request(request) => EventData::MpiIrecv {
                sender,
                communicator,
                tag,
                length,
                request,
            },
            How::Probed(message) => EventData::MpiMrecv { message, length },
            How::ProbedRequest(request) => EventData::MpiImrecv { request, length },
        })
    }

    pub(super) fn record_probe(&self, receive: usize, world: &World) -> EventData {
        let it = &self.receives[receive];
        let send = &self.sends[it.send.unwrap()];
        EventData::MpiProbe {
            sender: world.of(send.comm).rank(send.from),
            communicator: send.comm,
            tag: send.tag,
            message: it.message,
        }
    }
}
