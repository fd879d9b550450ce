//! Totals of what was written for a location.

/// Totals of what was written for one location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocationSummary {
    /// Id of the location.
    pub location: u64,
    /// Number of events.
    pub events: u64,
    /// Smallest and largest time, if there are events.
    pub times: Option<(u64, u64)>,
    /// Bytes in the location's files.
    pub bytes: u64,
}
