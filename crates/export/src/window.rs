//! The stretch of time that is shown.

use retime::Timestamp;

/// A stretch of time, both ends included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
}

impl Window {
    pub(crate) fn holds(&self, stamp: Timestamp) -> bool {
        (self.from..=self.to).contains(&stamp)
    }
}
