//! The channels of a trace, and which of them leave a doubt.
//!
//! One look at what each location sent and received, before anything is paired: how
//! many messages a channel has, whether several threads receive from it, whether
//! receives complete in another order than they were posted, and whether the lengths
//! of sends are those of receives, one after the other. For the last, lengths are not
//! compared but multiplied up to one number on either side.

use std::hash::{Hash, Hasher};

use retime_model::{
    ANY_TIME, ChannelPlace, FileMap, Length, LocationIndex, LogColumns, LogNode, Message, TraceInfo,
};
use retime_numerics::parallel;

use crate::doubtful::Doubtful;
use crate::endpoints::endpoint;
use crate::gaps::{Gap, Gaps};
use crate::queue::Queue;

/// One direction of talk between two endpoints.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Channel {
    pub(super) communicator: u32,
    pub(super) source: LocationIndex,
    pub(super) destination: LocationIndex,
    pub(super) tag: u32,
}

/// Two words instead of four, since traces may have millions of channels.
impl Hash for Channel {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let both = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        state.write_u64(both(self.communicator, self.tag));
        state.write_u64(both(self.source.0, self.destination.0));
    }
}

/// All channels of a trace, and how each log's local channels refer to them
/// when it sends and when it receives.
#[derive(Default)]
pub(super) struct Channels {
    pub(super) lines: Vec<Pairing>,
    pub(super) doubtful: Vec<Doubtful>,
    pub(super) as_sender: Vec<Vec<Option<usize>>>,
    pub(super) as_receiver: Vec<Vec<Option<usize>>>,
    /// True for each line whose pairs can be no others.
    pub(super) exact: Vec<bool>,
}

/// How the messages of a channel are paired.
pub(super) enum Pairing {
    /// While they are visited.
    Plain(Queue),
    /// Afterwards, by all of them: the channel at this position among those.
    Doubtful(usize),
}

impl Channels {
    pub(super) fn new(info: &TraceInfo, logs: &[LogColumns]) -> Self {
        let mut number = FileMap::default();
        let mut sides: Vec<ChannelSides> = Vec::new();
        let mut channels = Self::default();
        let seen: Vec<(Vec<Side>, Vec<Side>)> =
            parallel::map(logs, |log| (Side::of_sends(log), Side::of_receives(log)));
        for (log, (outgoing, incoming)) in logs.iter().zip(seen) {
            let own = endpoint(info, log.location);
            let outgoing = refer(&mut number, log, outgoing, |message| Channel {
                communicator: message.communicator,
                source: own,
                destination: message.peer,
                tag: message.tag,
            });
            let incoming = refer(&mut number, log, incoming, |message| Channel {
                communicator: message.communicator,
                source: message.peer,
                destination: own,
                tag: message.tag,
            });
            sides.resize_with(number.len(), ChannelSides::default);
            for &(queue, side) in outgoing.iter().flatten() {
                sides[queue].sends.add(side);
            }
            for &(queue, side) in incoming.iter().flatten() {
                sides[queue].receives.add(side);
            }
            let queue_of = |it: Option<(usize, Side)>| it.map(|(queue, _)| queue);
            channels
                .as_sender
                .push(outgoing.into_iter().map(queue_of).collect());
            channels
                .as_receiver
                .push(incoming.into_iter().map(queue_of).collect());
        }
        channels.sort_out(&sides, &Gaps::new(info, logs), &number);
        channels
    }

    /// Tells channels that leave a doubt from the rest.
    fn sort_out(&mut self, sides: &[ChannelSides], gaps: &Gaps, number: &FileMap<Channel, usize>) {
        let mut gap_of: Vec<(Option<Gap>, Option<Gap>)> = Vec::new();
        let mut never_completed = Vec::new();
        if !gaps.is_empty() {
            gap_of.resize(sides.len(), (None, None));
            never_completed.resize(sides.len(), None);
            for (channel, &number) in number {
                gap_of[number] = (gaps.of(channel.source), gaps.of(channel.destination));
                never_completed[number] = gaps.never_completed(channel.destination);
            }
        }
        for (number, side) in sides.iter().enumerate() {
            let (sender_gap, receiver_gap) = gap_of.get(number).copied().unwrap_or_default();
            let has_gap = sender_gap.is_some() || receiver_gap.is_some();
            self.exact.push(!has_gap && side.is_exact());
            if !has_gap && !side.is_doubtful() {
                let queue = Queue::of(side.sends.count, side.receives.count);
                self.lines.push(Pairing::Plain(queue));
                continue;
            }
            self.lines.push(Pairing::Doubtful(self.doubtful.len()));
            self.doubtful.push(Doubtful {
                sender_gap,
                receiver_gap,
                never_completed: never_completed.get(number).copied().flatten(),
                several_send: side.sends.logs > 1,
                several_receive: side.receives.logs > 1,
                ..Doubtful::default()
            });
        }
    }
}

