//! A corrected event, or a bend between events.

use retime_model::{LocationIndex, Timestamp};

/// A corrected event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Stamp as recorded.
    pub raw: Timestamp,
    /// Corrected stamp.
    pub corrected: Timestamp,
    /// Whose event; `None` for a bend of the map without an event.
    pub event: Option<(LocationIndex, u64)>,
}
