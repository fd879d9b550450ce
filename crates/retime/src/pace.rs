//! How often a loop over events asks whether to go on.

use retime_model::{Cancelled, Monitor};

/// Events from one asking to the next. A loop takes some 10 to 100 ns for each, so
/// that it asks every millisecond or two, and asking costs it nothing that shows.
const EVENTS: u32 = 1 << 14;

/// Asks a monitor at the first event of a loop, and once per `EVENTS` from there on.
pub struct Pace<'a> {
    monitor: &'a dyn Monitor,
    left: u32,
}

impl<'a> Pace<'a> {
    /// A pace that asks at its first event.
    pub const fn of(monitor: &'a dyn Monitor) -> Self {
        Self { monitor, left: 0 }
    }

    /// An event more is looked at; fails once the work is to be given up.
    #[inline]
    pub fn event(&mut self) -> Result<(), Cancelled> {
        if self.left == 0 {
            self.left = EVENTS;
            self.monitor.check()?;
        }
        self.left -= 1;
        Ok(())
    }

    /// So many events more are looked at together.
    #[inline]
    pub fn events(&mut self, count: usize) -> Result<(), Cancelled> {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.left = self.left.saturating_sub(count.saturating_sub(1));
        self.event()
    }
}
