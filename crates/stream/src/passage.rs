//! Ways from a cause to its effect, once both have come.
//!
//! A message becomes a passage when its second half has come, an operation becomes those from each
//! of its begins to each end of another clock when all of them have. Afterwards messages are known
//! until both halves are put on one time, to count those that are still reversed then.
//!
//! ```text
//! took = received - sent - minimal delay        by the clocks of both ends
//! ```

use rustc_hash::FxHashMap;

use crate::event::{Collective, MessageId};
use crate::matching::{Matching, MessageNumber, UNKNOWN};
use retime_model::ClockId;

/// Halves of messages that are kept once they have left, while the other half does not come.
const KEPT: usize = 1 << 18;

/// A message, or a begin and an end of a collective operation, of which both ends have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The clock of the cause.
    pub from: ClockId,
    /// The clock of the effect, another one.
    pub to: ClockId,
    /// The time that it seems to have taken beyond the minimal delay, in ticks.
    pub took: i128,
}

/// One half of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Half {
    number: MessageNumber,
    is_send: bool,
}

/// Counts of passages.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PassageCounts {
    pub(crate) messages: u64,
    pub(crate) reversed: u64,
    pub(crate) left_reversed: u64,
    pub(crate) unmatched: u64,
    pub(crate) unfinished_collectives: u64,
}

/// The times of a message, [`UNKNOWN`] where they are.
#[derive(Clone, Copy, Debug)]
struct Times {
    sent: i64,
    received: i64,
    /// On the time of all, `None` before.
    put: [Option<i128>; 2],
}

const NO_TIMES: Times = Times {
    sent: UNKNOWN,
    received: UNKNOWN,
    put: [None; 2],
};

/// An operation whose events still come.
#[derive(Debug)]
struct OpenOperation {
    /// The stamp of the first of them.
    since: i64,
    /// Clock and stamp, and the rank, which counts in a prefix operation.
    begins: Vec<(ClockId, i64, u32)>,
    /// Clock and stamp, and the rank, `None` where the begins of all ranks count.
    ends: Vec<(ClockId, i64, Option<u32>)>,
}

/// All passages on their way.
#[derive(Debug)]
pub(crate) struct Passages {
    min_delay: i64,
    matching: Matching,
    /// The times of each message, by its number.
    times: Vec<Times>,
    operations: FxHashMap<MessageId, OpenOperation>,
    complete: Vec<Passage>,
    counts: PassageCounts,
}

impl Passages {
    pub(crate) fn new(min_delay: i64) -> Self {
        Self {
            min_delay,
            matching: Matching::default(),
            times: Vec::new(),
            operations: FxHashMap::default(),
            complete: Vec::new(),
            counts: PassageCounts::default(),
        }
    }

    /// A send has come.
    pub(crate) fn sent(&mut self, id: MessageId, clock: ClockId, raw: i64) -> Half {
        let number = self.matching.sent(id, clock, raw);
        self.times_of(number).sent = raw;
        self.may_have_come(number);
        Half {
            number,
            is_send: true,
        }
    }

    /// A receive has come.
    pub(crate) fn received(&mut self, id: MessageId, clock: ClockId, raw: i64) -> Half {
        let number = self.matching.received(id, clock, raw);
        self.times_of(number).received = raw;
        self.may_have_come(number);
        Half {
            number,
            is_send: false,
        }
    }

    /// A begin of an operation has come.
    pub(crate) fn begun(&mut self, what: &Collective, clock: ClockId, raw: i64) {
        let place = what.prefix.map_or(0, |prefix| prefix.place);
        self.operation(what, raw).begins.push((clock, raw, place));
        self.may_be_over(what);
    }

    /// An end of an operation has come.
    pub(crate) fn ended(&mut self, what: &Collective, clock: ClockId, raw: i64) {
        let place = what.prefix.map(|prefix| prefix.place);
        self.operation(what, raw).ends.push((clock, raw, place));
        self.may_be_over(what);
    }

