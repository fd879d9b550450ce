//! Doubts about which end of a message belongs to which, where order alone pairs them.
//!
//! MPI keeps the messages of one channel in order, as one thread sends and one receives them. Two
//! things leave open which belong together: that the channel lacks an end, or that nobody knows in
//! which order its receives were posted, so that an end is paired with one at another place of the channel;
//! and that several threads of a process share the channel, whose calls have no order for MPI. What
//! is concluded holds either way.

use retime_model::{ChannelPlace, LocationIndex, LogColumns, Message, Role, TraceInfo};
use rustc_hash::FxHashMap;

use crate::endpoints::endpoint;

/// The reason why an end of a message may belong to another one than it was paired with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairingDoubt {
    /// The other end has another place in the channel.
    AnotherPlace,
    /// Several threads send or receive in the channel.
    SeveralThreads,
}

/// The two ends and the envelope of a channel.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Channel {
    source: LocationIndex,
    destination: LocationIndex,
    communicator: u32,
    tag: u32,
}

impl Channel {
    /// The channel of an end with this role that is recorded for `own`.
    fn of(role: Role, own: LocationIndex, envelope: Message) -> Self {
        let (source, destination) = match role {
            Role::Receive => (envelope.peer, own),
            _ => (own, envelope.peer),
        };
        Self {
            source,
            destination,
            communicator: envelope.communicator,
            tag: envelope.tag,
        }
    }

    /// The channel as the locations of one end name it, of which the other is `peer`.
    const fn with(self, peer: LocationIndex) -> Message {
        Message {
            communicator: self.communicator,
            peer,
            tag: self.tag,
        }
    }
}

/// Which channels several locations of one process share.
pub(crate) struct SharedChannels<'a> {
    info: &'a TraceInfo,
    by_endpoint: FxHashMap<LocationIndex, Vec<&'a LogColumns>>,
    known: FxHashMap<Channel, bool>,
}

impl<'a> SharedChannels<'a> {
    pub(crate) fn of(info: &'a TraceInfo, logs: impl Iterator<Item = &'a LogColumns>) -> Self {
        let mut by_endpoint: FxHashMap<LocationIndex, Vec<&LogColumns>> = FxHashMap::default();
        for log in logs {
            let own = endpoint(info, log.location);
            by_endpoint.entry(own).or_default().push(log);
        }
        Self {
            info,
            by_endpoint,
            known: FxHashMap::default(),
        }
    }

    /// True if several locations share the channel of an end of a message of a location.
    pub(crate) fn has(&mut self, location: LocationIndex, role: Role, envelope: Message) -> bool {
        let channel = Channel::of(role, endpoint(self.info, location), envelope);
        if let Some(known) = self.known.get(&channel) {
            return *known;
        }
        let of_end =
            |own: LocationIndex, peer: LocationIndex, ends: fn(&LogColumns) -> &[ChannelPlace]| {
                let logs = self.by_endpoint.get(&own).map_or(&[][..], Vec::as_slice);
                let envelope = channel.with(peer);
                logs.len() > 1
                    && logs
                        .iter()
                        .filter(|log| takes_part(log, envelope, ends))
                        .count()
                        > 1
            };
        let (source, destination) = (channel.source, channel.destination);
        let is_shared = of_end(source, destination, |it| &it.sends)
            || of_end(destination, source, |it| &it.receives);
        self.known.insert(channel, is_shared);
        is_shared
    }
}

/// True if a location has ends of messages in a channel.
fn takes_part(
    log: &LogColumns,
    envelope: Message,
    ends: fn(&LogColumns) -> &[ChannelPlace],
) -> bool {
    let own = log.channels.iter().position(|it| *it == envelope);
    own.is_some_and(|own| ends(log).iter().any(|it| it.channel.index() == own))
}
