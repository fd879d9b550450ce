//! Which send belongs to which receive.
//!
//! Messages from one rank of a group to another, of one tag, do not overtake each other, so one
//! sequence has to be [shifted](super::alignment) against the other, as with collectives;
//! numbers do not help, as each rank counts its own. What tells the shift is that no receive ends
//! before its send has begun, together with what the collectives of both ranks, of whichever
//! group, say of their clocks. Without any of these nothing is joined, but where a send
//! [waits for its receive](crate::posted), or where messages go both ways, as between stages of a
//! pipeline, and bound the difference of clocks [from both sides](align_both). Of one way alone,
//! receives that wait in vain and messages that were sent long before look alike. Where both ways leave
//! several shifts possible, [iterations](super::stages) of one number tell.
//!
//! A shift leaves messages at either end without a counterpart. That is as it has to be only if
//! nobody can have recorded that:
//!
//! ```text
//! send     |  s0   s1   s2   s3                  first send without a receive: the receiver
//! receive        |   r1   r2   r3  r4  |         did not record yet when it began
//!                                                last receive without a send: the sender
//!                                                recorded no more when it ended
//! ```
//!
//! Otherwise many messages may be under way at once, and nothing is joined.

use std::collections::BTreeMap;

use retime_model::MessageId;
use rustc_hash::FxHashSet;

use super::alignment::{Known, Messages, Shift, Windowed, align, align_both};
use super::bent::Bent;
use super::calls::{Calls, Group, Sequence};
use super::item::Item;
use super::moments::FileMoments;
use super::stages::{self, Launched, StageMessages};
use super::stepped::{self, Stepped};
use super::two_ranks::iterations_are_apart;
use super::{Joined, Matching, Part};
use crate::call::{On, What};

const AMBIGUOUS: &str = "ambiguous message call";
const UNKNOWN_PEER: &str = "lone message call";

/// Where messages go that keep their order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Way {
    from: usize,
    to: usize,
    on: On,
    tag: u32,
}

/// The calls of a way: sends of the one file, receives of the other.
#[derive(Default)]
struct Channel {
    sends: Vec<usize>,
    receives: Vec<usize>,
}

impl Matching {
    /// Joins the messages of groups, each with its position.
    pub(super) fn messages(&mut self, calls: &Calls<'_>, groups: &[(usize, Vec<Sequence>)]) {
        let mut channels = Vec::new();
        for (position, sequences) in groups {
            let Some(group) = self.groups.get(*position).cloned() else {
                continue;
            };
            let found = self.channels(calls, &group, sequences);
            channels.extend(found.into_iter().map(|it| (*position, it)));
        }
        if channels.is_empty() {
            return;
        }
        let recorded = self.all_recorded(calls);
        let ends = channels
            .iter()
            .map(|(_, (way, it))| MessageEnds::of(calls, *way, it));
        let ends: Vec<MessageEnds> = ends.collect();
        let shifts = shifts(&ends, &recorded);
        let mut taken = FxHashSet::default();
        let all = channels.iter().zip(&ends).zip(shifts);
        for (number, (((group, (_, channel)), ends), shift)) in (0..).zip(all) {
            let Way { from, to, .. } = ends.way;
            let bent = match shift {
                Stepped::Several(differences) => Some(Some(Bent::by(differences))),
                Stepped::Neither => Some(None),
                Stepped::By(_) | Stepped::No => None,
            };
            if let Some(bent) = bent {
                self.suspected.insert((from, to), bent);
            }
            let space = (*group as u64) << 32 | number;
            self.channel(calls, space, ends.way, channel, shift.told(), &mut taken);
        }
    }

