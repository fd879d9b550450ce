//! The clock of this process that is measured, and that the logical clock rides on.

use retime_measure::ClockSource;
use retime_model::{TickRate, Timestamp};

/// A clock and how fast it ticks.
#[derive(Clone, Copy, Debug)]
pub enum LocalClock {
    /// One of the operating system.
    System(ClockSource),
    /// The time stamp counter of the processor, of that rate.
    Counter {
        /// Reads the clock, in ticks.
        read: fn() -> u64,
        /// Measured when the program began.
        rate: TickRate,
    },
}

impl LocalClock {
    /// The time that the clock shows now.
    pub fn now(self) -> Timestamp {
        match self {
            Self::System(clock) => clock.now(),
            Self::Counter { read, .. } => Timestamp(read()),
        }
    }

    /// The ticks per second of the clock.
    pub fn rate(self) -> TickRate {
        match self {
            Self::System(_) => TickRate::NANOSECONDS,
            Self::Counter { rate, .. } => rate,
        }
    }

    /// The name of the clock.
    pub fn name(self) -> &'static str {
        match self {
            Self::System(clock) => clock.name(),
            Self::Counter { .. } => "tsc",
        }
    }
}
