//! Doubts about which end of a message belongs to which, where order alone pairs them.
//!
//! MPI keeps the messages of one channel in order, as one thread sends and one receives them. Two
//! things leave open which belong together: that the channel lacks an end, or that nobody knows in
//! which order its receives were posted, so that an end is paired with one at another place of the channel;
//! and that several threads of a process share the channel, whose calls have no order for MPI. What
//! is concluded holds either way.

use retime_model::{ChannelPlace, LocationIndex, LogColumns, Message, Role, TraceInfo};
use rustc_hash::FxHashMap;

use crate::channels::Channel;
use crate::endpoints::endpoint;

/// The reason why an end of a message may belong to another one than it was paired with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairingDoubt {
    /// The other end has another place in the channel.
    AnotherPlace,
    /// Several threads send or receive in the channel.
    SeveralThreads,
}

/// The channel of an end with this role that is recorded for `own`.
fn channel_of(role: Role, own: LocationIndex, envelope: Message) -> Channel {
    let (source, destination) = match role {
        Role::Receive => (envelope.peer, own),
        _ => (own, envelope.peer),
    };
    Channel {
        source,
        destination,
        communicator: envelope.communicator,
        tag: envelope.tag,
    }
}

/// The channels that several locations of one process share.
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
        let channel = channel_of(role, endpoint(self.info, location), envelope);
        if let Some(known) = self.known.get(&channel) {
            return *known;
        }
        let named = |peer| Message { peer, ..envelope };
        let (source, destination) = (channel.source, channel.destination);
        let is_shared = self.share(source, named(destination), |it| &it.sends)
            || self.share(destination, named(source), |it| &it.receives);
        self.known.insert(channel, is_shared);
        is_shared
    }

    /// True if several locations that speak for one endpoint have ends of messages in a channel.
    fn share(
        &self,
        endpoint: LocationIndex,
        envelope: Message,
        ends: fn(&LogColumns) -> &[ChannelPlace],
    ) -> bool {
        let logs = self.by_endpoint.get(&endpoint);
        let logs = logs.map_or(&[][..], Vec::as_slice);
        // Most endpoints have one.
        let mut taking_part = logs.iter().filter(|it| takes_part(it, envelope, ends));
        logs.len() > 1 && taking_part.nth(1).is_some()
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
