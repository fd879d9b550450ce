//! Which receive belongs to which send.
//!
//! MPI does not let messages overtake: on one *channel* (communicator, source,
//! destination, tag) the n-th posted receive gets the n-th message sent. So a
//! channel is a queue: sends enter it in order, receives leave it in order of
//! posting, and wildcard receives need no care because a record carries the
//! source and tag that were really matched. Threads that call for one rank share
//! its channels, in order of time; within one tick their order is not known, and
//! taken to be that of the locations.
//!
//! Where a channel has more sends than receives (a lost record, a run that was
//! cut off), it cannot be told which send is the unmatched one. The pairs are then
//! chosen such that *every dependency is certain*: let `S` sends face `R`
//! receives.
//!
//! - `S >= R`: receive `j` really belongs to send `j` or a later one, and send
//!   `j` precedes those. Pairing with send `j` is weaker than the truth at most.
//! - `S < R`: receive `j` really belongs to send `j - (R - S)` or a later one;
//!   the first `R - S` receives stay alone.
//!
//! ```
//! use retime::causality::{Causality, CausalityOptions, EventNode, LogBuilder, Message};
//! use retime::{LocationIndex, Timestamp};
//! # use retime::{Communicator, Location, Members, Process, TickRate, TraceInfo};
//! # let location = |id: u32| Location { id: id.into(), name: String::new(), process: 0, endpoint: LocationIndex(id) };
//! # let info = TraceInfo {
//! #     rate: TickRate::per_second(1_000_000_000).unwrap(),
//! #     locations: vec![location(0), location(1)],
//! #     processes: vec![Process { name: String::new(), node: None, creator: None }],
//! #     nodes: vec![],
//! #     communicators: vec![Communicator { name: "world".into(), members: Members::Ranks([LocationIndex(0), LocationIndex(1)].into()) }],
//! # };
//! let message = |peer| Message { communicator: 0, peer: LocationIndex(peer), tag: 1 };
//! let mut sender = LogBuilder::new(LocationIndex(0));
//! sender.send(0, Timestamp(10), message(1), None);
//! sender.send(1, Timestamp(20), message(1), None);
//! let sender = sender.finish(2, Timestamp(10), Timestamp(20))?;
//! let mut receiver = LogBuilder::new(LocationIndex(1));
//! receiver.receive_posted(0, Timestamp(1), 100);
//! receiver.receive_posted(1, Timestamp(2), 101);
//! receiver.receive_completed(2, Timestamp(25), message(0), 101); // completes first, posted second
//! receiver.receive_completed(3, Timestamp(30), message(0), 100);
//! let receiver = receiver.finish(4, Timestamp(1), Timestamp(30))?;
//!
//! let causality = Causality::build(&info, vec![sender, receiver], CausalityOptions::default())?;
//! // Nodes 0 and 1 are the sends; 2 is the completion of request 101, 3 of request 100.
//! assert_eq!(causality.message_source(EventNode(3)), Some(EventNode(0)));
//! assert_eq!(causality.message_source(EventNode(2)), Some(EventNode(1)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: MPI standard, "Semantics of Point-to-Point Communication".

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use retime_model::{ChannelPlace, Defect, Defects, LocationIndex, LogColumns, Message, TraceInfo};

use super::nodes::Nodes;
use super::{EventNode, PackedOption, Partner};

/// One direction of talk between two endpoints.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Channel {
    communicator: u32,
    source: LocationIndex,
    destination: LocationIndex,
    tag: u32,
}

/// The waiting line of a channel.
#[derive(Clone, Copy)]
struct Queue {
    sends: u32,
    receives: u32,
    /// Oldest and newest send without a receive; linked through `partner`.
    head: PackedOption<EventNode>,
    tail: PackedOption<EventNode>,
}

/// The other end of each message, by node.
pub(super) fn pair(
    info: &TraceInfo,
    logs: &[LogColumns],
    nodes: &Nodes,
    defects: &mut Defects,
) -> Vec<Partner> {
    let mut partner = vec![Partner::NONE; nodes.len()];
    let Lines {
        mut queues,
        as_sender,
        as_receiver,
    } = Lines::new(info, logs);
    let groups = by_endpoint(info, logs);
    for group in &groups {
        in_order(
            group,
            logs,
            |log| &log.sends,
            |log, i| {
                nodes
                    .timestamp(nodes.of_log(log, logs[log].sends[i].node))
                    .0
            },
            |log, line| {
                let send = nodes.of_log(log, line.node);
                if let Some(queue) = as_sender[log][line.channel.index()] {
                    queues[queue].enqueue(send, &mut partner);
                }
            },
        );
    }
    for group in &groups {
        in_order(
            group,
            logs,
            |log| &log.receives,
            |log, i| logs[log].posted[i].0,
            |log, line| {
                let node = nodes.of_log(log, line.node);
                let queue = as_receiver[log][line.channel.index()];
                if !queue.is_some_and(|it| queues[it].serve(node, &mut partner)) {
                    defects.add(
                        Defect::ReceiveWithoutSend,
                        logs[log].location,
                        nodes.event(node),
                    );
                }
            },
        );
    }
    report_unmatched(queues, &mut partner, nodes, defects);
    partner
}

impl Queue {
    fn enqueue(&mut self, send: EventNode, partner: &mut [Partner]) {
        match self.tail.get() {
            Some(last) => partner[last.index()] = send.into(),
            None => self.head = send.into(),
        }
        self.tail = send.into();
    }

