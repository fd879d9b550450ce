//! What lies between processes.

use crate::{duration::Duration, layout::Layout, random::Random};

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
    pub fn message(
        &self,
        layout: &Layout,
        (from, to): (u32, u32),
        bytes: u64,
        random: &mut Random,
    ) -> u64 {
        let latency = if layout.node(from) == layout.node(to) {
            self.within_node
        } else {
            self.between_nodes
        };
        let drawn = latency.draw(random) as f64;
        let slope = if to > from { self.uphill } else { 1.0 };
        (drawn * slope + self.per_byte * bytes as f64) as u64
    }

    /// What no message can undercut, in nanoseconds.
    pub fn least(&self) -> u64 {
        let least = self.within_node.least.min(self.between_nodes.least);
        (least as f64 * self.uphill.min(1.0)) as u64
    }
}
