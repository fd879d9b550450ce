//! Which send belongs to which receive.
//!
//! Messages between two ranks of a group do not overtake each other. Both kernels of one
//! run at the same time where it is long enough to need its receiver, which tells how the
//! two sequences [lie on each other](super::alignment); messages so short that a send is over
//! before its receive begins are not joined. Only the direction of the message is an order:
//! no receive ends before its send has begun.

use std::collections::BTreeMap;

use retime_model::MessageId;

use super::alignment::{Known, Shift, align};
use super::{Calls, Group, Joined, Matching, Part, Sequence};
use crate::call::What;

const AMBIGUOUS: &str = "ambiguous message call";
const UNKNOWN_PEER: &str = "lone message call";

/// Sends and receives of a channel, each of one file.
#[derive(Default)]
struct Channel {
    sends: Vec<usize>,
    receives: Vec<usize>,
}

impl Matching {
    /// Joins the messages of a group.
    pub(super) fn messages(&mut self, calls: &Calls<'_>, group: &Group, sequences: &[Sequence]) {
        let peers_are_ranks_in_group = peers(calls, sequences)
            .all(|peer| (peer as usize) < group.ranks.len());
        let file_of = |peer: u32| {
            let rank = if peers_are_ranks_in_group {
                group.ranks.get(peer as usize).copied()?
            } else {
                peer
            };
            calls.file_of.get(&rank).copied()
        };
        let mut channels: BTreeMap<(usize, usize), Channel> = BTreeMap::new();
        for (file, its) in sequences {
            for &call in its {
                let (peer, is_send) = match calls.call(*file, call).map(|it| it.what) {
                    Some(What::Send(peer)) => (peer, true),
                    Some(What::Receive(peer)) => (peer, false),
                    _ => continue,
                };
                match file_of(peer) {
                    None => self.count(*file, UNKNOWN_PEER, 1),
                    Some(other) if is_send => {
                        channels.entry((*file, other)).or_default().sends.push(call);
                    }
                    Some(other) => {
                        channels.entry((other, *file)).or_default().receives.push(call);
                    }
                }
            }
        }
        for ((from, to), channel) in channels {
            self.channel(calls, group, (from, to), channel);
        }
    }

    fn channel(
        &mut self,
        calls: &Calls<'_>,
        group: &Group,
        (from, to): (usize, usize),
        channel: Channel,
    ) {
        let sends = (from, channel.sends);
        let receives = (to, channel.receives);
        let items = |sequence: &Sequence| calls.items(group, sequence);
        let known = Known::default();
        let Shift::By(shift) = align(&items(&sends), &items(&receives), &known) else {
            self.count(from, AMBIGUOUS, sends.1.len());
            self.count(to, AMBIGUOUS, receives.1.len());
            return;
        };
        let mut matched = 0;
        for (&receive, place) in receives.1.iter().zip(shift..) {
            let send = usize::try_from(place).ok().and_then(|it| sends.1.get(it));
            let send = send.and_then(|&it| calls.call(from, it));
            let (Some(send), Some(receive)) = (send, calls.call(to, receive)) else {
                continue;
            };
            // Both files, the group and the place among their messages: none is used twice.
            let id = MessageId {
                space: (self.groups.len() as u64) << 40 | (from as u64) << 20 | to as u64,
                number: place as u64,
            };
            let ends = [(from, send.event, Part::Send(id)), (to, receive.event, Part::Receive(id))];
            for (file, event, part) in ends {
                if let Some(joined) = self.joined.get_mut(file) {
                    joined.push(Joined { event, part });
                }
            }
            matched += 1;
        }
        self.count(from, AMBIGUOUS, sends.1.len() - matched);
        self.count(to, AMBIGUOUS, receives.1.len() - matched);
    }
}

/// Whom calls name as the other end.
fn peers(calls: &Calls<'_>, sequences: &[Sequence]) -> impl Iterator<Item = u32> {
    sequences.iter().flat_map(|(file, its)| {
        its.iter()
            .filter_map(|&call| match calls.call(*file, call)?.what {
                What::Send(peer) | What::Receive(peer) => Some(peer),
                What::Collective(_) => None,
            })
    })
}
