//! Pairs of a channel of which not everything is known.
//!
//! The order of its receives may not be certain, lengths may say that messages are
//! missing, or a location may have recorded nothing for a while. All three lead to a
//! weaker claim than "these belong together": a receive is paired with a send that is
//! its own or an earlier one, so that the dependency holds whichever it was.
//!
//! [`posting_order`] says what is certain of the order, [`lengths`] what lengths say.
//!
//! # Gaps
//!
//! While recording is off, sends and receives are missing, and how many is not known
//! (with recording on, they are missing by an accident, and of one kind only). Let a
//! channel have `S` sends and `R` receives that are recorded.
//!
//! - The place of a send from the *start* of the channel is known before the sender's
//!   first gap. Receive `j` has message `j` or a later one, wherever the receiver has
//!   gaps. So it comes after send `j`, if that lies before the sender's first gap.
//! - The place of a receive from the *end* is known if it was posted after the
//!   receiver's last gap. A send with `m` others after it has `m` or more messages
//!   after it, wherever the sender has gaps; and each message that was sent is received
//!   before `MPI_Finalize`. So a receive with `m` others behind it comes after the send
//!   with `m` others after it. A receiver that stops recording has no such receives.
//!   Neither does one have them before a receive of which no completion is recorded, as
//!   of one whose request was freed: its message is missing in that count.
//!
//! What is left has no certain partner. Programs that record nothing while they set
//! themselves up, say, lose none of the messages after it.
//!
//! Source: MPI standard, "Finalizing MPI": before it, a process must "execute matching
//! calls needed to complete MPI communications initiated by other processes".

use retime_model::{Defect, Length, Timestamp};

use crate::EventNode;
use crate::gaps::Gap;
use crate::lengths::{self, LengthVerdict};
use crate::nodes::Nodes;
use crate::noted::Noted;
use crate::partner::Partner;
use crate::posting_order::{self, Order, Posted};

/// A send, in the order of stamps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) node: EventNode,
    pub(super) length: Length,
}

/// The ends of the messages of a channel.
#[derive(Clone, Debug, Default)]
pub(super) struct Doubtful {
    pub(super) sends: Vec<Sent>,
    pub(super) receives: Vec<Posted>,
    pub(super) sender_gap: Option<Gap>,
    pub(super) receiver_gap: Option<Gap>,
    /// When the receiver posted the last receive that is not recorded to be complete, if
    /// there are gaps.
    pub(super) never_completed: Option<Timestamp>,
    /// Several threads send: stamps need not be in the order of the channel.
    pub(super) several_send: bool,
    /// Several threads receive: only times tell who was posted first.
    pub(super) several_receive: bool,
    /// The order of receives as far as it is known.
    pub(super) order: Order,
}

/// Pairs what is certain in `channels`, and notes the rest.
pub(super) fn settle(
    mut channels: Vec<Doubtful>,
    nodes: &Nodes,
    partner: &mut [Partner],
    defects: &mut Noted<'_>,
) {
    for channel in &mut channels {
        channel.order = posting_order::arrange(&mut channel.receives);
    }
    let lengths_count = !channels.iter().any(Doubtful::tells_room);
    for channel in channels {
        channel.settle(lengths_count, nodes, partner, defects);
    }
}

impl Doubtful {
    fn has_gap(&self) -> bool {
        self.sender_gap.is_some() || self.receiver_gap.is_some()
    }

    /// True if sends and receives are listed in the order of the channel, though some
    /// may be missing.
    fn is_ordered(&self) -> bool {
        self.order.is_certain && !self.several_send && !self.has_gap()
    }

    fn tells_room(&self) -> bool {
        let (sent, received) = self.lengths();
        self.is_ordered() && lengths::tells_room(&sent, &received)
    }

    fn settle(
        &self,
        lengths_count: bool,
        nodes: &Nodes,
        partner: &mut [Partner],
        defects: &mut Noted<'_>,
    ) {
        let verdict = if lengths_count && self.is_ordered() {
            let (sent, received) = self.lengths();
            lengths::judge(&sent, &received)
        } else {
            LengthVerdict::Silent
        };
        let [mut lone_send, mut lone_receive] = if self.has_gap() {
            [Defect::PlaceUnknown; 2]
        } else {
            [Defect::SendWithoutReceive, Defect::ReceiveWithoutSend]
        };
        let pairs = match verdict {
            LengthVerdict::Silent => self.by_count(nodes),
            LengthVerdict::Pairs(pairs) => pairs,
            LengthVerdict::Contradiction => {
                [lone_send, lone_receive] = [Defect::LengthsDisagree; 2];
                Vec::new()
            }
        };
        for (send, receive) in pairs {
            let (send, receive) = (self.sends[send].node, self.receives[receive].node);
            partner[send.index()] = receive.into();
            partner[receive.index()] = send.into();
        }
        let lone = |node: &EventNode| partner[node.index()].node().is_none();
        let mut note = |defect: Defect, node: EventNode| {
            defects.add(defect, nodes.location(node), nodes.event(node));
        };
        for send in self.sends.iter().map(|it| it.node).filter(lone) {
            note(lone_send, send);
        }
        for receive in self.receives.iter().map(|it| it.node).filter(lone) {
            note(lone_receive, receive);
        }
    }

    fn lengths(&self) -> (Vec<Length>, Vec<Length>) {
        let sent = self.sends.iter().map(|it| it.length);
        let received = self.receives.iter().map(|it| it.length);
        (sent.collect(), received.collect())
    }

    /// Send and receive of each pair that follows from how many there are.
    fn by_count(&self, nodes: &Nodes) -> Vec<(usize, usize)> {
        let (from_start, from_end) = self.known_places(nodes);
        let (sends, receives) = (self.sends.len(), self.receives.len());
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for receive in 0..receives {
            let by_start = (receive < from_start).then_some(receive);
            let by_end = (receive + from_end >= receives)
                .then(|| (sends + receive).checked_sub(receives))
                .flatten();
            if let Some(send) = by_start.max(by_end)
                && pairs.last().is_none_or(|last| last.0 < send)
            {
                pairs.push((send, receive));
            }
        }
        pairs
    }

    /// How many sends have a known place from the start, and how many receives one
    /// from the end.
    fn known_places(&self, nodes: &Nodes) -> (usize, usize) {
        let (sends, receives) = (self.sends.len(), self.receives.len());
        let from_start = match self.sender_gap {
            Some((from, _)) => {
                let before = |it: &Sent| nodes.timestamp(it.node) < from;
                self.sends.partition_point(before)
            }
            None if sends >= receives => sends,
            None => 0,
        };
        let gap = self.receiver_gap.map(|(_, to)| to);
        let posting = self
            .never_completed
            .map(|at| Timestamp(at.0.saturating_add(1)));
        let from_end = match gap.max(posting) {
            Some(to) => {
                let mut end = receives;
                for &start in self.order.blocks.iter().rev() {
                    if self.receives[start..end].iter().any(|it| it.earliest < to) {
                        break;
                    }
                    end = start;
                }
                receives - end
            }
            None if sends <= receives => receives,
            None => 0,
        };
        (from_start, from_end)
    }
}
