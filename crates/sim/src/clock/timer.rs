//! From what a clock shows to the ticks of a trace.

use crate::failure::{Error, Result};

/// How the shown time becomes the ticks of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timer {
    /// Ticks per second.
    pub resolution: u64,
    /// Ticks at the start of the simulation on a true clock. Clocks that are
    /// behind need some, since there are no negative ticks.
    pub epoch: u64,
}

impl Default for Timer {
    fn default() -> Self {
        Self {
            resolution: NANOSECONDS,
            epoch: NANOSECONDS,
        }
    }
}

const NANOSECONDS: u64 = 1_000_000_000;

impl Timer {
    /// The ticks for what a clock shows; `None` outside of what 64 bits hold.
    pub fn ticks(&self, shown: i64) -> Option<u64> {
        if self.resolution == NANOSECONDS {
            return self.epoch.checked_add_signed(shown);
        }
        let scaled = i128::from(shown) * i128::from(self.resolution);
        let ticks = scaled.div_euclid(i128::from(NANOSECONDS)) + i128::from(self.epoch);
        u64::try_from(ticks).ok()
    }

    /// The ticks for what the clock of a rank shows.
    pub(crate) fn stamp(&self, rank: u32, shown: i64) -> Result<u64> {
        self.ticks(shown).ok_or(Error::OutOfRange { rank, shown })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_follow_resolution_and_epoch() {
        let timer = Timer {
            resolution: 2_500_000_000,
            epoch: 100,
        };
        assert_eq!(timer.ticks(4), Some(110));
        assert_eq!(timer.ticks(-4), Some(90));
        assert_eq!(timer.ticks(-1000), None);
        let late = Timer {
            epoch: u64::MAX - 5,
            ..Timer::default()
        };
        assert_eq!(late.ticks(5), Some(u64::MAX));
        assert_eq!(late.ticks(6), None);
    }
}
