//! Runs a random parallel program in true time, and so knows what depends on
//! what. Nothing here uses the library's own matching.
//!
//! The program is made up while it runs: step by step some location does
//! something that MPI would allow at that point. Messages of one channel
//! (communicator, source, destination, tag) are received in the order in which
//! receives took their places in line; a wildcard receive joins the line of a
//! channel when it gets its message, if nobody behind it did so before.

use std::collections::BTreeMap;

use retime::LocationIndex;
use retime::causality::{EventNode, Message};

use super::ids::Ids;
use super::layout::Layout;
use super::rng::Rng;
use super::trace::{Call, Edge};

/// No message and no collective takes less than this, in units of true time.
pub const LEAST_DELAY: u64 = 400;

/// A recorded event in true time: location and place among its nodes.
pub type Node = (usize, u32);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Channel {
    communicator: u32,
    source: usize,
    destination: usize,
    tag: u32,
}

#[derive(Default)]
struct Line {
    /// Each send, and when its message arrives.
    sends: Vec<(Node, u64)>,
    /// How many sends have a receive in line.
    taken: usize,
    /// When the last place in line was taken.
    last_post: u64,
    /// The receives in line, by the place of their message.
    last_send: u64,
    last_arrival: u64,
}

/// A send whose request is not complete.
struct OpenSend {
    request: u64,
    channel: Channel,
    node: Node,
}

/// A receive that waits for its message.
#[derive(Clone, Copy)]
struct Posted {
    /// Of the receive; of a probed message its number, until a receive is posted.
    id: u64,
    at: u64,
    kind: PostedKind,
}

#[derive(Clone, Copy)]
enum PostedKind {
    /// Waits for message number `place` of a channel.
    Bound(Channel, usize),
    Wildcard,
    /// Has been probed: its message is there.
    Probed(Channel, usize),
    /// Has been probed, and its receive is posted.
    ProbedPosted(Channel, usize),
}

pub struct Program<'a> {
    pub(super) layout: &'a Layout,
    pub(super) rng: Rng,
    /// By location, each with its true time.
    pub events: Vec<Vec<(u64, Call)>>,
    pub messages: Vec<(Node, Node)>,
    pub collectives: Vec<(Node, Node)>,
    pub(super) now: Vec<u64>,
    pub(super) nodes: Vec<u32>,
    lines: BTreeMap<Channel, Line>,
    posted: Vec<Vec<Posted>>,
    open_sends: Vec<Vec<OpenSend>>,
    pub(super) pending: Vec<Vec<super::collective::Pending>>,
    /// Last begin of each member (endpoint) on each communicator.
    pub(super) last_begin: BTreeMap<(u32, usize), u64>,
    /// By location.
    pub(super) requests: Vec<Ids>,
    probed_messages: Vec<Ids>,
}

impl<'a> Program<'a> {
    /// Runs `steps` steps, then lets everything come to its end.
    pub fn run(layout: &'a Layout, steps: usize, seed: u64) -> Self {
        let locations = layout.info.locations.len();
        let mut program = Self {
            layout,
            rng: Rng::new(seed),
            events: vec![Vec::new(); locations],
            messages: Vec::new(),
            collectives: Vec::new(),
            now: vec![0; locations],
            nodes: vec![0; locations],
            lines: BTreeMap::new(),
            posted: (0..locations).map(|_| Vec::new()).collect(),
            open_sends: (0..locations).map(|_| Vec::new()).collect(),
            pending: (0..locations).map(|_| Vec::new()).collect(),
            last_begin: BTreeMap::new(),
            requests: vec![Ids::default(); locations],
            probed_messages: vec![Ids::default(); locations],
        };
        for _ in 0..steps {
            program.step();
        }
        program.settle();
        program
    }

    /// True dependencies by node number, sorted.
    pub fn numbered(&self, edges: &[(Node, Node)]) -> Vec<Edge> {
        let mut first = vec![0];
        for nodes in &self.nodes {
            first.push(first.last().unwrap_or(&0) + nodes);
        }
        let number = |(location, place): Node| EventNode(first[location] + place);
        let mut edges: Vec<Edge> = edges
            .iter()
            .map(|&(cause, effect)| (number(cause), number(effect)))
            .collect();
        edges.sort_unstable();
        edges
    }

    fn step(&mut self) {
        let location = self.rng.index(self.now.len());
        match self.rng.below(20) {
            0..=5 => self.send(location),
            6..=8 => self.receive(location),
            9 | 10 => self.post(location),
            11 => self.post_wildcard(location),
            12 | 13 => self.complete_some(location),
            14 => self.probe(location),
            15 => self.cancel(location),
            16 => self.internal(location),
            17 | 18 => self.collective(),
            _ => self.complete_collective(location),
        }
    }

