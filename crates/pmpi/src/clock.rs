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
        /// What it shows.
        read: fn() -> u64,
        /// Measured when the program began.
        rate: TickRate,
    },
}

impl LocalClock {
    /// What it shows now.
    pub fn now(self) -> Timestamp {
        match self {
            Self::System(clock) => clock.now(),
            Self::Counter { read, .. } => Timestamp(read()),
        }
    }

    /// Its ticks per second.
    pub fn rate(self) -> TickRate {
        match self {
            Self::System(_) => TickRate::NANOSECONDS,
            Self::Counter { rate, .. } => rate,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::System(clock) => clock.name(),
            Self::Counter { .. } => "tsc",
        }
    }
}
