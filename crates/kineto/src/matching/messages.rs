//! Which send belongs to which receive.
//!
//! Messages between two ranks of a group do not overtake each other, so one sequence has to
//! be [shifted](super::alignment) against the other, as with collectives; numbers do not
//! help, as each rank counts its own. What tells the shift is that no receive ends before its
//! send has begun, together with what the collectives of both ranks say of their clocks.
//! Without any of these nothing is joined: of receives that wait in vain and of messages that
//! were sent long before, the times alone look alike.

use std::collections::BTreeMap;

use retime_model::MessageId;

use super::alignment::{Item, Known, Shift, align};
use super::calls::{Calls, Group, Sequence};
use super::{Joined, Matching, Part};
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
        let peers_are_ranks_in_group =
            peers(calls, sequences).all(|peer| (peer as usize) < group.ranks.len());
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
                        channels
                            .entry((other, *file))
                            .or_default()
                            .receives
                            .push(call);
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
        let known = self.known(calls, group, (from, to));
        let shift = match known {
            Some(known) => align(&items(&sends), &items(&receives), &known),
            None => Shift::Ambiguous,
        };
        let Shift::By(shift) = shift else {
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
            let ends = [
                (from, send.event, Part::Send(id)),
                (to, receive.event, Part::Receive(id)),
            ];
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

impl Matching {
    /// What the operations of the group that both files took part in tell of their clocks.
    fn known(&self, calls: &Calls<'_>, group: &Group, pair: (usize, usize)) -> Option<Known> {
        let space = self.groups.len() as u64;
        let own = |file: usize| {
            let of_file = calls.files.get(file)?;
            let numbers = of_file.calls.iter().enumerate();
            let call_of: BTreeMap<u32, usize> = numbers.map(|(at, it)| (it.event, at)).collect();
            let item = |it: &Joined| match it.part {
                Part::Collective { id, .. } if id.space == space => {
                    let call = call_of.get(&it.event)?;
                    Some((id.number, calls.item(group, file, *call)?))
                }
                _ => None,
            };
            let joined = self.joined.get(file)?.iter();
            Some(joined.filter_map(item).collect::<BTreeMap<u64, Item>>())
        };
        let (first, second) = (own(pair.0)?, own(pair.1)?);
        let both = first
            .iter()
            .filter_map(|(id, a)| Some((*a, *second.get(id)?)));
        let both: Vec<(Item, Item)> = both.filter(|(a, _)| a.is_mutual()).collect();
        (!both.is_empty()).then(|| Known::from_pairs(&both))
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