    /// The passages that have become complete since the last time.
    pub(crate) fn complete(&mut self) -> impl Iterator<Item = Passage> {
        self.complete.drain(..)
    }

    /// A half has left, at this time of all.
    pub(crate) fn put(&mut self, half: Half, time: i128) {
        let Half { number, is_send } = half;
        let message = self.matching.get_mut(number);
        let is_lost = !is_send && message.is_send_forgotten();
        let is_alone = message.has_send != message.has_receive;
        // From now on the matching may forget it.
        if is_send {
            message.sent = 0;
        } else {
            message.given_up = true;
        }
        let times = &mut self.times[number.index()];
        times.put[usize::from(!is_send)] = Some(time);
        if let [Some(sent), Some(received)] = times.put {
            let least = sent + i128::from(self.min_delay);
            self.counts.left_reversed += u64::from(received < least);
            self.matching.finish(number);
        } else if is_lost {
            self.counts.unmatched += 1;
            self.matching.finish(number);
        } else if is_alone {
            self.matching.keep(number);
            let unmatched = &mut self.counts.unmatched;
            let forgotten = |_: &_| *unmatched += 1;
            self.matching.forget_beyond(KEPT, i64::MAX, forgotten);
        }
    }

    /// Forgets halves that have left, and operations, of which the rest has not come since before
    /// `time`.
    pub(crate) fn forget_before(&mut self, time: i64) {
        let counts = &mut self.counts;
        self.matching.forget_before(time, |_| counts.unmatched += 1);
        self.operations.retain(|_, operation| {
            let is_new = operation.since >= time;
            counts.unfinished_collectives += u64::from(!is_new);
            is_new
        });
    }

    /// The counts; if nothing comes any more, all that still waits is counted as missing the rest.
    pub(crate) fn counts(&self, is_over: bool) -> PassageCounts {
        let waiting = |count: usize| if is_over { count as u64 } else { 0 };
        PassageCounts {
            unmatched: self.counts.unmatched + waiting(self.matching.len()),
            unfinished_collectives: self.counts.unfinished_collectives
                + waiting(self.operations.len()),
            ..self.counts
        }
    }

    /// The times of a message; none are known of one that is new.
    fn times_of(&mut self, number: MessageNumber) -> &mut Times {
        let index = number.index();
        if self.times.len() <= index {
            self.times.resize(index + 1, NO_TIMES);
        }
        let message = self.matching.get(number);
        if message.has_send != message.has_receive {
            self.times[index] = NO_TIMES;
        }
        &mut self.times[index]
    }

    /// A half of a message has come: the last one makes it a passage.
    fn may_have_come(&mut self, number: MessageNumber) {
        let message = self.matching.get(number);
        if !(message.has_send && message.has_receive) {
            return;
        }
        let (from, to) = (message.from, message.to);
        let Times { sent, received, .. } = self.times[number.index()];
        self.counts.messages += 1;
        self.counts.reversed += u64::from(received < sent);
        self.add((from, sent), (to, received));
    }

    fn operation(&mut self, what: &Collective, raw: i64) -> &mut OpenOperation {
        let new = || OpenOperation {
            since: raw,
            begins: Vec::new(),
            ends: Vec::new(),
        };
        self.operations.entry(what.id).or_insert_with(new)
    }

    /// An event of an operation has come: the last one makes passages of it.
    fn may_be_over(&mut self, what: &Collective) {
        let whole = |operation: &OpenOperation| {
            let counts = (operation.begins.len(), operation.ends.len());
            counts == (what.begins as usize, what.ends as usize)
        };
        let Some(over) = self.operations.get(&what.id).filter(|it| whole(it)) else {
            return;
        };
        let mut found = Vec::new();
        for &(to, received, before) in &over.ends {
            let causes = over.begins.iter();
            let counts = |&&(_, _, place): &&(_, _, u32)| before.is_none_or(|it| place < it);
            let ends = causes.filter(counts).map(|&(from, sent, _)| (from, sent));
            found.extend(ends.map(|cause| (cause, (to, received))));
        }
        self.operations.remove(&what.id);
        for (cause, effect) in found {
            self.add(cause, effect);
        }
    }

