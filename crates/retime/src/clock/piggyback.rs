//! The controlled logical clock inside an application.
//!
//! Each process keeps one clock object; each message carries a stamp of its
//! sender's clock. Nothing else is exchanged: the controller of 1997 needs local
//! data only. The process gets a time that never contradicts a message it has
//! received, while it runs.
//!
//! Process 1 is 50 ticks behind process 0, and the network needs 5 at least:
//!
//! ```
//! use retime::TickRate;
//! use retime::clock::PiggybackClock;
//! let rate = TickRate::per_second(1_000_000).unwrap();
//! let mut zero = PiggybackClock::new(rate, 5);
//! let mut one = PiggybackClock::new(rate, 5);
//! let message = zero.send(1_000);
//! assert_eq!(one.local(900), 900);
//! assert_eq!(one.receive(960, message), 1_005); // not 960, before it was sent
//! assert_eq!(one.local(1_060), 1_100); // 0.95 of 100 ticks later
//! ```
//!
//! Source: Rabenseifner 1997, section 7.

use super::controller::Degressive;
use super::gamma::Gamma;
use super::lost::Lost;
use retime_model::TickRate;

/// The logical times of its sending, which a message carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PiggybackStamp {
    /// The time of the simple logical clock.
    pub simple: i64,
    /// The time of the controlled logical clock.
    pub controlled: i64,
}

/// The clock of one process. Times are ticks of its physical clock.
#[derive(Clone, Debug)]
pub struct PiggybackClock {
    delay: i64,
    controller: Degressive,
    last: Option<Last>,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    physical: i64,
    simple: i64,
    controlled: i64,
    lost: Lost,
}

impl PiggybackClock {
    /// A clock of the given tick rate, in a network whose messages take at least
    /// `delay` ticks.
    pub fn new(rate: TickRate, delay: i64) -> Self {
        Self {
            delay,
            controller: Degressive::new(rate),
            last: None,
        }
    }

    /// The controlled time of a local event at the given physical time.
    pub fn local(&mut self, physical: i64) -> i64 {
        self.advance(physical, None).controlled
    }

    /// The stamp that a message sent at the given physical time has to carry.
    pub fn send(&mut self, physical: i64) -> PiggybackStamp {
        self.advance(physical, None)
    }

    /// The controlled time of receiving a message at the given physical time.
    pub fn receive(&mut self, physical: i64, message: PiggybackStamp) -> i64 {
        self.advance(physical, Some(message)).controlled
    }

    fn advance(&mut self, physical: i64, message: Option<PiggybackStamp>) -> PiggybackStamp {
        let mut stamp = PiggybackStamp {
            simple: physical,
            controlled: physical,
        };
        // What is left of a tick to lose counts as long as the clock leads, as by `Lead`.
        let mut lost = Lost::default();
        if let Some(last) = self.last {
            let elapsed = physical.saturating_sub(last.physical).max(0);
            let gamma = Gamma::from_factor(self.controller.factor());
            let (ticks, rest) = last.lost.next(elapsed.unsigned_abs(), gamma);
            let kept = elapsed.saturating_sub_unsigned(ticks);
            let own = last.controlled.saturating_add(kept);
            stamp.simple = stamp.simple.max(last.simple);
            if own > physical {
                stamp.controlled = own;
                lost = rest;
            }
        }
        if let Some(message) = message {
            stamp.simple = stamp.simple.max(message.simple.saturating_add(self.delay));
            stamp.controlled = stamp
                .controlled
                .max(message.controlled.saturating_add(self.delay));
        }
        let lead = |value: i64| value.saturating_sub(physical);
        self.controller
            .computed(lead(stamp.simple), lead(stamp.controlled));
        let PiggybackStamp { simple, controlled } = stamp;
        self.last = Some(Last {
            physical,
            simple,
            controlled,
            lost,
        });
        stamp
    }
}
