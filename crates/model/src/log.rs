//! The acts of one location, as far as causality cares: a finished log.
//!
//! A [`LogBuilder`](crate::LogBuilder) makes it while the events of a location are read. A log is plain
//! data, columns of equal kind side by side, so that it can be sent to another
//! process or kept in a file; and since what comes back may be damaged, or made
//! by hand, [`LogColumns::check`] proves that it hangs together before anybody
//! computes with it:
//!
//! ```
//! use retime_model::{LocationIndex, LogBuilder, LogColumns, LogError, LogNode, Message, Timestamp};
//! let mut log = LogBuilder::new(LocationIndex(0));
//! log.send(4, Timestamp(50), Message { communicator: 0, peer: LocationIndex(1), tag: 7 }, None);
//! let log = log.finish(6, Timestamp(10), Timestamp(60))?;
//! assert_eq!((log.len(), log.event(LogNode(0))), (1, Some(4)));
//!
//! let mut columns = log.into_columns();
//! columns.events = 3; // fewer than there are
//! assert_eq!(columns.check().unwrap_err(), LogError::EventsMissing { events: 3, number: 4 });
//! # Ok::<(), LogError>(())
//! ```

use serde::{Deserialize, Serialize};

use crate::defect::Defects;
use crate::lasting::{HeldLater, Lasted, Overlap};
use crate::log_node::LogNode;
use crate::packed;
use crate::packed_fields;
use crate::role::{Class, Collective, Message, MessageId, OperationId, Role};
use crate::time::Timestamp;
use crate::trace::LocationIndex;

/// A channel of a log, by its position in [`LogColumns::channels`].
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct ChannelIndex(pub u32);

impl ChannelIndex {
    /// The position as an index.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

packed_fields!(ChannelIndex { 0: u32 });

/// The events with a role of one location, in order; columns refer to them as
/// [`LogNode`]s.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "LogColumns")]
pub struct LocationLog(LogColumns);

/// In [`LogColumns::posted_within`]: a receive may have been posted at any time before.
pub const ANY_TIME: u32 = u32::MAX;

/// In [`LogColumns::posted_in`]: no call is given.
pub const NO_CALL: LogNode = LogNode(u32::MAX);

/// The columns of a [`LocationLog`], which may not hang together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogColumns {
    /// Whose log it is.
    pub location: LocationIndex,
    /// How many events the location has, with or without a role.
    pub events: u64,
    /// First and last stamp of any event; `None` without events.
    pub range: Option<(Timestamp, Timestamp)>,
    /// When each event with a role was, never falling.
    #[serde(with = "packed")]
    pub times: Vec<Timestamp>,
    /// Its number among all events of the location, from 0, rising.
    #[serde(with = "packed")]
    pub numbers: Vec<u32>,
    /// The part it plays.
    #[serde(with = "packed")]
    pub roles: Vec<Role>,
    /// The envelopes of messages that have no ids; each stands for a channel.
    pub channels: Vec<Message>,
    /// Sends by channel, as they were posted.
    #[serde(with = "packed")]
    pub sends: Vec<ChannelPlace>,
    /// Receives by channel, as they were posted.
    #[serde(with = "packed")]
    pub receives: Vec<ChannelPlace>,
    /// When each of `receives` was posted, at the latest.
    #[serde(with = "packed")]
    pub posted: Vec<Timestamp>,
    /// How many ticks earlier that may have been; [`ANY_TIME`] if nothing tells, or it
    /// is more than fits, and 0
    /// for receives beyond the end of this column.
    #[serde(with = "packed")]
    pub posted_within: Vec<u32>,
    /// The entered call in which each of `receives` was posted; [`NO_CALL`] if none is
    /// given, as for receives beyond the end of this column.
    #[serde(with = "packed")]
    pub posted_in: Vec<LogNode>,
    /// Synchronous sends that are complete.
    #[serde(with = "packed")]
    pub accepted: Vec<Accepted>,
    /// From when to when, at most, events were not recorded; outside of it the
    /// recording is whole.
    pub gap: Option<(Timestamp, Timestamp)>,
    /// When the last of those receives was posted of which no completion is recorded,
    /// though their messages may have come.
    pub never_completed: Option<Timestamp>,
    /// From when to when calls of collective operations began of which no end is recorded.
    pub never_ended: Option<(Timestamp, Timestamp)>,
    /// Calls of collective operations that have no ids, as they were entered.
    pub calls: Vec<Call>,
    /// Sends and receives of messages that have ids.
    pub named_messages: Vec<NamedMessage>,
    /// The lengths of those that are sent, where they are recorded.
    #[serde(with = "packed")]
    pub named_lengths: Vec<NamedLength>,
    /// One entry per event, up to the last that is known: of a receive, for how long its location had done nothing else
    /// when it was complete; of a send, for how long it kept its location.
    #[serde(with = "packed")]
    pub lasted: Vec<Lasted>,
    /// The sends of these that kept it from later on; rising.
    #[serde(with = "packed")]
    pub held_later: Vec<HeldLater>,
    /// The times at which the device of the location computed while an operation or a message of it
    /// was under way, where they are recorded.
    #[serde(with = "packed")]
    pub overlaps: Vec<Overlap>,
    /// True of a stream of a device of which it is recorded when that computed: nobody stands still
    /// meanwhile.
    pub knows_work: bool,
    /// True of a thread: it works whenever it does not wait.
    pub is_thread: bool,
    /// Begins and ends of operations that have ids.
    pub named_operations: Vec<NamedOperation>,
    /// Defects of the recording.
    pub defects: Defects,
}

