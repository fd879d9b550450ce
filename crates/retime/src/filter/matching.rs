//! Which receive belongs to which send, while both are on their way.
//!
//! The first half of a message waits under its id for the other one; ids used
//! more than once form a line. From then on the message is known by its number
//! alone, until its receive is computed.

use rustc_hash::FxHashMap;

use super::event::MessageId;
use retime_model::ClockId;

/// A time that is not known yet.
pub(super) const UNKNOWN: i64 = i64::MIN;

/// A message under way, by its number among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MessageNumber(u32);

impl MessageNumber {
    const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is known of a message under way.
#[derive(Clone, Debug)]
pub(super) struct Message {
    id: MessageId,
    /// The next one in line, and, of the first, the last one.
    next: Option<MessageNumber>,
    last: MessageNumber,
    pub(super) has_send: bool,
    pub(super) has_receive: bool,
    /// The receive went on without its send.
    pub(super) given_up: bool,
    /// Time of the send: computed, or later the final one.
    pub(super) sent: i64,
    pub(super) sent_simple: i64,
    pub(super) sent_raw: i64,
    /// Clock of the send, and number of its gate.
    pub(super) from: ClockId,
    pub(super) gate: u64,
    /// Clock of the receive.
    pub(super) to: ClockId,
    /// Raw time of the half that came first.
    pub(super) since: i64,
}

/// All messages under way.
#[derive(Debug, Default)]
pub(super) struct Matching {
    waiting: FxHashMap<MessageId, MessageNumber>,
    messages: Vec<Message>,
    free: Vec<MessageNumber>,
}

impl Matching {
    /// A send has come; the message it belongs to.
    pub(super) fn sent(&mut self, id: MessageId, clock: ClockId, raw: i64) -> MessageNumber {
        let number = self.join(id, raw, |message| message.has_send);
        let message = &mut self.messages[number.index()];
        message.has_send = true;
        message.from = clock;
        number
    }

    /// A receive has come; the message it belongs to.
    pub(super) fn received(&mut self, id: MessageId, clock: ClockId, raw: i64) -> MessageNumber {
        let number = self.join(id, raw, |message| message.has_receive);
        let message = &mut self.messages[number.index()];
        message.has_receive = true;
        message.to = clock;
        number
    }

    /// Takes the first message that waits for this half, or lines up a new one.
    fn join(&mut self, id: MessageId, raw: i64, same: impl Fn(&Message) -> bool) -> MessageNumber {
        let Some(&first) = self.waiting.get(&id) else {
            let number = self.create(id, raw);
            self.waiting.insert(id, number);
            return number;
        };
        if same(&self.messages[first.index()]) {
            let number = self.create(id, raw);
            let last = self.messages[first.index()].last;
            self.messages[last.index()].next = Some(number);
            self.messages[first.index()].last = number;
            return number;
        }
        self.leave_line(first);
        first
    }

    /// The first in line is no longer.
    fn leave_line(&mut self, first: MessageNumber) {
        let Message { id, next, last, .. } = self.messages[first.index()];
        if let Some(next) = next {
            self.messages[next.index()].last = last;
            self.waiting.insert(id, next);
        } else {
            self.waiting.remove(&id);
        }
    }

    fn create(&mut self, id: MessageId, raw: i64) -> MessageNumber {
        let new = MessageNumber(self.messages.len() as u32);
        let number = self.free.pop().unwrap_or(new);
        let message = Message {
            id,
            next: None,
            last: number,
            has_send: false,
            has_receive: false,
            given_up: false,
            sent: UNKNOWN,
            sent_simple: UNKNOWN,
            sent_raw: UNKNOWN,
            from: ClockId(0),
            gate: 0,
            to: ClockId(0),
            since: raw,
        };
        if number == new {
            self.messages.push(message);
        } else {
            self.messages[number.index()] = message;
        }
        number
    }

    pub(super) fn get(&self, number: MessageNumber) -> &Message {
        &self.messages[number.index()]
    }

    pub(super) fn get_mut(&mut self, number: MessageNumber) -> &mut Message {
        &mut self.messages[number.index()]
    }

    /// Nobody will ask for this message any more.
    pub(super) fn finish(&mut self, number: MessageNumber) {
        self.free.push(number);
    }

    /// Forgets messages of which one half waits in vain since before `time`: sends
    /// that are computed, and receives that went on without their send.
    pub(super) fn forget_before(&mut self, time: i64, mut forgotten: impl FnMut(&Message)) {
        let is_old = |message: &Message| {
            message.since < time && (message.sent != UNKNOWN || message.given_up)
        };
        let lines: Vec<MessageNumber> = self.waiting.values().copied().collect();
        for line in lines {
            let mut first = Some(line);
            while let Some(number) = first.filter(|it| is_old(&self.messages[it.index()])) {
                first = self.messages[number.index()].next;
                self.leave_line(number);
                forgotten(&self.messages[number.index()]);
                self.finish(number);
            }
        }
    }

    /// How many messages are under way.
    pub(super) fn len(&self) -> usize {
        self.messages.len() - self.free.len()
    }
}
