//! The logical clock of this process, which rides on messages and collective operations.
//!
//! The laws are those of [`PiggybackClock`]; here is what a running program adds: physical
//! time is read under the lock that guards the clock, so that the events of all threads of a
//! process have one order.

use retime_logical_clocks::{PiggybackClock, PiggybackStamp, PiggybackStamps};
use retime_model::{Class, Delay, TickRate};

use crate::clock::LocalClock;
use crate::event_log::{EventLog, Times};
use crate::operation::Operation;
use crate::settings::RidingClock;

/// Bits of a message's id below the rank of its sender.
const SERIAL_BITS: u32 = 40;

/// A stamp and the id of the message that carries it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carried {
    pub(crate) stamp: PiggybackStamp,
    pub(crate) message: i64,
}

/// The clock that rides along.
#[derive(Debug)]
pub(crate) struct Rider {
    physical: LocalClock,
    /// Ticks that are added to it.
    offset: i64,
    clock: PiggybackClock,
    rank: u32,
    sent: i64,
    events: Option<EventLog>,
}

impl Rider {
    /// A clock over `physical`, to which `offset` is added.
    pub(crate) fn new(
        riding: RidingClock,
        physical: LocalClock,
        offset: i64,
        delay: Delay,
        rank: u32,
        events: Option<EventLog>,
    ) -> Self {
        let delay = delay.to_ticks(physical.rate()).map_or(i64::MAX, |it| it.0);
        let clock = match riding {
            RidingClock::Simple => PiggybackClock::simple(delay),
            RidingClock::Controlled => PiggybackClock::new(physical.rate(), delay),
        };
        Self {
            physical,
            offset,
            clock,
            rank,
            sent: 0,
            events,
        }
    }

    fn physical(&self) -> i64 {
        let shown = i64::try_from(self.physical.now().0).unwrap_or(i64::MAX);
        shown.saturating_add(self.offset)
    }

    /// The stamp for a message that is sent now.
    pub(crate) fn send(&mut self) -> Carried {
        let physical = self.physical();
        let stamp = self.clock.send(physical);
        self.sent += 1;
        let message = i64::from(self.rank) << SERIAL_BITS | self.sent;
        let times = Times {
            physical,
            logical: stamp.controlled,
        };
        if let Some(events) = &mut self.events {
            events.message(times, "send", message);
        }
        Carried { stamp, message }
    }

    /// A message is there. One from this process waits for nothing: its clock is one.
    pub(crate) fn receive(&mut self, carried: Carried) {
        let physical = self.physical();
        let logical = if carried.message >> SERIAL_BITS == i64::from(self.rank) {
            self.clock.local(physical)
        } else {
            self.clock.receive(physical, carried.stamp)
        };
        let times = Times { physical, logical };
        if let Some(events) = &mut self.events {
            events.message(times, "receive", carried.message);
        }
    }

    /// Enters a collective operation; the stamps that the process gives to it.
    pub(crate) fn enter(&mut self, operation: &Operation) -> PiggybackStamp {
        let physical = self.physical();
        let logical = self.clock.enter(physical, operation.part());
        if let Some(events) = &mut self.events {
            // Who gives nothing has a time all the same.
            let logical = match logical {
                PiggybackStamp::NOTHING => self.clock.now(physical),
                stamp => stamp.controlled,
            };
            let times = Times { physical, logical };
            events.collective(times, "collective-begin", operation);
        }
        logical
    }

    /// Leaves the operation into which the process gave `own`, and got `heard` from all.
    pub(crate) fn leave(
        &mut self,
        operation: &Operation,
        own: PiggybackStamp,
        heard: PiggybackStamps,
    ) {
        let physical = self.physical();
        let others = match operation.class {
            Class::AllToAll => heard.besides(own),
            _ => heard.latest,
        };
        let logical = self.clock.leave(physical, operation.part(), others);
        let times = Times { physical, logical };
        if let Some(events) = &mut self.events {
            events.collective(times, "collective-end", operation);
        }
    }

    /// The logical time now, in nanoseconds.
    pub(crate) fn now(&self) -> i64 {
        nanoseconds(self.clock.now(self.physical()), self.physical.rate())
    }

    /// Writes what has happened, and that nothing earlier comes.
    pub(crate) fn heartbeat(&mut self) {
        let now = self.physical();
        if let Some(events) = &mut self.events {
            events.heartbeat(now);
        }
    }

    /// Nothing comes any more.
    pub(crate) fn finish(&mut self) {
        if let Some(events) = &mut self.events {
            events.finish();
        }
        self.events = None;
    }
}

fn nanoseconds(ticks: i64, rate: TickRate) -> i64 {
    let ns = i128::from(ticks) * 1_000_000_000 / i128::from(rate.get());
    i64::try_from(ns).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_any_rate_are_nanoseconds() {
        assert_eq!(nanoseconds(7, TickRate::NANOSECONDS), 7);
        let rate = TickRate::per_second(2_500_000_000).unwrap();
        assert_eq!(nanoseconds(5_000_000_000_000, rate), 2_000_000_000_000);
        assert_eq!(
            nanoseconds(i64::MAX, TickRate::per_second(1).unwrap()),
            i64::MAX
        );
    }
}