/// A message in its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelPlace {
    /// Its channel.
    pub channel: ChannelIndex,
    /// Its event.
    pub node: LogNode,
    /// How long it is.
    pub length: Length,
}

packed_fields!(ChannelPlace {
    channel: ChannelIndex,
    node: LogNode,
    length: Length,
});

/// A synchronous send that is complete, so that its receive was posted before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    /// The send.
    pub send: LogNode,
    /// Its completion, which depends on the posting: for others a receive.
    pub completion: LogNode,
}

packed_fields!(Accepted {
    send: LogNode,
    completion: LogNode,
});

/// The length of a message that has an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedLength {
    /// The send.
    pub send: LogNode,
    /// How long it is.
    pub length: Length,
}

packed_fields!(NamedLength {
    send: LogNode,
    length: Length,
});

/// The length of a message in bytes as one of its ends recorded it, if it did. From
/// 4 GiB on all lengths are one.
///
/// ```
/// use retime_model::Length;
/// assert!(Length::of(8) != Length::of(9) && Length::of(1 << 32) == Length::of(1 << 40));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Length(u32);

packed_fields!(Length { 0: u32 });

impl Length {
    /// Nothing tells.
    pub const UNKNOWN: Self = Self(u32::MAX);

    /// A length of so many bytes.
    #[inline]
    pub const fn of(bytes: u64) -> Self {
        let longest = Self::UNKNOWN.0 - 1;
        Self(if bytes < longest as u64 {
            bytes as u32
        } else {
            longest
        })
    }

    /// True if it was recorded.
    #[inline]
    pub const fn is_known(self) -> bool {
        self.0 != Self::UNKNOWN.0
    }

    /// The bytes, if they are known exactly.
    ///
    /// ```
    /// use retime_model::Length;
    /// assert_eq!(Length::of(8).bytes(), Some(8));
    /// assert_eq!([Length::of(1 << 40).bytes(), Length::UNKNOWN.bytes()], [None, None]);
    /// ```
    #[inline]
    pub fn bytes(self) -> Option<u64> {
        (self.0 < Self::UNKNOWN.0 - 1).then_some(u64::from(self.0))
    }

    /// A number of its own for each length.
    #[inline]
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// One participant's part in a collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The operation as recorded at its end.
    pub what: Collective,
    /// Its begin, if that was recorded.
    pub begin: Option<LogNode>,
    /// Its end, if that was recorded. A participant that only waits, or is only waited
    /// for, has just one of the two.
    pub end: Option<LogNode>,
}

/// A send or receive of a message that has an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedMessage {
    /// The id that both ends have in common.
    pub id: MessageId,
    /// Its event.
    pub node: LogNode,
}

/// The part that a begin or end has in an operation that the trace names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationPart {
    /// The id that all events of the operation have in common.
    pub id: OperationId,
    /// The order that it proves.
    pub class: Class,
    /// The place of the location in a prefix operation.
    pub rank: u32,
    /// How many events of this role the operation has.
    pub expected: u32,
}

