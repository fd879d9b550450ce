//! The logical clocks inside an application.
//!
//! Each process keeps one clock object; each message carries a [stamp](PiggybackStamp) of
//! its sender's clock, and so does what each participant gives in a collective operation.
//! Nothing else is exchanged: the controller of 1997 needs local data only. The process gets
//! a time that never contradicts what it has received, while it runs. With `mu` the least
//! delay, and `heard` the latest of the stamps that an event waits for:
//!
//! ```text
//! LC (e) = max( heard + mu, LC (prev),                                   C(e) )   simple
//! LC'(e) = max( heard + mu, LC'(prev) + gamma_e * (C(e) - C(prev)),      C(e) )   controlled
//! ```
//!
//! Given the events of a recording these are the times of [`simple`](crate::simple) and, with
//! the [controller of 1997](crate::Degressive), of [`regulated`](crate::regulated), tick by
//! tick, where each location reads a clock of its own: those of `--method simple`, and of
//! `--method clc --controller 1997 --amortization off`. (Spreading a jump over the events
//! before it takes a recording.)
//!
//! Process 1 is 50 ticks behind process 0, and the network needs 5 at least:
//!
//! ```
//! use retime_model::TickRate;
//! use retime_causality::Class;
//! use retime_logical_clocks::{PiggybackClock, TakingPart};
//! let rate = TickRate::per_second(1_000_000).unwrap();
//! let mut zero = PiggybackClock::new(rate, 5);
//! let mut one = PiggybackClock::new(rate, 5);
//! let message = zero.send(1_000);
//! assert_eq!(one.local(900), 900);
//! assert_eq!(one.receive(960, message), 1_005); // not 960, before it was sent
//! assert_eq!(one.local(1_060), 1_100); // 0.95 of 100 ticks later
//!
//! // Both meet at a barrier: each leaves after the other has entered.
//! let part = TakingPart::of(Class::AllToAll, false);
//! let [from_zero, from_one] = [zero.enter(1_200, part), one.enter(1_110, part)];
//! assert_eq!(one.leave(1_160, part, from_zero), 1_205);
//! assert_eq!(zero.leave(1_210, part, from_one), 1_210);
//! ```
//!
//! Source: Rabenseifner 1997, section 7; collective operations by Linford 2007, section 3.4.

use crate::controller::Degressive;
use crate::gamma::Gamma;
use crate::lost::Lost;
use crate::stamp::PiggybackStamp;
use crate::taking_part::TakingPart;
use retime_model::TickRate;

/// The clock of one process. Times are ticks of its physical clock.
#[derive(Clone, Debug)]
pub struct PiggybackClock {
    delay: i64,
    /// None of the simple clock, which stands still while it leads.
    controller: Option<Degressive>,
    last: Option<Last>,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    physical: i64,
    simple: i64,
    controlled: i64,
    lost: Lost,
}

/// The state to which a clock comes by itself at a physical time.
struct Alone {
    stamp: PiggybackStamp,
    lost: Lost,
}

impl PiggybackClock {
    /// A controlled clock of the given tick rate, in a network whose messages take at least
    /// `delay` ticks.
    pub fn new(rate: TickRate, delay: i64) -> Self {
        Self {
            delay,
            controller: Some(Degressive::new(rate)),
            last: None,
        }
    }

    /// A simple clock: while it is ahead of its physical clock it stands still.
    pub fn simple(delay: i64) -> Self {
        Self {
            delay,
            controller: None,
            last: None,
        }
    }

    /// The logical time of a local event at the given physical time.
    pub fn local(&mut self, physical: i64) -> i64 {
        self.advance(physical, PiggybackStamp::NOTHING).controlled
    }

    /// The stamp that a message sent at the given physical time has to carry.
    pub fn send(&mut self, physical: i64) -> PiggybackStamp {
        self.advance(physical, PiggybackStamp::NOTHING)
    }

    /// The logical time of receiving a message at the given physical time.
    pub fn receive(&mut self, physical: i64, message: PiggybackStamp) -> i64 {
        self.advance(physical, message).controlled
    }

    /// The stamp that the process gives when it enters a collective operation at the given
    /// physical time; [`PiggybackStamp::NOTHING`] if nobody waits for it.
    pub fn enter(&mut self, physical: i64, part: TakingPart) -> PiggybackStamp {
        let stamp = self.advance(physical, PiggybackStamp::NOTHING);
        if part.gives {
            stamp
        } else {
            PiggybackStamp::NOTHING
        }
    }

