//! Bounds and constants that a filter keeps to.

use crate::control::FilterControl;
use retime_logical_clocks::{AmortizationRate, Gamma};
use retime_model::{TickRate, Ticks};

/// How long an event may stay in the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayBound {
    /// An event waits as long as the other bounds explain: equation 7.1,
    /// [`FilterOptions::delay_bound`].
    Explained,
    /// So long.
    Ticks(Ticks),
    /// An event waits as long as it takes; for streams that are read from a file, with an end
    /// mark for every location.
    Unlimited,
}

/// Bounds and constants of a filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilterOptions {
    /// Ticks per second of all time stamps.
    pub rate: TickRate,
    /// Least time from a cause to its effect, `mu`.
    pub min_delay: Ticks,
    /// How gamma is found.
    pub control: FilterControl,
    /// How fast a correction may grow ahead of a jump.
    pub amortization: AmortizationRate,
    /// The clock difference to reckon with before any is seen. Together with the
    /// rate it is the length of a ramp; larger jumps lengthen the ramps after
    /// them.
    pub start_difference: Ticks,
    /// No two clocks differ by more.
    pub max_difference: Ticks,
    /// An event comes to the filter at most so long after it happened.
    pub transfer: Ticks,
    /// Events come in the order of their raw times, whatever their location.
    pub merged: bool,
    /// How long an event may stay.
    pub delay: DelayBound,
    /// The other half of a message or collective is not waited for longer.
    pub message_timeout: Ticks,
}

impl FilterOptions {
    /// The defaults of the command: clocks that differ by up to 5 ms, ramps of
    /// 5 %, up to 100 ms on the way, ten seconds for the other half of a message.
    pub fn new(rate: TickRate) -> Self {
        let part = |per_second: u64| Ticks((rate.get() / per_second).min(1 << 60) as i64);
        Self {
            rate,
            min_delay: Ticks(0),
            control: FilterControl::Constant(Gamma::default()),
            amortization: AmortizationRate::five_percent(),
            start_difference: part(200),
            max_difference: part(200),
            transfer: part(10),
            merged: false,
            delay: DelayBound::Explained,
            message_timeout: Ticks(part(1).0.saturating_mul(10)),
        }
    }

    /// Equation 7.1: how long an event stays at most.
    ///
    /// A ramp, the least delay, twice the clock difference (between the newest
    /// event and this one, and between cause and effect), and the way to the
    /// filter. With clocks within 5 ms, ramps of 5 %, messages of at most 10 ms
    /// and 100 ms on the way:
    ///
    /// ```
    /// use retime_stream::FilterOptions;
    /// use retime_model::{TickRate, Ticks};
    /// let mut options = FilterOptions::new(TickRate::per_second(1_000_000).unwrap());
    /// options.min_delay = Ticks(10_000);
    /// assert_eq!(options.delay_bound(), Some(Ticks(100_000 + 10_000 + 2 * 5_000 + 100_000)));
    /// ```
    ///
    /// The source adds the ramp with the wrong sign, and arrives at 215 ms since
    /// it counts the clock of the monitor as exact.
    pub fn delay_bound(&self) -> Option<Ticks> {
        match self.delay {
            DelayBound::Unlimited => None,
            DelayBound::Ticks(delay) => Some(delay),
            DelayBound::Explained => {
                let ramp = self.amortization.ramp(self.start_difference.0);
                let spans = [
                    self.min_delay.0,
                    self.max_difference.0,
                    self.max_difference.0,
                    self.transfer.0,
                ];
                let sum = spans.into_iter().fold(ramp, i64::saturating_add);
                Some(Ticks(sum.min(1 << 61)))
            }
        }
    }
}