    /// The true time of the next event of `location`, not before `earliest`.
    /// No two events of a trace share a moment.
    pub(super) fn advance(&mut self, location: usize, earliest: u64) -> u64 {
        let gap = match self.rng.below(8) {
            0 => 1,
            1 => self.rng.below(100_000),
            _ => self.rng.below(2_000),
        };
        let earliest = earliest.max(self.now[location] + gap);
        let places = self.now.len() as u64;
        let time = earliest.next_multiple_of(places) + location as u64;
        self.now[location] = time + 1;
        time
    }

    pub(super) fn record(&mut self, location: usize, time: u64, call: Call) -> Node {
        self.events[location].push((time, call));
        let place = self.nodes[location];
        self.nodes[location] += u32::from(call.role().is_some());
        self.give_back(location, call);
        (location, place)
    }

    /// MPI libraries use the handle of a request again once it is complete, and
    /// that of a probed message once its receive is posted.
    fn give_back(&mut self, location: usize, call: Call) {
        match call {
            Call::SendDone(request)
            | Call::Complete(_, request)
            | Call::ProbedComplete(request)
            | Call::Cancel(request)
            | Call::CompleteCollective(_, request) => self.requests[location].give_back(request),
            Call::ProbedReceive(message) | Call::ProbedPost { message, .. } => {
                self.probed_messages[location].give_back(message);
            }
            _ => {}
        }
    }

    fn internal(&mut self, location: usize) {
        let time = self.advance(location, 0);
        self.record(location, time, Call::Internal);
    }

    /// Some channel that leads away from (or, without wildcard, to) `location`.
    fn channel(&mut self, from: usize, to: usize) -> Option<Channel> {
        let source = self.layout.endpoint(from);
        let destination = self.layout.endpoint(to);
        let communicator = self.layout.talk(&mut self.rng, source, destination)?;
        let mut tag = self.rng.below(3) as u32;
        if !self.layout.threads_share_channels {
            tag += 10 * (1 + from as u32) + 1_000 * (1 + to as u32);
        }
        Some(Channel {
            communicator,
            source,
            destination,
            tag,
        })
    }

    fn random_location(&mut self) -> usize {
        self.rng.index(self.now.len())
    }

    fn send(&mut self, from: usize) {
        let to = self.random_location();
        let Some(channel) = self.channel(from, to) else {
            return;
        };
        let request = self.rng.once_in(2).then(|| self.requests[from].take());
        let earliest = self.lines.entry(channel).or_default().last_send + 1;
        let time = self.advance(from, earliest);
        let message = message(channel, channel.destination);
        let node = self.record(from, time, Call::Send(message, request));
        let delay = LEAST_DELAY + self.rng.below(3_000);
        let line = self.lines.entry(channel).or_default();
        line.last_send = time;
        line.last_arrival = (time + delay).max(line.last_arrival + 1);
        line.sends.push((node, line.last_arrival));
        if let Some(request) = request {
            self.open_sends[from].push(OpenSend {
                request,
                channel,
                node,
            });
        }
    }

    /// Whether `location` may receive from `channel`: any thread of the rank,
    /// or only the one that the tag means.
    fn may_receive(&self, location: usize, channel: Channel) -> bool {
        channel.destination == self.layout.endpoint(location)
            && (self.layout.threads_share_channels || channel.tag / 1_000 == 1 + location as u32)
    }

    /// A channel with a message for `location` that nobody is in line for.
    fn channel_with_message(&mut self, location: usize, posted: u64) -> Option<Channel> {
        let open = self.lines.iter().filter(|(channel, line)| {
            line.taken < line.sends.len()
                && self.may_receive(location, **channel)
                && line.last_post < posted
        });
        let open: Vec<Channel> = open.map(|(channel, _)| *channel).collect();
        self.rng.pick(&open).copied()
    }

    /// Takes the next place in line.
    fn take_place(&mut self, channel: Channel, posted: u64) -> usize {
        let line = self.lines.entry(channel).or_default();
        line.last_post = posted;
        line.taken += 1;
        line.taken - 1
    }

    fn arrival(&self, channel: Channel, place: usize) -> Option<u64> {
        let send = self.lines.get(&channel)?.sends.get(place)?;
        Some(send.1)
    }

    fn matched(&mut self, channel: Channel, place: usize, receive: Node) {
        if let Some(line) = self.lines.get(&channel)
            && let Some(send) = line.sends.get(place)
        {
            self.messages.push((send.0, receive));
        }
    }

    /// A blocking receive; its record is its place in line.
    fn receive(&mut self, location: usize) {
        let Some(channel) = self.channel_with_message(location, u64::MAX) else {
            return;
        };
        let line = &self.lines[&channel];
        let earliest = line.sends[line.taken].1.max(line.last_post + 1);
        let time = self.advance(location, earliest);
        let place = self.take_place(channel, time);
        let call = Call::Receive(message(channel, channel.source));
        let node = self.record(location, time, call);
        self.matched(channel, place, node);
    }

    fn post(&mut self, to: usize) {
        let from = self.random_location();
        let Some(channel) = self.channel(from, to) else {
            return;
        };
        let earliest = self.lines.entry(channel).or_default().last_post + 1;
        let at = self.advance(to, earliest);
        let id = self.requests[to].take();
        self.record(to, at, Call::Post(id));
        let place = self.take_place(channel, at);
        let kind = PostedKind::Bound(channel, place);
        self.posted[to].push(Posted { id, at, kind });
    }

