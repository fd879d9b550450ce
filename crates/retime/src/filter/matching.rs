//! Which receive belongs to which send, while both are on their way.
//!
//! The first half of a message waits under its id for the other one; ids used
//! more than once form a line. From then on the message is known by its number
//! alone, until its receive is computed.

use rustc_hash::FxHashMap;

use super::event::MessageId;

/// No entry.
pub(super) const NONE: u32 = u32::MAX;
/// A time that is not known yet.
pub(super) const UNKNOWN: i64 = i64::MIN;

/// A message under way.
#[derive(Clone, Debug)]
pub(super) struct Message {
    id: MessageId,
    /// The next one in line, and, of the first, the last one.
    next: u32,
    last: u32,
    pub(super) has_send: bool,
    pub(super) has_receive: bool,
    /// The receive went on without its send.
    pub(super) given_up: bool,
    /// Time of the send: computed, or later the final one.
    pub(super) sent: i64,
    pub(super) sent_simple: i64,
    pub(super) sent_raw: i64,
    /// Clock of the send, and number of its gate.
    pub(super) from: u32,
    pub(super) gate: u64,
    /// Clock of the receive.
    pub(super) to: u32,
    /// Raw time of the half that came first.
    pub(super) since: i64,
}

/// All messages under way.
#[derive(Debug, Default)]
pub(super) struct Matching {
    waiting: FxHashMap<MessageId, u32>,
    messages: Vec<Message>,
    free: Vec<u32>,
}

impl Matching {
    /// A send has come; the message it belongs to.
    pub(super) fn sent(&mut self, id: MessageId, clock: u32, raw: i64) -> u32 {
        let number = self.join(id, raw, |message| message.has_send);
        let message = &mut self.messages[number as usize];
        message.has_send = true;
        message.from = clock;
        number
    }

    /// A receive has come; the message it belongs to.
    pub(super) fn received(&mut self, id: MessageId, clock: u32, raw: i64) -> u32 {
        let number = self.join(id, raw, |message| message.has_receive);
        let message = &mut self.messages[number as usize];
        message.has_receive = true;
        message.to = clock;
        number
    }

    /// Takes the first message that waits for this half, or lines up a new one.
    fn join(&mut self, id: MessageId, raw: i64, same: impl Fn(&Message) -> bool) -> u32 {
        let Some(&first) = self.waiting.get(&id) else {
            let number = self.create(id, raw);
            self.waiting.insert(id, number);
            return number;
        };
        if same(&self.messages[first as usize]) {
            let number = self.create(id, raw);
            let last = self.messages[first as usize].last;
            self.messages[last as usize].next = number;
            self.messages[first as usize].last = number;
            return number;
        }
        self.leave_line(first);
        first
    }

    /// The first in line is no longer.
    fn leave_line(&mut self, first: u32) {
        let Message { id, next, last, .. } = self.messages[first as usize];
        if next == NONE {
            self.waiting.remove(&id);
        } else {
            self.messages[next as usize].last = last;
            self.waiting.insert(id, next);
        }
    }

    fn create(&mut self, id: MessageId, raw: i64) -> u32 {
        let number = self.free.pop().unwrap_or(self.messages.len() as u32);
        let message = Message {
            id,
            next: NONE,
            last: number,
            has_send: false,
            has_receive: false,
            given_up: false,
            sent: UNKNOWN,
            sent_simple: UNKNOWN,
            sent_raw: UNKNOWN,
            from: 0,
            gate: 0,
            to: 0,
            since: raw,
        };
        if number as usize == self.messages.len() {
            self.messages.push(message);
        } else {
            self.messages[number as usize] = message;
        }
        number
    }

    pub(super) fn get(&self, number: u32) -> &Message {
        &self.messages[number as usize]
    }

    pub(super) fn get_mut(&mut self, number: u32) -> &mut Message {
        &mut self.messages[number as usize]
    }

    /// Nobody will ask for this message any more.
    pub(super) fn finish(&mut self, number: u32) {
        self.free.push(number);
    }

    /// Forgets messages of which one half waits in vain since before `time`: sends
    /// that are computed, and receives that went on without their send.
    pub(super) fn forget_before(&mut self, time: i64, mut forgotten: impl FnMut(&Message)) {
        let is_old = |message: &Message| {
            message.since < time && (message.sent != UNKNOWN || message.given_up)
        };
        let lines: Vec<u32> = self.waiting.values().copied().collect();
        for mut first in lines {
            while first != NONE && is_old(&self.messages[first as usize]) {
                let next = self.messages[first as usize].next;
                self.leave_line(first);
                forgotten(&self.messages[first as usize]);
                self.finish(first);
                first = next;
            }
        }
    }

    /// How many messages are under way.
    pub(super) fn len(&self) -> usize {
        self.messages.len() - self.free.len()
    }
}