/// A begin or end of an operation that has an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedOperation {
    /// The id that all events of the operation have in common.
    pub id: OperationId,
    /// The order that it proves.
    pub class: Class,
    /// The place of the location in a prefix operation.
    pub rank: u32,
    /// How many events of this role the operation has.
    pub expected: u32,
    /// Its event.
    pub node: LogNode,
}

/// Why columns make no log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// Columns that must be of one length are not.
    #[error("the log of a location has columns of different lengths: {0}")]
    Lengths(&'static str),
    /// The numbers of events do not rise.
    #[error(
        "event {number} is reported after event {before}; the events of a location come in order"
    )]
    OutOfOrder {
        /// Number of the event.
        number: u64,
        /// Number of the one before it.
        before: u64,
    },
    /// More events than numbers for them.
    #[error("a location has event {0}; at most {max} per location are supported", max = u32::MAX)]
    TooManyEvents(u64),
    /// An event with a role is stamped before the one before it.
    #[error(
        "event {number} is stamped {time}, before the one before it ({before}); report the time that it had to wait for"
    )]
    TimeFalls {
        /// Number of the event.
        number: u32,
        /// Its stamp.
        time: Timestamp,
        /// The stamp before it.
        before: Timestamp,
    },
    /// Fewer events than were reported.
    #[error(
        "a location is said to have {events} events, but number {number} (from 0) was reported"
    )]
    EventsMissing {
        /// How many there are said to be.
        events: u64,
        /// A number that was reported.
        number: u32,
    },
    /// A stamp outside of the location's first and last.
    #[error(
        "event {number} is stamped {time}, which is not between the first and the last stamp of its location"
    )]
    OutsideRange {
        /// Number of the event.
        number: u32,
        /// Its stamp.
        time: Timestamp,
    },
    /// The first stamp of a location lies after its last, or is missing.
    #[error("the first and the last stamp of a location do not fit its {0} events")]
    BadRange(u64),
    /// A column refers to an event or a channel that is not there, or to an
    /// event of another role.
    #[error("{0} of a log refer to what is not there")]
    Dangling(&'static str),
}

impl LocationLog {
    /// Whose log it is.
    pub const fn location(&self) -> LocationIndex {
        self.0.location
    }

    /// How many events have a role.
    pub const fn len(&self) -> usize {
        self.0.times.len()
    }

    /// True if no event has a role.
    pub const fn is_empty(&self) -> bool {
        self.0.times.is_empty()
    }

    /// The number of an event with a role among all events of the location.
    pub fn event(&self, node: LogNode) -> Option<u64> {
        self.0
            .numbers
            .get(node.index())
            .map(|&number| number.into())
    }

    /// Its columns.
    pub const fn columns(&self) -> &LogColumns {
        &self.0
    }

    /// Its columns, to compute with or to change.
    pub fn into_columns(self) -> LogColumns {
        self.0
    }
}

impl TryFrom<LogColumns> for LocationLog {
    type Error = LogError;

    fn try_from(columns: LogColumns) -> Result<Self, LogError> {
        columns.check()?;
        Ok(Self(columns))
    }
}

impl From<LocationLog> for LogColumns {
    fn from(log: LocationLog) -> Self {
        log.0
    }
}

impl LogColumns {
    /// Between what receive number `place` was posted.
    pub fn posting(&self, place: usize) -> Option<(Timestamp, Timestamp)> {
        let latest = *self.posted.get(place)?;
        let earliest = match self.posted_within.get(place) {
            Some(&ANY_TIME) => 0,
            Some(&ticks) => latest.0.saturating_sub(ticks.into()),
            None => latest.0,
        };
        Some((Timestamp(earliest), latest))
    }

    /// True if nothing tells when receive number `place` was posted.
    pub fn is_posted_at_any_time(&self, place: usize) -> bool {
        self.posted_within.get(place) == Some(&ANY_TIME)
    }

    /// Succeeds if they hang together.
    pub fn check(&self) -> Result<(), LogError> {
        self.check_events()?;
        self.check_range()?;
        self.check_references()
    }