    /// The messages of a group by their ways.
    fn channels(
        &mut self,
        calls: &Calls<'_>,
        group: &Group,
        sequences: &[Sequence],
    ) -> BTreeMap<Way, Channel> {
        let peers_are_ranks_in_group = are_ranks_in_group(calls, group, sequences);
        let file_of = |peer: u32| {
            let rank = if peers_are_ranks_in_group {
                group.ranks.get(peer as usize).copied()?
            } else {
                peer
            };
            calls.file_of.get(&rank).copied()
        };
        let mut channels: BTreeMap<Way, Channel> = BTreeMap::new();
        for (file, its) in sequences {
            for &call in its {
                let Some(it) = calls.call(*file, call) else {
                    continue;
                };
                let (peer, is_send) = match it.what {
                    What::Send(peer) => (peer, true),
                    What::Receive(peer) => (peer, false),
                    What::Collective(_) => continue,
                };
                let Some(other) = file_of(peer) else {
                    self.count(*file, UNKNOWN_PEER, 1);
                    continue;
                };
                let (from, to) = if is_send {
                    (*file, other)
                } else {
                    (other, *file)
                };
                let (on, tag) = (it.on, it.tag);
                let channel = channels.entry(Way { from, to, on, tag }).or_default();
                if is_send {
                    channel.sends.push(call);
                } else {
                    channel.receives.push(call);
                }
            }
        }
        channels
    }

    /// Joins the messages of a channel of a group, which is a space of their numbers, unless an end
    /// of theirs is that of another message.
    fn channel(
        &mut self,
        calls: &Calls<'_>,
        space: u64,
        Way { from, to, .. }: Way,
        channel: &Channel,
        shift: Option<i64>,
        taken: &mut FxHashSet<(usize, u32, bool)>,
    ) {
        let Some(shift) = shift else {
            self.count(from, AMBIGUOUS, channel.sends.len());
            self.count(to, AMBIGUOUS, channel.receives.len());
            return;
        };
        let mut matched = 0;
        for (&receive, place) in channel.receives.iter().zip(shift..) {
            let place = usize::try_from(place).ok();
            let send = place.and_then(|it| channel.sends.get(it)).copied();
            let ends = [send.map(|it| (from, it)), Some((to, receive))];
            if ends
                .iter()
                .flatten()
                .any(|&(file, call)| calls.is_doubtful(file, call))
            {
                continue;
            }
            let send = send.and_then(|it| calls.call(from, it));
            let (Some(send), Some(receive)) = (send, calls.call(to, receive)) else {
                continue;
            };
            // The begin of a kernel can be one send, and its end one receive, whatever it does besides.
            let ends = [(from, send.event, false), (to, receive.event, true)];
            if ends.iter().any(|it| taken.contains(it)) {
                continue;
            }
            taken.extend(ends);
            // A channel of a group is one of a kind, and so is a place in it.
            let id = MessageId {
                space,
                number: matched as u64,
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
        self.count(from, AMBIGUOUS, channel.sends.len() - matched);
        self.count(to, AMBIGUOUS, channel.receives.len() - matched);
    }

    /// The word of all files so far on their clocks.
    pub(super) fn all_recorded(&self, calls: &Calls<'_>) -> Vec<FileMoments> {
        let files = 0..calls.files.len();
        files.map(|file| self.recorded(calls, file)).collect()
    }

    /// The word of a file so far on its clock.
    pub(super) fn recorded(&self, calls: &Calls<'_>, file: usize) -> FileMoments {
        let joined = self.joined.get(file).into_iter().flatten();
        let item = |it: &Joined| match it.part {
            Part::Collective {
                id,
                cause: Some(_),
                effect: Some(_),
                ..
            } => Some((id, calls.mutual(file, it.event)?)),
            _ => None,
        };
        FileMoments {
            window: calls.window(file),
            mutual: joined.filter_map(item).collect(),
        }
    }
}

/// The ends of the messages of a way.
struct MessageEnds {
    way: Way,
    sends: Vec<Item>,
    receives: Vec<Item>,
    /// The iterations in which sends and receives were launched.
    sends_in: Vec<Option<u64>>,
    receives_in: Vec<Option<u64>>,
    /// True if these are not known of all, since a clock was set back.
    are_some_unknown: bool,
}

impl MessageEnds {
    fn of(calls: &Calls<'_>, way: Way, channel: &Channel) -> Self {
        let items = |file: usize, own: &[usize]| -> Vec<Item> {
            let item = |&call: &usize| calls.end_of_message(file, call);
            own.iter().filter_map(item).collect()
        };
        let iterations = |file: usize, own: &[usize]| -> Vec<Option<u64>> {
            let iteration = |&call: &usize| calls.call(file, call)?.iteration;
            own.iter().map(iteration).collect()
        };
        Self {
            way,
            sends: items(way.from, &channel.sends),
            receives: items(way.to, &channel.receives),
            sends_in: iterations(way.from, &channel.sends),
            receives_in: iterations(way.to, &channel.receives),
            are_some_unknown: calls.is_set_back(way.from) || calls.is_set_back(way.to),
        }
    }

    fn launched(&self) -> Launched<'_> {
        if self.are_some_unknown {
            return Launched::default();
        }
        Launched {
            sends: &self.sends_in,
            receives: &self.receives_in,
        }
    }

    fn messages(&self, sender: &FileMoments, receiver: &FileMoments) -> Messages<'_> {
        Messages {
            sends: Windowed {
                items: &self.sends,
                window: sender.window,
            },
            receives: Windowed {
                items: &self.receives,
                window: receiver.window,
            },
        }
    }