/// Number of the channel, and ends of its messages, of each local channel of `log` that
/// has any.
fn refer(
    number: &mut FileMap<Channel, usize>,
    log: &LogColumns,
    sides: Vec<Side>,
    channel: impl Fn(&Message) -> Channel,
) -> Vec<Option<(usize, Side)>> {
    let numbered = log.channels.iter().zip(sides).map(|(message, side)| {
        if side.count == 0 {
            return None;
        }
        let next = number.len();
        Some((*number.entry(channel(message)).or_insert(next), side))
    });
    numbered.collect()
}

/// The sends of a channel, or its receives, at a glance.
#[derive(Clone, Copy)]
struct Side {
    count: u32,
    /// How many locations they are of.
    logs: u32,
    last: LogNode,
    /// Some complete in another order than they stand in line.
    overtakes: bool,
    /// True if it is not known of some when they were posted.
    any_time: bool,
    shortest: u32,
    longest: u32,
    /// A number for all lengths in their order.
    lengths: u64,
}

impl Default for Side {
    fn default() -> Self {
        Self {
            count: 0,
            logs: 0,
            last: LogNode(0),
            overtakes: false,
            any_time: false,
            shortest: u32::MAX,
            longest: 0,
            lengths: 0,
        }
    }
}

impl Side {
    /// Makes one entry per local channel.
    fn of_sends(log: &LogColumns) -> Vec<Self> {
        let mut sides = vec![Self::default(); log.channels.len()];
        for place in &log.sends {
            sides[place.channel.index()].see(place);
        }
        sides
    }

    /// Makes one entry per local channel.
    fn of_receives(log: &LogColumns) -> Vec<Self> {
        let mut sides = vec![Self::default(); log.channels.len()];
        for place in &log.receives {
            let side = &mut sides[place.channel.index()];
            side.see(place);
            side.overtakes |= place.node < side.last;
            side.last = place.node;
        }
        for (place, &within) in log.receives.iter().zip(&log.posted_within) {
            sides[place.channel.index()].any_time |= within == ANY_TIME;
        }
        sides
    }

    #[inline]
    fn see(&mut self, place: &ChannelPlace) {
        let length = place.length.number();
        self.count += 1;
        self.shortest = self.shortest.min(length);
        self.longest = self.longest.max(length);
        // The step of a polynomial over 64 bits with an odd base.
        self.lengths = (self.lengths ^ u64::from(length)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.logs += 1;
        self.overtakes |= other.overtakes;
        self.any_time |= other.any_time;
        self.shortest = self.shortest.min(other.shortest);
        self.longest = self.longest.max(other.longest);
        self.lengths ^= other.lengths;
    }
}

/// Both sides of a channel.
#[derive(Clone, Copy, Default)]
struct ChannelSides {
    sends: Side,
    receives: Side,
}

impl ChannelSides {
    /// True if anything but the counts has a say in who belongs to whom.
    fn is_doubtful(&self) -> bool {
        let Self { receives, .. } = self;
        receives.logs > 1 || receives.any_time && receives.overtakes || self.lengths_differ()
    }

    /// True if all messages are there, and nothing but their order can be that of the run.
    fn is_exact(&self) -> bool {
        let Self { sends, receives } = self;
        let alone = sends.logs == 1 && receives.logs == 1;
        alone && sends.count == receives.count && !receives.any_time && !self.is_doubtful()
    }

    fn lengths_differ(&self) -> bool {
        let Self { sends, receives } = self;
        let longest = sends.longest.max(receives.longest);
        sends.logs == 1
            && receives.logs == 1
            && longest < Length::UNKNOWN.number()
            && sends.shortest.min(receives.shortest) < longest
            && (sends.count, sends.lengths) != (receives.count, receives.lengths)
    }
}
