//! Messages and operations whose lines have not all come yet.
//!
//! A trace may use an id again: the n-th receive of an id belongs to its n-th send,
//! and an operation's id is free when all of its lines have come. So each message
//! and each operation gets a number that it has alone, and only those that wait for
//! lines take memory.
//!
//! ```text
//! line        send a   send a   receive a   receive a   receive b   send b   send a
//! message        0        1         0           1           2          2        3
//! ```

use std::collections::VecDeque;

use retime_model::{LocationIndex, MessageId, OperationId};

use crate::id::{Id, IdMap};
use crate::line::Part;
use crate::noticed::Noticed;

/// Messages and operations that wait for further lines.
#[derive(Default)]
pub(crate) struct Open {
    messages: IdMap<Waiting>,
    operations: IdMap<Running>,
    next_message: u64,
    next_operation: u64,
    pub(crate) noticed: Noticed,
}

/// Sends that wait for receives, or receives that wait for sends.
struct Waiting {
    is_send: bool,
    first: MessageEnd,
    others: VecDeque<MessageEnd>,
}

/// A line that sends or receives a message.
#[derive(Clone, Copy)]
struct MessageEnd {
    message: MessageId,
    location: LocationIndex,
}

/// An operation, with the begins and ends that have come.
struct Running {
    id: OperationId,
    begins: u32,
    ends: u32,
}

impl Waiting {
    /// Whose line is hardly of the same message as one with its id that comes now: two locations send
    /// it, or two receive it, or one receives it and sends it later.
    fn clashing(&self, is_send: bool, location: LocationIndex) -> Option<LocationIndex> {
        let latest = self.others.back().unwrap_or(&self.first).location;
        let first = self.first.location;
        if self.is_send == is_send {
            (latest != location).then_some(latest)
        } else {
            (is_send && first == location).then_some(first)
        }
    }
}

impl Open {
    /// The message that a line of a location sends or receives.
    pub(crate) fn message(
        &mut self,
        id: Id<'_>,
        is_send: bool,
        location: LocationIndex,
    ) -> MessageId {
        let new = MessageId::number(self.next_message);
        let waiting = self.messages.get_mut(id);
        let other = waiting
            .as_ref()
            .and_then(|it| it.clashing(is_send, location));
        if let Some(other) = other {
            self.noticed.shares_id(id, is_send, [other, location]);
        }
        let found = match waiting {
            Some(waiting) if waiting.is_send == is_send => {
                waiting.others.push_back(MessageEnd {
                    message: new,
                    location,
                });
                new
            }
            Some(waiting) => {
                return match waiting.others.pop_front() {
                    Some(next) => std::mem::replace(&mut waiting.first, next).message,
                    None => self
                        .messages
                        .remove(id)
                        .map_or(new, |last| last.first.message),
                };
            }
            None => {
                let waiting = Waiting {
                    is_send,
                    first: MessageEnd {
                        message: new,
                        location,
                    },
                    others: VecDeque::new(),
                };
                self.messages.insert(id, waiting);
                new
            }
        };
        self.next_message += 1;
        found
    }

    /// The operation that a line enters or leaves.
    pub(crate) fn operation(&mut self, part: &Part<'_>, is_begin: bool) -> OperationId {
        let mut running = self.operations.remove(part.operation).unwrap_or_else(|| {
            self.next_operation += 1;
            Running {
                id: OperationId::number(self.next_operation - 1),
                begins: 0,
                ends: 0,
            }
        });
        let id = running.id;
        let count = if is_begin {
            &mut running.begins
        } else {
            &mut running.ends
        };
        *count = count.saturating_add(1);
        if running.begins < part.begins || running.ends < part.ends {
            self.operations.insert(part.operation, running);
        }
        id
    }
}
