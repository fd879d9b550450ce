//! Events on their way into a filter and out of it.

use std::hash::{DefaultHasher, Hash, Hasher};

use retime_model::{LocationIndex, Timestamp};

/// An event on its way into the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<P> {
    /// Where it happened.
    pub location: LocationIndex,
    /// When, by the clock of that location.
    pub time: Timestamp,
    /// The part that the event has in communication.
    pub kind: EventKind,
    /// Whatever the caller wants back with the corrected time.
    pub payload: P,
}

/// The part that an event has in communication with other locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// None: nothing at other locations depends on it, nor it on them.
    Internal,
    /// A message leaves.
    Send(MessageId),
    /// A message has arrived.
    Receive(MessageId),
    /// A begin of a collective that others depend on.
    Begin(Collective),
    /// An end of a collective that depends on others.
    End(Collective),
}

/// An event with its corrected time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrected<P> {
    /// Where it happened.
    pub location: LocationIndex,
    /// When, by the clock of that location.
    pub raw: Timestamp,
    /// When, by the time common to all locations.
    pub time: Timestamp,
    /// The payload that the caller gave along.
    pub payload: P,
}

/// The id that a send and its receive have in common.
///
/// An id may be used again: the first receive belongs to the first send. So the
/// same type serves ids that a monitor makes up and channels on which messages
/// do not overtake each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MessageId {
    space: Space,
    words: [u64; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Space {
    Number,
    ShortName,
    LongName,
    Channel,
}

impl MessageId {
    /// A message by its number.
    pub const fn number(number: u64) -> Self {
        Self {
            space: Space::Number,
            words: [number, 0],
        }
    }

    /// A message by its name. Names of up to 15 bytes are kept as they are, of
    /// longer ones 128 bits of a hash.
    pub fn name(name: &str) -> Self {
        let bytes = name.as_bytes();
        if bytes.len() < 16 {
            let mut words = [0; 16];
            words[..bytes.len()].copy_from_slice(bytes);
            words[15] = bytes.len() as u8;
            let number = u128::from_le_bytes(words);
            return Self {
                space: Space::ShortName,
                words: [number as u64, (number >> 64) as u64],
            };
        }
        let hash = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            (salt, name).hash(&mut hasher);
            hasher.finish()
        };
        Self {
            space: Space::LongName,
            words: [hash(0), hash(1)],
        }
    }

    /// True if it is that of a channel.
    pub(crate) const fn is_channel(self) -> bool {
        matches!(self.space, Space::Channel)
    }

    /// The next message of a channel.
    pub const fn channel(
        source: LocationIndex,
        destination: LocationIndex,
        communicator: u32,
        tag: u32,
    ) -> Self {
        const fn pair(high: u32, low: u32) -> u64 {
            ((high as u64) << 32) | low as u64
        }
        Self {
            space: Space::Channel,
            words: [pair(source.0, destination.0), pair(communicator, tag)],
        }
    }
}

/// A collective operation: every begin precedes every end of another clock.
///
/// ```
/// use retime_stream::{Collective, MessageId};
/// let id = MessageId::number(7);
/// // The root's begin precedes all ends but its own.
/// let broadcast = Collective::from_root(id, 4);
/// assert_eq!((broadcast.begins, broadcast.ends), (1, 3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collective {
    /// The id that its events have in common. It must not be used again before all of them have
    /// come.
    pub id: MessageId,
    /// How many begins there are that others depend on.
    pub begins: u32,
    /// How many ends there are that depend on others.
    pub ends: u32,
    /// Set where an end depends on begins of lower ranks only.
    pub prefix: Option<Prefix>,
}

/// A place in a prefix operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// The rank.
    pub place: u32,
    /// How many begins of lower ranks there are.
    pub before: u32,
}

impl Collective {
    /// N-to-N: a barrier, an allreduce.
    pub const fn all_to_all(id: MessageId, participants: u32) -> Self {
        Self {
            id,
            begins: participants,
            ends: participants,
            prefix: None,
        }
    }

    /// 1-to-N: the begin of the root and the ends of the others. The other
    /// events of the operation are internal.
    pub const fn from_root(id: MessageId, participants: u32) -> Self {
        Self {
            id,
            begins: 1,
            ends: participants.saturating_sub(1),
            prefix: None,
        }
    }

    /// N-to-1: the begins of all but the root and the root's end. The other
    /// events of the operation are internal.
    pub const fn to_root(id: MessageId, participants: u32) -> Self {
        Self {
            id,
            begins: participants.saturating_sub(1),
            ends: 1,
            prefix: None,
        }
    }

    /// A scan: begin and end of the given rank.
    pub const fn scan(id: MessageId, participants: u32, rank: u32) -> Self {
        Self {
            id,
            begins: participants,
            ends: participants,
            prefix: Some(Prefix {
                place: rank,
                before: rank,
            }),
        }
    }
}
