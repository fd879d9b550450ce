//! How much is kept of what may never be asked for again.
//!
//! A send that has left the filter is remembered for its receive, a receive that went on
//! without its send for that send, an operation for those who have not come. Patience
//! ends that after a time, but a stream may bring any number of them within it. So there
//! is room for a certain number, and the oldest are forgotten first.
//!
//! Nothing is forgotten that could still move an event: what is left of a message or
//! operation is older than all that is given out from now on, by the least delay, and so
//! its effects follow it in any case. They only wait in vain for what has been forgotten,
//! as for something lost, and count as that.

use crate::collectives::OperationNumber;
use crate::filter::Filter;
use crate::matching::MessageNumber;

/// Room for halves of messages: at 200 bytes each, 50 MB.
const MESSAGES: usize = 1 << 18;

/// Room for begins of operations that have not all their events: at up to 700 bytes for
/// an operation of which one begin has come, 50 MB.
const BEGINS: usize = 1 << 16;

/// More room for each location, so that many may wait for each other at a time.
const PER_LOCATION: usize = 16;

impl<P> Filter<P> {
    /// One half of a message has gone through; the other one may come.
    pub(crate) fn keep_message(&mut self, number: MessageNumber) {
        let Some(most) = self.room(MESSAGES) else {
            return;
        };
        let until = self.settled();
        self.matching.keep(number);
        let report = &mut self.report;
        self.matching.forget_beyond(most, until, |message| {
            report.forgotten += 1;
            report.unmatched_sends += u64::from(message.has_send);
        });
    }

    /// All that has come of an operation has gone through, perhaps; more may come.
    pub(crate) fn keep_operation(&mut self, number: OperationNumber) {
        let Some(most) = self.room(BEGINS) else {
            return;
        };
        let until = self.settled();
        self.collectives.keep(number);
        let forgotten = self.collectives.forget_beyond(most, until);
        self.report.forgotten += forgotten;
        self.report.unfinished_collectives += forgotten;
    }

    /// None where there is no hurry: there what a receive waits for must not be forgotten.
    fn room(&self, least: usize) -> Option<usize> {
        self.patience.as_ref()?;
        Some(least.saturating_add(PER_LOCATION * self.locations.len()))
    }

    /// Effects of what happened by then need not wait for it.
    fn settled(&self) -> i64 {
        self.watermark.saturating_sub(self.options.min_delay.0)
    }
}
