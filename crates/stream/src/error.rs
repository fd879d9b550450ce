//! Why an event is not taken.

use retime_model::{LocationIndex, Timestamp};

/// Why an event cannot be taken. The filter goes on as if it had not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// There is no such location.
    #[error("there is no location #{}", .0.0)]
    UnknownLocation(LocationIndex),
    /// The location had ended.
    #[error("location #{} has ended", .0.0)]
    Ended(LocationIndex),
    /// The stamp is too far from the first one.
    #[error("time {0} is more than 2^61 ticks away from the first one of the stream")]
    OutOfRange(Timestamp),
    /// The stamp, shifted, is none: it lies before 0 or beyond 64 bits.
    #[error("time {0} would lie outside of 0 to 2^64 by the clock of the reference")]
    OutOfReach(Timestamp),
}
