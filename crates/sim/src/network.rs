//! The network between processes: how long messages and collectives take.

use crate::{congestion::Congestion, duration::Duration, layout::Layout, random::Random};

/// How long messages and collectives take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Network {
    /// A message within a node.
    pub within_node: Duration,
    /// A message between nodes.
    pub between_nodes: Duration,
    /// A collective, from the begin of the last process to an end.
    pub collective: Duration,
    /// Nanoseconds that each byte adds to a message.
    pub per_byte: f64,
    /// How many times as long messages to a higher rank take: 1 if the way
    /// there is as long as the way back. No exchange of messages can reveal it.
    pub uphill: f64,
    /// The congestion that makes messages of one direction late for a while.
    pub congestion: Option<Congestion>,
}

/// A message on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    /// The ranks of the sender and the receiver.
    pub ends: (u32, u32),
    /// Its size.
    pub bytes: u64,
    /// When it was sent, in nanoseconds since the start.
    pub at: u64,
}

impl Default for Network {
    /// The shortest times seen in real recordings, with tails of our own.
    fn default() -> Self {
        Self {
            within_node: Duration::exponential(176, 400.0),
            between_nodes: Duration::exponential(500, 900.0),
            collective: Duration::exponential(285, 500.0),
            per_byte: 0.0,
            uphill: 1.0,
            congestion: None,
        }
    }
}

impl Network {
    /// Every message, wherever it goes, takes so long; collectives likewise.
    pub fn of(message: Duration) -> Self {
        Self {
            within_node: message,
            between_nodes: message,
            collective: message,
            ..Self::default()
        }
    }

    /// How long a message takes, in nanoseconds.
    pub fn message(&self, layout: &Layout, sent: &Sent, random: &mut Random) -> u64 {
        let (from, to) = sent.ends;
        let nodes = (layout.node(from), layout.node(to));
        // Ways within a node are counted from the other end.
        let (latency, (start, end)) = if nodes.0 == nodes.1 {
            (self.within_node, (!from, !to))
        } else {
            (self.between_nodes, nodes)
        };
        let drawn = latency.draw(random) as f64;
        let slope = if to > from { self.uphill } else { 1.0 };
        let waits = self
            .congestion
            .map(|it| it.wait(start, end, sent.at, random));
        (drawn * slope + self.per_byte * sent.bytes as f64 + waits.unwrap_or(0.0)) as u64
    }

    /// The nanoseconds that no message can undercut.
    pub fn least(&self) -> u64 {
        let least = self.within_node.least.min(self.between_nodes.least);
        (least as f64 * self.uphill.min(1.0)) as u64
    }
}