    /// Takes the oldest waiting send out.
    fn dequeue(&mut self, partner: &[Partner]) -> Option<EventNode> {
        let send = self.head.get()?;
        if self.head == self.tail {
            (self.head, self.tail) = (PackedOption::NONE, PackedOption::NONE);
        } else {
            self.head = partner[send.index()].node().into();
        }
        Some(send)
    }

    /// Gives the oldest waiting send to `receive`, unless it must stay alone.
    fn serve(&mut self, receive: EventNode, partner: &mut [Partner]) -> bool {
        if self.receives > self.sends {
            self.receives -= 1;
            return false;
        }
        let Some(send) = self.dequeue(partner) else {
            return false;
        };
        partner[send.index()] = receive.into();
        partner[receive.index()] = send.into();
        true
    }
}

/// Sends still waiting at the end have no receive.
fn report_unmatched(
    mut queues: Vec<Queue>,
    partner: &mut [Partner],
    nodes: &Nodes,
    defects: &mut Defects,
) {
    let mut unmatched: Vec<EventNode> = Vec::new();
    for queue in &mut queues {
        while let Some(send) = queue.dequeue(partner) {
            partner[send.index()] = Partner::NONE;
            unmatched.push(send);
        }
    }
    unmatched.sort_unstable();
    for send in unmatched {
        defects.add(
            Defect::SendWithoutReceive,
            nodes.location(send),
            nodes.event(send),
        );
    }
}

/// Positions of the logs that speak for the same endpoint, in order of logs.
pub(super) fn by_endpoint(info: &TraceInfo, logs: &[LogColumns]) -> Vec<Vec<usize>> {
    let mut group_of = FxHashMap::default();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (position, log) in logs.iter().enumerate() {
        let group = *group_of
            .entry(endpoint(info, log.location))
            .or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
        groups[group].push(position);
    }
    groups
}

/// The endpoint under which a location communicates.
pub(super) fn endpoint(info: &TraceInfo, location: LocationIndex) -> LocationIndex {
    let known = info.locations.get(location.as_usize());
    known.map_or(location, |location| location.endpoint)
}

/// Visits the lines of all logs of one endpoint as they took their places:
/// within a location in recorded order, between threads by time.
fn in_order<'a>(
    group: &[usize],
    logs: &'a [LogColumns],
    lines: impl Fn(&'a LogColumns) -> &'a [ChannelPlace],
    time: impl Fn(usize, usize) -> u64,
    mut visit: impl FnMut(usize, ChannelPlace),
) {
    if let &[log] = group {
        for &line in lines(&logs[log]) {
            visit(log, line);
        }
        return;
    }
    let mut heads: BinaryHeap<Reverse<(u64, usize, usize)>> = BinaryHeap::new();
    let head = |log: usize, at: usize| {
        (at < lines(&logs[log]).len()).then(|| Reverse((time(log, at), log, at)))
    };
    heads.extend(group.iter().filter_map(|&log| head(log, 0)));
    while let Some(Reverse((_, log, at))) = heads.pop() {
        visit(log, lines(&logs[log])[at]);
        heads.extend(head(log, at + 1));
    }
}

/// All channels of a trace, and how each log's local channels refer to them
/// when it sends and when it receives.
struct Lines {
    queues: Vec<Queue>,
    as_sender: Vec<Vec<Option<usize>>>,
    as_receiver: Vec<Vec<Option<usize>>>,
}

impl Lines {
    fn new(info: &TraceInfo, logs: &[LogColumns]) -> Self {
        let mut number = FxHashMap::default();
        let mut lines = Self {
            queues: Vec::new(),
            as_sender: Vec::new(),
            as_receiver: Vec::new(),
        };
        for log in logs {
            let own = endpoint(info, log.location);
            let outgoing = lines.refer(&mut number, log, &log.sends, |message| Channel {
                communicator: message.communicator,
                source: own,
                destination: message.peer,
                tag: message.tag,
            });
            for &(queue, count) in &outgoing {
                if let Some(queue) = queue {
                    lines.queues[queue].sends += count;
                }
            }
            let incoming = lines.refer(&mut number, log, &log.receives, |message| Channel {
                communicator: message.communicator,
                source: message.peer,
                destination: own,
                tag: message.tag,
            });
            for &(queue, count) in &incoming {
                if let Some(queue) = queue {
                    lines.queues[queue].receives += count;
                }
            }
            lines
                .as_sender
                .push(outgoing.into_iter().map(|(queue, _)| queue).collect());
            lines
                .as_receiver
                .push(incoming.into_iter().map(|(queue, _)| queue).collect());
        }
        lines
    }

    /// Queue and number of `entries` for each local channel of `log`.
    fn refer(
        &mut self,
        number: &mut FxHashMap<Channel, usize>,
        log: &LogColumns,
        entries: &[ChannelPlace],
        channel: impl Fn(&Message) -> Channel,
    ) -> Vec<(Option<usize>, u32)> {
        let mut counts = vec![0_u32; log.channels.len()];
        for line in entries {
            counts[line.channel.index()] += 1;
        }
        let numbered = log.channels.iter().zip(counts).map(|(message, count)| {
            if count == 0 {
                return (None, 0);
            }
            let queue = *number.entry(channel(message)).or_insert_with(|| {
                self.queues.push(Queue {
                    sends: 0,
                    receives: 0,
                    head: PackedOption::NONE,
                    tail: PackedOption::NONE,
                });
                self.queues.len() - 1
            });
            (Some(queue), count)
        });
        numbered.collect()
    }
}