    /// True if each end of all messages waits for the other, so that they tell how clocks differ by
    /// themselves.
    fn wait(&self) -> bool {
        self.sends.iter().chain(&self.receives).all(Item::is_mutual)
    }

    /// The shift of receives against sends, with what is known of both clocks.
    fn shift(&self, known: Option<Known>, sender: &FileMoments, receiver: &FileMoments) -> Stepped {
        let known = known.or_else(|| self.wait().then(Known::default));
        let Some(known) = known else {
            return Stepped::No;
        };
        let are_apart = |it| iterations_are_apart(&self.sends_in, &self.receives_in, it);
        let messages = self.messages(sender, receiver);
        let straight = self.straight(&known, sender, receiver);
        let shift = straight.map_or_else(
            || stepped::align(messages.sends, messages.receives, &known),
            Stepped::By,
        );
        match shift {
            Stepped::By(by) if are_apart(by) => Stepped::No,
            it => it,
        }
    }

    /// The shift by which iterations lie on each other, if clocks as collectives and they show them tell it, too.
    /// The receive of a message that was sent since its rank records can have begun before that, so that it
    /// was not recorded: windows say nothing against it.
    fn by_iterations(
        &self,
        known: &Known,
        sender: &FileMoments,
        receiver: &FileMoments,
    ) -> Option<i64> {
        let messages = self.messages(sender, receiver);
        let by_clocks = align(messages.sends, messages.receives, known);
        let shift = self.launched().shift()?;
        (by_clocks == Shift::By(shift)).then_some(shift)
    }

    /// The shift by which some straight difference of both clocks allows all.
    fn straight(&self, known: &Known, sender: &FileMoments, receiver: &FileMoments) -> Option<i64> {
        let (sends, receives) = (&self.sends, &self.receives);
        let messages = self.messages(sender, receiver);
        let Shift::By(shift) = align(messages.sends, messages.receives, known) else {
            return None;
        };
        let difference = if self.wait() {
            Known::of(sends, receives, shift).difference()
        } else {
            known.difference()
        };
        is_whole(sends, receives, shift, sender, receiver, difference).then_some(shift)
    }
}

/// The shifts of all ways. Where collectives leave several, messages that wait for each other the other way
/// help, and iterations.
fn shifts(ends: &[MessageEnds], recorded: &[FileMoments]) -> Vec<Stepped> {
    let both_ways = known_by_both_ways(ends, recorded, |there, back| {
        let known = align_both(there.messages, back.messages);
        known.or_else(|| stages::known(there, back))
    });
    let of_way = |Way { from, to, .. }: Way| recorded.get(from).zip(recorded.get(to));
    let known = |way: Way| {
        let known = of_way(way).and_then(|(sender, receiver)| Known::of_both(sender, receiver));
        known.or_else(|| both_ways.get(&(way.from, way.to)).cloned())
    };
    let shift = |ends: &MessageEnds, known: Option<Known>| {
        of_way(ends.way).map_or(Stepped::No, |(sender, receiver)| {
            ends.shift(known, sender, receiver)
        })
    };
    let mut shifts: Vec<Stepped> = ends.iter().map(|it| shift(it, known(it.way))).collect();
    let told = known_by_told(ends, &shifts);
    let by_iterations = known_by_both_ways(ends, recorded, stages::known);
    for (ends, found) in ends.iter().zip(&mut shifts) {
        if found.told().is_some() {
            continue;
        }
        let (way, known) = ((ends.way.from, ends.way.to), known(ends.way));
        if let Some(told) = told.get(&way) {
            let known = known.map_or_else(|| told.clone(), |it| it.and(told));
            *found = shift(ends, Some(known));
        } else if let (Some(iterations), Some(known)) = (by_iterations.get(&way), known) {
            let both = of_way(ends.way);
            let known = iterations.clone().and(&known);
            let by = both.and_then(|it| ends.by_iterations(&known, it.0, it.1));
            *found = by.map_or(*found, Stepped::By);
        }
    }
    shifts
}