    /// The logical time of leaving a collective operation at the given physical time.
    /// `others` are the [merged](PiggybackStamp::merged) stamps of those for which the process
    /// waits, without its own: the root's, those of lower ranks, or those of
    /// [all others](crate::PiggybackStamps::besides).
    pub fn leave(&mut self, physical: i64, part: TakingPart, others: PiggybackStamp) -> i64 {
        let heard = if part.gets {
            others
        } else {
            PiggybackStamp::NOTHING
        };
        self.advance(physical, heard).controlled
    }

    /// The logical time now, which is no event: the clock goes on as if nobody had asked. It
    /// never falls, and no later event comes before it.
    pub fn now(&self, physical: i64) -> i64 {
        let Some(last) = self.last else {
            return physical;
        };
        let kept = match &self.controller {
            None => 0,
            Some(controller) => {
                let elapsed = last.elapsed(physical);
                let gamma = Gamma::from_factor(controller.factor());
                // An event may lose a tick more or less, depending on when it comes.
                elapsed.saturating_sub_unsigned(last.lost.at_most(elapsed.unsigned_abs(), gamma))
            }
        };
        last.controlled.saturating_add(kept.max(0)).max(physical)
    }

    fn advance(&mut self, physical: i64, heard: PiggybackStamp) -> PiggybackStamp {
        let Alone { stamp, lost } = self.alone(physical);
        let after = |time: i64| match time {
            i64::MIN => time,
            _ => time.saturating_add(self.delay),
        };
        let stamp = stamp.merged(PiggybackStamp {
            simple: after(heard.simple),
            controlled: after(heard.controlled),
        });
        let PiggybackStamp { simple, controlled } = stamp;
        if let Some(controller) = &mut self.controller {
            let lead = |value: i64| value.saturating_sub(physical);
            controller.computed(lead(simple), lead(controlled));
        }
        self.last = Some(Last {
            physical,
            simple,
            controlled,
            lost,
        });
        stamp
    }

    fn alone(&self, physical: i64) -> Alone {
        let mut alone = Alone {
            stamp: PiggybackStamp {
                simple: physical,
                controlled: physical,
            },
            // Where the clock leads no more, nothing is left of a tick to lose, as by `Lead`.
            lost: Lost::default(),
        };
        let Some(last) = self.last else {
            return alone;
        };
        let (own, rest) = match &self.controller {
            None => (last.controlled, last.lost),
            Some(controller) => {
                let elapsed = last.elapsed(physical);
                let gamma = Gamma::from_factor(controller.factor());
                let (ticks, rest) = last.lost.next(elapsed.unsigned_abs(), gamma);
                let kept = elapsed.saturating_sub_unsigned(ticks);
                (last.controlled.saturating_add(kept), rest)
            }
        };
        alone.stamp.simple = physical.max(last.simple);
        if own > physical {
            alone.stamp.controlled = own;
            alone.lost = rest;
        }
        alone
    }
}

impl Last {
    /// Ticks since then; none where the physical clock was set back.
    fn elapsed(&self, physical: i64) -> i64 {
        physical.saturating_sub(self.physical).max(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Looking at a clock changes nothing, and what was seen is never taken back.
        #[test]
        fn what_is_seen_between_events_holds(
            steps in proptest::collection::vec((0_i64..60, 0_usize..4, -200_i64..400), 1..80),
            is_simple in any::<bool>(), rate in 1_000_u64..100_000_000
        ) {
            let mut clock = if is_simple {
                PiggybackClock::simple(3)
            } else {
                PiggybackClock::new(TickRate::per_second(rate).unwrap(), 3)
            };
            let mut unseen = clock.clone();
            let (mut physical, mut seen) = (0_i64, i64::MIN);
            for (step, what, ahead) in steps {
                physical += step;
                let time = match what {
                    0 => {
                        let stamp = PiggybackStamp { simple: physical + ahead, controlled: physical + ahead };
                        prop_assert_eq!(clock.receive(physical, stamp), unseen.receive(physical, stamp));
                        clock.now(physical)
                    }
                    1 => {
                        let time = clock.local(physical);
                        prop_assert_eq!(time, unseen.local(physical));
                        time
                    }
                    _ => clock.now(physical),
                };
                prop_assert!(time >= seen && time >= physical);
                seen = time;
            }
        }
    }

    #[test]
    fn the_ends_of_time_are_no_trouble() {
        let rate = TickRate::per_second(1).unwrap();
        for mut clock in [
            PiggybackClock::new(rate, i64::MAX),
            PiggybackClock::simple(i64::MAX),
        ] {
            assert_eq!(clock.local(i64::MIN), i64::MIN);
            let far = PiggybackStamp {
                simple: i64::MAX,
                controlled: i64::MAX,
            };
            assert_eq!(clock.receive(i64::MIN, far), i64::MAX);
            assert_eq!(clock.now(i64::MAX), i64::MAX);
            assert_eq!(clock.local(i64::MAX), i64::MAX);
        }
    }
}