    /// Adds a passage between two clocks.
    fn add(&mut self, (from, sent): (ClockId, i64), (to, received): (ClockId, i64)) {
        if from != to {
            let took = i128::from(received) - i128::from(sent) - i128::from(self.min_delay);
            self.complete.push(Passage { from, to, took });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCKS: [ClockId; 3] = [ClockId(0), ClockId(1), ClockId(2)];

    fn complete(passages: &mut Passages) -> Vec<(u32, u32, i128)> {
        let all = passages.complete();
        all.map(|it| (it.from.0, it.to.0, it.took)).collect()
    }

    #[test]
    fn a_message_is_one_whichever_half_comes_first() {
        let mut passages = Passages::new(2);
        let id = MessageId::number(7);
        passages.received(id, CLOCKS[1], 130);
        assert_eq!(complete(&mut passages), []);
        passages.sent(id, CLOCKS[0], 100);
        passages.sent(id, CLOCKS[0], 200);
        passages.received(id, CLOCKS[0], 210); // says nothing of clocks
        assert_eq!(complete(&mut passages), [(0, 1, 28)]);
        assert_eq!(passages.counts(false).messages, 2);
    }

    #[test]
    fn an_operation_is_as_many_as_pairs_of_clocks_and_a_scan_those_of_lower_ranks() {
        let mut passages = Passages::new(0);
        for (rank, clock) in (0..).zip(CLOCKS) {
            let scan = Collective::scan(MessageId::number(1), 3, rank);
            passages.begun(&scan, clock, 10 * i64::from(rank));
            passages.ended(&scan, clock, 100);
        }
        assert_eq!(
            complete(&mut passages),
            [(0, 1, 100), (0, 2, 100), (1, 2, 90)]
        );
        let cast = Collective::from_root(MessageId::number(1), 3);
        passages.begun(&cast, CLOCKS[1], 0);
        passages.ended(&cast, CLOCKS[0], 5);
        passages.ended(&cast, CLOCKS[2], 6);
        assert_eq!(complete(&mut passages), [(1, 0, 5), (1, 2, 6)]);
    }

    #[test]
    fn numbers_are_used_again_and_nothing_is_known_of_them() {
        let mut passages = Passages::new(0);
        let id = MessageId::number;
        let lost = passages.sent(id(1), CLOCKS[0], 100);
        passages.put(lost, 100);
        passages.forget_before(101);
        assert_eq!(passages.counts(false).unmatched, 1);
        // Whoever gets the number of the lost one has no send yet.
        let heard = passages.received(id(2), CLOCKS[1], 50);
        passages.put(heard, 50);
        let sent = passages.sent(id(2), CLOCKS[0], 60);
        passages.put(sent, 60);
        let counts = passages.counts(true);
        assert_eq!(
            (counts.left_reversed, counts.reversed, counts.unmatched),
            (1, 1, 1)
        );
        assert_eq!(complete(&mut passages), [(0, 1, -10)]);
    }

    #[test]
    fn what_misses_its_rest_is_counted_once() {
        let mut passages = Passages::new(0);
        let channel = MessageId::channel(
            retime_model::LocationIndex(0),
            retime_model::LocationIndex(1),
            0,
            0,
        );
        let sent = passages.sent(channel, CLOCKS[0], 0);
        passages.put(sent, 0);
        passages.forget_before(1);
        // The receive of the message that is forgotten, which takes no other send.
        let heard = passages.received(channel, CLOCKS[1], 10);
        passages.put(heard, 10);
        passages.sent(channel, CLOCKS[0], 20);
        passages.begun(
            &Collective::all_to_all(MessageId::number(3), 2),
            CLOCKS[0],
            5,
        );
        let counts = passages.counts(true);
        assert_eq!((counts.messages, counts.unfinished_collectives), (0, 1));
        assert_eq!(counts.unmatched, 3);
    }
}