/// Knowledge of the clocks of two ranks, by sender and receiver, from messages whose shift is told, and which
/// wait for each other.
fn known_by_told(ends: &[MessageEnds], shifts: &[Stepped]) -> BTreeMap<(usize, usize), Known> {
    let mut told: BTreeMap<(usize, usize), Known> = BTreeMap::new();
    for (ends, shift) in ends.iter().zip(shifts) {
        let Way { from, to, .. } = ends.way;
        if let (Some(by), true) = (shift.told(), ends.wait()) {
            let known = Known::of(&ends.sends, &ends.receives, by);
            told.entry((to, from)).or_insert_with(|| known.reversed());
            told.entry((from, to)).or_insert(known);
        }
    }
    told
}

/// Knowledge of the clocks of two ranks, by sender and receiver, from the ways with most messages
/// between them, where these go both ways and somebody can `tell` it by them.
fn known_by_both_ways(
    ends: &[MessageEnds],
    recorded: &[FileMoments],
    tell: impl Fn(StageMessages<'_>, StageMessages<'_>) -> Option<Known>,
) -> BTreeMap<(usize, usize), Known> {
    let mut most: BTreeMap<(usize, usize), &MessageEnds> = BTreeMap::new();
    for it in ends {
        let known = most.entry((it.way.from, it.way.to)).or_insert(it);
        if it.sends.len() > known.sends.len() {
            *known = it;
        }
    }
    let mut found = BTreeMap::new();
    for (&(from, to), there) in most.iter().filter(|((from, to), _)| from < to) {
        let both = recorded.get(from).zip(recorded.get(to));
        let (Some(back), Some((own, other))) = (most.get(&(to, from)), both) else {
            continue;
        };
        let there = StageMessages {
            messages: there.messages(own, other),
            launched: there.launched(),
        };
        let back = StageMessages {
            messages: back.messages(other, own),
            launched: back.launched(),
        };
        if let Some(known) = tell(there, back) {
            found.insert((to, from), known.reversed());
            found.insert((from, to), known);
        }
    }
    found
}

/// True if each message without a counterpart is one of which the other rank cannot have
/// recorded its end, by a clock that is ahead by a difference.
fn is_whole(
    sends: &[Item],
    receives: &[Item],
    shift: i64,
    sender: &FileMoments,
    receiver: &FileMoments,
    difference: i64,
) -> bool {
    let earlier = usize::try_from(shift).unwrap_or(0);
    // Of these the last counts, for it begins after all others.
    let is_early = (sends.iter().take(earlier).next_back())
        .is_none_or(|it| it.begin + difference <= receiver.window.0);
    let sent = usize::try_from(sends.len() as i64 - shift).unwrap_or(0);
    let is_late = (receives.iter().skip(sent).map(|it| it.end).min())
        .is_none_or(|end| end - difference >= sender.window.1);
    is_early && is_late
}

/// True if calls name the other end by its rank in the group, as those of gloo do; kernels name it by that
/// in the job ("Dst Rank" is `groupRanks[rank]` of `saveNcclMeta`), if those whom they name are members.
fn are_ranks_in_group(calls: &Calls<'_>, group: &Group, sequences: &[Sequence]) -> bool {
    let all = || {
        let calls = sequences.iter().flat_map(|(file, its)| {
            let call = move |&call: &usize| calls.call(*file, call);
            its.iter().filter_map(call)
        });
        calls.filter_map(|it| match it.what {
            What::Send(peer) | What::Receive(peer) => Some((it.on, peer)),
            What::Collective(_) => None,
        })
    };
    let are_members = all().all(|(_, peer)| group.ranks.contains(&peer));
    let of_gloo = all().any(|(on, _)| on == On::Thread);
    (of_gloo || !are_members) && all().all(|(_, peer)| (peer as usize) < group.ranks.len())
}
