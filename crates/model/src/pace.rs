//! How often a loop over events asks whether to go on.
//!
//! ```
//! use retime_model::pace::Pace;
//! use retime_model::{Cancelled, Monitor};
//!
//! struct Impatient;
//! impl Monitor for Impatient {
//!     fn cancelled(&self) -> bool {
//!         true
//!     }
//! }
//!
//! let mut pace = Pace::of(&Impatient);
//! assert_eq!(pace.event(), Err(Cancelled));
//! ```

use crate::monitor::{Cancelled, Monitor};

/// Events from one asking to the next. A loop takes some 10 to 100 ns for each, so
/// that it asks every millisecond or two, and asking costs it nothing that shows.
const EVENTS: u32 = 1 << 14;

/// Asks a monitor at the first event of a loop, and once per 16,384 from there on.
#[allow(missing_debug_implementations, reason = "a monitor has none")]
pub struct Pace<'a> {
    monitor: &'a dyn Monitor,
    left: u32,
}

impl<'a> Pace<'a> {
    /// For a loop that `monitor` may end.
    #[inline]
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