    fn check_events(&self) -> Result<(), LogError> {
        let count = self.times.len();
        if self.numbers.len() != count || self.roles.len() != count {
            return Err(LogError::Lengths("times, numbers and roles of events"));
        }
        let columns_of_postings = [self.posted_within.len(), self.posted_in.len()];
        if self.receives.len() != self.posted.len()
            || columns_of_postings.iter().any(|&it| it > self.posted.len())
        {
            return Err(LogError::Lengths("receives and their postings"));
        }
        if self.events > u64::from(u32::MAX) {
            return Err(LogError::TooManyEvents(self.events));
        }
        for pair in self.numbers.windows(2) {
            if pair[0] >= pair[1] {
                return Err(LogError::OutOfOrder {
                    number: pair[1].into(),
                    before: pair[0].into(),
                });
            }
        }
        for (pair, &number) in self.times.windows(2).zip(self.numbers.iter().skip(1)) {
            if pair[0] > pair[1] {
                return Err(LogError::TimeFalls {
                    number,
                    time: pair[1],
                    before: pair[0],
                });
            }
        }
        match self.numbers.last() {
            Some(&number) if u64::from(number) >= self.events => Err(LogError::EventsMissing {
                events: self.events,
                number,
            }),
            _ => Ok(()),
        }
    }

    fn check_range(&self) -> Result<(), LogError> {
        let (first, last) = match self.range {
            None if self.events == 0 => return Ok(()),
            Some((first, last)) if self.events > 0 && first <= last => (first, last),
            _ => return Err(LogError::BadRange(self.events)),
        };
        // Times rise, so that the outermost stand for all.
        let ends = [
            self.times.first().zip(self.numbers.first()),
            self.times.last().zip(self.numbers.last()),
        ];
        let outside = ends
            .into_iter()
            .flatten()
            .find(|(time, _)| **time < first || **time > last);
        match outside {
            Some((&time, &number)) => Err(LogError::OutsideRange { number, time }),
            None => Ok(()),
        }
    }

    fn check_references(&self) -> Result<(), LogError> {
        let has = |node: LogNode, role: Role| self.roles.get(node.index()) == Some(&role);
        let on_channel = |place: &ChannelPlace, role: Role| {
            place.channel.index() < self.channels.len() && has(place.node, role)
        };
        let call = |call: &Call| {
            let begun = call.begin.is_none_or(|it| has(it, Role::CollectiveBegin));
            let ended = call.end.is_none_or(|it| has(it, Role::CollectiveEnd));
            begun && ended && call.begin.or(call.end).is_some()
        };
        let entered = |&it: &LogNode| it == NO_CALL || has(it, Role::Send);
        let accepted = |it: &Accepted| {
            has(it.send, Role::Send) && has(it.completion, Role::Receive) && it.send < it.completion
        };
        let message = |it: &NamedMessage| has(it.node, Role::Send) || has(it.node, Role::Receive);
        let operation = |it: &NamedOperation| {
            has(it.node, Role::CollectiveBegin) || has(it.node, Role::CollectiveEnd)
        };
        let sound = [
            (
                "sends",
                self.sends.iter().all(|it| on_channel(it, Role::Send)),
            ),
            (
                "receives",
                self.receives.iter().all(|it| on_channel(it, Role::Receive)),
            ),
            ("postings", self.posted_in.iter().all(entered)),
            ("completions of sends", self.accepted.iter().all(accepted)),
            (
                "lengths of messages with ids",
                self.named_lengths.iter().all(|it| has(it.send, Role::Send)),
            ),
            ("waits for messages", self.lasted.len() <= self.times.len()),
            (
                "durations of sends",
                self.held_later.iter().all(|it| has(it.send, Role::Send)),
            ),
            (
                "times of computing",
                self.overlaps.iter().all(|it| {
                    let began = [Role::CollectiveBegin, Role::Send];
                    let over = [Role::CollectiveEnd, Role::Receive];
                    let mut any = began.into_iter().chain(over);
                    any.any(|role| has(it.node, role))
                }),
            ),
            ("calls of collectives", self.calls.iter().all(call)),
            ("messages with ids", self.named_messages.iter().all(message)),
            (
                "operations with ids",
                self.named_operations.iter().all(operation),
            ),
        ];
        match sound.into_iter().find(|(_, sound)| !sound) {
            Some((what, _)) => Err(LogError::Dangling(what)),
            None => Ok(()),
        }
    }
}
