//! The content of a line, typed: an event, or a word on its location.

use retime_model::{Class, Length, LocationIndex, Message};

use super::fields::Fields;
use crate::id::Id;

/// The event that a line reports, or its word on a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What<'a> {
    /// Nothing earlier comes from this location.
    Heartbeat,
    /// Nothing comes from this location any more.
    End,
    /// An event that has nothing to do with other locations.
    Internal,
    /// A message leaves.
    Send(Transfer<'a>),
    /// A message has arrived.
    Receive(Transfer<'a>),
    /// An operation is entered.
    Enter(Part<'a>),
    /// An operation is left.
    Leave(Part<'a>),
}

/// A message, as one of its ends says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer<'a> {
    /// Which one.
    pub partner: Partner<'a>,
    /// How long it is, if the line says so.
    pub length: Length,
}

/// How a line says which message it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partner<'a> {
    /// Names the message by an id that the send and the receive have in common.
    Message(Id<'a>),
    /// Names the message by its turn among all messages from one location to another with the same
    /// tag and communicator, which may be any numbers.
    Channel(Message),
}

/// The part of a location in an operation of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// The id that all events of the operation have in common.
    pub operation: Id<'a>,
    /// The class of the operation, which decides what it proves.
    pub class: Class,
    /// The rank in a scan, 0 otherwise.
    pub rank: u32,
    /// How many begins there are that others depend on.
    pub begins: u32,
    /// How many ends there are that depend on others.
    pub ends: u32,
    /// True if this event is one of them.
    pub counts: bool,
}

/// The type of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is named as the line names it")]
pub enum Kind {
    Internal,
    Send,
    Receive,
    CollectiveBegin,
    CollectiveEnd,
}

impl Kind {
    /// All of them, by number.
    pub const ALL: [Self; 5] = [
        Self::Internal,
        Self::Send,
        Self::Receive,
        Self::CollectiveBegin,
        Self::CollectiveEnd,
    ];

    /// The name that a line says.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Internal => "internal",
            Self::Send => "send",
            Self::Receive => "receive",
            Self::CollectiveBegin => "collective-begin",
            Self::CollectiveEnd => "collective-end",
        }
    }
}

impl What<'_> {
    /// The type of the event; `None` if the line is none.
    pub const fn kind(&self) -> Option<Kind> {
        Some(match self {
            Self::Heartbeat | Self::End => return None,
            Self::Internal => Kind::Internal,
            Self::Send(_) => Kind::Send,
            Self::Receive(_) => Kind::Receive,
            Self::Enter(_) => Kind::CollectiveBegin,
            Self::Leave(_) => Kind::CollectiveEnd,
        })
    }
}

impl<'a> Fields<'a> {
    /// The content of the line, typed; `index` finds the location that a message goes to or comes
    /// from.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in words; and those of `index`.
    #[inline]
    pub fn what(
        &self,
        index: impl FnOnce(Id<'a>) -> Result<LocationIndex, String>,
    ) -> Result<What<'a>, String> {
        Ok(match self.kind.unwrap_or("\"internal\"") {
            "\"heartbeat\"" => What::Heartbeat,
            "\"end\"" => What::End,
            "\"internal\"" => What::Internal,
            "\"send\"" => match self.transfer(self.to, index)? {
                Some(transfer) => What::Send(transfer),
                None => return Err("a send needs \"message\" or \"to\"".into()),
            },
            "\"receive\"" => match self.transfer(self.from, index)? {
                Some(transfer) => What::Receive(transfer),
                None => return Err("a receive needs \"message\" or \"from\"".into()),
            },
            "\"collective-begin\"" => What::Enter(self.part(true)?),
            "\"collective-end\"" => What::Leave(self.part(false)?),
            other => {
                return Err(format!(
                    "type {other} is not known: give internal, send, receive, \
                     collective-begin, collective-end, heartbeat or end"
                ));
            }
        })
    }

    fn transfer(
        &self,
        peer: Option<&'a str>,
        index: impl FnOnce(Id<'a>) -> Result<LocationIndex, String>,
    ) -> Result<Option<Transfer<'a>>, String> {
        let length = match self.bytes.map(|raw| whole(raw).ok_or(raw)) {
            None => Length::UNKNOWN,
            Some(Ok(bytes)) => Length::of(bytes),
            Some(Err(raw)) => {
                return Err(format!(
                    "\"bytes\" is {raw}: give whole bytes from 0 to 18446744073709551615, or no such \
                     field"
                ));
            }
        };
        let partner = self.partner(peer, index)?;
        Ok(partner.map(|partner| Transfer { partner, length }))
    }

    fn partner(
        &self,
        peer: Option<&'a str>,
        index: impl FnOnce(Id<'a>) -> Result<LocationIndex, String>,
    ) -> Result<Option<Partner<'a>>, String> {
        Ok(match (self.message, peer) {
            (Some(message), _) => Some(Partner::Message(Id::of_event(message)?)),
            (None, Some(peer)) => Some(Partner::Channel(Message {
                peer: index(Id::of_location(peer)?)?,
                communicator: self.communicator.unwrap_or(0),
                tag: self.tag.unwrap_or(0),
            })),
            (None, None) => None,
        })
    }

    fn part(&self, is_begin: bool) -> Result<Part<'a>, String> {
        let operation = Id::of_event(self.collective.ok_or("\"collective\" is missing")?)?;
        let all = self.participants.ok_or("\"participants\" is missing")?;
        let others = all.saturating_sub(1);
        let is_root = self.root.unwrap_or(false);
        // How many begins and ends count, and whether this one does.
        let (class, begins, ends, counts) = match self.class.unwrap_or("\"all-to-all\"") {
            "\"all-to-all\"" => (Class::AllToAll, all, all, true),
            "\"from-root\"" => (Class::OneToAll, 1, others, is_root == is_begin),
            "\"to-root\"" => (Class::AllToOne, others, 1, is_root != is_begin),
            "\"scan\"" => (Class::Prefix, all, all, true),
            other => {
                return Err(format!(
                    "class {other} is not known: give all-to-all, from-root, to-root or scan"
                ));
            }
        };
        let rank = match class {
            Class::Prefix => self.rank.ok_or("a scan needs \"rank\"")?,
            _ => 0,
        };
        Ok(Part {
            operation,
            class,
            rank,
            begins: self.begins.unwrap_or(begins),
            ends: self.ends.unwrap_or(ends),
            counts,
        })
    }
}

/// A number that is whole, also as `8.0`: tables whose columns have gaps write all numbers so.
fn whole(raw: &str) -> Option<u64> {
    let (number, fraction) = raw.split_once('.').unwrap_or((raw, "0"));
    let is_whole = fraction.bytes().all(|digit| digit == b'0');
    is_whole.then(|| number.parse().ok()).flatten()
}