    fn post_wildcard(&mut self, location: usize) {
        let at = self.advance(location, 0);
        let id = self.requests[location].take();
        self.record(location, at, Call::Post(id));
        let kind = PostedKind::Wildcard;
        self.posted[location].push(Posted { id, at, kind });
    }

    /// `MPI_Mprobe`, with the receive of the message later.
    fn probe(&mut self, location: usize) {
        let Some(channel) = self.channel_with_message(location, u64::MAX) else {
            return;
        };
        let line = &self.lines[&channel];
        let earliest = line.sends[line.taken].1.max(line.last_post + 1);
        let at = self.advance(location, earliest);
        let place = self.take_place(channel, at);
        let probed = self.probed_messages[location].take();
        let call = Call::Probe(message(channel, channel.source), probed);
        self.record(location, at, call);
        let (id, kind) = if self.rng.once_in(2) {
            let request = self.requests[location].take();
            let time = self.advance(location, 0);
            let call = Call::ProbedPost {
                message: probed,
                request,
            };
            self.record(location, time, call);
            (request, PostedKind::ProbedPosted(channel, place))
        } else {
            (probed, PostedKind::Probed(channel, place))
        };
        self.posted[location].push(Posted { id, at, kind });
    }

    fn complete_some(&mut self, location: usize) {
        if !self.posted[location].is_empty() {
            let which = self.rng.index(self.posted[location].len());
            self.complete(location, which);
        }
    }

    /// Completes a posted receive if its message is there.
    fn complete(&mut self, location: usize, which: usize) -> bool {
        let Posted { id, at, kind } = self.posted[location][which];
        let (channel, place) = match kind {
            PostedKind::Bound(channel, place)
            | PostedKind::Probed(channel, place)
            | PostedKind::ProbedPosted(channel, place) => (channel, place),
            PostedKind::Wildcard => match self.channel_with_message(location, at) {
                Some(channel) => (channel, self.take_place(channel, at)),
                None => return false,
            },
        };
        let Some(arrival) = self.arrival(channel, place) else {
            return false;
        };
        self.posted[location].remove(which);
        let time = self.advance(location, arrival);
        let call = match kind {
            PostedKind::Probed(..) => Call::ProbedReceive(id),
            PostedKind::ProbedPosted(..) => Call::ProbedComplete(id),
            _ => Call::Complete(message(channel, channel.source), id),
        };
        let node = self.record(location, time, call);
        self.matched(channel, place, node);
        true
    }

    /// Cancels a receive or a send, or completes a send.
    fn cancel(&mut self, location: usize) {
        if self.rng.once_in(2) && !self.posted[location].is_empty() {
            let which = self.rng.index(self.posted[location].len());
            self.cancel_receive(location, which);
        } else if !self.open_sends[location].is_empty() {
            let which = self.rng.index(self.open_sends[location].len());
            let open = self.open_sends[location].remove(which);
            let time = self.advance(location, 0);
            let line = self.lines.entry(open.channel).or_default();
            let is_last = line.sends.last().is_some_and(|send| send.0 == open.node);
            if is_last && line.taken < line.sends.len() {
                line.sends.pop();
                self.record(location, time, Call::Cancel(open.request));
            } else {
                self.record(location, time, Call::SendDone(open.request));
            }
        }
    }

    fn cancel_receive(&mut self, location: usize, which: usize) -> bool {
        let Posted { id, kind, .. } = self.posted[location][which];
        match kind {
            PostedKind::Probed(..) | PostedKind::ProbedPosted(..) => return false,
            PostedKind::Wildcard => {}
            PostedKind::Bound(channel, place) => {
                let line = self.lines.entry(channel).or_default();
                // Only the last in line can have been left without a message.
                if place + 1 != line.taken || place < line.sends.len() {
                    return false;
                }
                line.taken -= 1;
            }
        }
        self.posted[location].remove(which);
        let time = self.advance(location, 0);
        self.record(location, time, Call::Cancel(id));
        true
    }

    /// Completes or cancels all that is under way.
    fn settle(&mut self) {
        for location in 0..self.now.len() {
            while self.complete_collective_of(location) {}
        }
        let mut progress = true;
        while progress {
            progress = false;
            for location in 0..self.now.len() {
                for which in (0..self.posted[location].len()).rev() {
                    progress |=
                        self.complete(location, which) || self.cancel_receive(location, which);
                }
            }
        }
        for location in 0..self.now.len() {
            while self.channel_with_message(location, u64::MAX).is_some() {
                self.receive(location);
            }
            self.internal(location);
        }
    }
}

/// The envelope as the side that faces `peer` records it.
fn message(channel: Channel, peer: usize) -> Message {
    Message {
        communicator: channel.communicator,
        peer: LocationIndex(peer as u32),
        tag: channel.tag,
    }
}
