//! Which receive belongs to which send, while both are on their way.
//!
//! The first half of a message waits under its id for the other one; ids used
//! more than once form a line. From then on the message is known by its number
//! alone, until its receive is computed.
//!
//! A half that waits in vain is forgotten after a while, or if there are too many. Of
//! channels, where the n-th receive belongs to the n-th send, it stays known how many
//! sends were: as many receives go without, instead of taking the sends of others.

use rustc_hash::FxHashMap;

use crate::event::MessageId;
use crate::kept::Kept;
use retime_model::ClockId;

/// A time that is not known yet.
pub(crate) const UNKNOWN: i64 = i64::MIN;

/// The number of channels of which it is remembered that sends are forgotten: as much room as for
/// messages themselves. If there are more, the count starts anew.
const SKIPPED: usize = 1 << 18;

/// A time before all others, of a send that is forgotten.
const FORGOTTEN: i64 = i64::MIN / 2;

/// A message under way, by its number among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MessageNumber(u32);

impl MessageNumber {
    /// The place of the message in a list.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The state of a message under way.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    id: MessageId,
    /// The next one in line, and, of the first, the last one.
    next: Option<MessageNumber>,
    last: MessageNumber,
    pub(crate) has_send: bool,
    pub(crate) has_receive: bool,
    /// The receive went on without its send,
    pub(crate) given_up: bool,
    /// and was stamped then.
    pub(crate) received_raw: i64,
    /// Time of the send: computed, or later the final one.
    pub(crate) sent: i64,
    pub(crate) sent_simple: i64,
    pub(crate) sent_raw: i64,
    /// Clock of the send, and number of its gate.
    pub(crate) from: ClockId,
    pub(crate) gate: u64,
    /// Clock of the receive.
    pub(crate) to: ClockId,
    /// Raw time of the half that came first.
    pub(crate) since: i64,
}

/// All messages under way.
#[derive(Debug, Default)]
pub(crate) struct Matching {
    waiting: FxHashMap<MessageId, MessageNumber>,
    messages: Vec<Message>,
    free: Vec<MessageNumber>,
    /// Halves that have gone through the filter.
    kept: Kept,
    /// How many sends of a channel are forgotten whose receives may come.
    skipped: FxHashMap<MessageId, u64>,
}

impl Message {
    /// True if it is a receive of which no more is known than that its send came.
    pub(crate) fn is_send_forgotten(&self) -> bool {
        self.sent == FORGOTTEN
    }
}

impl Matching {
    /// A send has come; the message it belongs to.
    pub(crate) fn sent(&mut self, id: MessageId, clock: ClockId, raw: i64) -> MessageNumber {
        let number = self.join(id, raw, |message| message.has_send);
        let message = &mut self.messages[number.index()];
        message.has_send = true;
        message.from = clock;
        number
    }

    /// A receive has come; the message it belongs to.
    pub(crate) fn received(&mut self, id: MessageId, clock: ClockId, raw: i64) -> MessageNumber {
        if self.is_skipped(id) {
            return self.without_send(id, clock, raw);
        }
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
        self.kept.remove(first.0);
        first
    }

    /// True if the next receive of a channel belongs to a send that is forgotten.
    fn is_skipped(&mut self, id: MessageId) -> bool {
        if self.skipped.is_empty() {
            return false;
        }
        let Some(count) = self.skipped.get_mut(&id) else {
            return false;
        };
        *count -= 1;
        if *count == 0 {
            self.skipped.remove(&id);
        }
        true
    }

    /// A receive that nothing binds and that binds nothing.
    fn without_send(&mut self, id: MessageId, clock: ClockId, raw: i64) -> MessageNumber {
        let number = self.create(id, raw);
        let message = &mut self.messages[number.index()];
        message.has_receive = true;
        (message.from, message.to) = (clock, clock);
        message.sent = FORGOTTEN;
        message.sent_simple = FORGOTTEN;
        message.sent_raw = FORGOTTEN;
        number
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
            received_raw: UNKNOWN,
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

    pub(crate) fn get(&self, number: MessageNumber) -> &Message {
        &self.messages[number.index()]
    }

    pub(crate) fn get_mut(&mut self, number: MessageNumber) -> &mut Message {
        &mut self.messages[number.index()]
    }

    /// Nobody will ask for this message any more.
    pub(crate) fn finish(&mut self, number: MessageNumber) {
        self.kept.remove(number.0);
        self.free.push(number);
    }

    /// Forgets messages of which one half waits in vain since before `time`: sends
    /// that are computed, and receives that went on without their send.
    pub(crate) fn forget_before(&mut self, time: i64, mut forgotten: impl FnMut(&Message)) {
        let is_old = |message: &Message| {
            message.since < time && (message.sent != UNKNOWN || message.given_up)
        };
        let lines: Vec<MessageNumber> = self.waiting.values().copied().collect();
        for line in lines {
            let mut first = Some(line);
            while let Some(number) = first.filter(|it| is_old(&self.messages[it.index()])) {
                first = self.messages[number.index()].next;
                forgotten(&self.messages[number.index()]);
                self.forget(number);
            }
        }
    }

    /// A half has gone through the filter, and is kept if the other one is missing.
    pub(crate) fn keep(&mut self, number: MessageNumber) {
        let message = &self.messages[number.index()];
        if message.has_send != message.has_receive {
            self.kept.add(number.0);
        }
    }

    /// Forgets the oldest of what is kept if that is more than `most`; sends only if they
    /// left by `until`.
    pub(crate) fn forget_beyond(
        &mut self,
        most: usize,
        until: i64,
        mut forgotten: impl FnMut(&Message),
    ) {
        // This is asked for each one that is kept. More would only look again and again at
        // what must not be forgotten yet.
        for _ in 0..2 {
            let Some(oldest) = self.kept.oldest().filter(|_| self.kept.len() > most) else {
                return;
            };
            let Message { id, sent, .. } = self.messages[oldest as usize];
            if sent > until {
                return;
            }
            // Those of one id are forgotten in their order.
            let first = self.waiting.get(&id).copied();
            if first != Some(MessageNumber(oldest)) {
                self.kept.add(oldest);
            }
            let may_go = |it: &MessageNumber| {
                self.kept.contains(it.0) && self.messages[it.index()].sent <= until
            };
            if let Some(first) = first.filter(may_go) {
                forgotten(&self.messages[first.index()]);
                self.forget(first);
            }
        }
    }

    /// Forgets the first in line.
    fn forget(&mut self, first: MessageNumber) {
        let Message { id, has_send, .. } = self.messages[first.index()];
        if has_send && id.is_channel() {
            if self.skipped.len() >= SKIPPED {
                self.skipped.clear();
            }
            *self.skipped.entry(id).or_default() += 1;
        }
        self.leave_line(first);
        self.finish(first);
    }

    /// How many messages are under way.
    pub(crate) fn len(&self) -> usize {
        self.messages.len() - self.free.len()
    }
}
