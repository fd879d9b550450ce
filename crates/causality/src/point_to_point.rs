//! Which receive belongs to which send.
//!
//! MPI does not let messages overtake: on one *channel* (communicator, source,
//! destination, tag) the n-th posted receive gets the n-th message sent. So a
//! channel is a queue: sends enter it in order, receives leave it in order of
//! posting, and wildcard receives need no care because a record carries the
//! source and tag that were really matched. Threads that call for one rank share
//! its channels.
//!
//! Most channels are paired while they are visited. Those where the order of
//! receives, lengths or gaps in the recording leave a doubt are collected, and left to
//! `doubtful`.
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
//! use retime_causality::{Causality, CausalityOptions, EventNode, LogBuilder, Message};
//! use retime_model::{LocationIndex, Timestamp};
//! # let info = retime_testing::trace("0:\n1:")?.info;
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

use retime_model::{Cancelled, ChannelIndex, ChannelPlace, Defect, LogColumns, TraceInfo};

use crate::EventNode;
use crate::channels::{Channels, Pairing};
use crate::doubtful::{self, Doubtful, Sent};
use crate::endpoints::by_endpoint;
use crate::nodes::Nodes;
use crate::noted::Noted;
use crate::partner::Partner;
use crate::posting_order::Posted;
use crate::synchronous::{self, Acknowledgement};
use retime_model::pace::Pace;

/// Which events of messages belong together.
#[derive(Debug)]
pub(super) struct Paired {
    /// The other end of each message, by node.
    pub(super) partner: Vec<Partner>,
    /// Acknowledgements that synchronous sends prove besides.
    pub(super) acknowledged: Vec<Acknowledgement>,
}

/// Joins the ends of messages that have no ids.
pub(super) fn pair(
    info: &TraceInfo,
    logs: &[LogColumns],
    nodes: &Nodes,
    defects: &mut Noted<'_>,
    pace: &mut Pace<'_>,
) -> Result<Paired, Cancelled> {
    let mut partner = vec![Partner::NONE; nodes.len()];
    let Channels {
        mut lines,
        mut doubtful,
        as_sender,
        as_receiver,
        exact,
    } = Channels::new(info, logs);
    let groups = by_endpoint(info, logs);
    for group in &groups {
        let time = |log: usize, i: usize| {
            let node = nodes.of_log(log, logs[log].sends[i].node);
            nodes.timestamp(node).0
        };
        in_order(
            group,
            logs,
            |log| &log.sends,
            time,
            |log, _, line| {
                pace.event()?;
                let node = nodes.of_log(log, line.node);
                let length = line.length;
                let own = as_sender[log][line.channel.index()];
                match own.map(|it| &mut lines[it]) {
                    Some(Pairing::Plain(queue)) => queue.enqueue(node, &mut partner),
                    Some(Pairing::Doubtful(it)) => doubtful[*it].sends.push(Sent { node, length }),
                    None => {}
                }
                Ok(())
            },
        )?;
    }
    for group in &groups {
        in_order(
            group,
            logs,
            |log| &log.receives,
            |log, i| logs[log].posted[i].0,
            |log, i, line| {
                pace.event()?;
                let node = nodes.of_log(log, line.node);
                let own = as_receiver[log][line.channel.index()];
                let is_paired = match own.map(|it| &mut lines[it]) {
                    Some(Pairing::Plain(queue)) => queue.serve(node, &mut partner),
                    Some(Pairing::Doubtful(it)) => {
                        doubtful[*it].post(node, &logs[log], i, nodes);
                        return Ok(());
                    }
                    None => false,
                };
                if !is_paired {
                    let defect = Defect::ReceiveWithoutSend;
                    defects.add(defect, logs[log].location, nodes.event(node));
                }
                Ok(())
            },
        )?;
    }
    report_unmatched(lines, &mut partner, nodes, defects);
    doubtful::settle(doubtful, nodes, &mut partner, defects);
    let is_exact = |log: usize, channel: ChannelIndex| {
        as_sender[log][channel.index()].is_some_and(|line| exact[line])
    };
    let acknowledged = synchronous::find(logs, nodes, &partner, is_exact);
    Ok(Paired {
        partner,
        acknowledged,
    })
}

impl Doubtful {
    /// Adds receive `i` of `log`.
    fn post(&mut self, node: EventNode, log: &LogColumns, i: usize, nodes: &Nodes) {
        let Some((earliest, latest)) = log.posting(i) else {
            return;
        };
        self.receives.push(Posted {
            node,
            length: log.receives[i].length,
            earliest,
            latest,
            completed: nodes.timestamp(node),
            in_sequence: !self.several_receive && !log.is_posted_at_any_time(i),
        });
    }
}

/// Sends still waiting at the end have no receive.
fn report_unmatched(
    lines: Vec<Pairing>,
    partner: &mut [Partner],
    nodes: &Nodes,
    defects: &mut Noted<'_>,
) {
    let mut unmatched: Vec<EventNode> = Vec::new();
    let queues = lines.into_iter().filter_map(|line| match line {
        Pairing::Plain(queue) => Some(queue),
        Pairing::Doubtful(_) => None,
    });
    for mut queue in queues {
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

/// Visits the lines of one endpoint, with log and position in it: within a location in recorded
/// order, between threads by time.
fn in_order<'a>(
    group: &[usize],
    logs: &'a [LogColumns],
    lines: impl Fn(&'a LogColumns) -> &'a [ChannelPlace],
    time: impl Fn(usize, usize) -> u64,
    mut visit: impl FnMut(usize, usize, ChannelPlace) -> Result<(), Cancelled>,
) -> Result<(), Cancelled> {
    if let &[log] = group {
        for (at, &line) in lines(&logs[log]).iter().enumerate() {
            visit(log, at, line)?;
        }
        return Ok(());
    }
    let mut heads: BinaryHeap<Reverse<(u64, usize, usize)>> = BinaryHeap::new();
    let head = |log: usize, at: usize| {
        (at < lines(&logs[log]).len()).then(|| Reverse((time(log, at), log, at)))
    };
    heads.extend(group.iter().filter_map(|&log| head(log, 0)));
    while let Some(Reverse((_, log, at))) = heads.pop() {
        visit(log, at, lines(&logs[log])[at])?;
        heads.extend(head(log, at + 1));
    }
    Ok(())
}
