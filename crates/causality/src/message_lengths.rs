//! How long messages are, by both of their ends.
//!
//! The send says it: a receive may have recorded how much room it had. Where lengths are not
//! wanted, nobody keeps them.

use retime_model::{Length, LogColumns};

use crate::ids::{EventNode, Ids};
use crate::nodes::Nodes;
use crate::partner::Partner;

/// The length of its message, by node.
#[derive(Clone, Debug)]
pub(super) struct MessageLengths(Vec<Length>);

impl MessageLengths {
    /// The lengths that the sends of logs recorded, for them and for the receives they belong to.
    pub(super) fn recorded(logs: &[LogColumns], nodes: &Nodes, partner: &[Partner]) -> Self {
        let mut lengths = vec![Length::UNKNOWN; partner.len()];
        for (position, log) in logs.iter().enumerate() {
            let on_channels = log.sends.iter().map(|it| (it.node, it.length));
            let named = log.named_lengths.iter().map(|it| (it.send, it.length));
            for (send, length) in on_channels.chain(named) {
                let send = nodes.of_log(position, send);
                for node in [Some(send), partner[send.index()].node()]
                    .into_iter()
                    .flatten()
                {
                    lengths[node.index()] = length;
                }
            }
        }
        Self(lengths)
    }

    /// The length of the message between two nodes. That a synchronous send is complete is no
    /// message, and has none.
    #[inline]
    pub(super) fn of(&self, send: EventNode, receive: EventNode) -> Length {
        let (sent, received) = (self.0[send.index()], self.0[receive.index()]);
        if sent == received {
            sent
        } else {
            Length::UNKNOWN
        }
    }

    /// These lengths by other numbers of the nodes, of which there are so many.
    pub(super) fn renumbered(
        &self,
        nodes: Ids<EventNode>,
        count: usize,
        number: impl Fn(EventNode) -> EventNode,
    ) -> Self {
        let mut lengths = vec![Length::UNKNOWN; count];
        for node in nodes {
            lengths[number(node).index()] = self.0[node.index()];
        }
        Self(lengths)
    }
}
